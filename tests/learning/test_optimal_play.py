"""Optimal play of small boards: values of an independent solver, probabilities by recursion, games, files."""

import functools
import itertools
import statistics
from fractions import Fraction

import numpy as np
import pytest

from distsearch import games
from distsearch.api.intervals import mean_interval
from distsearch.core import archive
from distsearch.core.errors import UserError
from distsearch.engines.optimal_play import NO_TILE
from distsearch.learning import optimal_play
from distsearch.learning.optimal_play import KIND, OptimalPlay

from ..engines.retrograde import Retrograde
from ..games.sliding_twin import FIBONACCI, POWERS, merged_2048, merged_2584, twin_of

GAMES = {"2048": (POWERS, merged_2048, {2: 0.9, 4: 0.1}), "2584": (FIBONACCI, merged_2584, {1: 0.75, 3: 0.25})}


@functools.cache
def solved(name, board, target=NO_TILE):
    """An OptimalPlay, and what solving it gave."""
    game = games.find(name)
    found = OptimalPlay(game, game.rules(board), target)
    return found, found.solve()


def known_worth(name, board):
    """(tile values row by row, what the board is worth to the player to move) of the independent solver."""
    tiles, merged, spawns = GAMES[name]
    values = [0, *tiles]
    merges = np.zeros((len(values), len(values)), int)
    for (i, a), (j, b) in itertools.product(enumerate(tiles, 1), repeat=2):
        merges[i, j] = values.index(merged(a, b) or 0)
    return list(Retrograde(*board, values, merges, spawns))


@pytest.mark.parametrize(("name", "board"), [("2048", (2, 2)), ("2048", (2, 3)), ("2048", (3, 2)), ("2584", (2, 2))])
def test_every_board_is_worth_what_another_solver_says(name, board):
    game, known = games.find(name), known_worth(name, board)
    rules = game.rules(board)
    states = [game.parse(",".join(map(str, cells)), rules).state for cells, _ in known]
    found, result = solved(name, board)
    values = found.values_of(np.array(states, np.uint64))
    assert np.allclose(values, [worth for _, worth in known], rtol=1e-12, atol=0)
    assert result.positions < 2 * len(known)  # one of all that are symmetric, and those in which chance moves


def test_a_tile_is_reached_as_often_as_exact_recursion_says():
    twin = twin_of("2048", (2, 2))

    @functools.cache
    def probability(position):
        board, _ = position
        if any(tile >= 32 for row in board for tile in row):
            return Fraction(1)
        if twin.kind(position) == "chance":
            return sum(share * probability(twin.play(position, m)[0]) for m, share in twin.outcomes(position))
        return max((probability(twin.play(position, m)[0]) for m in twin.moves(position)), default=Fraction(0))

    _, result = solved("2048", (2, 2), 32)
    assert result.value == pytest.approx(float(probability(twin.start())), rel=1e-12)
    assert 0.08 < result.value < 0.085  # a published value is "about 8%" (J. Lees-Miller, 2018)


@pytest.mark.parametrize("target", [NO_TILE, 16])
def test_games_bring_what_the_start_is_worth(target, seed):
    found, result = solved("2048", (2, 2), target)
    brought = found.played(2000, seed)
    low, high = mean_interval(brought)
    spread = (high - low) / 2
    assert abs(statistics.fmean(brought) - result.value) < 2 * spread  # four standard errors


def test_rounds_of_few_positions_change_nothing(monkeypatch):
    monkeypatch.setattr(optimal_play, "_STATES", 3)
    game = games.find("2048")
    assert OptimalPlay(game, game.rules((2, 2))).solve() == solved("2048", (2, 2))[1]


def test_a_file_has_every_position_once(tmp_path):
    found, result = solved("2048", (2, 2))
    found.save(tmp_path / "table.npz")
    header, arrays = archive.load(tmp_path / "table.npz", KIND)
    assert {name: header[name] for name in ("game", "board", "target")} == {"game": "2048", "board": "2x2", "target": 0}
    assert len(arrays["states"]) == len(arrays["values"]) == arrays["positions"].sum() == result.positions
    assert len(np.unique(arrays["states"], axis=0)) == result.positions
    assert len(arrays["moves_left"]) == len(arrays["positions"]) == result.layers
    assert np.array_equal(found.values_of(arrays["states"]), arrays["values"])


def test_a_file_that_cannot_be_written_is_a_line(tmp_path):
    with pytest.raises(UserError, match="cannot write"):
        solved("2048", (2, 2))[0].save(tmp_path / "nothing" / "table.npz")


def test_a_position_that_cannot_come_up_is_an_error():
    game = games.find("2048")
    rules = game.rules((2, 2))
    with pytest.raises(KeyError):
        solved("2048", (2, 2))[0].values_of(np.array([game.parse("0,0,0,2048", rules).state], np.uint64))


def test_work_that_is_stopped_ends():
    game = games.find("2048")
    with pytest.raises(InterruptedError):
        OptimalPlay(game, game.rules((2, 2)), stopped=lambda: True).solve()


def test_games_without_chance_are_refused():
    game = games.find("connect4")
    with pytest.raises(UserError, match="connect4 is not a game of one player against chance"):
        OptimalPlay(game, game.rules())
