"""Positions that are searched by one rank each, under any limit: a kind of job, and the source that hands it out."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..games.interface import Position, as_state
from ..jobs.numbered import NumberedJobs
from ..jobs.records import record
from ..jobs.setups import evaluated
from .compiling import in_this_process
from .options import Options
from .pausable_runner import PausableRunner
from .progress import Silent
from .result import Outcome
from .two_player import TwoPlayerSearcher

KIND = "position_searches"
RESULT = record("job_id", "complete", "nodes", "seconds", "cpu", "depth", "move", ("score", np.int32))


def job_dtype(words: int) -> np.dtype:
    """Record of a position: its number and its state."""
    return record("job_id", ("state", np.uint64, words))


def setup_of(options: Options) -> dict[str, Any]:
    """Return the setup of the workers' runners, of plain types."""
    of = {"game": options.game, "board": options.board, "options": options.rules, "evaluation": options.evaluation}
    return {"kind": KIND, **of, "search": options.given()}


class RankSearchRunner(PausableRunner):
    """Searches positions of a game of two players."""

    result_dtype = RESULT

    def __init__(self, setup: dict[str, Any]):
        super().__init__()
        self._setup = setup
        self._game, self._rules, self._evaluation = evaluated(setup)
        self.job_dtype = job_dtype(self._game.words(self._rules))
        self._searcher: Any = None
        self._found: Outcome | None = None

    def compile(self) -> None:
        """Compile, or load from disk, what searches need."""
        if self._searcher is not None:
            return
        setup = self._setup
        with in_this_process():
            options = Options(setup["game"], tuple(setup["board"]), setup["options"], **setup["search"])
            self._searcher = TwoPlayerSearcher(options, self._cluster(), Silent(), self._interrupted)
            self._searcher.compile_all()

    @property
    def nodes(self) -> int:
        return 0 if self._found is None else self._found.nodes

    def begin(self, job: np.void) -> None:
        self._stop()
        self.compile()
        self.job_id, self._found = int(job["job_id"]), None
        position = Position(as_state(job["state"]))

        def search():
            self._found = next(self._searcher.search([position]))

        self._call(search)

    def result(self, seconds: float, cpu: float) -> np.ndarray:
        ended = self._stop()
        record: np.ndarray = np.zeros(1, RESULT)
        record["job_id"], record["nodes"], record["seconds"], record["cpu"] = self.job_id, self.nodes, seconds, cpu
        if ended and self._found is not None:
            record["complete"], record["depth"] = True, self._found.depth
            record["move"] = self._game.parse_move(str(self._found.move), self._rules)
            record["score"] = _as_evaluated(self._found, self._evaluation.bound)
        return record


def _as_evaluated(found, bound):
    """Return the score of an Outcome as searches to a depth have it, in which a win is moved out by the bound."""
    score = int(found.score)
    return score + int(math.copysign(bound, score)) if found.proved and score else score


class RankSearches(NumberedJobs):
    """Positions as a source of work: states of shape (n, words); each is a job.

    take_in(numbers, results): called with those that came, indices of states and RESULTs.
    """

    result_dtype = RESULT

    def __init__(self, states: np.ndarray, take_in: Callable[[np.ndarray, np.ndarray], None]):
        super().__init__(job_dtype(states.shape[1]), range(len(states)))
        self._states, self._take_in, self.answered = states, take_in, 0

    @property
    def done(self) -> bool:
        """Whether every position is searched."""
        return self.answered == len(self._states)

    def _fill(self, job, number):
        job["state"] = self._states[number]

    def finish(self, results: np.ndarray) -> None:
        """Take result records in; those of searches that were stopped say nothing."""
        for _ in self._back(results):
            pass
        whole = results[results["complete"] != 0]
        self.answered += len(whole)
        self._add_up(results, ("nodes", "cpu"))
        if len(whole):
            self._take_in(whole["job_id"].astype(np.int64), whole)
