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
from ..core.pointers import float32s, float64s, int16s, int64s, number_of, replaced, taken, uint8s, uint64s
from ..core.rng import below, drawn
from ..engines import expectimax
from ..engines.pvs import table
from ..evaluation import ntuple
from ..games import lanes
from ..games.sliding import CELLS, KINDS, SPAWNS

# bound for each game
boards_of = index_of = stage_of = value_of = weight_at = None
expand = free_cells = cell_of = put = code_at = with_due = descend = None
COHERENT = COUNTING = FORWARD = VISITING = PAGED = False

# The control array (int64): addresses first.
RULES, TABLES, TRACES, INDICES, MOVES, CHILDREN, GAINS, STATES, SUMS, VALUES, SEARCH, SHARED, RESULTS = range(13)
SEED = 13
LEARNING = 14  # 0: games are played, and nothing changes
STEPS = 15  # n
PLIES = 16  # of the search for a move: 1 or more
ROOM = 17  # of the path
# what the game at work is at; NUMBER: −1 if there is none
NUMBER, S0, S1, DRAWN, LENGTH, SCORE, PLAYED = range(18, 25)
FIRST_LEARNT = 25  # of the path, forward: what comes before has learnt
MOVED = 26  # moves since the beginning
WRITES, LOST = 27, 28  # counted: weights written, and those that another learner had changed in between
RATE = 29  # the bits of a float64
VISITS = 30  # address: a uint8 for every weight, how often it has changed since the last merge
# of PrivatePages: addresses of how often each page was looked up, and its number among the private ones or -1 (int64),
# and of how often each weight of these was (float32); and how many boards were learnt
TOUCHES, SLOTS, COUNTS, LEARNT = range(31, 35)
CONTROL_SIZE = 35

SAMPLED = 8  # boards of which one is counted, a power of 2
_PAGE_BITS = 10  # of a weight's number: its place in a page

# What learners of a host share (int64).
NEXT, LIMIT = 0, 1  # number of the next game; no game from here on
STOP, FIRST = 2, 3  # 1: stop; number of the game that has the first result
SHARED_SIZE = 8
RESULT_SIZE = 4  # words of a game's result: 1 + score, code of its largest tile, moves, whether there was learning

_SEARCHED = np.int64(64)  # where a search writes its moves, beyond those at the root
_2_62, _2_32 = 2.0**62, 2.0**32


@compiled
def stream_of(seed, number):
    """Return the seed (uint64) of chance's stream in the game of a number."""
    return drawn(drawn(seed, np.int64(0)) ^ np.uint64(number), np.int64(1))


def spawned(s, r, number):
    """Return a state with one more tile, by a drawn number: its upper half says where, the lower which."""
    free = free_cells(s, r)
    for _ in range(below(number, lanes.popcount(free))):
        free &= free - np.uint64(1)
    point, kind = np.float64(number & np.uint64(0xFFFFFFFF)) / _2_32, np.int64(0)
    point -= np.float64(r[SPAWNS + 2]) / _2_62
    while point >= 0 and kind + 1 < np.int64(r[KINDS]):
        kind += 1
        point -= np.float64(r[SPAWNS + 3 * kind + 2]) / _2_62
    return put(s, cell_of(lanes.lowest(free)), r[SPAWNS + 3 * kind])


def gather(s, tables, indices):
    """Write which weights a state looks up, eight boards of a tuple after another; return how many they are."""
    first = stage_of(s, tables)
    boards, n, at = boards_of(s), np.int64(0), np.int64(ntuple.EACH)
    for _ in range(np.int64(tables[ntuple.TUPLES])):
        if tables[ntuple.SYMMETRIC]:
            for i in range(8):
                indices[n + i] = first + index_of(boards[i], tables, at)
            n += 8
        else:
            indices[n] = first + index_of(boards[0], tables, at)
            n += 1
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
    for i in range(np.int64(0), n, np.int64(8)):
        ones += weight_at(weights, indices[i], tables)
        twos += weight_at(weights, indices[i + 1], tables)
        threes += weight_at(weights, indices[i + 2], tables)
        fours += weight_at(weights, indices[i + 3], tables)
        fives += weight_at(weights, indices[i + 4], tables)
        sixes += weight_at(weights, indices[i + 5], tables)
        sevens += weight_at(weights, indices[i + 6], tables)
        eights += weight_at(weights, indices[i + 7], tables)
    return ((ones + twos) + (threes + fours)) + ((fives + sixes) + (sevens + eights))


def change(weights, at, by, control, tables):
    """Add to a weight, without a lock."""
    old = weight_at(weights, at, tables)
    if COUNTING:
        control[WRITES] += 1
        if not replaced(np.int64(tables[ntuple.WEIGHTS]) + np.int64(4) * at, weights[at], np.float32(old + by)):
            control[LOST] += 1
            weights[at] = old + by
    else:
        weights[at] = old + by


def note_touched(control, tables, indices, n):
    """Count which pages, and which weights of private ones, a board looks up; of traces as well."""
    touches, slots, counts = int64s(control[TOUCHES]), int64s(control[SLOTS]), float32s(control[COUNTS])
    weights = (control[TRACES] - np.int64(tables[ntuple.WEIGHTS])) >> 2
    for i in range(n):
        at = indices[i]
        page, place = at >> _PAGE_BITS, at & ((1 << _PAGE_BITS) - 1)
        touches[page] += 1
        if slots[page] >= 0:
            counts[(slots[page] << _PAGE_BITS) + place] += np.float32(1)
        if COHERENT:
            touches[(weights + 2 * at) >> _PAGE_BITS] += 1


def adjust(s, where, target):
    """Bring a state's value nearer to a target; return its new value."""
    control = int64s(where)
    tables, indices = uint64s(control[TABLES]), int64s(control[INDICES])
    weights = float32s(np.int64(tables[ntuple.WEIGHTS]))
    n = gather(s, tables, indices)
    error = np.float32(target - np.float64(added(tables, indices, n)))
    by = np.float32(number_of(control[RATE]) * error / n)
    if COHERENT:
        traces = float32s(control[TRACES])
        for i in range(n):
            at = indices[i]
            size, rate = traces[2 * at + 1], np.float32(1)
            if size > 0:
                rate = abs(traces[2 * at]) / size
            change(weights, at, by * rate, control, tables)
            traces[2 * at] += error
            traces[2 * at + 1] += abs(error)
    else:
        for i in range(n):
            change(weights, indices[i], by, control, tables)
    if VISITING:
        visits = uint8s(control[VISITS])
        for i in range(n):
            if PAGED and int64s(control[SLOTS])[indices[i] >> _PAGE_BITS] >= 0:  # counted when it is merged
                continue
            count = visits[indices[i]]
            visits[indices[i]] = count + (count < 255)
    if PAGED:
        control[LEARNT] += 1
        if control[LEARNT] & (SAMPLED - 1) == 0:
            note_touched(control, tables, indices, n)
    return added(tables, indices, n)


def best_of(s, where):
    """Return (index among the children, or −1 if there is none; the value of that child) of the best move."""
    control = int64s(where)
    r, out, children, gains = (
        uint64s(control[RULES]),
        int16s(control[MOVES]),
        uint64s(control[CHILDREN]),
        int64s(control[GAINS]),
    )
    n = np.int64(expand(s, r, out, children, gains, np.int64(0)))
    best, chosen, worth = -np.inf, np.int64(-1), 0.0
    for i in range(n):
        child = lanes.load(s, children, i * len(s))
        if control[PLIES] == 1:
            value = np.float64(value_of(child, uint64s(control[TABLES])))
        else:
            search = expectimax.control_view(control[SEARCH], 0)
            value = descend(child, search, _SEARCHED, control[PLIES] - 1, expectimax.CERTAIN)
        if value + gains[i] > best:
            best, chosen, worth = value + gains[i], i, value
    return chosen, worth


def learn_at(where, t, last, ended):
    """Have the t-th afterstate of the path learn, whose last one is known; ended: nothing comes after that."""
    control = int64s(where)
    sums, values, states = int64s(control[SUMS]), float64s(control[VALUES]), uint64s(control[STATES])
    until = min(t + control[STEPS], last)
    target = np.float64(sums[until] - sums[t])
    if until == t + control[STEPS] or not ended:
        target += values[until]
    values[t] = adjust((states[2 * t], states[2 * t + 1]), where, target)


def learn_from(where, ended):
    """Have the path learn, from its last move to its first, or what of it has not; keep its last afterstate."""
    control = int64s(where)
    last = control[LENGTH] - 1
    if FORWARD:
        for t in range(control[FIRST_LEARNT], last + 1 if ended else last):
            learn_at(where, t, last, ended)
    else:
        for t in range(last if ended else last - 1, np.int64(-1), np.int64(-1)):
            learn_at(where, t, last, ended)


def begin(s, where):
    """Begin the next game, if there is one; return its first state to move. s: any state."""
    control = int64s(where)
    r, number = uint64s(control[RULES]), control[NUMBER]
    seed = stream_of(np.uint64(control[SEED]), number)
    s = (np.uint64(0), np.uint64(0))
    for i in range(2):
        s = spawned(s, r, drawn(seed, np.int64(i)))
    if control[PLIES] > 1:  # what the search's table holds is of weights before the last game was learnt from
        table.forget_l1(expectimax.control_view(control[SEARCH], 0).table)
    control[DRAWN], control[LENGTH], control[SCORE], control[PLAYED], control[FIRST_LEARNT] = 2, 0, 0, 0, 0
    return s


def note(s, where):
    """Write down what the game at work came to."""
    control = int64s(where)
    results = int64s(control[RESULTS] + np.int64(8 * RESULT_SIZE) * (control[NUMBER] - int64s(control[SHARED])[FIRST]))
    largest = np.int64(0)
    for cell in range(CELLS):
        largest = max(largest, np.int64(code_at(s, np.int64(cell))))
    results[1], results[2], results[3] = largest, control[PLAYED], control[LEARNING]
    results[0] = control[SCORE] + 1  # last: it tells that the game is over
    control[NUMBER] = -1


def remember(child, where, gain, worth):
    """Put an afterstate at the end of the path; when the path is full, have it learn and begin anew with its last."""
    control = int64s(where)
    sums, values, states = int64s(control[SUMS]), float64s(control[VALUES]), uint64s(control[STATES])
    if control[LENGTH] == control[ROOM]:
        learn_from(where, False)
        last = control[ROOM] - 1
        sums[0], values[0] = 0, np.float64(value_of((states[2 * last], states[2 * last + 1]), uint64s(control[TABLES])))
        states[0], states[1] = states[2 * last], states[2 * last + 1]
        control[LENGTH], control[FIRST_LEARNT] = 1, 0
    t = control[LENGTH]
    states[2 * t], states[2 * t + 1] = child[0], child[1]
    sums[t], values[t] = (sums[t - 1] if t > 0 else 0) + gain, worth
    control[LENGTH] = t + 1
    if FORWARD and t - control[FIRST_LEARNT] >= control[STEPS]:
        learn_at(where, control[FIRST_LEARNT], t, False)
        control[FIRST_LEARNT] += 1


def run(s, where, budget):
    """Play games and learn from them for about ``budget`` moves; return whether no game is left. s: any state."""
    control = int64s(where)
    shared, r = int64s(control[SHARED]), uint64s(control[RULES])
    limit = control[MOVED] + budget
    if control[NUMBER] >= 0:
        s = (np.uint64(control[S0]), np.uint64(control[S1]))
    while True:
        if control[NUMBER] < 0:
            if shared[STOP] or shared[NEXT] >= shared[LIMIT]:
                return True
            control[NUMBER] = taken(control[SHARED])
            if control[NUMBER] >= shared[LIMIT]:
                control[NUMBER] = -1
                return True
            s = begin(s, where)
        if control[MOVED] >= limit:
            control[S0], control[S1] = np.int64(s[0]), np.int64(s[1])
            return False
        chosen, worth = best_of(s, where)
        if chosen < 0:
            if control[LEARNING]:
                learn_from(where, True)
            note(s, where)
            continue
        child = lanes.load(s, uint64s(control[CHILDREN]), chosen * len(s))
        gain = int64s(control[GAINS])[chosen]
        control[SCORE] += gain
        control[PLAYED] += 1
        control[MOVED] += 1
        if control[LEARNING]:
            remember(child, where, gain, worth)
        number = drawn(stream_of(np.uint64(control[SEED]), control[NUMBER]), control[DRAWN])
        control[DRAWN] += 1
        s = spawned(with_due(child, np.int64(0)), r, number)


TEMPLATES = (
    spawned,
    gather,
    added,
    change,
    note_touched,
    adjust,
    best_of,
    learn_at,
    learn_from,
    begin,
    note,
    remember,
    run,
)
