"""The search for weights: what it draws, that it draws the same again, and that it finds what is better."""

import math

import pytest

from distsearch.api.weights_search import RowsSpace, WeightsSearch, space_of
from distsearch.evaluation.row_heuristic import Weights, parse
from distsearch.evaluation.weighted_sum import SumWeights, Term

START = Weights(270, 700, 47, 4, 11, 3.5)


def search(seed=1, population=12, sigma=0.3):
    return WeightsSearch(START, RowsSpace(START, 15), population, sigma, seed)


SUM = SumWeights((Term("monotonicity", 2.0), Term("smoothness", 0.1), Term("free", 2.7)))


def test_candidates_are_those_of_the_seed(seed):
    first, again, other = (search(each) for each in (seed, seed, seed + 1))
    for generation in range(3):
        drawn = first.ask()
        assert again.ask() == drawn
        assert not set(other.ask()) & set(drawn)
        for each in (first, again, other):
            each.tell([-weights.free for weights in drawn])
        assert first.mean_weights == again.mean_weights
        assert len(set(drawn)) == 12, generation


def test_candidates_fit_and_their_texts_have_all_their_digits(seed):
    wild = search(seed, sigma=2.0)
    for _ in range(5):
        drawn = wild.ask()
        for weights in drawn:
            assert weights.fit(15)
            assert parse(weights.text, 15) == weights
        wild.tell([0.0] * len(drawn))


def test_a_power_alone_leaves_what_a_typical_tile_costs(seed):
    for weights in search(seed).ask():
        ratio = (weights.sum * 10**weights.sum_power) / (START.sum * 10**START.sum_power)
        assert 0.1 < ratio < 10


def test_it_begins_at_the_start():
    assert search().mean_weights == START


@pytest.mark.parametrize("wanted", [Weights(500, 300, 80, 3.5, 20, 3.2), Weights(100, 900, 20, 4.2, 5, 3.6)])
def test_it_finds_what_is_best(wanted, seed):
    def value(weights):
        """The nearer by factors at a typical tile, the better."""
        at = [
            (w.free, w.merges, w.order * 10**w.order_power, w.order_power, w.sum * 10**w.sum_power, w.sum_power)
            for w in (weights, wanted)
        ]
        return -sum(math.log(a / b) ** 2 for a, b in zip(*at, strict=True))

    found = search(seed)
    for _ in range(60):
        found.tell([value(weights) for weights in found.ask()])
    assert found.mean_weights == pytest.approx(wanted, rel=0.05)


def test_a_sum_keeps_its_first_weight_and_finds_the_others(seed):
    wanted = {"monotonicity": 2.0, "smoothness": 0.8, "free": 0.9}
    found = WeightsSearch(SUM, space_of(SUM, 15), 12, 0.5, seed)
    assert found.mean_weights == SUM
    for _ in range(60):
        drawn = found.ask()
        assert all(each.terms[0] == SUM.terms[0] and each.fit() for each in drawn)
        found.tell([-sum(math.log(w / wanted[name]) ** 2 for name, w in each.by_name().items()) for each in drawn])
    assert found.mean_weights.by_name() == pytest.approx(wanted, rel=0.05)
