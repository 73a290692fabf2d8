"""Hand-made evaluations of 2584 boards, float64, of the board alone: not of points, nor of what is due."""

from functools import partial

import numpy as np

from ..games import g2584
from . import ntuple, row_heuristic, row_tables
from .row_heuristic import Weights

# Found by hand.
WEIGHTS = Weights(free=270.0, merges=350.0, order=10.0, order_power=3.5, sum=3.0, sum_power=3.0)
_MERGED = np.array(g2584.MERGES) > 0


def merging(cells):
    """How many neighbours of a line merge."""
    tiles = row_tables.without_gaps(cells)
    return _MERGED[tiles[:, 1:], tiles[:, :-1]].sum(axis=1)


def rows_tables(r, weights):
    """Return the tables of ``rows`` by Weights."""
    return row_heuristic.tables_of(merging, g2584.MERGES, g2584.BITS, r, weights)


_OF_LINES, _BEST_MOVES = row_tables.bound_to(g2584)
EVALUATIONS = {"rows": (_OF_LINES, rows_tables, lambda r: 0, _BEST_MOVES)}
WEIGHTED = {"rows": (partial(row_heuristic.parse, most=len(g2584.VALUES) - 1), WEIGHTS)}
of_file = partial(ntuple.of_file, g2584)
strongest = partial(ntuple.strongest, g2584)
LEARNT = ntuple.learnt(g2584)
