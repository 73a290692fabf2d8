// What learning on a GPU does with one game: afterstates that learn from those after them, and what chance draws.
#pragma once
#include "network.cuh"

struct Path {  // afterstates of a game, what the moves to them brought, and what they are worth once they have learnt
    uint64_t* states;
    int* gains;
    float* values;
};

ON_DEVICE State board_of(const uint64_t* words) { return {words[0], WORDS > 1 ? words[1] & (1ull << 40) - 1 : 0}; }

ON_DEVICE State path_board(const Path& path, int t) { return board_of(path.states + WORDS * uint64_t(t)); }

ON_DEVICE void keep(const Path& path, int t, State board, int gain) {
    for (int i = 0; i < WORDS; ++i) path.states[WORDS * uint64_t(t) + i] = G::word(board, i);
    path.gains[t] = gain;
}

// Brings a board's value nearer to a target; the first IMAGES lanes of a group do, all of `mask` come.
ON_DEVICE void adjust(const Learnt& p, State board, double target, int inner, unsigned mask) {
    const State image = image_of(board, inner % IMAGES);
    const auto traces = traces_of(p, image);  // on their way with the weights
    const float value = added(inner < IMAGES ? part_of_value(p, image, begin_of_stage(p, board)) : 0.0f, mask);
    const unsigned images = ((1u << IMAGES) - 1) << (lane_number() - inner);
    if (inner < IMAGES) change(p, image, float(target - double(value)), traces, images);
    __syncwarp(mask);
}

ON_DEVICE double value_now(const Learnt& p, State board, int inner, unsigned mask) {
    const State image = image_of(board, inner % IMAGES);
    const float value = added(inner < IMAGES ? part_of_value(p, image, begin_of_stage(p, board)) : 0.0f, mask);
    return __shfl_sync(mask, value, int(lane_number()) - inner);
}

// Where backward learning starts. If the game goes on, the last afterstate, worth `worth`, is only a target.
ON_DEVICE Backward backward_from(const Path& path, int length, bool ended, double worth, int inner) {
    const int last = length - 1;
    if (ended) return {0, 0, length, last};
    if (inner == 0) path.values[last] = float(worth);
    return {double(path.gains[last]), worth, last, last};
}

// Learns from up to `most` of the afterstates that are left, from the last to the first.
ON_DEVICE void learn_back(const Learnt& p, const Path& path, Backward& b, int most, int inner, unsigned mask) {
    __syncwarp(mask);
    if (!b.left) return;
    const int64_t steps = p.steps;
    State board = path_board(path, b.left - 1);
    for (; most > 0; --most) {
        const int t = --b.left;
        const State next = t ? path_board(path, t - 1) : board;  // on its way while this one learns
        adjust(p, board, b.brought + b.ahead, inner, mask);
        if (t == 0) return;
        const double now = value_now(p, board, inner, mask);
        if (inner == 0) path.values[t] = float(now);
        __syncwarp(mask);
        b.brought += path.gains[t];
        if (t + steps <= b.last) b.brought -= path.gains[t + steps];
        const int64_t until = t - 1 + steps;
        if (steps == 1) b.ahead = now;
        else if (until <= b.last) b.ahead = path.values[until];
        board = next;
    }
}

HD uint64_t drawn(uint64_t seed, uint64_t n) {  // the n-th number of a seed's stream of splitmix64
    uint64_t x = seed + (n + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

ON_DEVICE uint64_t stream_of(uint64_t seed, uint64_t number) { return drawn(drawn(seed, 0) ^ number, 1); }

// Empty cells in the order in which the CPU counts them; 2584's two words side by side.
ON_DEVICE unsigned in_order(unsigned empty) {
    if (WORDS == 1) return empty;
    const auto spread = [](unsigned x) {
        x = (x | x << 4) & 0x0F0F;
        x = (x | x << 2) & 0x3333;
        return (x | x << 1) & 0x5555;
    };
    return spread(empty & 255) | spread(empty >> 8) << 1;
}
