"""The kinds of job of searches by sampled runs, in games against chance; see ``jobs`` for what a runner is."""

import numpy as np

from ..search.averaged_engine import SampledRun
from ..search.ida_engine import Ida
from .chance_jobs import EngineRunner, ExpectimaxRunner
from .setups import evaluated

IDA_RESULT = np.dtype([
    ("node", np.int32), ("complete", np.int8), ("move", np.int16), ("goal", np.int8), ("length", np.int32),
    ("boards", np.int64), ("evaluated", np.int64), ("table_hits", np.int64), ("table_stores", np.int64),
    ("seconds", np.float64), ("cpu", np.float64),
])  # fmt: skip


def averaged_job(words):
    """Record of a job of an averaged search: its number, plies to search, the run's seed, state."""
    return np.dtype([
        ("node", np.int32), ("depth", np.int32), ("seed", np.uint64), ("state", np.uint64, words),
    ])  # fmt: skip


def ida_job(words):
    """Record of a run of IDA*: its number, its limit of boards, its seed, state."""
    return np.dtype([
        ("node", np.int32), ("limit", np.int64), ("seed", np.uint64), ("state", np.uint64, words),
    ])  # fmt: skip


class AveragedRunner(ExpectimaxRunner):
    """Searches a run of a state, in which chance does only some of what it may; without a far table."""

    def __init__(self, setup):
        game, rules, chosen = evaluated(setup)
        EngineRunner.__init__(self, averaged_job(game.words(rules)), SampledRun(game, rules, chosen, setup["width"]))

    def begin(self, job):
        self._node = job["node"]
        self._engine.seed(job["seed"])
        self._engine.begin(tuple(job["state"]), int(job["depth"]))


class IdaRunner(EngineRunner):
    """Searches a run of IDA*."""

    result_dtype = IDA_RESULT

    def __init__(self, setup):
        game, rules, chosen = evaluated(setup)
        super().__init__(ida_job(game.words(rules)), Ida(game, rules, chosen))

    def begin(self, job):
        self._node = job["node"]
        self._engine.begin(tuple(job["state"]), int(job["seed"]), int(job["limit"]))

    def result(self, seconds, cpu):
        record, found = np.zeros(1, self.result_dtype), self._engine.result()
        move = -1 if found.move is None else found.move
        record[0] = (
            self._node, found.complete, move, found.goal, found.length, found.boards, found.evaluated, found.hits,
            found.stores, seconds, cpu,
        )  # fmt: skip
        return record
