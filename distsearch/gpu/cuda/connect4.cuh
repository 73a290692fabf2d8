// Connect 4: its rules and what is known beyond them, as games/connect4.py and connect4_knowledge.py have them.
//
// A state is the stones of the side to move, then all stones. A column takes ROWS + 1 bits, the lowest row first; its
// top bit stays empty. A move is a column. The board is fixed when this is compiled.
#pragma once
#include "common.cuh"

#ifndef ROWS
#define ROWS 6
#define COLUMNS 7
#endif

namespace boards {
constexpr uint64_t repeated(uint64_t column) {
    uint64_t found = 0;
    for (int c = 0; c < COLUMNS; ++c) found |= column << (ROWS + 1) * c;
    return found;
}
constexpr uint64_t every_other_row(int first) {
    uint64_t found = 0;
    for (int row = first; row < ROWS; row += 2) found |= repeated(uint64_t(1) << row);
    return found;
}
}  // namespace boards

struct alignas(16) Connect4 {
    uint64_t own, all;

    using Score = int8_t;
    struct Tables {};
    static constexpr bool TO_DEPTH = false, BY_SQUARE = false;
    static constexpr int MOVES = COLUMNS, SQUARES = ROWS * COLUMNS, HEIGHT = ROWS + 1;
    static constexpr int LATE = 20;      // moves left from which on lines are blocked often enough to look
    static constexpr int MIRRORED = 12;  // stones up to which a position and its mirror image are one
    static constexpr int BEST = 1 << 16;  // what an order of moves counts for the table's move

    static constexpr uint64_t COLUMN = (uint64_t(1) << ROWS) - 1, BOTTOM = boards::repeated(1);
    static constexpr uint64_t BOARD = boards::repeated(COLUMN);
    static constexpr uint64_t ODD_ROWS = boards::every_other_row(0), EVEN_ROWS = boards::every_other_row(1);
    static constexpr bool WIDE = COLUMNS >= 4;
    static constexpr int FALLING = WIDE ? HEIGHT - 1 : 1, LEVEL = WIDE ? HEIGHT : 1, RISING = WIDE ? HEIGHT + 1 : 1;

    HD static bool line(uint64_t stones, int distance) {
        uint64_t pairs = stones & stones >> distance;
        return (pairs & pairs >> 2 * distance) != 0;
    }
    HD static bool has_four(uint64_t stones) {
        return line(stones, 1) | line(stones, FALLING) | line(stones, LEVEL) | line(stones, RISING);
    }

    HD static uint64_t gaps(uint64_t stones, int distance) {
        uint64_t up = stones << distance, down = stones >> distance;
        uint64_t above = up & stones << 2 * distance, below = down & stones >> 2 * distance;
        return above & (stones << 3 * distance | down) | below & (stones >> 3 * distance | up);
    }
    // The squares of ``empty`` that would complete four in a row.
    HD static uint64_t completing(uint64_t stones, uint64_t empty) {
        uint64_t found = stones << 1 & stones << 2 & stones << 3;
        return (found | gaps(stones, FALLING) | gaps(stones, LEVEL) | gaps(stones, RISING)) & empty;
    }

    template <class Job>
    HD static Connect4 of(const Job& job) {
        return {job.state[0], job.state[1]};
    }
    HD int left() const { return SQUARES - bits_in(all); }
    HD uint64_t empty() const { return BOARD & ~all; }
    HD uint64_t free() const { return (all + BOTTOM) & BOARD; }

    // The squares whose stones do not lose at once; ``threats`` complete four for the other side.
    HD uint64_t worth_playing(uint64_t threats) const {
        uint64_t squares = free(), forced = squares & threats;
        // two at once cannot both be met
        if (forced) squares = forced & (forced - 1) ? 0 : forced;
        return squares & ~(threats >> 1);
    }

    // The moves worth a search, of a position whose side to move does not win at once.
    HD uint64_t moves() const { return worth_playing(completing(all ^ own, empty())); }
    HD static int slots(uint64_t) { return MOVES; }
    HD static bool has(uint64_t moves, int m) { return moves >> HEIGHT * m & COLUMN; }
    HD static int code(uint64_t, int m) { return m; }
    HD Connect4 played(int m) const { return {all ^ own, all | ((all + BOTTOM) & COLUMN << HEIGHT * m)}; }

    // Bounds of any position's value, by wins and losses of the next three plies.
    HD void opening(int& low, int& high) const {
        int left = this->left();
        uint64_t other = all ^ own;
        if (has_four(other)) {
            low = high = -((left + 2) / 2);
        } else if (left == 0) {
            low = high = 0;
        } else if (completing(own, empty()) & free()) {
            low = high = (left + 1) / 2;
        } else {
            settle(left, moves() != 0, low, high);
        }
    }

    HD static void settle(int left, bool any_move, int& low, int& high) {
        low = left <= 2 ? 0 : -((left - 2) >> 1);
        high = left <= 2 ? 0 : (left - 1) >> 1;
        if (!any_move) low = high = -(left >> 1);
    }

    // Bounds of a value, as far as they answer whether it is ``beta`` or more, and what the move that led here is worth
    // trying, another number for each move. The side to move does not win at once.
    HD void bounds(Tables, int m, int left, int beta, int& low, int& high, int& order) const {
        uint64_t empty = this->empty(), threats = completing(all ^ own, empty);
        order = worth(m, threats);
        settle(left, worth_playing(threats) != 0, low, high);
        if (left <= LATE && low < high) follow_up(beta, empty, low, high);
    }

    // How early to try the move that led here, after which the side that made it has these threats.
    HD static int worth(int m, uint64_t threats) {
        constexpr int MIDDLE = COLUMNS / 2;
        return bits_in(threats) * 64 + 63 - (m < MIDDLE ? 2 * (MIDDLE - m) - 1 : 2 * (m - MIDDLE));
    }

    // A side that answers every stone in the column where it fell (Allis's claimeven, 1988) is sure of the squares above,
    // where all columns but the one to play in now have an even number of empty squares. What is asked differs between
    // the groups of a warp, so both answers come from the same tests.
    HD void follow_up(int beta, uint64_t empty, int& low, int& high) const {
        const uint64_t other = all ^ own, odd_columns = free() & EVEN_ROWS;
        if (!has_four((beta > 0 ? own : other) | empty)) {
            (beta > 0 ? high : low) = 0;
            return;
        }
        if (ROWS % 2 || odd_columns & (odd_columns - 1)) return;
        const bool none_odd = odd_columns == 0;
        // the side that does not follow up, and gets the odd rows; and the one that does, with the single odd square
        const uint64_t led = none_odd ? own : other, follows = none_odd ? other : own;
        if (has_four(led | empty & ~odd_columns & ODD_ROWS)) return;
        if (beta == !none_odd) {
            if (!has_four(follows | odd_columns | empty & EVEN_ROWS)) return;
            if (none_odd) high = -1;
            else low = 1;
        } else if (none_odd && beta > 0) {
            high = 0;
        } else if (!none_odd && beta <= 0) {
            low = 0;
        }
    }

    HD static uint64_t mirrored(uint64_t mask) {
        constexpr uint64_t ALL_OF_IT = (uint64_t(1) << HEIGHT - 1) * 2 - 1;
        uint64_t found = 0;
        for (int c = 0; c < COLUMNS; ++c) found |= (mask >> HEIGHT * c & ALL_OF_IT) << HEIGHT * (COLUMNS - 1 - c);
        return found;
    }

    // Another for every position, but early in the game the same for mirror images.
    HD uint64_t hash() const {
        uint64_t sum = own + all;
        if (bits_in(all) <= MIRRORED) {
            uint64_t stones = mirrored(all), mine = mirrored(own);
            if (stones < all || (stones == all && mine < own)) sum = mine + stones;
        }
        uint64_t h = sum * 0x9E3779B97F4A7C15ull;
        return h ^ h >> 32;
    }

    // The score to ask for next between two bounds. Early in the game, whether it is large, then whether it is middling;
    // later on from the middle outwards, from one bound to the next.
    HD static int question(int left, int low, int high, int) {
        if (3 * left > 2 * SQUARES) {
            constexpr int LIMITS[2] = {SQUARES / 5, SQUARES / 14};
            for (int limit : {LIMITS[0], LIMITS[1]}) {
                if (low < limit && limit < high) return limit + 1;
                if (low < -limit && -limit < high) return -limit;
            }
        }
        return low >= 0 ? low + 1 : high <= 0 ? high : 0;
    }
};
