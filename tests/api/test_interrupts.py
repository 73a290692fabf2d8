"""Signals as a flag: the first asks for an end, another one a second later insists."""

import os
import signal
from types import SimpleNamespace

import pytest

from distsearch.api import interrupts
from distsearch.api.interrupts import Interrupts

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@pytest.fixture
def clock(monkeypatch):
    """The clock that the module looks at."""
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(interrupts, "time", clock)
    return clock


@pytest.fixture(autouse=True)
def handlers():
    """Handlers as they were, whatever a test does."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)}
    yield before
    for number, handler in before.items():
        signal.signal(number, handler)


def test_without_a_signal_nothing_happens(handlers):
    with Interrupts() as interrupts:
        assert interrupts.signal is None
        assert interrupts.exit_status == 0
    assert {number: signal.getsignal(number) for number in handlers} == handlers


def test_a_signal_to_save_that_comes_early_is_kept():
    interrupts.note_early()
    signal.raise_signal(signal.SIGUSR1)
    with Interrupts() as first:
        assert first.save and first.signal is None
    signal.raise_signal(signal.SIGUSR1)  # it ends nothing
    with Interrupts() as second, Interrupts() as third:
        assert (second.save, third.save) == (True, False)


@SIGNALS
def test_a_signal_sets_the_flag_and_the_exit_status(number, handlers):
    with Interrupts() as interrupts:
        os.kill(os.getpid(), number)
        assert interrupts.signal == number
        assert interrupts.exit_status == 128 + number
    assert signal.getsignal(number) == handlers[number]


@SIGNALS
@pytest.mark.parametrize("later", [0.0, 0.5, 1.0])
def test_the_same_key_press_may_arrive_twice(number, later, clock):
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        clock.now += later
        signal.raise_signal(number)
        assert interrupts.signal == signal.SIGINT
        assert interrupts.exit_status == 130


@SIGNALS
def test_another_one_later_ends_the_process(number, clock, handlers):
    with pytest.raises(KeyboardInterrupt) as ended, Interrupts():
        signal.raise_signal(signal.SIGINT)
        clock.now += 1.1
        signal.raise_signal(number)
    assert ended.value.args == (number,)
    assert signal.getsignal(number) == handlers[number]


@SIGNALS
def test_workers_ignore_it(number):
    interrupts.ignore()
    os.kill(os.getpid(), number)
    assert signal.getsignal(number) == signal.SIG_IGN
