"""How far a study is, and how long it will take, by a clock that tests set."""

from types import SimpleNamespace

import pytest

from distsearch.api.facts import clock_time
from distsearch.studies.progress import Countdown


class Shown(list):
    """A Progress that keeps its lines, and is always due."""

    def due(self):
        return True

    def begin(self):
        pass

    show = list.append


@pytest.fixture
def clock():
    return SimpleNamespace(now=100.0)


def test_time_left_is_foretold_by_what_is_most_alike(clock):
    shown = Shown()
    costs = [("a", 1), ("b", 2), ("a", 1), ("c", 2), ("d", 3)]
    countdown = Countdown(shown, costs, lambda: clock.now)
    assert countdown.left() is None
    countdown.start("first")
    assert shown == ["run 1 of 5: first"]
    clock.now += 10
    countdown.finish()
    countdown.start("second")  # nothing is like the others yet but the first
    assert shown[-1] == "run 2 of 5, 0:40 left: second"
    clock.now += 4
    countdown.show("half of it")
    assert shown[-1] == "run 2 of 5, 0:36 left: second: half of it"
    countdown.finish()
    countdown.start("third")
    assert countdown.left() == 10 + 4 + 7
    clock.now += 100  # longer than foretold
    assert countdown.left() == 4 + 7
    for name in ("fourth", "fifth"):
        countdown.finish()
        countdown.start(name)
    countdown.finish()
    assert countdown.left() == 0


def test_warming_up_is_told_of():
    shown = Shown()
    countdown = Countdown(shown, [("a",)])
    countdown.before("warming up, 2 ranks")
    countdown.show("depth 3")
    assert shown == ["warming up, 2 ranks", "warming up, 2 ranks: depth 3"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (7.4, "0:07"), (59.6, "1:00"), (754, "12:34"), (5025, "1:23:45")]
)
def test_times_are_told_as_clocks_do(seconds, text):
    assert clock_time(seconds) == text
