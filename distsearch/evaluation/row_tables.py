"""Evaluations of sliding tiles that are sums over rows and columns, read from tables of all of them.

The value of a line is a whole number of quarters; it takes the upper 28 bits of 32, two of them to a word of the
tables. The lowest four say 1 if something can move within the line: a board of which all lines have 0 there is lost.
"""

import functools

import numpy as np

from ..core import jit
from ..core.jit import compiled
from ..core.pointers import float64s, int16s, record_view, struct, uint64s
from ..games import sliding
from ..games.sliding import ACROSS, CELLS, DOWN, SPAWNS, TILE, due, slide_row

_SCALE, _BITS, _ALIVE = 4, 4, 15
MOST = ((1 << 31 - _BITS) - 1) // _SCALE  # that a line may be worth, or minus that

LOST = -1_500_000.0  # what a loss adds to a board's lines: more than any board that goes on loses by them
_LOST, _NEVER = np.int64(LOST * _SCALE), np.int64(-1 << 40)  # as sums of lines are; less than any of them
_ROWS = np.uint64(2)  # where the rows' words begin, as int32
_ONE, _TWO, _THREE, _FOUR = map(np.uint64, (1, 2, 3, 4))

# bound for each game
cells_of = state_of = lines_of = transpose = crossing = combined = put = BITS = None

# A row or a column of a board on which chance puts a tile elsewhere. The player can move along it to either side.
LINE = struct(
    ("cells", np.uint64),
    ("changed", np.uint64, 2),  # by side: not 0 if another line moves to it
    ("sum", np.int64, 2),  # by side: of the other lines' words after the move
    ("across", np.uint64, 4),  # by side: two words of cells, the transposed board after the move without this line
)
_line_at = record_view(LINE)


@compiled
def _value(total):
    """Return what a board is worth, in parts of 1 / ``_SCALE``, by the sum of its lines' words."""
    return (total >> _BITS) + (np.int64(0) if total & _ALIVE else _LOST)


@compiled
def _sum(words, at, lines):
    a, b, c, d = lines
    return np.int64(words[at + a]) + np.int64(words[at + b]) + (np.int64(words[at + c]) + np.int64(words[at + d]))


def value_of(s, tables):
    """Return what a board is worth, in parts of 1 / ``_SCALE``."""
    words, cells = tables.view(np.int32), cells_of(s)
    rows = _sum(words, _ROWS, lines_of(cells))
    return _value(rows + _sum(words, tables[0] << _ONE, lines_of(transpose(cells))))


def by_lines(s, r, tables):
    return value_of(s, tables) * (1.0 / _SCALE)


def transposed(a, b, c, d):
    """Return the cells of the board of which these are the columns."""
    return combined(
        combined(crossing(a, np.uint64(0)), crossing(b, _ONE)), combined(crossing(c, _TWO), crossing(d, _THREE))
    )


def write_lines(lines, r, slides, words, at, room, first):
    """Write a LINE for each of four lines; slides, at: where their tables and words begin."""
    a, b, c, d = lines
    (a0, a1), (b0, b1) = slide_row(a, r, slides), slide_row(b, r, slides)
    (c0, c1), (d0, d1) = slide_row(c, r, slides), slide_row(d, r, slides)
    one, other = transposed(a0, b0, c0, d0), transposed(a1, b1, c1, d1)
    changed, sum_ = (a ^ a0, b ^ b0, c ^ c0, d ^ d0), _sum(words, at, (a0, b0, c0, d0))
    other_changed, other_sum = (a ^ a1, b ^ b1, c ^ c1, d ^ d1), _sum(words, at, (a1, b1, c1, d1))
    for i in range(4):
        line, cells = _line_at(room, first + i), lines[i]
        left, right = slide_row(cells, r, slides)
        line.cells = cells
        line.changed[0] = line.changed[1] = np.uint64(0)
        for k in range(4):
            if k != i:
                line.changed[0] |= changed[k]
                line.changed[1] |= other_changed[k]
        line.sum[0], line.sum[1] = sum_ - np.int64(words[at + left]), other_sum - np.int64(words[at + right])
        line.across[0], line.across[1] = state_of(combined(one, crossing(left, np.uint64(i))))
        line.across[2], line.across[3] = state_of(combined(other, crossing(right, np.uint64(i))))


def best_along(line, i, code, cell, r, slides, words, at, across):
    """Return (sum of all lines' words after the better move along a line, how many of both are legal).

    line: the LINE of number i, in a cell of which chance has put a code; across: where words of the others begin. After
    a legal move there is an empty cell, so the board is not lost.
    """
    cells = line.cells | code << cell * BITS
    one, other = slide_row(cells, r, slides)
    first = combined(cells_of((line.across[0], line.across[1])), crossing(one, i))
    second = combined(cells_of((line.across[2], line.across[3])), crossing(other, i))
    total = line.sum[0] + np.int64(words[at + one]) + _sum(words, across, lines_of(first))
    other_total = line.sum[1] + np.int64(words[at + other]) + _sum(words, across, lines_of(second))
    legal, other_legal = (line.changed[0] | cells ^ one) != 0, (line.changed[1] | cells ^ other) != 0
    best = max(total if legal else _NEVER, other_total if other_legal else _NEVER)
    return best, np.int64(legal) + np.int64(other_legal)


@jit.outlined
def best_moves(s, rules, tables, moves, values, first, last, room):
    """Judge each state to which chance's moves lead, from index ``first`` on and before ``last``, by one more move.

    Writes what the board after the best move is worth to ``values`` (float64) by index, or the state itself where no
    move is legal. Returns (how many moves are legal in all, in how many states none is); (−1, 0) if the player's turn
    does not come next. rules, tables, moves, values, room (of eight ``LINE``): addresses.

    A tile changes one row and one column: for either move along one of them only this line is looked up anew, and all
    four lines across.
    """
    if due(s) != _ONE:
        return np.int64(-1), np.int64(0)
    r, out, found, t = uint64s(rules), int16s(moves), float64s(values), uint64s(tables)
    words, columns, cells = t.view(np.int32), t[0] << _ONE, cells_of(s)
    rows_slide, columns_slide = np.int64(r[ACROSS]), np.int64(r[DOWN])
    write_lines(lines_of(cells), r, rows_slide, words, _ROWS, room, 0)
    write_lines(lines_of(transpose(cells)), r, columns_slide, words, columns, room, 4)
    legal, ended = np.int64(0), np.int64(0)
    for k in range(np.uint64(first), np.uint64(last)):
        move = np.uint64(np.int64(out[k]) - TILE)
        code = r[np.uint64(SPAWNS) + _THREE * (move >> _FOUR)]
        i, j = move >> _TWO & _THREE, move & _THREE
        row, column = _line_at(room, np.int64(i)), _line_at(room, np.int64(_FOUR + j))
        best, n = best_along(row, i, code, j, r, rows_slide, words, _ROWS, columns)
        other, m = best_along(column, j, code, i, r, columns_slide, words, columns, _ROWS)
        value = max(best, other) >> _BITS
        legal += n + m
        if n + m == 0:
            ended += 1
            value = value_of(put(s, np.int64(move & np.uint64(CELLS - 1)), code), t)
        found[k] = value * (1.0 / _SCALE)
    return legal, ended


_TEMPLATES = value_of, by_lines, transposed, write_lines, best_along, best_moves
_OWN = "cells_of", "state_of", "lines_of", "transpose", "crossing", "combined", "put", "BITS"


def bound_to(game):
    """Return the evaluation that sums over a game's lines, and its ``best_moves``."""
    own = {name: getattr(game, name) for name in _OWN}
    made = jit.specialise_all(_TEMPLATES, f"lines_{game.NAME}", own | {"BITS": np.uint64(game.BITS)})
    return made["by_lines"], made["best_moves"]


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
    return np.take_along_axis(cells, np.argsort(cells == 0, axis=1, kind="stable"), axis=1)


def disorder(cells):
    """How much lines rise and fall, in codes: the less of the two."""
    steps = np.diff(cells.astype(float), axis=1)
    return np.minimum(np.maximum(steps, 0).sum(axis=1), np.maximum(-steps, 0).sum(axis=1))
