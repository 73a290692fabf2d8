// 2584: sixteen Fibonacci numbers, codes of 5 bits in two words of eight cells each; code c is F(c + 1).
#pragma once
#include "sliding.cuh"

// By code: one line of L1, where an array of a function's own would be written to every thread's stack.
__device__ const int FIBONACCI[32] = {
    0,    1,    2,    3,     5,     8,     13,    21,     34,     55,     89,     144,     233,    377,  610, 987,
    1597, 2584, 4181, 6765,  10946, 17711, 28657, 46368,  75025,  121393, 196418, 317811,
    514229, 832040, 1346269, 2178309};

struct G2584 {
    static constexpr int BITS = 5;
    static HD unsigned row(State s, int i) { return unsigned((i < 2 ? s.a : s.b) >> 20 * (i & 1)) & 0xFFFFF; }
    static HD State of_rows(uint64_t r0, uint64_t r1, uint64_t r2, uint64_t r3) {
        return {r0 | r1 << 20, r2 | r3 << 20};
    }
    static HD uint64_t swapped(uint64_t x) {  // cells 1 and 4, 3 and 6 exchanged: each square of four transposed
        uint64_t change = (x ^ x >> 15) & (0x1Full << 5 | 0x1Full << 15);
        return x ^ change ^ change << 15;
    }
    static HD State transposed(State s) {
        constexpr uint64_t LEFT = 0x3FFull | 0x3FFull << 20, RIGHT = LEFT << 10;
        uint64_t low = swapped(s.a), high = swapped(s.b);
        return {(low & LEFT) | (high & LEFT) << 10, (low & RIGHT) >> 10 | (high & RIGHT)};
    }
    static HD uint64_t mirrored_word(uint64_t x) {
        constexpr uint64_t FIRST = 0x1Full | 0x1Full << 20;
        return (x & FIRST) << 15 | (x & FIRST << 5) << 5 | (x >> 5 & FIRST << 5) | (x >> 15 & FIRST);
    }
    static HD State mirrored(State s) { return {mirrored_word(s.a), mirrored_word(s.b)}; }
    static HD unsigned empty_of(uint64_t x) {
        uint64_t pairs = x | x >> 1;
        x = ~(pairs | pairs >> 2 | x >> 4) & 0x0842108421ull;
        x = (x | x >> 4) & (0x3ull | 0x3ull << 10 | 0x3ull << 20 | 0x3ull << 30);
        x = (x | x >> 8) & (0xFull | 0xFull << 20);
        return unsigned(x | x >> 16) & 0xFF;
    }
    static HD unsigned empty(State s) { return empty_of(s.a) | empty_of(s.b) << 8; }
    static HD State with(State s, int cell, unsigned code) {
        uint64_t tile = uint64_t(code) << 5 * (cell & 7);
        return cell < 8 ? State{s.a | tile, s.b} : State{s.a, s.b | tile};
    }
    static HD unsigned code_at(State s, int cell) { return unsigned((cell < 8 ? s.a : s.b) >> 5 * (cell & 7)) & 31; }
    static HD uint64_t word(State s, int i) { return i ? s.b : s.a; }
    static constexpr int IN_WORD = 8;
    static HD unsigned merged(unsigned a, unsigned b) {
        unsigned larger = a > b ? a : b, smaller = a > b ? b : a;
        bool neighbours = larger - smaller == 1 && smaller != 0 && larger < 31;
        return neighbours ? larger + 1 : a == 1 && b == 1 ? 2 : 0;
    }
    static HD int points(unsigned code) {
#ifdef __CUDA_ARCH__
        return __ldg(FIBONACCI + code);
#else
        return FIBONACCI[code];
#endif
    }
};
