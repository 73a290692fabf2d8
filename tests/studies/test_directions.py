"""Whether what a report says holds of what was measured: by intervals, worked out by hand or by other means."""

import numpy as np
import pytest

from distsearch.studies.reports.directions import HELD, MISSING, NOT_HELD, OPEN, every, larger, lowest_at, rising, table


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
