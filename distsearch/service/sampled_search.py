"""Searches by sampled runs, from end to end; each is the search of a game against chance with a pool of its own."""

from ..tree.averaged_pool import AveragedPool
from ..tree.ida_pool import IdaPool
from .chance_search import ChanceSearcher

_FIRST_BOARDS = 1_000  # of a run of ida under a limit of time; then twice as many, until the time is up
_MOST_BOARDS = 1 << 40


class AveragedSearcher(ChanceSearcher):
    """Searches positions by averaged runs; see ``search.averaged``."""

    _by_host = False

    def _pool(self, position, depth):
        options = self._options
        return AveragedPool(self.game, self.rules, position, depth, options.runs, options.seed)

    def _outcome(self, *found):
        outcome, options = super()._outcome(*found), self._options
        outcome.runs, outcome.width, outcome.seed = options.runs, options.width, options.seed
        return outcome


class IdaSearcher(ChanceSearcher):
    """Searches positions by IDA* on sampled spawns; see ``search.ida``. What goes up are not plies but runs' boards."""

    _by_host = False
    _first = _FIRST_BOARDS
    _effort = "boards a run"

    def _most(self, position):
        return self._options.nodes or _MOST_BOARDS

    def _more(self, boards):
        return 2 * boards

    def _pool(self, position, boards):
        return IdaPool(self.game, self.rules, position, boards, self._options.runs, self._options.seed)

    def _outcome(self, position, pool, boards, interrupted):
        outcome, options = super()._outcome(position, pool, boards, interrupted), self._options
        outcome.runs, outcome.goals, outcome.seed = options.runs, pool.goals, options.seed
        outcome.depth, outcome.unit = pool.longest, "of the runs"
        return outcome
