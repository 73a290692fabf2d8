"""Expectimax: the player takes the best move, chance the mean of what it may do, weighted by how likely each is.

Depth counts plies, of the player and of chance alike. A state at the depth limit, and one in which the player has no
move, is worth its evaluation. So is a state of chance that is less likely than asked for: ``likely`` is the product of
the probabilities on the way, rounded at every step to four numbers an octave (the two highest bits of a float's
fraction), so that it is a small whole number which belongs to a table entry's key: a value is a function of its key,
and does not depend on what was searched before.

Values of chance's states are kept in two tables, as in ``table``: the near one, which is a rank's own, takes all of
them; the *far* one those of searches that are not easy, and ranks of a host share it. Every child's value is needed, in
any order. So ranks that search the same root mark what they are at, and pass over what another rank is at until nothing
else is left there; by then its value is mostly in the table (see ``abdada``, of two players). They repeat themselves
only where they have to, and need nobody who shares the tree out.

The engine can be paused, as ``alphabeta`` can: frames in numpy arrays, and recursion for the last plies. Kernels take
the address of the control array, see ``addresses``, and find everything else in it. Algorithm: Michie 1966.
"""

import numpy as np

from ..core.jit import compiled
from ..core.pointers import bits_of, float64s, int16s, int64s, number_of, uint64s
from ..games import lanes
from ..games.interface import CHANCE
from .pvs import abdada, values
from .pvs import table as tt
from .pvs.abdada import PATIENCE, WAIT, enter, ranks_at, wait_for

moves = play = outcomes = key = turn = expand = evaluate = None  # bound for each game and evaluation
FAR = None  # bound for ``descend``: whether it uses the far table; without, it is 4% faster
descend_far = None  # ``descend`` with it

# The control array (int64); the table's part comes first.
RULES, TABLES, MOVES, CHANCES, VALUES, FRAMES, STATES = range(tt.CONTROL_SIZE, tt.CONTROL_SIZE + 7)  # addresses
POINTS = STATES + 1  # 1: what moves bring counts, beside the evaluation at the end
ALIKE = POINTS + 1  # 1: chance does everything with the same probability
LEAST = ALIKE + 1  # ``likely`` below which states of chance are evaluated; 0: none
SALT = LEAST + 1  # of hashes: what values depend on beside the state and what is left of the search
BOTTOM = SALT + 1  # plies left at which recursion takes over
BOARDS = BOTTOM + 1  # positions reached by a move or by chance so far
EXPANDED = BOARDS + 1  # of them, those in which the player's moves were tried
EVALUATED = EXPANDED + 1  # leaves
HITS, FAR_HITS, STORES = range(EVALUATED + 1, EVALUATED + 4)  # of the tables; those of the far one
# what the search may store before it uses the far table more: from tt.FAR_LEFT_LATER on, then from FAR_LEFT_HARD on
EASY_STORES, FAR_LEFT_HARD = STORES + 1, STORES + 2
TOP = FAR_LEFT_HARD + 1  # index of the frame at work
ROOT_VALUE = TOP + 1  # bits of the root's value, when the search is complete
CHILDREN, GAINS = TOP + 2, TOP + 3  # addresses: states after the player's moves, and what these bring
# for searches that several ranks share, see ``abdada``: plies left from which on they mark what they are at; plies left
# at most where they wait for each other; time for which this rank has waited, in boards
SHARED_LEFT, APART_LEFT, WAITED = range(GAINS + 1, GAINS + 4)
# of a rank that has joined another one's search: address of that search's sequence number, the number to be found
# there, and where to write BOARDS to
SEQUENCE_AT, SEQUENCE, BOARDS_AT = range(WAITED + 1, WAITED + 4)
CONTROL_SIZE = BOARDS_AT + 1

# A frame (int64): a state on the way to where the search is. The values of its children are in VALUES (float64) where
# their moves are in MOVES, nan as long as they are not known.
NEXT, COUNT, FIRST, LEFT, LIKELY, BY_CHANCE, HASH = range(7)
AT = 7  # which child is at work
DEFERRED = 8  # how many children were passed over since another rank was at them, and have no value yet
MARKED = 9  # hash of the child at work, if this rank has marked it, else 0
WAITS = 10  # how often this rank has waited for a child's value
FRAME_SIZE = 11

CERTAIN = np.int64(1023 << 2)  # ``likely`` of 1.0
HARD_STORES = np.int64(1 << 18)  # more of a search that is not hard
_TABLED = 2  # plies left from which on values of states of chance are kept
_HALF, _FRACTION = np.int64(1 << 49), np.int64(50)


@compiled
def times(likely, probability):
    """Return ``likely`` after something of a probability."""
    return bits_of(number_of(likely << _FRACTION) * probability) + _HALF >> _FRACTION


def leaf(s, where):
    control = int64s(where)
    control[EVALUATED] += 1
    return np.float64(evaluate(s, uint64s(control[RULES]), uint64s(control[TABLES])))


def expand_by_playing(s, r, out, states, gains, at):
    """As a game's ``expand``, by its plain functions."""
    n = np.int64(moves(s, r, out, at))
    for i in range(at, at + n):
        child, points = play(s, r, np.int64(out[i]))
        lanes.store(states, i * len(s), child)
        gains[i] = points
    return n


def hashed(s, where, left, likely):
    """Hash of a state with what is left to search below it."""
    control = int64s(where)
    x = key(s, uint64s(control[RULES])) ^ np.uint64(left << 12 | likely) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ np.uint64(control[SALT])) * np.uint64(0xBF58476D1CE4E5B9)
    return x ^ x >> np.uint64(31)


@compiled
def look_near(control, h):
    """Return (whether the value of hash h is in the near table, the value)."""
    near = uint64s(control[tt.NEAR])
    i = tt.near_place(control, h)
    if near[i] == h:
        control[HITS] += 1
        return True, number_of(np.int64(near[i + np.uint64(1)]))
    return False, 0.0


@compiled
def look_far(control, h, left):
    """Return (whether the value of hash h is in the far table, the value)."""
    found, value = values.look(control, h, left)
    control[HITS] += found
    control[FAR_HITS] += found
    return found, value


@compiled
def keep_near(control, h, value):
    """Write the value of hash h to the near table."""
    near = uint64s(control[tt.NEAR])
    i = tt.near_place(control, h)
    near[i], near[i + np.uint64(1)] = h, np.uint64(bits_of(value))
    control[STORES] += 1


def descend(s, where, at, left, likely):
    """Value of a state with left > 0 plies to search, by plain recursion; moves are written from ``at`` on."""
    control = int64s(where)
    r, out = uint64s(control[RULES]), int16s(control[MOVES])
    if turn(s, r) == CHANCE:
        if likely < control[LEAST]:
            return leaf(s, where)
        h = np.uint64(0)
        if left >= _TABLED:
            h = hashed(s, where, left, likely)
            known, value = look_near(control, h)
            if FAR and not known and left >= control[tt.FAR_LEFT]:
                known, value = look_far(control, h, left)
            if known:
                return value
        chances = float64s(control[CHANCES])
        n = np.int64(outcomes(s, r, out, chances, at))
        total = 0.0
        for i in range(at, at + n):
            child, _ = play(s, r, np.int64(out[i]))
            if left == 1:
                value = leaf(child, where)
            else:
                lower = times(likely, chances[i]) if control[LEAST] > 0 else likely
                value = descend(child, where, at + n, left - 1, lower)
            total += value * (1.0 / n if control[ALIKE] else chances[i])
        control[BOARDS] += n
        if left >= _TABLED:
            keep_near(control, h, total)
            if FAR and left >= control[tt.FAR_LEFT]:
                values.keep(control, h, left, np.uint64(bits_of(total)))
        return total
    children, gains = uint64s(control[CHILDREN]), int64s(control[GAINS])
    n = np.int64(expand(s, r, out, children, gains, at))
    if n == 0:
        return leaf(s, where)
    best = -np.inf
    for i in range(at, at + n):
        child = lanes.load(s, children, i * len(s))
        value = leaf(child, where) if left == 1 else descend(child, where, at + n, left - 1, likely)
        if control[POINTS]:
            value += gains[i]
        best = max(best, value)
    control[BOARDS] += n
    control[EXPANDED] += 1
    return best


@compiled
def use_far(control):
    """Keep values of fewer plies in the far table as well, as the search turns out to be harder."""
    control[tt.FAR_LEFT], control[tt.FAR_LEFT_LATER] = control[tt.FAR_LEFT_LATER], control[FAR_LEFT_HARD]
    control[EASY_STORES] += HARD_STORES


@compiled
def frame_at(control, top):
    """Return the address of frame ``top``."""
    return control[FRAMES] + np.int64(8 * FRAME_SIZE) * top


def push(s, where, top, first, left, likely):
    """Open frame ``top`` for a state, unless its value is known: return whether it is not, and the value."""
    control = int64s(where)
    r, out = uint64s(control[RULES]), int16s(control[MOVES])
    by_chance, h = turn(s, r) == CHANCE, np.uint64(0)
    if by_chance:
        if likely < control[LEAST]:
            return False, leaf(s, where)
        h = hashed(s, where, left, likely)
        known, value = look_near(control, h)
        if not known and left >= control[tt.FAR_LEFT]:
            known, value = look_far(control, h, left)
        if known:
            return False, value
        n = np.int64(outcomes(s, r, out, float64s(control[CHANCES]), first))
    else:
        n = np.int64(moves(s, r, out, first))
        if n == 0:
            return False, leaf(s, where)
        control[EXPANDED] += 1
    f, found = int64s(frame_at(control, top)), float64s(control[VALUES])
    f[NEXT] = f[AT] = f[DEFERRED] = f[MARKED] = f[WAITS] = 0
    f[COUNT], f[FIRST], f[LEFT], f[LIKELY], f[BY_CHANCE], f[HASH] = n, first, left, likely, by_chance, np.int64(h)
    for i in range(first, first + n):
        found[i] = np.nan
    lanes.store(uint64s(control[STATES]), top * len(s), s)
    return True, 0.0


@compiled
def leave(control, f):
    """Take away the mark of a frame's child at work."""
    if f[MARKED] != 0:
        abdada.leave(control, np.uint64(f[MARKED]))
        f[MARKED] = 0


def leave_all(where):
    """Take away all marks of the search begun last."""
    control = int64s(where)
    for i in range(control[TOP] + 1):
        leave(control, int64s(frame_at(control, i)))


@compiled
def is_over(control):
    """Whether the search that this rank has joined is over; tells its owner how many boards it took here."""
    if control[SEQUENCE_AT] == 0:
        return False
    int64s(control[BOARDS_AT])[0] = control[BOARDS]
    return int64s(control[SEQUENCE_AT])[0] != control[SEQUENCE]


def child_of(state, where, f, i):
    """Return (child i of a frame's state, ``likely`` of it)."""
    control = int64s(where)
    at, likely = f[FIRST] + i, f[LIKELY]
    child, points = play(state, uint64s(control[RULES]), np.int64(int16s(control[MOVES])[at]))
    if f[BY_CHANCE]:
        if control[LEAST] > 0:
            likely = times(likely, float64s(control[CHANCES])[at])
    else:
        int64s(control[GAINS])[at] = points
    return child, likely


def least_crowded(state, where, f):
    """Return which of a frame's children without a value the fewest ranks are at."""
    control = int64s(where)
    found, best, least = float64s(control[VALUES]), np.int64(0), np.int64(1 << 40)
    for i in range(f[COUNT]):
        if np.isnan(found[f[FIRST] + i]):
            child, likely = child_of(state, where, f, i)
            ranks = ranks_at(control, hashed(child, where, f[LEFT] - 1, likely))
            if ranks < least:
                best, least = i, ranks
    return best


def is_free(child, where, f, i, likely, again):
    """Mark child i of a frame for this rank, and return True; or put it off, since another rank is at it.

    again: it was put off before. Then ranks search it together, unless it is so small that they would only do the same
    twice: there a rank waits for the other one, but not for ever, since that may be gone.
    """
    control = int64s(where)
    h = hashed(child, where, f[LEFT] - 1, likely)
    if ranks_at(control, h) > 0:
        if not again:
            f[DEFERRED] += 1
            return False
        if f[LEFT] <= control[APART_LEFT] and f[WAITS] < PATIENCE:
            f[WAITS] += 1
            control[WAITED] += WAIT
            wait_for(control, h)
            return False
    f[WAITS] = 0
    f[DEFERRED] -= again
    enter(control, h, 0)
    f[MARKED] = np.int64(h)
    return True


def backed_up(where, f):
    """Value of a frame's state whose children all have theirs; added up in their order, whoever found which first."""
    control = int64s(where)
    found, chances, n = float64s(control[VALUES]), float64s(control[CHANCES]), f[COUNT]
    if f[BY_CHANCE]:
        total = 0.0
        for i in range(f[FIRST], f[FIRST] + n):
            total += found[i] * (1.0 / n if control[ALIKE] else chances[i])
        return total
    best = -np.inf
    for i in range(f[FIRST], f[FIRST] + n):
        best = max(best, found[i])
    return best


def advance(s, where, budget):
    """Search on until the end (True) or for about ``budget`` boards; s: any state (it tells the width)."""
    control = int64s(where)
    found, states = float64s(control[VALUES]), uint64s(control[STATES])
    limit, top = control[BOARDS] + control[WAITED] + budget, control[TOP]
    while True:
        f = int64s(frame_at(control, top))
        control[TOP] = top
        shared = f[LEFT] >= control[SHARED_LEFT]
        if shared and is_over(control):
            return False
        known, value = False, 0.0
        if shared and f[BY_CHANCE] and f[NEXT] > 0:  # another rank may have come to the end of it
            known, value = look_far(control, np.uint64(f[HASH]), f[LEFT])
        again = f[NEXT] == f[COUNT]
        if not known and (not again or f[DEFERRED] > 0):
            if control[BOARDS] + control[WAITED] >= limit:
                return False
            if control[STORES] >= control[EASY_STORES]:
                use_far(control)
            state = lanes.load(s, states, top * len(s))
            i = least_crowded(state, where, f) if again else f[NEXT]
            f[NEXT] += not again
            child, likely = child_of(state, where, f, i)
            if shared and not is_free(child, where, f, i, likely, again):
                continue
            f[AT] = i
            control[BOARDS] += 1
            first, left = f[FIRST] + f[COUNT], f[LEFT] - 1
            if left > control[BOTTOM]:
                opened, value = push(child, where, top + 1, first, left, likely)
                if opened:
                    top += 1
                    continue
            elif left == 0:
                value = leaf(child, where)
            elif control[tt.FAR_LEFT] <= left:
                value = descend_far(child, where, first, left, likely)
            else:
                value = descend(child, where, first, left, likely)
        else:
            if not known:
                value = backed_up(where, f)
                if f[BY_CHANCE]:
                    keep_near(control, np.uint64(f[HASH]), value)
                    if f[LEFT] >= control[tt.FAR_LEFT]:
                        values.keep(control, np.uint64(f[HASH]), f[LEFT], np.uint64(bits_of(value)))
            if top == 0:
                control[ROOT_VALUE] = bits_of(value)
                return True
            top -= 1
            f = int64s(frame_at(control, top))
        # the value of a child has come back to frame top
        leave(control, f)
        at = f[FIRST] + f[AT]
        found[at] = value + int64s(control[GAINS])[at] if control[POINTS] and not f[BY_CHANCE] else value


RECURSIVE = leaf, hashed, descend
TEMPLATES = push, leave_all, child_of, least_crowded, is_free, backed_up, advance
