"""What a GPU runner of games of two players asks of the searches on its GPU: one interface for all of them."""

from typing import Any, NamedTuple

import numpy as np

from ..games import connect4, othello
from ..games.interface import END
from ..gpu import to_depth
from ..gpu.othello_endgame import NO_MOVE, GpuEndgame
from ..gpu.solver import GpuSolver
from .setups import evaluated, rules_of

_TABLE_MIB, _ENDGAME_MIB = 4096, 1024  # of the GPU's memory, or
_SHARE = 8  # an eighth of what is free, for other ranks and other setups


class Found(NamedTuple):
    """What is known of the positions of a batch so far; arrays of shape (n,)."""

    scores: np.ndarray  # int32
    complete: np.ndarray  # bool
    moves: np.ndarray  # int16, codes of best moves, NO_MOVE where none is known


def _final(game, rules, state):
    """Return the score of a position that is the end of a game, None of any other."""
    return int(game.final(state, rules)) if game.kind(state, rules) == END else None


def _room(gpu, mib):
    """Return how many of the wanted MiB a table may take."""
    return min(mib, max(gpu.free() // _SHARE >> 20, 1))


class Connect4ToEnd:
    """Exact scores, whatever the number of stones.

    ``solver`` searches, see ``gpu.solver``; offloads: whether it hands parts of large positions to other ranks;
    tells_moves: whether no complete score of a game that goes on comes without a best move.
    """

    offloads, tells_moves = True, False

    def __init__(self, gpu, setup):
        self._game, self._rules = rules_of(setup)
        self.solver = GpuSolver(gpu, connect4, self._rules, _room(gpu, _TABLE_MIB))
        self.counts = {}  # of the batch, as of the latest ``found``

    def fits(self, jobs):
        """Return which of the jobs the GPU can do (bool)."""
        return np.ones(len(jobs), bool)

    def begin(self, states, depths, low, high):
        """Begin a batch, of searches to ``depths`` if they are to a depth."""
        self.solver.begin(states, low, high)

    def found(self):
        """Return what is Found of the batch."""
        scores, complete, _, self.counts = self.solver.result()
        return Found(scores, complete, self.solver.best().astype(np.int16))

    def value(self, state, depth):
        """Return the score of a position that need not be searched, None if it must be."""
        return _final(self._game, self._rules, state)


class OthelloToEnd:
    """End games of so few empty squares that one launch can solve them."""

    MOST, offloads, tells_moves = 14, False, True
    SHARED = 9  # from so many on, groups without a position help others: 22% faster, measured with 30,000 of 10 to 12

    def __init__(self, gpu, setup):
        self._game, self._rules = rules_of(setup)
        self.solver: Any = None
        if int(self._rules[othello.SQUARES]) <= 64:
            sizes = {"table_mib": _room(gpu, _ENDGAME_MIB), "share_from": self.SHARED}
            self.solver = GpuEndgame(gpu, othello, self._rules, most=self.MOST, **sizes)

    def fits(self, jobs):
        if self.solver is None:
            return np.zeros(len(jobs), bool)
        taken = np.array([int(own | other).bit_count() for own, other in jobs["state"][:, :2]], np.int64)
        return int(self._rules[othello.SQUARES]) - taken <= self.MOST

    def begin(self, states, depths, low, high):
        self.solver.begin(states, low, high)

    def found(self):
        return Found(*self.solver.result())

    value = Connect4ToEnd.value

    @property
    def counts(self):
        return self.solver.counts


class ToDepth:
    """Searches to a depth, of any game that ``gpu.to_depth`` knows."""

    offloads, tells_moves = False, False

    def __init__(self, gpu, setup):
        self._game, self._rules, self._evaluation = evaluated(setup)
        of = self._game, self._rules, self._evaluation
        self.solver = to_depth.GpuDepthSearch(gpu, *of, table_mib=_room(gpu, _TABLE_MIB))
        self.counts = {}

    def fits(self, jobs):
        fits = (jobs["depth"] >= 1) & (jobs["depth"] <= to_depth.MOST_PLIES) & (jobs["budget"] == 0)
        return fits & ~to_depth.over(self._game, jobs["state"], self._rules)

    def begin(self, states, depths, low, high):
        self.solver.begin(states, depths, low, high)

    found = Connect4ToEnd.found

    def value(self, state, depth):
        score = _final(self._game, self._rules, state)
        if score is not None:
            return score + int(np.sign(score)) * self._evaluation.bound
        if depth > 0:
            return None
        return int(self._evaluation.function(state, self._rules, self._evaluation.tables))


__all__ = ["NO_MOVE", "Connect4ToEnd", "Found", "OthelloToEnd", "ToDepth"]
