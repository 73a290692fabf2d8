// Slides of 2048 and 2584 once more, all four rows at a time, and boards turned: for kernels where every lane slides.
//
// A board is taken apart into its columns, a word each, in which every row has a lane of BITS bits with a bit above it
// that is 0. An addition tells in that bit whether a lane holds anything, so four rows take as many instructions as one,
// and no lane of a warp waits for a branch of another's.
#pragma once
#include "g2048.cuh"
#include "g2584.cuh"

template <int BITS, unsigned ONES>
struct Lanes {  // ONES: the lowest bit of every lane
    static constexpr unsigned ONE = ONES, FULL = ONES * ((1u << BITS) - 1), GAPS = ONES << BITS;

    HD static unsigned filled(unsigned c) {  // all bits of the lanes that hold something
        const unsigned some = (c + FULL) & GAPS;
        return some - (some >> BITS);
    }
    HD static unsigned alike(unsigned a, unsigned b) { return ~filled(a ^ b) & FULL; }
    HD static unsigned next(unsigned c) { return (c + ONE) & FULL; }  // 0 after the largest code
};

template <class G>
struct InLanes;

template <>
struct InLanes<G2048> : Lanes<4, 0x01010101u> {
    static constexpr unsigned PAIR = 0x000F000Fu;  // of two rows
    HD static unsigned column(State s, int i) {
        return (unsigned(s.a) >> 4 * i & PAIR) | (unsigned(s.a >> 32) >> 4 * i & PAIR) << 8;
    }
    HD static State board(unsigned a, unsigned b, unsigned c, unsigned d) {
        const auto rows = [&](int from) {
            return (a >> from & PAIR) | (b >> from & PAIR) << 4 | (c >> from & PAIR) << 8 | (d >> from & PAIR) << 12;
        };
        return {rows(0) | uint64_t(rows(8)) << 32, 0};
    }
    HD static unsigned merging(unsigned a, unsigned b, unsigned& code) {  // where b merges into a, and to which code
        code = next(a);
        return alike(a, b) & filled(b) & filled(code);
    }
    HD static int points(unsigned made) {
        unsigned total = 0;
        for (int lane = 0; lane < 32; lane += 8) total += (1u << (made >> lane & 15)) & ~1u;
        return int(total);
    }
    HD static State half_turned(State s) {
        const uint64_t x = G2048::mirrored(s).a;
        return {x << 48 | (x & 0xFFFF0000ull) << 16 | (x >> 16 & 0xFFFF0000ull) | x >> 48, 0};
    }
};

template <>
struct InLanes<G2584> : Lanes<5, 1u | 1u << 6 | 1u << 20 | 1u << 26> {
    static constexpr unsigned PAIR = 0x1Fu | 0x1Fu << 20;
    HD static unsigned column(State s, int i) {
        return (unsigned(s.a >> 5 * i) & PAIR) | (unsigned(s.b >> 5 * i) & PAIR) << 6;
    }
    HD static State board(unsigned a, unsigned b, unsigned c, unsigned d) {
        const auto rows = [&](int from) {
            return uint64_t(a >> from & PAIR) | uint64_t(b >> from & PAIR) << 5 | uint64_t(c >> from & PAIR) << 10 |
                   uint64_t(d >> from & PAIR) << 15;
        };
        return {rows(0), rows(6)};
    }
    HD static unsigned merging(unsigned a, unsigned b, unsigned& code) {
        const unsigned above = alike(a, next(b)), below = alike(b, next(a)), ones = alike(a, ONE) & alike(b, ONE);
        code = (a + ONE + (below & ONE)) & FULL;  // beyond the largest code this is 0 or 1, which no merge makes
        return (above | below | ones) & filled(a) & filled(b) & filled(code & ~ONE);
    }
    HD static int points(unsigned made) {
        int total = 0;
        while (made) {  // seldom more than once
            const int bit = lowest_bit(made), lane = bit < 20 ? bit / 6 * 6 : 20 + (bit - 20) / 6 * 6;
            total += G2584::points(made >> lane & 31);
            made &= ~(31u << lane);
        }
        return total;
    }
    HD static State half_turned(State s) {
        const auto exchanged = [](uint64_t x) { return x >> 20 | (x & 0xFFFFF) << 20; };
        const State m = G2584::mirrored(s);
        return {exchanged(m.b), exchanged(m.a)};
    }
};

HD unsigned blend(unsigned mask, unsigned a, unsigned b) { return (a & mask) | (b & ~mask); }

// All rows slid to the left.
template <class G>
HD Moved slid_rows(State s) {
    using In = InLanes<G>;
    unsigned a = In::column(s, 0), b = In::column(s, 1), c = In::column(s, 2), d = In::column(s, 3);
    unsigned m = In::filled(c);
    c |= d & ~m, d &= m;
    m = In::filled(b);
    b |= c & ~m, c = blend(m, c, d), d &= m;
    m = In::filled(a);
    a |= b & ~m, b = blend(m, b, c), c = blend(m, c, d), d &= m;
    unsigned code, made, later;
    m = In::merging(a, b, code);
    made = code & m, a = blend(m, code, a), b = blend(m, c, b), c = blend(m, d, c), d &= ~m;
    m = In::merging(b, c, code);
    later = code & m, b = blend(m, code, b), c = blend(m, d, c), d &= ~m;
    m = In::merging(c, d, code);  // never where the merge before it was
    later |= code & m, c = blend(m, code, c), d &= ~m;
    const State out = In::board(a, b, c, d);
    return {out, In::points(made) + In::points(later), !(out == s)};
}

HD State chosen(bool which, State a, State b) { return {which ? a.a : b.a, which ? a.b : b.b}; }

template <class G>
HD State turned(State s, bool transpose, bool mirror, bool half) {  // one after another
    s = chosen(transpose, G::transposed(s), s);
    s = chosen(mirror, G::mirrored(s), s);
    return chosen(half, InLanes<G>::half_turned(s), s);
}
