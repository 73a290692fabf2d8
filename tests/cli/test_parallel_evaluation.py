"""``search --parallel evaluation`` on the command line: the answers of a search that shares the tree, and refusals."""

import pytest

from .asking import ask, assert_refused, search

SAME = "score", "move", "nodes", "depth", "bound", "complete", "proved", "unit", "position", "board", "algorithm"


@pytest.mark.parametrize(
    "how", [("--depth", "6"), ("--depth", "3", "--algorithm", "minimax", "--board", "6x6")], ids=str
)
def test_it_says_what_the_search_says(how):
    shared = ("search", "othello", *how, "--evaluation", "complex", "--json")
    (spread,) = ask(*shared, "--parallel", "evaluation").results
    (alone,) = ask(*shared, *(() if "minimax" in how else ("--ordering", "static")), "--parallel", "search").results
    assert {name: spread[name] for name in SAME} == {name: alone[name] for name in SAME}
    assert spread["parallel"] == "evaluation"
    assert "parallel" not in alone


def test_a_finished_game():
    full = "X" * 16 + " O"
    spread, alone = (search("--depth", "3", "--parallel", way, position=full) for way in ("evaluation", "search"))
    assert [spread[name] for name in ("score", "move", "proved")] == [
        alone[name] for name in ("score", "move", "proved")
    ]


def test_text_for_people():
    answer = ask("search", "othello", "--depth", "3", "--parallel", "evaluation")
    assert answer.status == 0
    assert "the squares of each board spread" in answer.out


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ((), "--depth"),
        (("--exact",), "exact"),
        (("--time", "1"), "time"),
        (("--nodes", "9"), "nodes"),
        (("--depth", "3", "--policy", "pool"), "policy"),
        (("--depth", "3", "--load-factor", "2"), "load-factor"),
        (("--depth", "3", "--all-moves"), "all-moves"),
        (("--depth", "3", "--device", "cpu"), "device"),
        (("--depth", "3", "--submasters", "1"), "submasters"),
        (("--depth", "3", "--trace", "x"), "trace"),
        (("--depth", "3", "--checkpoint", "x"), "checkpoint"),
        (("--depth", "3", "--worker-timeout", "9"), "worker-timeout"),
        (("--depth", "3", "--evaluation", "discs"), "discs"),
        (("--depth", "3", "--ordering", "shallow"), "shallow"),
        (("--depth", "3", "--table", "8"), "table"),
        (("--depth", "0"), "depth"),
        (("--seed", "1"), "seed"),
    ],
    ids=str,
)
def test_what_it_does_not_go_with(more, named):
    assert_refused(ask("search", "othello", *more, "--parallel", "evaluation"), named)


def test_other_games_and_names():
    assert_refused(ask("search", "connect4", "--depth", "3", "--parallel", "evaluation"), "connect4")
    assert_refused(ask("search", "othello", "--depth", "3", "--parallel", "squares"), "--parallel")
