"""Weights of ``staged``: the terms that are fitted are those of the evaluation, and the fit finds weights that were."""

import json

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.evaluation import othello as hand_made
from distsearch.games import othello
from distsearch.learning import complex_fit

from ..evaluation import othello_twin
from ..games.othello_twin import OthelloTwin, random_game


@pytest.fixture
def positions(rng):
    twin, found = OthelloTwin(8, 8), []
    while len(found) < 150:
        found += random_game(rng, twin)
    return rng.sample(found, 150)


def states(positions):
    rules = othello.rules((8, 8))
    return [othello.parse("".join(map("".join, rows)) + " " + side, rules).state for rows, side in positions]


def test_terms_are_those_of_complex(positions):
    found = complex_fit.shares(states(positions), othello.rules((8, 8)))
    assert found.tolist() == [othello_twin.terms(rows, side) for rows, side in positions]


def test_least_squares_finds_the_weights(positions):
    rules, searched = othello.rules((8, 8)), states(positions)
    wanted = np.array([-12.0, 30.0, 14.0])
    values = complex_fit.shares(searched, rules) / 100 @ wanted
    found, left = complex_fit.fitted(searched, values, rules)
    assert found == pytest.approx(wanted)
    assert left == pytest.approx(0, abs=1e-9)


def test_every_board_is_within_the_bound(positions):
    rules = othello.rules((8, 8))
    staged = evaluation.find(othello, "staged", rules)
    for state in states(positions):
        assert abs(int(staged.function(state, rules, staged.tables))) <= staged.bound
    weights = staged.tables.view(np.int64).reshape(hand_made.STAGES, 3)
    assert np.abs(weights).sum(axis=1).max() < staged.bound < 14_000


def test_the_command_writes_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(complex_fit, "_DEPTH", 2)
    path = tmp_path / "staged.json"
    assert complex_fit.main(["--positions", "100", "--output", str(path)]) == 0
    found = json.loads(path.read_text())
    assert [row[0] for row in found["rows"]] == list(range(8))
    assert all(len(row[1]) == 3 for row in found["rows"])


def test_refusals(tmp_path, capsys):
    assert complex_fit.main(["--positions", "3", "--output", str(tmp_path / "x")]) == 2
    assert "from 100 to" in capsys.readouterr().err
    assert complex_fit.main(["--positions", "100", "--output", str(tmp_path / "none" / "x")]) == 2
