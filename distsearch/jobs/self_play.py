"""Games against chance as a source of work: every game is a chain of jobs, each the next part of it.

A game may have any number of moves, and a record has a fixed size. So a job is a part of a game; its result holds the
moves and the state from which the next job goes on. So games can have any length, the master plays nothing itself, the
messages stay small, and a lost worker loses one part.

For games of several candidates, each plays the same games by weights of its own. A job brings the weights along, so one
setup serves all generations of a search for weights.
"""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..engines.player import seed_of
from ..games.interface import Game
from .chance import game_job, game_result, weighted_game_job
from .numbered import NumberedJobs

# How a run hands games out, see ``cluster.events.Begin``. A short game takes the master a third of the time that it
# takes a worker, so batches are larger: with a millisecond of work in each, two workers were idle 60% of the time.
HANDED_OUT = {"batch": 4e-3, "ahead": 4}

_NOTHING = array("h")


@dataclass(slots=True)
class Played:
    """A game so far."""

    number: int
    state: tuple
    score: int = 0
    moves: int = 0  # of the player
    chance_steps: int = 0  # turns of chance
    seed: int = 0  # of its chance
    codes: array = field(default_factory=lambda: _NOTHING)  # int16, all moves until the game is over, if recorded


class GamesPool(NumberedJobs):
    """Games of one player to play.

    depth: plies that are searched for each move, at most where it has a limit; seed: of all games together;
    ended(played): called for every game that is over, after which its codes are dropped. Without it there are none. The
    setup of the run must have ``recorded`` set accordingly.
    """

    def __init__(
        self,
        game: Game,
        rules: np.ndarray,
        depth: int,
        games: int,
        seed: int,
        ended: Callable[[Played], None] | None = None,
    ):
        super().__init__(game_job(game.words(rules)))
        self._start, self._depth, self._ended, self._seed = game.start(rules).state, depth, ended, seed
        self.games, self.over = games, []  # how many; those that are over, as they ended
        self.result_dtype = game_result(game.words(rules), ended is not None)
        self._next = 0  # number of the first game that was not begun
        self._begun = {}  # number → Played, of those that are not over
        self.moves = self.nodes = self.expanded = 0
        self.cpu = self.slowest = 0.0  # seconds; slowest: of any move, where moves have a limit of time

    @property
    def done(self) -> bool:
        """Whether every game is over."""
        return len(self.over) == self.games

    @property
    def waiting(self) -> int:
        """Jobs that have not been handed out: the next parts of games that were begun, and games that were not."""
        return len(self._queue) + self.games - self._next

    def take(self, count: int, worker: int) -> np.ndarray:
        """See ``NumberedJobs.take``; games that were begun go first."""
        numbers = [self._following() for _ in range(min(count, self.waiting))]
        return self._handed(numbers, worker)

    def _following(self):
        if self._queue:
            return self._queue.popleft()
        self._begun[self._next] = self._new(self._next)
        self._next += 1
        return self._next - 1

    def _new(self, number):
        return Played(number, self._start, seed=self._seed_of(number), codes=array("h") if self._ended else _NOTHING)

    def _seed_of(self, number):
        return seed_of(self._seed, number)

    def _fill(self, job, number):
        played = self._begun[number]
        job["depth"], job["seed"] = self._depth, played.seed
        job["chance_steps"], job["state"] = played.chance_steps, played.state

    def finish(self, results: np.ndarray) -> None:
        """Take an array of result records in; a game whose part was given up goes on from where it was."""
        columns = (results[name].tolist() for name in ("chance_steps", "score", "moves", "over", "complete"))
        for (number, result), steps, score, moves, over, complete in zip(self._back(results), *columns, strict=True):
            played = self._begun[number]
            played.state, played.chance_steps = tuple(result["state"]), steps
            played.score += score
            played.moves += moves
            if self._ended:
                played.codes.frombytes(result["codes"][: result["length"]].tobytes())
            if over:
                self._close(played)
            elif complete:
                self._queue.append(number)
            else:
                self._undone(number)
        self.slowest = max([self.slowest, *results["slowest"].tolist()])
        self._add_up(results, ("moves", "nodes", "expanded", "cpu"))

    def _close(self, played):
        del self._begun[played.number]
        self.over.append(played)
        if self._ended:
            self._ended(played)
            played.codes = _NOTHING


class CandidatesPool(GamesPool):
    """Games to play by candidates, an array of weights (float64, a row each), ``each`` of them a candidate.

    The k-th game of every candidate has the same seed. A candidate's games have successive numbers, so that workers,
    which get them in that order, seldom change their tables.
    """

    def __init__(self, game: Game, rules: np.ndarray, depth: int, candidates: np.ndarray, each: int, seed: int):
        super().__init__(game, rules, depth, len(candidates) * each, seed)
        self._candidates, self._each = candidates, each
        self._seeds = np.array([seed_of(seed, number) for number in range(each)], np.uint64)
        self._job_dtype = weighted_game_job(game.words(rules), candidates.shape[1])

    def _fill(self, job, number):
        super()._fill(job, number)
        job["weights"] = self._candidates[number // self._each]

    def _seed_of(self, number):
        return int(self._seeds[number % self._each])

    def scores(self) -> np.ndarray:
        """Return the scores of all games, int64 of shape (candidates, each); they must be over."""
        found = np.empty(self.games, np.int64)
        for played in self.over:
            found[played.number] = played.score
        return found.reshape(-1, self._each)
