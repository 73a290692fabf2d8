"""The default evaluation of a game: the strongest that comes for its board and rules."""

import pytest

from distsearch import evaluation, games
from distsearch.core.errors import UserError

DEFAULTS = [
    ("othello", None, {}, "patterns"),
    ("othello", None, {"empties": "none"}, "patterns"),
    ("othello", (6, 6), {}, "patterns"),
    ("othello", (10, 10), {}, "patterns"),
    ("othello", (4, 4), {}, "complex"),
    ("othello", (10, 12), {}, "complex"),
    ("connect4", None, {}, "outcome"),
    ("2048", None, {}, "ntuple"),
    ("2048", (3, 3), {}, "rows"),
    ("2048", None, {"spawn": "2:1"}, "rows"),
    ("2584", None, {}, "ntuple"),
    ("2584", (4, 3), {}, "rows"),
]


@pytest.mark.parametrize(("name", "board", "options", "expected"), DEFAULTS)
def test_the_default_is_the_strongest_that_comes_for_the_rules(name, board, options, expected):
    game = games.find(name)
    rules = game.rules(board, **options)
    assert evaluation.default(game, rules) == expected
    assert evaluation.find(game, expected, rules).tables is not None  # it can be used by these rules
    for other in evaluation.names(game):
        if evaluation.learnt(game, other) and not other.startswith(expected):  # not a smaller network of its kind
            with pytest.raises(UserError):  # or it would be the default
                evaluation.find(game, other, rules)


@pytest.mark.parametrize(("board", "orders"), [((8, 8), True), ((6, 6), True), ((10, 10), False), ((4, 4), False)])
def test_exact_searches_order_moves_by_patterns_where_that_helps(board, orders):
    othello = games.find("othello")
    found = evaluation.for_order(othello, othello.rules(board))
    assert (found is not None) == orders


@pytest.mark.parametrize(
    ("name", "expected"), [("othello", "complex"), ("connect4", "outcome"), ("2048", "rows"), ("2584", "rows")]
)
def test_the_strongest_made_by_hand_is_the_first(name, expected):
    game = games.find(name)
    assert evaluation.hand_made(game) == evaluation.names(game)[0] == expected
    assert not evaluation.learnt(game, expected)
