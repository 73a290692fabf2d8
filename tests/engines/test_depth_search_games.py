"""The depth-limited search of games other than Othello."""

import itertools

import pytest

from distsearch import evaluation
from distsearch.engines.alphabeta import LINE_LENGTH, AlphaBeta
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import connect4

from ..games.connect4_twin import Connect4Twin, random_positions
from . import countdown
from .depth_searches import check_line, shuffled
from .positions import NO_PAUSE, NOTHING, board_id, search


@pytest.mark.parametrize("board", [(6, 7), (5, 6), (4, 4)], ids=board_id)
def test_connect4_is_as_by_alphabeta(board, full, rng):
    r, twin = connect4.rules(board), Connect4Twin(*board)
    chosen = evaluation.find(connect4, "outcome", r)
    searcher, plain = DepthSearch(connect4, r, chosen, tt.new_shared_table(1)), AlphaBeta(connect4, r, chosen)
    solver = ExactSolver(connect4, r, tt.new_shared_table(1))
    squares = board[0] * board[1]
    for position in random_positions(rng, twin, 50 if full else 10, range(1, squares - 2)):
        state = connect4.parse(twin.drawn(position), r).state
        for depth in shuffled(rng, range(1, 7)):
            check_line(searcher, connect4, r, state, depth, plain)
    for position in random_positions(rng, twin, 200 if full else 20, range(1, 13)):
        state = connect4.parse(twin.drawn(position), r).state
        solver.begin(state)
        assert solver.advance(NO_PAUSE)
        result = search(searcher, state, squares)
        assert result.evaluated == 0
        assert result.score == solver.result().score == twin.score(position), twin.drawn(position)


@pytest.fixture
def counter():
    """A new engine for ``countdown``."""
    return DepthSearch(countdown, countdown.rules(), NOTHING, tt.new_shared_table(1))


@pytest.mark.parametrize("moves", [1, 2, 7, countdown.LONGEST - 1, countdown.LONGEST])
def test_a_line_of_single_moves(moves, counter):
    for depth, budget in itertools.product((moves - 1, moves, moves + 1, 2 * moves, 1000), (1, NO_PAUSE)):
        counter.clear()
        result = search(counter, countdown.state(moves), depth, budget=budget)
        won = 2 if moves % 2 else -2
        assert (result.score, result.evaluated == 0) == ((won, True) if depth >= moves else (0, False))
        assert result.line == list(range(moves, moves - len(result.line), -1))
        assert len(result.line) >= min(depth, moves, LINE_LENGTH)


def test_more_moves_left_than_at_the_start(counter):
    moves = 3 * countdown.LONGEST
    assert search(counter, countdown.state(moves), moves - 1).score == 0
    assert search(counter, countdown.state(moves), moves).score == -2
