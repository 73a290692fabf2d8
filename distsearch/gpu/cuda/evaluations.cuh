// What a board is worth where a search stops: the reports' heuristics, sums of them, and networks of tuples.
//
// Compiled for what PARTS asks for, the sum of these numbers; a network stands alone. LOOKUPS is how many look-ups one
// takes, IMAGES lists them, see image_of in expectimax_tables.py.
#pragma once
#include "g2048.cuh"
#include "g2584.cuh"

#ifndef GAME
#define GAME 2048
#endif
#ifndef PARTS
#define PARTS 8
#endif
#ifndef POINTS  // 1: what moves bring counts in addition to the evaluation
#define POINTS 0
#endif
#ifndef SYMMETRIC  // 1: transposed boards are worth the same
#define SYMMETRIC 1
#endif
#ifndef STAGES
#define STAGES 1
#endif
#ifndef LEARNING  // 1: the network learns, and weights may be NaN that a stage has not learnt
#define LEARNING 0
#endif
#ifndef DEAD_BOARDS  // 1: the network says what boards are worth on which the player has no move
#define DEAD_BOARDS 0
#endif
#ifndef LOOKUPS
#define LOOKUPS 1
#define IMAGES IMAGE(0)
#endif
#ifndef KINDS  // of tiles that chance puts down
#define KINDS 2
#endif

#if GAME == 2048
using G = G2048;
#else
using G = G2584;
#endif

enum { ROWS = 1, MONOTONICITY = 2, SMOOTHNESS = 4, FREE = 8, SNAKE = 16, HASKELL = 32, NTUPLE = 64 };
constexpr int PART_COUNT = 6;   // heuristics
constexpr int BY_LINES = 3;     // of them, those that are read from tables of lines: the first ones
constexpr double LOST = -1500000.0;

// float where only sums of float32 weights are compared, half as many registers and shuffles as double
#if PARTS == 64
using Value = float;
#else
using Value = double;
#endif

#include "dtypes/expectimax_tables.h"

#define IMAGE(x) x##ull,
constexpr uint64_t IMAGE_LIST[] = {IMAGES};
#undef IMAGE

// Of an image: cells of 4 bits, the lowest digit of the index first; how many; on which board; where its weights begin.
HD constexpr int image_cell(uint64_t image, int i) { return int(image >> 4 * i & 15); }
HD constexpr int image_count(uint64_t image) { return int(image >> 28 & 7); }
HD constexpr int image_board(uint64_t image) { return int(image >> 31 & 3); }
HD constexpr unsigned image_offset(uint64_t image) { return unsigned(image >> 34); }
HD constexpr int run_length(uint64_t image, int at) {  // of cells that follow one another in a word
    int length = 1;
    while (at + length < image_count(image) &&
           image_cell(image, at + length) == image_cell(image, at + length - 1) + 1 &&
           image_cell(image, at + length) % G::IN_WORD != 0)
        ++length;
    return length;
}

template <uint64_t image, int at>
HD unsigned index_from(State s) {
    if constexpr (at >= image_count(image)) {
        return 0;
    } else {
        constexpr int length = run_length(image, at), cell = image_cell(image, at);
        unsigned digits = unsigned(G::word(s, cell / G::IN_WORD) >> G::BITS * (cell % G::IN_WORD)) &
                          unsigned((uint64_t(1) << G::BITS * length) - 1);
        return digits << G::BITS * at | index_from<image, at + length>(s);
    }
}

template <int i>
ON_DEVICE float weights_from(const Evaluator& by, const float* weights, const State* boards) {
    if constexpr (i >= LOOKUPS) {
        return 0;
    } else {
        constexpr uint64_t image = IMAGE_LIST[i];
        const float* place = weights + (image_offset(image) + index_from<image, 0>(boards[image_board(image)]));
        float weight = __ldg(place);
        while (LEARNING && STAGES > 1 && weight != weight && place >= by.weights + by.stage_size)
            weight = __ldg(place -= by.stage_size);
        return weight + weights_from<i + 1>(by, weights, boards);
    }
}

ON_DEVICE float network(const Evaluator& by, State s) {
    const float* weights = by.weights;
    if constexpr (STAGES > 1) {
        unsigned largest = largest_code<G>(s);
        for (int i = 0; i + 1 < STAGES; ++i)
            if (largest >= by.begins[i]) weights += by.stage_size;
    }
    State across = G::transposed(s);
    State boards[4] = {s, across, G::mirrored(s), G::mirrored(across)};
    return weights_from<0>(by, weights, boards);
}

ON_DEVICE double by_lines(const int* table, State s, State across) {
    int64_t total = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) total += __ldg(table + G::row(s, i)) + int64_t(__ldg(table + G::row(across, i)));
    double value = double(total >> 4) * 0.25;
    return total & 15 ? value : value + LOST;
}

// Minus what tiles rise by along an S from a corner; of the eight ways, the best.
HD double snake(State s, State across) {
    int least = 1 << 30;
    for (int way = 0; way < 8; ++way) {
        int corner = way & 3, rise = 0, last = 16;
        State lines = way < 4 ? s : across;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                int line = corner < 2 ? i : 3 - i, at = (i + corner) % 2 == 0 ? j : 3 - j;
                int tile = int(G::code_at(lines, 4 * line + at));
                rise += tile > last ? tile - last : 0;
                last = tile;
            }
        least = rise < least ? rise : least;
    }
    return -least;
}

// Lengths of what does not rise at the beginnings of rows, as the Haskell report counts it.
HD int order_of_rows(State s) {
    int total = 0;
    for (int i = 0; i < 4; ++i)
        for (int j = 1; j < 4 && G::code_at(s, 4 * i + j) <= G::code_at(s, 4 * i + j - 1); ++j) ++total;
    return total * (total - 1) / 2;
}

HD double haskell(State s, State across) {
    constexpr int WEIGHTS[7] = {1000000, 1000, 100, 10, 1, 1, 1};
    int alike = 0;
    unsigned largest = 0;
    long long weighted = 0;
    for (int cell = 0; cell < 16; ++cell) {
        unsigned code = G::code_at(s, cell);
        alike += cell % 4 < 3 && G::code_at(s, cell + 1) == code;
        alike += cell < 12 && G::code_at(s, cell + 4) == code;
        largest = code > largest ? code : largest;
        weighted += (long long)(G::points(code)) * WEIGHTS[cell / 4 + cell % 4];
    }
    int order = order_of_rows(s) + order_of_rows(across);
    double value = alike + 0.15 * order + 1.2 * bits_in(G::empty(s)) + 0.25 * log2(double(weighted > 1 ? weighted : 1));
    return G::points(largest) == 2048 ? value + 9999.0 * 99999999 : value;
}

// What a board is worth if the game goes on, or before chance has moved.
ON_DEVICE Value worth(const Evaluator& by, State s) {
    if constexpr (PARTS == NTUPLE) {
        return network(by, s);
    } else {
        State across = G::transposed(s);
        double value = 0;
#pragma unroll
        for (int i = 0; i < BY_LINES; ++i)
            if (PARTS >> i & 1) value += by.factors[i] * by_lines(by.lines[i], s, across);
        if (PARTS & FREE) value += by.factors[3] * bits_in(G::empty(s));
        if (PARTS & SNAKE) value += by.factors[4] * snake(s, across);
        if (PARTS & HASKELL) value += by.factors[5] * haskell(s, across);
        return Value(value);
    }
}

// Whether a board without a legal move is worth 0: by networks, which say what is still to come, unless DEAD_BOARDS.
constexpr bool DEAD_IS_ZERO = PARTS == NTUPLE && !DEAD_BOARDS;

// What a board is worth where the player has no move.
ON_DEVICE Value worth_of_end(const Evaluator& by, State s) { return DEAD_IS_ZERO ? Value(0) : worth(by, s); }

// What a state is worth at the depth limit, as the CPU's evaluations have it.
ON_DEVICE Value worth_of_leaf(const Evaluator& by, State s) {
    State cells = cells_of(s);
    return DEAD_IS_ZERO && tiles_due(s) == 0 && is_over<G>(cells) ? Value(0) : worth(by, cells);
}
