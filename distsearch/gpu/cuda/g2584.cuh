// 2584 on 4x4: codes of 5 bits in two words of eight cells; code c is the c-th of 1, 2, 3, 5, 8 ... See sliding.cuh.
#pragma once
#include "sliding.cuh"

namespace g2584 {

constexpr int BITS = 5, WORDS = 2, CELLS_A_WORD = 8;
constexpr unsigned PAIR = 0x1Fu | 0x1Fu << 20;  // a column of a word: two rows
using Rows = Lanes<5, 1u | 1u << 6 | 1u << 20 | 1u << 26>;

struct Board {
    uint64_t word[WORDS];
};

HD Board board_of(const uint64_t* words) { return {words[0], words[1] & (1ull << 40) - 1}; }
HD bool same(Board a, Board b) { return a.word[0] == b.word[0] && a.word[1] == b.word[1]; }
HD Board chosen(bool which, Board a, Board b) {
    return {which ? a.word[0] : b.word[0], which ? a.word[1] : b.word[1]};
}

HD uint64_t squares_transposed(uint64_t x) {  // within each square of four cells
    const uint64_t change = (x ^ x >> 15) & (0x1Full << 5 | 0x1Full << 15);
    return x ^ change ^ change << 15;
}

HD Board transposed(Board board) {
    const uint64_t low = squares_transposed(board.word[0]), high = squares_transposed(board.word[1]);
    const uint64_t left = 0x3FFull | 0x3FFull << 20, right = left << 10;
    return {(low & left) | (high & left) << 10, (low & right) >> 10 | (high & right)};
}

HD uint64_t pairs_mirrored(uint64_t x) {
    const uint64_t even = 0x1Full | 0x1Full << 10 | 0x1Full << 20 | 0x1Full << 30, half = 0x3FFull | 0x3FFull << 20;
    x = (x & even) << 5 | (x >> 5 & even);
    return (x & half) << 10 | (x >> 10 & half);
}

HD Board mirrored(Board board) { return {pairs_mirrored(board.word[0]), pairs_mirrored(board.word[1])}; }

HD uint64_t rows_exchanged(uint64_t x) { return x >> 20 | (x & 0xFFFFF) << 20; }

HD Board half_turned(Board board) {
    const Board m = mirrored(board);
    return {rows_exchanged(m.word[1]), rows_exchanged(m.word[0])};
}

HD unsigned column(Board board, int i) {
    return (unsigned(board.word[0] >> 5 * i) & PAIR) | (unsigned(board.word[1] >> 5 * i) & PAIR) << 6;
}

HD unsigned points_of(unsigned made) {
    unsigned points = 0;
    while (made) {  // seldom more than once
        const int lane = lowest_bit(made) >= 20 ? (lowest_bit(made) - 20) / 6 * 6 + 20 : lowest_bit(made) / 6 * 6;
        unsigned smaller = 1, value = 1;
        for (unsigned code = made >> lane & 31; code > 1; --code) value += smaller, smaller = value - smaller;
        points += value;
        made &= ~(31u << lane);
    }
    return points;
}

// Returns the board slid to the left, and in `points` what that brings.
HD Board slid(Board board, int& points) {
    unsigned a = column(board, 0), b = column(board, 1), c = column(board, 2), d = column(board, 3), made, made_later;
    slide_rows<Rows>(a, b, c, d, made, made_later, [](unsigned x, unsigned y, unsigned& code) {
        const unsigned above = Rows::alike(x, (y + Rows::ONE) & Rows::FULL);  // x is the next one after y
        const unsigned below = Rows::alike(y, (x + Rows::ONE) & Rows::FULL);
        const unsigned ones = Rows::alike(x, Rows::ONE) & Rows::alike(y, Rows::ONE);
        code = (x + Rows::ONE + (below & Rows::ONE)) & Rows::FULL;
        // what would be beyond code 31 has become 0 or 1, and neither comes of a merge
        return (above | below | ones) & Rows::filled(y) & Rows::filled(x) & Rows::filled(code & ~Rows::ONE);
    });
    points = int(points_of(made) + points_of(made_later));
    const auto packed = [&](int from) {
        return uint64_t(a >> from & PAIR) | uint64_t(b >> from & PAIR) << 5 | uint64_t(c >> from & PAIR) << 10 |
               uint64_t(d >> from & PAIR) << 15;
    };
    return {packed(0), packed(6)};
}

HD uint64_t empty_cells(uint64_t x) {
    const uint64_t pairs = x | x >> 1;
    return ~(pairs | pairs >> 2 | x >> 4) & 0x0842108421ull;
}

HD uint64_t free_cells(Board board) {  // a bit for each, in the CPU's order: 5c of cell c, and above it that of c + 8
    return empty_cells(board.word[0]) | empty_cells(board.word[1]) << 1;
}

HD Board with_tile(Board board, int bit, unsigned code) {  // bit: of ``free_cells``
    const bool second = bit % 5 == 1;
    const uint64_t tile = uint64_t(code) << (bit - second);
    return {board.word[0] | (second ? 0 : tile), board.word[1] | (second ? tile : 0)};
}

HD int largest(Board board) {
    int found = 0;
    for (int i = 0; i < 40; i += 5) found = max(found, max(int(board.word[0] >> i & 31), int(board.word[1] >> i & 31)));
    return found;
}

}  // namespace g2584
