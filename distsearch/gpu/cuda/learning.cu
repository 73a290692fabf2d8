// Temporal differences on afterstates, on a GPU; see gpu/learning.py, and learning/td.py for what is learnt.
//
// play: games that stay on the GPU, a group of lanes each: AT_ONCE moves are looked at side by side, each by IMAGES
//   lanes; with SEARCHING a block of so many threads searches each move. A launch ends at a deadline, or after so many
//   moves of a game; games go on in the next one.
// make_moves: the same for a move of each game, by what a search of all of them (expectimax.cu) has found. A game that is
//   over learns from LEARNT_AT_ONCE afterstates a launch, so that others do not wait for it.
// replay, learn: games that any GPU has played, of which the moves are known: made into afterstates and learnt from, each
//   from its end to its beginning, by IMAGES lanes, no more of them side by side than groups of lanes were launched.
// values, apply: all steps of all games at once, a thread each; errors are from weights as they were.
#include "found.cuh"
#include "one_layer.cuh"

enum Mode { WATCH, FORWARD, BACKWARD, RECORD };

// --- games on the GPU ---

constexpr int LANES = SEARCHING ? 32 : AT_ONCE * IMAGES;  // of a game; SEARCHING: of the first warp of its block

constexpr int MOST_MOVES = 1 << 17;  // of a game that is recorded
constexpr int LOOK_EVERY = 8;        // moves between two looks at the clock
constexpr int LEAST_REPLAYED = 64;   // moves from the middle of a game to its end, for it to go on from there again
constexpr int LEARNT_AT_ONCE = 64;   // afterstates that a game learns from while the others make a move

ON_DEVICE State spawned(const Play& p, State board, uint64_t number) {
    const unsigned empty = G::empty(board);
    const int nth = int((number >> 32) * bits_in(empty) >> 32), bit = bit_number(in_order(empty), nth);
    double point = double(number & 0xFFFFFFFF) / 4294967296.0 - p.chances[0];
    int kind = 0;
    while (point >= 0 && kind + 1 < p.kinds) point -= p.chances[++kind];
    return G::with(board, WORDS == 1 ? bit : bit / 2 + bit % 2 * 8, p.codes[kind]);
}

struct Choice {
    State child;
    float worth;
    int points, move;  // move: 4 if there is none
};

// What is best of a board's moves, the first of equals, by all lanes of a game.
ON_DEVICE Choice best_of(const Learnt& p, State board, int inner, unsigned mask) {
    const int image = inner % IMAGES, first = inner / IMAGES;
    Choice best = {board, 0, 0, 4};
    double most = -INFINITY;
#pragma unroll
    for (int j = 0; j < 4; j += AT_ONCE) {
        const int move = first + j;
        const bool vertical = move & 2, back = move & 1;
        const Moved moved = slid_rows<G>(turned<G>(board, vertical, back, false));
        // back to how the board stood and on to the lane's image of it, in one
        const bool across = vertical != bool(image & 4);
        const State child =
            turned<G>(moved.state, across, bool(image & 1) != back, bool(image & 2) != (back && across));
        const float worth = added(moved.legal ? part_of_value(p, child, begin_of_stage(p, child)) : 0.0f, mask);
        const double total = double(worth) + moved.gain;
        if (moved.legal && total > most) most = total, best = {child, worth, moved.gain, move};
    }
    double others = most;
    int move = best.move;
#pragma unroll
    for (int by = IMAGES; by < LANES; by *= 2) {
        const double other = __shfl_xor_sync(mask, others, by);
        const int its = __shfl_xor_sync(mask, move, by);
        if (other > others || (other == others && its < move)) others = other, move = its;
    }
    const int from = int(lane_number()) - inner + (move & 3) % AT_ONCE * IMAGES;  // the first image is the child itself
    best.child.a = __shfl_sync(mask, best.child.a, from);
    if (WORDS > 1) best.child.b = __shfl_sync(mask, best.child.b, from);
    best.worth = __shfl_sync(mask, best.worth, from);
    best.points = __shfl_sync(mask, best.points, from);
    best.move = move;
    return best;
}

// As `best_of`, by a search of one layer; the block's other warps run `help`.
ON_DEVICE Choice best_of_one_layer(const Play& p, OneLayer& shared, State board, int inner) {
    const int own = inner % 4;
    const Moved child = moved<G>(board, own);
    const double worth = expectation_by_all(p, shared, board, child, inner);
    double most = worth + child.gain;
    const bool known = child.legal && most > ILLEGAL;  // weights that have diverged are worth nothing
    int move = known ? own : 4;
    if (!known) most = ILLEGAL;
#pragma unroll
    for (int by = 1; by < 4; by *= 2) {
        const double other = __shfl_xor_sync(ALL_LANES, most, by);
        const int its = __shfl_xor_sync(ALL_LANES, move, by);
        if (other > most || (other == most && its < move)) most = other, move = its;
    }
    Choice best = {board, 0, 0, move};
    best.child.a = __shfl_sync(ALL_LANES, child.state.a, move & 3);
    if (WORDS > 1) best.child.b = __shfl_sync(ALL_LANES, child.state.b, move & 3);
    best.worth = __shfl_sync(ALL_LANES, float(worth), move & 3);
    best.points = __shfl_sync(ALL_LANES, child.gain, move & 3);
    return best;
}

// A game's next number, or −1; the game's first board.
ON_DEVICE int64_t begun(const Play& p, Slot& s, State& board, int inner, unsigned mask) {
    long long number = -1;
    if (inner == 0) {
        number = (long long)atomicAdd(&p.counters->next, 1ull);
        if (number >= p.limit) number = -1;
    }
    s.number = __shfl_sync(mask, number, int(lane_number()) - inner);
    s.stream = stream_of(p.seed, uint64_t(s.number));
    board = State{};
    for (int i = 0; i < 2; ++i) board = spawned(p, board, drawn(s.stream, i));
    s.drawn = 2;
    s.length = s.score = s.played = s.again = s.back.left = 0;
    return s.number;
}

// Has a game that is over go on from the middle of its path; false if it is too near the end, or not asked for.
ON_DEVICE bool restarted(const Play& p, Slot& s, const Path& path, State& board) {
    const int middle = s.length / 2;
    if (!p.restart || s.length - middle < LEAST_REPLAYED) return false;
    board = spawned(p, path_board(path, middle), drawn(s.stream, s.drawn++));
    s.length = 0;
    s.again = 1;
    return true;
}

// Writes down what a game came to; false if there is no room left in this launch.
ON_DEVICE bool noted(const Play& p, const Slot& s, State board, uint64_t slot, int inner, unsigned mask) {
    const int words = p.mode == RECORD ? (s.played + 15) / 16 : 0;
    unsigned at = 0;
    long long begin = 0;
    bool room = true;
    if (inner == 0) {
        begin = (long long)atomicAdd(&p.counters->words, (unsigned long long)words);
        room = begin + words <= p.record_room;
        if (room) {
            at = atomicAdd(&p.counters->finished, 1u);
            room = at < unsigned(p.finished_room);
        }
        if (room) p.finished[at] = {int(s.number - p.first), s.score, int(largest_code<G>(board)), s.played, begin};
    }
    room = __shfl_sync(mask, int(room), int(lane_number()) - inner);
    begin = __shfl_sync(mask, begin, int(lane_number()) - inner);
    __syncwarp(mask);
    if (room)
        for (int i = inner; i < words; i += LANES) p.records[begin + i] = p.moves[slot * (MOST_MOVES / 16) + i];
    return room;
}

// Has a game at work learn from its last move, if it learns at once, and remembers that move.
ON_DEVICE void remember(const Play& p, Slot& s, const Path& path, const Choice& choice, uint64_t slot, int inner,
                        unsigned mask) {
    if (p.mode == FORWARD) {
        if (s.length) adjust(p.learnt, board_of(s.before), choice.points + double(choice.worth), inner, mask);
        s.length = 1;
    } else if (p.mode == BACKWARD) {
        if (inner == 0) keep(path, s.length, choice.child, choice.points);
        ++s.length;
    } else if (p.mode == RECORD && inner == 0) {
        unsigned& word = p.moves[slot * (MOST_MOVES / 16) + s.played / 16];
        word = (s.played % 16 ? word : 0) | unsigned(choice.move) << 2 * (s.played % 16);
    }
    s.worth = choice.worth;
    for (int i = 0; i < WORDS; ++i) s.before[i] = G::word(choice.child, i);
}

// Notes the end of a game, and begins its backward learning; false if there is no room for the note in this launch.
ON_DEVICE bool has_ended(const Play& p, Slot& s, const Path& path, State board, uint64_t slot, int inner,
                         unsigned mask) {
    if (!s.again && !noted(p, s, board, slot, inner, mask)) return false;
    if (p.mode == FORWARD && s.length) adjust(p.learnt, board_of(s.before), 0, inner, mask);
    s.ended = 1;
    if (p.mode == BACKWARD && s.length) s.back = backward_from(path, s.length, true, 0, inner);
    else s.number = -1;
    return true;
}

// Has a game learn from up to `most` afterstates of its path. After the last it goes on, from its middle if it was over.
ON_DEVICE void learn_on(const Play& p, Slot& s, const Path& path, State& board, int most, int inner, unsigned mask) {
    learn_back(p.learnt, path, s.back, most, inner, mask);
    if (s.back.left) return;
    if (s.ended) {
        if (!restarted(p, s, path, board)) s.number = -1;
        return;
    }
    if (inner == 0) keep(path, 0, board_of(s.before), 0);  // a full path begins anew with its last afterstate
    s.length = 1;
}

ON_DEVICE Path path_of(const Play& p, uint64_t slot) {
    const uint64_t first = slot * p.room;
    return {p.states + first * WORDS, p.gains + first, p.values + first};
}

enum Done { MADE, LEARNS, WAITS };  // WAITS: there is no room to note the end of a game in this launch

// Makes a game's move if it is not over. A full path learns first; if from more than `most` afterstates, the move waits.
ON_DEVICE Done advance(const Play& p, Slot& s, const Path& path, State& board, const Choice& choice, int most,
                       uint64_t slot, int inner, unsigned mask) {
    if (choice.move > 3 || (p.mode == RECORD && s.played == MOST_MOVES))
        return has_ended(p, s, path, board, slot, inner, mask) ? LEARNS : WAITS;
    if (p.mode == BACKWARD && s.length == p.room) {
        __syncwarp(mask);
        s.ended = 0;
        s.back = backward_from(path, s.length, false, s.worth, inner);
        learn_on(p, s, path, board, most, inner, mask);
        if (s.back.left) return LEARNS;
    }
    remember(p, s, path, choice, slot, inner, mask);
    s.score += choice.points;
    ++s.played;
    board = spawned(p, choice.child, drawn(s.stream, s.drawn++));
    return MADE;
}

ON_DEVICE void put_down(const Play& p, Slot& s, State board, uint64_t slot) {
    for (int i = 0; i < WORDS; ++i) s.board[i] = G::word(board, i);
    p.slots[slot] = s;
}

ON_DEVICE unsigned lanes_of_game(int inner) {
    return LANES == 32 ? ALL_LANES : ((1u << LANES % 32) - 1) << (lane_number() - inner);
}

#if SEARCHING
KERNEL_BOUNDS(play, Play, SEARCHING, BLOCKS) {
#else
KERNEL(play, Play) {
#endif
    SHARED(OneLayer, shared);
    const int inner = int(threadIdx.x) % LANES;
    const uint64_t slot = SEARCHING ? blockIdx.x : thread_number() / LANES;
    if (slot >= uint64_t(p.games)) return;
    if (SEARCHING && threadIdx.x >= LANES) {
        help(p, shared);
        return;
    }
    const unsigned mask = lanes_of_game(inner);
    const Path path = path_of(p, slot);
    Slot s = p.slots[slot];
    State board = board_of(s.board);
    const uint64_t until = nanoseconds() + p.slice;
    int moved = 0;
    while (true) {
        if (s.number < 0 && begun(p, s, board, inner, mask) < 0) break;
        if (s.back.left) {
            learn_on(p, s, path, board, p.room, inner, mask);
            continue;
        }
        if (moved == p.budget) break;
        if (moved % LOOK_EVERY == 0 && __shfl_sync(mask, int(nanoseconds() >= until), int(lane_number()) - inner)) break;
        const Choice choice =
            SEARCHING ? best_of_one_layer(p, shared, board, inner) : best_of(p.learnt, board, inner, mask);
        const Done done = advance(p, s, path, board, choice, p.room, slot, inner, mask);
        if (done == WAITS) break;
        moved += done == MADE;
    }
    if (SEARCHING) dismiss(shared, inner);
    __syncwarp(mask);
    if (inner == 0) {
        put_down(p, s, board, slot);
        if (s.number >= 0) atomicAdd(&p.counters->at_work, 1u);
        if (moved) atomicAdd(&p.counters->moves, (unsigned long long)moved);
    }
}

// What is best of a board's moves by what a search has found of them, the first of equals.
ON_DEVICE Choice best_found(State board, const double* found) {
    Choice best = {board, 0, 0, 4};
    double most = ILLEGAL;
    for (int move = 0; move < 4; ++move)
        if (found[move] > most) most = found[move], best.move = move;
    if (best.move > 3) return best;
    const Moved next = moved<G>(board, best.move);
    return {next.state, float(most - next.gain), next.gain, best.move};
}

// A search that has found no room tells nothing: its games wait for the next one.
KERNEL(make_moves, Moves) {
    const int inner = int(threadIdx.x) % LANES;
    const uint64_t i = thread_number() / LANES, slot = uint64_t(p.first) + i;
    const auto counted = reinterpret_cast<const unsigned long long*>(p.found + FOUND * uint64_t(p.count));
    const bool full = p.searched && counted[FULL];
    if (p.searched && thread_number() == 0) {
        for (int level = 0; level < MOST_LEVELS; ++level) atomicMax(p.play.counters->boards + level, counted[level]);
        if (full) atomicAdd(&p.play.counters->full, 1u);
    }
    if (i >= uint64_t(p.count)) return;
    const unsigned mask = lanes_of_game(inner);
    const Path path = path_of(p.play, slot);
    Slot s = p.play.slots[slot];
    State board = board_of(s.board);
    bool made = false;
    if (s.number >= 0 && s.back.left) {
        learn_on(p.play, s, path, board, LEARNT_AT_ONCE, inner, mask);
    } else if (s.number >= 0 && p.searched && !full) {
        const Choice choice = best_found(board, p.found + FOUND * i);
        made = advance(p.play, s, path, board, choice, LEARNT_AT_ONCE, slot, inner, mask) == MADE;
    }
    if (s.number < 0) begun(p.play, s, board, inner, mask);
    __syncwarp(mask);
    if (inner > 0) return;
    put_down(p.play, s, board, slot);
    const bool at_work = s.number >= 0, to_move = at_work && !s.back.left;
    p.roots[2 * slot] = to_move ? board.a : 0;
    p.roots[2 * slot + 1] = to_move ? board.b : 0;
    if (made) atomicAdd(&p.play.counters->moves, 1ull);
    if (p.last && at_work) atomicAdd(&p.play.counters->at_work, 1u);
}

// --- games that were played elsewhere ---

KERNEL(replay, Replay) {
    const uint64_t i = thread_number();
    if (i >= uint64_t(p.count)) return;
    const Finished found = p.games[i];
    const uint64_t stream = stream_of(p.rules.seed, uint64_t(p.rules.first + found.number));
    const Path path = {p.states + p.places[i] * WORDS, p.gains + p.places[i], nullptr};
    State board = State{};
    for (int n = 0; n < 2; ++n) board = spawned(p.rules, board, drawn(stream, n));
    unsigned moves = 0;
    for (int t = 0; t < found.moves; ++t) {
        if (t % 16 == 0) moves = p.records[found.words + t / 16];
        const bool vertical = moves & 2, back = moves & 1;
        const Moved moved = slid_rows<G>(turned<G>(board, vertical, back, false));
        board = turned<G>(turned<G>(moved.state, false, back, false), vertical, false, false);
        keep(path, t, board, t ? moved.gain : -1);
        board = spawned(p.rules, board, drawn(stream, t + 2));
        moves >>= 2;
    }
}

KERNEL(learn, Learn) {
    const int inner = int(threadIdx.x) % IMAGES;
    const unsigned mask = ((1u << IMAGES) - 1) << (lane_number() - inner);
    for (uint64_t i = thread_number() / IMAGES; i < uint64_t(p.count); i += thread_count() / IMAGES) {
        const int64_t begin = p.places[i];
        const Path path = {p.states + begin * WORDS, p.gains + begin, p.values + begin};
        Backward from = backward_from(path, int(p.places[i + 1] - begin), true, 0, inner);
        learn_back(p.learnt, path, from, from.left, inner, mask);
    }
}

KERNEL(values, Learn) {
    const uint64_t t = thread_number();
    if (t >= uint64_t(p.count)) return;
    p.values[t] = value_by_one(p.learnt, path_board({p.states, p.gains, nullptr}, int(t)));
}

// Games stand one behind another: a gain of −1 is that of a game's first afterstate, and stands behind the last game.
KERNEL(apply, Learn) {
    const uint64_t t = thread_number();
    const bool live = t < uint64_t(p.count);  // the others come along, for threads of a warp may add together
    State board = {};
    float error = 0;
    if (live) {
        const int gain = p.gains[t + 1];
        const double target = gain < 0 ? 0.0 : gain + double(p.values[t + 1]);
        error = float(target - double(p.values[t]));
        board = path_board({p.states, p.gains, nullptr}, int(t));
    }
#pragma unroll 1
    for (int i = 0; i < IMAGES; ++i) {
        const State image = image_of(board, i);
        if (p.combined) change_together(p.learnt, image, error, live);
        else if (live) change(p.learnt, image, error, traces_of(p.learnt, image), 0);
    }
}
