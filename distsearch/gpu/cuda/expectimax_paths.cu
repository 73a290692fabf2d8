// Expectimax as naively as a report on 2584 has it: a thread for each path through all moves, cells and kinds of tiles.
//
// A path's number has a digit for each of these; a path with an illegal move or a cell that is not there is dropped, by
// a value that is no number. Reductions then go up the tree, a warp for each node of chance.
#include "evaluations.cuh"
#include "dtypes/expectimax_reference.h"

constexpr int OUTCOMES = 16 * KINDS;  // the n-th empty cell, and the kind

ON_DEVICE Value not_there() { return Value(NAN); }
ON_DEVICE bool is_there(Value value) { return value == value; }

ON_DEVICE Value value_of_path(const Paths& p, State s, uint64_t path) {
    uint64_t place = p.each;  // of the digit before
    int gain = 0;
    for (int layer = 0; layer <= p.layers; ++layer) {
        if (layer > 0) {
            place /= OUTCOMES;
            int outcome = int(path / place % OUTCOMES);
            unsigned empty = G::empty(s);
            if (outcome / KINDS >= bits_in(empty)) return not_there();
            s = G::with(s, bit_number(empty, outcome / KINDS), p.by.codes[outcome % KINDS]);
        } else if (p.by_chance) {
            continue;
        }
        // a game that is over counts for the first of the paths that would go on
        bool first = path % place == 0;
        place /= 4;
        Moved next = moved<G>(s, int(path / place & 3));
        if (!next.legal) return first && is_over<G>(s) ? Value(gain) + worth_of_end(p.by, s) : not_there();
        s = next.state;
        if (POINTS) gain += next.gain;
    }
    return Value(gain) + worth(p.by, s);
}

KERNEL(walk_paths, Paths) {
    for (uint64_t i = thread_number(); i < p.each * p.roots; i += thread_count()) {
        ulonglong2 root = p.states[i / p.each];
        p.values[i] = value_of_path(p, cells_of({root.x, root.y}), i % p.each);
    }
}

// The mean over outcomes of the best move after each.
KERNEL(reduce_paths, Reduction) {
    for (uint64_t node = thread_number() / 32; node < p.count; node += thread_count() / 32) {
        double sum = 0, weight = 0;
        for (int outcome = lane_number(); outcome < OUTCOMES; outcome += 32) {
            const Value* moves = p.from + (node * OUTCOMES + outcome) * 4;
            Value best = not_there();
            for (int move = 0; move < 4; ++move)
                if (is_there(moves[move]) && !(best >= moves[move])) best = moves[move];
            if (!is_there(best)) continue;
            sum += p.by.chances[outcome % KINDS] * double(best);
            weight += p.by.chances[outcome % KINDS];
        }
        for (int by = 16; by; by /= 2) {
            sum += __shfl_xor_sync(ALL_LANES, sum, by);
            weight += __shfl_xor_sync(ALL_LANES, weight, by);
        }
        if (lane_number() == 0) p.to[node] = weight > 0 ? Value(sum / weight) : not_there();
    }
}

// values: of the roots' moves, or of the roots where it is chance's turn.
KERNEL(finish_paths, Paths) {
    for (uint64_t i = thread_number(); i < uint64_t(p.roots); i += thread_count()) {
        State root = cells_of({p.states[i].x, p.states[i].y});
        const Value* own = p.values + (p.by_chance ? i : 4 * i);
        double best = -1e300;
        for (int move = 0; move < 4; ++move) {
            bool legal = !p.by_chance && moved<G>(root, move).legal;
            p.found[5 * i + move] = legal ? double(own[move]) : -1e300;
            if (legal && own[move] > best) best = own[move];
        }
        double first = is_there(own[0]) ? double(own[0]) : 0.0;  // of a game that is over, or of chance
        p.found[5 * i + 4] = best == -1e300 ? first : best;
    }
}
