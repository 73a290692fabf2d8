"""Games against chance as a source of work: every game is a chain of jobs, each the next part of it.

A game may have any number of moves, and a record has a fixed size. So a job is a part of a game, and its result says by
which moves it went and where it stands, from where the next job goes on. No game is too long so, the master looks
nothing up and plays nothing itself to have all moves, the messages stay small, and what a lost worker takes along is
one part.

Games of several candidates as a source of work: each plays the same games, by weights of its own.

As a job brings the weights along, workers need no word of what the candidates are, and one setup serves all
generations of a search for weights.
"""

from array import array
from dataclasses import dataclass, field

import numpy as np

from ..engines.player import seed_of
from .chance import game_job, game_result, weighted_game_job
from .numbered import NumberedJobs

# How a run hands games out, as ``cluster.events.Begin`` has it. Short ones take the first rank a third of what they
# take a worker, so it is to be ahead: with a millisecond of work a batch, as usual, two workers idled 60% of the time.
HANDED_OUT = {"batch": 4e-3, "ahead": 4}

_NOTHING = array("h")


@dataclass(slots=True)
class Played:
    """How a game went so far. moves: the player's; codes: all moves, chance's as well, of one that is not over yet."""

    number: int
    state: tuple
    score: int = 0
    moves: int = 0
    drawn: int = 0  # turns of chance
    seed: int = 0  # of its chance
    codes: array = field(default_factory=lambda: _NOTHING)  # int16, where somebody wants them


class GamesPool(NumberedJobs):
    """Games of one player to play.

    depth: plies that are searched for each move, at most where it has a limit; seed: of all games together;
    ended(played): told of every game that is over, after which its codes are dropped. Only where somebody is told are
    there any, and the setup of the run is to say so: ``recorded``.
    """

    def __init__(self, game, rules, depth, games, seed, ended=None):
        super().__init__(game_job(game.words(rules)))
        self._start, self._depth, self._ended, self._seed = game.start(rules).state, depth, ended, seed
        self.games, self.over = games, []  # how many; those that are over, as they ended
        self.result_dtype = game_result(game.words(rules), ended is not None)
        self._next = 0  # number of the first game that nobody has begun
        self._begun = {}  # number → Played, of those that are not over
        self.moves = self.boards = self.expanded = 0
        self.cpu = self.slowest = 0.0  # seconds; slowest: of any move, where moves have a limit of time

    @property
    def done(self):
        """Whether every game is over."""
        return len(self.over) == self.games

    @property
    def waiting(self):
        """Jobs that have not been handed out: the next parts of games that were begun, and games that were not."""
        return len(self._queue) + self.games - self._next

    def take(self, count, worker):
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
        job["drawn"], job["state"] = played.drawn, played.state

    def finish(self, results):
        """Take an array of result records in; a part that was stopped is where its game ends for now."""
        columns = (results[name].tolist() for name in ("drawn", "score", "moves", "over", "complete"))
        for (number, result), drawn, score, moves, over, complete in zip(self._back(results), *columns, strict=True):
            played = self._begun[number]
            played.state, played.drawn = tuple(result["state"]), drawn
            played.score += score
            played.moves += moves
            if self._ended:
                played.codes.frombytes(result["codes"][: result["length"]].tobytes())
            if over:
                self._close(played)
            elif complete:
                self._queue.append(number)
        self.slowest = max([self.slowest, *results["slowest"].tolist()])
        self._add_up(results, moves="moves", boards="boards", expanded="expanded", cpu="cpu")

    def _close(self, played):
        del self._begun[played.number]
        self.over.append(played)
        if self._ended:
            self._ended(played)
            played.codes = _NOTHING


class CandidatesPool(GamesPool):
    """Games to play by candidates, an array of weights (float64, a row each), ``each`` of them a candidate.

    The k-th game of every candidate has the same seed. A candidate's games have numbers that follow one another, so
    that workers, who get them in that order, seldom change their tables.
    """

    def __init__(self, game, rules, depth, candidates, each, seed):
        super().__init__(game, rules, depth, len(candidates) * each, seed)
        self._candidates, self._each = candidates, each
        self._seeds = np.array([seed_of(seed, number) for number in range(each)], np.uint64)
        self._job_dtype = weighted_game_job(game.words(rules))

    def _fill(self, job, number):
        super()._fill(job, number)
        job["weights"] = self._candidates[number // self._each]

    def _seed_of(self, number):
        return int(self._seeds[number % self._each])

    def scores(self):
        """Return the scores of all games, int64 of shape (candidates, each); they must be over."""
        found = np.empty(self.games, np.int64)
        for played in self.over:
            found[played.number] = played.score
        return found.reshape(-1, self._each)
