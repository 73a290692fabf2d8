"""What can be asked of a search: defaults, and what is refused in words that help."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch import games
from distsearch.api.options import DEEPEST, DEFAULT_SECONDS, Options, resolve
from distsearch.core.errors import UserError
from distsearch.games import g2048, othello


def test_defaults():
    options = Options("othello")
    assert options.board == (8, 8)
    assert options.time == DEFAULT_SECONDS == 5
    assert options.depth is options.nodes is options.load_factor is None
    assert not options.exact
    assert not options.all_moves
    assert (options.algorithm, options.policy, options.setup()["ordering"]) == ("alphabeta", "split", "static")
    assert (options.evaluation, options.selective) == ("patterns", 0.95)


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({"exact": True}, "split"),
        ({"depth": 3}, "split"),
        ({"depth": 3, "load_factor": 2.0}, "pool"),
        ({"depth": 3, "load_factor": 2.0, "policy": "window"}, "window"),
        ({"nodes": 9}, "pool"),
        ({"depth": 3, "ordering": "static"}, "pool"),
        ({"depth": 3, "algorithm": "minimax"}, "pool"),
    ],
    ids=str,
)
def test_the_usual_policy(given, policy):
    assert Options("othello", **given).policy == policy


def test_a_load_factor_is_for_policies_that_expand_ahead():
    assert Options("othello", depth=3, load_factor=0.1).wanted_subtrees(10) == 1
    assert Options("othello", depth=3, load_factor=0.1, policy="split").wanted_subtrees(10) == 40


@pytest.mark.parametrize("limit", [{"depth": 3}, {"nodes": 9}, {"exact": True}], ids=str)
def test_any_limit_replaces_the_usual_time(limit):
    assert Options("othello", **limit).time is None


@pytest.mark.parametrize(
    ("limits", "deepening"),
    [
        ({}, True),
        ({"time": 1.0}, True),
        ({"nodes": 9}, True),
        ({"depth": 3, "time": 1.0}, True),
        ({"depth": 3}, False),
        ({"exact": True}, False),
    ],
    ids=str,
)
def test_searches_deepen_when_something_other_than_depth_ends_them(limits, deepening):
    assert Options("othello", **limits).deepening is deepening


GOOD = [
    {"board": (4, 4)},
    {"board": (16, 16)},
    {"board": (4, 16)},
    {"depth": 1},
    {"depth": DEEPEST},
    {"nodes": 1},
    {"time": 1e-9},
    {"load_factor": 1e-9},
    {"load_factor": 100_000},
    {"algorithm": "minimax"},
    {"ordering": "none"},
    {"ordering": "shallow"},
    {"ordering": "shallow:9"},
    {"evaluation": "discs"},
    {"rules": {"empties": "none"}},
    {"depth": 3, "time": 1.0, "nodes": 9},
]


@pytest.mark.parametrize("options", GOOD, ids=str)
def test_what_makes_sense_is_kept(options):
    made = Options("othello", **options)
    assert {name: getattr(made, name) for name in options} == options


BAD = [  # options, and what the message has to name
    ({"board": (3, 8)}, "3x8"),
    ({"board": (8, 17)}, "8x17"),
    ({"depth": 0}, "depth 0"),
    ({"depth": DEEPEST + 1}, str(DEEPEST + 1)),
    ({"nodes": 0}, "nodes 0"),
    ({"time": 0.0}, "time 0"),
    ({"time": -1.0}, "time -1"),
    ({"time": math.nan}, "time nan"),
    ({"time": math.inf}, "time inf"),
    ({"load_factor": 0.0}, "load-factor 0"),
    ({"load_factor": math.nan}, "load-factor nan"),
    ({"load_factor": 100_001.0}, "100001"),
    ({"algorithm": "best"}, "algorithm 'best' is not alphabeta or minimax"),
    ({"policy": "best"}, "policy 'best' is not"),
    ({"ordering": "best"}, "ordering 'best' is not"),
    ({"ordering": "shallow:10"}, "1 to 9"),
    ({"evaluation": "best"}, "evaluation 'best' is not"),
    ({"evaluation": ""}, "evaluation '' is not"),
    ({"rules": {"empties": "best"}}, "empties 'best' is not winner or none"),
    ({"rules": {"komi": "7"}}, "komi"),
    ({"exact": True, "depth": 3}, "exact"),
    ({"exact": True, "time": 1.0}, "exact"),
    ({"exact": True, "nodes": 9}, "exact"),
    ({"depth": "3"}, "depth '3' is not a whole number"),
    ({"depth": True}, "depth True is not a whole number"),
    ({"nodes": 1.5}, "nodes 1.5 is not a whole number"),
    ({"time": "1"}, "time '1' is not a number"),
    ({"exact": 1}, "exact 1 is not True or False"),
    ({"evaluation": 1}, "evaluation 1 is not a text"),
]


def test_numbers_may_be_numpys():
    assert Options("othello", depth=np.int64(3), load_factor=np.float64(2)).depth == 3


@pytest.mark.parametrize(("options", "named"), BAD, ids=lambda value: str(value)[:40])
def test_what_makes_no_sense_is_refused(options, named):
    with pytest.raises(UserError) as refused:
        Options("othello", **options)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("depht", "depht is no option; did you mean depth?"),
        ("all_move", "all_move is no option; did you mean all_moves?"),
        ("komi", "komi is no option"),
    ],
)
def test_a_mistyped_option_is_refused_with_the_one_that_it_resembles(name, words):
    with pytest.raises(UserError) as refused:
        resolve("othello", **{name: 3})
    assert str(refused.value) == words


@pytest.mark.parametrize("rules", ["none", {"empties": 3}, ["empties"]], ids=str)
def test_rules_are_texts_by_name(rules):
    with pytest.raises(UserError, match="are not texts by name"):
        resolve("othello", rules=rules)


def test_a_game_of_another_package_gets_its_own_options(monkeypatch):
    monkeypatch.setattr(othello, "OPTIONS", {"goal": ("most", "least")})
    monkeypatch.setattr(othello, "rules", lambda board, goal="most": np.array([*board, len(goal)]))
    assert resolve("othello", "5x5", rules={"goal": "least"})[2].tolist() == [5, 5, 5]


def test_an_unknown_game_is_refused_with_the_known_ones():
    with pytest.raises(UserError, match="no game 'chess'.*othello"):
        Options("chess")


@pytest.mark.parametrize(
    ("factor", "workers", "target"), [(None, 1, 1), (None, 3, 12), (0.1, 3, 1), (2.5, 3, 8), (1, 7, 7), (8, 1, 8)]
)
def test_the_pool_holds_load_factor_times_workers_subtrees(factor, workers, target):
    assert Options("othello", load_factor=factor).wanted_subtrees(workers) == target


def test_a_setup_is_plain_and_says_all_that_workers_need():
    setup = Options("othello", board=(6, 8), rules={"empties": "none"}, algorithm="minimax", depth=3).setup()
    assert setup["kind"] == "subtree"
    assert (setup["game"], setup["board"], setup["options"]) == ("othello", (6, 8), {"empties": "none"})
    assert (setup["algorithm"], setup["ordering"]) == ("minimax", "static")


@pytest.mark.parametrize("algorithm", [None, "expectiminimax", "minimax", "alphabeta"])
def test_where_chance_has_an_adversary_there_is_a_pool_unless_asked(algorithm):
    options = Options("2048", depth=7, algorithm=algorithm)
    expected = "split" if algorithm is None else "pool"
    assert (options.policy, options.has_adversary) == (expected, algorithm is not None)
    assert options.algorithm == algorithm or options.algorithm == "expectimax"
    assert not options.tabled
    assert options.setup()["kind"] == ("expectiminimax" if algorithm else "expectimax")


@pytest.mark.parametrize(
    ("given", "whole", "pruned"),
    [
        ({"algorithm": "expectiminimax"}, False, True),
        ({"algorithm": "expectiminimax", "pruning": "alphabeta"}, False, True),
        ({"algorithm": "expectiminimax", "pruning": "none"}, False, False),
        ({"algorithm": "minimax"}, True, False),
        ({"algorithm": "alphabeta"}, True, True),
    ],
    ids=str,
)
def test_what_an_adversary_chooses_and_what_is_pruned(given, whole, pruned):
    setup = Options("2584", depth=3, **given).setup()
    assert (setup["adversary_chooses_all"], setup["prune"]) == (whole, pruned)


@pytest.mark.parametrize("policy", ["pool", "brothers"])
def test_a_load_factor_holds_for_both_policies_against_chance(policy):
    options = Options("2048", depth=7, algorithm="expectiminimax", policy=policy, load_factor=6)
    assert options.wanted_subtrees(5) == 30


def test_expectiminimax_needs_to_know_what_is_drawn(monkeypatch):
    monkeypatch.delattr(g2048, "draw")
    with pytest.raises(UserError, match="expectiminimax is not for 2048"):
        Options("2048", depth=3, algorithm="expectiminimax")
    assert Options("2048", depth=3, algorithm="alphabeta").has_adversary


@given(st.integers(0, 999), st.integers(0, 999), st.sampled_from("xX"))
def test_boards_are_read(rows, columns, x):
    assert games.parse_board(f"{rows}{x}{columns}") == (rows, columns)


@given(st.text())
def test_no_text_of_a_board_but_rows_x_columns_is_read(text):
    try:
        rows, columns = games.parse_board(text)
    except UserError as refused:
        assert "is not rows x columns" in str(refused)
    else:
        left, right = text.lower().split("x")
        assert text.isascii()
        assert (int(left), int(right)) == (rows, columns)


def test_the_usual_board_stands_in_for_none():
    assert games.checked_board(othello, None) == (8, 8)
