"""Exact searches that order moves by a learnt evaluation: whatever it says, scores are the same."""

import random

import pytest

from distsearch import evaluation
from distsearch.evaluation import patterns as pt
from distsearch.games import othello
from distsearch.search import learnt, pvs
from distsearch.search.solver_engine import Solver
from distsearch.search.table import far_table

from ..evaluation.test_patterns import network
from .positions import rules, unfinished_states

BOARD = (8, 8)
EMPTIES = 12
MOST_MOVES = 33  # of a position


def solver(order, ranked=None):
    """A solver; ranked: moves left from which on it orders by the evaluation, and how many more take a ply."""
    made = Solver(othello, rules(BOARD), far_table(1), order=order)
    made.compile()
    if ranked:
        made._control[[pvs.RANK_LEFT, pvs.RANK_STEP]] = ranked
    return made


def solve(engine, state, low=-pvs.INFINITY, high=pvs.INFINITY):
    engine.clear()
    engine.begin(state, low, high)
    assert engine.advance(1 << 40)
    return engine.result()


@pytest.mark.parametrize("ranked", [(7, 1), (8, 3)])
def test_scores_do_not_depend_on_the_order(ranked, rng, full, seed):
    """Not even where weights are nonsense, and so is the score that is asked for first."""
    nonsense = evaluation.Evaluation("patterns", pt.patterns, pt.tables_of(network(seed=seed)), pt.BOUND, unit=pt.UNIT)
    by_nonsense, plain = solver(nonsense, ranked), solver(None)
    for state in unfinished_states(rng, BOARD, 200 if full else 30, EMPTIES):
        expected = solve(plain, state)
        found = solve(by_nonsense, state)
        assert found.score == expected.score
        assert found.complete
        low = expected.score + rng.randrange(-4, 4)
        assert solve(by_nonsense, state, low, low + 1).score == min(max(expected.score, low), low + 1)


def test_the_order_saves_boards():
    """With the weights that are shipped, over positions late enough to take little time: the same ones every time."""
    learnt, plain = solver(evaluation.for_order(othello, rules(BOARD))), solver(None)
    late = unfinished_states(random.Random(2), BOARD, 120, 18)
    states = [state for state in late if othello.moves_left(state, rules(BOARD)) == 18]
    boards = {learnt: 0, plain: 0}
    for state in states:
        for engine in boards:
            solve(engine, state)
            boards[engine] += engine.boards
    assert boards[learnt] < 0.9 * boards[plain]


def test_the_first_guess_is_short_and_counts(rng):
    """Without a limit it would take millions of boards of some of these positions."""
    engine, most = solver(evaluation.for_order(othello, rules(BOARD))), learnt.MOST_GUESSED
    boards = []
    for state in unfinished_states(rng, BOARD, 300):
        engine.begin(state)
        boards.append(engine.boards)
        engine.begin(state, -1, 1)  # who wins is one question, whatever the guess
        assert engine.boards == 0
    assert most <= max(boards) < most + 6 * MOST_MOVES  # where it gives up, the moves on the way are still played
    assert sum(0 < n < most for n in boards) > 50


def test_only_the_usual_board_has_an_order():
    assert evaluation.for_order(othello, rules(BOARD)).unit == pt.UNIT
    assert evaluation.for_order(othello, rules((6, 6))) is None
