"""The kinds of job that workers can do: their records, and the runners that do them a slice at a time.

A runner is made from a *setup*, a small dictionary that says which game, rules and search. ``open(run)`` tells it the
number of a run; it then takes one job record after another: ``begin(job)``, ``advance(budget) -> done`` until done,
``result(seconds, cpu)``.
"""

import numpy as np

from .. import evaluation, games
from ..search import pvs
from ..search.alphabeta import INFINITY, LINE_LENGTH
from ..search.alphabeta_engine import AlphaBeta
from ..search.deep_engine import Deep
from ..search.perft import MAX_DEPTH, Perft
from ..search.solver_engine import Solver
from ..search.table import DEFAULT_MIB, far_table

TO_THE_END = -1  # as a job's depth: search until the game is over

SUBTREE_RESULT = np.dtype([
    ("node", np.int32), ("complete", np.int8), ("score", np.float64), ("boards", np.int64),
    ("ordering_boards", np.int64), ("evaluated", np.int64), ("table_hits", np.int64), ("table_stores", np.int64),
    ("table_replacements", np.int64), ("seconds", np.float64), ("cpu", np.float64), ("line_length", np.int16),
    ("line", np.int16, LINE_LENGTH),
])  # fmt: skip

PERFT_RESULT = np.dtype([
    ("node", np.int32), ("complete", np.int8), ("seconds", np.float64), ("cpu", np.float64),
    ("counts", np.int64, MAX_DEPTH + 1),
])  # fmt: skip

EMPTY_JOB = np.dtype([("node", np.int32), ("payload", np.uint8, 60)])  # 64 bytes, like a job on a board of 8×8
EMPTY_RESULT = np.dtype([("node", np.int32), ("seconds", np.float64)])


def job_dtype(words):
    """Record of a job: its node, plies to search (or TO_THE_END), boards to stop at (or 0), window, state.

    The window is the side to move's; scores are told apart no further than from low to high.
    """
    return np.dtype([
        ("node", np.int32), ("depth", np.int32), ("budget", np.int64), ("low", np.int32), ("high", np.int32),
        ("state", np.uint64, words),
    ])  # fmt: skip


def rules_of(setup):
    """Return (game module, rules array) of a setup."""
    game = games.find(setup["game"])
    return game, game.rules(setup["board"], **setup["options"])


class _SearchRunner:
    """What runners of searches share: jobs in, records out. Subclasses make ``_engine``."""

    result_dtype = SUBTREE_RESULT
    infinity = pvs.INFINITY

    def __init__(self, game, rules, engine):
        self.job_dtype = job_dtype(game.words(rules))
        self._engine = engine
        self.name, self.compile = engine.name, engine.compile

    def open(self, run):
        """Results of earlier runs that are kept are now the first to go."""
        self._engine.age(run)

    @property
    def boards(self):
        return self._engine.boards

    def begin(self, job):
        self._node, self._limit = job["node"], int(job["budget"])
        self._start(tuple(job["state"]), int(job["depth"]), (int(job["low"]), int(job["high"])))

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the job is done or its own budget used up."""
        if not self._limit:
            return self._engine.advance(budget)
        return self._engine.advance(min(budget, self._limit - self.boards)) or self.boards >= self._limit

    def result(self, seconds, cpu):
        """Return the record of the job begun last, finished or not, with the wall and CPU seconds it took."""
        found = self._engine.result()
        line = found.line[:LINE_LENGTH]
        record = np.zeros(1, SUBTREE_RESULT)
        record[0] = (
            self._node, found.complete, found.score if abs(found.score) < self.infinity else -np.inf, found.boards,
            found.ordering_boards, found.evaluated, *self._table_counts(), seconds, cpu, len(line),
            line + [0] * (LINE_LENGTH - len(line)),
        )  # fmt: skip
        return record

    def _table_counts(self):
        return self._engine.table_counts


class SubtreeRunner(_SearchRunner):
    """Searches subtrees by plain alpha-beta or minimax, with a full window."""

    infinity = INFINITY

    def __init__(self, setup):
        game, rules, chosen = _evaluated(setup)
        pruned = setup["algorithm"] == "alphabeta"
        super().__init__(game, rules, AlphaBeta(game, rules, chosen, pruned, setup["ordering"]))

    def open(self, run):
        """Nothing is kept."""

    def _start(self, state, depth, window):
        self._engine.begin(state, None if depth == TO_THE_END else depth)

    def _table_counts(self):
        return 0, 0, 0


class DeepRunner(_SearchRunner):
    """Searches subtrees to a depth; ``far`` is the far transposition table, shared by whoever was given the same."""

    def __init__(self, setup, far=None):
        game, rules, chosen = _evaluated(setup)
        super().__init__(game, rules, Deep(game, rules, chosen, far, setup["repeatable"]))

    def _start(self, state, depth, window):
        self._engine.begin(state, depth, *window)


class SolveRunner(_SearchRunner):
    """Solves positions exactly; ``far`` as ``DeepRunner`` has it. Scores are cut to the job's window."""

    def __init__(self, setup, far=None):
        game, rules = rules_of(setup)
        super().__init__(game, rules, Solver(game, rules, far))

    def _start(self, state, depth, window):
        self._engine.begin(state, *window)


def _evaluated(setup):
    game, rules = rules_of(setup)
    return game, rules, evaluation.find(game, setup["evaluation"], rules)


class PerftRunner:
    """Counts the positions below states."""

    result_dtype = PERFT_RESULT

    def __init__(self, setup):
        game, rules = rules_of(setup)
        self.job_dtype = job_dtype(game.words(rules))
        self._engine = Perft(game, rules)
        self.name = self._engine.name
        self.compile = self._engine.compile
        self.advance = self._engine.advance

    def open(self, run):
        """Nothing is kept."""

    @property
    def boards(self):
        return self._engine.boards

    def begin(self, job):
        self._node = job["node"]
        self._engine.begin(tuple(job["state"]), int(job["depth"]))

    def result(self, seconds, cpu):
        record = np.zeros(1, self.result_dtype)
        record[0] = self._node, self._engine.complete, seconds, cpu, self._engine.counts[: MAX_DEPTH + 1]
        return record


class EmptyRunner:
    """Does nothing, to measure what messages and masters cost."""

    result_dtype, job_dtype = EMPTY_RESULT, EMPTY_JOB
    boards = 0

    def __init__(self, setup):
        self._record = np.zeros(1, EMPTY_RESULT)

    def compile(self):
        """Nothing to compile."""

    def open(self, run):
        """Nothing is kept."""

    def begin(self, job):
        self._record["node"] = job["node"]

    def advance(self, budget):
        return True

    def result(self, seconds, cpu):
        self._record["seconds"] = seconds
        return self._record.copy()


def empty_jobs(count):
    """Return ``count`` job records for an EmptyRunner."""
    return np.zeros(count, EMPTY_JOB)


def kinds(far=None):
    """Return the kinds of job, by name; ``far``: the table for those that use one (default: a private one)."""

    def with_table(runner):
        def make(setup):
            nonlocal far
            if far is None:
                far = far_table(DEFAULT_MIB)
            return runner(setup, far)

        return make

    return {
        "subtree": SubtreeRunner, "deep": with_table(DeepRunner), "solve": with_table(SolveRunner),
        "perft": PerftRunner, "empty": EmptyRunner,
    }  # fmt: skip


KINDS = kinds()
