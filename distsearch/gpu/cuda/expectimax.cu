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

// A thread a root and move. With few roots an afterstate has its thread's number, and equal ones are not merged.
ON_DEVICE void plant(const Parameters& p, Team team) {
    for (unsigned task = team.own; task < 4 * unsigned(p.roots); task += team.all) {
        State root = root_at(p, unsigned(task >> 2)), cells = cells_of(root);
        int move = task & 3;
        unsigned number = NONE;
        bool wanted = move == 0;  // chance: the root itself is an afterstate
        if (tiles_due(root) == 0) {
            Moved next = moved<G>(cells, move);
            cells = next.state, wanted = next.legal;
        }
#ifdef WHOLE
        p.levels[0].boards[task] = wanted ? ulonglong2{cells.a, cells.b} : ulonglong2{HOLE, HOLE};
        if (wanted) number = task;
        if (task == 0) p.counters[0] = 4 * p.roots;
#else
        if (wanted) number = number_of(p.levels[0], p.counters, p.counters + FULL, cells);
#endif
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
ON_DEVICE void work(const Parameters& p, int at, Batch& batch, Team team) {
    const Level& level = p.levels[at];
    const unsigned lane = lane_number(), count = boards_in(p, at);
    unsigned leaves = 0;
    for (unsigned turn = team.own / 32; turn * BATCH < count; turn += team.all / 32) {
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
        for (unsigned begin = 0; begin < 2 * items; begin += 32) {  // a lane a side
            const unsigned number = (begin + lane) / 2, side = lane & 1;
            const bool there = number < items;
            const Item item = item_of(batch, there ? number : 0);
            bool at_end = false;
            unsigned edge = NONE;
            if (DO == BACK && there) edge = __ldcg(&level.edges[first + number].x + side);
            Value value = there ? slid_to<DO>(p, at, batch, item, side, edge, at_end, leaves) : Value(ILLEGAL);
            if (DO == GROW) {
                if (there) (&level.edges[first + number].x)[side] = edge;
                continue;
            }
            const Value other = __shfl_xor_sync(ALL_LANES, value, 1);
            // of a single cell both have been told illegal already
            at_end |= item.gap.first == item.gap.last;
            const bool other_at_end = __shfl_xor_sync(ALL_LANES, int(at_end), 1);
            if (!there || side) continue;
            batch.best[number][0] = max(at_end ? value : Value(ILLEGAL), other);
            batch.best[number][1] = max(value, other);
            batch.best[number][2] = max(value, other_at_end ? other : Value(ILLEGAL));
        }
        __syncwarp();
        if (DO != GROW) average(p, level, batch, from, here, leaves);
    }
    if (leaves) atomicAdd(p.counters + LEAVES, (unsigned long long)leaves);
}

// The last level where its boards are leaves, or where those after chance are: a thread a board.
ON_DEVICE void evaluate_near(const Parameters& p, int at, Team team) {
    const Level& level = p.levels[at];
    const unsigned count = boards_in(p, at);
    unsigned leaves = 0;
    for (unsigned i = team.own; i < count; i += team.all) {
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

// What the roots' moves are worth; counters are reported, and ready for the next search.
ON_DEVICE void choose(const Parameters& p, Team team) {
    const Level& level = p.levels[0];
    for (unsigned i = team.own; i < unsigned(p.roots); i += team.all) {
        State root = root_at(p, i), cells = cells_of(root);
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
    for (unsigned i = team.own; i < ARRIVED; i += team.all) {
        reinterpret_cast<unsigned long long*>(p.found + FOUND * uint64_t(p.roots))[i] = __ldcg(p.counters + i);
        p.counters[i] = 0;
    }
}

// Makes the levels from `first` on ready for the next search.
ON_DEVICE void clear(const Parameters& p, int first, Team team) {
    for (int l = first; l < p.level_count; ++l)
        for (uint64_t i = team.own; i <= p.levels[l].mask; i += team.all) p.levels[l].slots[i] = 0;
}

ON_DEVICE void evaluate(const Parameters& p, int at, Batch& batch, Team team) {
    if (p.rest == 2) work<EVALUATE>(p, at, batch, team);
    else evaluate_near(p, at, team);
}

ON_DEVICE Batch& own_batch(char* memory) { return reinterpret_cast<Batch*>(memory)[threadIdx.x / 32]; }

#ifndef WHOLE
KERNEL_BOUNDS(plant_roots, Parameters, THREADS, 1) { plant(p, launch_team()); }

KERNEL_BOUNDS(grow_level, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    work<GROW>(p, p.level, own_batch(memory), launch_team());
}

KERNEL_BOUNDS(evaluate_level, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    evaluate(p, p.level, own_batch(memory), launch_team());
}

KERNEL_BOUNDS(back_level, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    work<BACK>(p, p.level, own_batch(memory), launch_team());
}

KERNEL_BOUNDS(choose_moves, Parameters, THREADS, 1) {
    choose(p, launch_team());
    clear(p, 0, launch_team());
}
#else
// Every block of the launch comes here, and goes on when all have, or at once; `meetings` counts those of this launch.
ON_DEVICE void meet(const Parameters& p, unsigned& meetings, bool wait = true) {
    ++meetings;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long all = p.arrived + (unsigned long long)meetings * gridDim.x;
        atomicAdd(p.counters + ARRIVED, 1ull);
        while (wait && *static_cast<volatile unsigned long long*>(p.counters + ARRIVED) < all) spin();
        __threadfence();
    }
    __syncthreads();
}

// Tells the host, which may read what is found before the launch ends.
ON_DEVICE void report(const Parameters& p) {
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        *static_cast<volatile unsigned long long*>(p.ended) = p.launch;
    }
}

// All of it, by blocks that are at work together, for a few roots: their blocks are few, so registers are plenty. The
// first block does what is too little for all, and the others wait for it or have ended.
KERNEL_BOUNDS(search_whole, Parameters, THREADS, 2) {
    SHARED_BYTES(memory);
    Batch& batch = own_batch(memory);
    const Team all = launch_team(), block = block_team();
    const bool is_first = blockIdx.x == 0;
    const int last = p.level_count - 1;
    unsigned meetings = 0;
    if (is_first) {
        plant(p, block);
        __syncthreads();
        if (last > 0) work<GROW>(p, 0, batch, block);
        else evaluate(p, 0, batch, block);
    }
    for (int l = 1; l <= last; ++l) {
        meet(p, meetings);
        if (l < last) work<GROW>(p, l, batch, all);
        else evaluate(p, l, batch, all);
    }
    for (int l = last - 1; l > 0; --l) {
        meet(p, meetings);
        work<BACK>(p, l, batch, all);
    }
    if (last > 0) {
        clear(p, 1, all);
        meet(p, meetings, is_first);
    }
    if (!is_first) return;
    if (last > 0) work<BACK>(p, 0, batch, block);
    __syncthreads();
    choose(p, block);
    report(p);
}
#endif

KERNEL(batch_bytes, BatchBytes) { *p.bytes = unsigned(sizeof(Batch)); }
