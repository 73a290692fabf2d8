// Evaluations of Othello positions that are not over, with the values of evaluation/othello.py and evaluation/patterns.py.
//
// EVALUATION says which: 0 the discs, 1 ``complex``, 2 ``patterns``. For these the macro PATTERNS lists the patterns in the
// order of their look-ups: TWO(mask), FOUR(mask) or EIGHT(mask) is on how many turned and mirrored boards it is looked up,
// and its squares, numbered as on 8×8.
#pragma once
#include "othello.cuh"

namespace othello {

struct NoTables {
    ON_DEVICE static NoTables prepared(const uint64_t*) { return {}; }
};

// Parity, mobility and stability, see evaluation/othello.py.
template <class Board>
struct Complex {
    using Tables = NoTables;

    HD static int share(int own, int opp) {
        return own + opp == 0 ? 0 : own > opp ? 100 * (own - opp) / (own + opp) : -(100 * (opp - own) / (own + opp));
    }

    // The discs that can never be turned, as far as that follows from the corners.
    HD static uint64_t stable(uint64_t own) {
        constexpr int COLUMNS = Board::COLUMNS;
        constexpr uint64_t SIDES = Board::ALL & ~Board::INNER;
        constexpr uint64_t ENDS = Board::ALL & ~(Board::ALL << COLUMNS & Board::ALL >> COLUMNS);
        constexpr int STEPS[4] = {1, COLUMNS - 1, COLUMNS, COLUMNS + 1};
        constexpr uint64_t EDGES[4] = {SIDES, SIDES | ENDS, ENDS, SIDES | ENDS};
        uint64_t found = own & Board::CORNERS, before = 0;
        while (found != before) {
            before = found;
            uint64_t safe = own;
            for (int axis = 0; axis < 4; ++axis) safe &= found << STEPS[axis] | found >> STEPS[axis] | EDGES[axis];
            if (found) found |= safe;
        }
        return found;
    }

    HD static int value(uint64_t own, uint64_t opp, NoTables) {
        const int discs = share(bits_in(own), bits_in(opp));
        const int moves = share(bits_in(Board::moves(own, opp)), bits_in(Board::moves(opp, own)));
        const int kept = share(bits_in(stable(own)), bits_in(stable(opp)));
        return (25 * discs + 35 * moves + 40 * kept) / 100;
    }
};

template <class Board>
struct Discs {
    using Tables = NoTables;

    HD static int value(uint64_t own, uint64_t opp, NoTables) { return bits_in(own) - bits_in(opp); }
};

#ifdef PATTERNS

struct Pattern {
    int images;
    uint64_t squares;
};
#define TWO(squares) {2, squares},
#define FOUR(squares) {4, squares},
#define EIGHT(squares) {8, squares},
constexpr Pattern EVERY[] = {PATTERNS};
#undef TWO
#undef FOUR
#undef EIGHT
constexpr int COUNT = sizeof(EVERY) / sizeof(Pattern);
// Where things are in the tables: by the number of discs where the weights begin; numbers in base 3.
constexpr int FIRST_OF_STAGES = 4, BASE3 = FIRST_OF_STAGES + 65, NUMBERS = 1024;
using Base3 = Fixed<uint16_t, NUMBERS>;

HD constexpr int bits_of(uint64_t x) {
    int n = 0;
    for (; x; x &= x - 1) ++n;
    return n;
}
HD constexpr int zeros_below(uint64_t x) {
    int n = 0;
    for (; n < 64 && !(x >> n & 1); ++n) {}
    return n;
}
HD constexpr int power_of_3(int n) {
    int found = 1;
    for (; n > 0; --n) found *= 3;
    return found;
}
HD constexpr int begin_of(int pattern) {  // of its weights, in a stage's
    int sum = 0;
    for (int i = 0; i < pattern; ++i) sum += power_of_3(bits_of(EVERY[i].squares));
    return sum;
}

// Both sides of a board of 8×8, a row a word: own discs from bit 0 on, the others from bit 16 on.
struct Rows {
    unsigned at[8];
};

HD Rows rows_of(uint64_t own, uint64_t opp) {
    Rows found;
#pragma unroll
    for (int row = 0; row < 8; ++row) found.at[row] = (own >> 8 * row & 0xFF) | (opp >> 8 * row & 0xFF) << 16;
    return found;
}

// The bits of both sides on some squares, the lowest first, from bit 0 and from bit 16 on: run by run of neighbours.
template <uint64_t SQUARES, int AT = 0>
HD unsigned extracted(const Rows& rows) {
    if constexpr (SQUARES == 0) {
        return 0;
    } else {
        constexpr int from = zeros_below(SQUARES), column = from % 8, row = from / 8;
        constexpr int in_a_row = zeros_below(~(SQUARES >> from)), length = in_a_row < 8 - column ? in_a_row : 8 - column;
        constexpr unsigned ones = (1u << length) - 1, mask = (ones | ones << 16) << AT;
        constexpr uint64_t others = SQUARES & ~(uint64_t(ones) << from);
        const unsigned moved = AT >= column ? rows.at[row] << (AT - column) : rows.at[row] >> (column - AT);
        return (moved & mask) | extracted<others, AT + length>(rows);
    }
}

template <int IMAGES>
struct Least {
    static constexpr int value = IMAGES;
};

HD uint64_t mirrored(uint64_t x) {  // left and right exchanged
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    return (x >> 4 & 0x0F0F0F0F0F0F0F0Fu) | (x & 0x0F0F0F0F0F0F0F0Fu) << 4;
}
HD uint64_t upside_down(uint64_t x) {
#ifdef __CUDA_ARCH__
    return uint64_t(__byte_perm(unsigned(x), 0, 0x0123)) << 32 | __byte_perm(unsigned(x >> 32), 0, 0x0123);
#else
    return __builtin_bswap64(x);
#endif
}
HD uint64_t transposed(uint64_t x) {  // rows and columns exchanged
    uint64_t t = (x ^ x >> 7) & 0x00AA00AA00AA00AAu;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000CCCC0000CCCCu;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000F0F0F0F0u;
    return x ^ t ^ t << 28;
}

template <class Board>
struct Patterns {
    static constexpr int MOST = 6400;  // hundredths of a disc

    // A board of fewer squares, in the middle of one of 8×8.
    HD static uint64_t around(uint64_t x) {
        if constexpr (Board::ROWS == 8) {
            return x;
        } else {
            constexpr int MARGIN = (8 - Board::ROWS) / 2, SIDE = Board::COLUMNS;
            uint64_t found = 0;
            for (int row = 0; row < SIDE; ++row)
                found |= (x >> SIDE * row & ((1ull << SIDE) - 1)) << (8 * (row + MARGIN) + MARGIN);
            return found;
        }
    }

    struct Tables {
        const uint64_t* all;      // as evaluation/patterns.py has them
        const uint16_t* in_base3; // by binary number that in base 3 with the same digits

        ON_DEVICE static Tables prepared(const uint64_t* all) {
            SHARED(Base3, in_base3);
            const uint16_t* from = reinterpret_cast<const uint16_t*>(all + BASE3);
            for (int i = threadIdx.x; i < NUMBERS; i += blockDim.x) in_base3[i] = from[i];
            __syncthreads();
            return {all, in_base3.at};
        }
    };

    // The weights of the patterns that are looked up by at least so many images, on one board.
    template <int LEAST, int I = 0>
    HD static int looked_up(const Rows& rows, const int16_t* weights, const uint16_t* in_base3) {
        if constexpr (I == COUNT) {
            return 0;
        } else {
            int sum = 0;
            if constexpr (EVERY[I].images >= LEAST) {
                const unsigned held = extracted<EVERY[I].squares>(rows);
                const unsigned number = in_base3[held & 0xFFFF] + 2 * in_base3[held >> 16];
                sum = __ldg(weights + begin_of(I) + number);
            }
            return sum + looked_up<LEAST, I + 1>(rows, weights, in_base3);
        }
    }

    __noinline__ __device__ static int value(uint64_t own, uint64_t opp, Tables tables) {
        const int16_t* weights = reinterpret_cast<const int16_t*>(tables.all);
        weights += tables.all[FIRST_OF_STAGES + bits_in(own | opp)];
        const auto sum_of = [&](auto least, uint64_t a, uint64_t b) {
            return looked_up<decltype(least)::value>(rows_of(a, b), weights, tables.in_base3);
        };
        constexpr Least<2> two;
        constexpr Least<4> four;
        // the boards after each quarter turn, in the order of evaluation/patterns.py
        own = around(own), opp = around(opp);
        const uint64_t own_t = transposed(own), opp_t = transposed(opp);
        int sum = sum_of(two, own, opp) + sum_of(two, upside_down(own_t), upside_down(opp_t));
        sum += sum_of(four, reversed(own), reversed(opp)) + sum_of(four, mirrored(own_t), mirrored(opp_t));
        if constexpr (any_of_8()) {
            constexpr Least<8> eight;
            own = mirrored(own), opp = mirrored(opp);
            const uint64_t own_m = transposed(own), opp_m = transposed(opp);
            sum += sum_of(eight, own, opp) + sum_of(eight, upside_down(own_m), upside_down(opp_m));
            sum += sum_of(eight, reversed(own), reversed(opp)) + sum_of(eight, mirrored(own_m), mirrored(opp_m));
        }
        return min(max(sum, -MOST), MOST);
    }

    HD static constexpr bool any_of_8() {
        for (const Pattern& each : EVERY)
            if (each.images == 8) return true;
        return false;
    }
};

#endif

}  // namespace othello
