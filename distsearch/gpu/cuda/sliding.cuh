// What 2048 and 2584 share on a GPU: rows of four that slide in registers, all four rows at once.
//
// A board is taken apart into its columns, a word each, in which every row has a lane of BITS bits and a bit above that
// is 0. So an addition tells in that bit whether a lane holds anything, and four rows take as many instructions as one.
// There are no tables of rows: of these look-ups the memory that networks need would have to do as many as of weights.
#pragma once
#include "common.cuh"

template <int BITS, unsigned ONES>
struct Lanes {  // ONES: the lowest bit of every lane
    static constexpr unsigned ONE = ONES, FULL = ONES * ((1u << BITS) - 1), GAPS = ONES << BITS;

    HD static unsigned filled(unsigned c) {  // all bits of the lanes that hold something
        const unsigned some = (c + FULL) & GAPS;
        return some - (some >> BITS);
    }
    HD static unsigned alike(unsigned a, unsigned b) { return ~filled(a ^ b) & FULL; }
};

HD unsigned blend(unsigned mask, unsigned a, unsigned b) { return (a & mask) | (b & ~mask); }

// Slides all rows to where column 0 is; returns in `made` what merges made, in two words: no lane merges three times.
// merging(a, b, code) tells where b merges into a, and to which code.
template <class L, class Merging>
HD void slide_rows(unsigned& a, unsigned& b, unsigned& c, unsigned& d, unsigned& made, unsigned& made_later,
                   Merging merging) {
    unsigned m = L::filled(c);
    c |= d & ~m, d &= m;
    m = L::filled(b);
    b |= c & ~m, c = blend(m, c, d), d &= m;
    m = L::filled(a);
    a |= b & ~m, b = blend(m, b, c), c = blend(m, c, d), d &= m;
    unsigned code;
    m = merging(a, b, code);
    made = code & m, a = blend(m, code, a), b = blend(m, c, b), c = blend(m, d, c), d &= ~m;
    m = merging(b, c, code);
    made_later = code & m, b = blend(m, code, b), c = blend(m, d, c), d &= ~m;
    m = merging(c, d, code);
    made_later |= code & m, c = blend(m, code, c), d &= ~m;
}

// Numbers by which chance goes, as the CPU draws them: the n-th of a seed's stream of splitmix64.
HD uint64_t drawn(uint64_t seed, uint64_t n) {
    uint64_t x = seed + (n + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}
