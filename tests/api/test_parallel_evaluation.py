"""Boards evaluated by all ranks together: the boards, scores and moves of the engine that evaluates alone."""

import pytest

from distsearch import evaluation, games
from distsearch.api import parallel_evaluation
from distsearch.core.errors import UserError
from distsearch.engines.alphabeta import AlphaBeta
from distsearch.games.random_play import random_position

BOARDS = "4x4", "6x5", "8x8", "9x8"


def asked(board, position, **more):
    """Return (Outcome of the parallel evaluation by this process alone, Result of the engine)."""
    options, game, rules = parallel_evaluation.checked("othello", board=board, **more)
    found = parallel_evaluation.search(None, options, position)
    chosen = evaluation.find(game, options.evaluation, rules)
    engine = AlphaBeta(game, rules, chosen, options.algorithm == "alphabeta", options.ordering)
    engine.begin(position.state, options.depth)
    while not engine.advance(10**6):
        pass
    return found, engine.result()


def rules_of(board):
    game = games.find("othello")
    return game, game.rules(tuple(map(int, board.split("x"))))


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("how", [{}, {"ordering": "none"}, {"algorithm": "minimax"}, {"evaluation": "static"}], ids=str)
def test_the_nodes_and_the_score_are_the_engines(board, how, rng):
    game, rules = rules_of(board)
    for depth in (1, 2, 3, 4):
        position = random_position(game, rules, range(14), rng)
        found, alone = asked(board, position, depth=depth, **how)
        text = game.text(position, rules), depth
        assert (found.score, found.nodes) == (alone.score, alone.nodes), text
        assert found.jobs == alone.evaluated, text
        assert found.move == game.move_text(alone.line[0], rules), text
        assert (found.complete, found.parallel) == (True, "evaluation")


def test_lines_that_end_the_game(rng):
    game, rules = rules_of("4x4")
    for _ in range(5):
        position = random_position(game, rules, range(8, 12), rng)
        found, alone = asked("4x4", position, depth=9)
        assert (found.score, found.nodes) == (alone.score, alone.nodes), game.text(position, rules)


def test_a_finished_game():
    game, rules = rules_of("4x4")
    found, _ = asked("4x4", game.parse("X" * 15 + "O O", rules), depth=3)
    assert (found.score, found.move, found.proved, found.unit, found.nodes) == (-14, None, True, "discs", 0)


def test_an_interrupt_gives_what_is_known():
    options, game, rules = parallel_evaluation.checked("othello", depth=6)
    looks = iter([False] * 3)
    found = parallel_evaluation.search(None, options, game.parse("startpos", rules), lambda: next(looks, True))
    assert not found.complete
    assert found.bound == "lower"
    assert 0 < found.jobs < 1075
    at_once = parallel_evaluation.search(None, options, game.parse("startpos", rules), lambda: True)
    assert (at_once.complete, at_once.score, at_once.move) == (False, None, None)


@pytest.mark.parametrize(
    ("game", "given"),
    [
        ("othello", {"depth": 3, "policy": "pool"}),
        ("othello", {"depth": 3, "trace": "file"}),
        ("connect4", {"depth": 3}),
        ("othello", {}),
        ("othello", {"depth": 3, "evaluation": "discs"}),
        ("othello", {"depth": 3, "ordering": "shallow"}),
        ("othello", {"depth": 0}),
    ],
    ids=str,
)
def test_what_it_does_not_go_with(game, given):
    with pytest.raises(UserError):
        parallel_evaluation.checked(game, **given)
