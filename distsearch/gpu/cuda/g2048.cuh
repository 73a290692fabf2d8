// 2048 on 4x4: sixteen codes of 4 bits in a word, the upper left cell lowest; a tile 2^e has code e. See sliding.cuh.
#pragma once
#include "sliding.cuh"

namespace g2048 {

constexpr int BITS = 4, WORDS = 1, CELLS_A_WORD = 16;
using Rows = Lanes<4, 0x01010101u>;

struct Board {
    uint64_t word[WORDS];
};

HD Board board_of(const uint64_t* words) { return {words[0]}; }
HD bool same(Board a, Board b) { return a.word[0] == b.word[0]; }
HD Board chosen(bool which, Board a, Board b) { return {which ? a.word[0] : b.word[0]}; }

HD Board transposed(Board board) {
    uint64_t x = board.word[0];
    uint64_t change = (x ^ x >> 12) & 0x0000F0F00000F0F0ull;
    x ^= change ^ change << 12;
    change = (x ^ x >> 24) & 0x00000000FF00FF00ull;
    return {x ^ change ^ change << 24};
}

HD Board mirrored(Board board) {  // left and right exchanged
    uint64_t x = board.word[0];
    x = (x & 0x0F0F0F0F0F0F0F0Full) << 4 | (x >> 4 & 0x0F0F0F0F0F0F0F0Full);
    return {(x & 0x00FF00FF00FF00FFull) << 8 | (x >> 8 & 0x00FF00FF00FF00FFull)};
}

HD Board half_turned(Board board) {
    const Board m = mirrored(board);
    const uint64_t x = m.word[0];
    return {x << 48 | (x & 0xFFFF0000ull) << 16 | (x >> 16 & 0xFFFF0000ull) | x >> 48};
}

HD unsigned column(uint64_t x, int i) {
    return (unsigned(x) >> 4 * i & 0x000F000Fu) | (unsigned(x >> 32) >> 4 * i & 0x000F000Fu) << 8;
}

HD unsigned points_of(unsigned made) {  // 2^code of each lane
    return ((1u << (made & 15)) & ~1u) + ((1u << (made >> 8 & 15)) & ~1u) + ((1u << (made >> 16 & 15)) & ~1u) +
           ((1u << (made >> 24 & 15)) & ~1u);
}

// Returns the board slid to the left, and in `points` what that brings.
HD Board slid(Board board, int& points) {
    unsigned a = column(board.word[0], 0), b = column(board.word[0], 1), c = column(board.word[0], 2),
             d = column(board.word[0], 3), made, made_later;
    slide_rows<Rows>(a, b, c, d, made, made_later, [](unsigned x, unsigned y, unsigned& code) {
        code = (x + Rows::ONE) & Rows::FULL;  // of the largest code nothing is left, so it does not merge
        return Rows::alike(x, y) & Rows::filled(y) & Rows::filled(code);
    });
    points = int(points_of(made) + points_of(made_later));
    const unsigned low = (a & 0x000F000Fu) | (b & 0x000F000Fu) << 4 | (c & 0x000F000Fu) << 8 | (d & 0x000F000Fu) << 12;
    const unsigned high =
        (a >> 8 & 0x000F000Fu) | (b >> 8 & 0x000F000Fu) << 4 | (c >> 8 & 0x000F000Fu) << 8 | (d >> 8 & 0x000F000Fu) << 12;
    return {low | uint64_t(high) << 32};
}

HD uint64_t free_cells(Board board) {  // a bit for each, in the CPU's order
    uint64_t x = board.word[0];
    x |= x >> 2;
    x |= x >> 1;
    return ~x & 0x1111111111111111ull;
}

HD Board with_tile(Board board, int bit, unsigned code) {  // bit: of ``free_cells``
    return {board.word[0] | uint64_t(code) << bit};
}

HD int largest(Board board) {
    int found = 0;
    for (int i = 0; i < 64; i += 4) found = max(found, int(board.word[0] >> i & 15));
    return found;
}

}  // namespace g2048
