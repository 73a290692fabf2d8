"""Temporal differences on boards after the player's move, in games against chance that the learner plays itself.

An afterstate's value is what points the moves after it still bring. Backward, a game is played to its end and then gone
through from its last move to its first; forward, an afterstate learns as soon as the moves it learns from are made.
With n steps its target is what the next n moves bring, and the value of the afterstate then; beyond the end of a game
there is nothing more. A weight changes by rate · error / number of weights looked up. With coherence the rate of a
weight is |sum of its errors| / sum of their sizes instead, times ``rate``. Sources: Szubert and Jaśkowski 2014
(afterstates), Jaśkowski 2018 (coherence for 2048), Beal and Smith 1999 (temporal coherence).

Games have numbers, which are taken from a counter that all learners of a host share, and chance's stream of a game is
a function of seed and number. So a single learner's weights are a function of what they began with, to the last bit.
Several learners share weights without locks; what two write at the same moment to the same weight may be lost.
"""

import numpy as np

from ..core.jit import compiled
from ..core.pointers import (
    float32s,
    float64s,
    int16s,
    int64_struct,
    int64s,
    prefetch,
    record_view,
    replaced,
    struct,
    taken,
    uint8s,
    uint64s,
)
from ..core.rng import below, drawn
from ..engines import expectimax
from ..engines.pvs import table
from ..evaluation import ntuple
from ..games import lanes
from ..games.bits import pdep
from ..games.sliding import CELLS, KINDS, SPAWNS

# bound for each game
boards_of = index_of = stage_of = value_of = weight_at = None
expand = free_cells = cell_of = put = code_at = with_due = descend = None
COHERENT = COUNTING = FORWARD = VISITING = PAGED = False

CONTROL = struct(
    # addresses of arrays
    ("rules", np.int64),
    ("tables", np.int64),
    ("traces", np.int64),
    ("indices", np.int64),
    ("moves", np.int64),
    ("children", np.int64),
    ("gains", np.int64),
    ("states", np.int64),  # of the path, and its sums and values
    ("sums", np.int64),
    ("values", np.int64),
    ("search", np.int64),  # the control block of the search for a move
    ("shared", np.int64),  # a SHARED
    ("results", np.int64),
    ("seed", np.uint64),
    ("learning", np.int64),  # 0: games are played, and nothing changes
    ("steps", np.int64),  # n
    ("plies", np.int64),  # of the search for a move: 1 or more
    ("capacity", np.int64),  # of the path
    ("restart", np.int64),  # 1: a game that is over goes on from the middle of its path
    # the game at work
    ("number", np.int64),  # -1 if there is none
    ("again", np.int64),  # 1: it was over once
    ("state", np.uint64, 2),
    ("chance_steps", np.int64),
    ("length", np.int64),  # of the path
    ("score", np.int64),
    ("played", np.int64),  # moves
    ("first_learnt", np.int64),  # of the path, forward: what comes before has learnt
    ("moved", np.int64),  # moves since the beginning
    ("writes", np.int64),  # weights written, if they are counted
    ("lost", np.int64),  # of these, those that another learner had changed in between
    ("rate", np.float64),
    ("visits", np.int64),  # address: a uint8 for every weight, how often it has changed since the last merge
    # of PrivatePages, addresses
    ("touches", np.int64),  # int64, how often each page was looked up
    ("slots", np.int64),  # int64, each page's number among the private ones, or -1
    ("counts", np.int64),  # float32, how often each weight of these was looked up
    ("learnt", np.int64),  # boards
)

# What learners of a host share.
SHARED = int64_struct(
    "next",  # number of the next game; games take theirs from here
    "limit",  # no game from here on
    "stop",  # 1: stop
    "first",  # number of the game that has the first result
)
SHARED_SIZE = 8  # words, for a cache line of its own
_control_at, _shared_at = record_view(CONTROL), record_view(SHARED)

LEAST_REPLAYED = 64  # moves from the middle of a game to its end, for it to go on from there again
SAMPLED = 8  # boards of which one is counted, a power of 2
_PAGE_BITS = 10  # of a weight's number: its place in a page

RESULT_SIZE = 4  # words of a game's result: 1 + score, code of its largest tile, moves, whether there was learning

_SEARCHED = np.int64(64)  # where a search writes its moves, beyond those at the root
_2_62, _2_32 = 2.0**62, 2.0**32
_ONE, _TWO, _FOUR = map(np.uint64, (1, 2, 4))


@compiled
def stream_of(seed, number):
    """Return the seed (uint64) of chance's stream in the game of a number."""
    return drawn(drawn(seed, np.int64(0)) ^ np.uint64(number), np.int64(1))


def spawned(s, r, number):
    """Return a state with one more tile, by a drawn number: its upper half says c, the lower which."""
    free = free_cells(s, r)
    chosen = pdep(np.uint64(1) << np.uint64(below(number, lanes.popcount(free))), free)
    point, kind = np.float64(number & np.uint64(0xFFFFFFFF)) / _2_32, np.int64(0)
    point -= np.float64(r[SPAWNS + 2]) / _2_62
    while point >= 0 and kind + 1 < np.int64(r[KINDS]):
        kind += 1
        point -= np.float64(r[SPAWNS + 3 * kind + 2]) / _2_62
    return put(s, cell_of(lanes.lowest(chosen)), r[SPAWNS + 3 * kind])


def note_index(weights, traces, indices, n, index):
    """Write which weight is looked up as the n-th, and begin to fetch it.

    weights, traces: where (uint64) they begin.
    """
    indices[n] = index
    prefetch(np.int64(weights + _FOUR * index))
    if COHERENT:
        prefetch(np.int64(traces + _FOUR * _TWO * index))
    return n + _ONE


def gather(s, c, tables, indices):
    """Write which weights a state looks up, eight boards of a tuple after another; return how many they are.

    Those of several states are so on their way together.
    """
    of_stage, n, at = stage_of(s, tables), np.uint64(0), ntuple.EACH
    boards, weights, traces, symmetric = (
        boards_of(s),
        tables[ntuple.WEIGHTS],
        np.uint64(c.traces),
        tables[ntuple.SYMMETRIC],
    )
    for _ in range(np.int64(tables[ntuple.TUPLES])):
        first = of_stage + tables[at + 3]
        n = note_index(weights, traces, indices, n, first + index_of(boards[0], tables, at))
        if symmetric:
            n = note_index(weights, traces, indices, n, first + index_of(boards[1], tables, at))
            n = note_index(weights, traces, indices, n, first + index_of(boards[2], tables, at))
            n = note_index(weights, traces, indices, n, first + index_of(boards[3], tables, at))
            n = note_index(weights, traces, indices, n, first + index_of(boards[4], tables, at))
            n = note_index(weights, traces, indices, n, first + index_of(boards[5], tables, at))
            n = note_index(weights, traces, indices, n, first + index_of(boards[6], tables, at))
            n = note_index(weights, traces, indices, n, first + index_of(boards[7], tables, at))
        at += ntuple.EACH_SIZE
    return n


def added(tables, indices, n):
    """Return the sum of weights that ``gather`` wrote, as ``value_of`` adds them."""
    weights = float32s(np.int64(tables[ntuple.WEIGHTS]))
    total = np.float32(0)
    if not tables[ntuple.SYMMETRIC]:
        for i in range(n):
            total += weight_at(weights, indices[i], tables)
        return total
    ones = twos = threes = fours = fives = sixes = sevens = eights = np.float32(0)
    i = np.uint64(0)
    while i < n:
        ones += weight_at(weights, indices[i], tables)
        twos += weight_at(weights, indices[i + np.uint64(1)], tables)
        threes += weight_at(weights, indices[i + np.uint64(2)], tables)
        fours += weight_at(weights, indices[i + np.uint64(3)], tables)
        fives += weight_at(weights, indices[i + np.uint64(4)], tables)
        sixes += weight_at(weights, indices[i + np.uint64(5)], tables)
        sevens += weight_at(weights, indices[i + np.uint64(6)], tables)
        eights += weight_at(weights, indices[i + np.uint64(7)], tables)
        i += np.uint64(8)
    return ((ones + twos) + (threes + fours)) + ((fives + sixes) + (sevens + eights))


def change(weights, at, by, c, tables):
    """Add to a weight, without a lock."""
    old = weight_at(weights, at, tables)
    if COUNTING:
        c.writes += 1
        if not replaced(np.int64(tables[ntuple.WEIGHTS] + _FOUR * at), weights[at], np.float32(old + by)):
            c.lost += 1
            weights[at] = old + by
    else:
        weights[at] = old + by


def note_touched(c, tables, indices, n):
    """Count which pages, and which weights of private ones, a board looks up; of traces as well."""
    touches, slots, counts = int64s(c.touches), int64s(c.slots), float32s(c.counts)
    weights = (c.traces - np.int64(tables[ntuple.WEIGHTS])) >> 2
    for i in range(n):
        at = np.int64(indices[i])
        page, place = at >> _PAGE_BITS, at & ((1 << _PAGE_BITS) - 1)
        touches[page] += 1
        if slots[page] >= 0:
            counts[(slots[page] << _PAGE_BITS) + place] += np.float32(1)
        if COHERENT:
            touches[(weights + 2 * at) >> _PAGE_BITS] += 1


def adjust(c, indices, n, target):
    """Bring the value of a state that looks up these n weights nearer to a target; return its new value."""
    tables = uint64s(c.tables)
    weights = float32s(np.int64(tables[ntuple.WEIGHTS]))
    error = np.float32(target - np.float64(added(tables, indices, n)))
    by = np.float32(c.rate * error / np.float64(n))
    if COHERENT:
        traces = float32s(c.traces)
        for i in range(n):
            at = indices[i]
            size, rate = traces[_TWO * at + _ONE], np.float32(1)
            if size > 0:
                rate = abs(traces[_TWO * at]) / size
            change(weights, at, by * rate, c, tables)
            traces[_TWO * at] += error
            traces[_TWO * at + _ONE] += abs(error)
    else:
        for i in range(n):
            change(weights, indices[i], by, c, tables)
    if VISITING:
        visits = uint8s(c.visits)
        for i in range(n):
            if PAGED and int64s(c.slots)[np.int64(indices[i]) >> _PAGE_BITS] >= 0:  # counted when it is merged
                continue
            count = visits[indices[i]]
            visits[indices[i]] = count + (count < 255)
    if PAGED:
        c.learnt += 1
        if c.learnt & (SAMPLED - 1) == 0:
            note_touched(c, tables, indices, n)
    return added(tables, indices, n)


def best_of(s, c):
    """Return (index among the children, or −1 if there is none; the value of that child) of the best move."""
    r, out = uint64s(c.rules), int16s(c.moves)
    children, gains = uint64s(c.children), int64s(c.gains)
    n = np.int64(expand(s, r, out, children, gains, np.int64(0)))
    best, chosen, worth = -np.inf, np.int64(-1), 0.0
    tables, m = uint64s(c.tables), np.uint64(0)
    size = np.int64(64) * np.int64(tables[ntuple.TUPLES])
    if c.plies == 1:
        for i in range(n):
            indices = uint64s(c.indices + i * size)
            m = gather(lanes.load(s, children, i * len(s)), c, tables, indices)
    for i in range(n):
        child = lanes.load(s, children, i * len(s))
        if c.plies == 1:
            value = np.float64(added(tables, uint64s(c.indices + i * size), m))
        else:
            search = expectimax.control_view(c.search, 0)
            value = descend(child, search, _SEARCHED, c.plies - 1, expectimax.CERTAIN)
        better = value + gains[i] > best  # chosen without a branch, which would be as good as never foreseen
        best = value + gains[i] if better else best
        chosen, worth = i if better else chosen, value if better else worth
    return chosen, worth


def looked_up(c, t):
    """Write which weights the t-th afterstate of the path looks up; return (the array of them, how many they are).

    Two afterstates that come one after another have arrays of their own.
    """
    states, tables = uint64s(c.states), uint64s(c.tables)
    indices = uint64s(c.indices + (t & 1) * np.int64(64) * np.int64(tables[ntuple.TUPLES]))
    return indices, gather((states[2 * t], states[2 * t + 1]), c, tables, indices)


def learn_at(c, t, last, ended, indices, n):
    """Have the t-th afterstate of the path learn, whose last one is known, by the n weights that it looks up.

    ended: nothing comes after the last one.
    """
    sums, values = int64s(c.sums), float64s(c.values)
    until = min(t + c.steps, last)
    target = np.float64(sums[until] - sums[t])
    if until == t + c.steps or not ended:
        target += values[until]
    values[t] = adjust(c, indices, n, target)


def learn_from(c, ended):
    """Have the path learn, from its last move to its first, or what of it has not; keep its last afterstate."""
    last = c.length - 1
    if FORWARD:
        for t in range(c.first_learnt, last + 1 if ended else last):
            indices, n = looked_up(c, t)
            learn_at(c, t, last, ended, indices, n)
        return
    t = last if ended else last - 1
    if t < 0:
        return
    indices, n = looked_up(c, t)
    while t > 0:
        ahead, _ = looked_up(c, t - 1)
        learn_at(c, t, last, ended, indices, n)
        indices, t = ahead, t - 1
    learn_at(c, t, last, ended, indices, n)


def begin(s, c):
    """Begin the next game, if there is one; return its first state to move. s: any state."""
    r, number = uint64s(c.rules), c.number
    seed = stream_of(c.seed, number)
    s = (np.uint64(0), np.uint64(0))
    for i in range(2):
        s = spawned(s, r, drawn(seed, np.int64(i)))
    forget(c)
    c.chance_steps, c.length, c.score, c.played, c.first_learnt, c.again = 2, 0, 0, 0, 0, 0
    return s


def forget(c):
    """Empty the search's table, if there is one: what it holds is of weights before the last game was learnt from."""
    if c.plies > 1:
        table.forget_l1(expectimax.control_view(c.search, 0).table)


def spawned_next(child, c):
    """Return an afterstate with the next tile that chance draws in the game at work."""
    number = drawn(stream_of(c.seed, c.number), c.chance_steps)
    c.chance_steps += 1
    return spawned(with_due(child, np.int64(0)), uint64s(c.rules), number)


def restarted(s, c):
    """Return (whether a game that is over goes on, its state): from the middle of its path. s: any state."""
    middle = c.length // 2
    if not c.restart or not c.learning or c.length - middle < LEAST_REPLAYED:
        return False, s
    states = uint64s(c.states)
    forget(c)
    s = spawned_next((states[2 * middle], states[2 * middle + 1]), c)
    c.length, c.first_learnt, c.again = 0, 0, 1
    return True, s


def note(s, c):
    """Write down what the game at work came to."""
    results = int64s(c.results + np.int64(8 * RESULT_SIZE) * (c.number - _shared_at(c.shared, 0).first))
    largest = np.int64(0)
    for cell in range(CELLS):
        largest = max(largest, np.int64(code_at(s, np.int64(cell))))
    results[1], results[2], results[3] = largest, c.played, c.learning
    results[0] = c.score + 1  # last: it tells that the game is over


def remember(child, c, gain, worth):
    """Put an afterstate at the end of the path; when the path is full, have it learn and begin anew with its last."""
    sums, values, states = int64s(c.sums), float64s(c.values), uint64s(c.states)
    if c.length == c.capacity:
        learn_from(c, False)
        last = c.capacity - 1
        sums[0], values[0] = 0, np.float64(value_of((states[2 * last], states[2 * last + 1]), uint64s(c.tables)))
        states[0], states[1] = states[2 * last], states[2 * last + 1]
        c.length, c.first_learnt = 1, 0
    t = c.length
    states[2 * t], states[2 * t + 1] = child[0], child[1]
    sums[t], values[t] = (sums[t - 1] if t > 0 else 0) + gain, worth
    c.length = t + 1
    if FORWARD and t - c.first_learnt >= c.steps:
        indices, n = looked_up(c, c.first_learnt)
        learn_at(c, c.first_learnt, t, False, indices, n)
        c.first_learnt += 1


def run(s, where, budget):
    """Play games and learn from them for about ``budget`` moves; return whether no game is left. s: any state."""
    c = _control_at(where, 0)
    shared = _shared_at(c.shared, 0)
    limit = c.moved + budget
    if c.number >= 0:
        s = (c.state[0], c.state[1])
    while True:
        if c.number < 0:
            if shared.stop or shared.next >= shared.limit:
                return True
            c.number = taken(c.shared)
            if c.number >= shared.limit:
                c.number = -1
                return True
            s = begin(s, c)
        if c.moved >= limit:
            c.state[0], c.state[1] = s[0], s[1]
            return False
        chosen, worth = best_of(s, c)
        if chosen < 0:
            if c.learning:
                learn_from(c, True)
            if not c.again:
                note(s, c)
            on, s = restarted(s, c)
            if not on:
                c.number = -1
            continue
        child = lanes.load(s, uint64s(c.children), chosen * len(s))
        gain = int64s(c.gains)[chosen]
        c.score += gain
        c.played += 1
        c.moved += 1
        if c.learning:
            remember(child, c, gain, worth)
        s = spawned_next(child, c)


TEMPLATES = (
    spawned,
    note_index,
    gather,
    added,
    change,
    note_touched,
    adjust,
    best_of,
    looked_up,
    learn_at,
    learn_from,
    forget,
    begin,
    spawned_next,
    restarted,
    note,
    remember,
    run,
)
