"""Searches in which chance has an adversary, from end to end; see ``search.expectiminimax``."""

from .. import evaluation
from ..tree.placements import Placements
from .chance_search import ChanceSearcher


class AdversarySearcher(ChanceSearcher):
    """Searches positions by expectiminimax, minimax or alpha-beta, shared out by a pool or by brothers that wait."""

    _counts = ChanceSearcher._counts | {name: name for name in ("jobs_used", "jobs_wasted", "jobs_cut")}
    _by_host = False

    def _compile(self, runner):
        self._evaluation = evaluation.find(self.game, self._options.evaluation, self.rules)
        runner.compile()
        self._evaluate(self.game.start(self.rules).state)

    def _evaluate(self, state):
        return float(self._evaluation.function(state, self.rules, self._evaluation.tables))

    def _pool(self, position, depth):
        setup, options = self._setup, self._options
        target = 1 if depth < options.layer_plies else self.target
        return Placements(
            self.game, self.rules, position.state, depth, target, options.par_depth, setup["whole"], setup["pruned"],
            options.policy == "brothers", options.all_moves, self._evaluate if setup["pruned"] else None)  # fmt: skip

    def _outcome(self, *found):
        outcome, options = super()._outcome(*found), self._options
        outcome.par_depth, outcome.pruning = options.par_depth, "alphabeta" if options.pruned else "none"
        return outcome
