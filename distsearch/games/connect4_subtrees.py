"""Connect 4's small subtrees: null windows by plain recursion, with a table that stays in a core's cache.

A position comes with the threats against its side to move, which the search of its parent found when it put the moves
in order. A side that is to move here cannot win at once. Three things make this faster than the general search: easy
positions take fewer nodes, and every node takes less time. Those threats are found once for a position, for eight
columns at a time. A move that makes two immediate threats, or one directly below another, ends the search of its
parent. A forced move is played without a look at the table.

A table entry is one uint64. The lowest 16 bits of a position's hash are the entry's index, so they are not stored. In
their place stand both bounds of the score, 7 bits each. So an entry tells positions apart by all 64 bits of the hash.
"""

import numpy as np

from ..core.jit import compiled, outlined
from ..core.pointers import int64s, uint64s
from . import lanes
from .connect4 import BOARD, COLUMN_MASKS, COLUMNS, LANES, LINES, column_of, free, key
from .connect4_threats import LATE, claimeven_bounds, winning_squares

# The memory of ``search_subtree``, in words.
_NODES_LEFT, _SALT = range(2)
_RULES = 8  # of which there are up to 44
_SCRATCH = 64  # of each position on the path: threats after each move, then what moves are ordered by
_TABLE = 4096
_ENTRIES = 1 << 16
WORDS = _TABLE + _ENTRIES

UNKNOWN = np.int64(1000)  # instead of a score
_ONE, _TWO = np.uint64(1), np.uint64(2)
_DATA, _INDEX, _BITS, _BOUND = np.uint64(0xFFFF), np.uint64(_ENTRIES - 1), np.uint64(7), np.uint64(127)
_OFFSET = 33  # makes bounds from -32 to 32 positive
_EIGHT = (_ONE,) * LANES


@compiled
def splat(word):
    """Return a word in as many lanes as a register has."""
    return word, word, word, word, word, word, word, word


@compiled
def winning_lanes(stones, empty, r):
    """Return ``winning_squares`` of eight boards with the same empty squares."""
    once, twice, thrice = splat(_ONE), splat(_TWO), splat(np.uint64(3))
    found = lanes.both(lanes.both(lanes.left(stones, once), lanes.left(stones, twice)), lanes.left(stones, thrice))
    for line in range(LINES, LINES + 3):
        distance = r[line]
        once, twice, thrice = splat(distance), splat(distance + distance), splat(distance + distance + distance)
        up, down = lanes.left(stones, once), lanes.right(stones, once)
        pairs = lanes.both(up, lanes.left(stones, twice))
        found = lanes.either(found, lanes.both(pairs, lanes.either(lanes.left(stones, thrice), down)))
        pairs = lanes.both(down, lanes.right(stones, twice))
        found = lanes.either(found, lanes.both(pairs, lanes.either(lanes.right(stones, thrice), up)))
    return lanes.both(found, splat(empty))


@compiled
def padded(r):
    """Return the number of columns, rounded up to whole groups of lanes."""
    return (np.int64(r[COLUMNS]) + LANES - 1) & -LANES


@compiled
def order_moves(own, stones, squares, open_squares, r, words, keys, at):
    """Put the moves to ``squares`` in order and the threats after each at ``words[at + column]``; return their number.

    ``keys[at + padded(r) + i]`` is move i, its column in the lowest 6 bits: those that threaten most first, then those
    near the middle. Returns 0 if a move wins, since the other side cannot meet all its threats.
    """
    columns, empty = np.int64(r[COLUMNS]), r[BOARD] & ~stones
    for group in range(0, columns, LANES):
        masks = lanes.load(_EIGHT, r, COLUMN_MASKS + group)
        moves = lanes.both(masks, splat(squares))
        threats = winning_lanes(lanes.either(splat(own), moves), empty, r)
        lanes.store(words, at + group, lanes.without(threats, moves))
    first = at + padded(r)
    middle, n = columns >> 1, np.int64(0)
    while squares != 0:
        stone = squares & (~squares + _ONE)
        squares ^= stone
        column = column_of(stone, r)
        threats = words[at + column]
        now = ((open_squares ^ stone) | stone << _ONE) & threats
        if now & (now - _ONE | threats >> _ONE):
            return np.int64(0)
        aside = column - middle
        aside = aside + aside if aside >= 0 else -aside - aside - 1
        move = lanes.popcount(threats) << 12 | (63 - aside) << 6 | column
        j = first + n
        while j > first and keys[j - 1] < move:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = move
        n += 1
    return n


@compiled
@outlined
def search(own, stones, threats, left, beta, memory):
    """Return the score of a position fail-soft at ``beta``, or UNKNOWN once there are no nodes left.

    threats: squares that would complete four of the other side; left: empty squares.
    """
    words, r = uint64s(memory), uint64s(memory + 8 * _RULES)
    sign = np.int64(1)
    while True:
        if words[_NODES_LEFT] == 0:
            return UNKNOWN
        words[_NODES_LEFT] -= _ONE
        open_squares = free((own, stones), r)
        forced = open_squares & threats
        squares = (forced if forced != 0 else open_squares) & ~(threats >> _ONE)
        if squares == 0 or forced & (forced - _ONE) != 0:
            return -sign * (left >> 1)
        if left <= 2:
            return np.int64(0)
        low, high = -((left - 2) >> 1), (left - 1) >> 1
        if low >= beta:
            return sign * low
        if high < beta:
            return sign * high
        if squares & (squares - _ONE) != 0:
            break
        # a forced move
        mine = own | squares
        own, stones = own ^ stones, stones | squares
        threats = winning_squares(mine, r[BOARD] & ~stones, r)
        left, beta, sign = left - 1, 1 - beta, -sign
    h = key((own, stones), r) ^ words[_SALT]
    place = np.int64(h & _INDEX) + _TABLE
    data = words[place]
    if left <= LATE:
        low, high = claimeven_bounds((own, stones), r, beta, low, high)
        if low >= beta:
            return sign * low
        if high < beta:
            return sign * high
    if (data ^ h) & ~_DATA == 0 and data & _DATA != 0:
        low = max(low, np.int64(data >> _BITS & _BOUND) - _OFFSET)
        high = min(high, np.int64(data & _BOUND) - _OFFSET)
        if low >= beta:
            return sign * low
        if high < beta:
            return sign * high
    keys = int64s(memory)
    at = _SCRATCH + 2 * padded(r) * left
    n = order_moves(own, stones, squares, open_squares, r, words, keys, at)
    if n == 0:
        return sign * ((left - 1) >> 1)
    best, other, first = -UNKNOWN, own ^ stones, at + padded(r)
    for i in range(first, first + n):
        column = keys[i] & 63
        stone = squares & r[COLUMN_MASKS + np.uint64(column)]
        value = search(other, stones | stone, words[at + column], left - 1, 1 - beta, memory)
        if value == UNKNOWN:
            return UNKNOWN
        best = max(best, -value)
        if best >= beta:
            break
    if best >= beta:
        low = max(low, best)
    else:
        high = min(high, best)
    words[place] = h & ~_DATA | np.uint64(low + _OFFSET) << _BITS | np.uint64(high + _OFFSET)
    return sign * best


@compiled
def search_subtree(s, r, left, beta, most_nodes, salt, memory):
    """Return (known, score, nodes): the score of s fail-soft at ``beta``, unless it takes more than ``most_nodes``."""
    empty, words = r[BOARD] & ~s[1], uint64s(memory)
    if winning_squares(s[0], empty, r) & free(s, r):
        return True, (left + 1) >> 1, np.int64(0)
    words[_NODES_LEFT], words[_SALT] = np.uint64(most_nodes), salt
    for i in range(COLUMN_MASKS + np.int64(r[COLUMNS])):
        words[_RULES + i] = r[i]
    score = search(s[0], s[1], winning_squares(s[0] ^ s[1], empty, r), left, beta, memory)
    return score != UNKNOWN, score, most_nodes - np.int64(words[_NODES_LEFT])
