"""The kinds of job of two-player games: their records, and the runners that do them a slice at a time.

A runner is made from a *setup*, a small dictionary of game, rules and search; ``cluster.protocols`` has the interface.
"""

import importlib
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import evaluation
from ..cluster.protocols import COSTS, JobRunner
from ..core.errors import print_error
from ..engines.alphabeta import INFINITY, LINE_LENGTH, AlphaBeta
from ..engines.perft import MAX_DEPTH, Perft
from ..engines.pvs import kernels, probcut
from ..engines.pvs.depth_search import DepthSearch
from ..engines.pvs.exact_solver import ExactSolver
from ..engines.pvs.layout import ANSWER, REQUEST
from ..engines.pvs.table import DEFAULT_MIB, new_shared_table
from ..evaluation import rank_cut
from ..evaluation.rank_cut import RankCounts
from .chance import EngineRunner, ExpectimaxRunner, ExpectiminimaxRunner, GameRunner, WeightedGameRunner
from .joinable import Joinable
from .mcts import MctsRunner
from .records import record
from .sampled import AveragedRunner, IdaRunner
from .setups import evaluated, rules_of

TO_THE_END = -1  # as a job's depth: search until the game is over

_LINE = ("line_length", np.int16), ("line", np.int16, LINE_LENGTH)
SUBTREE_RESULT = record("job_id", "complete", ("score", np.float64), *COSTS, *_LINE)

# The same without a line: 33 bytes instead of 207, which MPI sends in small messages.
BRIEF_RESULT = record(
    "job_id", "complete", ("score", np.float32), "nodes", "table_hits", ("seconds", np.float32), ("cpu", np.float32)
)

PERFT_RESULT = record("job_id", "complete", "seconds", "cpu", ("counts", np.int64, MAX_DEPTH + 1))

EMPTY_JOB = record("job_id", ("payload", np.uint8, 60))  # 64 bytes, like a job on a board of 8×8
EMPTY_RESULT = record("job_id", "seconds")


def job_dtype(words: int) -> np.dtype:
    """Record of a job: its id, plies to search (or TO_THE_END), nodes to stop at (or 0), window, kind of node, state.

    The window is the side to move's; a score outside it is a bound. A sub-master needs ``expected_cut_node``, see
    ``tree.nodes``, where it expands the job.
    """
    return record("job_id", "depth", "budget", "low", "high", "expected_cut_node", ("state", np.uint64, words))


class _SavingRunner(EngineRunner):
    """Base of runners whose engine saves its progress."""

    def save(self) -> bytes:
        return self._engine.save()

    def restore(self, job: np.void, content: bytes) -> None:
        self.begin(job)
        try:
            self._engine.restore(content)
        except ValueError:
            print_error("distsearch: what the checkpoint has of a job at work is damaged: that job begins anew")


class _SearchRunner(_SavingRunner):
    """Base of runners of searches; results have no line where the setup is ``brief``."""

    infinity: Any  # scores from here on are none

    def __init__(self, setup, game, rules, engine):
        self._brief = setup.get("brief", False)
        self.result_dtype = BRIEF_RESULT if self._brief else SUBTREE_RESULT
        super().__init__(job_dtype(game.words(rules)), engine)

    @abstractmethod
    def _start(self, state, depth, window):
        """Begin to search a state."""

    def begin(self, job):
        self._take(job)
        self._start(tuple(job["state"]), int(job["depth"]), (int(job["low"]), int(job["high"])))

    def unsearched(self, jobs):
        records = super().unsearched(jobs)
        records["score"] = -np.inf
        return records

    def _take(self, job):
        self.job_id, self._limit = int(job["job_id"]), int(job["budget"])

    def advance(self, budget):
        """Search on for about ``budget`` nodes; return whether the job is done or its own budget used up."""
        if not self._limit:
            return self._engine.advance(budget)
        return self._engine.advance(min(budget, self._limit - self.nodes)) or self.nodes >= self._limit

    def result(self, seconds, cpu):
        """Return the record of the job begun last, finished or not, with the wall and CPU seconds it took."""
        found = self._found()
        line = found.line[:LINE_LENGTH]
        record = np.zeros(1, SUBTREE_RESULT)
        record[0] = (
            self.job_id,
            found.complete,
            found.score if abs(found.score) < self.infinity else -np.inf,
            found.nodes,
            found.ordering_nodes,
            found.evaluated,
            *self._table_counts(),
            seconds,
            cpu,
            len(line),
            line + [0] * (LINE_LENGTH - len(line)),
        )
        return copied(record, BRIEF_RESULT) if self._brief else record

    def _found(self):
        return self._engine.result()

    def _table_counts(self):
        return 0, 0, 0, 0


def copied(records: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return SUBTREE_RESULTs as BRIEF_RESULTs, or the other way round; missing fields are 0."""
    found: np.ndarray = np.zeros(len(records), dtype)
    for name in BRIEF_RESULT.names or ():
        found[name] = records[name]
    return found


class SubtreeRunner(_SearchRunner):
    """Searches subtrees by plain alpha-beta or minimax, with a full window."""

    infinity = INFINITY

    def __init__(self, setup: dict[str, Any]):
        game, rules, chosen = evaluated(setup)
        pruned = setup["algorithm"] == "alphabeta"
        keep = None
        if (ranking := setup.get("rank_cut")) is not None:
            probability, stage_size, rows = ranking
            counts = [RankCounts(*row) for row in rows]
            keep = partial(rank_cut.kept_moves, probability, stage_size, counts)
        super().__init__(setup, game, rules, AlphaBeta(game, rules, chosen, pruned, setup["ordering"], keep))

    def _start(self, state, depth, window):
        self._engine.begin(state, None if depth == TO_THE_END else depth)


class _TabledRunner(Joinable, _SearchRunner):
    """Base of runners whose engine has a table: many jobs in one call."""

    batches = spans_hosts = True
    infinity = kernels.INFINITY

    @abstractmethod
    def _depth_of(self, depth_left):
        """Return the depth in the record of a job with so much left."""

    @property
    def engine(self):
        return self._engine

    def open(self, run):
        """Make results of earlier runs the first to be replaced."""
        self._engine.age(run)

    def batch(self, jobs, budget):
        """See ``JobRunner.batch``: the same records as from ``begin``, ``advance`` and ``result``, with times of 0.

        Every job takes at least one node of the budget.
        """
        requests = np.empty(len(jobs), REQUEST)
        for name in ("depth", "budget", "low", "high"):
            requests[name] = jobs[name]
        requests["brief"] = self._brief
        found, lines = self._engine.batch(np.ascontiguousarray(jobs["state"]), requests, budget)
        records = np.zeros(len(found), self.result_dtype)
        for name in ANSWER.names or ():
            if name in (records.dtype.names or ()):
                records[name] = found[name]
        records["job_id"] = jobs["job_id"][: len(found)]
        if not self._brief:
            records["line"] = lines
        records["score"][np.abs(found["score"]) >= self.infinity] = -np.inf
        if len(jobs):
            self._take(jobs[min(len(found), len(jobs) - 1)])
        return records

    def export_updates(self, since):
        return self._engine.export_updates(since)

    def import_updates(self, entries, orders):
        self._engine.import_updates(entries, orders)

    def set_remote_marks(self, marks, hosts, host):
        self._engine.set_remote_marks(marks, hosts, host)

    def job_now(self):
        state, low, high, depth_left = self._engine.question
        job = np.zeros(1, self.job_dtype)
        job["job_id"], job["state"], job["low"], job["high"] = self.job_id, state, low, high
        job["depth"] = self._depth_of(depth_left)
        return job

    def narrow(self, low, high):
        self._engine.narrow(low, high)

    def split_off(self, remainder, least):
        levels = self._engine.split_off(least)
        if levels is None:
            return None
        self.job_id = remainder
        return levels.view(np.uint8)

    def _found(self):
        found = self._engine.result(self._brief)
        if not found.complete:
            self._engine.drop()
        return found

    def _table_counts(self):
        return self._engine.table_counts


class DeepRunner(_TabledRunner):
    """Searches subtrees to a depth; far: the shared transposition table."""

    def __init__(self, setup: dict[str, Any], far: Any | None = None):
        game, rules, chosen = evaluated(setup)
        selective = setup.get("selective")
        tests = None
        if selective is not None:
            probability, stage, pairs = selective
            tests = probcut.table(probability, stage, pairs, chosen.bound)
        engine = DepthSearch(game, rules, chosen, far, setup["repeatable"], setup.get("part", False), tests)
        super().__init__(setup, game, rules, engine)

    def _start(self, state, depth, window):
        self._engine.begin(state, depth, *window)

    def _depth_of(self, depth_left):
        return depth_left


class SolveRunner(_TabledRunner):
    """Solves positions exactly; far: the shared table. Scores outside the window are its ends."""

    def __init__(self, setup: dict[str, Any], far: Any | None = None):
        game, rules = rules_of(setup)
        order = evaluation.for_order(game, rules)
        super().__init__(setup, game, rules, ExactSolver(game, rules, far, part=setup.get("part", False), order=order))

    def _start(self, state, depth, window):
        self._engine.begin(state, *window)

    def _depth_of(self, depth_left):
        return TO_THE_END


class PerftRunner(_SavingRunner):
    """Counts the positions below states."""

    result_dtype = PERFT_RESULT

    def __init__(self, setup: dict[str, Any]):
        game, rules = rules_of(setup)
        super().__init__(job_dtype(game.words(rules)), Perft(game, rules))

    def begin(self, job: np.void) -> None:
        self.job_id = int(job["job_id"])
        self._engine.begin(tuple(job["state"]), int(job["depth"]))

    def result(self, seconds: float, cpu: float) -> np.ndarray:
        record = np.zeros(1, self.result_dtype)
        record[0] = self.job_id, self._engine.complete, seconds, cpu, self._engine.counts[: MAX_DEPTH + 1]
        return record


class EmptyRunner(JobRunner):
    """Does nothing, to measure the cost of messages and masters."""

    result_dtype, job_dtype = EMPTY_RESULT, EMPTY_JOB

    def __init__(self, setup: dict[str, Any]):
        self._record: np.ndarray = np.zeros(1, EMPTY_RESULT)

    @property
    def nodes(self) -> int:
        return 0

    def begin(self, job: np.void) -> None:
        self._record["job_id"] = job["job_id"]

    def advance(self, budget: int) -> bool:
        return True

    def result(self, seconds: float, cpu: float) -> np.ndarray:
        self._record["seconds"] = seconds
        return self._record.copy()


def empty_jobs(count: int, worker: int) -> np.ndarray:
    """Return ``count`` job records for an EmptyRunner, whose id is the worker."""
    jobs = np.zeros(count, EMPTY_JOB)
    jobs["job_id"] = worker
    return jobs


_WITH_TABLE = {"deep": DeepRunner, "solve": SolveRunner, "expectimax": ExpectimaxRunner}
_WITHOUT_TABLE = {
    "subtree": SubtreeRunner,
    "perft": PerftRunner,
    "expectiminimax": ExpectiminimaxRunner,
    "averaged": AveragedRunner,
    "ida": IdaRunner,
    "mcts": MctsRunner,
    "game": GameRunner,
    "weighted_game": WeightedGameRunner,
    "empty": EmptyRunner,
}


class Kinds(dict):
    """Kinds of job by name; one without a row is ``Runner`` of the module of its name here."""

    def __missing__(self, name: str) -> Callable[[dict], Any]:
        self[name] = importlib.import_module(f".{name}", __package__).Runner
        return self[name]


def kinds(far: Any | None = None, log: Any | None = None) -> Kinds:
    """Return the Kinds of job.

    far: the shared table, see ``TableSearch`` (default: a private one); log: a ``visits.Visits`` to which engines with
    a table write, or None.
    """

    def with_table(runner):
        def make(setup):
            nonlocal far
            if far is None:
                far = new_shared_table(DEFAULT_MIB)
            made = runner(setup, far)
            if log is not None:
                made.engine.explain(log)
            return made

        return make

    return Kinds(_WITHOUT_TABLE | {name: with_table(runner) for name, runner in _WITH_TABLE.items()})


KINDS = kinds()
