// Expectimax of many boards at once: each afterstate of a level is searched once, whatever boards and moves lead to it.
//
// Phases: plant the afterstates of the roots' moves; grow a level from the one before; evaluate the last level, whose
// outcomes and their slides are never stored; back values up level by level; choose the roots' moves. Each is a launch
// with its counts in device memory, or all are one launch whose blocks meet in between (WHOLE, compiled on its own).
#include "afterstates.cuh"

#ifndef THREADS
#define THREADS 128
#endif
#ifndef BLOCKS  // of a multiprocessor, which the registers of a thread must allow for
#define BLOCKS 8
#endif

constexpr int FEW = 4;          // roots that come with the parameters, without a copy of their own

enum { GROW, EVALUATE, BACK };

ON_DEVICE State root_at(const Parameters& p, unsigned i) {
    if (!p.states) return {p.few[2 * int(i)], p.few[2 * int(i) + 1]};
    return {p.states[i].x, p.states[i].y};
}

ON_DEVICE unsigned boards_in(const Parameters& p, int level) {
    unsigned long long count = __ldcg(p.counters + level);
    return count < p.levels[level].capacity ? unsigned(count) : p.levels[level].capacity;
}

// A thread a root and move.
ON_DEVICE void plant(const Parameters& p) {
    for (uint64_t task = thread_number(); task < 4 * uint64_t(p.roots); task += thread_count()) {
        State root = root_at(p, unsigned(task >> 2)), cells = cells_of(root);
        int move = task & 3;
        unsigned number = NONE;
        bool wanted = move == 0;  // chance: the root itself is an afterstate
        if (tiles_due(root) == 0) {
            Moved next = moved<G>(cells, move);
            cells = next.state, wanted = next.legal;
        }
        if (wanted) number = number_of(p.levels[0], p.counters, p.counters + FULL, cells);
        p.planted[task] = number;
    }
}

// One side of an item: the next level's board is numbered (GROW), evaluated, or has its value (BACK).
template <int DO>
ON_DEVICE Value slid_to(const Parameters& p, int at, const Batch& batch, const Item& item, int side, unsigned& edge,
                        bool& legal_at_end, unsigned& leaves) {
    Slide made = slide<DO != BACK>(batch, item.board, item.gap, p.by.codes[item.kind], side);
    legal_at_end = made.legal_at_end;
    if (item.gap.first == item.gap.last && !legal_at_end) return Value(ILLEGAL);
    if (DO == GROW) {
        State s = item.gap.axis ? G::transposed(made.state) : made.state;
        edge = number_of(p.levels[at + 1], p.counters + at + 1, p.counters + FULL, s);
        return 0;
    }
    if (DO == BACK) return edge == NONE ? Value(ILLEGAL) : Value(__ldcg(p.levels[at + 1].values + edge) + made.gain);
    ++leaves;
    return worth(p.by, !SYMMETRIC && item.gap.axis ? G::transposed(made.state) : made.state) + Value(made.gain);
}

// The values of a batch's afterstates, from those of its items: a few lanes each.
ON_DEVICE void average(const Parameters& p, const Level& level, const Batch& batch, unsigned from, int here,
                       unsigned& leaves) {
    const int board = lane_number() / PER_BOARD, own = lane_number() % PER_BOARD;
    double sum = 0;
    for (int cell = own; board < here && cell < 16; cell += PER_BOARD) {
        if (!(batch.empty[board] >> cell & 1)) continue;
        for (int kind = 0; kind < KINDS; ++kind) {
            Value best = max(best_along(batch, board, 0, cell, kind),
                             best_along(batch, board, 1, (cell & 3) << 2 | cell >> 2, kind));
            if (best == Value(ILLEGAL)) {
                best = worth_of_end(p.by, G::with(board_at(level, from + board), cell, p.by.codes[kind]));
                ++leaves;
            }
            sum += p.by.chances[kind] * double(best);
        }
    }
    for (int by = 1; by < PER_BOARD; by *= 2) sum += __shfl_xor_sync(ALL_LANES, sum, by);
    if (board < here && own == 0) {
        int free = bits_in(batch.empty[board] & 0xFFFF);
        level.values[from + board] = free ? sum / free : 0.0;
    }
    __syncwarp();
}

template <int DO>
ON_DEVICE void work(const Parameters& p, int at, Batch& batch) {
    const Level& level = p.levels[at];
    const int lane = lane_number();
    const unsigned count = boards_in(p, at), warps = unsigned(thread_count() / 32);
    unsigned leaves = 0;
    for (unsigned turn = unsigned(thread_number() / 32); turn * BATCH < count; turn += warps) {
        const unsigned from = turn * BATCH;
        const int here = int(min(unsigned(BATCH), count - from));
        const unsigned items = take(batch, level, from, here);
        unsigned first = 0;
        if (DO == GROW && lane == 0) {
            first = unsigned(atomicAdd(p.counters + ITEMS + at, (unsigned long long)items));
            level.firsts[turn] = first;
        }
        if (DO == BACK && lane == 0) first = __ldcg(level.firsts + turn);
        if (DO != EVALUATE) first = __shfl_sync(ALL_LANES, first, 0);
        for (unsigned number = lane; number < items; number += 32) {
            Item item = item_of(batch, number);
            uint2 edge = {NONE, NONE};
            bool left_at_end, right_at_end;
            if (DO == BACK) edge = __ldcg(level.edges + first + number);
            Value left = slid_to<DO>(p, at, batch, item, 0, edge.x, left_at_end, leaves);
            Value right = slid_to<DO>(p, at, batch, item, 1, edge.y, right_at_end, leaves);
            if (DO == GROW) {
                level.edges[first + number] = edge;
            } else {
                // of a single cell both have been told illegal already
                bool single = item.gap.first == item.gap.last;
                batch.best[number][0] = max(left_at_end || single ? left : Value(ILLEGAL), right);
                batch.best[number][1] = max(left, right);
                batch.best[number][2] = max(left, right_at_end ? right : Value(ILLEGAL));
            }
        }
        __syncwarp();
        if (DO != GROW) average(p, level, batch, from, here, leaves);
    }
    if (leaves) atomicAdd(p.counters + LEAVES, (unsigned long long)leaves);
}

// The last level where its boards are leaves, or where those after chance are: a thread a board.
ON_DEVICE void evaluate_near(const Parameters& p, int at) {
    const Level& level = p.levels[at];
    const unsigned count = boards_in(p, at);
    unsigned leaves = 0;
    for (unsigned i = unsigned(thread_number()); i < count; i += unsigned(thread_count())) {
        State s = board_at(level, i);
        if (s.b == HOLE) continue;
        if (p.rest == 0) {
            level.values[i] = worth(p.by, s);
            ++leaves;
            continue;
        }
        double sum = 0;
        unsigned empty = G::empty(s);
        for (unsigned cells = empty; cells; cells &= cells - 1)
            for (int kind = 0; kind < KINDS; ++kind) {
                State next = G::with(s, lowest_bit(cells), p.by.codes[kind]);
                sum += p.by.chances[kind] * double(worth_of_leaf(p.by, next));
                ++leaves;
            }
        level.values[i] = empty ? sum / bits_in(empty) : 0.0;
    }
    if (leaves) atomicAdd(p.counters + LEAVES, (unsigned long long)leaves);
}

// What the roots' moves are worth; counters are reported, and all is made ready for the next search.
ON_DEVICE void choose(const Parameters& p) {
    const Level& level = p.levels[0];
    for (uint64_t i = thread_number(); i < uint64_t(p.roots); i += thread_count()) {
        State root = root_at(p, unsigned(i)), cells = cells_of(root);
        double best = ILLEGAL;
        bool chance = tiles_due(root) > 0;
        for (int move = 0; move < 4; ++move) {
            unsigned number = __ldcg(p.planted + 4 * i + move);
            double value = ILLEGAL;
            if (number != NONE) {
                value = __ldcg(level.values + number);
                if (POINTS && !chance) value += moved<G>(cells, move).gain;
                best = value > best ? value : best;
            }
            p.found[FOUND * i + move] = chance ? ILLEGAL : value;
        }
        p.found[FOUND * i + 4] = best == ILLEGAL ? double(worth_of_end(p.by, cells)) : best;
    }
    for (int l = 0; l < p.level_count; ++l)
        for (uint64_t i = thread_number(); i <= p.levels[l].mask; i += thread_count()) p.levels[l].slots[i] = 0;
    if (thread_number() == 0)
        for (int i = 0; i < ARRIVED; ++i) {
            reinterpret_cast<unsigned long long*>(p.found + FOUND * uint64_t(p.roots))[i] = __ldcg(p.counters + i);
            p.counters[i] = 0;
        }
}

ON_DEVICE void evaluate(const Parameters& p, int at, Batch& batch) {
    if (p.rest == 2) work<EVALUATE>(p, at, batch);
    else evaluate_near(p, at);
}

// Every block of the launch comes here; `meetings` counts those of this launch.
ON_DEVICE void meet(const Parameters& p, unsigned& meetings) {
    ++meetings;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long all = p.arrived + (unsigned long long)meetings * gridDim.x;
        atomicAdd(p.counters + ARRIVED, 1ull);
        while (*static_cast<volatile unsigned long long*>(p.counters + ARRIVED) < all) spin();
        __threadfence();
    }
    __syncthreads();
}

ON_DEVICE Batch& own_batch(char* memory) { return reinterpret_cast<Batch*>(memory)[threadIdx.x / 32]; }

#ifndef WHOLE
KERNEL_BOUNDS(plant_roots, Parameters, THREADS, 1) { plant(p); }

KERNEL_BOUNDS(grow_level, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    work<GROW>(p, p.level, own_batch(memory));
}

KERNEL_BOUNDS(evaluate_level, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    evaluate(p, p.level, own_batch(memory));
}

KERNEL_BOUNDS(back_level, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    work<BACK>(p, p.level, own_batch(memory));
}

KERNEL_BOUNDS(choose_moves, Parameters, THREADS, 1) { choose(p); }
#else
// All of it, by blocks that are at work together, for a few roots: their blocks are few, so registers are plenty.
KERNEL_BOUNDS(search_whole, Parameters, THREADS, 2) {
    SHARED_BYTES(memory);
    Batch& batch = own_batch(memory);
    unsigned meetings = 0;
    plant(p);
    meet(p, meetings);
    for (int l = 0; l + 1 < p.level_count; ++l) {
        work<GROW>(p, l, batch);
        meet(p, meetings);
    }
    evaluate(p, p.level_count - 1, batch);
    meet(p, meetings);
    for (int l = p.level_count - 2; l >= 0; --l) {
        work<BACK>(p, l, batch);
        meet(p, meetings);
    }
    choose(p);
}
#endif

KERNEL(batch_bytes, BatchBytes) { *p.bytes = unsigned(sizeof(Batch)); }
