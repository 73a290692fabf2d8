"""Weights of patterns by regression: scores of positions as sums of weights, fitted by stochastic gradient descent.

Contents of a pattern that a mirror exchanges have one weight, so that what is learnt of one is known of the other. The
rate falls from pass to pass; the last passes only settle what earlier ones have left of noise. A position near the
border of two stages teaches both, which nearly doubles what each of them sees.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import compiled
from ..evaluation import patterns as pt
from ..evaluation import tuple_network as nw
from ..evaluation.pattern_images import added_up, kind_of, mirrorings
from ..evaluation.patterns import places
from ..games.interface import as_state
from ..games.lanes import load
from ..games.othello import count


class Samples(NamedTuple):
    """Positions, uint64, shape (n, words), and what they are worth, float32, discs of the side to move."""

    states: np.ndarray
    scores: np.ndarray


def joined(parts):
    """Return the Samples of several."""
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Regression:
    """Weights at work. tuples, stages, side: as a ``Preset`` has them; overlap: discs by which stages overlap."""

    def __init__(self, tuples, stages, side=pt.SIDE, overlap=2):
        self._tuples, self._stages, self._side = tuples, stages, side
        self._placed = pt.layout(tuples, side)
        self._tables = pt.header(self._placed, stages)
        self._same = _least(self._placed)
        self._weights = np.zeros((len(stages) + 1, self._placed.room), np.float32)
        discs = np.arange(side * side + 1)[:, None]
        near = [(discs + shift >= np.array(stages)).sum(axis=1) for shift in (0, -overlap, overlap)]
        self._stage_of = np.stack(near).astype(np.int64)
        self._out = np.zeros(pt.MOST_PLACES, np.int32)

    def learn(self, samples, rate, rng):
        """Go once through Samples in random order; return the mean squared error, in discs², before each step.

        rate: which part of its error a position takes away if no two of its places share a weight. Where all images
        of a pattern look the same it is up to four times as much, eight for one of no symmetry; it must be less than 2.
        """
        order, same, stage_of, out = rng.permutation(len(samples.scores)), self._same, self._stage_of, self._out
        return _descend(_empty(samples), *samples, order, self._tables, same, stage_of, self._weights, out, rate)

    def errors(self, samples):
        """Return by how much each of the Samples is valued too high, in discs (float32)."""
        found = np.zeros(len(samples.scores), np.float32)
        same, stage_of, out = self._same, self._stage_of, self._out
        _compare(_empty(samples), *samples, self._tables, same, stage_of, self._weights, out, found)
        return found

    def start_from(self, network):
        """Begin with the weights of a Network of the same patterns and stages."""
        ends = np.cumsum(nw.sizes(self._tuples, pt.CODES))
        for i, begin in zip(self._placed.order, self._placed.begins, strict=True):
            cells = self._placed.tuples[i]
            own = network.weights[:, ends[i] - pt.CODES ** len(cells) : ends[i]].astype(np.float64)
            self._weights[:, begin : begin + own.shape[1]] = added_up(cells, self._placed.around, own)

    def network(self, record):
        """Return what was learnt as a Network, with this record."""
        parts = {}
        for i, begin in zip(self._placed.order, self._placed.begins, strict=True):
            cells = self._placed.tuples[i]
            own = self._weights[:, begin : begin + pt.CODES ** len(cells)].copy()
            if kind_of(cells, self._placed.around) < 8:
                # the least of those that are the same has it all; what mirrors leave as it is is added up repeatedly
                ways = np.stack(mirrorings(cells, self._placed.around))
                places = np.arange(own.shape[1])
                own = np.where(ways.min(axis=0) == places, own / (ways == places).sum(axis=0), 0)
            parts[i] = own
        weights = np.concatenate([parts[i] for i in range(len(self._tuples))], axis=1)
        board = self._side, self._side
        return nw.Network(pt.GAME, board, {}, self._tuples, True, self._stages, weights.astype(np.float32), record)


def _empty(samples):
    """Return a state without discs, of as many words as the Samples have; kernels load others like it."""
    return as_state(np.zeros(samples.states.shape[1], np.uint64))


def _least(placed):
    """Return for each place in a stage's weights, by a Layout, the one whose weight it shares (int32)."""
    same = np.arange(placed.room, dtype=np.int32)
    for i, begin in zip(placed.order, placed.begins, strict=True):
        if kind_of(placed.tuples[i], placed.around) < 8:
            least = np.stack(mirrorings(placed.tuples[i], placed.around)).min(axis=0)
            same[begin : begin + len(least)] = begin + least
    return same


@compiled
def _value(s, stage, tables, same, weights, out):
    """Return (how many places, what the weights there add up to); their places are in ``out``."""
    n, value = places(s, tables, out), np.float32(0)
    for i in range(n):
        out[i] = same[out[i]]
        value += weights[stage, out[i]]
    return n, value


@compiled
def _descend(like, states, scores, order, tables, same, stage_of, weights, out, rate):
    total = 0.0
    for k in order:
        s = load(like, states[k], 0)
        discs = count(s)
        for near in range(3):
            stage = stage_of[near, discs]
            if near > 0 and stage == stage_of[0, discs]:
                continue
            n, value = _value(s, stage, tables, same, weights, out)
            error = scores[k] - value
            if near == 0:
                total += error * error
            step = np.float32(rate * error / n)
            for i in range(n):
                weights[stage, out[i]] += step
    return total / len(order)


@compiled
def _compare(like, states, scores, tables, same, stage_of, weights, out, found):
    for k in range(len(scores)):
        s = load(like, states[k], 0)
        _, value = _value(s, stage_of[0, count(s)], tables, same, weights, out)
        found[k] = value - scores[k]
