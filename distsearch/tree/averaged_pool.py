"""The averaged search of one state as a source of work: a job for each run and each of the player's moves.

A run's value of a move depends on the run's seed and the state alone, and the mean over the runs is their exact sum,
rounded once, divided by their number: any number of ranks has the same values to the last bit.
"""

import math

import numpy as np

from ..games.interface import MAX, as_state, legal_moves
from ..search.playing import seed_of
from .chance_jobs import EXPECTIMAX_RESULT
from .sampled_jobs import averaged_job
from .sampled_pool import SampledPool


class AveragedPool(SampledPool):
    """Runs of one ``Position`` to so many plies; seed: of all of them. Where the player has no move, a job is a run."""

    result_dtype = EXPECTIMAX_RESULT

    def __init__(self, game, rules, position, depth, runs, seed):
        self._moves, self._left = [], depth
        self._states = [position.state]
        if int(game.kind(position.state, rules)) == MAX:
            self._moves, self._left = legal_moves(game, position, rules), depth - 1
            self._states = [as_state(game.play(position.state, rules, np.int64(m))[0]) for m in self._moves]
        self._seeds = [seed_of(seed, run) for run in range(runs)]
        self._values = np.zeros((runs, len(self._states)))
        super().__init__(self._values.size, averaged_job(game.words(rules)))

    def _fill(self, job, number):
        run, child = divmod(number, len(self._states))
        job["depth"], job["seed"], job["state"] = self._left, self._seeds[run], self._states[child]

    def _take_in(self, number, result):
        self._values.flat[number] = result["value"]

    @property
    def tree_nodes(self):
        """Nodes that the master has."""
        return 1 + len(self._moves)

    def _mean(self, child):
        """Return the mean of a child's values, nan if some run has none yet."""
        known = self.known.reshape(self._values.shape)[:, child].all()
        return math.fsum(self._values[:, child]) / len(self._values) if known else math.nan

    @property
    def root_value(self):
        """The root's value, nan if it is not known."""
        return max(self._mean(child) for child in range(len(self._states))) if self.done else math.nan

    def moves(self):
        """Return {code: value} of the root's moves whose value is known."""
        means = {m: self._mean(child) for child, m in enumerate(self._moves)}
        return {m: mean for m, mean in means.items() if not math.isnan(mean)}

    def best(self):
        """Return the best move at the root as a code, None if there is none or it is not known."""
        known = self.moves()
        return max(known, key=known.get) if known else None
