// Othello to a number of plies, with an evaluation; a pass is a ply.
#include "othello_evaluations.cuh"
#include "solver.cuh"

#ifndef ORDERED_LEFT
#define ORDERED_LEFT 3  // with so many plies left after a move, or more, the evaluation orders moves; else mobility
#endif

using Board = othello::Board<BOARD_ROWS, BOARD_COLUMNS>;

#if EVALUATION == 0
using Evaluation = othello::Discs<Board>;
#elif EVALUATION == 1
using Evaluation = othello::Complex<Board>;
#else
using Evaluation = othello::Patterns<Board>;
#endif

struct alignas(16) ToDepth {
    uint64_t own, opp;
    int depth;

    using Score = int16_t;
    static constexpr bool TO_DEPTH = true, BY_SQUARE = true;
    static constexpr int MOVES = Board::SQUARES - 2, BEST = 1 << 18, MOST = BONUS + Board::SQUARES;
    static constexpr int PASS = 64;  // as a code of a move, which is else its square

    using Tables = Evaluation::Tables;

    struct Moves {
        uint64_t squares;
        int count;  // 1 if there is nothing but a pass, 0 if the game is over
    };

    HD static ToDepth of(const Job& job) { return {job.state[0], job.state[1], job.depth}; }
    HD int left() const { return depth; }
    HD Moves moves() const {
        const uint64_t squares = Board::moves(own, opp);
        return {squares, squares ? bits_in(squares) : Board::moves(opp, own) != 0};
    }
    HD static int slots(const Moves& moves) { return moves.count; }
    HD static bool has(const Moves&, int) { return true; }
    HD static int code(const Moves& moves, int m) {
        uint64_t squares = moves.squares;
        if (!squares) return PASS;
        int below = 0;  // the m-th square, by halves
#pragma unroll
        for (int half = 32; half; half /= 2) {
            const int there = bits_in(squares & ((1ull << half) - 1));
            if (m >= there) m -= there, squares >>= half, below += half;
        }
        return below;
    }

    HD ToDepth played(int code) const {
        if (code == PASS) return {opp, own, depth - 1};
        const uint64_t square = 1ull << code, turned = Board::turned_by(own, opp, square);
        return {opp & ~turned, own | turned | square, depth - 1};
    }
    HD ToDepth shallower() const { return {own, opp, depth - 2}; }

    HD void opening(int& low, int& high) const { low = -MOST, high = MOST; }
    HD static void settle(int, bool, int& low, int& high) { low = -MOST, high = MOST; }

    ON_DEVICE void bounds(const Tables& tables, int code, int left, int, int& low, int& high, int& order) const {
        const uint64_t replies = Board::moves(own, opp);
        order = 0;
        settle(left, true, low, high);
        if (!replies && !Board::moves(opp, own)) {
            const int score = Board::final(own, opp, TO_WINNER);
            low = high = score + (score > 0 ? BONUS : score < 0 ? -BONUS : 0);
        } else if (left == 0) {
            low = high = Evaluation::value(own, opp, tables);
        } else if (left >= ORDERED_LEFT && code != PASS) {
            order = (MOST - Evaluation::value(own, opp, tables)) * 2200 / (2 * MOST) * 64 + code;
        } else if (code != PASS) {
            order = (2200 - Board::lateness(replies, 1ull << code)) * 64 + code;
        }
    }

    // The depth comes last: into the first fold it would enter as if it were discs.
    HD uint64_t hash() const { return Board::hash(own, opp, 0) ^ uint64_t(depth) * 0x9E3779B97F4A7C15u; }

    // First what is expected; then away from that in growing steps until it lies between two answers, then by halves.
    HD static int question(int, int low, int high, int guess) {
        const int middle = low + (high - low + 1) / 2;
        if (guess <= low) return min(middle, low + WIDENED + (low - guess));
        if (guess >= high) return max(middle, high - WIDENED - (guess - high));
        return guess;
    }
};

KERNEL_BOUNDS(solve, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    search<ToDepth>(p, memory, ToDepth::Tables::prepared(p.evaluation));
}
