"""2048: sixteen exponents of 4 bits in a word, the upper left cell lowest; see ``sliding``.

A tile 2^e has code e, up to 32768: two of those do not merge. Two tiles merge if they are alike.
"""

import numpy as np

from ..core.jit import compiled
from . import bits, sliding
from .bits import pdep
from .sliding import *  # noqa: F403, what the games share of the interface

NAME = "2048"
SPAWN = "2:0.9,4:0.1"
OPTIONS = {"spawn": None}  # a text, such as SPAWN
VALUES = (0, *(2**e for e in range(1, 16)))
MERGES = tuple(tuple(a + 1 if a == b and 0 < a < 15 else 0 for b in range(16)) for a in range(16))

BITS = 4
_TABLE = 1 << 4 * BITS  # words of a table; that of the rewards follows that of the results
_16, _32, _48, _ROW = np.uint64(16), np.uint64(32), np.uint64(48), np.uint64(0xFFFF)
_LOWEST = np.uint64(0x1111111111111111)
_COLUMN = np.uint64(0x000F000F000F000F)


def rules(board=None, spawn=SPAWN):
    """Return the rules array (uint64) of a board of (rows, columns); raises UserError."""
    return sliding.rules_of(NAME, BITS, MERGES, VALUES, tuple(board or sliding.BOARDS[1]), spawn)


@compiled
def transpose(x):
    """Return the board with rows and columns exchanged."""
    a = x & np.uint64(0xF0F00F0FF0F00F0F)
    b = x & np.uint64(0x0000F0F00000F0F0)
    c = x & np.uint64(0x0F0F00000F0F0000)
    x = a | b << np.uint64(12) | c >> np.uint64(12)
    a = x & np.uint64(0xFF00FF0000FF00FF)
    b = x & np.uint64(0x00FF00FF00000000)
    c = x & np.uint64(0x00000000FF00FF00)
    return a | b >> np.uint64(24) | c << np.uint64(24)


@compiled
def cells_of(s):
    return s[0]


@compiled
def state_of(x):
    """Return the state of cells, with no tile due."""
    return x, np.uint64(0)


@compiled
def lines_of(x):
    """Return the four rows of cells, 16 bits each."""
    return x & _ROW, x >> _16 & _ROW, x >> _32 & _ROW, x >> _48


@compiled
def spread(row):
    """Return the cells of a board that has nothing but a column, which is this row (uint64)."""
    x = (row | row << np.uint64(24)) & np.uint64(0x000000FF000000FF)
    return (x | x << np.uint64(12)) & _COLUMN


@compiled
def spread_at_once(row):
    """As ``spread``, by one instruction where there is one."""
    return pdep(row, _COLUMN)


_spread_row = spread_at_once if bits.AT_ONCE else spread


@compiled
def crossing(row, i):
    """Return the transposed cells of a board that has nothing but row i (uint64)."""
    return _spread_row(row) << (i << np.uint64(2))


@compiled
def combined(x, y):
    """Return the exclusive or of two boards' cells: both, where each cell is empty in one of them."""
    return x ^ y


@compiled
def slide(x, r, at):
    """Return the cells with all rows slid to the left, and to the right; at: where their table begins."""
    left0, right0 = sliding.slide_row(x & _ROW, r, at)
    left1, right1 = sliding.slide_row(x >> _16 & _ROW, r, at)
    left2, right2 = sliding.slide_row(x >> _32 & _ROW, r, at)
    left3, right3 = sliding.slide_row(x >> _48, r, at)
    return (left0 | left1 << _16 | left2 << _32 | left3 << _48, right0 | right1 << _16 | right2 << _32 | right3 << _48)


@compiled
def rewards(x, r, at):
    """Return what the same brings."""
    total = np.uint64(0)
    for i in range(4):
        total += r[at + _TABLE + np.int64(x >> np.uint64(16 * i) & _ROW)]
    return np.int64(total & np.uint64(0xFFFFFFFF)), np.int64(total >> np.uint64(32))


@compiled
def free_cells(s, r):
    """Return a word with the lowest bit set of every empty cell."""
    x = s[0] | s[0] >> np.uint64(2)
    x |= x >> np.uint64(1)
    return ~x & _LOWEST & r[sliding.CELL_MASK]


@compiled
def cell_of(bit):
    return bit >> 2


@compiled
def put(s, cell, code):
    """Return the state with a code in an empty cell."""
    return s[0] | code << np.uint64(4 * cell), s[1]


@compiled
def code_at(s, cell):
    return s[0] >> np.uint64(4 * cell) & np.uint64(15)


_OWN = cells_of, state_of, transpose, slide, rewards, free_cells, cell_of, put, code_at
_interface = sliding.interface(NAME, VALUES, _OWN)
kind, moves, outcomes, play, moves_left, expand, book_canonical, reached, parse, text, largest, empties = _interface
