"""One interface to the GPU's searches of games of two players, for ``gpu_two_player``."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from ..games import connect4, othello
from ..games.interface import END
from ..gpu import to_depth
from ..gpu.othello_endgame import GpuEndgame
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


class GpuSearch(ABC):
    """Searches of many positions of one setup on a GPU.

    ``solver`` does them, see ``gpu.solver``; ``counts``: of the batch, as of the latest ``found``; offloads: whether it
    hands parts of large positions to other ranks; tells_moves: whether no complete score of a game that goes on comes
    without a best move; slots: positions that it may hold at a time; hands_back: whether what does not ``fit`` is
    better done by a rank without a GPU.
    """

    offloads, tells_moves, hands_back = False, False, False
    slots = 8192  # a batch at work, and one that waits for it
    room = 0  # for positions that are added to the batch at work
    solver: Any
    counts: dict

    def __init__(self, setup):
        self._game, self._rules = rules_of(setup)

    @abstractmethod
    def fits(self, jobs: np.ndarray) -> np.ndarray:
        """Return which of the jobs the GPU can do (bool)."""

    def begin(self, states: np.ndarray, depths: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """Begin a batch, of searches to ``depths`` if they are to a depth."""
        self.solver.begin(states, low, high)

    def advance(self) -> bool:
        """Search on until a launch has ended; return whether all is known."""
        return self.solver.advance()

    def go_ahead(self) -> None:
        """If it is possible, have the GPU search on already, while the results of the latest launch are told."""

    def add(self, states: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """Add positions to the batch at work, no more than there is ``room`` for."""
        raise NotImplementedError

    def found(self) -> Found:
        """Return what is Found of the batch."""
        scores, complete, _, self.counts = self.solver.result()
        return Found(scores, complete, self.solver.best().astype(np.int16))

    def value(self, state: tuple, depth: int) -> int | None:
        """Return the score of a position that need not be searched, None if it must be."""
        return _final(self._game, self._rules, state)


class Connect4ToEnd(GpuSearch):
    """Exact scores, whatever the number of stones."""

    offloads = True

    def __init__(self, gpu, setup):
        super().__init__(setup)
        self.solver = GpuSolver(gpu, connect4, self._rules, _room(gpu, _TABLE_MIB))

    def fits(self, jobs):
        return np.ones(len(jobs), bool)


class OthelloToEnd(GpuSearch):
    """End games of so few empty squares that one launch can solve most of them.

    Positions join the batch at work, and the GPU is at the next launch while the results of one are told: few positions
    take longer than many others together, and a batch of its own would leave most of the GPU idle at its end.
    """

    MOST, tells_moves = 14, True
    slots = 1 << 14  # twice the groups of an H200
    _ROOM = 1 << 16  # positions of a batch, after which the next one waits for its end
    SHARED = 9  # from so many on, groups without a position help others: 22% faster, measured with 30,000 of 10 to 12

    def __init__(self, gpu, setup):
        super().__init__(setup)
        self.solver, self._is_ahead = None, False
        if int(self._rules[othello.SQUARES]) <= 64:
            sizes = {"table_mib": _room(gpu, _ENDGAME_MIB), "share_from": self.SHARED}
            self.solver = GpuEndgame(gpu, othello, self._rules, most=self.MOST, **sizes)
        self.hands_back = self.solver is not None

    def fits(self, jobs):
        if self.solver is None:
            return np.zeros(len(jobs), bool)
        taken = np.array([int(own | other).bit_count() for own, other in jobs["state"][:, :2]], np.int64)
        return int(self._rules[othello.SQUARES]) - taken <= self.MOST

    def begin(self, states, depths, low, high):
        if self._is_ahead:
            self.advance()
        self.solver.begin(states, low, high, self._ROOM)

    @property
    def room(self):
        return self.solver.room

    def add(self, states, low, high):
        self.solver.add(states, low, high)

    def advance(self):
        if not self._is_ahead:
            self.solver.launch()
        self._is_ahead = False
        return self.solver.finished()

    def go_ahead(self):
        self.solver.launch()
        self._is_ahead = True

    def found(self):
        self.counts = self.solver.counts
        return Found(*self.solver.result())


class ToDepth(GpuSearch):
    """Searches to a depth, of any game that ``gpu.to_depth`` knows."""

    def __init__(self, gpu, setup):
        super().__init__(setup)
        *_, self._evaluation = evaluated(setup)
        of = self._game, self._rules, self._evaluation
        self.solver = to_depth.GpuDepthSearch(gpu, *of, table_mib=_room(gpu, _TABLE_MIB))

    def fits(self, jobs):
        fits = (jobs["depth"] >= 1) & (jobs["depth"] <= to_depth.MOST_PLIES) & (jobs["budget"] == 0)
        return fits & ~to_depth.over(self._game, jobs["state"], self._rules)

    def begin(self, states, depths, low, high):
        self.solver.begin(states, depths, low, high)

    def value(self, state, depth):
        score = _final(self._game, self._rules, state)
        if score is not None:
            return score + int(np.sign(score)) * self._evaluation.bound
        if depth > 0:
            return None
        return int(self._evaluation.function(state, self._rules, self._evaluation.tables))
