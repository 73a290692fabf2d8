// Scores of positions of a two-player game by null windows, to the end or to a depth: groups of lanes that search, and
// how they share work.
//
// A group of LANES lanes is one search. At a node each lane makes a move (or several, if there are more of them) and
// looks at the position behind it: what the game knows of it, and what the table does. So the node is answered at once
// by any move that is known to be good enough (the enhanced transposition cut-off, for the price of a probe), moves that
// are known to be bad are dropped, and the others are put in order. One lane that has no move looks the node itself up.
// The groups of a warp go on in step, a node each, so that they never wait for one another for long.
//
// Every group asks its position's question, "is the score beta or more?", which follows from the bounds that all have
// found so far; its stack is in shared memory while a launch lasts, and is kept between launches. How groups that work
// on the same position share it:
// - The position, and all that the host has expanded from it, are nodes of a forest in the GPU's memory, with bounds
//   that any group improves. Below it the table tells what others have found.
// - At nodes with much left, groups are counted: how many are at work below each position (``node_counters``). A group
//   takes the first move in order where there is room, or else the one with the fewest, as ABDADA does (Weill 1996).
//   A move has room for one group; the first move of a node that it will probably answer has room for more, the more is
//   left there. A group chooses anew after every answer, with what the others have found meanwhile.
// - Every POLL_INTERVAL nodes a group looks up the positions on its way from the root, and goes back to the first that
//   others have answered.
#pragma once
#include <type_traits>

#include "table.cuh"

#ifndef LANES
#define LANES 8
#endif
#ifndef THREADS
#define THREADS 128
#endif
#ifndef BLOCKS
#define BLOCKS 8
#endif
#ifndef POLL_INTERVAL
#define POLL_INTERVAL 32  // nodes from one look at the clock and at the way from the root to the next
#endif


constexpr int UNASSIGNED = -1, GONE = -2;  // instead of a job
constexpr int ASKING = -1;              // instead of a level: the question is not known yet
constexpr unsigned NOT_COUNTED = 0xFFFFFFFF;

template <class Game>
struct Group {
    using State = Game;
    using Score = typename Game::Score;
    static constexpr int HIGHEST = sizeof(Score) == 1 ? 127 : 32767, UNKNOWN = -HIGHEST - 1;
    static constexpr int MOVES = Game::MOVES, EACH = (MOVES + LANES) / LANES;  // a lane's moves, or the node itself
    static constexpr int ORDER = (MOVES + 8) / 8 * 8;
    static constexpr bool BY_SQUARE = Game::BY_SQUARE;  // codes go to 64; else to 31, and are places among all moves
    using Flags = std::conditional_t<BY_SQUARE, uint16_t, uint8_t>;
    using Moves = std::conditional_t<BY_SQUARE, uint64_t, uint32_t>;  // a bit for each, by its code
    static constexpr unsigned END = 0xFF, SLOT = BY_SQUARE ? 0x7F : 0x1F, CUT = SLOT + 1, SECOND = 2 * CUT, CHOOSES = 4 * CUT;

    struct alignas(16) Level {
        State state;
        union {
            uint8_t order[ORDER];  // moves still to be searched, then END; or, where moves are chosen anew,
            Moves done;            // those that are answered
        };
        Score low, high, best;  // bounds of the node; of the moves that are not good enough
        Flags next;             // move at work: its place in the order, or CHOOSES and itself
        unsigned counter;
    };

    const Parameters& p;
    const typename Game::Tables tables;  // of its evaluation
    Level* stack;
    const unsigned lane, first_lane;  // of this group; its first one's number in the warp
    unsigned number;
    int job, level, beta0;
    State s;
    unsigned expanded = 0, nodes = 0, looks = 0, hits = 0, stores = 0;
    int cursor = 0, looked = 0;  // of a search for a job
    bool detached = false;           // does not take part, see ``offload.cuh``

    ON_DEVICE Group(const Parameters& p, char* memory, const typename Game::Tables& tables)
        : p(p), tables(tables), lane(threadIdx.x % LANES), first_lane(lane_number() - threadIdx.x % LANES) {
        const unsigned per_warp = 32 / LANES, warp = threadIdx.x / 32, warps = blockDim.x / 32;
        const unsigned of_warp = lane_number() / LANES;
        stack = reinterpret_cast<Level*>(memory) + size_t(warp * per_warp + of_warp) * p.levels;
        // neighbours in number are far apart, so that a few jobs spread over the GPU
        number = (of_warp * warps + warp) * gridDim.x + blockIdx.x;
    }

    // Meetings: of all lanes of the warp, all of its groups being in step.
    ON_DEVICE static bool any(bool b) { return __any_sync(ALL_LANES, b); }
    ON_DEVICE unsigned ballot(bool b) const {
        unsigned all = __ballot_sync(ALL_LANES, b) >> first_lane;
        return LANES == 32 ? all : all & ((1u << (LANES & 31)) - 1);
    }
    template <class T>
    ON_DEVICE static T from(int lane, T value) {
        return LANES == 1 ? value : __shfl_sync(ALL_LANES, value, lane, LANES);
    }
    ON_DEVICE static int most(int value) {
        for (int by = LANES / 2; by; by /= 2) value = max(value, __shfl_xor_sync(ALL_LANES, value, by, LANES));
        return value;
    }
    ON_DEVICE bool leads() const { return lane == 0; }

    ON_DEVICE Job& node(int i) const { return i < p.count ? p.jobs[i] : p.forest[i - p.count]; }
    ON_DEVICE int node_of(unsigned counter) const {  // a counter's node of the forest, or -1
        return counter != NOT_COUNTED && counter > p.counter_mask ? int(counter - p.counter_mask - 1) : -1;
    }
    ON_DEVICE unsigned counter_of(int node) const { return p.counter_mask + 1 + unsigned(node); }
    ON_DEVICE int beta_at(int level) const { return level & 1 ? 1 - beta0 : beta0; }

    ON_DEVICE void suspend() const {  // leave the search for the next launch
        if (number >= unsigned(p.groups)) return;
        bool works = job >= 0;
        if (leads()) {
            p.suspended[number] = {p.batch, works ? job : UNASSIGNED, level, beta0};
            if (works) atomicAdd(&p.counts->busy, 1u);
        }
        copy(reinterpret_cast<const uint4*>(stack), p.stacks + size_t(number) * p.levels * (sizeof(Level) / 16), works);
        atomicAdd(&p.counts->looks, (unsigned long long)looks);
        atomicAdd(&p.counts->hits, (unsigned long long)hits);
        if (!leads()) return;
        atomicAdd(&p.counts->expanded, (unsigned long long)expanded);
        atomicAdd(&p.counts->nodes, (unsigned long long)nodes);
        atomicAdd(&p.counts->stores, (unsigned long long)stores);
    }

    ON_DEVICE void copy(const uint4* source, uint4* target, bool works) const {
        if (!works) return;
        for (int i = lane; i < (level + 1) * int(sizeof(Level) / 16); i += LANES) target[i] = source[i];
    }

    ON_DEVICE void resume() {
        go_on();
        __syncwarp();
        if (searches()) s = stack[level].state;
    }

    ON_DEVICE void go_on() {
        job = GONE;
        if (number >= unsigned(p.groups)) return;
        SuspendedSearch was = p.suspended[number];
        job = UNASSIGNED;
        if (was.batch != p.batch || was.job < 0) return;
        job = was.job, level = was.level, beta0 = was.beta;
        copy(p.stacks + size_t(number) * p.levels * (sizeof(Level) / 16), reinterpret_cast<uint4*>(stack), true);
    }

    ON_DEVICE bool searches() const { return job >= 0 && level >= 0 && !detached; }

    // Take a job that no group has, or else one that has room, or none.
    ON_DEVICE void acquire_job() {
        int taken = GONE;
        if (job == UNASSIGNED && looked == 0 && leads()) taken = int(min(atomicAdd(&p.counts->next, 1u), unsigned(p.count)));
        taken = from(0, taken);
        bool helps = job == UNASSIGNED && (looked > 0 || taken >= p.count);
        if (helps && looked == 0) cursor = int((number * 2654435761u >> 8) % unsigned(p.count));
        bool room = false;
        int i = cursor + int(lane);
        if (i >= p.count) i %= p.count;
        if (helps && looked + int(lane) < p.count) {
            const Job& each = p.jobs[i];
            int left = State::of(each).left();
            room = !solved(each) && __ldcg(&p.node_counters[counter_of(i)]) < p.max_groups_per_job[left];
        }
        unsigned with_room = ballot(room);
        if (helps && with_room) {
            taken = cursor + lowest_bit(with_room);
            if (taken >= p.count) taken %= p.count;
        } else if (helps) {
            looked += LANES;
            cursor = (cursor + LANES) % p.count;
            if (looked >= p.count) job = GONE;
        }
        if (job == UNASSIGNED && (!helps || with_room)) {
            job = taken, level = ASKING, looked = 0;
            if (leads()) atomicAdd(&p.node_counters[counter_of(job)], 1u);
        }
    }

    ON_DEVICE bool solved(const Job& job) const {
        int low = __ldcg(&job.low), high = __ldcg(&job.high);
        return low + p.tolerance >= high || low >= __ldcg(&job.window_high) || high <= __ldcg(&job.window_low);
    }

    // Find the question that the job's bounds leave, or let go of it.
    ON_DEVICE void ask() {
        const bool asks = job >= 0 && level == ASKING;
        int low = 0, high = 0;
        if (asks) {
            Job& mine = p.jobs[job];
            s = State::of(mine);
            low = __ldcg(&mine.low), high = __ldcg(&mine.high);
            if (low == UNKNOWN) {
                s.opening(low, high);
                if (leads()) atomicMax(&mine.low, low), atomicMin(&mine.high, high);
            }
        }
        // others improve these bounds at any time: a group has to go by what one lane saw
        low = from(0, low), high = from(0, high);
        if (!asks) return;
        const int least = max(low, p.jobs[job].window_low), greatest = min(high, p.jobs[job].window_high);
        if (least >= greatest || low + p.tolerance >= high) {
            if (leads()) atomicAdd(&p.node_counters[counter_of(job)], 0xFFFFFFFFu);
            job = UNASSIGNED;
            return;
        }
        beta0 = Game::question(s.left(), least, greatest, p.jobs[job].guess);
        level = 0;
        if (leads()) place(low, high, counter_of(job), 0);
    }

    // Begin a level of the stack, of state ``s``.
    ON_DEVICE void place(int low, int high, unsigned counter, unsigned kind) {
        Level& here = stack[level];
        here.state = s;
        here.done = 0;
        here.low = Score(low), here.high = Score(high), here.best = UNKNOWN, here.next = Flags(kind);
        here.counter = counter;
    }

    // Two bounds in a word, for an exchange between lanes.
    HD static int paired(int low, int high) { return (low & 0xFFFF) | high << 16; }
    HD static int lower(int pair) { return int16_t(pair); }
    HD static int upper(int pair) { return pair >> 16; }

    // The move that was good enough in a search of the node two plies less deep.
    ON_DEVICE int shallower_move() const {
        bool unused;
        return s.left() > 2 ? probe(p.table, s.shallower().hash(), s.left() - 2, unused).move : NO_MOVE;
    }

    // Look at all moves of the node; return whether it is answered, by ``value`` and ``move``, else go on to a move.
    ON_DEVICE bool expand(int& value, int& move) {
        const bool works = searches();
        const int left = works ? s.left() : 0, beta = works ? beta_at(level) : 0;
        Level& here = stack[works ? level : 0];
        const int inner = works ? node_of(here.counter) : -1;
        const int children = inner < 0 ? -1 : node(inner).children;
        const bool chooses = works && (children >= 0 || left > p.share_left);
        const Moves done = chooses ? here.done : 0;
        const auto moves = s.moves();
        const int slots = works || !BY_SQUARE ? Game::slots(moves) : 0;
        const int self_at = slots;  // the lane behind the moves has the node

        int low[EACH], high[EACH], order[EACH], child[EACH], code[EACH];
        unsigned counter[EACH], crowd[EACH];
        bool open[EACH], cut[EACH];
        Known self = {UNKNOWN, HIGHEST, NO_MOVE, false};
        bool second = false;
        int best = UNKNOWN, likely = NO_MOVE;
        unsigned count = 0;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            counter[k] = NOT_COUNTED, crowd[k] = 0;
            low[k] = UNKNOWN, high[k] = HIGHEST, order[k] = -1, child[k] = -1, code[k] = NO_MOVE;
            open[k] = cut[k] = false;
            if (k && !any(k * LANES <= slots)) continue;
            const int m = k * LANES + int(lane);
            const bool is_self = works && m == self_at;
            if (works && m < slots && Game::has(moves, m)) code[k] = Game::code(moves, m);
            const bool valid = code[k] != NO_MOVE && !(chooses && done >> (code[k] & 63) & 1);
            const State c = valid ? s.played(code[k]) : s;
            const int left_there = valid ? c.left() : left;
            if (valid && children >= 0) child[k] = p.children[children + m];
            Known known = {UNKNOWN, HIGHEST, NO_MOVE, false};
            bool worthier = false;
            if (works && (valid || is_self) && (left_there >= p.table_left || chooses)) {
                const uint64_t hash = c.hash();
                known = probe(p.table, hash, left_there, worthier);
                ++looks;
                if constexpr (Game::TO_DEPTH)
                    if (is_self && known.move == NO_MOVE) likely = shallower_move();
                if (chooses && valid && left_there >= p.share_left) counter[k] = unsigned(hash) & p.counter_mask;
            }
            if (child[k] >= 0) counter[k] = counter_of(child[k]);
            if (counter[k] != NOT_COUNTED) crowd[k] = __ldcg(&p.node_counters[counter[k]]);
            if (valid) c.bounds(tables, code[k], left_there, 1 - beta, low[k], high[k], order[k]);
            hits += known.there;
            if (is_self) self = known, second = worthier;
            low[k] = max(low[k], known.low), high[k] = min(high[k], known.high);
            if (child[k] >= 0) {
                const Job& there = node(child[k]);
                low[k] = max(low[k], __ldcg(&there.low)), high[k] = min(high[k], __ldcg(&there.high));
            }
            cut[k] = valid && -high[k] >= beta;
            open[k] = valid && !cut[k] && -low[k] >= beta;
            if (valid && !cut[k] && !open[k]) best = max(best, -low[k]);
            count += bits_in(ballot(valid));
        }
        // what the table knows of the node
        const int told = from(self_at % LANES, paired(self.low, self.high));
        likely = likely == NO_MOVE ? self.move : likely;
        const unsigned more = from(self_at % LANES, unsigned(self.move) | unsigned(likely) << 8 | unsigned(second) << 16);
        const int self_low = lower(told), self_high = upper(told), self_move = int(more & 0xFF);
        likely = int(more >> 8 & 0xFF), second = more >> 16;

        best = most(best);
        bool good = false, some = false;
        value = 0, move = NO_MOVE;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const unsigned cuts = ballot(cut[k]);
            const int which = cuts ? lowest_bit(cuts) : 0, reached = from(which, -high[k]);
            const int by = BY_SQUARE ? from(which, code[k]) : k * LANES + which;
            if (cuts && !good) good = true, value = reached, move = by;
            some |= ballot(open[k]) != 0;
        }
        if (works) {
            expanded += 1, nodes += count;
            best = max(best, int(here.best));
            // an entry's move may be that of the mirror image: a position that was asked for is answered by a move
            if ((self_low >= beta && level > 0) || self_high < beta) {
                good = true, value = self_low >= beta ? self_low : self_high, move = self_move;
            } else if (!good && !some) {
                value = best;
            }
        }
        const bool answered = works && (good || !some);

        // the moves that are left, in order; each has another number
        // Expected to have one good move, the first: before that is answered, the others are best left alone. Otherwise
        // a move a group. That takes 1.6 times as many nodes with 16 groups and 2.2 times with 64 as one alone does;
        // without this difference 2.3 and 3.5 times.
        const bool waits = chooses && here.next & CUT && done == 0;
        unsigned n = 0, ahead[EACH] = {};
        int first = -1;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            if (code[k] == likely) order[k] += Game::BEST;
            if (chooses) {  // first those with fewer groups than may be there, then those with the fewest
                const unsigned limit = waits ? p.max_groups_per_node[max(left - 1, 0)] : 1;
                if (crowd[k] >= limit) order[k] -= Game::BEST * 2 * int(1 + min(255 * crowd[k] / limit, 8191u) / 16);
            }
            if (!open[k]) order[k] = INT32_MIN;
        }
#pragma unroll
        for (int of = 0; of < EACH; ++of) {
            if (EACH > 1 && !any(works && !answered && of * LANES < slots)) continue;
#pragma unroll
            for (int m = of * LANES; m < MOVES && m < (of + 1) * LANES; ++m) {
                const int other = from(m % LANES, order[of]);
                n += other != INT32_MIN;
#pragma unroll
                for (int k = 0; k < EACH; ++k) ahead[k] += other > order[k];
            }
        }
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const unsigned firsts = ballot(open[k] && ahead[k] == 0);
            if (firsts) first = k * LANES + lowest_bit(firsts);
        }
        const bool goes_on = works && !answered;
        __syncwarp();  // all lanes have read the level before it changes
        const int source = max(first, 0) % LANES;
        int bounds = 0, inner_child = -1, its_code = 0;
        unsigned its_counter = NOT_COUNTED;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int these = from(source, paired(low[k], high[k])), there = from(source, child[k]);
            const int played = BY_SQUARE ? from(source, code[k]) : max(first, 0);
            const unsigned place = from(source, counter[k]);
            if (max(first, 0) / LANES == k) bounds = these, inner_child = there, its_counter = place, its_code = played;
        }
        if (goes_on && !chooses) {
#pragma unroll
            for (int k = 0; k < EACH; ++k)
                if (open[k]) here.order[ahead[k]] = uint8_t(code[k]);
            if (leads()) here.order[n] = END;
        }
        if (works && leads()) {
            here.best = Score(best);
            here.next = Flags((second ? SECOND : 0u) | (chooses ? CHOOSES | (here.next & CUT) | (its_code & SLOT) : 0u));
        }
        if (goes_on) {
            s = inner_child >= 0 ? State::of(node(inner_child)) : s.played(its_code);
            ++level;
            if (leads()) {
                place(lower(bounds), upper(bounds), its_counter, waits ? 0 : CUT);
                if (its_counter != NOT_COUNTED) atomicAdd(&p.node_counters[its_counter], 1u);
            }
        }
        return answered;
    }

    // Take answers up the stack, as far as they answer what is above, and go on to the next move there.
    ON_DEVICE void retreat(bool answered, int value, int move) {
        while (any(answered)) {
            Answer found = {};
            if (answered) found = read(value);
            __syncwarp();  // all lanes have read before one writes
            if (answered) answered = take_up(found, value, move);
            __syncwarp();
        }
    }

    struct Answer {  // of the last level, and what is above it
        int low, high, best;
        unsigned counter, flags, next, at_work, following;
        bool yes;
        State above;
    };

    ON_DEVICE Answer read(int value) const {
        const Level& here = stack[level];
        Answer found = {here.low, here.high, UNKNOWN, here.counter, here.next, 0, 0, END, value >= beta_at(level), s};
        if (found.yes) found.low = max(value, found.low);
        else found.high = min(value, found.high);
        if (level == 0) return found;
        const Level& above = stack[level - 1];
        found.above = above.state;
        found.next = above.next;
        found.best = max(-found.low, int(above.best));
        found.at_work = found.next & SLOT;
        if (found.next & CHOOSES) return found;
        found.following = above.order[found.at_work + 1];
        found.at_work = above.order[found.at_work];
        return found;
    }

    // Keep an answer, and leave its node; return whether that answers the one above, by ``value`` and ``move``.
    ON_DEVICE bool take_up(const Answer& found, int& value, int& move) {
        const int inner = node_of(found.counter), left = s.left();
        if (left >= p.table_left || inner >= 0) {
            ++stores;
            if (leads()) {
                const int best_move = found.yes ? move : NO_MOVE;
                store(p.table, s.hash(), found.low, found.high, best_move, left, found.flags & SECOND);
            }
        }
        if (leads()) {
            if (inner >= 0 && found.yes) atomicMax(&node(inner).low, found.low);
            if (inner >= 0 && !found.yes) atomicMin(&node(inner).high, found.high);
            if (level > 0 && found.counter != NOT_COUNTED) atomicAdd(&p.node_counters[found.counter], 0xFFFFFFFFu);
            if (level == 0 && found.yes && move != NO_MOVE) atomicMax(&node(inner).best, (value - UNKNOWN) << 8 | move);
        }
        if (level-- == 0) return false;  // now it is ASKING
        s = found.above;
        if (!found.yes) {  // the other side has no good answer to this move
            value = -found.high, move = int(found.at_work);
            return true;
        }
        Level& above = stack[level];
        if (leads()) above.best = Score(found.best);
        if (found.next & CHOOSES) {
            if (leads()) above.done |= Moves(1) << (found.at_work & 63);
            return false;
        }
        if (found.following == END) {
            value = found.best;
            return true;
        }
        if (leads()) above.next = Flags(found.next + 1);
        s = s.played(int(found.following));
        ++level;
        int low, high;
        Game::settle(s.left(), true, low, high);
        if (leads()) place(low, high, NOT_COUNTED, 0);
        return false;
    }

    // See whether a node on the way from the root has been answered by others, and go back to the first that has.
    ON_DEVICE bool look_back(int& value, int& move) {
        int top = -1;
        bool going = searches();
        for (int base = 0; any(going); base += LANES) {
            const int i = base + int(lane);
            bool answered = false;
            int found = 0, best = NO_MOVE;
            if (going && i <= level) {
                const Level& each = stack[i];
                const int beta = beta_at(i), left = each.state.left(), inner = node_of(each.counter);
                bool unused;
                Known known = {UNKNOWN, HIGHEST, NO_MOVE, false};
                if (i > 0) known = probe(p.table, each.state.hash(), left, unused);
                if (inner >= 0) {
                    const Job& there = node(inner);
                    const int low = __ldcg(&there.low);
                    if (low > known.low) known.low = low, known.move = NO_MOVE;  // what move that takes, others know
                    known.high = min(known.high, __ldcg(&there.high));
                    if (i == 0 && solved(there)) known.low = HIGHEST;  // no group asks any more
                }
                answered = known.low >= beta || known.high < beta;
                found = known.low >= beta ? known.low : known.high;
                best = known.move;
            }
            const unsigned tops = ballot(answered);
            const int which = tops ? lowest_bit(tops) : 0;
            const int at_value = from(which, found), at_move = from(which, best);
            if (going && tops) top = base + which, value = at_value, move = at_move;
            // what is further down belongs to this group alone
            going = going && !tops && base + LANES <= level && stack[base + LANES].state.left() >= p.share_left;
        }
        if (top < 0) return false;
        for (int i = top + 1 + int(lane); i <= level; i += LANES)
            if (stack[i].counter != NOT_COUNTED) atomicAdd(&p.node_counters[stack[i].counter], 0xFFFFFFFFu);
        level = top;
        s = stack[top].state;
        if (value != HIGHEST) return true;
        level = ASKING;
        return false;
    }

    // A node, or a look at the way from the root instead.
    ON_DEVICE void turn(bool looks_back) {
        int value = 0, move = 0;
        bool answered;
        if (looks_back) {
            answered = look_back(value, move);
        } else {
            if (any(job == UNASSIGNED)) acquire_job();
            if (any(job >= 0 && level == ASKING)) ask();
            __syncwarp();
            answered = expand(value, move);
        }
        __syncwarp();
        retreat(answered, value, move);
    }
};

template <class Game>
ON_DEVICE void search(const Parameters& p, char* memory, const typename Game::Tables& tables) {
    Group<Game> group(p, memory, tables);
    const uint64_t end = nanoseconds() + p.nanoseconds;
    group.resume();
    for (unsigned turns = 0; group.any(group.job != GONE); ++turns) {
        const bool looks_up = turns % POLL_INTERVAL == 0;
        if (looks_up && turns && group.any(nanoseconds() > end)) break;
        group.turn(looks_up);
    }
    group.suspend();
}
