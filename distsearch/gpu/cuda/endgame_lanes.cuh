// Lanes on their own: nodes below a bottom, see endgame.cu.
#pragma once
#include "endgame_groups.cuh"

namespace {

HD int packed_window(const Lane& lane) {
    return (lane.alpha & 0xFF) | (lane.beta & 0xFF) << 8 | (lane.best & 0xFF) << 16 | lane.passed << 24;
}

ON_DEVICE void push(const Lane& lane, const Place& at) {
    const int i = (lane.left - 2) * THREADS;
    at.own[i] = lane.own;
    at.opp[i] = lane.opp;
    at.todo[i] = lane.todo;
    at.window[i] = packed_window(lane);
}

ON_DEVICE void pop(Lane& lane, const Place& at) {
    const int i = (++lane.left - 2) * THREADS, window = at.window[i];
    lane.own = at.own[i];
    lane.opp = at.opp[i];
    lane.todo = at.todo[i];
    lane.alpha = int8_t(window);
    lane.beta = int8_t(window >> 8);
    lane.best = int8_t(window >> 16);
    lane.passed = window >> 24;
}

// Idle lanes of groups at bottoms take a square each; returns whether this lane has.
ON_DEVICE bool take_square(Group& g, Lane& lane, int left) {
    const bool asks = g.mode == BOTTOM && lane.square == NO_MOVE && g.todo;
    const unsigned asking = group_part(which(asks));
    const int before = bits_in(asking & ((1u << of_group()) - 1));
    const uint64_t odd = Game::odd_quarters(Game::empty(g.own, g.opp));
    int mine = NO_MOVE;
    for (int i = 0, n = bits_in(asking); i < n && g.todo; ++i) {
        const int square = picked(g.todo, odd);
        g.todo ^= bit(square);
        if (i == before && asks) mine = square;
    }
    if (mine == NO_MOVE) return false;
    lane.square = mine;
    lane.own = g.own;
    lane.opp = g.opp;
    lane.left = left;
    return true;
}

// The node that a lane is at has no more to try, or enough: ends it, and those above it that end with it. Returns
// whether the one below the bottom has ended, with its value in lane.best.
ON_DEVICE bool unwind(const Parameters& p, Lane& lane, int left, const Place& at) {
    while (!lane.todo || lane.best >= lane.beta) {
        if (lane.best == NONE && !lane.passed) {
            pass(lane);
            lane.passed = 1;
            lane.todo = Game::empty(lane.own, lane.opp);
            return false;
        }
        if (lane.best == NONE) lane.best = Game::final(lane.own, lane.opp, p.to_winner);
        const int value = lane.passed ? -lane.best : lane.best;
        if (lane.left + 1 == left) {
            lane.best = value;
            return true;
        }
        pop(lane, at);
        lane.best = max(lane.best, -value);
    }
    return false;
}

// Every lane at work tries one square. Returns whether it has ended its square of the bottom, with value.
ON_DEVICE bool try_square(const Parameters& p, const Group& g, Lane& lane, int left, bool fresh, const Place& at,
                          unsigned* counts, int& value) {
    int square = lane.square;
    if (!fresh) {
        square = picked(lane.todo, Game::odd_quarters(Game::empty(lane.own, lane.opp)));
        lane.todo ^= bit(square);
    }
    const uint64_t discs = Game::turned(lane.own, lane.opp, square, at.rays);
    if (discs) {
        ++counts[NODES];
        if (lane.left == 1) {
            const int ahead = bits_in(lane.own) - bits_in(lane.opp) + 2 * bits_in(discs) + 1;
            if (fresh) {
                value = ahead;
                return true;
            }
            lane.best = ahead;
        } else {
            int low = max(lane.alpha, lane.best), high = lane.beta;
            if (fresh) {
                low = max(g.alpha, g.best);
                high = g.beta;
            } else {
                push(lane, at);
            }
            const uint64_t own = lane.own;
            lane.own = lane.opp & ~discs;
            lane.opp = own | discs | bit(square);
            lane.todo = Game::empty(lane.own, lane.opp);
            lane.alpha = -high;
            lane.beta = -low;
            lane.best = NONE;
            lane.passed = 0;
            --lane.left;
        }
    } else if (fresh) {
        lane.square = NO_MOVE;
        return false;
    }
    if (!unwind(p, lane, left, at)) return false;
    value = -lane.best;
    return true;
}

// One turn of all groups that are at bottoms.
ON_DEVICE void search_bottoms(const Parameters& p, Group& g, Lane& lane, const Place& at, unsigned* counts) {
    const int left = bits_in(Game::empty(g.own, g.opp));
    bool fresh = false;
    if (some(g.mode == BOTTOM && lane.square == NO_MOVE && g.todo)) fresh = take_square(g, lane, left);
    int found = -0x8000;
    const bool works = g.mode == BOTTOM && lane.square != NO_MOVE;
    ++counts[TURNS];
    if (works) {
        ++counts[TRIED];
        int value = 0;
        if (try_square(p, g, lane, left, fresh, at, counts, value)) {
            found = value * 128 + lane.square;
            lane.square = NO_MOVE;
        }
    }
    if (some(found != -0x8000)) {
        for (int by = LANES / 2; by; by /= 2) found = max(found, __shfl_xor_sync(ALL_LANES, found, by, LANES));
        if (g.mode == BOTTOM && found >> 7 > g.best) {
            g.best = found >> 7;
            g.move = found & 127;
        }
    }
    const bool busy = group_part(which(g.mode == BOTTOM && lane.square != NO_MOVE)) != 0;
    if (g.mode != BOTTOM || (g.best < g.beta && (busy || g.todo))) return;
    lane.square = NO_MOVE;
    if (g.best != NONE) {
        give_back(g, g.passed ? -g.best : g.best, g.passed ? PASS : g.move);
    } else if (g.passed) {
        give_back(g, -Game::final(g.own, g.opp, p.to_winner), NO_MOVE);
        if (g.top < 0) answer(p, g, OVER);
    } else {
        pass(g);
        g.passed = 1;
        g.todo = Game::empty(g.own, g.opp);
    }
}

}  // namespace
