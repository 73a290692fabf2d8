"""Searches by sampled runs in games against chance: the kinds of job, their runners and their work sources.

Averaged search has a job for each run and each of the player's moves. A run's value of a move depends on the run's seed
and the state alone, and the mean over the runs is their exact sum, rounded once, divided by their number: any number of
ranks has the same values to the last bit.

In IDA* on sampled spawns a job is a run, and every run votes for a move.
"""

import math
from typing import Any

import numpy as np

from ..engines.averaged import SampledRun
from ..engines.ida import Ida
from ..engines.player import seed_of
from ..games.interface import MAX, Position, as_state, legal_moves
from .chance import EXPECTIMAX_RESULT, EngineRunner, ExpectimaxRunner
from .numbered import SUMMED, NumberedJobs
from .records import record
from .setups import evaluated

RUN_COSTS = "nodes", "evaluated", "table_hits", "table_stores", "seconds", "cpu"
IDA_RESULT = record("job_id", "complete", "move", ("goal", np.int8), ("length", np.int32), *RUN_COSTS)


def averaged_job(words: int) -> np.dtype:
    """Record of a job of an averaged search: its id, plies to search, the run's seed, state."""
    return record("job_id", "depth", "seed", ("state", np.uint64, words))


def run_job(words: int) -> np.dtype:
    """Record of a run that nodes limit: its id, its limit, its seed, state."""
    return record("job_id", ("limit", np.int64), "seed", ("state", np.uint64, words))


class AveragedRunner(ExpectimaxRunner):
    """Searches a run of a state, in which chance has only some of its outcomes; without a shared table."""

    def __init__(self, setup: dict[str, Any]):
        game, rules, chosen = evaluated(setup)
        EngineRunner.__init__(self, averaged_job(game.words(rules)), SampledRun(game, rules, chosen, setup["width"]))

    def begin(self, job: np.void) -> None:
        self.job_id = int(job["job_id"])
        self._engine.seed(job["seed"])
        self._engine.begin(tuple(job["state"]), int(job["depth"]))


class IdaRunner(EngineRunner):
    """Searches a run of IDA*."""

    result_dtype = IDA_RESULT

    def __init__(self, setup: dict[str, Any]):
        game, rules, chosen = evaluated(setup)
        super().__init__(run_job(game.words(rules)), Ida(game, rules, chosen))

    def begin(self, job: np.void) -> None:
        self.job_id = int(job["job_id"])
        self._engine.begin(tuple(job["state"]), int(job["seed"]), int(job["limit"]))


class SampledPool(NumberedJobs):
    """Independent jobs by number, from 0 on. ``known``: which of them are done."""

    resolved = False  # whether a search that goes further would find the same

    def __init__(self, count: int, job_dtype: np.dtype):
        super().__init__(job_dtype, range(count))
        self.known = np.zeros(count, bool)

    def _take_in(self, number, result):
        """Keep the result of a job that was done to its end."""
        raise NotImplementedError

    @property
    def done(self) -> bool:
        """Whether every job is."""
        return bool(self.known.all())

    @property
    def finished(self) -> int:
        """Jobs that are done."""
        return int(self.known.sum())

    @property
    def subtrees(self) -> int:
        """All jobs."""
        return len(self.known)

    def finish(self, results: np.ndarray) -> None:
        """Take an array of result records in; what was stopped stays unknown."""
        for number, result in self._back(results):
            if result["complete"]:
                self.known[number] = True
                self._take_in(number, result)
        self._add_up(results, (*SUMMED, "table_hits", "table_stores"))  # there is no shared table


class AveragedPool(SampledPool):
    """Runs of one ``Position`` to so many plies; seed: of all of them. Where the player has no move, a job is a run."""

    result_dtype = EXPECTIMAX_RESULT

    def __init__(self, game: Any, rules: np.ndarray, position: Position, depth: int, runs: int, seed: int):
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
    def tree_nodes(self) -> int:
        """Nodes that the master has."""
        return 1 + len(self._moves)

    def _mean(self, child):
        """Return the mean of a child's values, nan if some run has none yet."""
        known = self.known.reshape(self._values.shape)[:, child].all()
        return math.fsum(self._values[:, child]) / len(self._values) if known else math.nan

    @property
    def root_value(self) -> float:
        """The root's value, nan if it is not known."""
        return max(self._mean(child) for child in range(len(self._states))) if self.done else math.nan

    def moves(self) -> dict[int, float]:
        """Return {code: value} of the root's moves whose value is known."""
        means = {m: self._mean(child) for child, m in enumerate(self._moves)}
        return {m: mean for m, mean in means.items() if not math.isnan(mean)}

    def best(self) -> int | None:
        """Return the best move at the root as a code, None if there is none or it is not known."""
        known = self.moves()
        return max(known, key=lambda move: known[move]) if known else None


class IdaPool(SampledPool):
    """Runs of one ``Position``, each of about ``limit`` nodes; seed: of all of them.

    A move is worth the share of the runs that vote for it. Of two with as many votes the better one is that of which
    more runs made the larger tile, then that which took fewer moves to do so, then the first in the order of codes.
    """

    result_dtype = IDA_RESULT

    def __init__(self, game: Any, rules: np.ndarray, position: Position, limit: int, runs: int, seed: int):
        self._state, self._limit, self._runs = position.state, limit, runs
        self._seeds = [seed_of(seed, run) for run in range(runs)]
        self._votes = {}  # code → (runs, of them those that made the tile, minus the moves these took)
        self.goals = self.longest = self._limited = 0  # _limited: runs that their limit ended
        super().__init__(runs, run_job(game.words(rules)))

    tree_nodes = 1  # that the master has

    def _fill(self, job, number):
        job["limit"], job["seed"], job["state"] = self._limit, self._seeds[number], self._state

    def _take_in(self, number, result):
        length, goal, move = int(result["length"]), int(result["goal"]), int(result["move"])
        self.goals += goal
        self._limited += int(result["nodes"]) >= self._limit
        self.longest = max(self.longest, length)
        if move >= 0:
            votes, made, minus = self._votes.get(move, (0, 0, 0))
            self._votes[move] = votes + 1, made + goal, minus - goal * length

    @property
    def resolved(self) -> bool:
        """Whether no run would find anything else with a higher limit."""
        return self.done and not self._limited

    def best(self) -> int | None:
        """Return the move with the most votes so far as a code, None if there is none."""
        return max(sorted(self._votes), key=lambda move: self._votes[move]) if self._votes else None

    def moves(self) -> dict[int, float]:
        """Return {code: share of the runs} of the moves that have votes."""
        return {m: self._votes[m][0] / self._runs for m in sorted(self._votes)}

    @property
    def root_value(self) -> float:
        """The share of the best move, 0 without a move."""
        return max(self.moves().values(), default=0.0)
