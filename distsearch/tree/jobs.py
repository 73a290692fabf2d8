"""The kinds of job that workers can do: their records, and the runners that do them a slice at a time.

A runner is made from a *setup*, a small dictionary that says which game, rules and search; it then takes one job record
after another: ``begin(job)``, ``advance(budget) -> done`` until done, ``result(seconds, cpu)``.
"""

import numpy as np

from .. import evaluation, games
from ..search.alphabeta import INFINITY, LINE_LENGTH
from ..search.alphabeta_engine import AlphaBeta
from ..search.perft import MAX_DEPTH, Perft
from ..search.pvs import INFINITY as SOLVED_INFINITY
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


class SubtreeRunner:
    """Searches subtrees by alpha-beta or minimax, with a full window."""

    result_dtype = SUBTREE_RESULT

    def __init__(self, setup):
        game, rules = rules_of(setup)
        chosen = evaluation.find(game, setup["evaluation"], rules)
        self.job_dtype = job_dtype(game.words(rules))
        self._engine = AlphaBeta(game, rules, chosen, setup["algorithm"] == "alphabeta", setup["ordering"])
        self.name = self._engine.name
        self.compile = self._engine.compile

    @property
    def boards(self):
        return self._engine.boards

    def begin(self, job):
        self._node, self._limit = job["node"], int(job["budget"])
        depth = int(job["depth"])
        self._engine.begin(tuple(job["state"]), None if depth == TO_THE_END else depth)

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the job is done or its own budget used up."""
        if not self._limit:
            return self._engine.advance(budget)
        return self._engine.advance(min(budget, self._limit - self.boards)) or self.boards >= self._limit

    def result(self, seconds, cpu):
        """Return the record of the job begun last, finished or not, with the wall and CPU seconds it took."""
        found = self._engine.result()
        score = found.score if abs(found.score) < INFINITY else -np.inf
        return _record(self._node, found, score, (0, 0, 0), seconds, cpu)


def _record(node, found, score, table_counts, seconds, cpu):
    record = np.zeros(1, SUBTREE_RESULT)
    line = found.line[:LINE_LENGTH]
    record[0] = (
        node, found.complete, score, found.boards, found.ordering_boards, found.evaluated, *table_counts, seconds, cpu,
        len(line), line + [0] * (LINE_LENGTH - len(line)),
    )  # fmt: skip
    return record


class SolveRunner:
    """Solves positions exactly; ``far`` is the far transposition table, shared by whoever was given the same."""

    result_dtype = SUBTREE_RESULT

    def __init__(self, setup, far=None):
        game, rules = rules_of(setup)
        self.job_dtype = job_dtype(game.words(rules))
        self._engine = Solver(game, rules, far)
        self.name = self._engine.name
        self.compile, self.advance = self._engine.compile, self._engine.advance

    @property
    def boards(self):
        return self._engine.boards

    def begin(self, job):
        self._node = job["node"]
        self._engine.begin(tuple(job["state"]), int(job["low"]), int(job["high"]))

    def result(self, seconds, cpu):
        """Return the record of the job begun last; the score of a finished one is cut to the job's window."""
        found = self._engine.result()
        score = found.score if abs(found.score) < SOLVED_INFINITY else -np.inf
        return _record(self._node, found, score, self._engine.table_counts, seconds, cpu)


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

    def solve(setup):
        nonlocal far
        if far is None:
            far = far_table(DEFAULT_MIB)
        return SolveRunner(setup, far)

    return {"subtree": SubtreeRunner, "solve": solve, "perft": PerftRunner, "empty": EmptyRunner}


KINDS = kinds()
