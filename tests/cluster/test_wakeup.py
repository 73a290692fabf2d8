"""Naps that end when somebody rings."""

import threading
import time

import pytest

from distsearch.cluster.wakeup import Wakeup


@pytest.fixture
def bells():
    made = Wakeup(), Wakeup()
    yield made
    for wakeup in made:
        wakeup.close()


def test_a_ring_ends_a_nap(bells):
    sleeper, other = bells
    threading.Timer(0.05, other.notify, [sleeper.name]).start()
    began = time.perf_counter()
    assert sleeper.wait(10)
    assert 0.04 < time.perf_counter() - began < 5


def test_a_ring_before_the_nap_counts_once(bells):
    sleeper, other = bells
    for _ in range(100):  # more than a socket holds
        other.notify(sleeper.name)
    began = time.perf_counter()
    sleeper.wait(10)
    assert time.perf_counter() - began < 5
    began = time.perf_counter()
    sleeper.wait(0.03)
    assert time.perf_counter() - began > 0.02


@pytest.mark.parametrize("seconds", [0.0002, 0.02])
def test_without_a_ring_a_nap_lasts(bells, seconds):
    began = time.perf_counter()
    assert not bells[0].wait(seconds)
    assert time.perf_counter() - began > 0.9 * seconds


def test_nobody_there_is_no_harm(bells):
    bells[0].notify(b"\0nobody has this name")
    bells[0].notify(b"")
