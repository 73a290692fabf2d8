// A search of one layer by the warps of a block: every tile that chance may put down after a move, and the best reply.
#pragma once
#include "differences.cuh"
#include "found.cuh"

constexpr int MOST_WARPS = 32;

struct OneLayer {  // what the first warp asks of the others, and what they answer
    State board;
    int over;
    double sums[4 * MOST_WARPS];
};

// A lane's part of each move's expectation: probability times best reply, over its tiles; four lanes share a tile.
// child: of the move whose number the lane has, modulo 4.
ON_DEVICE Fixed<double, 4> partial_expectations(const Play& p, const Moved& child) {
    const int lane = int(lane_number()), own = lane % 4;
    const int tiles = child.legal ? bits_in(G::empty(child.state)) * p.kinds : 0;
    int begins[5] = {0};
#pragma unroll
    for (int move = 0; move < 4; ++move) begins[move + 1] = begins[move] + __shfl_sync(ALL_LANES, tiles, move);
    Fixed<double, 4> sums = {{0, 0, 0, 0}};
    for (int first = int(threadIdx.x) / 32 * 8; first < begins[4]; first += int(blockDim.x) / 4) {
        const int tile = first + lane / 4;
        const int move = (tile >= begins[1]) + (tile >= begins[2]) + (tile >= begins[3]);
        State next = {};
        next.a = __shfl_sync(ALL_LANES, child.state.a, move);
        if (WORDS > 1) next.b = __shfl_sync(ALL_LANES, child.state.b, move);
        const int nth = tile - (move == 0 ? 0 : move == 1 ? begins[1] : move == 2 ? begins[2] : begins[3]);
        double best = ILLEGAL;
        State board = {};
        if (tile < begins[4]) {
            board = G::with(next, bit_number(G::empty(next), nth / p.kinds), p.codes[nth % p.kinds]);
            const Moved reply = moved<G>(board, own);
            if (reply.legal) best = reply.gain + double(value_by_one(p.learnt, reply.state));
        }
        best = fmax(best, __shfl_xor_sync(ALL_LANES, best, 1));
        best = fmax(best, __shfl_xor_sync(ALL_LANES, best, 2));
        if (DEAD_BOARDS && tile < begins[4] && best == ILLEGAL) best = double(value_by_one(p.learnt, board));
        const double worth = best == ILLEGAL ? 0 : best * p.chances[nth % p.kinds];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (i == move) sums[i] += worth;
    }
#pragma unroll
    for (int by = 4; by < 32; by *= 2)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[i] += __shfl_xor_sync(ALL_LANES, sums[i], by);
    return sums;
}

ON_DEVICE void put_together(OneLayer& shared, Fixed<double, 4> sums) {
    if (lane_number() == 0)
        for (int move = 0; move < 4; ++move) shared.sums[4 * (threadIdx.x / 32) + move] = sums[move];
    __syncthreads();
}

// What all warps of a block but the first do until they are dismissed.
ON_DEVICE void help(const Play& p, OneLayer& shared) {
    while (true) {
        __syncthreads();
        if (shared.over) return;
        const State board = shared.board;
        put_together(shared, partial_expectations(p, moved<G>(board, int(threadIdx.x) % 4)));
    }
}

ON_DEVICE void dismiss(OneLayer& shared, int inner) {
    if (inner == 0) shared.over = 1;
    __syncthreads();
}

// What each afterstate of a board is worth by the search; child: that of the move whose number the lane has, modulo 4.
ON_DEVICE double expectation_by_all(const Play& p, OneLayer& shared, State board, const Moved& child, int inner) {
    if (inner == 0) shared.board = board, shared.over = 0;
    __syncthreads();
    put_together(shared, partial_expectations(p, child));
    double sum = 0;
    for (int warp = 0; warp < int(blockDim.x) / 32; ++warp) sum += shared.sums[4 * warp + inner % 4];
    return child.legal ? sum / bits_in(G::empty(child.state)) : 0;
}
