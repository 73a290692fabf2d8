"""``rows`` by any weights: its tables against each line judged by itself, and what texts of weights are refused."""

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.core.errors import UserError
from distsearch.evaluation.row_heuristic import Weights, parse


def pairs_2048(tiles):
    """Tiles that have an equal neighbour."""
    return sum(tile in (tiles[i - 1 : i] + tiles[i + 1 : i + 2]) for i, tile in enumerate(tiles))


def pairs_2584(tiles):
    values = games.find("2584").VALUES
    return sum(values[a] + values[b] in values for a, b in zip(tiles, tiles[1:], strict=False))


PAIRS = {"2048": pairs_2048, "2584": pairs_2584}


def line(name, codes, weights):
    """The value of one line, term by term."""
    steps = [b**weights.order_power - a**weights.order_power for a, b in zip(codes, codes[1:], strict=False)]
    rises, falls = sum(max(0, step) for step in steps), sum(max(0, -step) for step in steps)
    merges = PAIRS[name]([code for code in codes if code])
    good = weights.free * codes.count(0) + weights.merges * merges
    bad = weights.order * min(rises, falls) + weights.sum * sum(code**weights.sum_power for code in codes if code)
    return good - bad


def drawn(rng):
    return Weights(
        rng.uniform(0, 900),
        rng.uniform(0, 900),
        rng.uniform(0, 20),
        rng.uniform(0.1, 3.5),
        rng.uniform(-5, 20),
        rng.uniform(0.1, 3.5),
    )


@pytest.mark.parametrize("name", ["2048", "2584"])
@pytest.mark.parametrize("board", [(4, 4), (3, 3), (2, 4)], ids=str)
def test_the_sum_of_what_lines_are_worth(name, board, rng):
    game, (rows, columns) = games.find(name), board
    rules, weights = game.rules(board), drawn(rng)
    found = evaluation.find(game, f"rows:{weights.text}", rules)
    assert found.name == "rows"  # the kernels are the same
    for _ in range(50):
        cells = np.array([rng.choice((0, 0, *range(len(game.VALUES)))) for _ in range(rows * columns)]).reshape(board)
        cells[0, 0] = 0  # so that the board is not lost
        state = game.parse(",".join(str(game.VALUES[code]) for code in cells.ravel()), rules).state
        lines = cells.tolist() + cells.T.tolist()
        lines += [[0] * columns] * (4 - rows) + [[0] * rows] * (4 - columns)  # beyond the board
        expected = sum(line(name, codes, weights) for codes in lines)
        assert found.function(state, rules, found.tables) == pytest.approx(expected, abs=len(lines) / 8 + 1e-6)


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_the_usual_weights_are_the_name_alone(name):
    game = games.find(name)
    rules, usual = game.rules(), evaluation.weights(game, "rows")
    plain, spelled = (evaluation.find(game, text, rules) for text in ("rows", f"rows:{usual.text}"))
    assert np.array_equal(plain.tables, spelled.tables)
    assert evaluation.weights(game, f"rows:{usual.text}") == usual


def test_what_has_no_weights():
    for name, text in (("2048", "snake"), ("othello", "complex")):
        with pytest.raises(UserError, match="has no weights"):
            evaluation.weights(games.find(name), text)


def test_texts_of_weights(rng):
    for _ in range(50):
        weights = drawn(rng)
        assert parse(weights.text, 15) == pytest.approx(weights, rel=1e-8)
    assert parse("270,700,47,4,11,3.5", 15) == Weights(270, 700, 47, 4, 11, 3.5)
    assert parse("-1,+1e2,.5,0,1.,1e-3", 31) == Weights(-1, 100, 0.5, 0, 1, 0.001)


def test_what_fits_is_held_by_the_tables(rng):
    """The largest weights that are taken do not overflow: a line of the highest tiles is worth what it should be."""
    game = games.find("2048")
    rules, sum_ = game.rules(), 1.0
    while Weights(0, 0, 0, 1, 2 * sum_, 2).fit(15):
        sum_ *= 2
    found = evaluation.find(game, f"rows:0,0,0,1,{sum_},2", rules)
    state = game.parse(",".join(["32768"] * 8 + ["0"] * 8), rules).state
    assert found.function(state, rules, found.tables) == pytest.approx(-sum_ * 225 * 16)
