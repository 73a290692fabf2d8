// What states are worth at the depth limit, alone.
#include "evaluations.cuh"

#include "dtypes/expectimax.h"

KERNEL(evaluate_states, Leaves) {
    for (uint64_t i = thread_number(); i < p.count; i += thread_count())
        p.values[i] = worth_of_leaf(p.by, {p.states[i].x, p.states[i].y});
}
