"""Exact solving: null-window alpha-beta with a transposition table, over any game of two players with zero sum.

Each search asks one question, whether the score reaches ``beta``, and answers with a bound (fail-soft); ``solve`` asks
until lower and upper bound meet, and the table makes the next answer cheaper than the last (MTD: Plaat et al. 1996).
Everything a game knows beyond its rules comes in by hooks, see ``games.interface``.

Like ``alphabeta``, it can be paused: an explicit stack of frames in numpy arrays above, and plain recursion where at
most ``BOTTOM`` moves are left. All arrays are reached through the control array, see ``memory``: templates take it, or
its address ``where``. Scores, bounds and moves left are int64 and the side to move's, hashes and table data uint64.
"""

import numpy as np

from ..games import lanes
from ..games.interface import END, PASS
from ..jit import compiled, inlined
from . import table as tt
from .memory import int16s, int64s, uint64s

# bound for each game
bounds = candidates = canonical = final = key = kind = moves = moves_left = next_beta = play = small = None
SMALL = -1  # moves left from which on ``small`` knows the score; bound for each game

INFINITY = np.int64(30_000)
SETTLED = np.int64(-1)  # instead of a number of moves: the score is known well enough
NO_MOVE = tt.NO_MOVE

# The control array (int64), after the table's own entries.
BOTTOM, BUDGET, BOARDS, TOP, HITS, STORES, SALT = range(tt.CONTROL_SIZE, tt.CONTROL_SIZE + 7)
TABLE_LEFT, CUT_LEFT = range(SALT + 1, SALT + 3)  # moves left from which on: table, enhanced transposition cut-offs
LOW, HIGH = range(CUT_LEFT + 1, CUT_LEFT + 3)  # the score lies between them
WINDOW_LOW, WINDOW_HIGH = range(HIGH + 1, HIGH + 3)  # it matters no further than this
LATEST, BEST_ROOT_MOVE, LEFT_AT_ROOT = range(WINDOW_HIGH + 1, WINDOW_HIGH + 4)  # value of the latest search; its move
RULES, MOVES, SCORES, STATES, FRAMES = range(LEFT_AT_ROOT + 1, LEFT_AT_ROOT + 6)  # addresses
CONTROL_SIZE = FRAMES + 1

# A frame (int64): a node on the way from the root to where the search is.
NEXT, COUNT, FIRST, BETA, BEST, FLOOR, CEILING, LEFT, BEST_MOVE, HASH = range(10)
FRAME_SIZE = 10


def hashed(s, r, control):
    """Hash of a state, the same for symmetric ones, another for another game, board or option."""
    return key(canonical(s, r), r) ^ np.uint64(control[SALT])


def known_cut(s, r, control, out, at, n, left, beta):
    """Return the value of a move to a position that the table knows to be bad enough, or −INFINITY."""
    for i in range(at, at + n):
        m = np.int64(out[i])
        child, _ = play(s, r, m)
        data = tt.look_near(control, hashed(child, r, control))
        if data != 0 and -tt.high_of(data) >= beta:
            return -tt.high_of(data)
    return -INFINITY


@compiled
def narrowed(control, data, low, high):
    """Return (low, high, move): the bounds low..high as far as an entry found narrows them, and its best move."""
    control[HITS] += 1
    return max(low, tt.low_of(data)), min(high, tt.high_of(data)), tt.move_of(data)


@inlined  # 1.15 times the boards a second
def examine(s, control, at, left, beta):
    """Return (n, best, ceiling, hash) of a node: n moves, written at ``at``, and bounds; SETTLED if best is enough.

    ``best`` is a lower bound of the score, ``ceiling`` an upper one, SETTLED means best >= beta or best is an upper
    bound below it.
    """
    r, nothing = uint64s(control[RULES]), np.uint64(0)
    if left <= SMALL:
        known, best, boards = small(s, r, left, beta)
        control[BOARDS] += boards
        if known:
            return SETTLED, best, INFINITY, nothing
    low, high, note = bounds(s, r, left, beta)
    if low >= beta or high < beta:
        return SETTLED, low if low >= beta else high, high, nothing
    h, data, move, far = nothing, nothing, NO_MOVE, False
    if left >= control[TABLE_LEFT]:
        h = hashed(s, r, control)
        data = tt.look_near(control, h)
        far = data == 0 and left >= control[tt.FAR_LEFT]
        if far:
            tt.expect_far(control, h)
        if data != 0:
            low, high, move = narrowed(control, data, low, high)
            if low >= beta or high < beta:
                return SETTLED, low if low >= beta else high, high, h
    out = int16s(control[MOVES])
    n = candidates(s, r, left, note, out, int64s(control[SCORES]), at)
    if n == 0:
        return SETTLED, np.int64(final(s, r)), high, h
    if far:
        data = tt.look_far(control, h)
        if data != 0:
            low, high, move = narrowed(control, data, low, high)
            if low >= beta or high < beta:
                return SETTLED, low if low >= beta else high, high, h
    if left >= control[CUT_LEFT]:
        cut = known_cut(s, r, control, out, at, n, left, beta)
        if cut >= beta:
            return SETTLED, cut, high, h
    if move != NO_MOVE:
        move_to_front(out, at, n, move)
    return n, low, high, h


@compiled
def move_to_front(out, at, n, move):
    """Put a move first, if it is there; the others keep their order."""
    for i in range(at, at + n):
        if out[i] == move:
            for j in range(i, at, -1):
                out[j] = out[j - 1]
            out[at] = move
            break


@compiled
def remember(control, h, best, beta, best_move, floor, ceiling, left):
    """Keep a search's answer beside what was known of the other bound."""
    if left >= control[TABLE_LEFT]:
        control[STORES] += 1
        low, high = (best, ceiling) if best >= beta else (floor, best)
        tt.keep(control, h, tt.packed(control, low, high, best_move, left), left)


def descend(s, where, at, left, beta):
    """Value of s, fail-soft, by recursion: at least beta, or less than it, as the true one is."""
    control = int64s(where)
    n, best, ceiling, h = examine(s, control, at, left, beta)
    if n == SETTLED:
        return best
    floor, best_move = best, NO_MOVE
    out = int16s(control[MOVES])
    for i in range(at, at + n):
        m = np.int64(out[i])
        child, _ = play(s, uint64s(control[RULES]), m)
        control[BOARDS] += 1
        value = -descend(child, where, at + n, left - np.int64(m != PASS), np.int64(1) - beta)
        if value > best:
            best, best_move = value, m
            if best >= beta:
                break
    remember(control, h, best, beta, best_move, floor, ceiling, left)
    return best


def open_root(s, control, beta):
    """Open the frame of the root. Bounds and table are not asked: a move has to be found, whatever they say."""
    r, out, left = uint64s(control[RULES]), int16s(control[MOVES]), control[LEFT_AT_ROOT]
    low, high, note = bounds(s, r, left, beta)
    n = np.int64(0)
    if low < high:
        n = np.int64(candidates(s, r, left, note, out, int64s(control[SCORES]), 0))
    if n == 0:  # none worth a search: all lose, or one wins at once
        n = np.int64(moves(s, r, out, 0))
    h = hashed(s, r, control)
    data = tt.look_near(control, h)
    if data != 0:
        move_to_front(out, 0, n, tt.move_of(data))
    open_frame(control, 0, 0, n, beta, -INFINITY, INFINITY, left, h)


@compiled
def open_frame(control, top, first, n, beta, best, ceiling, left, h):
    """Begin the frame of index ``top`` with what ``examine`` found: n moves from ``first`` on, bounds and hash."""
    control[TOP] = top
    f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * top)
    f[NEXT] = 0
    f[COUNT], f[FIRST], f[BETA], f[LEFT] = n, first, beta, left
    f[BEST] = f[FLOOR] = best
    f[CEILING], f[BEST_MOVE], f[HASH] = ceiling, NO_MOVE, np.int64(h)


def advance(like, where):
    """Run the search on until it ends (True) or its budget of boards is used up (False); ``like`` tells the width."""
    control = int64s(where)
    r, out, states = uint64s(control[RULES]), int16s(control[MOVES]), uint64s(control[STATES])
    limit = control[BOARDS] + control[BUDGET]
    width = len(like)
    while True:
        top = control[TOP]
        f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * top)
        beta, left = f[BETA], f[LEFT]
        if f[NEXT] < f[COUNT] and f[BEST] < beta:
            if control[BOARDS] >= limit:
                return False
            if control[BOARDS] >= tt.EASY:
                control[tt.FAR_LEFT] = control[tt.FAR_LEFT_LATER]
            m = np.int64(out[f[FIRST] + f[NEXT]])
            f[NEXT] += 1
            child, _ = play(lanes.load(like, states, top * width), r, m)
            control[BOARDS] += 1
            first, left = f[FIRST] + f[COUNT], left - np.int64(m != PASS)
            if top == 0 and kind(child, r) == END:  # elsewhere moves that end the game are met by bounds
                value = -np.int64(final(child, r))
            elif left <= control[BOTTOM]:
                value = -descend(child, where, first, left, np.int64(1) - beta)
            else:
                n, best, ceiling, h = examine(child, control, first, left, np.int64(1) - beta)
                if n != SETTLED:
                    top += 1
                    lanes.store(states, top * width, child)
                    open_frame(control, top, first, n, np.int64(1) - beta, best, ceiling, left, h)
                    continue
                value = -best
        else:
            remember(control, np.uint64(f[HASH]), f[BEST], beta, f[BEST_MOVE], f[FLOOR], f[CEILING], left)
            if top == 0:
                return True
            value = -f[BEST]
            control[TOP] = top - 1
            f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * (top - 1))
        if value > f[BEST]:
            f[BEST], f[BEST_MOVE] = value, out[f[FIRST] + f[NEXT] - 1]


def solve(s, where):
    """Ask one question after another until the score of s is known (True) or the budget is used up (False).

    A budget of 0 ends it before the first question. The score is LOW, and equal to HIGH, unless it lies beyond the
    window: LOW is then a bound that is at least WINDOW_HIGH, or HIGH one that is at most WINDOW_LOW.
    """
    control = int64s(where)
    r, end = uint64s(control[RULES]), control[BOARDS] + control[BUDGET]
    while True:
        if control[TOP] < 0:
            low, high = control[LOW], control[HIGH]
            settled = low >= high or low >= control[WINDOW_HIGH]
            if high <= control[WINDOW_LOW] or settled and control[BEST_ROOT_MOVE] != NO_MOVE:
                return True
            low, high = max(low, control[WINDOW_LOW]), min(high, control[WINDOW_HIGH])
            beta = next_beta(s, r, low, high, control[LATEST]) if low < high else low
            open_root(s, control, min(max(beta, low + (low < high)), high))
        control[BUDGET] = end - control[BOARDS]
        if not advance(s, where):
            return False
        f = int64s(control[FRAMES])
        control[LATEST], control[TOP] = f[BEST], -1
        if f[BEST] >= f[BETA]:
            control[LOW], control[BEST_ROOT_MOVE] = f[BEST], f[BEST_MOVE]
        else:
            control[HIGH] = f[BEST]


def follow(s, where, score, line):
    """Write moves that keep ``score``, which s is known to be worth, to ``line`` (int16); return how many.

    Goes on as long as the tables, or a search of few moves, prove a move good enough.
    """
    control = int64s(where)
    r, out = uint64s(control[RULES]), int16s(control[MOVES])
    left, length, found = moves_left(s, r), 0, True
    while found and length < len(line) and kind(s, r) != END:
        n = np.int64(moves(s, r, out, 0))
        found = False
        for i in range(n):
            m = np.int64(out[i])
            child, _ = play(s, r, m)
            after = left - np.int64(m != PASS)
            if kind(child, r) == END:
                found = -np.int64(final(child, r)) >= score
            elif left <= control[BOTTOM]:
                found = -descend(child, where, n, after, np.int64(1) - score) >= score
            else:
                h = hashed(child, r, control)
                data = tt.look_near(control, h)
                if data == 0 and control[tt.FAR_BUCKETS] > 0:
                    data = tt.look_far(control, h)
                found = data != 0 and -tt.high_of(data) >= score
            if found:
                line[length], length = m, length + 1
                s, left, score = child, after, -score
                break
    return length
