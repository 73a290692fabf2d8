"""Counts for Rank-Cut: moves are in the order of the engine, and what is counted is what it says."""

import json

import numpy as np
import pytest

from distsearch.engines.alphabeta import AlphaBeta
from distsearch.games import othello
from distsearch.games.interface import END
from distsearch.games.random_play import random_position
from distsearch.learning import rank_cut_fit

from ..engines.test_rank_cut import EVALUATION, RULES, after, ordered, searched


@pytest.mark.parametrize("plies", [1, 3, 4, 5])
def test_values_are_in_the_order_of_the_engine(plies, rng):
    engine = AlphaBeta(othello, RULES, EVALUATION)
    for _ in range(4):
        state = random_position(othello, RULES, range(8, 50), rng).state
        if othello.kind(state, RULES) == END:
            continue
        moves = ordered(state, "shallow" if plies >= 4 else "static")
        expected = [-searched(after(state, move), plies - 1, "static", None).score for move in moves]
        assert rank_cut_fit.values_in_order(engine, othello, RULES, state, plies).tolist() == expected


def test_what_is_counted(monkeypatch):
    monkeypatch.setattr(rank_cut_fit, "_LEAST_NODES", 2)
    orders = [np.array(values) for values in ([3, 1, 2], [1, 2, 3, 0], [5], [4, 4])]
    found = rank_cut_fit.counted(1, 4, orders)
    assert found == (1, 4, [1, 1], [3, 2])  # after the first of three nodes, after the second of two


def test_the_command_writes_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(rank_cut_fit, "DEEPEST", 2)
    path = tmp_path / "ranks.json"
    assert rank_cut_fit.main(["othello", "--positions", "100", "--output", str(path)]) == 0
    found = json.loads(path.read_text())
    assert {(stage, plies) for stage, plies, *_ in found["rows"]} >= {
        (stage, plies) for stage in (1, 2, 3) for plies in (1, 2)
    }


@pytest.mark.parametrize(
    "arguments", [["2048"], ["othello", "--positions", "3"], ["othello", "--evaluation", "x"]], ids=str
)
def test_refusals(arguments, tmp_path, capsys):
    assert rank_cut_fit.main([*arguments, "--output", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.startswith("rank_cut_fit: ")
