"""Elo, intervals and the sequential test, against closed forms, plain maximisation and simulated matches."""

import math
import random
import statistics

import pytest

from distsearch.api.elo import PAIR_SCORES, Sprt, elo_of, expected_score, parse_sprt, score_interval
from distsearch.api.intervals import share_interval
from distsearch.core.errors import UserError


@pytest.mark.parametrize(("elo", "score"), [(0, 0.5), (400, 10 / 11), (-400, 1 / 11), (200, 0.759747), (70, 0.599397)])
def test_elo_and_scores_as_the_tables_have_them(elo, score):
    assert expected_score(elo) == pytest.approx(score, abs=1e-6)
    assert elo_of(score) == pytest.approx(elo, abs=1e-3)


def test_no_difference_explains_all_points():
    assert elo_of(0.0) is None
    assert elo_of(1.0) is None


def test_the_interval_of_many_pairs_is_that_of_a_normal_mean(rng):
    pairs = [drawn(rng, 40) for _ in range(20_000)]
    mean, error = statistics.fmean(pairs), statistics.stdev(pairs) / math.sqrt(len(pairs))
    assert score_interval(pairs) == pytest.approx((mean - 1.959964 * error, mean + 1.959964 * error), abs=2e-5)


@pytest.mark.parametrize(
    ("pairs", "student"),  # the quantile of Student's distribution with one more degree than there are pairs
    [([1.0] * 10, 2.2010), ([0.0, 0.0], 3.1824), ([1.0] * 30, 2.0395)],
    ids=str,
)
def test_if_all_points_are_one_players_it_is_that_of_single_games(pairs, student):
    assert score_interval(pairs) == pytest.approx(share_interval(sum(pairs) * 2, len(pairs) * 2, student), abs=5e-3)


_PAIRS = {  # the five outcomes of a pair, by how likely they are
    "even": (0.25, 0, 0.5, 0, 0.25),
    "with draws": (0.0625, 0.25, 0.375, 0.25, 0.0625),
    "much stronger": (0.0025, 0.01, 0.095, 0.19, 0.7025),
    "the first move wins": (0.01, 0.02, 0.94, 0.02, 0.01),
    "one that hardly loses": (0, 0.05, 0.2, 0.5, 0.25),
    "the opening decides": (0.4, 0.05, 0.1, 0.05, 0.4),
}


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 40])
@pytest.mark.parametrize("outcomes", _PAIRS)
def test_the_interval_of_few_pairs_holds_the_true_score(outcomes, count, rng):
    chances, held, matches = _PAIRS[outcomes], 0, 1000
    true = sum(p * score for p, score in zip(chances, PAIR_SCORES, strict=True))
    for _ in range(matches):
        low, high = score_interval(rng.choices(PAIR_SCORES, chances, k=count))
        assert 0 <= low < high <= 1
        held += low <= true <= high
    assert held / matches > 0.925  # exactly 0.952 at the least: four standard errors more


def drawn(rng, elo, draws=0.3):
    """Return the score of a pair of independent games between players apart by so much."""
    win = expected_score(elo) - draws / 2
    games = [1.0 if (x := rng.random()) < win else 0.5 if x < win + draws else 0.0 for _ in range(2)]
    return sum(games) / 2


def test_intervals_hold_the_true_score():
    rng, held = random.Random(5), 0
    for _ in range(1000):
        low, high = score_interval([drawn(rng, 40) for _ in range(60)])
        held += low < expected_score(40) < high
    assert 920 < held < 970


def best_likelihood(counts, mean, steps=60):
    """The largest log-likelihood of three outcomes (0, 1/2 and 1) with a mean, by trying all shares of draws."""
    best = -math.inf
    for i in range(1, steps * 100):
        half = i / (steps * 100)
        one = mean - half / 2
        zero = 1 - half - one
        if one > 0 and zero > 0:
            best = max(best, sum(n * math.log(p) for n, p in zip(counts, (zero, half, one), strict=True) if n))
    return best


@pytest.mark.parametrize("counts", [(10, 40, 20), (3, 5, 30), (30, 1, 30)], ids=str)
@pytest.mark.parametrize("elos", [(0, 10), (-50, 120), (0, 300)], ids=str)
def test_the_ratio_is_that_of_the_best_explanations(counts, elos):
    found = Sprt(*elos).ratio([counts[0], 0, counts[1], 0, counts[2]])
    low, high = (best_likelihood(counts, expected_score(elo)) for elo in elos)
    assert found == pytest.approx(high - low, abs=0.02)  # unseen outcomes count a thousandth


def test_near_the_null_hypothesis_the_ratio_is_that_of_a_normal_distribution():
    """Closed form: n (s1 − s0) (2 m − s0 − s1) / (2 v), for small differences."""
    counts, (elo0, elo1) = [100, 300, 500, 330, 110], (0, 5)
    n = sum(counts)
    mean = sum(c * s for c, s in zip(counts, PAIR_SCORES, strict=True)) / n
    variance = sum(c * (s - mean) ** 2 for c, s in zip(counts, PAIR_SCORES, strict=True)) / n
    s0, s1 = expected_score(elo0), expected_score(elo1)
    expected = n * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)
    assert Sprt(elo0, elo1).ratio(counts) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("elo", "accepted"), [(0, 0), (60, 60)])
def test_matches_are_decided_rightly_19_times_of_20(elo, accepted):
    rng, wrong, test, matches, pairs = random.Random(elo), 0, Sprt(0, 60), 80, 0
    for _ in range(matches):
        counts, decision = [0] * 5, None
        while decision is None:
            counts[PAIR_SCORES.index(drawn(rng, elo))] += 1
            decision = test.decision(counts)
        wrong += decision != accepted
        pairs += sum(counts)
    assert wrong <= 10  # 4 are expected; the seed is fixed
    assert 10 < pairs / matches < 150


def test_a_first_game_decides_nothing():
    for first in range(5):
        counts = [0] * 5
        counts[first] = 1
        assert Sprt(0, 10).decision(counts) is None
    assert Sprt(0, 10).ratio([0] * 5) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("text", ["", "5", "5,0", "0,0", "0,5,10", "x,5", "nan,5", "0,inf", "-2000,0"])
def test_what_is_no_test_is_refused(text):
    with pytest.raises(UserError, match="sprt"):
        parse_sprt(text)


def test_a_text_is_read():
    assert parse_sprt("-5,10.5") == Sprt(-5.0, 10.5)
