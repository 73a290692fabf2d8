"""Games of several candidates as a source of work: each plays the same games, by weights of its own.

As a job brings the weights along, workers need no word of what the candidates are, and one setup serves all
generations of a search for weights.
"""

import numpy as np

from ..search.playing import seed_of
from .chance_jobs import weighted_game_job
from .games_pool import GamesPool


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
