"""Expectimax: the player takes the best move, chance the mean of what it may do, weighted by how likely each is.

Depth counts plies, of the player and of chance alike. A state at the depth limit, and one in which the player has no
move, is worth its evaluation. So is a state of chance that is less likely than asked for: ``likely`` is the product of
the probabilities on the way, rounded at every step to four numbers an octave (the two highest bits of a float's
fraction), so that it is a small whole number which belongs to a table entry's key: a value is a function of its key,
and does not depend on what was searched before.

The engine can be paused, as ``alphabeta`` can: frames in numpy arrays, and recursion for the last plies. Kernels take
the address of the control array, see ``addresses``, and find everything else in it. Algorithm: Michie 1966.
"""

import numpy as np

from ..addresses import bits_of, float64s, int16s, int64s, number_of, uint64s
from ..games import lanes
from ..games.interface import CHANCE
from ..jit import compiled

moves = play = outcomes = key = turn = expand = evaluate = None  # bound for each game and evaluation

# The control array (int64).
RULES, TABLES, MOVES, CHANCES, ENTRIES, FRAMES, NUMBERS, STATES = range(8)  # addresses
ENTRY_MASK = 8  # entries of the table − 1
POINTS = 9  # 1: what moves bring counts, beside the evaluation at the end
ALIKE = 10  # 1: chance does everything with the same probability
LEAST = 11  # ``likely`` below which states of chance are evaluated; 0: none
BOTTOM = 12  # plies left at which recursion takes over
BOARDS = 13  # positions reached by a move or by chance so far
EXPANDED = 14  # of them, those in which the player's moves were tried
EVALUATED = 15  # leaves
HITS, STORES = 16, 17  # of the table
TOP = 18  # index of the frame at work
CHILDREN, GAINS = 19, 20  # addresses: states after the player's moves, and what these bring
CONTROL_SIZE = 21

# A frame (int64): a state on the way to where the search is; and its numbers (float64).
NEXT, COUNT, FIRST, LEFT, LIKELY, BY_CHANCE, BEST = range(7)
FRAME_SIZE = 7
VALUE, EDGE = range(2)  # what is known of its value; what its child's counts: points, or a probability
NUMBERS_SIZE = 2

CERTAIN = np.int64(1023 << 2)  # ``likely`` of 1.0
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


def entry_of(s, where, left, likely):
    """Return (where the table's entry for a state begins, what it holds if it is that state's)."""
    control = int64s(where)
    x = key(s, uint64s(control[RULES])) ^ np.uint64(left << 12 | likely) * np.uint64(0x9E3779B97F4A7C15)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(31)
    return 2 * (np.int64(x) & control[ENTRY_MASK]), x


def descend(s, where, at, left, likely):
    """Value of a state with left > 0 plies to search, by plain recursion; moves are written from ``at`` on."""
    control = int64s(where)
    r, out = uint64s(control[RULES]), int16s(control[MOVES])
    if turn(s, r) == CHANCE:
        if likely < control[LEAST]:
            return leaf(s, where)
        entries = uint64s(control[ENTRIES])
        entry, check = np.int64(0), np.uint64(0)
        if left >= _TABLED:
            entry, check = entry_of(s, where, left, likely)
            if entries[entry] == check:
                control[HITS] += 1
                return number_of(np.int64(entries[entry + 1]))
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
            entries[entry], entries[entry + 1] = check, np.uint64(bits_of(total))
            control[STORES] += 1
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


def push(s, where, top, first, left, likely):
    """Open frame ``top`` for a state, unless its value is known: return whether it is not, and the value."""
    control = int64s(where)
    r, out = uint64s(control[RULES]), int16s(control[MOVES])
    by_chance = turn(s, r) == CHANCE
    if by_chance:
        if likely < control[LEAST]:
            return False, leaf(s, where)
        entries = uint64s(control[ENTRIES])
        entry, check = entry_of(s, where, left, likely)
        if entries[entry] == check:
            control[HITS] += 1
            return False, number_of(np.int64(entries[entry + 1]))
        n = np.int64(outcomes(s, r, out, float64s(control[CHANCES]), first))
    else:
        n = np.int64(moves(s, r, out, first))
        if n == 0:
            return False, leaf(s, where)
        control[EXPANDED] += 1
    frames, numbers = (
        int64s(control[FRAMES] + 8 * FRAME_SIZE * top),
        float64s(control[NUMBERS] + 8 * NUMBERS_SIZE * top),
    )
    frames[NEXT], frames[COUNT], frames[FIRST], frames[LEFT], frames[LIKELY] = 0, n, first, left, likely
    frames[BY_CHANCE], frames[BEST] = by_chance, -1
    numbers[VALUE] = 0.0 if by_chance else -np.inf
    lanes.store(uint64s(control[STATES]), top * len(s), s)
    return True, 0.0


def advance(s, where, values, budget):
    """Search on until the end (True) or for about ``budget`` boards; s: any state (it tells the width).

    values (float64) takes the values of the root's children.
    """
    control = int64s(where)
    r, out, states = uint64s(control[RULES]), int16s(control[MOVES]), uint64s(control[STATES])
    frames, numbers = int64s(control[FRAMES]), float64s(control[NUMBERS])
    limit, top = control[BOARDS] + budget, control[TOP]
    while True:
        f, g = top * FRAME_SIZE, top * NUMBERS_SIZE
        first, n, i = frames[f + FIRST], frames[f + COUNT], frames[f + NEXT]
        state = lanes.load(s, states, top * len(s))
        if i < n:
            if control[BOARDS] >= limit:
                control[TOP] = top
                return False
            frames[f + NEXT] = i + 1
            child, points = play(state, r, np.int64(out[first + i]))
            control[BOARDS] += 1
            left, likely = frames[f + LEFT] - 1, frames[f + LIKELY]
            if frames[f + BY_CHANCE]:
                chance = float64s(control[CHANCES])[first + i]
                if control[LEAST] > 0:
                    likely = times(likely, chance)
                numbers[g + EDGE] = 1.0 / n if control[ALIKE] else chance
            else:
                numbers[g + EDGE] = np.float64(points) if control[POINTS] else 0.0
            if left > control[BOTTOM]:
                opened, value = push(child, where, top + 1, first + n, left, likely)
                if opened:
                    top += 1
                    continue
            else:
                value = leaf(child, where) if left == 0 else descend(child, where, first + n, left, likely)
        else:
            if frames[f + BY_CHANCE]:
                entries = uint64s(control[ENTRIES])
                entry, check = entry_of(state, where, frames[f + LEFT], frames[f + LIKELY])
                entries[entry], entries[entry + 1] = check, np.uint64(bits_of(numbers[g + VALUE]))
                control[STORES] += 1
            if top == 0:
                control[TOP] = 0
                return True
            value = numbers[g + VALUE]
            top -= 1
            f, g = top * FRAME_SIZE, top * NUMBERS_SIZE
        # the value of a child has come back to frame top
        i = frames[f + NEXT] - 1
        if frames[f + BY_CHANCE]:
            numbers[g + VALUE] += value * numbers[g + EDGE]
        else:
            value += numbers[g + EDGE]
            if value > numbers[g + VALUE]:
                numbers[g + VALUE] = value
                frames[f + BEST] = out[frames[f + FIRST] + i]
        if top == 0:
            values[i] = value


TEMPLATES = leaf, entry_of, descend, push, advance
