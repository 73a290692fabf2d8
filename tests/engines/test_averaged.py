"""Runs of the averaged search: the values of plain recursion over what a plain twin draws, in any slices and order."""

import pytest

from distsearch.engines.averaged import SampledRun
from distsearch.engines.player import seed_of

from .sampled_twin import drawn, likely, value
from .sliding_case import SlidingCase


class Case(SlidingCase):
    def __init__(self, name, board, rng, evaluated="rows", **rules):
        super().__init__(name, board, rng, evaluated, **rules)

    def key(self, position):
        return int(self.game.key(self.state(position), self.rules))

    def run(self, engine, position, depth, seed, budget=10**9):
        engine.seed(seed)
        engine.begin(self.state(position), depth)
        while not engine.advance(budget):
            pass
        return engine.result()

    def engine(self, width):
        return SampledRun(self.game, self.rules, self.evaluation, width)

    def plainly(self, position, depth, width, seed):
        return value(
            self.twin, position, depth, self.evaluate, lambda place: drawn(self.twin, place, width, seed, self.key)
        )


@pytest.mark.parametrize(
    ("board", "name"),
    [
        ((2, 2), "2048"),
        pytest.param((2, 2), "2584", marks=pytest.mark.full),
        pytest.param((2, 3), "2048", marks=pytest.mark.full),
        ((2, 3), "2584"),
        ((4, 4), "2048"),
        ((4, 4), "2584"),
    ],
    ids=str,
)
def test_a_run_is_plain_recursion_over_what_was_drawn(name, board, rng, full):
    case = Case(name, board, rng)
    for width in (1, 2, 3):
        engine = case.engine(width)
        for i in range(10 if full else 3):
            position, seed = case.position(rng.randint(0, 8 if board == (2, 2) else 30)), rng.getrandbits(64)
            depth = i % (7 if full else 6)
            found = case.run(engine, position, depth, seed)
            assert found.value == pytest.approx(case.plainly(position, depth, width, seed), rel=1e-12, abs=1e-9)


def test_a_width_of_all_that_is_likely_draws_nothing(rng):
    case = Case("2048", (4, 4), rng)
    engine = case.engine(16)
    for _ in range(3):
        position = case.position(rng.randint(20, 60))
        found = {case.run(engine, position, 4, rng.getrandbits(64)).value for _ in range(3)}
        assert len(found) == 1

        def every(place):
            outcomes = likely(case.twin, place)
            assert all(move.startswith("2@") for move, _ in outcomes)
            return [(move, 1 / len(outcomes)) for move, _ in outcomes]

        expected = value(case.twin, position, 4, case.evaluate, every)
        assert found.pop() == pytest.approx(expected, rel=1e-12, abs=1e-9)


def test_tiles_half_as_likely_are_drawn_and_weighted(rng):
    case = Case("2048", (4, 4), rng, spawn="2:0.6,4:0.4")
    case.twin.tiles = [(2, "6/10"), (4, "4/10")]
    engine = case.engine(5)
    for _ in range(3):
        position, seed = case.position(rng.randint(20, 60)), rng.getrandbits(64)
        found = case.run(engine, position, 4, seed)
        assert found.value == pytest.approx(case.plainly(position, 4, 5, seed), rel=1e-12, abs=1e-9)


def test_slices_and_what_the_table_holds_change_nothing(rng):
    case = Case("2048", (4, 4), rng)
    engine, position = case.engine(3), case.position(40)
    seeds = [seed_of(5, run) for run in range(6)]
    first = [case.run(engine, position, 7, seed).value for seed in seeds]
    # what is worth the same by all runs is over soon, whatever they draw
    assert len(set(first)) > 1 or first[0] < -10_000 or len(case.twin.moves(position)) == 0
    engine.forget()
    again = {seed: case.run(engine, position, 7, seed, budget=rng.choice((1, 60))).value for seed in reversed(seeds)}
    assert [again[seed] for seed in seeds] == first


def test_the_mean_of_runs_nears_that_of_all_that_is_likely(rng):
    """Of one ply of chance alone, whose mean is not bent by a maximum."""
    case = Case("2048", (4, 4), rng)
    position = next(p for p in iter(lambda: case.position(rng.randint(21, 40)), None) if case.twin.kind(p) == "chance")
    engine = case.engine(2)
    values = [case.run(engine, position, 1, seed_of(9, run)).value for run in range(2000)]
    every = [case.evaluate(case.twin.play(position, move)[0]) for move, _ in likely(case.twin, position)]
    mean, spread = sum(every) / len(every), max(every) - min(every)
    assert sum(values) / len(values) == pytest.approx(mean, abs=spread * 0.08 + 1e-9)
