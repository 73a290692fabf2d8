"""Hand-made evaluations of 2048 boards, float64, of the board alone: not of points, nor of what is due.

``rows`` is for strength. ``monotonicity``, ``smoothness``, ``free`` and ``snake`` are what a report on 2048 on GPUs
adds up (as ``sums`` does); it gives no formulas, so the usual ones are taken, in exponents of the tiles. ``haskell`` is
the sum of five terms of a report on 2048 in parallel Haskell, in its tiles' values.
"""

from functools import partial
from math import log2

import numpy as np

from ..core.jit import compiled
from ..games import g2048, lanes
from ..games.sliding import COLUMNS, ROWS
from ..games.sliding import VALUES as TILES
from . import ntuple, row_heuristic, row_tables
from .row_heuristic import Weights

# Found by ``tune`` from those of nneonneo/2048-ai on, which are 270,700,47,4,11,3.5: docs/tuning.md has the way.
WEIGHTS = Weights(free=568.088, merges=717.993, order=308.364, order_power=2.68202, sum=36.264, sum_power=3.12388)


def merging(cells):
    """How many tiles of a line have an equal neighbour: a run of n counts as n, as nneonneo/2048-ai has it."""
    tiles = row_tables.without_gaps(cells)
    alike = (tiles[:, 1:] == tiles[:, :-1]) & (tiles[:, 1:] > 0)
    begun = np.concatenate([np.zeros((len(cells), 1), bool), alike[:, :-1]], axis=1)
    return (alike * (2 - begun)).sum(axis=1)


def monotonicity_of_line(cells):
    """Minus what a line rises by or what it falls by, whichever is less."""
    return -row_tables.disorder(cells)


def smoothness_of_line(cells):
    """Minus the differences of neighbours, where neither cell is empty."""
    both = (cells[:, 1:] > 0) & (cells[:, :-1] > 0)
    return -(np.abs(np.diff(cells, axis=1)) * both).sum(axis=1)


def nothing(r):
    return np.zeros(1, np.uint64)


@compiled
def free(s, r, tables):
    """Empty cells."""
    return np.float64(lanes.popcount(g2048.free_cells(s, r)))


@compiled
def snake(s, r, tables):
    """Minus what tiles rise by along an S through the board that begins in a corner; of the eight, the best."""
    rows, columns = np.int64(r[ROWS]), np.int64(r[COLUMNS])
    best = -np.inf
    for turned in range(2):  # lines of the S are rows, or columns
        count, width = (columns, rows) if turned else (rows, columns)
        for corner in range(4):
            rise, last = 0.0, -1.0
            for i in range(count):
                for j in range(width):
                    line = i if corner < 2 else count - 1 - i
                    at = j if (i + corner) % 2 == 0 else width - 1 - j
                    tile = np.float64(g2048.code_at(s, 4 * at + line if turned else 4 * line + at))
                    rise += max(0.0, tile - last) if last >= 0 else 0.0
                    last = tile
            best = max(best, -rise)
    return best


@compiled
def _value(s, r, row, column):
    return np.int64(r[TILES + np.int64(g2048.code_at(s, 4 * row + column))])


@compiled
def _order(s, r, by_columns):
    """What the report calls monotonicity, of rows left to right or columns top down."""
    rows, columns = np.int64(r[ROWS]), np.int64(r[COLUMNS])
    lines_, width = (columns, rows) if by_columns else (rows, columns)
    total = 0
    for i in range(lines_):
        for j in range(1, width):
            before = _value(s, r, j - 1, i) if by_columns else _value(s, r, i, j - 1)
            here = _value(s, r, j, i) if by_columns else _value(s, r, i, j)
            if here > before:
                break
            total += 1
    return total * (total - 1) // 2


@compiled
def haskell(s, r, tables):
    """Equal neighbours (empty ones too) + 0.15 order + 1.2 empty cells + 0.25 log2 of weighted tiles + the bonus."""
    rows, columns = np.int64(r[ROWS]), np.int64(r[COLUMNS])
    alike, largest, weighted = 0, 0, 0
    for i in range(rows):
        for j in range(columns):
            value = _value(s, r, i, j)
            alike += j + 1 < columns and _value(s, r, i, j + 1) == value
            alike += i + 1 < rows and _value(s, r, i + 1, j) == value
            largest = max(largest, value)
            weighted += value * (10**6 if i + j == 0 else 10 ** max(0, 4 - i - j))
    order = _order(s, r, False) + _order(s, r, True)
    empty = np.float64(lanes.popcount(g2048.free_cells(s, r)))
    value = alike + 0.15 * order + 1.2 * empty + 0.25 * log2(np.float64(max(weighted, 1)))
    return value + 9999.0 * 99999999 if largest == 2048 else value


_OF_LINES, _BEST_MOVES = row_tables.bound_to(g2048)


def _by_lines(of_line):
    return _OF_LINES, partial(row_tables.tables_of, of_line, g2048.BITS), lambda r: 0, _BEST_MOVES


def rows_tables(r, weights):
    """Return the tables of ``rows`` by Weights."""
    return row_heuristic.tables_of(merging, g2048.MERGES, g2048.BITS, r, weights)


EVALUATIONS = {
    "rows": (_OF_LINES, rows_tables, lambda r: 0, _BEST_MOVES),
    "monotonicity": _by_lines(monotonicity_of_line),
    "smoothness": _by_lines(smoothness_of_line),
    "free": (free, nothing, lambda r: 0),
    "snake": (snake, nothing, lambda r: 0),
    "haskell": (haskell, nothing, lambda r: 0),
}
WEIGHTED = {"rows": (partial(row_heuristic.parse, most=len(g2048.VALUES) - 1), WEIGHTS)}
of_file = partial(ntuple.of_file, g2048)
strongest = partial(ntuple.strongest, g2048)
LEARNT = ntuple.learnt(g2048)
