"""IDA* on sampled spawns as a source of work: a job is a run, and every run has a vote on the move."""

from ..search.playing import seed_of
from .sampled_jobs import IDA_RESULT, ida_job
from .sampled_pool import SampledPool


class IdaPool(SampledPool):
    """Runs of one ``Position``, each of about ``limit`` boards; seed: of all of them.

    A move is worth the share of the runs that vote for it. Of two with as many votes the better one is that of which
    more runs made the larger tile, then that which took fewer moves to do so, then the first in the order of codes.
    """

    result_dtype = IDA_RESULT

    def __init__(self, game, rules, position, limit, runs, seed):
        self._state, self._limit, self._runs = position.state, limit, runs
        self._seeds = [seed_of(seed, run) for run in range(runs)]
        self._votes = {}  # code → (runs, of them those that made the tile, minus the moves these took)
        self.goals = self.longest = self._cut = 0  # _cut: runs that their limit ended
        super().__init__(runs, ida_job(game.words(rules)))

    tree_nodes = 1  # that the master has

    def _fill(self, job, number):
        job["limit"], job["seed"], job["state"] = self._limit, self._seeds[number], self._state

    def _take_in(self, number, result):
        length, goal, move = int(result["length"]), int(result["goal"]), int(result["move"])
        self.goals += goal
        self._cut += int(result["boards"]) >= self._limit
        self.longest = max(self.longest, length)
        if move >= 0:
            votes, made, minus = self._votes.get(move, (0, 0, 0))
            self._votes[move] = votes + 1, made + goal, minus - goal * length

    @property
    def settled(self):
        """Whether no run would find anything else with a higher limit."""
        return self.done and not self._cut

    def best(self):
        """Return the move with the most votes so far as a code, None if there is none."""
        return max(sorted(self._votes), key=self._votes.get) if self._votes else None

    def moves(self):
        """Return {code: share of the runs} of the moves that have votes."""
        return {m: self._votes[m][0] / self._runs for m in sorted(self._votes)}

    @property
    def root_value(self):
        """The share of the best move, 0 without a move."""
        return self.moves().get(self.best(), 0.0)
