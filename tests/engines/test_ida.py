"""IDA* on spawns drawn beforehand: as few moves as breadth-first search finds, in a table of a fixed size."""

import numpy as np
import pytest

from distsearch.engines import ida
from distsearch.engines.ida import Ida

from .sampled_twin import Spawns, fewest_moves, largest, last_layer
from .test_averaged import Case

PLENTY = 10**9


class Runs(Case):
    """The same with an engine of runs."""

    def engine(self, **how):
        return Ida(self.game, self.rules, self.evaluation, **how)

    def run(self, engine, position, seed, limit=PLENTY, budget=10**9):
        engine.begin(self.state(position), seed, limit)
        while not engine.advance(budget):
            pass
        return engine.result()

    def position_to_play(self, plies):
        """A random position in which the player has a move."""
        while self.twin.kind(position := self.position(plies)) != "max":
            plies = self.rng.randint(2, plies + 1)
        return position

    def move_of(self, found):
        return self.game.move_text(found.move, self.rules)


@pytest.mark.parametrize("name", ["2048", "2584"])
@pytest.mark.parametrize("board", [(2, 2), (2, 3), (3, 3)], ids=str)
def test_the_fewest_moves_of_breadth_first_search(name, board, rng, full):
    case = Runs(name, board, rng)
    engine, small = case.engine(), case.engine(entries_bits=3)
    for _ in range(60 if full else 8):
        position, seed = case.position_to_play(rng.randint(2, 14 if board == (2, 2) else 24)), rng.getrandbits(64)
        spawns = Spawns(case.twin, seed)
        expected = fewest_moves(spawns, position, 40 if board == (2, 2) else 11)
        if expected is None and board != (2, 2):
            continue  # too far for this test
        found, again = case.run(engine, position, seed), case.run(small, position, seed, budget=rng.choice((1, 9)))
        assert (found.goal, again.goal) == (expected is not None,) * 2
        if found.goal:
            assert found.length == again.length == expected
            after = dict(spawns.children(position, 0))[case.move_of(found)]
            rest = [position, after]
            assert largest(after) > largest(position) or _reaches(spawns, rest, expected)
        assert np.array_equal(engine.entries.shape, (2 << 16,)) and small.entries.shape == (16,)


def _reaches(spawns, path, moves):
    """Whether the goal is as many moves away from the first of a path by way of the second."""
    start, layer = largest(path[0]), {path[1]}
    for k in range(1, moves):
        layer = {child for parent in layer for _, child in spawns.children(parent, k)}
    return any(largest(each) > start for each in layer)


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_the_bound_never_is_more_than_what_it_takes(name, rng, full):
    case = Runs(name, (3, 3), rng)
    engine = case.engine()
    told = 0
    for _ in range(200 if full else 40):
        position, seed = case.position_to_play(rng.randint(2, 30)), rng.getrandbits(64)
        engine.begin(case.state(position), seed, 0)
        bound = engine._kernels["least_moves"](case.state(position), engine._control, 0)
        needed = fewest_moves(Spawns(case.twin, seed), position, 8)
        assert bound >= 1
        if needed is not None:
            assert bound <= needed
            told += bound > 1
    assert told


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_what_is_too_far_is_decided_by_the_last_depth(name, rng):
    case = Runs(name, (4, 4), rng)
    engine = case.engine()
    for _ in range(3):
        position, seed = case.position_to_play(rng.randint(4, 20)), rng.getrandbits(64)
        engine.begin(case.state(position), seed, 60)
        engine._kernels["to_depth"](engine._control)  # as if half of the nodes were gone
        while not engine.advance(7):
            pass
        found = engine.result()
        spawns = Spawns(case.twin, seed)
        if found.goal:
            assert found.length == fewest_moves(spawns, position, found.length)
            continue
        assert found.length >= 1
        layers = last_layer(spawns, position, found.length)
        best = {move: max(map(case.evaluate, layer)) for move, layer in layers.items()}
        assert best[case.move_of(found)] == max(best.values())
        assert found.nodes >= 60


def test_no_tile_is_larger_than_the_largest(rng):
    case = Runs("2048", (2, 2), rng)
    position = (((32768, 2), (0, 2)), 0)
    found = case.run(case.engine(), position, 1, limit=1000)
    assert (found.goal, found.complete, found.move is not None) == (False, True, True)
    assert found.length > 0


@pytest.mark.parametrize("position", [(((2, 4), (4, 2)), 0), (((2, 0), (0, 0)), 1)], ids=["over", "chance"])
def test_without_a_move_there_is_nothing_to_search(position, rng):
    case = Runs("2048", (2, 2), rng)
    found = case.run(case.engine(), position, 1)
    assert (found.complete, found.move, found.nodes) == (True, None, 0)


def test_slices_change_nothing_and_a_limit_holds(rng):
    case = Runs("2048", (4, 4), rng)
    engine, position, seed = case.engine(), case.position_to_play(60), rng.getrandbits(64)
    for limit in (1, 50, 3000):
        found = case.run(engine, position, seed, limit)
        assert case.run(engine, position, seed, limit, budget=rng.choice((1, 13))) == found
        assert found.move is not None
        assert found.nodes <= limit + ida.MOST


def test_a_stopped_run_is_not_complete(rng):
    case = Runs("2048", (4, 4), rng)
    engine, far = case.engine(), case.game.parse("0,0,0,0,0,0,0,0,0,0,2,0,0,0,0,1024", case.rules)
    engine.begin(far.state, 3, PLENTY)
    assert not engine.advance(1)
    assert not engine.result().complete
