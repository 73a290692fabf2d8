"""Whether what a report says holds of what was measured: by intervals, worked out by hand or by other means."""

import numpy as np
import pytest

from distsearch.studies.reports.directions import (
    HELD,
    MISSING,
    NOT_HELD,
    OPEN,
    Direction,
    Estimate,
    above,
    alike,
    every,
    larger,
    larger_mean,
    lowest_at,
    rising,
    some,
    table,
)


def held(more, less):
    return larger("Fig 1", "a is more than b", more, less).held


def test_a_difference_by_its_interval():
    assert held([10, 11, 12], [1, 2, 3]) == HELD
    assert held([1, 2, 3], [10, 11, 12]) == NOT_HELD
    assert held([1, 2, 9], [2, 3, 4]) == OPEN
    assert held([], [1]) == held([1], []) == MISSING
    assert held([2, 2], [1, 1]) == HELD  # without any spread
    once = larger("Fig 1", "a is more than b", [2.0], [1.0, 3.0])
    assert (once.held, once.ours) == (OPEN, "2 and 2, of 1 and 2")
    assert larger("p", "s", [1.0], [2.0]).ours == "1 and 2, once each"
    assert held([1.0], [2.0]) == NOT_HELD
    assert held([1.0, 1.0], [1.0, 1.0]) == OPEN


def test_intervals_cover_differences_as_often_as_they_say():
    """Of two samples of the same distribution, 5% are told apart."""
    drawn = np.random.default_rng(5)
    outcomes = [held(*drawn.normal(size=(2, 5)).tolist()) for _ in range(2000)]
    assert outcomes.count(HELD) + outcomes.count(NOT_HELD) == pytest.approx(100, abs=45)


def test_every_step_has_to_rise():
    low, middle, high = [1.0, 1.1], [2.0, 2.1], [3.0, 3.1]
    assert rising("p", "s", [("a", low), ("b", middle), ("c", high)]).held == HELD
    assert rising("p", "s", [("a", high), ("b", middle), ("c", low)], falling=True).held == HELD
    down = rising("p", "s", [("a", low), ("b", high), ("c", middle)])
    assert (down.held, "1 of 2 steps hold" in down.ours, "b to c" in down.ours) == (NOT_HELD, True, True)
    assert rising("p", "s", [("a", low)]).held == MISSING


def test_parts_that_were_not_measured_leave_it_open():
    parts = [("one", larger("p", "", [2.0, 2.1], [1.0, 1.1])), ("two", larger("p", "", [], []))]
    some = every("p", "s", parts)
    assert (some.held, "1 of 2 steps hold, 1 not measured" in some.ours) == (OPEN, True)
    assert every("p", "s", parts[1:]).held == MISSING
    assert every("p", "s", [*parts, ("three", larger("p", "", [1.0, 1.1], [2.0, 2.1]))]).held == NOT_HELD


def test_where_a_curve_is_lowest():
    series = [(1, [5.0, 5.1]), (2, [3.0, 3.1]), (3, [4.0, 4.1])]
    assert lowest_at("p", "s", series, 2).held == HELD
    assert lowest_at("p", "s", series, 3).held == NOT_HELD
    assert lowest_at("p", "s", [(2, [3.0, 3.4]), (3, [3.1, 3.5])], 3).held == OPEN
    assert lowest_at("p", "s", [(2, [3.0, 3.4]), (3, [3.1, 3.5])], 2).held == OPEN
    assert lowest_at("p", "s", series, 9).held == lowest_at("p", "s", series[:1], 1).held == MISSING


def test_directions_as_a_table():
    rows = table([larger("Fig 1", "a is more than b", [2.0], [1.0], "s"), larger("Fig 2", "c", [], [])]).rows
    assert rows == [("Fig 1", "a is more than b", "2 and 1 s, once each", HELD), ("Fig 2", "c", None, MISSING)]


def test_any_of_some_parts_must_hold_more_often_than_chance():
    def one_of(*words):
        return some("p", "s", [(str(i), Direction("", "", "1 and 2", word)) for i, word in enumerate(words)]).held

    assert one_of(HELD) == one_of(HELD, NOT_HELD) == HELD
    assert one_of(HELD, *14 * [NOT_HELD]) == OPEN  # of 15 that are alike one seems to hold in a third of studies
    assert one_of(*3 * [HELD], *12 * [NOT_HELD]) == HELD
    assert one_of(NOT_HELD, NOT_HELD) == NOT_HELD
    assert one_of(NOT_HELD, OPEN) == one_of(NOT_HELD, MISSING) == OPEN
    assert one_of() == one_of(MISSING) == MISSING


def test_means_with_their_errors():
    one, other = Estimate.of([10.0, 11.0, 12.0]), Estimate.of([1.0, 2.0, 3.0])
    assert one == (11.0, pytest.approx(3**-0.5), 2)
    half = 2.7764 * (2 / 3) ** 0.5  # Student's t of four degrees of freedom
    assert one.minus(other) == pytest.approx((9 - half, 9 + half), rel=1e-4)
    assert Estimate(5.0, 0.0, 9).minus(Estimate(3.0, 0.0, 9)) == (2.0, 2.0)
    assert larger_mean("p", "s", one, other).held == HELD
    assert larger_mean("p", "s", other, one).held == NOT_HELD
    assert larger_mean("p", "s", one, Estimate(1.0, 0.1, 0)).held == OPEN  # of one game


def test_means_are_alike_or_not_by_the_interval_of_their_difference():
    def of(mean, error=5.0):
        return Estimate(mean, error, 1000)

    assert alike("p", "s", of(1000.0), of(1020.0), 0.05).held == HELD  # 0.6 to 3.4%
    assert alike("p", "s", of(1000.0), of(1045.0), 0.05).held == OPEN
    assert alike("p", "s", of(1000.0), of(1080.0), 0.05).held == NOT_HELD
    assert alike("p", "s", of(1000.0), of(920.0), 0.05).held == NOT_HELD
    assert alike("p", "s", of(1000.0), of(1000.0, 40.0), 0.05).held == OPEN


def test_a_value_is_above_a_limit_by_its_interval():
    assert [above("p", "s", ends, 5.0, "x").held for ends in ((6, 9), (1, 4), (4, 6))] == [HELD, NOT_HELD, OPEN]
