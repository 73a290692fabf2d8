"""Clocks with periods: the moves of a period share its time, and the next one begins as it is used up."""

from distsearch.programs.clock import PeriodClock


def test_the_moves_of_a_period_share_its_time():
    clock = PeriodClock(10.0, stones=5, period=(10.0, 5))
    for _ in range(3 * 5):
        seconds = clock.give(30)
        assert 0 < seconds <= clock.left / clock.stones
        assert clock.spend(seconds)
    assert (clock.left, clock.stones) == (10.0, 5)


def test_a_period_begins_where_the_main_time_ends():
    clock = PeriodClock(3.0, period=(20.0, 4))
    assert clock.spend(2.0)
    assert (clock.left, clock.stones) == (1.0, 0)
    assert clock.spend(2.0)
    assert (clock.left, clock.stones) == (20.0, 4)


def test_without_a_period_the_main_time_is_all():
    clock = PeriodClock(3.0)
    assert 0 < clock.give(10) < 0.3
    assert clock.spend(1.0)
    assert not clock.spend(5.0)
    assert (clock.left, clock.stones) == (0.0, 0)


def test_a_period_must_not_be_overdrawn():
    clock = PeriodClock(3.0, stones=2, period=(20.0, 4))
    assert not clock.spend(5.0)
    assert clock.left == 0.0
