"""``rows``: lines of sliding tiles judged by six weights.

What does not depend on weights is counted once for all lines of a game; tables for other weights then take 1 ms for
2048 and 20 ms for 2584, so that a search for weights can make them as it goes.
"""

import functools
import math
import re
from typing import NamedTuple

import numpy as np

from ..core.errors import UserError
from . import row_tables

_MOST_CELLS = 4  # of a line


class Weights(NamedTuple):
    """What lines are judged by: ``free`` an empty cell, ``merges`` a pair that merges, and what is taken off.

    That is ``order`` times what the line rises or falls by, whichever is less, in codes to ``order_power``; and ``sum``
    times the sum of its codes to ``sum_power``.
    """

    free: float
    merges: float
    order: float
    order_power: float
    sum: float
    sum_power: float

    @property
    def text(self):
        """As ``parse`` reads them."""
        return ",".join(f"{weight:.9g}" for weight in self)

    @property
    def evaluation(self):
        """The name of the evaluation by these weights."""
        return f"rows:{self.text}"

    @property
    def numbers(self):
        """The weights, six floats."""
        return tuple(self)

    def by_name(self):
        """Return {name: weight}."""
        return self._asdict()

    def fit(self, most):
        """Whether tables can hold what lines are worth by these weights; most: the highest code."""
        try:
            rough = 2 * abs(self.order) * most**self.order_power + _MOST_CELLS * (
                abs(self.free) + abs(self.merges) + abs(self.sum) * most**self.sum_power
            )
        except OverflowError:
            return False
        return (
            rough <= row_tables.MOST and min(self.order_power, self.sum_power) >= 0
        )  # codes are 0 where a cell is empty


def parse(text, most):
    """Return the Weights of six numbers with commas between; raises UserError. most: the highest code."""
    fields = ",".join(Weights._fields).upper()
    parts = text.split(",")
    if len(parts) != len(Weights._fields) or not all(re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", p) for p in parts):
        raise UserError(f"rows '{text[:60]}' is not six numbers: rows:{fields}")
    try:
        weights = Weights(*map(float, parts))
    except ValueError as error:
        raise UserError(f"rows '{text[:60]}' is not six numbers: rows:{fields}") from error
    if not all(map(math.isfinite, weights)) or not weights.fit(most):
        raise UserError(
            f"rows '{text[:60]}': powers are 0 or more, and no line may be worth more than {row_tables.MOST:,}"
        )
    return weights


def tables_of(merging, merges, bits, r, weights):
    """Return the tables of a board's lines by Weights.

    merging(codes, shape (n, width)) -> how many pairs of n lines merge; merges: by two codes, what neighbours merge to,
    0 if they do not.
    """
    return row_tables.of_board(r, lambda width: _words(merging, merges, bits, width, weights))


@functools.lru_cache(maxsize=16)  # 4 MB each in 2584; games of several candidates alternate
def _words(merging, merges, bits, width, weights):
    free, pairs, alive = _counted(merging, merges, bits, width)
    codes = np.arange(1 << bits).astype(float)
    good = weights.free * free + weights.merges * pairs
    disorder = _disorder(codes**weights.order_power, width)
    bad = weights.order * disorder + weights.sum * _spread(codes**weights.sum_power, width)
    return row_tables.pack(np.broadcast_to(good - bad, (1 << bits,) * _MOST_CELLS).ravel(), alive)


@functools.cache
def _counted(merging, merges, bits, width):
    """Return (empty cells, pairs that merge: int8 by code of each cell, the last cell first; alive: bool by line)."""
    cells = row_tables.every(bits, width)
    alive = (cells == 0).any(axis=1) | (np.array(merges)[cells[:, 1:], cells[:, :-1]] > 0).any(axis=1)
    alive[0] = False  # lines beyond a smaller board are empty; one on the board is crossed by lines with empty cells
    shape = (1 << bits,) * _MOST_CELLS
    return (cells == 0).sum(axis=1, dtype=np.int8).reshape(shape), merging(cells).astype(np.int8).reshape(shape), alive


def _disorder(worth, width):
    """Return how much lines rise or fall, whichever is less, by code of each cell; worth: of the codes."""
    rise = np.maximum(worth[:, None] - worth, 0)  # to the first index from the second
    rises = sum(_placed(rise, cell) for cell in range(width - 1))
    return np.minimum(rises, sum(_placed(rise.T, cell) for cell in range(width - 1)))


def _spread(worth, width):
    return sum(_placed(worth, cell) for cell in range(width))


def _placed(values, cell):
    """Return values by the code of a cell (or of the next one and of this) as an array that adds to those of lines."""
    shape = [1] * _MOST_CELLS
    last = _MOST_CELLS - cell
    shape[last - values.ndim : last] = values.shape
    return values.reshape(shape)
