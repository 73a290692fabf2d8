"""Hand-made evaluations of 2048 boards, float64, of the board alone: not of points, nor of what is due."""

from functools import partial

import numpy as np

from ..games import g2048
from . import lines

# Weights of ``rows``: published with nneonneo/2048-ai, which found them by CMA-ES.
_FREE, _MERGES, _ORDER, _SUM = 270.0, 700.0, 47.0, 11.0
_ORDER_POWER, _SUM_POWER = 4.0, 3.5


def rows_of_line(cells):
    """Empty cells and equal neighbours are good; large tiles are bad, and so are lines that rise and fall.

    The terms are nneonneo/2048-ai's. A run of n equal tiles counts as n.
    """
    tiles = lines.without_gaps(cells)
    alike = (tiles[:, 1:] == tiles[:, :-1]) & (tiles[:, 1:] > 0)
    begun = np.concatenate([np.zeros((len(cells), 1), bool), alike[:, :-1]], axis=1)
    merges = (alike * (2 - begun)).sum(axis=1)
    good = _FREE * (cells == 0).sum(axis=1) + _MERGES * merges
    return good - _ORDER * lines.disorder(cells, _ORDER_POWER) - _SUM * (cells.astype(float) ** _SUM_POWER).sum(axis=1)


_tables = partial(lines.tables_of, rows_of_line, g2048.MERGES, g2048.BITS)
EVALUATIONS = {"rows": (lines.bound_to(g2048), _tables, lambda r: 0)}
