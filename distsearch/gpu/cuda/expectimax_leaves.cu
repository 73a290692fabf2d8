// What states are worth at the depth limit, alone; and how fast a GPU that does nothing else finds that.
#include "evaluations.cuh"

#include "dtypes/expectimax.h"

KERNEL(evaluate_states, Leaves) {
    for (uint64_t i = thread_number(); i < p.count; i += thread_count())
        p.values[i] = worth_of_leaf(p.by, {p.states[i].x, p.states[i].y});
}

// The same few boards again and again, by all threads alike, so that a warp's look-ups are of one address, in L1.
KERNEL(evaluate_again, EvaluateAgain) {
    constexpr int FEW = int(sizeof(p.boards) / sizeof(State));
    Value total = 0;
    for (int turn = 0; turn < p.turns; ++turn) {
        const int i = 2 * (turn % FEW);
        const uint64_t never = total != total;  // so that nothing is evaluated once for all turns
        total += worth(p.by, {p.boards[i] ^ never, p.boards[i + 1]});
    }
    p.values[thread_number()] = total;
}
