// 2048: sixteen exponents of 4 bits in a word, the upper left cell lowest.
#pragma once
#include "sliding.cuh"

struct G2048 {
    static constexpr int BITS = 4;
    static HD unsigned row(State s, int i) { return unsigned(s.a >> 16 * i) & 0xFFFF; }
    static HD State of_rows(uint64_t r0, uint64_t r1, uint64_t r2, uint64_t r3) {
        return {r0 | r1 << 16 | r2 << 32 | r3 << 48, 0};
    }
    static HD State transposed(State s) {
        uint64_t x = s.a;
        x = (x & 0xF0F00F0FF0F00F0Full) | (x & 0x0000F0F00000F0F0ull) << 12 | (x & 0x0F0F00000F0F0000ull) >> 12;
        return {(x & 0xFF00FF0000FF00FFull) | (x & 0x00FF00FF00000000ull) >> 24 | (x & 0x00000000FF00FF00ull) << 24, 0};
    }
    static HD State mirrored(State s) {  // left and right exchanged
        uint64_t x = s.a;
        x = (x & 0x00FF00FF00FF00FFull) << 8 | (x >> 8 & 0x00FF00FF00FF00FFull);
        return {(x & 0x0F0F0F0F0F0F0F0Full) << 4 | (x >> 4 & 0x0F0F0F0F0F0F0F0Full), 0};
    }
    static HD unsigned empty(State s) {
        uint64_t x = s.a | s.a >> 2;
        x = ~(x | x >> 1) & 0x1111111111111111ull;
        x = (x | x >> 3) & 0x0303030303030303ull;
        x = (x | x >> 6) & 0x000F000F000F000Full;
        x = (x | x >> 12) & 0x000000FF000000FFull;
        return unsigned(x | x >> 24) & 0xFFFF;
    }
    static HD State with(State s, int cell, unsigned code) { return {s.a | uint64_t(code) << 4 * cell, 0}; }
    static HD unsigned code_at(State s, int cell) { return unsigned(s.a >> 4 * cell) & 15; }
    static HD uint64_t word(State s, int) { return s.a; }
    static constexpr int IN_WORD = 16;  // cells of a word
    static HD unsigned merged(unsigned a, unsigned b) { return a == b && a != 0 && a < 15 ? a + 1 : 0; }
    static HD int points(unsigned code) { return code ? 1 << code : 0; }
};
