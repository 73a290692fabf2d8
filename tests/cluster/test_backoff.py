"""How long ranks sleep between two looks at their mail."""

import itertools

import pytest

from distsearch.cluster import backoff
from distsearch.cluster.backoff import BackOff, sleep_until

SHORTEST, LONG, LONGEST, PATIENCE = 50e-6, 1e-3, 5e-3, 1.0


class Sleeper:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 1000.0
        self.naps = []

    def sleep(self, seconds):
        self.naps.append(seconds)
        self.now += seconds

    def perf_counter(self):
        return self.now


@pytest.fixture
def sleeper(monkeypatch):
    made = Sleeper()
    monkeypatch.setattr(backoff, "time", made)
    return made


def test_naps_grow_from_the_shortest_to_the_longest(sleeper):
    pause = BackOff()
    while sleeper.now < 1000 + 2 * PATIENCE:
        sleeper.sleep(pause.seconds)
    assert sleeper.naps[0] == pytest.approx(SHORTEST)
    assert sleeper.naps[-1] == pytest.approx(LONGEST)
    assert all(SHORTEST <= nap <= LONGEST for nap in sleeper.naps)
    for before, after in itertools.pairwise(sleeper.naps):
        assert before <= after + 1e-9
        assert after <= LONG + 1e-9 and after <= 2 * before + 1e-9 or after == LONGEST


def test_naps_are_short_until_patience_runs_out(sleeper):
    pause = BackOff()
    while sleeper.now < 1000 + PATIENCE - LONG:
        sleeper.sleep(pause.seconds)
    assert max(sleeper.naps) <= LONG
    # few enough that an idle rank costs next to nothing
    assert len(sleeper.naps) <= 1.1 * PATIENCE / LONG


def test_an_event_starts_the_shortest_nap_again(sleeper):
    pause = BackOff()
    while sleeper.now < 1000 + 2 * PATIENCE:
        sleeper.sleep(pause.seconds)
    pause.reset()
    sleeper.sleep(pause.seconds)
    assert sleeper.naps[-1] == pytest.approx(SHORTEST)


def test_an_answer_is_seen_soon_after_it_came(sleeper):
    """A nap is never longer than the wait was, or than the shortest."""
    for asleep in (1e-4, 5e-4, 3e-3, 0.1):
        pause, began = BackOff(), sleeper.now
        while sleeper.now < began + asleep:
            sleeper.sleep(pause.seconds)
        late = sleeper.now - began - asleep
        assert late <= min(max(asleep, SHORTEST), LONG) + 1e-9


@pytest.mark.parametrize("asleep", [0, 1e-5, 3e-4, 0.1, 3 * PATIENCE])
def test_sleeping_until_something_has_come_takes_the_same_naps(asleep, sleeper):
    end = sleeper.now + asleep
    sleep_until(lambda: sleeper.now >= end)
    found = sleeper.naps.copy()
    assert end <= sleeper.now <= end + LONGEST + 1e-9

    sleeper.now = end - asleep
    sleeper.naps.clear()
    pause = BackOff()
    while sleeper.now < end:
        sleeper.sleep(pause.seconds)
    assert found == pytest.approx(sleeper.naps)


def test_a_nap_that_somebody_ends_is_followed_by_the_shortest(sleeper):
    """What woke the rank may not be visible at once."""
    end, rings = sleeper.now + 10, iter([sleeper.now + 0.5, sleeper.now + 5, sleeper.now + 20])
    ring = next(rings)

    def nap(seconds):
        nonlocal ring
        sleeper.sleep(seconds)
        rung = sleeper.now >= ring
        ring = next(rings) if rung else ring
        return rung

    sleep_until(lambda: sleeper.now >= end, nap)
    assert sleeper.naps.count(pytest.approx(SHORTEST)) == 3 * 2  # a second look takes no time, and is as long again
    assert sleeper.naps[-1] == pytest.approx(LONGEST)


def test_a_rank_looks_twice_before_it_sleeps(sleeper):
    looks = iter([False, True])
    sleep_until(lambda: next(looks))
    assert sleeper.naps == []


@pytest.mark.parametrize("patient", [1.0, 3.0])
def test_waking_up_is_napping_until_then(patient, rng):
    for _ in range(200):
        since, asleep = rng.uniform(0, 100), rng.uniform(0, 1) ** 4 * patient
        now = since
        while now < since + asleep:
            now += backoff.pause(now - since)
        found = backoff.wake_up(since, since + asleep)
        # naps added up in another order may round to one nap more or less
        assert abs(found - now) <= LONGEST + 1e-6
        assert since + asleep - 1e-9 <= found <= since + asleep + LONGEST + 1e-6
