// Groups that search one position together, where there are fewer positions than groups.
//
// All begin at its root, and share the table: what one has found the others need not look for. Of the moves behind the
// first they take those that no other is at work on (ABDADA: Weill 1996): a position has a *counter* of the groups
// below it. Now and then a group looks up the nodes above it, and leaves the first that others have answered.
#pragma once
#include "endgame.cuh"

namespace {

ON_DEVICE void give_back(Group& g, int value, int move) {
    g.mode = RETURN;
    g.value = value;
    g.move = move;
}

// A position that a group drawn at random is at, or −1.
ON_DEVICE int joined(const Parameters& p, unsigned turn) {
    const uint64_t groups = thread_count() / LANES, drawn = Game::folded(thread_number() / LANES, turn);
    for (int i = 0; i < 4; ++i) {
        const int job = __ldcg(p.working + (drawn >> 16 * i & 0xFFFF) * groups / 0x10000);
        if (job >= 0 && __ldcg(p.answers + job) == WAITS) return job;
    }
    return -1;
}

// The group is no longer below the frames from `from` on.
ON_DEVICE void release(const Parameters& p, const Group& g, const Place& at, int from) {
    for (int i = from + of_group(); i <= g.top; i += LANES)
        if (at.frames[i].line.flags & COUNTED) atomicAdd(p.node_counters + at.frames[i].counter, ~0u);
}

// The move that comes next at the last frame is the first below which there is room for one more group, else the one
// with the fewest for its room. Groups of a warp choose one after another, or all would choose the same.
ON_DEVICE void put_off(const Parameters& p, const Group& g, const Place& at) {
    Frame& f = at.frames[max(g.top, 0)];
    Line line = f.line;
    const int left = bits_in(Game::empty(f.own, f.opp)) - 1, leader = int(lane_number()) & ~(LANES - 1);
    const bool first_of_window = line.next == 0 && line.beta - line.alpha > 1;  // it tells the others what to beat
    const bool chooses = g.mode == MOVE && left >= p.share_from && !first_of_window && !(line.flags & AGAIN);
    for (unsigned choosing = which(chooses && of_group() == 0); choosing; choosing &= choosing - 1) {
        const bool mine = leader == lowest_bit(choosing);
        unsigned least = ~0u, counter = 0;
        if (mine)
            for (int i = line.next + of_group(); i < line.count; i += LANES) {
                const int square = f.squares[i];
                const uint64_t discs = Game::turned(f.own, f.opp, square, at.rays);
                const uint64_t hash = Game::hash(f.opp & ~discs, f.own | discs | bit(square), p.salt);
                const unsigned groups = __ldcg(p.node_counters + (unsigned(hash) & p.counter_mask)) >> (left - p.share_from);
                const unsigned key = min(groups, 0xFFFFu) << 8 | unsigned(i);
                counter = key < least ? unsigned(hash) & p.counter_mask : counter;
                least = min(least, key);
            }
        unsigned chosen = least;
        for (int by = LANES / 2; by; by /= 2) chosen = min(chosen, __shfl_xor_sync(ALL_LANES, chosen, by, LANES));
        __syncwarp();
        if (mine && chosen == least) {
            atomicAdd(p.node_counters + counter, 1u);
            const int square = f.squares[chosen & 0xFF];
            for (int i = int(chosen & 0xFF); i > line.next; --i) f.squares[i] = f.squares[i - 1];
            f.squares[line.next] = uint8_t(square);
            line.flags |= COUNTED;
            f.line = line;
            f.counter = counter;
        }
        __syncwarp();
    }
}

// What others have found of the nodes above may be enough.
ON_DEVICE void look_back(const Parameters& p, Group& g, const Place& at) {
    const bool looks = g.mode == MOVE;
    int first = FRAMES, value = 0, move = NO_MOVE;
    if (looks)
        for (int i = of_group(); i <= g.top && first == FRAMES; i += LANES) {
            const Frame& f = at.frames[i];
            if (f.line.flags & PASSED || bits_in(Game::empty(f.own, f.opp)) < p.share_from) continue;
            const ulonglong2 entry = __ldcg(reinterpret_cast<const ulonglong2*>(p.table + (f.hash & p.table_mask)));
            if ((entry.x ^ entry.y) != f.hash || !entry.y) continue;
            const int low = int(entry.y & 0xFF) - 128, high = int(entry.y >> 8 & 0xFF) - 128;
            if (low < f.line.beta && high > f.line.alpha && low < high) continue;
            first = i;
            value = low >= f.line.beta ? low : high;
            move = int(entry.y >> 16 & 0xFF) - 2;
        }
    int least = first;
    for (int by = LANES / 2; by; by /= 2) least = min(least, __shfl_xor_sync(ALL_LANES, least, by, LANES));
    value = __shfl_sync(ALL_LANES, value, least % LANES, LANES);
    move = __shfl_sync(ALL_LANES, move, least % LANES, LANES);
    if (!looks || least == FRAMES) return;
    release(p, g, at, least);
    g.top = least - 1;
    give_back(g, value, move);
}

// A position that others have answered, or that is given up, is left.
ON_DEVICE void leave_answered(const Parameters& p, Group& g, const Place& at) {
    const bool at_work = g.mode == OPEN || g.mode == MOVE || g.mode == RETURN;
    if (!at_work || __ldcg(p.answers + g.job) == WAITS) return;
    release(p, g, at, 0);
    g.mode = FETCH;
}

}  // namespace
