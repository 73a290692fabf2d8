"""The kinds of job that workers can do: their records, and the runners that do them a slice at a time.

A runner is made from a *setup*, a small dictionary that says which game, rules and search; it then takes one job record
after another: ``begin(job)``, ``advance(budget) -> done`` until done, ``result(seconds, cpu)``.
"""

import numpy as np

from .. import evaluation, games
from ..search.alphabeta import INFINITY, LINE_LENGTH
from ..search.alphabeta_engine import AlphaBeta
from ..search.perft import MAX_DEPTH, Perft

TO_THE_END = -1  # as a job's depth: search until the game is over

SUBTREE_RESULT = np.dtype([
    ("node", np.int32), ("complete", np.int8), ("score", np.float64), ("boards", np.int64),
    ("ordering_boards", np.int64), ("evaluated", np.int64), ("seconds", np.float64), ("cpu", np.float64),
    ("line_length", np.int16), ("line", np.int16, LINE_LENGTH),
])  # fmt: skip

PERFT_RESULT = np.dtype([
    ("node", np.int32), ("complete", np.int8), ("seconds", np.float64), ("cpu", np.float64),
    ("counts", np.int64, MAX_DEPTH + 1),
])  # fmt: skip

EMPTY_JOB = np.dtype([("node", np.int32), ("payload", np.uint8, 60)])  # 64 bytes, like a job on a board of 8×8
EMPTY_RESULT = np.dtype([("node", np.int32), ("seconds", np.float64)])


def job_dtype(words):
    """Record of a job: the node it is for, the plies to search (or TO_THE_END), boards to stop at (or 0), the state."""
    return np.dtype([("node", np.int32), ("depth", np.int32), ("budget", np.int64), ("state", np.uint64, words)])


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
        record = np.zeros(1, self.result_dtype)
        score = found.score if abs(found.score) < INFINITY else -np.inf
        line = found.line[:LINE_LENGTH]
        record[0] = (
            self._node, found.complete, score, found.boards, found.ordering_boards, found.evaluated, seconds, cpu,
            len(line), line + [0] * (LINE_LENGTH - len(line)),
        )  # fmt: skip
        return record


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


KINDS = {"subtree": SubtreeRunner, "perft": PerftRunner, "empty": EmptyRunner}
