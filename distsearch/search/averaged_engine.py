"""The averaged depth-limited search for one game, board and evaluation: its runs, one at a time."""

import numpy as np

from .. import games, jit
from . import averaged
from .expectimax_engine import Expectimax


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
        functions["outcomes"] = jit.specialise(averaged.some_outcomes, f"some_outcomes_{name}", bound)
        functions["key"] = jit.specialise(averaged.key_in_run, f"key_in_run_{name}", bound)
        return functions
