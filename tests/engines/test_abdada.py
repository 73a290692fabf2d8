"""Engines that search one root together, in turn by slices, on one shared table."""

import random

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.engines.pvs import abdada, kernels, side_tables
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games.random_play import random_position


def exact(game, rules, far):
    return ExactSolver(game, rules, far, part=True, order=evaluation.for_order(game, rules))


def deep(game, rules, far):
    return DepthSearch(game, rules, evaluation.find(game, evaluation.names(game)[0], rules), far, part=True)


def together(engines, slices, *question):
    """Return the result of the engine that is done first; slices() gives the next budget."""
    for engine in engines:
        engine.share(True)
        engine.begin(*question)
        engine.share(True)
    while True:
        for engine in engines:
            if engine.advance(slices()):
                return engine.result()


LATE = {"othello": range(42, 47), "connect4": range(16, 20)}  # plies from the start
EARLY = {"othello": range(20, 32), "connect4": range(4, 14)}
BOARDS = {"othello": (8, 8), "connect4": (6, 7)}


def some_state(game, rules, chance, plies):
    return random_position(game, rules, plies[game.NAME], chance).state


@pytest.mark.parametrize("name", ["othello", "connect4"])
@pytest.mark.parametrize("ranks", [2, 5])
def test_an_exact_score_is_that_of_one_engine(name, ranks, seed):
    chance = random.Random(seed)
    game = games.find(name)
    rules = game.rules(BOARDS[name])
    far = tt.new_shared_table(2)
    alone = exact(game, rules, tt.new_shared_table(1))
    engines = [exact(game, rules, far) for _ in range(ranks)]
    for _ in range(12):
        state = some_state(game, rules, chance, LATE)
        low, high = random_window(chance)
        alone.begin(state, low, high)
        alone.advance(10**9)
        found = together(engines, lambda: chance.choice((1, 30, 1000)), state, low, high)
        assert found.complete
        assert cut(found.score, low, high) == cut(alone.result().score, low, high)


def random_window(chance):
    middle = chance.randint(-6, 6)
    return chance.choice([(-kernels.INFINITY, kernels.INFINITY), (middle, middle + 1), (middle - 3, middle + 3)])


def cut(score, low, high):
    return min(max(score, low), high)


@pytest.mark.parametrize("name", ["othello", "connect4"])
def test_a_score_to_a_depth_is_that_of_one_engine(name, seed):
    chance = random.Random(seed)
    game = games.find(name)
    rules = game.rules(BOARDS[name])
    far = tt.new_shared_table(2)
    alone = deep(game, rules, tt.new_shared_table(1))
    engines = [deep(game, rules, far) for _ in range(4)]
    for _ in range(6):
        state = some_state(game, rules, chance, EARLY)
        alone.begin(state, 8)
        alone.advance(10**9)
        found = together(engines, lambda: chance.choice((1, 30, 1000)), state, 8)
        assert found.score == alone.result().score


def test_marks_are_gone_when_a_search_is_over_or_another_begins(seed):
    chance = random.Random(seed)
    game = games.find("othello")
    rules = game.rules((8, 8))
    far = tt.new_shared_table(2)
    engines = [exact(game, rules, far) for _ in range(3)]
    state = some_state(game, rules, chance, LATE)
    together(engines, lambda: 100, state)
    over = some_state(game, rules, chance, {"othello": [59]})
    for engine in engines:
        engine.begin(over)
    marks = far[8 * side_tables.buckets(far) :][: 2 * side_tables.MARKS : 2]
    assert not marks.any()


def test_a_rank_that_leaves_a_search_takes_its_marks_along(seed):
    """And can go on with it alone."""
    game = games.find("othello")
    rules = game.rules((8, 8))
    far, state = tt.new_shared_table(2), some_state(game, rules, random.Random(seed), LATE)
    engine = exact(game, rules, far)
    engine.begin(state)
    engine.share(True)
    marks = far[8 * side_tables.buckets(far) :][: 2 * side_tables.MARKS : 2]
    while not marks.any():
        assert not engine.advance(10)
    engine.share(False)
    assert not marks.any()
    while not engine.advance(1000):
        pass
    alone = exact(game, rules, tt.new_shared_table(2))
    alone.begin(state)
    assert alone.advance(1 << 40)
    assert engine.result().score == alone.result().score


def test_a_rank_that_joined_stops_when_the_search_is_over(seed):
    game = games.find("othello")
    rules = game.rules((8, 8))
    engine = exact(game, rules, tt.new_shared_table(2))
    words = np.array([5, 0], np.int64)
    state = some_state(game, rules, random.Random(seed), {"othello": range(36, 40)})
    engine.begin(state)
    engine.share(True)
    engine.watch(words.ctypes.data, 5, words.ctypes.data + 8)
    assert not engine.advance(5_000)
    assert words[1] > 0  # its nodes
    words[0] = 6
    before = engine.nodes
    assert not engine.advance(10**9)
    assert engine.nodes - before < 100_000


def test_an_order_of_moves_is_found_by_its_hash_alone(seed):
    game = games.find("othello")
    rules = game.rules((8, 8))
    engine = exact(game, rules, tt.new_shared_table(2))
    out, scores = np.array([3, 1, 2, 0], np.int16), np.array([-70_000, 12, 0, 0], np.int64)
    abdada.store_order(engine._control["table"], np.uint64(99), out, scores, 0, 3)
    found, found_scores = np.array([1, 2, 3, *[9] * 5], np.int16), np.zeros(8, np.int64)
    assert not abdada.probe_order(engine._control["table"], np.uint64(98), found, found_scores, 0, 3)
    assert found[:3].tolist() == [1, 2, 3]
    assert abdada.probe_order(engine._control["table"], np.uint64(99), found, found_scores, 0, 3)
    assert (found[:3].tolist(), found_scores[:3].tolist()) == ([3, 1, 2], [-70_000, 12, 0])
    assert not abdada.probe_order(engine._control["table"], np.uint64(99 + 1024), found, found_scores, 0, 3)
    assert not abdada.probe_order(engine._control["table"], np.uint64(99), found, found_scores, 0, 4)
