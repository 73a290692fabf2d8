// What the parts of endgame.cu share: what it is compiled with, and what groups and lanes have.
#pragma once
#include "othello.cuh"

#ifndef BOARD_ROWS
#define BOARD_ROWS 8
#define BOARD_COLUMNS 8
#endif
#ifndef LANES
#define LANES 4
#endif
#ifndef LEAF
#define LEAF 5  // empty squares below which lanes search on their own
#endif
#ifndef MOST
#define MOST 12  // empty squares of a position, at most
#endif
#ifndef WAITING
#define WAITING 8  // lanes of a warp whose groups have come to the end of a bottom, before others' bottoms wait for them
#endif
#ifndef SHARING
#define SHARING 0  // 1: groups without a position join others, which takes registers
#endif
#ifndef THREADS
#define THREADS 128
#endif
#ifndef BLOCKS
#define BLOCKS 5  // of a multiprocessor, which bounds the registers of a thread
#endif

namespace {

using Game = othello::Board<BOARD_ROWS, BOARD_COLUMNS>;

constexpr int GROUPS = THREADS / LANES, FRAMES = MOST > LEAF + 1 ? MOST - LEAF - 1 : 1;
constexpr int NONE = -128;  // instead of a score: no move was found
constexpr int NO_MOVE = -2, PASS = -1;
constexpr int POLL_INTERVAL = 16;  // turns between looks at the clock

struct alignas(16) Entry {  // of the table of positions: a hash xor the data, and the data
    unsigned long long check, data;
};

// Of a position: score (at most alpha: an upper bound; at least beta: a lower one), move, state, a byte each.
enum State : unsigned { WAITS, SOLVED, OVER, GIVEN_UP };

#include "dtypes/othello_endgame.h"

struct alignas(8) Line {  // what changes of a frame
    int8_t alpha, beta, best, given;  // given: the upper end of the window that the move at work got
    int8_t next, count, best_move;
    uint8_t flags;
};
// own is the side to move after a pass; the move at work gets all of the window; its group is counted at the position behind it
constexpr uint8_t PASSED = 1, AGAIN = 2, COUNTED = 4;

struct Frame {
    uint64_t own, opp, hash;
    Line line;
    unsigned counter, unused;  // which one
    uint8_t squares[(MOST + 7) / 8 * 8];  // moves, the best ones first
};

// What is counted: nodes; squares tried by lanes, and by how many it could have been; nodes ordered by groups, and
// by how many it could have been; entries of the table used, and written.
enum Count { NODES, TRIED, TURNS, ORDERED, ORDERS, HITS, STORES, COUNTS };

enum Mode { FETCH, OPEN, MOVE, RETURN, BOTTOM, IDLE, OUT };  // IDLE: it has found nothing, and tries again

struct Group {  // what its lanes agree on
    int mode, job, top;
    int value, move;  // RETURN: of the node above `top` in the tree, its side to move's
    int alpha, beta;  // OPEN, BOTTOM: of the node
    int best, passed;  // BOTTOM
    uint64_t own, opp, todo;  // OPEN, BOTTOM
};

struct Lane {
    uint64_t own, opp, todo;
    int alpha, beta, best, passed;
    int left;  // empty squares
    int square;  // of the bottom at which it is; NO_MOVE: it is idle
};

template <class T>
ON_DEVICE void pass(T& node) {  // the other side is to move
    const uint64_t own = node.own;
    node.own = node.opp;
    node.opp = own;
    const int alpha = node.alpha;
    node.alpha = -node.beta;
    node.beta = -alpha;
}

struct Kept {
    Group group;
    Frame frames[FRAMES];
};

// Shared memory of a block: frames of groups, stacks of lanes, keys by which groups order moves.
constexpr int KEYS = (MOST + 3) / 4 * 4;
constexpr int LEVELS = LEAF > 1 ? LEAF - 1 : 1;

using Rays = Fixed<uint64_t, Game::SQUARES * othello::RAY_STRIDE>;

struct Place {  // where a thread has its own
    Frame* frames;
    uint16_t* keys;
    uint64_t *own, *opp, *todo;  // a lane's nodes with `left` empty squares are at (left − 2) · THREADS
    int* window;
    const uint64_t* rays;
};

ON_DEVICE Place place(char* memory, const uint64_t* rays) {
    const int thread = threadIdx.x, group = thread / LANES;
    char* lanes = memory + GROUPS * sizeof(Frame) * FRAMES;
    uint64_t* masks = reinterpret_cast<uint64_t*>(lanes);
    constexpr int LEVEL = LEVELS * THREADS;
    int* windows = reinterpret_cast<int*>(masks + 3 * LEVEL);
    uint16_t* keys = reinterpret_cast<uint16_t*>(windows + LEVEL);
    return {reinterpret_cast<Frame*>(memory) + group * FRAMES, keys + group * KEYS, masks + thread,
            masks + LEVEL + thread, masks + 2 * LEVEL + thread, windows + thread, rays};
}

ON_DEVICE bool some(bool of) { return __any_sync(ALL_LANES, of); }
ON_DEVICE unsigned which(bool of) { return __ballot_sync(ALL_LANES, of); }
ON_DEVICE int of_group() { return int(lane_number()) & (LANES - 1); }  // this lane's number in its group
ON_DEVICE unsigned group_part(unsigned lanes) {
    return LANES == 32 ? lanes : lanes >> (lane_number() & ~(LANES - 1)) & ((1u << (LANES & 31)) - 1);
}

HD uint64_t bit(int square) { return uint64_t(1) << square; }

// Of the squares to try one in a quarter with an odd number of empty ones, if there is one: the side that moves last there gains.
HD int picked(uint64_t todo, uint64_t odd) { return lowest_bit(todo & odd ? todo & odd : todo); }

HD uint64_t packed_bounds(int low, int high, int move) {
    return uint64_t(low + 128) | uint64_t(high + 128) << 8 | uint64_t(move + 2) << 16 | uint64_t(1) << 32;
}

static_assert(sizeof(Kept) == 64 + FRAMES * (40 + (MOST + 7) / 8 * 8), "as gpu/othello_endgame.py counts");

}  // namespace
