"""Fitting shallow searches to deep ones: lines that are known, and a fit of a small board from end to end."""

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.core.errors import UserError
from distsearch.evaluation import probcut_fit as fits
from distsearch.games import othello
from distsearch.learning import probcut_fit


@pytest.mark.parametrize(("slope", "offset", "sigma"), [(1.0, 0.0, 5.0), (1.2, -3.0, 10.0), (0.7, 4.0, 1.0)])
def test_a_known_line_is_found(slope, offset, sigma, seed):
    random, n = np.random.default_rng(seed), 20_000
    shallow = random.normal(0, 30, n)
    deep = slope * shallow + offset + random.normal(0, sigma, n)
    found = probcut_fit.line(shallow, deep)
    # six standard errors of each
    assert abs(found[0] - slope) < 6 * sigma / (30 * 0.98 * n**0.5)
    assert abs(found[1] - offset) < 6 * sigma / n**0.5
    assert abs(found[2] - sigma) < 6 * sigma / (2 * n) ** 0.5


def test_what_is_no_rising_line_is_none():
    few, rising = np.arange(10.0), np.arange(100.0)
    assert probcut_fit.line(few, few) is None
    assert probcut_fit.line(np.zeros(100), rising) is None
    assert probcut_fit.line(rising, -rising) is None
    assert probcut_fit.line(rising, 2 * rising + 1) == pytest.approx((2, 1, 0), abs=1e-9)


def test_values_of_finished_games_are_left_out(seed):
    random = np.random.default_rng(seed)
    found = np.zeros((400, 5), np.int64)
    found[:, 2] = random.integers(-50, 50, 400)
    found[:, 4] = found[:, 2] + 1
    found[::2, 4] = 164  # a win by 64 by an evaluation whose bound is 100
    (pair,) = probcut_fit.fitted(3, found, [(4, 2)], 100)
    assert (pair.stage, pair.deep, pair.shallow, pair.positions) == (3, 4, 2, 200)
    assert (pair.slope, pair.offset, pair.sigma) == pytest.approx((1, 1, 0), abs=1e-6)
    assert probcut_fit.fitted(3, found, [(4, 2)], 0)[0].sigma > 10  # no bound: all values are final scores


def test_a_fit_from_end_to_end(tmp_path, capsys, seed):
    path = str(tmp_path / "fit.json")
    asked = ["othello", "--board", "6x6", "--evaluation", "complex", "--pairs", "4:2,3:1", "--positions", "60"]
    asked += ["--seed", str(seed)]
    assert probcut_fit.main([*asked, "--output", path]) == 0
    assert "positions" in capsys.readouterr().err
    chosen = evaluation.find(othello, "complex", othello.rules((6, 6)))
    found = fits.find(othello, (6, 6), "complex", chosen, path)
    assert {(pair.deep, pair.shallow) for pair in found.pairs} == {(4, 2), (3, 1)}
    assert len({pair.stage for pair in found.pairs}) >= 3
    assert all(0.3 < pair.slope < 2 and pair.sigma < 60 for pair in found.pairs)
    assert found.made["seed"] == seed


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["chess"], "chess"),
        (["2048"], "against chance"),
        (["othello", "--board", "8"], "board '8'"),
        (["othello", "--board", "3x3"], "board 3x3"),
        (["othello", "--pairs", "4:4"], "pairs '4:4'"),
        (["othello", "--pairs", "x"], "pairs 'x'"),
        (["othello", "--positions", "3"], "positions 3"),
        (["othello", "--evaluation", "best"], "evaluation 'best'"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(argv, named, capsys, tmp_path):
    assert probcut_fit.main([*argv, "--output", str(tmp_path / "fit.json")]) == 2
    said = capsys.readouterr().err
    assert named in said
    assert said.count("\n") == 1


def test_depths_are_read():
    assert probcut_fit.parse_pairs("8:4,6:2") == [(6, 2), (8, 4)]
    with pytest.raises(UserError):
        probcut_fit.parse_pairs("8:4,")


def test_a_board_is_one_of_the_games():
    assert probcut_fit._board(othello, "6x8") == (6, 8)
    for text in ("6", "6x", "x", "2x2", f"{'9' * 5000}x8"):
        with pytest.raises(UserError, match="board"):
            probcut_fit._board(othello, text)
