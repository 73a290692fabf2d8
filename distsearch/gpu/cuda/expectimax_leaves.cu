// What states are worth at the depth limit, alone.
#include "evaluations.cuh"

struct Leaves {
    Judge by;
    const ulonglong2* states;
    double* values;
    unsigned long long count;
};

KERNEL(judge_states, Leaves) {
    for (uint64_t i = thread_number(); i < p.count; i += thread_count())
        p.values[i] = worth_of_leaf(p.by, {p.states[i].x, p.states[i].y});
}
