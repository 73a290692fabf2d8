"""A search for weights by CMA-ES (Hansen, Ostermeier 2001), as the package cma has it.

Weights are searched by factors on those at the start: e to the power of what the search draws, and of ``rows`` a third
of that for powers, which matter more. A power alone would change a term as a whole, by 12^0.4 = 2.7 at a tile 4096. So
a power and its weight change together: the term stays what it is at a tile that is typical of late games, and the power
says how much more larger tiles count.

A sum with all its weights multiplied by the same number plays the same. So the first of them stays what it is, and the
others are divided by its factor.
"""

import warnings

import numpy as np

from ..core.errors import UserError
from ..evaluation.row_heuristic import Weights
from ..evaluation.weighted_sum import SumWeights

_TYPICAL = 2 / 3  # of the highest code: 1024, and 10946 in 2584
_STEPS = np.array(Weights(free=1, merges=1, order=1, order_power=1 / 3, sum=1, sum_power=1 / 3))


class RowsSpace:
    """Where Weights of ``rows`` are searched, from ``start`` on; most: the highest code."""

    def __init__(self, start, most):
        self._start, self._most, self._code = start, most, round(_TYPICAL * most)

    def weights(self, point):
        """Return the Weights at a point, an array as long as Weights are; 0 is the start."""
        start = self._start
        free, merges, order, order_power, total, total_power = (start * np.exp(_STEPS * point)).tolist()
        order *= self._code ** (start.order_power - order_power)
        total *= self._code ** (start.sum_power - total_power)
        exact = Weights(free, merges, order, order_power, total, total_power)
        return Weights(*(_rounded(weight) for weight in exact))

    def fits(self, weights):
        """Whether an evaluation can have these."""
        return weights.fit(self._most)


class SumSpace:
    """Where weights of a sum are searched, from ``start``, SumWeights, on."""

    def __init__(self, start):
        self._start = start

    def weights(self, point):
        """Return the SumWeights at a point, an array as long as the sum; 0 is the start."""
        factors = np.exp(point - point[0]).tolist()
        terms = self._start.terms
        found = (each._replace(weight=_rounded(each.weight * by)) for each, by in zip(terms, factors, strict=True))
        return SumWeights(tuple(found))

    def fits(self, weights):
        """Whether an evaluation can have these."""
        return weights.fit()


def _rounded(weight):
    """Return a weight with as many digits as its text has."""
    return float(f"{weight:.6g}")


def space_of(start, most):
    """Return where weights like ``start`` are searched; most: the highest code of the game's tiles."""
    return SumSpace(start) if isinstance(start, SumWeights) else RowsSpace(start, most)


class WeightsSearch:
    """Draws candidates in a space of weights, and moves to where those with high values are.

    start: weights; space: see ``space_of``; seed: a whole number from 0 on, on which all that it draws depends.
    """

    def __init__(self, start, space, population, sigma, seed):
        self._space = space
        generator = np.random.default_rng(seed)
        options = {
            "popsize": population,
            "verbose": -9,
            "seed": np.nan,
            "randn": lambda *shape: generator.standard_normal(shape),
        }
        self._search = _cma().CMAEvolutionStrategy(np.zeros(len(start.numbers)), sigma, options)

    def ask(self):
        """Return a generation's candidates, a list of weights whose text has all of their digits."""
        self._points, population, space = [], self._search.popsize, self._space
        while len(self._points) < population:
            points = self._search.ask(population - len(self._points))
            self._points += [point for point in points if space.fits(space.weights(point))]
        return [space.weights(point) for point in self._points]

    def tell(self, values):
        """Take in what the candidates asked for last are worth: the higher, the better."""
        self._search.tell(self._points, [-value for value in values])

    @property
    def sigma(self):
        """The step of the search now, in directions in which it has learned nothing."""
        return float(self._search.sigma)

    @property
    def mean_weights(self):
        """The weights in the middle of where candidates come from.

        The best candidate of a generation owes its value to luck with its games as well; the middle is an average of
        many good ones.
        """
        return self._space.weights(self._search.mean)


def _cma():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it misses matplotlib, which is for its plots
        try:
            import cma
        except ImportError as error:
            raise UserError("tune needs the package cma: pip install 'distsearch[tune]'") from error
    return cma
