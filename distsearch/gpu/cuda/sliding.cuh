// Games of sliding tiles on 4×4 boards: what 2048 and 2584 share. States travel as the CPU's games have them.
//
// Rows are slid by arithmetic, in registers: tables of rows would take look-ups in L2 from the weights. A game G has
// BITS of a cell, row, of_rows, transposed, mirrored, empty (16 bits, one a cell), with (a code put in an empty cell),
// code_at, merged and points.
#pragma once
#include "common.cuh"

struct alignas(16) State {
    uint64_t a, b;
    HD bool operator==(const State& other) const { return a == other.a && b == other.b; }
};

constexpr int DUE = 62;  // from this bit of the second word on: how many tiles are due
HD int tiles_due(State s) { return int(s.b >> DUE); }
HD State cells_of(State s) { return {s.a, s.b & ((uint64_t(1) << DUE) - 1)}; }

struct SlidRow {
    unsigned row;
    int gain;  // points of what has merged
};

// A row slid to the left. What has just merged does not merge again.
template <class G>
HD SlidRow slid_left(unsigned row) {
    constexpr unsigned CELL = (1 << G::BITS) - 1;
    unsigned a = row & CELL, b = row >> G::BITS & CELL, c = row >> 2 * G::BITS & CELL, d = row >> 3 * G::BITS;
    if (!c) c = d, d = 0;
    if (!b) b = c, c = d, d = 0;
    if (!a) a = b, b = c, c = d, d = 0;
    int gain = 0;
    unsigned first = G::merged(a, b);
    if (first) {
        a = first, b = c, c = d, d = 0, gain = G::points(first);
        unsigned second = G::merged(b, c);
        if (second) b = second, c = 0, gain += G::points(second);
    } else {
        unsigned middle = G::merged(b, c), last = G::merged(c, d);
        if (middle) b = middle, c = d, d = 0, gain = G::points(middle);
        else if (last) c = last, d = 0, gain = G::points(last);
    }
    return {a | b << G::BITS | c << 2 * G::BITS | d << 3 * G::BITS, gain};
}

template <class G>
HD unsigned reversed(unsigned row) {
    constexpr unsigned CELL = (1 << G::BITS) - 1;
    unsigned inner = (row >> G::BITS & CELL) << 2 * G::BITS | (row >> 2 * G::BITS & CELL) << G::BITS;
    return (row & CELL) << 3 * G::BITS | inner | row >> 3 * G::BITS;
}

// The same to either side: 0 the left, 1 the right.
template <class G>
HD SlidRow slid(unsigned row, int right) {
    SlidRow found = slid_left<G>(right ? reversed<G>(row) : row);
    if (right) found.row = reversed<G>(found.row);
    return found;
}

struct Moved {
    State state;  // cells alone: nothing is due
    int gain;
    bool legal;
};

// A move of the player: 0 to 3, left, right, up, down. s: cells alone.
template <class G>
HD Moved moved(State s, int move) {
    State lines = move < 2 ? s : G::transposed(s);
    unsigned rows[4];
    int gain = 0;
    bool legal = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        unsigned row = G::row(lines, i);
        SlidRow found = slid<G>(row, move & 1);
        rows[i] = found.row;
        gain += found.gain;
        legal |= found.row != row;
    }
    State out = G::of_rows(rows[0], rows[1], rows[2], rows[3]);
    return {move < 2 ? out : G::transposed(out), gain, legal};
}

template <class G>
HD bool is_over(State s) {
    for (int move = 0; move < 4; ++move)
        if (moved<G>(s, move).legal) return false;
    return true;
}

template <class G>
HD unsigned largest_code(State s) {
    unsigned largest = 0;
    for (int cell = 0; cell < 16; ++cell) {
        const unsigned code = G::code_at(s, cell);
        largest = code > largest ? code : largest;
    }
    return largest;
}

// The number of the n-th bit that is set, from 0 on.
HD int bit_number(unsigned bits, int n) {
    for (; n > 0; --n) bits &= bits - 1;
    return lowest_bit(bits);
}
