"""Chance that does only some of what is likely: the sampled runs of the averaged depth-limited search.

In a run chance does up to W (the width) of its likelier outcomes, those at least half as likely as the likeliest: W of
them are drawn, each as probably as any other, and their probabilities are scaled to sum to 1. What is drawn is a
function of the run's seed and of the state alone. So within a run a value is a function of its key, as ``expectimax``
wants it, whose templates go without a change: these stand in for the game's ``outcomes`` and ``key``. A report on 2048
on GPUs gives the search its name and shape; its likelier outcomes are the tiles 2.

The averaged depth-limited search for one game, board and evaluation: its runs, one at a time.
"""

import numpy as np

from .. import games
from ..core import jit
from ..core.rng import below, drawn
from .expectimax import Expectimax

outcomes = key = SEED = None  # bound for each game: its functions, and where the rules array has a run's seed, then W

LEAST_SHARE = 0.5  # of the likeliest outcome's probability


def some_outcomes(s, r, out, probability, at):
    """As a game's ``outcomes``."""
    n = np.int64(outcomes(s, r, out, probability, at))
    largest = 0.0
    for i in range(at, at + n):
        largest = max(largest, probability[i])
    likely = at
    for i in range(at, at + n):
        if probability[i] >= LEAST_SHARE * largest:
            out[likely], probability[likely] = out[i], probability[i]
            likely += 1
    n, width = likely - at, np.int64(r[SEED + 1])
    if width < n:
        seed = r[SEED] ^ key(s, r)
        for i in range(width):
            j = i + below(drawn(seed, i), n - i)
            out[at + i], out[at + j] = out[at + j], out[at + i]
            probability[at + i], probability[at + j] = probability[at + j], probability[at + i]
        n = width
    total = 0.0
    for i in range(at, at + n):
        total += probability[i]
    for i in range(at, at + n):
        probability[i] /= total
    return n


def key_in_run(s, r):
    """As a game's ``key``; runs of other seeds have other keys, so one table serves them all."""
    return key(s, r) ^ r[SEED]


class SampledRun(Expectimax):
    """A pausable run, in which chance does up to ``width`` of its likelier outcomes; see ``averaged``.

    Its seed is given before ``begin``, and so are those of other runs: the table keeps them apart.
    """

    def __init__(self, game, rules, evaluation, width):
        self._own = np.concatenate([rules, np.array([0, width], np.uint64)])
        self.kind = f"averaged_{len(rules)}"  # a board of equal sides has one table less
        super().__init__(game, self._own, evaluation)

    def seed(self, seed):
        """What is searched from now on is the run of this seed (64 bits)."""
        self._own[-2] = np.uint64(seed)

    def _functions(self):
        functions = super()._functions()
        place = len(self._own) - 2
        bound = {"outcomes": functions["outcomes"], "key": functions["key"], "SEED": place}
        name = f"{games.tag(self._game)}_{place}"
        functions["outcomes"] = jit.specialise(some_outcomes, f"some_outcomes_{name}", bound)
        functions["key"] = jit.specialise(key_in_run, f"key_in_run_{name}", bound)
        return functions
