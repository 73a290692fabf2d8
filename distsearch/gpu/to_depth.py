"""Searches of many positions to a depth on a GPU: Othello and Connect 4, with their evaluations, for ``solver``."""

from typing import NamedTuple

import numpy as np

from ..core.errors import UserError
from ..evaluation import Evaluation, patterns
from ..games import connect4, othello
from ..games.interface import PASS, board_size
from . import connect4 as connect4_on_gpu
from .othello_endgame import reach
from .solver import GpuSolver

MOST_PLIES = 60
_FIRST = 4  # plies of the first of the searches, each two plies deeper, by which a search begins
_EVALUATIONS = {othello.NAME: ("discs", "complex", "patterns"), connect4.NAME: ("outcome",)}
_IMAGES = {2: "TWO", 4: "FOUR", 8: "EIGHT"}  # macros by how often a pattern is looked up
_PASS = 64  # a pass, as the kernel has it


class _ToDepth(NamedTuple):
    """What ``GpuSolver`` asks of a game; see ``gpu.connect4``."""

    SOURCE: str
    macros: dict
    most_moves: int
    STATE: int
    SCORE: type
    FLAGS: int
    LANES: int  # of a search
    BLOCKS: int  # that a multiprocessor is to hold
    TABLE: int = 2
    SHARE: int = 4
    NODE_GROUPS_DOUBLE: int = 1
    JOB_GROUPS_DOUBLE: int = 1
    OFFLOADS = False

    def defines(self, rules):
        return self.macros

    def moves(self, rules):
        return self.most_moves

    def ended(self, states, rules):
        return np.zeros(len(states), bool)  # those are not asked for


def check(game: object, rules: np.ndarray, evaluation: Evaluation) -> None:
    """Raise UserError unless a GPU searches a game to a depth by these rules, with an evaluation."""
    _described(game, rules, evaluation)


def over(game: object, states: np.ndarray, rules: np.ndarray) -> np.ndarray:
    """Return which states (uint64, shape (n, 2)) are ends of games (bool)."""
    if game.NAME == connect4.NAME:
        return connect4_on_gpu.ended(states, rules)
    own, opp = states[:, 0], states[:, 1]
    return (reach(own, opp, rules) | reach(opp, own, rules)) == 0


def _described(game, rules, evaluation):
    known = _EVALUATIONS.get(game.NAME)
    if known is None:
        raise UserError(f"device gpu searches {' and '.join(_EVALUATIONS)} to a depth, not {game.NAME}")
    if evaluation.name not in known:
        raise UserError(
            f"device gpu searches {game.NAME} to a depth by evaluation {' or '.join(known)}, not {evaluation.name}"
        )
    if game.NAME == connect4.NAME:
        macros = connect4_on_gpu.defines(rules)
        return _ToDepth("connect4_to_depth.cu", macros, int(rules[connect4.COLUMNS]), 32, np.int8, 1, 8, 6)
    rows, columns = board_size(rules)
    if rows * columns > 64:
        raise UserError(f"device gpu searches othello to a depth on boards of up to 64 squares, not {rows}x{columns}")
    macros = {
        "BOARD_ROWS": rows,
        "BOARD_COLUMNS": columns,
        "TO_WINNER": int(rules[othello.EMPTIES_TO_WINNER]),
        "EVALUATION": known.index(evaluation.name),
        "BONUS": evaluation.bound,
        "WIDENED": max(evaluation.unit, 1),
    }
    if evaluation.name == patterns.NAME:
        macros["PATTERNS"] = "".join(
            f"{_IMAGES[images]}({squares:#x})" for images, squares in patterns.images_and_squares(evaluation.tables)
        )
    return _ToDepth("othello_to_depth.cu", macros, rows * columns - 2, 32, np.int16, 2, 32, 8)


class GpuDepthSearch(GpuSolver):
    """Searches positions of a two-player game to a depth, each to its own; see ``GpuSolver`` for the other arguments.

    Each search begins with shallower ones, which tell what score to ask for first and in which order to try moves.
    Scores are those of ``engines.pvs.depth_search``. Raises UserError as ``check`` does.
    """

    def __init__(self, gpu, game, rules, evaluation, **sizes):
        super().__init__(gpu, _described(game, rules, evaluation), rules, **sizes)
        self._evaluation = gpu.upload(evaluation.tables)
        self._record["evaluation"] = self._evaluation.address
        self._tolerance = evaluation.unit // 4  # of the shallower searches

    def begin(self, states, depths, low=None, high=None):
        """Start to search ``states`` (uint64, shape (n, 2)), none of which is over, to ``depths`` (int, n): 1 or more.

        Scores are told apart from ``low`` to ``high`` (int32). What was begun before is given up.
        """
        self._states, self._depths = np.asarray(states, np.uint64).reshape(-1, 2), np.asarray(depths, np.int64)
        lowest, highest = self._lowest, self._highest
        n = len(self._states)
        self._window_low = np.maximum(np.full(n, lowest) if low is None else low, lowest).astype(np.int32)
        self._window_high = np.minimum(np.full(n, highest) if high is None else high, highest).astype(np.int32)
        self._given_up = np.zeros(n, bool)
        self._rounds = max(0, (int(self._depths.max(initial=0)) - _FIRST + 1) // 2)
        self._spent, self._expanded = dict.fromkeys(("nodes", "looks", "hits", "stores"), 0), 0
        self._begin_round(np.zeros(n, np.int32))

    def _begin_round(self, guesses):
        shallow = 2 - self._depths % 2  # one or two plies
        self._record["tolerance"] = self._tolerance if self._rounds else 0
        depths = np.maximum(self._depths - 2 * self._rounds, np.minimum(shallow, self._depths))
        self._begin(self._states, depths, self._window_low, self._window_high, guess=guesses, depth=depths)
        for i in np.flatnonzero(self._given_up):
            super().drop(i)

    def advance(self):
        """Search on for one launch; return whether all is known that was asked for."""
        done = super().advance()
        if not done or not self._rounds:
            return done
        _, _, expanded, counts = super().result()
        self._expanded += expanded
        guesses = (np.maximum(self._jobs["low"], self._jobs["window_low"]) + self._jobs["high"]) // 2
        self._spent = {name: count + counts[name] for name, count in self._spent.items()}
        self._rounds -= 1
        self._begin_round(np.clip(guesses, self._window_low, self._window_high))
        return False

    def narrow(self, i, low, high):
        self._window_low[i], self._window_high[i] = max(self._window_low[i], low), min(self._window_high[i], high)
        super().narrow(i, low, high)

    def drop(self, i):
        self._given_up[i] = True
        super().drop(i)

    def result(self):
        """Return what ``GpuSolver.result`` does; nothing is complete before the last search of each has begun."""
        scores, complete, expanded, counts = super().result()
        counts = {name: count + counts[name] for name, count in self._spent.items()}
        return scores, complete & (self._rounds == 0), self._expanded + expanded, counts

    def best(self):
        moves = super().best()
        return np.where(moves == _PASS, PASS, moves)

    def search(self, states, depths, low=None, high=None):
        """Return what ``result`` does once all of ``states`` is known."""
        self.begin(states, depths, low, high)
        while not self.advance():
            pass
        return self.result()
