// Exact scores of Othello end games, a batch of positions at a time.
//
// LANES lanes of a warp are a *group* and search one position together, by principal-variation search over frames in
// shared memory; groups of all blocks take positions from one queue. At a node with more than LEAF + 1 empty squares
// every lane makes the moves on some of these, and the group orders them by the replies that they leave. A node with at
// most LEAF + 1, a *bottom*, is solved by lanes on their own: each takes one of its squares after another and searches
// below it, and the first that cuts the bottom off ends it for all.
//
// A lane's search is a loop whose every turn tries one square, at whatever depth: all lanes of a warp do the same
// thing at a time wherever they are, which recursion would not have. All meetings are of whole warps.
#include "othello.cuh"

#ifndef BOARD_ROWS
#define BOARD_ROWS 8
#define BOARD_COLUMNS 8
#endif
#ifndef LANES
#define LANES 8
#endif
#ifndef LEAF
#define LEAF 5  // empty squares below which lanes search on their own
#endif
#ifndef MOST
#define MOST 16  // empty squares of a position, at most
#endif
#ifndef WAITING
#define WAITING 16  // lanes of a warp whose groups have come to the end of a bottom, before others' bottoms wait for them
#endif
#ifndef THREADS
#define THREADS 128
#endif
#ifndef BLOCKS
#define BLOCKS 6  // of a multiprocessor, which bounds the registers of a thread
#endif

namespace {

using Game = othello::Board<BOARD_ROWS, BOARD_COLUMNS>;

constexpr int GROUPS = THREADS / LANES, FRAMES = MOST > LEAF + 1 ? MOST - LEAF - 1 : 1;
constexpr int NONE = -128;  // instead of a score: no move was found
constexpr int NO_MOVE = -2, PASS = -1;
constexpr int PATIENCE = 16;  // turns between looks at the clock

struct alignas(16) Entry {  // of the table of positions: a hash xor the data, and the data
    unsigned long long check, data;
};

struct Window {  // of a position; it is given up where low >= high
    int8_t low, high;
};

struct Answer {
    int8_t score;  // at most alpha: an upper bound; at least beta: a lower one
    int8_t move;
    uint8_t state;
    uint8_t unused;
};
enum State : uint8_t { WAITS, SOLVED, OVER, GIVEN_UP };

struct Parameters {
    const ulonglong2* states;  // own and other discs of each position
    const Window* windows;
    const int* order;  // positions as they are to be taken
    Answer* answers;
    Entry* table;
    char* kept;  // of each group what it goes on with in the next launch
    int* next;  // how many positions are taken
    int* done;  // how many are answered
    unsigned long long* counts;  // COUNTS numbers, see below
    uint64_t table_mask;  // entries − 1
    uint64_t salt;
    uint64_t limit;  // nanoseconds
    int positions;
    int table_from;  // empty squares from which on the table is used
    int to_winner;  // 1: empty squares count for the winner
    int first;  // 1: nothing is kept yet
};

struct alignas(8) Line {  // what changes of a frame
    int8_t alpha, beta, best, given;  // given: the upper end of the window that the move at work got
    int8_t next, count, best_move;
    uint8_t marks;
};
constexpr uint8_t PASSED = 1, AGAIN = 2;  // own is who moves after a pass; the move at work is to get all of the window

struct Frame {
    uint64_t own, opp, hash;
    Line line;
    uint8_t squares[(MOST + 7) / 8 * 8];  // moves, the best ones first
};

// What is counted: boards made; squares tried by lanes, and by how many it could have been; nodes ordered by groups, and
// by how many it could have been; entries of the table used, and written.
enum Count { BOARDS_MADE, TRIED, TURNS, ORDERED, ORDERS, HITS, STORES, COUNTS };

enum Mode { FETCH, OPEN, MOVE, RETURN, BOTTOM, OUT };

struct Group {  // what its lanes agree on
    int mode, job, top;
    int value, move;  // RETURN: of the node above `top` in the tree, its side to move's
    int alpha, beta;  // OPEN, BOTTOM: of the node
    int best, passed;  // BOTTOM
    uint64_t own, opp, todo;  // OPEN, BOTTOM
};

struct Lane {
    uint64_t own, opp, todo;
    int alpha, beta, best, passed;
    int left;  // empty squares
    int square;  // of the bottom at which it is; NO_MOVE: it is idle
};

struct Kept {
    Group group;
    Frame frames[FRAMES];
};

// Shared memory of a block: frames of groups, stacks of lanes, keys by which groups order moves.
constexpr int KEYS = (MOST + 3) / 4 * 4;
constexpr int LEVELS = LEAF > 1 ? LEAF - 1 : 1;

using Rays = Fixed<uint64_t, Game::SQUARES * othello::RAY_STRIDE>;

struct Place {  // where a thread has its own
    Frame* frames;
    uint16_t* keys;
    uint64_t *own, *opp, *todo;  // a lane's nodes with `left` empty squares are at (left − 2) · THREADS
    int* window;
    const uint64_t* rays;
};

ON_DEVICE Place place(char* memory, const uint64_t* rays) {
    const int thread = threadIdx.x, group = thread / LANES;
    char* lanes = memory + GROUPS * sizeof(Frame) * FRAMES;
    uint64_t* boards = reinterpret_cast<uint64_t*>(lanes);
    constexpr int LEVEL = LEVELS * THREADS;
    int* windows = reinterpret_cast<int*>(boards + 3 * LEVEL);
    uint16_t* keys = reinterpret_cast<uint16_t*>(windows + LEVEL);
    return {reinterpret_cast<Frame*>(memory) + group * FRAMES, keys + group * KEYS, boards + thread,
            boards + LEVEL + thread, boards + 2 * LEVEL + thread, windows + thread, rays};
}

ON_DEVICE bool some(bool of) { return __any_sync(ALL_LANES, of); }
ON_DEVICE unsigned which(bool of) { return __ballot_sync(ALL_LANES, of); }
ON_DEVICE int of_group() { return int(lane_number()) & (LANES - 1); }  // this lane's number in its group
ON_DEVICE unsigned group_part(unsigned lanes) {
    return LANES == 32 ? lanes : lanes >> (lane_number() & ~(LANES - 1)) & ((1u << (LANES & 31)) - 1);
}

HD uint64_t bit(int square) { return uint64_t(1) << square; }

// Of the squares to try one in a quarter with an odd number of empty ones, if there is one: who moves last there gains.
HD int picked(uint64_t todo, uint64_t odd) { return lowest_bit(todo & odd ? todo & odd : todo); }

HD uint64_t packed_bounds(int low, int high, int move) {
    return uint64_t(low + 128) | uint64_t(high + 128) << 8 | uint64_t(move + 2) << 16 | uint64_t(1) << 32;
}

// ---- Groups: nodes with more than LEAF + 1 empty squares ----

ON_DEVICE void answer(const Parameters& p, Group& g, State state) {
    if (of_group() == 0) {
        p.answers[g.job] = {int8_t(g.value), int8_t(g.move), state, 0};
        atomicAdd(p.done, 1);
    }
    g.mode = FETCH;
}

ON_DEVICE void give_back(Group& g, int value, int move) {
    g.mode = RETURN;
    g.value = value;
    g.move = move;
}

// A node's value goes to the node above, which goes on or ends in turn.
ON_DEVICE void fold(const Parameters& p, Group& g, const Place& at, unsigned* counts) {
    const bool folds = g.mode == RETURN && g.top >= 0;
    if (g.mode == RETURN && g.top < 0) answer(p, g, SOLVED);
    Frame& f = at.frames[folds ? g.top : 0];
    Line line = f.line;
    __syncwarp();
    if (!folds) return;
    const int value = -g.value;
    if (value > line.best) {
        line.best = int8_t(value);
        line.best_move = int8_t(f.squares[line.next - 1]);
        if (line.alpha < value && value < line.beta && line.given < line.beta) {  // better, but how much is not known
            --line.next;
            line.marks |= AGAIN;
        }
    }
    if (of_group() == 0) f.line = line;
    g.mode = MOVE;
    if (line.next < line.count && line.best < line.beta) return;
    const bool keeps = p.table_mask && !(line.marks & PASSED) && bits_in(Game::empty(f.own, f.opp)) >= p.table_from;
    if (keeps && of_group() == 0) {
        ++counts[STORES];
        const int low = line.best > line.alpha ? line.best : -Game::SQUARES;
        const int high = line.best < line.beta ? line.best : Game::SQUARES;
        const uint64_t data = packed_bounds(low, high, line.best_move);
        *reinterpret_cast<ulonglong2*>(p.table + (f.hash & p.table_mask)) = {f.hash ^ data, data};
    }
    --g.top;
    give_back(g, line.marks & PASSED ? -line.best : line.best, line.marks & PASSED ? PASS : line.best_move);
}

// A group without a position takes the next one.
ON_DEVICE void fetch(const Parameters& p, Group& g) {
    int taken = p.positions;
    if (g.mode == FETCH && of_group() == 0) taken = atomicAdd(p.next, 1);
    taken = __shfl_sync(ALL_LANES, taken, 0, LANES);
    if (g.mode != FETCH) return;
    g.mode = OUT;
    if (taken >= p.positions) return;
    g.job = p.order[taken];
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
ON_DEVICE void make_move(Group& g, const Place& at, unsigned* counts) {
    const bool makes = g.mode == MOVE;
    Frame& f = at.frames[makes ? g.top : 0];
    Line line = f.line;
    __syncwarp();
    if (!makes) return;
    const int low = max(int(line.alpha), int(line.best));
    const bool all_of_it = line.next == 0 || line.marks & AGAIN;
    const int high = all_of_it ? line.beta : low + 1;
    const int square = f.squares[line.next++];
    line.marks &= uint8_t(~AGAIN);
    line.given = int8_t(high);
    if (of_group() == 0) {
        f.line = line;
        ++counts[BOARDS_MADE];
    }
    const uint64_t discs = Game::turned(f.own, f.opp, square, at.rays);
    g.own = f.opp & ~discs;
    g.opp = f.own | discs | bit(square);
    g.alpha = -high;
    g.beta = -low;
    g.mode = OPEN;
}

HD int nth_bit(uint64_t mask, int n) {
    for (; n; --n) mask &= mask - 1;
    return lowest_bit(mask);
}

// Writes the moves of g's node to squares, ordered, and returns how many there are. All lanes of a warp come along.
ON_DEVICE int ordered_moves(const Group& g, bool opens, int first, uint8_t* squares, const Place& at) {
    const uint64_t empty = Game::empty(g.own, g.opp);
    const int n = opens ? bits_in(empty) : 0;
    for (int i = of_group(); i < n; i += LANES) {
        const int square = nth_bit(empty, i);
        const uint64_t discs = Game::turned(g.own, g.opp, square, at.rays);
        int key = 0xFFFF;
        if (discs) {
            const uint64_t replies = Game::moves(g.opp & ~discs, g.own | discs | bit(square));
            key = square == first ? square : (Game::lateness(replies, bit(square)) + 1) << 5 | i;
        }
        at.keys[i] = uint16_t(key);
    }
    __syncwarp();
    int count = 0;
    if (opens)
        for (int i = of_group(); i < n || i == of_group(); i += LANES) {
            const int key = i < n ? at.keys[i] : 0xFFFF;
            int before = 0;
            count = 0;
            for (int j = 0; j < n; ++j) {
                const int other = at.keys[j];
                before += other < key;
                count += other != 0xFFFF;
            }
            if (key != 0xFFFF) squares[before] = uint8_t(nth_bit(empty, i));
        }
    __syncwarp();
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
    uint8_t marks = 0;
    while (some(opens)) {
        counts[ORDERS] += of_group() == 0;
        counts[ORDERED] += opens && of_group() == 0;
        const int count = ordered_moves(g, opens, first, f.squares, at);
        if (!opens) continue;
        if (count == 0 && marks) {  // neither side can move
            g.value = -Game::final(g.own, g.opp, p.to_winner);
            g.move = NO_MOVE;
            if (g.top < 0)
                answer(p, g, OVER);
            else
                g.mode = RETURN;
            opens = false;
        } else if (count == 0) {
            const uint64_t own = g.own;
            g.own = g.opp;
            g.opp = own;
            const int alpha = g.alpha;
            g.alpha = -g.beta;
            g.beta = -alpha;
            marks = PASSED;
            first = NO_MOVE;
        } else {
            ++g.top;
            g.mode = MOVE;
            if (of_group() == 0) {
                f.own = g.own;
                f.opp = g.opp;
                f.hash = hash;
                f.line = {int8_t(g.alpha), int8_t(g.beta), NONE, 0, 0, int8_t(count), NO_MOVE, marks};
            }
            opens = false;
        }
    }
    __syncwarp();
}

static_assert(sizeof(Kept) == 64 + FRAMES * (32 + (MOST + 7) / 8 * 8), "as gpu/endgame.py counts");

// ---- Lanes: nodes below a bottom ----

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
            const uint64_t own = lane.own;
            lane.own = lane.opp;
            lane.opp = own;
            const int alpha = lane.alpha;
            lane.alpha = -lane.beta;
            lane.beta = -alpha;
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
        ++counts[BOARDS_MADE];
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
        const uint64_t own = g.own;
        g.own = g.opp;
        g.opp = own;
        const int alpha = g.alpha;
        g.alpha = -g.beta;
        g.beta = -alpha;
        g.passed = 1;
        g.todo = Game::empty(g.own, g.opp);
    }
}

// ---- Launches ----

ON_DEVICE void keep(const Group& g, const Place& at, Kept& kept) {
    if (of_group() == 0) kept.group = g;
    for (int i = of_group(); i <= g.top; i += LANES) kept.frames[i] = at.frames[i];
}

ON_DEVICE Group resumed(const Parameters& p, const Place& at, const Kept& kept) {
    Group g = kept.group;
    if (g.mode == OUT) g.mode = FETCH;
    if (g.mode == FETCH) return g;
    for (int i = of_group(); i <= g.top; i += LANES) at.frames[i] = kept.frames[i];
    const Window window = p.windows[g.job];
    if (window.low >= window.high) {
        g.value = NONE;
        g.move = NO_MOVE;
        answer(p, g, GIVEN_UP);
    }
    if (g.top >= 0 && of_group() == 0) {  // the window may be narrower now
        Line& line = at.frames[0].line;
        const bool passed = line.marks & PASSED;
        line.alpha = int8_t(max(int(line.alpha), passed ? -window.high : window.low));
        line.beta = int8_t(min(int(line.beta), passed ? -window.low : window.high));
    }
    return g;
}

}  // namespace

__device__ constexpr Rays RAYS = othello::all_rays<BOARD_ROWS, BOARD_COLUMNS>();

KERNEL_BOUNDS(endgame, Parameters, THREADS, BLOCKS) {
    SHARED(Rays, rays);
    SHARED_BYTES(memory);
    for (int i = threadIdx.x; i < Game::SQUARES * othello::RAY_STRIDE; i += THREADS) rays[i] = RAYS[i];
    __syncthreads();
    const Place at = place(memory, rays.at);
    Kept& kept = reinterpret_cast<Kept*>(p.kept)[thread_number() / LANES];
    Group g = {};
    g.top = -1;
    g.mode = FETCH;
    if (!p.first) g = resumed(p, at, kept);
    Lane lane = {};
    lane.square = NO_MOVE;
    unsigned counts[COUNTS] = {};
    const uint64_t end = nanoseconds() + p.limit;
    bool stops = false;
    __syncwarp();
    for (unsigned turn = 1;;) {
        const unsigned bottoms = which(g.mode == BOTTOM), out = which(g.mode == OUT);
        const int waiting = 32 - bits_in(bottoms | out);
        if (!bottoms && (stops || !waiting)) break;
        if (stops || waiting * 32 < WAITING * (32 - bits_in(out)) && bottoms) {
            search_bottoms(p, g, lane, at, counts);
            continue;
        }
        while (some(g.mode == RETURN)) fold(p, g, at, counts);
        if (some(g.mode == FETCH)) fetch(p, g);
        make_move(g, at, counts);
        open(p, g, at, counts);
        if (++turn % PATIENCE == 0) stops = __shfl_sync(ALL_LANES, nanoseconds() >= end, 0);
    }
    keep(g, at, kept);
    for (int i = 0; i < COUNTS; ++i) {
        const unsigned sum = __reduce_add_sync(ALL_LANES, counts[i]);
        if (lane_number() == 0) atomicAdd(p.counts + i, (unsigned long long)sum);
    }
}
