"""Look-up of patterns on boards of several words, such as 10×10: on the board as it stands, at each image's squares.

Turning such a board takes longer than gathering a pattern's squares where an image has them. Gathered from the lowest
square on they come in another order than the pattern's, so each order has a table that makes a number in base 3 of
them. (On boards of one word, which turn fast, looking turned ones up takes 0.95 to 1.0 of the time that this takes.)
"""

import numpy as np

from ..core.jit import compiled
from ..games.bits import pext
from ..games.lanes import popcount
from ..games.othello import count
from .pattern_images import CODES, images, kind_of

# Where things are in the tables (uint64).
_LOOK_UPS, _FIRST = range(2)  # how many, and where the first one is
_STAGE = 2  # by the number of discs: where its weights begin, in int16 from the start of the tables
# After these: by order of squares and binary number, its number in base 3 (uint16). Then the look-ups, one word more
# each than a board has: the squares of an image, and where its order begins (uint16 from the start of the tables) in
# the lower half of a word, where the pattern's weights begin in a stage's in the upper one.

_LOWER, _UPPER = np.uint64((1 << 32) - 1), np.uint64(32)


@compiled
def _gathered(discs, tables, at):
    """Return the bits of a mask on the squares of the look-up there, side by side from the lowest one on."""
    found, known = np.uint64(0), np.uint64(0)
    for w in range(len(discs)):
        squares = tables[at + w]
        found |= pext(discs[w], squares) << known
        known += np.uint64(popcount(squares))
    return found


@compiled
def _place(own, opp, tables, at):
    """Return where in a stage's weights the look-up there finds those of a board's."""
    base3, order = tables.view(np.uint16), tables[at + len(own)]
    first = order & _LOWER
    mine = np.uint64(base3[first + _gathered(own, tables, at)])
    return (order >> _UPPER) + mine + np.uint64(2) * np.uint64(base3[first + _gathered(opp, tables, at)])


@compiled
def looked_up(own, opp, tables):
    """Return the sum of the weights of a position."""
    stage, weights = tables[_STAGE + count(own) + count(opp)], tables.view(np.int16)
    at, value = np.int64(tables[_FIRST]), np.int64(0)
    for _ in range(np.int64(tables[_LOOK_UPS])):
        value += weights[stage + _place(own, opp, tables, at)]
        at += len(own) + 1
    return value


@compiled
def places(own, opp, tables, out):
    """Write where in a stage's weights a position's are to ``out`` (int32), and return how many they are."""
    at, n = np.int64(tables[_FIRST]), np.int64(tables[_LOOK_UPS])
    for i in range(n):
        out[i] = np.int32(_place(own, opp, tables, at))
        at += len(own) + 1
    return n


def header(placed, stages):
    """Return the tables without the weights for a ``patterns.Layout`` of a board that is in no larger one."""
    words = -(-(placed.side**2) // 64)
    looks = [
        look
        for i, begin in zip(placed.order, placed.begins.tolist(), strict=True)
        for look in _look_ups(placed.tuples[i], placed.side, begin)
    ]
    begins, base3 = {}, []
    digits = _STAGE + placed.side**2 + 1
    for _, order, _ in looks:
        if order not in begins:
            begins[order] = 4 * digits + sum(map(len, base3))
            base3.append(_in_base_3(order))
    packed = np.concatenate(base3)
    packed = np.pad(packed, (0, -len(packed) % 4)).view(np.uint64)
    first = digits + len(packed)
    tables = np.zeros(first + (words + 1) * len(looks), np.uint64)
    tables[_LOOK_UPS], tables[_FIRST], tables[digits:first] = len(looks), first, packed
    for discs in range(placed.side**2 + 1):
        tables[_STAGE + discs] = 4 * len(tables) + placed.room * sum(discs >= stage for stage in stages)
    for k, (squares, order, begin) in enumerate(looks):
        at = first + (words + 1) * k
        tables[at : at + words] = [squares >> 64 * w & (1 << 64) - 1 for w in range(words)]
        tables[at + words] = begins[order] | begin << 32
    return tables


def _look_ups(cells, side, begin):
    """Yield (the image's squares as bits, which digit each of them is, where the weights begin) of a pattern."""
    met = set()
    for image in images(cells, side):
        squares = tuple(sorted(image))
        if squares not in met or kind_of(cells, side) == 8:
            met.add(squares)
            yield sum(1 << square for square in squares), tuple(map(image.index, squares)), begin


def _in_base_3(order):
    """Return by binary number (uint16) the one with its digits in this order, in base 3."""
    binary = np.arange(1 << len(order))[:, None] >> np.arange(len(order)) & 1
    return (binary @ CODES ** np.array(order)).astype(np.uint16)
