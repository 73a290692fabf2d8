"""Learning by temporal differences once more, in plain Python, from the path of a game as it is played.

Numbers are rounded to float32 where weights and traces are written, and nowhere else. Chance's tiles are here as well.
"""

import math

import numpy as np

from ..evaluation.tuple_network_twin import indices, stage, weight

_MASK = (1 << 64) - 1


class Twin:
    """Weights, and with coherence traces, that learn from a game whose moves it is told one by one.

    weights: float32, shape (stages, size), and traces: float32, shape (stages · size, 2), or None, are changed; begins:
    codes with which stages after the first begin; the other arguments are those of a ``Learner``.
    """

    def __init__(self, weights, traces, tuples, codes, symmetric, begins, rate, steps, forward, room):
        self.weights, self.traces = weights, traces
        self._tuples, self._codes, self._symmetric, self._begins = tuples, codes, symmetric, begins
        self._rate, self._steps, self._forward, self._room = rate, steps, forward, room
        self._path = []  # [board, points up to it, its value, whether it has learnt]

    def value(self, board):
        """What an afterstate, of codes, is worth."""
        at = stage(board, self._begins)
        return math.fsum(weight(self.weights, at, index) for index in self._indices(board))

    def add(self, board, points):
        """Take the next afterstate and what the move to it brought."""
        value = self.value(board)  # which the player saw, before anything is learnt from this move
        if len(self._path) == self._room:
            self._learn_from(ended=False)
            last = self._path[-1][0]
            self._path = [[last, 0, self.value(last), False]]
        self._path.append([board, points + (self._path[-1][1] if self._path else 0), value, False])
        t = len(self._path) - 1 - self._steps
        if self._forward and t >= 0 and not self._path[t][3]:
            self._learn_at(t, ended=False)

    def end(self):
        """The game is over."""
        self._learn_from(ended=True)
        self._path = []

    def _learn_from(self, ended):
        every = [t for t in range(len(self._path) - (not ended)) if not self._path[t][3]]
        for t in every if self._forward else reversed(every):
            self._learn_at(t, ended)

    def _learn_at(self, t, ended):
        board, points, _, _ = self._path[t]
        later = self._path[t + 1 :][: self._steps]  # from which it learns
        target = later[-1][1] - points if later else 0
        if len(later) == self._steps or later and not ended:
            target += later[-1][2]
        self._adjust(board, target)
        self._path[t][2:] = self.value(board), True

    def _adjust(self, board, target):
        at, looked_up = stage(board, self._begins), self._indices(board)
        error = target - self.value(board)
        for index in looked_up:
            rate = self._rate
            if self.traces is not None:
                trace = self.traces[at * self.weights.shape[1] + index]
                rate *= abs(float(trace[0])) / float(trace[1]) if trace[1] > 0 else 1.0
                trace += np.float32([error, abs(error)])
            old = weight(self.weights, at, index)
            self.weights[at, index] = old + rate * error / len(looked_up)

    def _indices(self, board):
        return indices(board, self._tuples, self._codes, self._symmetric)


def drawn(seed, n):
    """The n-th number of a seed's stream of splitmix64."""
    x = seed + (n + 1) * 0x9E3779B97F4A7C15 & _MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31


def tiles(seed, game, spawns):
    """Yield (which of the empty cells, for so many of them; code) of chance's tiles: functions of the number of cells.

    game: its number; spawns: [(code, probability)].
    """
    stream, n = drawn(drawn(seed, 0) ^ game, 1), 0
    while True:
        number, n = drawn(stream, n), n + 1
        point, kinds = (number & 0xFFFFFFFF) / 2**32, list(spawns)
        while point >= kinds[0][1] and len(kinds) > 1:
            point -= kinds.pop(0)[1]
        yield (lambda count, number=number: (number >> 32) * count >> 32), kinds[0][0]
