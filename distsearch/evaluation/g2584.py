"""Hand-made evaluations of 2584 boards, float64, of the board alone: not of points, nor of what is due."""

from functools import partial

import numpy as np

from ..games import g2584
from . import lines

# Weights of ``rows``, found by hand.
_FREE, _MERGES, _ORDER, _SUM = 270.0, 350.0, 10.0, 3.0
_ORDER_POWER, _SUM_POWER = 3.5, 3.0
_MERGED = np.array(g2584.MERGES) > 0


def rows_of_line(cells):
    """Empty cells and neighbours that merge are good; large tiles are bad, and so are lines that rise and fall."""
    tiles = lines.without_gaps(cells)
    merges = _MERGED[tiles[:, 1:], tiles[:, :-1]].sum(axis=1)
    good = _FREE * (cells == 0).sum(axis=1) + _MERGES * merges
    return good - _ORDER * lines.disorder(cells, _ORDER_POWER) - _SUM * (cells.astype(float) ** _SUM_POWER).sum(axis=1)


_tables = partial(lines.tables_of, rows_of_line, g2584.MERGES, g2584.BITS)
EVALUATIONS = {"rows": (lines.bound_to(g2584), _tables, lambda r: 0)}
