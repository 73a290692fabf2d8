"""Sleeps that another rank ends."""

import select
import threading
import time

import pytest

from distsearch.cluster.wakeup import Wakeup


@pytest.fixture
def wakeups():
    made = Wakeup(), Wakeup()
    yield made
    for wakeup in made:
        wakeup.close()


def test_a_notification_ends_a_sleep(wakeups):
    sleeper, other = wakeups
    threading.Timer(0.05, other.notify, [sleeper.name]).start()
    began = time.perf_counter()
    assert sleeper.wait(10)
    assert 0.04 < time.perf_counter() - began < 5


def test_notifications_before_a_sleep_count_once(wakeups):
    sleeper, other = wakeups
    for _ in range(100):  # more than a socket holds
        other.notify(sleeper.name)
    began = time.perf_counter()
    sleeper.wait(10)
    assert time.perf_counter() - began < 5
    began = time.perf_counter()
    sleeper.wait(0.03)
    assert time.perf_counter() - began > 0.02


def test_others_can_wait_for_a_notification(wakeups):
    sleeper, other = wakeups
    assert select.select([sleeper], [], [], 0)[0] == []
    other.notify(sleeper.name)
    assert select.select([sleeper], [], [], 5)[0] == [sleeper]
    sleeper.empty()
    assert select.select([sleeper], [], [], 0)[0] == []


@pytest.mark.parametrize("seconds", [0.0002, 0.02])
def test_without_a_notification_a_sleep_lasts(wakeups, seconds):
    began = time.perf_counter()
    assert not wakeups[0].wait(seconds)
    assert time.perf_counter() - began > 0.9 * seconds


def test_a_name_without_a_socket_is_ignored(wakeups):
    wakeups[0].notify(b"\0no socket has this name")
    wakeups[0].notify(b"")
