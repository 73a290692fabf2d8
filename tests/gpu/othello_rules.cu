// What cuda/othello.cuh says of positions, for a test that compares it with games/othello.py.
#include "othello.cuh"

namespace {

constexpr int MOVES = 0, HASH = 1, FINAL = 2, TURNED = 3, WORDS = TURNED + 64;  // of a position's answer

struct Parameters {
    const uint64_t* states;
    uint64_t* answers;
    int positions, rows, columns, to_winner, depth;
};

template <int ROWS, int COLUMNS>
__device__ constexpr auto RAYS = othello::all_rays<ROWS, COLUMNS>();

template <class Game>
ON_DEVICE void describe(const Parameters& p, const uint64_t* rays) {
    for (int i = int(thread_number()); i < p.positions; i += int(thread_count())) {
        const uint64_t own = p.states[2 * i], opp = p.states[2 * i + 1];
        uint64_t* answer = p.answers + uint64_t(i) * WORDS;
        answer[MOVES] = Game::moves(own, opp);
        answer[HASH] = Game::hash(own, opp, Game::ROWS * 16 + Game::COLUMNS);
        answer[FINAL] = uint64_t(int64_t(Game::final(own, opp, p.to_winner)));
        for (int square = 0; square < Game::SQUARES; ++square)
            if (Game::empty(own, opp) >> square & 1) answer[TURNED + square] = Game::turned(own, opp, square, rays);
    }
}

// Positions at a depth; a pass is a ply, a finished game counts once.
template <class Game>
__device__ uint64_t perft(uint64_t own, uint64_t opp, int depth, const uint64_t* rays) {
    if (depth == 0) return 1;
    uint64_t moves = Game::moves(own, opp), found = 0;
    if (!moves) return Game::moves(opp, own) ? perft<Game>(opp, own, depth - 1, rays) : 1;
    for (; moves; moves &= moves - 1) {
        const int square = lowest_bit(moves);
        const uint64_t discs = Game::turned(own, opp, square, rays);
        found += perft<Game>(opp & ~discs, own | discs | uint64_t(1) << square, depth - 1, rays);
    }
    return found;
}

template <int ROWS, int COLUMNS>
ON_DEVICE void answer(const Parameters& p) {
    if (p.rows != ROWS || p.columns != COLUMNS) return;
    using Game = othello::Board<ROWS, COLUMNS>;
    if (p.depth)
        p.answers[0] = perft<Game>(p.states[0], p.states[1], p.depth, RAYS<ROWS, COLUMNS>.at);
    else
        describe<Game>(p, RAYS<ROWS, COLUMNS>.at);
}

}  // namespace

KERNEL(rules, Parameters) {
    answer<8, 8>(p);
    answer<6, 6>(p);
    answer<4, 4>(p);
    answer<5, 7>(p);
    answer<7, 4>(p);
    answer<4, 16>(p);
    answer<10, 6>(p);
}
