"""Expectimax on a GPU: the values of the CPU's engine, by every method, on boards of all kinds.

The emulated GPU runs threads in an order of its own for every seed; on a GPU the same tests run on it.
"""

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.core.errors import UserError
from distsearch.engines.expectimax import Expectimax
from distsearch.evaluation.ntuple import SMALLER
from distsearch.games.interface import END
from distsearch.games.sliding import ONE_DUE
from distsearch.gpu import expectimax_merged, expectimax_tables
from distsearch.gpu.expectimax import METHODS, GpuExpectimax
from distsearch.testing.emulated_gpu import EmulatedGpu

from ..evaluation import tuple_network_twin
from ..evaluation.test_ntuple import OWN, found_in, made
from ..games.sliding_boards import packed, random_codes

GAMES = "2048", "2584"
HEURISTICS = [
    ("2048", "rows"),
    ("2048", "haskell"),
    ("2584", "rows"),
    ("2048", "monotonicity+0.5*smoothness+2.7*free+3*snake"),
]


@pytest.fixture
def numbers(rng):
    return np.random.default_rng(rng.getrandbits(64))


@pytest.fixture(scope="module")
def shipped():
    """By game: (the game, its rules, its network that comes with the package)."""
    found = {}
    for name in GAMES:
        game = games.find(name)
        rules = game.rules()
        found[name] = game, rules, evaluation.find(game, SMALLER[name], rules)
    return found


def by_chance(game, states):
    """The states that have an empty cell, with a tile due."""
    due = states[[game.empties(tuple(state), game.rules()) > 0 for state in states]]
    due[:, 1] |= ONE_DUE
    return due


def with_chance(game, states):
    return np.concatenate([states, by_chance(game, states)])


def boards(game, numbers, n, empty=10):
    """Random boards with up to so many empty cells: of few kinds of tiles, most of them, so that much merges."""
    codes = numbers.integers(1, numbers.integers(3, 14, (n, 1)), (n, 16))
    for row in codes:
        row[numbers.permutation(16)[: numbers.integers(0, empty + 1)]] = 0
    return packed(game, codes)


def by_cpu(game, rules, chosen, states, depth, **how):
    """Return (values, what moves are worth: NaN where they are not legal, leaves) of the CPU's engine."""
    engine = Expectimax(game, rules, chosen, **({"points": chosen.points} | how))
    values, moves, leaves = [], np.full((len(states), 4), np.nan), 0
    for i, state in enumerate(states):
        engine.begin((state[0], state[1]), depth)
        while not engine.advance(1 << 30):
            pass
        found = engine.result()
        values.append(found.value)
        leaves += found.evaluated
        for move, value in found.values.items():
            moves[i, move] = value
    return np.array(values), moves, leaves


def same(search, game, rules, chosen, states, depth, **how):
    """Assert that a GPU finds what the CPU's engine does; return the leaves of both."""
    values, moves, leaves = by_cpu(game, rules, chosen, states, depth, **how)
    found = search.values(states, depth=depth)
    close = {"rtol": 1e-5, "atol": 1e-3, "equal_nan": True}
    assert np.allclose(found.values, values, **close)
    if depth:
        assert np.allclose(search.all_moves(states, depth=depth), moves, **close)
        for each, move, value in zip(moves, found.moves, values, strict=True):
            assert move == -1 if np.isnan(each).all() else each[move] == pytest.approx(value, rel=1e-5, abs=1e-3)
    return found.leaves, leaves


@pytest.mark.parametrize(("name", "wanted"), HEURISTICS)
def test_evaluations_are_those_of_the_cpu(gpus, name, wanted, numbers):
    game = games.find(name)
    rules = game.rules()
    chosen = evaluation.find(game, wanted, rules)
    states = with_chance(game, packed(game, random_codes(numbers, game, 1500)))
    found = GpuExpectimax(gpus(), game, rules, chosen).evaluate(states)
    expected = [chosen.function((a, b), rules, chosen.tables) for a, b in states]
    assert np.allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("name", GAMES)
def test_slides_and_points_of_all_kinds_of_boards(gpus, name, shipped, numbers):
    game, rules, chosen = shipped[name]
    search = GpuExpectimax(gpus(), game, rules, chosen)
    same(search, game, rules, chosen, packed(game, random_codes(numbers, game, 2000)), 1)


@pytest.mark.parametrize(
    ("name", "tuples"), [("2048", "2x4"), ("2048", "4x5"), ("2048", OWN), ("2584", "3x4"), ("2584", OWN)]
)
def test_merged_look_ups_find_what_all_of_them_would(name, tuples, numbers):
    """In numpy: images as the kernels read them, against the twin's eight boards."""
    net = made(name, tuples, numbers)
    game, codes = games.find(name), 1 << games.find(name).BITS
    images, weights = expectimax_tables.merged(game, net)
    for _ in range(20):
        board = numbers.integers(0, codes, (4, 4))
        four = [board, board.T, board[:, ::-1], board.T[:, ::-1]]
        total = 0.0
        for image in images:
            contents = four[image >> 31 & 3].ravel()[[image >> 4 * i & 15 for i in range(image >> 28 & 7)]]
            total += weights[0, (image >> 34) + sum(int(code) * codes**i for i, code in enumerate(contents))]
        assert total == pytest.approx(
            tuple_network_twin.value(board, net.tuples, net.weights, codes), rel=1e-4, abs=1e-2
        )


def test_2584_takes_half_of_its_look_ups(shipped):
    images, weights = expectimax_tables.merged(shipped["2584"][0], shipped["2584"][2].keeps)
    assert (len(images), weights.size) == (12, 3 * 32**4)


@pytest.mark.parametrize("game_name", GAMES)
@pytest.mark.parametrize("depth", range(6))
def test_merged_finds_what_the_cpu_does(gpus, game_name, depth, shipped, numbers):
    """In a launch of each phase and in a single one; games that are over, and tiles that are due, among the roots."""
    game, rules, chosen = shipped[game_name]
    deep = depth > 3
    for order, few in enumerate((0, 100)):
        search = GpuExpectimax(gpus(int(numbers.integers(1 << 30))), game, rules, chosen, few=few)
        states = with_chance(game, boards(game, numbers, 3 if deep else 12, 4 if deep else 10))
        ours, cpu = same(search, game, rules, chosen, states, depth)
        assert ours <= cpu or depth == 0, order  # the CPU's table has room for all of this
        again = search.values(states, depth=depth)
        assert np.array_equal(again.values, search.values(states, depth=depth).values)  # to the last bit


@pytest.mark.parametrize("method", ["multilevel", "naive"])
@pytest.mark.parametrize("game_name", GAMES)
def test_the_report_s_methods_find_the_same(gpus, method, game_name, shipped, numbers):
    game, rules, chosen = shipped[game_name]
    search = GpuExpectimax(gpus(int(numbers.integers(1 << 30))), game, rules, chosen, method)
    states = boards(game, numbers, 3, 5)
    for layers in (0, 1, 2) if method == "multilevel" else (0, 1):
        same(search, game, rules, chosen, states, 2 * layers + 1)
        same(search, game, rules, chosen, by_chance(game, states), 2 * layers)
    with pytest.raises(UserError, match="whole layers"):
        search.values(states, depth=2)


@pytest.mark.parametrize("method", ["merged", "multilevel", "naive"])
def test_other_tiles_and_uniform_chance(gpus, method, numbers):
    game = games.find("2048")
    rules = game.rules(spawn="2:0.5,8:0.3,4:0.2")
    chosen = evaluation.find(game, "rows", rules)
    for uniform_chance in (True, False):
        search = GpuExpectimax(gpus(), game, rules, chosen, method, points=True, uniform_chance=uniform_chance)
        same(search, game, rules, chosen, boards(game, numbers, 5), 3, points=True, uniform_chance=uniform_chance)


@pytest.mark.parametrize(
    ("tuples", "symmetric", "begins"), [("2,9/3,7,11,15", False, ()), ("0,5/1,2,6", True, (9, 11))]
)
def test_networks_that_see_no_symmetry_and_networks_with_stages(gpus, tuples, symmetric, begins, numbers, tmp_path):
    net = made("2048", tuples, numbers, symmetric=symmetric, begins=begins)
    game, rules, chosen = found_in(net, tmp_path / "weights.npz")
    search = GpuExpectimax(gpus(), game, rules, chosen)
    for depth in (0, 2, 3):
        same(search, game, rules, chosen, with_chance(game, boards(game, numbers, 20)), depth)


@pytest.mark.parametrize("method", METHODS)
def test_dead_boards_are_worth_what_the_network_says(gpus, method, numbers, tmp_path):
    """On boards with one or two empty cells where little or nothing merges, so that games end within the search."""
    net, path = made("2584", "3x4", numbers), tmp_path / "weights.npz"
    game, rules, plain = found_in(net, path)
    _, _, valued = found_in(net, path, rule=evaluation.DEAD)
    search = GpuExpectimax(gpus(int(numbers.integers(1 << 30))), game, rules, valued, method)
    codes = 2 * numbers.integers(2, 14, (12, 16))  # of which no two merge
    codes[::2] += numbers.integers(0, 2, (6, 16))
    codes[:, 0] = codes[::3, 5] = 0
    states = packed(game, codes)
    for depth in (1, 3) if method == "naive" else (0, 1, 3, 5) if method == "merged" else (1, 3, 5):
        same(search, game, rules, valued, states, depth)
    others = GpuExpectimax(gpus(), game, rules, plain).values(states, depth=3).values
    assert not np.allclose(search.values(states, depth=3).values, others)


def test_the_start_on_which_two_tiles_are_due(gpus, shipped):
    game, rules, chosen = shipped["2048"]
    search = GpuExpectimax(gpus(), game, rules, chosen)
    same(search, game, rules, chosen, np.array([game.start(rules).state], np.uint64), 3)


@pytest.mark.parametrize("method", ["merged", "multilevel"])
def test_lists_that_are_too_short_are_made_longer(gpus, method, shipped, numbers, monkeypatch):
    game, rules, chosen = shipped["2584"]
    monkeypatch.setattr(expectimax_merged, "_GUESS", (0.1, 1.0))
    monkeypatch.setattr(expectimax_merged, "_LEAST", 2)
    how = {"merged": {"boards": 3000, "few": 2}, "multilevel": {"afterstates": 4000}}[method]
    search = GpuExpectimax(gpus(), game, rules, chosen, method, **how)
    states = boards(game, numbers, 30, 6)
    same(search, game, rules, chosen, states, 3)
    same(search, game, rules, chosen, states[:3], 5)


def test_a_search_is_begun_and_asked_for_later(gpus, shipped, numbers):
    """In many launches; of one whose result is not taken nothing is left."""
    game, rules, chosen = shipped["2584"]
    states = boards(game, numbers, 40)
    expected = GpuExpectimax(gpus(), game, rules, chosen).values(states, depth=3)
    search = GpuExpectimax(gpus(), game, rules, chosen, boards=100)
    for left in (states[:7], states[:0], states):
        search.begin(left, 3)
    found, _ = search.found()
    assert 1 <= search.at_once(3) < 40
    assert np.allclose(found[:, 4], expected.values, rtol=1e-12)
    assert (found[:, :4].argmax(axis=1) == expected.moves)[expected.moves >= 0].all()


def test_equal_afterstates_of_different_boards_are_searched_once(gpus, shipped, numbers):
    game, rules, chosen = shipped["2584"]
    search = GpuExpectimax(gpus(), game, rules, chosen)
    some = boards(game, numbers, 50)
    state = some[[game.kind(tuple(each), rules) != END for each in some]][:1]
    one, many = search.values(state, layers=1), search.values(np.repeat(state, 40, axis=0), layers=1)
    assert (many.values == one.values).all()
    assert many.leaves == one.leaves > 0


def test_what_a_gpu_cannot_do_is_said(shipped):
    gpu, (game, rules, chosen) = EmulatedGpu(), shipped["2048"]
    with pytest.raises(UserError, match="4x4"):
        small = game.rules((3, 3))
        GpuExpectimax(gpu, game, small, evaluation.find(game, "rows", small))
    with pytest.raises(UserError, match="naive"):
        GpuExpectimax(gpu, game, rules, chosen, "fastest")
    gpu.memory = 1000
    with pytest.raises(UserError, match="do not fit"):
        GpuExpectimax(gpu, game, rules, chosen)
    gpu.memory = 1 << 20
    search = GpuExpectimax(gpu, game, rules, evaluation.find(game, "rows", rules))
    with pytest.raises(UserError, match="fewer layers"):
        search.values(packed(game, np.arange(16)[None] % 3), layers=4)
    with pytest.raises(UserError, match="plies"):
        search.values(packed(game, np.arange(16)[None] % 3), layers=9)
    with pytest.raises(UserError, match="two words"):
        search.values(np.zeros((3, 3), np.uint64), layers=1)
    with pytest.raises(UserError, match="either"):
        search.values(np.zeros((3, 2), np.uint64))
