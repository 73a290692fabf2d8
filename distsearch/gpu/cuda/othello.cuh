// Othello's rules on boards of one word, as games/othello.py has them: square row·COLUMNS + column is the bit of that number.
#pragma once
#include "common.cuh"

namespace othello {

constexpr bool on_board(int rows, int columns, int row, int column) {
    return 0 <= row && row < rows && 0 <= column && column < columns;
}

// Squares of the rows and columns of a range, ends included.
constexpr uint64_t rectangle(int columns, int first_row, int last_row, int first_column, int last_column) {
    uint64_t mask = 0;
    for (int row = first_row; row <= last_row; ++row)
        for (int column = first_column; column <= last_column; ++column) mask |= 1ull << (row * columns + column);
    return mask;
}

constexpr int RAY_STRIDE = 10;  // words a square: 8 rays, and 2 that spread rows over the banks of shared memory

// For each square the rays up the word on four axes, then those down it with the word's bits in reverse.
template <int ROWS, int COLUMNS>
constexpr Fixed<uint64_t, ROWS * COLUMNS * RAY_STRIDE> all_rays() {
    Fixed<uint64_t, ROWS * COLUMNS * RAY_STRIDE> rays{};
    constexpr int down[4] = {0, 1, 1, 1}, right[4] = {1, -1, 0, 1};
    for (int square = 0; square < ROWS * COLUMNS; ++square)
        for (int ray = 0; ray < 8; ++ray) {
            int sign = ray < 4 ? 1 : -1, by = sign * down[ray & 3], along = sign * right[ray & 3];
            int row = square / COLUMNS + by, column = square % COLUMNS + along;
            for (; on_board(ROWS, COLUMNS, row, column); row += by, column += along) {
                int bit = row * COLUMNS + column;
                rays.at[square * RAY_STRIDE + ray] |= 1ull << (sign > 0 ? bit : 63 - bit);
            }
        }
    return rays;
}

HD uint64_t reversed(uint64_t x) {
#ifdef __CUDA_ARCH__
    return __brevll(x);
#else
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0Fu) | (x & 0x0F0F0F0F0F0F0F0Fu) << 4;
    return __builtin_bswap64(x);
#endif
}

template <int ROWS_, int COLUMNS_>
struct Board {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, SQUARES = ROWS * COLUMNS;
    static_assert(ROWS >= 4 && COLUMNS >= 4 && SQUARES <= 64, "a board of one word");
    static constexpr uint64_t ALL = rectangle(COLUMNS, 0, ROWS - 1, 0, COLUMNS - 1);
    static constexpr uint64_t INNER = rectangle(COLUMNS, 0, ROWS - 1, 1, COLUMNS - 2);  // lines that wrap stop there
    static constexpr uint64_t CORNERS = 1ull | 1ull << (COLUMNS - 1) | 1ull << (SQUARES - COLUMNS) | 1ull << (SQUARES - 1);
    static constexpr uint64_t C_SQUARES = 1ull << 1 | 1ull << (COLUMNS - 2) | 1ull << (SQUARES - COLUMNS + 1) |
                                          1ull << (SQUARES - 2) | 1ull << COLUMNS | 1ull << (2 * COLUMNS - 1) |
                                          1ull << (SQUARES - 2 * COLUMNS) | 1ull << (SQUARES - COLUMNS - 1);
    static constexpr uint64_t X_SQUARES = 1ull << (COLUMNS + 1) | 1ull << (2 * COLUMNS - 2) |
                                          1ull << (SQUARES - 2 * COLUMNS + 1) | 1ull << (SQUARES - COLUMNS - 2);
    static constexpr int HALF_ROWS = (ROWS + 1) / 2, HALF_COLUMNS = (COLUMNS + 1) / 2;
    static constexpr uint64_t UPPER = rectangle(COLUMNS, 0, HALF_ROWS - 1, 0, COLUMNS - 1);
    static constexpr uint64_t LEFT = rectangle(COLUMNS, 0, ROWS - 1, 0, HALF_COLUMNS - 1);
    static constexpr int LONGEST = ROWS > COLUMNS ? ROWS : COLUMNS;
    // a line of n squares turns at most n - 2 discs: two from the first steps, two more from each doubled one
    static constexpr int DOUBLINGS = LONGEST > 3 ? (LONGEST - 3) / 2 : 0;

    HD static uint64_t empty(uint64_t own, uint64_t opp) { return ALL & ~(own | opp); }

    struct Runs {  // discs of a line that follow one another, up and down the word
        uint64_t up, down;
    };

    template <int STEP>
    HD static Runs runs(uint64_t from, uint64_t line) {
        uint64_t up = line & from << STEP, down = line & from >> STEP;
        up |= line & up << STEP;
        down |= line & down >> STEP;
        const uint64_t up_pairs = line & line << STEP, down_pairs = up_pairs >> STEP;
#pragma unroll
        for (int i = 0; i < DOUBLINGS; ++i) {
            up |= up_pairs & up << 2 * STEP;
            down |= down_pairs & down >> 2 * STEP;
        }
        return {up, down};
    }

    template <int STEP>
    HD static uint64_t ends(uint64_t own, uint64_t line) {
        const Runs found = runs<STEP>(own, line);
        return found.up << STEP | found.down >> STEP;
    }

    // The empty squares where own may move.
    HD static uint64_t moves(uint64_t own, uint64_t opp) {
        const uint64_t inner = opp & INNER;
        return (ends<1>(own, inner) | ends<COLUMNS - 1>(own, inner) | ends<COLUMNS>(own, opp) |
                ends<COLUMNS + 1>(own, inner)) & empty(own, opp);
    }

    // The discs that own turns by a disc on an empty square; rays: what all_rays has, some place that is quick to read.
    // Outside a ray all is ones, so a carry runs to the first square of the ray that opp has not. That way is up, so rays
    // down are turned round with the discs: three reversals cost less than four searches for a highest bit.
    HD static uint64_t turned(uint64_t own, uint64_t opp, int square, const uint64_t* rays) {
        const uint64_t* ray = rays + square * RAY_STRIDE;
        return along(own, opp, ray) | reversed(along(reversed(own), reversed(opp), ray + 4));
    }

    HD static uint64_t along(uint64_t own, uint64_t opp, const uint64_t* rays) {
        uint64_t turned = 0;
#pragma unroll
        for (int axis = 0; axis < 4; ++axis) {
            const uint64_t ray = rays[axis], end = ((opp | ~ray) + 1) & own & ray;
            turned |= (end - (end != 0)) & ray;
        }
        return turned;
    }

    // The same for a square as a bit, without rays.
    HD static uint64_t turned_by(uint64_t own, uint64_t opp, uint64_t square) {
        const uint64_t inner = opp & INNER;
        return closed<1>(own, inner, square) | closed<COLUMNS - 1>(own, inner, square) |
               closed<COLUMNS>(own, opp, square) | closed<COLUMNS + 1>(own, inner, square);
    }

    template <int STEP>
    HD static uint64_t closed(uint64_t own, uint64_t line, uint64_t square) {  // those behind which own has a disc
        const Runs found = runs<STEP>(square, line);
        return (found.up << STEP & own ? found.up : 0) | (found.down >> STEP & own ? found.down : 0);
    }

    // The squares of the board's quarters that have an odd number of empty ones.
    HD static uint64_t odd_quarters(uint64_t empty) {
        uint64_t odd = 0;
        odd |= bits_in(empty & UPPER & LEFT) & 1 ? UPPER & LEFT : 0;
        odd |= bits_in(empty & UPPER & ~LEFT) & 1 ? UPPER & ~LEFT : 0;
        odd |= bits_in(empty & ~UPPER & LEFT) & 1 ? ~UPPER & LEFT : 0;
        odd |= bits_in(empty & ~UPPER & ~LEFT) & 1 ? ~UPPER & ~LEFT : 0;
        return odd;
    }

    // Score of a finished game; to_winner: 1 if empty squares are the winner's, else 0.
    HD static int final(uint64_t own, uint64_t opp, int to_winner) {
        const int mine = bits_in(own), theirs = bits_in(opp), ahead = mine - theirs;
        const int rest = (SQUARES - mine - theirs) * to_winner;
        return ahead > 0 ? ahead + rest : ahead < 0 ? ahead - rest : 0;
    }

    // How late to try a move on a square after which the opponent has these replies: 0 to 2,100.
    HD static int lateness(uint64_t replies, uint64_t square) {
        const int worth = square & CORNERS ? 8 : square & C_SQUARES ? 0 : square & X_SQUARES ? -4 : 4;
        return (bits_in(replies) + bits_in(replies & CORNERS)) * 16 - worth + 8;
    }

    // A hash as games/othello.py makes it, from a salt.
    HD static uint64_t hash(uint64_t own, uint64_t opp, uint64_t salt) { return folded(folded(salt, own), opp); }

    HD static uint64_t folded(uint64_t h, uint64_t word) {
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
        h = (h ^ h >> 27) * 0x94D049BB133111EBu;
        return h ^ h >> 31;
    }
};

}  // namespace othello
