"""Intervals of means and shares, against tables, and by how often they hold the true value."""

import random

import pytest

from distsearch.api.intervals import half_interval, mean_interval, share_difference, share_interval, student_95


@pytest.mark.parametrize(
    ("degrees", "table"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (9, 2.26216), (30, 2.04227), (999, 1.96234)],
)
def test_student_s_quantiles_as_the_tables_have_them(degrees, table):
    assert student_95(degrees) == pytest.approx(table, rel=2e-3 if 3 <= degrees < 9 else 1e-5)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        (0, 10, 0, 0.2775),
        (1, 10, 0.0179, 0.4042),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_wilson_s_intervals_as_the_tables_have_them(count, of, low, high):
    assert share_interval(count, of) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [((56, 70, 48, 80), 0.0524, 0.3339), ((9, 10, 3, 10), 0.1705, 0.8090), ((10, 10, 0, 10), 0.6075, 1)],
)
def test_newcombe_s_intervals_as_he_has_them(counts, low, high):
    count, of, other, of_other = counts
    assert share_difference(*counts) == pytest.approx((low, high), abs=5e-5)
    assert share_difference(other, of_other, count, of) == pytest.approx((-high, -low), abs=5e-5)


def test_the_interval_of_a_mean():
    values = [2, 4, 4, 4, 5, 5, 7, 9]  # whose deviation is the root of 32 / 7
    half = 2.364624 * (32 / 7 / 8) ** 0.5  # of 7 degrees of freedom
    assert mean_interval(values) == pytest.approx((5 - half, 5 + half), abs=1e-4)


@pytest.mark.parametrize("count", [2, 3, 4, 10, 60])
def test_95_of_100_means_are_held_however_few_their_values(count):
    draws = random.Random(8)
    held = 0
    for _ in range(4000):
        low, high = mean_interval([draws.gauss(50, 20) for _ in range(count)])
        held += low < 50 < high
    assert 0.936 < held / 4000 < 0.964  # four standard errors around 95%


def test_half_an_interval_by_the_standard_error():
    values = [3.0, 5.0, 10.0]
    low, high = mean_interval(values)
    error = (13 / 3) ** 0.5  # of a variance of 13
    assert half_interval(error, 3) == pytest.approx((high - low) / 2)
    assert half_interval(error, 1) == half_interval(error, 0) == 0.0
