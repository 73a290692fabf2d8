// Expectimax level by level, as a report on 2584 has it: generations without what is invalid, then reductions.
//
// A level is a list of nodes where the player moves, and one of afterstates; a node's children stand side by side. A
// block's threads count what is valid by ballots and in shared memory, and take room for it by one atomic addition.
#define COMMA ,
#include "evaluations.cuh"
#include "dtypes/expectimax_reference.h"

constexpr int WARPS = 8;  // of a block

constexpr int FULL = 0, LEAVES = 1;  // counters; lists' own follow

// Where a thread that has something valid puts it, in a list with a counter; all threads of a block come.
ON_DEVICE unsigned room_for(bool valid, int each, unsigned long long* counter) {
    SHARED(Fixed<unsigned COMMA WARPS>, before);
    SHARED(Fixed<unsigned COMMA 1>, base);
    const unsigned lane = lane_number(), warp = threadIdx.x / 32;
    unsigned all = __ballot_sync(ALL_LANES, valid);
    __syncthreads();  // those of the last turn have read
    if (lane == 0) before[warp] = bits_in(all) * each;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned total = 0;
        for (int i = 0; i < WARPS; ++i) {
            unsigned own = before[i];
            before[i] = total;
            total += own;
        }
        base[0] = total ? unsigned(atomicAdd(counter, (unsigned long long)total)) : 0;
    }
    __syncthreads();
    return base[0] + before[warp] + bits_in(all & ((1u << lane) - 1)) * each;
}

ON_DEVICE unsigned given(const Levels& p) {
    return p.counters[p.from] < p.readable ? unsigned(p.counters[p.from]) : p.readable;
}

KERNEL(first_nodes, Levels) {
    for (uint64_t i = thread_number(); i < p.roots; i += thread_count())
        p.nodes[i] = {cells_of({p.states[i].x, p.states[i].y}), 0, 0};
}

KERNEL(first_afterstates, Levels) {
    for (uint64_t i = thread_number(); i < p.roots; i += thread_count())
        p.afterstates[i] = {cells_of({p.states[i].x, p.states[i].y}), 0, 0, 0, 0, 0};
}

// Afterstates of nodes: a thread a move.
KERNEL(slide_nodes, Levels) {
    const uint64_t tasks = 4 * uint64_t(given(p)), turns = (tasks + thread_count() - 1) / thread_count();
    for (uint64_t turn = 0, i = thread_number(); turn < turns; ++turn, i += thread_count()) {
        Moved next = {};
        if (i < tasks) next = moved<G>(p.nodes[i / 4].state, int(i & 3));
        unsigned place = room_for(next.legal, 1, p.counters + p.to);
        unsigned legal = __ballot_sync(ALL_LANES, next.legal) >> (lane_number() & 28) & 15;
        if (i < tasks && (i & 3) == 0) p.nodes[i / 4].first = place, p.nodes[i / 4].legal = legal;
        if (!next.legal) continue;
        if (place < p.writable) p.afterstates[place] = {next.state, 0, 0, 0, POINTS ? next.gain : 0, 0};
        else p.counters[FULL] = 1;
    }
}

// Nodes after afterstates: a thread a cell.
KERNEL(spawn_nodes, Levels) {
    const uint64_t tasks = 16 * uint64_t(given(p)), turns = (tasks + thread_count() - 1) / thread_count();
    for (uint64_t turn = 0, i = thread_number(); turn < turns; ++turn, i += thread_count()) {
        const int cell = int(i & 15);
        State s = {0, 0};
        unsigned empty = 0;
        if (i < tasks) s = p.afterstates[i / 16].state, empty = G::empty(s);
        bool valid = empty >> cell & 1;
        unsigned place = room_for(valid, KINDS, p.counters + p.to);
        if (i < tasks && cell == 0) {
            p.afterstates[i / 16].first = place;
            p.afterstates[i / 16].count = bits_in(empty) * KINDS;
        }
        if (!valid) continue;
        for (int kind = 0; kind < KINDS; ++kind)
            if (place + kind < p.writable) p.nodes[place + kind] = {G::with(s, cell, p.by.codes[kind]), 0, 0};
            else p.counters[FULL] = 1;
    }
}

KERNEL(evaluate_afterstates, Levels) {
    const unsigned count = given(p);
    for (uint64_t i = thread_number(); i < count; i += thread_count())
        p.afterstates[i].value = p.afterstates[i].gain + double(worth(p.by, p.afterstates[i].state));
    if (thread_number() == 0) atomicAdd(p.counters + LEAVES, (unsigned long long)count);
}

ON_DEVICE double best_of(const Levels& p, const Node& node) {
    const int count = bits_in(node.legal);
    if (!count) return double(worth_of_end(p.by, node.state));
    double best = -1e300;
    for (int i = 0; i < count; ++i) best = max(best, p.below[node.first + i].value);
    return best;
}

// Means over what chance may do, a warp an afterstate.
KERNEL(reduce_afterstates, Levels) {
    if (p.counters[FULL]) return;
    const unsigned count = given(p);
    for (uint64_t i = thread_number() / 32; i < count; i += thread_count() / 32) {
        const After& own = p.afterstates[i];
        double sum = 0;
        for (unsigned j = lane_number(); j < own.count; j += 32)
            sum += p.by.chances[j % KINDS] * best_of(p, p.nodes[own.first + j]);
        for (int by = 16; by; by /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, by);
        if (lane_number() == 0) p.afterstates[i].value = own.gain + (own.count ? sum * KINDS / own.count : 0.0);
    }
}

// The roots' moves, of nodes and what is below; counters follow.
KERNEL(finish_nodes, Levels) {
    for (uint64_t i = thread_number(); i < p.roots && !p.counters[FULL]; i += thread_count()) {
        const Node& root = p.nodes[i];
        unsigned at = root.first;
        for (int move = 0; move < 4; ++move)
            p.found[5 * i + move] = root.legal >> move & 1 ? p.below[at++].value : -1e300;
        p.found[5 * i + 4] = best_of(p, root);
    }
}

// The same of roots where it is chance's turn.
KERNEL(finish_afterstates, Levels) {
    for (uint64_t i = thread_number(); i < p.roots; i += thread_count()) {
        for (int move = 0; move < 4; ++move) p.found[5 * i + move] = -1e300;
        p.found[5 * i + 4] = p.afterstates[i].value;
    }
}
