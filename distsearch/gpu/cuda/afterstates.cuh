// Levels of afterstates, each board once: a hash table of a level, and the batches of afterstates that a warp takes up.
//
// A slot holds 32 bits of a board's hash and, plus 1, its number in the level's list, where the whole board is
// compared: 2584 needs 80 bits, more than one atomic exchange takes on every GPU. What other blocks may have written
// is read by __ldcg, past L1, since phases may follow one another within a launch.
#pragma once
#include "evaluations.cuh"
#include "found.cuh"

constexpr unsigned NONE = 0xFFFFFFFF;
constexpr uint64_t HOLE = ~uint64_t(0);  // of a place in a list that has no board
#ifndef BATCH  // afterstates that a warp takes up at a time
#define BATCH 8
#endif
static_assert(BATCH >= 1 && BATCH <= 16 && (BATCH & (BATCH - 1)) == 0, "lanes are shared out evenly");
constexpr int PER_BOARD = 32 / BATCH;                       // lanes that add up one's outcomes
constexpr int MOST_ITEMS = 16 * KINDS;                      // of an afterstate: no line has more than two gaps

#include "dtypes/expectimax_merged.h"

HD uint64_t mixed(State s) {
    uint64_t x = (s.a ^ s.b * 0x9E3779B97F4A7C15ull) * 0xD6E8FEB86659FD93ull;
    x ^= x >> 32;
    x *= 0xC2B2AE3D27D4EB4Full;
    return x ^ x >> 29;
}

ON_DEVICE State board_at(const Level& level, unsigned i) {
    ulonglong2 words = __ldcg(level.boards + i);
    return {words.x, words.y};
}

// The number of a board in a level, which it gets now if it has none. NONE, and the counter FULL, if nothing fits.
ON_DEVICE unsigned number_of(const Level& level, unsigned long long* count, unsigned long long* full, State s) {
    uint64_t hash = mixed(s), tag = hash >> 32 << 32;
    unsigned mine = NONE;
    unsigned slot = unsigned(hash);
    for (unsigned tried = 0; tried <= level.mask; ++tried, ++slot) {
        slot &= level.mask;
        unsigned long long found = __ldcg(level.slots + slot);
        if (found == 0) {
            if (mine == NONE) {  // written before it is announced
                mine = unsigned(atomicAdd(count, 1ull));
                if (mine >= level.capacity) break;
                level.boards[mine] = {s.a, s.b};
                __threadfence();
            }
            found = atomicCAS(level.slots + slot, 0ull, (unsigned long long)(tag | (mine + 1)));
            if (found == 0) return mine;
        }
        if ((found >> 32 << 32) == tag && board_at(level, unsigned(found) - 1) == s) {
            if (mine != NONE) level.boards[mine] = {HOLE, HOLE};  // another thread has been faster with the same board
            return unsigned(found) - 1;
        }
    }
    atomicExch(full, 1ull);
    return NONE;
}

// A gap is a run of empty cells in a line: a tile slides to the same place from each of them. So what chance may do in
// a line comes to an item for each gap and kind of tile, of two slides, where one by one it would be two for each cell.
struct Gap {
    int axis, line, first, last;  // axis 0: rows; cells of the line
};

struct Batch {  // of afterstates, in shared memory
    unsigned rows[BATCH][2][4];   // by axis: rows, and columns
    unsigned slid[BATCH][4][4];   // the same slid: by axis and, lowest, side
#if POINTS
    int gains[BATCH][4][4];       // what that brings
#endif
    unsigned changed[BATCH][4];   // of which of the four lines slid is another
    unsigned starts[BATCH];       // the first cells of gaps, those of columns 16 bits above
    unsigned empty[BATCH];        // the empty cells, likewise
    unsigned begins[BATCH + 1];   // items of those before
    Value best[BATCH * MOST_ITEMS][3];  // of items: the better slide, of a tile on the first, an inner, the last cell
};

HD unsigned gap_starts(unsigned empty) { return empty & ~((empty & 0x77777777) << 1); }

// Take up to BATCH afterstates of a level, from `from` on; returns the number of items. All lanes come.
ON_DEVICE unsigned take(Batch& batch, const Level& level, unsigned from, int here) {
    const int lane = lane_number();
    unsigned items = 0;
    if (lane < here) {
        State s = board_at(level, from + lane), across = G::transposed(s);
#pragma unroll
        for (int i = 0; i < 4; ++i) batch.rows[lane][0][i] = G::row(s, i), batch.rows[lane][1][i] = G::row(across, i);
        batch.empty[lane] = s.b == HOLE ? 0 : G::empty(s) | G::empty(across) << 16;
        batch.starts[lane] = gap_starts(batch.empty[lane]);
        items = bits_in(batch.starts[lane]) * KINDS;
    }
    for (int by = 1; by < BATCH; by *= 2) {
        unsigned before = __shfl_up_sync(ALL_LANES, items, by);
        if (lane >= by) items += before;
    }
    if (lane < BATCH) batch.begins[lane + 1] = items;  // beyond the last afterstate lanes add nothing
    if (lane == 0) batch.begins[0] = 0;
    __syncwarp();
    for (int first = 0; first < BATCH * 16; first += 32) {
        int task = first + lane, board = task >> 4, way = task >> 2 & 3, line = task & 3;
        bool changes = false;
        if (board < here) {
            unsigned row = batch.rows[board][way >> 1][line];
            SlidRow found = slid<G>(row, way & 1);
            batch.slid[board][way][line] = found.row;
#if POINTS
            batch.gains[board][way][line] = found.gain;
#endif
            changes = found.row != row;
        }
        unsigned changed = __ballot_sync(ALL_LANES, changes) >> (lane & 28) & 15;
        if (board < here && line == 0) batch.changed[board][way] = changed;
    }
    __syncwarp();
    return batch.begins[BATCH];
}

struct Slide {  // of an item's tile, to one side
    State state;       // seen along the item's axis
    int gain;
    bool legal_at_end; // whether the move changes something with the tile on the gap's cell on that side
};

template <bool WITH_STATE>
ON_DEVICE Slide slide(const Batch& batch, int board, const Gap& gap, unsigned code, int side) {
    const int way = gap.axis * 2 + side;
    unsigned row = batch.rows[board][gap.axis][gap.line] | code << G::BITS * (side ? gap.last : gap.first);
    SlidRow found = slid<G>(row, side);
    Slide out;
    out.legal_at_end = found.row != row || (batch.changed[board][way] & ~(1u << gap.line));
    if (WITH_STATE) {
        unsigned rows[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) rows[i] = i == gap.line ? found.row : batch.slid[board][way][i];
        out.state = G::of_rows(rows[0], rows[1], rows[2], rows[3]);
    }
    out.gain = 0;
#if POINTS
    out.gain = found.gain;
#pragma unroll
    for (int i = 0; i < 4; ++i) out.gain += i == gap.line ? 0 : batch.gains[board][way][i];
#endif
    return out;
}

struct Item {
    int board, kind;
    Gap gap;
};

ON_DEVICE Item item_of(const Batch& batch, unsigned number) {
    int board = 0;
#pragma unroll
    for (int half = BATCH / 2; half; half /= 2)
        if (batch.begins[board + half] <= number) board += half;
    unsigned own = number - batch.begins[board];
    int start = bit_number(batch.starts[board], own / KINDS), line = start >> 2 & 3, first = start & 3;
    unsigned cells = batch.empty[board] >> (start & ~3) & 15;
    int length = lowest_bit(~(cells >> first));
    return {board, int(own % KINDS), {start >> 4, line, first, first + length - 1}};
}

// The better of a tile's slides along an axis, on a cell (numbered along the axis) of an afterstate.
ON_DEVICE Value best_along(const Batch& batch, int board, int axis, int cell, int kind) {
    unsigned empty = batch.empty[board] >> 16 * axis & 0xFFFF, starts = batch.starts[board];
    unsigned up_to = starts & ((2u << (cell + 16 * axis)) - 1);
    int start = 31 - __clz(int(up_to)) - 16 * axis;
    bool last = (cell & 3) == 3 || !(empty >> (cell + 1) & 1);
    unsigned item = batch.begins[board] + (bits_in(up_to) - 1) * KINDS + kind;
    return batch.best[item][cell == start ? 0 : last ? 2 : 1];
}
