// Groups of lanes: nodes with more than LEAF + 1 empty squares, see endgame.cu.
#pragma once
#include "endgame_sharing.cuh"

namespace {

ON_DEVICE void answer(const Parameters& p, Group& g, State state) {
    const unsigned word = (g.value & 0xFF) | (g.move & 0xFF) << 8 | state << 16;
    if (of_group() == 0 && atomicCAS(p.answers + g.job, 0u, word) == 0) atomicAdd(p.done, 1);
    g.mode = FETCH;
}

// A node's value goes to the node above, which goes on or ends in turn.
ON_DEVICE void fold(const Parameters& p, Group& g, const Place& at, unsigned* counts) {
    const bool folds = g.mode == RETURN && g.top >= 0;
    if (g.mode == RETURN && g.top < 0) answer(p, g, SOLVED);
    Frame& f = at.frames[folds ? g.top : 0];
    __syncwarp();
    Line line = f.line;
    __syncwarp();
    if (!folds) return;
    const int value = -g.value;
    if (value > line.best) {
        line.best = int8_t(value);
        line.best_move = int8_t(f.squares[line.next - 1]);
        if (line.alpha < value && value < line.beta && line.given < line.beta) {  // better, but how much is not known
            --line.next;
            line.flags |= AGAIN;
        }
    }
    if (SHARING && of_group() == 0 && line.flags & COUNTED) atomicAdd(p.node_counters + f.counter, ~0u);
    line.flags &= uint8_t(~COUNTED);
    if (of_group() == 0) f.line = line;
    g.mode = MOVE;
    if (line.next < line.count && line.best < line.beta) return;
    const bool keeps = p.table_mask && !(line.flags & PASSED) && bits_in(Game::empty(f.own, f.opp)) >= p.table_from;
    if (keeps && of_group() == 0) {
        ++counts[STORES];
        const int low = line.best > line.alpha ? line.best : -Game::SQUARES;
        const int high = line.best < line.beta ? line.best : Game::SQUARES;
        const uint64_t data = packed_bounds(low, high, line.best_move);
        *reinterpret_cast<ulonglong2*>(p.table + (f.hash & p.table_mask)) = {f.hash ^ data, data};
    }
    --g.top;
    give_back(g, line.flags & PASSED ? -line.best : line.best, line.flags & PASSED ? PASS : line.best_move);
}

// A group without a position takes the next one, or joins others.
ON_DEVICE void fetch(const Parameters& p, Group& g, unsigned turn) {
    int job = -1;
    if ((g.mode == FETCH || g.mode == IDLE) && of_group() == 0) {
        const int taken = __ldcg(p.next) < p.positions ? atomicAdd(p.next, 1) : p.positions;
        job = taken < p.positions ? p.order[taken] : SHARING ? joined(p, turn) : -1;
        if (SHARING) p.working[thread_number() / LANES] = job;
    }
    job = __shfl_sync(ALL_LANES, job, 0, LANES);
    if (g.mode != FETCH && g.mode != IDLE) return;
    g.mode = SHARING && __ldcg(p.done) < p.positions ? IDLE : OUT;
    if (job < 0) return;
    g.job = job;
    const ulonglong2 state = p.states[g.job];
    const Window window = p.windows[g.job];
    g.own = state.x;
    g.opp = state.y;
    g.alpha = window.low;
    g.beta = window.high;
    g.top = -1;
    g.mode = OPEN;
    if (window.low >= window.high) {
        g.value = NONE;
        g.move = NO_MOVE;
        answer(p, g, GIVEN_UP);
    }
}

// The next move of the last frame is made.
ON_DEVICE void make_move(const Parameters& p, Group& g, const Place& at, unsigned* counts) {
    const bool makes = g.mode == MOVE;
    Frame& f = at.frames[makes ? g.top : 0];
    __syncwarp();
    Line line = f.line;
    __syncwarp();
    if (!makes) return;
    const int low = max(int(line.alpha), int(line.best));
    const bool all_of_it = line.next == 0 || line.flags & AGAIN;
    const int high = all_of_it ? line.beta : low + 1;
    const int square = f.squares[line.next++];
    line.flags &= uint8_t(~AGAIN);
    line.given = int8_t(high);
    const uint64_t discs = Game::turned(f.own, f.opp, square, at.rays);
    g.own = f.opp & ~discs;
    g.opp = f.own | discs | bit(square);
    if (of_group() == 0) {
        f.line = line;
        ++counts[NODES];
    }
    g.alpha = -high;
    g.beta = -low;
    g.mode = OPEN;
}

HD int nth_bit(uint64_t mask, int n) {
    for (; n; --n) mask &= mask - 1;
    return lowest_bit(mask);
}

// The place of a move among those of its node: keys of n squares, 0xFFFF where there is none. And how many there are.
ON_DEVICE int rank(const uint16_t* keys, int n, int key, int& count) {
    int before = 0;
    count = 0;
    for (int i = 0; i < n; ++i) {
        before += keys[i] < key;
        count += keys[i] != 0xFFFF;
    }
    return before;
}

// Writes the moves of groups' nodes, ordered, to the frames that come next, and returns how many this group's has. A
// team of 16 lanes or a whole group does one node after another, of any group: small groups would take several turns.
ON_DEVICE int ordered_moves(const Group& g, bool opens, int first, const Place& at) {
    constexpr int TEAM = LANES > 16 ? LANES : 16;
    const int lane = int(lane_number()), leader = lane & ~(LANES - 1), member = lane & (TEAM - 1);
    int count = 0;
    for (unsigned open = which(opens && lane == leader); open;) {
        const unsigned others = TEAM == 16 ? open & (open - 1) : 0;  // what a second team takes the first of
        const int one = lowest_bit(open), two = others ? lowest_bit(others) : -1;
        open = TEAM == 16 ? others & (others - 1) : open & (open - 1);
        const int served = lane < TEAM ? one : two, from = max(served, 0);
        const uint64_t own = __shfl_sync(ALL_LANES, g.own, from), opp = __shfl_sync(ALL_LANES, g.opp, from);
        const int top = __shfl_sync(ALL_LANES, g.top, from), best = __shfl_sync(ALL_LANES, first, from);
        const int ahead = from / LANES - lane / LANES;  // groups between it and this lane's own
        uint16_t* keys = at.keys + ahead * KEYS;
        uint8_t* squares = at.frames[ahead * FRAMES + top + 1].squares;
        const uint64_t empty = Game::empty(own, opp);
        const int n = served >= 0 ? bits_in(empty) : 0;
        for (int i = member; i < n; i += TEAM) {
            const int square = nth_bit(empty, i);
            const uint64_t discs = Game::turned(own, opp, square, at.rays);
            int key = 0xFFFF;
            if (discs) {
                const uint64_t replies = Game::moves(opp & ~discs, own | discs | bit(square));
                key = square == best ? 0 : (Game::lateness(replies, bit(square)) + 1) << 5 | i;
            }
            keys[i] = uint16_t(key);
        }
        __syncwarp();
        int found = 0;
        for (int i = member; i < n; i += TEAM) {
            const int before = rank(keys, n, keys[i], found);
            if (keys[i] != 0xFFFF) squares[before] = uint8_t(nth_bit(empty, i));
        }
        const int of_one = __shfl_sync(ALL_LANES, found, 0), of_two = __shfl_sync(ALL_LANES, found, TEAM & 31);
        if (leader == one) count = of_one;
        if (leader == two) count = of_two;
        __syncwarp();
    }
    return count;
}

// What the table knows of g's node: it may be enough, else a move that was best.
ON_DEVICE int looked_up(const Parameters& p, Group& g, bool opens, uint64_t hash, unsigned* counts) {
    ulonglong2 entry = {0, 0};
    if (opens && of_group() == 0) entry = __ldcg(reinterpret_cast<const ulonglong2*>(p.table + (hash & p.table_mask)));
    if ((entry.x ^ entry.y) != hash || !entry.y) entry.y = 0;
    const uint64_t data = __shfl_sync(ALL_LANES, entry.y, 0, LANES);
    if (!opens || !data) return NO_MOVE;
    counts[HITS] += of_group() == 0;
    const int low = int(data & 0xFF) - 128, high = int(data >> 8 & 0xFF) - 128, move = int(data >> 16 & 0xFF) - 2;
    if (low >= g.beta || low == high) {
        give_back(g, low, move);
    } else if (high <= g.alpha) {
        give_back(g, high, move);
    }
    return move;
}

// A node becomes a bottom, or a frame, or is settled at once.
ON_DEVICE void open(const Parameters& p, Group& g, const Place& at, unsigned* counts) {
    const int left = bits_in(Game::empty(g.own, g.opp));
    if (g.mode == OPEN && left <= LEAF + 1) {
        g.mode = BOTTOM;
        g.todo = Game::empty(g.own, g.opp);
        g.best = NONE;
        g.move = NO_MOVE;
        g.passed = 0;
    }
    uint64_t hash = 0;
    int first = NO_MOVE;
    if (p.table_mask && some(g.mode == OPEN && left >= p.table_from)) {
        hash = Game::hash(g.own, g.opp, p.salt);
        first = looked_up(p, g, g.mode == OPEN && left >= p.table_from, hash, counts);
    }
    bool opens = g.mode == OPEN;
    Frame& f = at.frames[opens ? g.top + 1 : 0];
    uint8_t flags = 0;
    while (some(opens)) {
        counts[ORDERS] += of_group() == 0;
        counts[ORDERED] += opens && of_group() == 0;
        const int count = ordered_moves(g, opens, first, at);
        if (!opens) continue;
        if (count == 0 && flags) {  // neither side can move
            g.value = -Game::final(g.own, g.opp, p.to_winner);
            g.move = NO_MOVE;
            if (g.top < 0)
                answer(p, g, OVER);
            else
                g.mode = RETURN;
            opens = false;
        } else if (count == 0) {
            pass(g);
            flags = PASSED;
            first = NO_MOVE;
        } else {
            ++g.top;
            g.mode = MOVE;
            if (of_group() == 0) {
                f.own = g.own;
                f.opp = g.opp;
                f.hash = hash;
                f.line = {int8_t(g.alpha), int8_t(g.beta), NONE, 0, 0, int8_t(count), NO_MOVE, flags};
            }
            opens = false;
        }
    }
    __syncwarp();
}

}  // namespace
