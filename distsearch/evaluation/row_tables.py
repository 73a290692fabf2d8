"""Evaluations of sliding tiles that are sums over rows and columns, read from tables of all of them.

The value of a line is a whole number of quarters; it takes the upper 28 bits of 32, two of them to a word of the
tables. The lowest four say 1 if something can move within the line: a board of which all lines have 0 there is lost.
"""

import functools

import numpy as np

from ..core import jit
from ..core.jit import compiled
from ..games import sliding

_SCALE, _BITS, _ALIVE = 4, 4, 15
MOST = ((1 << 31 - _BITS) - 1) // _SCALE  # that a line may be worth, or minus that

LOST = -1_500_000.0  # what a loss adds to a board's lines: more than any board that goes on loses by them
rows_of = columns_of = None  # bound for each game


@compiled
def _of_line(tables, at, line):
    word = tables[at + np.int64(line >> np.uint64(1))] >> (line & np.uint64(1)) * np.uint64(32)
    return np.int64(np.int32(np.uint32(word)))


@compiled
def _of_lines(tables, at, lines):
    first, second, third, fourth = lines
    total = _of_line(tables, at, first) + _of_line(tables, at, second)
    return total + _of_line(tables, at, third) + _of_line(tables, at, fourth)


def by_lines(s, r, tables):
    total = _of_lines(tables, np.int64(1), rows_of(s)) + _of_lines(tables, np.int64(tables[0]), columns_of(s))
    value = (total >> _BITS) * (1.0 / _SCALE)
    return value if total & _ALIVE else value + LOST


def bound_to(game):
    """Return the evaluation that sums over a game's lines."""
    functions = {"rows_of": game.rows_of, "columns_of": game.columns_of}
    return jit.specialise(by_lines, f"by_lines_{game.NAME}", functions)


def of_board(r, of_width):
    """Return the tables of a board's rows and columns; of_width(width) -> those of lines of so many cells."""
    across, down = int(r[sliding.COLUMNS]), int(r[sliding.ROWS])
    rows = of_width(across)
    columns = rows[:0] if across == down else of_width(down)
    return np.concatenate([np.array([1 if across == down else 1 + len(rows)], np.uint64), rows, columns])


def tables_of(of_line, bits, r):
    """Return the tables of a board where none is taken for lost: of_line(codes, shape (n, width)) -> n values."""
    return of_board(r, lambda width: _alive(of_line, bits, width))


@functools.cache
def _alive(of_line, bits, width):
    cells = every(bits, width)
    return pack(of_line(cells), np.ones(len(cells), bool))


def every(bits, width):
    """Return the codes of all lines, shape (16^bits, width): those that differ beyond the width alone are alike."""
    numbers = np.arange(1 << 4 * bits)
    return np.stack([numbers >> bits * i & (1 << bits) - 1 for i in range(width)], axis=1)


def pack(values, alive):
    """Return words (uint64) of what lines are worth (up to ``MOST`` either way), and whether something can move."""
    fine = np.round(values * _SCALE).astype(np.int32) << _BITS
    return (fine | alive).astype(np.int32).view(np.uint64)


def without_gaps(cells):
    """Return lines with their tiles moved to the left, none of them merged."""
    return sliding.slid(cells, np.zeros((32, 32), np.int64))[0]


def disorder(cells):
    """How much lines rise and fall, in codes: the less of the two."""
    steps = np.diff(cells.astype(float), axis=1)
    return np.minimum(np.maximum(steps, 0).sum(axis=1), np.maximum(-steps, 0).sum(axis=1))
