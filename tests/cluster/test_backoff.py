"""How long ranks sleep between two looks at their mail."""

import itertools

import pytest

from distsearch.cluster import backoff
from distsearch.cluster.backoff import BackOff, sleep_until

from .toys import Sleeper

SHORTEST, LONG, LONGEST, PATIENCE = 50e-6, 1e-3, 5e-3, 1.0


@pytest.fixture
def sleeper(monkeypatch):
    made = Sleeper()
    monkeypatch.setattr(backoff, "time", made)
    return made


def test_naps_grow_from_the_shortest_to_the_longest(sleeper):
    pause = BackOff()
    while sleeper.now < 1000 + 2 * PATIENCE:
        sleeper.sleep(pause.seconds)
    assert sleeper.sleeps[0] == pytest.approx(SHORTEST)
    assert sleeper.sleeps[-1] == pytest.approx(LONGEST)
    assert all(SHORTEST <= sleep <= LONGEST for sleep in sleeper.sleeps)
    for before, after in itertools.pairwise(sleeper.sleeps):
        assert before <= after + 1e-9
        assert after <= LONG + 1e-9 and after <= 2 * before + 1e-9 or after == LONGEST


def test_naps_are_short_until_patience_runs_out(sleeper):
    pause = BackOff()
    while sleeper.now < 1000 + PATIENCE - LONG:
        sleeper.sleep(pause.seconds)
    assert max(sleeper.sleeps) <= LONG
    # few enough that an idle rank costs next to nothing
    assert len(sleeper.sleeps) <= 1.1 * PATIENCE / LONG


def test_an_event_starts_the_shortest_nap_again(sleeper):
    pause = BackOff()
    while sleeper.now < 1000 + 2 * PATIENCE:
        sleeper.sleep(pause.seconds)
    pause.reset()
    sleeper.sleep(pause.seconds)
    assert sleeper.sleeps[-1] == pytest.approx(SHORTEST)


def test_an_answer_is_seen_soon_after_it_came(sleeper):
    """A sleep is never longer than the wait was, or than the shortest."""
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
    found = sleeper.sleeps.copy()
    assert end <= sleeper.now <= end + LONGEST + 1e-9

    sleeper.now = end - asleep
    sleeper.sleeps.clear()
    pause = BackOff()
    while sleeper.now < end:
        sleeper.sleep(pause.seconds)
    assert found == pytest.approx(sleeper.sleeps)


def test_a_sleep_that_is_ended_is_followed_by_the_shortest(sleeper):
    """What woke the rank may not be visible at once."""
    end, notifications = sleeper.now + 10, iter([sleeper.now + 0.5, sleeper.now + 5, sleeper.now + 20])
    notification = next(notifications)

    def sleep(seconds):
        nonlocal notification
        sleeper.sleep(seconds)
        notified = sleeper.now >= notification
        notification = next(notifications) if notified else notification
        return notified

    sleep_until(lambda: sleeper.now >= end, sleep)
    assert sleeper.sleeps.count(pytest.approx(SHORTEST)) == 3 * 2  # a second look takes no time, and is as long again
    assert sleeper.sleeps[-1] == pytest.approx(LONGEST)


def test_a_rank_looks_twice_before_it_sleeps(sleeper):
    looks = iter([False, True])
    sleep_until(lambda: next(looks))
    assert sleeper.sleeps == []


@pytest.mark.parametrize("patient", [1.0, 3.0])
def test_waking_up_is_napping_until_then(patient, rng):
    for _ in range(200):
        since, asleep = rng.uniform(0, 100), rng.uniform(0, 1) ** 4 * patient
        now = since
        while now < since + asleep:
            now += backoff.pause(now - since)
        found = backoff.wake_up(since, since + asleep)
        # sleeps added up in another order may round to one sleep more or less
        assert abs(found - now) <= LONGEST + 1e-6
        assert since + asleep - 1e-9 <= found <= since + asleep + LONGEST + 1e-6
