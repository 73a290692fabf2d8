"""2584: sixteen Fibonacci numbers, codes of 5 bits in two words of eight cells each; see ``sliding``.

Code c is the value F(c + 1): 1, 2, 3, 5, 8 ... up to 2178309, code 31. Two tiles merge if their sum is one of these:
two ones, or two neighbours in the sequence, in either order. The two largest, codes 30 and 31, do not.
"""

import numpy as np

from ..core.jit import compiled
from . import sliding
from .sliding import *  # noqa: F403, what the games share of the interface

NAME = "2584"
SPAWN = "1:0.75,3:0.25"


def _fibonacci(count):
    values = [1, 2]
    while len(values) < count:
        values.append(values[-1] + values[-2])
    return values


OPTIONS = {"spawn": None}  # a text, such as SPAWN
VALUES = (0, *_fibonacci(31))


def _merge(a, b):
    if a == b == 1:
        return 2
    return max(a, b) + 1 if abs(a - b) == 1 and min(a, b) > 0 and max(a, b) < 31 else 0


MERGES = tuple(tuple(_merge(a, b) for b in range(32)) for a in range(32))

BITS = 5
_TABLE = 1 << 4 * BITS  # words of a table; that of the rewards follows that of the results
_20, _ROW, WORD = np.uint64(20), np.uint64(0xFFFFF), np.uint64((1 << 40) - 1)
_5, _CODE, _10, _PAIR = np.uint64(5), np.uint64(0x1F), np.uint64(10), np.uint64(0x3FF)
_LOWEST = np.uint64(0x0842108421)


def rules(board=None, spawn=SPAWN):
    """Return the rules array (uint64) of a board of (rows, columns); raises UserError."""
    return sliding.rules_of(NAME, BITS, MERGES, VALUES, tuple(board or sliding.BOARDS[1]), spawn)


@compiled
def _swap(x, mask, distance):
    """Exchange the bits of ``mask`` with those ``distance`` above them."""
    change = (x ^ x >> np.uint64(distance)) & np.uint64(mask)
    return x ^ change ^ change << np.uint64(distance)


@compiled
def cells_of(s):
    return s[0], s[1] & WORD


@compiled
def state_of(cells):
    """Return the state of cells, with no tile due."""
    return cells


@compiled
def transpose(cells):
    """Return the two words of the board with rows and columns exchanged."""
    low, high = cells
    # within each square of four cells, then the squares: cells 1 and 4, 3 and 6 are 15 bits apart
    low = _swap(low, 0x1F << 5 | 0x1F << 15, 15)
    high = _swap(high, 0x1F << 5 | 0x1F << 15, 15)
    right = np.uint64(0x3FF << 10 | 0x3FF << 30)  # the right half of each of two rows
    left = np.uint64(0x3FF | 0x3FF << 20)
    return low & left | (high & left) << np.uint64(10), (low & right) >> np.uint64(10) | high & right


@compiled
def lines_of(cells):
    """Return the four rows of cells, 20 bits each."""
    low, high = cells
    return low & _ROW, low >> _20, high & _ROW, high >> _20


@compiled
def crossing(row, i):
    """Return the transposed cells of a board that has nothing but row i (uint64)."""
    low, high = row & _PAIR, row >> _10
    at = i * np.uint64(5)
    return (low & _CODE | low >> _5 << _20) << at, (high & _CODE | high >> _5 << _20) << at


@compiled
def combined(a, b):
    """Return the exclusive or of two boards' cells: both, where each cell is empty in one of them."""
    return a[0] ^ b[0], a[1] ^ b[1]


@compiled
def slide(cells, r, at):
    """Return the words with all rows slid to the left, and to the right; at: where their table begins."""
    low, high = cells
    left0, right0 = sliding.slide_row(low & _ROW, r, at)
    left1, right1 = sliding.slide_row(low >> _20, r, at)
    left2, right2 = sliding.slide_row(high & _ROW, r, at)
    left3, right3 = sliding.slide_row(high >> _20, r, at)
    return (left0 | left1 << _20, left2 | left3 << _20), (right0 | right1 << _20, right2 | right3 << _20)


@compiled
def rewards(cells, r, at):
    """Return what the same brings."""
    low, high = cells
    at += _TABLE
    total = r[at + np.int64(low & _ROW)] + r[at + np.int64(low >> _20)]
    total += r[at + np.int64(high & _ROW)] + r[at + np.int64(high >> _20)]
    return np.int64(total & np.uint64(0xFFFFFFFF)), np.int64(total >> np.uint64(32))


@compiled
def free_cells(s, r):
    """Return a word with a bit for every empty cell: bit 5c of cell c, and above it that of cell c + 8."""
    return (_empty(s[0]) & r[sliding.CELL_MASK]) | (_empty(s[1]) & r[sliding.CELL_MASK + 1]) << np.uint64(1)


@compiled
def _empty(x):
    """Return the lowest bit of each cell of a word that holds nothing."""
    pairs = x | x >> np.uint64(1)
    return ~(pairs | pairs >> np.uint64(2) | x >> np.uint64(4)) & _LOWEST


@compiled
def cell_of(bit):
    fifth = bit * 13 >> 6  # bit // 5, for bits below 64
    return fifth + 8 * (bit - 5 * fifth)


@compiled
def put(s, cell, code):
    """Return the state with a code in an empty cell."""
    code = code << np.uint64(5 * (cell & 7))
    return (s[0] | code, s[1]) if cell < 8 else (s[0], s[1] | code)


@compiled
def code_at(s, cell):
    return s[cell >> 3] >> np.uint64(5 * (cell & 7)) & np.uint64(31)


_OWN = cells_of, state_of, transpose, slide, rewards, free_cells, cell_of, put, code_at
_interface = sliding.interface(NAME, VALUES, _OWN)
kind, moves, outcomes, play, moves_left, expand, book_canonical, reached, parse, text, largest, empties = _interface
