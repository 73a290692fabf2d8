"""What the tests of searches share: engines by name, searches in one call, and positions from random games."""

import functools
import itertools
import random

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.core import jit
from distsearch.core.jit import compiled
from distsearch.core.pointers import address, new_record, set_fields
from distsearch.engines import alphabeta as ab
from distsearch.engines.alphabeta import AlphaBeta, parse_ordering
from distsearch.evaluation import Evaluation
from distsearch.games import othello
from distsearch.games.interface import MAX_MOVES

from ..games.othello_twin import OthelloTwin, random_game, random_position

EVALUATIONS = [name for name in evaluation.names(othello) if not evaluation.learnt(othello, name)]  # for any board
EMPTIES = othello.OPTIONS["empties"]
ORDERINGS = ("none", "static", "shallow", "shallow:2")
NO_PAUSE = 10**9  # nodes; more than any search here takes
LATE_EMPTIES = 6  # squares, at most; trees from there on are small
LATE_PLIES = 5
_FEW, _WIDE = ["static", "complex"], ["static"]  # evaluations of the short run; for boards of several words a side


def board_id(board):
    """The name of a board among a test's parameters."""
    return f"{board[0]}x{board[1]}"


def names(board, full=False):
    """The evaluations to search a board by; in the short run few, since each takes long to compile."""
    return EVALUATIONS if full else _WIDE if _wide(board) else _FEW


def _wide(board):
    return board[0] * board[1] > 64


def searches(boards, sample=None):
    """Parametrize a test by ``board`` and ``name``, an evaluation.

    sample: boards of the short run, and few evaluations; None: all boards, by all evaluations but for wide ones.
    """
    cases = []
    for board, name in itertools.product(boards, EVALUATIONS):
        few = sample is not None or _wide(board)
        short = (sample is None or board in sample) and (not few or name in names(board))
        cases.append(pytest.param(board, name, id=f"{name}-{board_id(board)}", marks=() if short else pytest.mark.full))
    return pytest.mark.parametrize(("board", "name"), cases)


@functools.cache
def rules(board, empties="winner"):
    """Othello's rules array for a board."""
    return othello.rules(board, empties=empties)


@functools.cache
def evaluate(board, name):
    """The Evaluation of that name, bound to a board."""
    return evaluation.find(othello, name, rules(board))


@functools.cache
def engine(board, name="static", ordering="static", prune=True, empties="winner"):
    """The AlphaBeta engine of such searches; tests share them, since each takes a while to load its kernels."""
    return AlphaBeta(othello, rules(board, empties), evaluate(board, name), prune, ordering)


def search(searcher, state, depth=None, alpha=-ab.INFINITY, beta=ab.INFINITY, budget=NO_PAUSE):
    """Return the Result of a search to ``depth`` plies, or to the end if None, in slices of ``budget`` nodes."""
    searcher.begin(state, depth, alpha, beta)
    while not searcher.advance(budget):
        pass
    return searcher.result()


class Recursion:
    """The engine's recursion, used over a search's whole depth: the same search, but it cannot pause."""

    def __init__(self, board, name, ordering, prune=True):
        self._rules, self._evaluation = rules(board), evaluate(board, name)
        functions = {**games.functions(othello), "evaluate": self._evaluation.function}
        # under the engine's name these are the engine's own kernels, read from disk
        kernels = jit.specialise_all((ab.finished, ab.leaf, ab.descend), engine(board, name).name, functions)
        self._descend = kernels["descend"]
        self._out = np.zeros(MAX_MOVES * 2 * board[0] * board[1], np.int16)
        self._control = new_record(ab.CONTROL)
        self._kept_moves = np.full(2 * board[0] * board[1] + 2, MAX_MOVES, np.int64)
        set_fields(self._control, prune=prune, static_order=parse_ordering(ordering)[0])
        set_fields(self._control, kept_moves=address(self._kept_moves))

    def search(self, state, depth=None):
        """Return (score, nodes)."""
        exact = depth is None
        control = self._control
        set_fields(control, pass_plies=0 if exact else 1, win_bonus=0 if exact else self._evaluation.bound, nodes=0)
        plies = int(othello.moves_left(state, self._rules)) if exact else depth
        window = -int(ab.INFINITY), int(ab.INFINITY)
        score = self._descend(state, self._rules, self._evaluation.tables, self._out, 0, plies, *window, control)
        return score, int(control["nodes"])


def state_of(board, position):
    """The state of a position of the plain twin."""
    return othello.parse(OthelloTwin(*board).text(position), rules(board)).state


def unfinished_positions(rng, board, n, most_empties=None):
    """n positions of the plain twin from random games, none of them finished, with so many empty squares at most."""
    twin, found = OthelloTwin(*board), []
    most = most_empties or board[0] * board[1]
    while len(found) < n:
        positions = [p for p in random_game(rng, twin)[:-1] if sum(row.count("-") for row in p[0]) <= most]
        if positions:
            found.append(rng.choice(positions))
    return found


def unfinished_states(rng, board, n, most_empties=None):
    """The same as states."""
    return [state_of(board, position) for position in unfinished_positions(rng, board, n, most_empties)]


def positions_to_grow(seed, board, n, plies):
    """(position, plies) of n positions of all stages of random games, and of n from their last moves."""
    rng = random.Random(seed)
    stages = (None, plies), (LATE_EMPTIES, LATE_PLIES)
    return [(position, deep) for most, deep in stages for position in unfinished_positions(rng, board, n, most)]


def ending_positions(rng, board, n):
    """n positions of few empty squares from random games, and n of discs strewn at random.

    In the latter passes and early ends abound.
    """
    positions = unfinished_positions(rng, board, n, LATE_EMPTIES)
    while len(positions) < 2 * n:
        position = random_position(rng, *board)
        if sum(row.count("-") for row in position[0]) <= LATE_EMPTIES:
            positions.append(position)
    return positions


@compiled
def _nothing(s, r, tables):
    return np.int64(0)


NOTHING = Evaluation("nothing", _nothing, np.zeros(1, np.uint64), 1)  # where only the end of a game counts
