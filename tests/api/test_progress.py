"""Progress on stderr: live on a terminal, now and then in a log."""

import io
from types import SimpleNamespace

import pytest

from distsearch.api import progress
from distsearch.api.progress import Progress, compact


class Stream(io.StringIO):
    """A stream that may be a terminal; what was flushed counts as seen."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal, self.seen = terminal, ""

    def isatty(self):
        return self.terminal

    def flush(self):
        self.seen = self.getvalue()


class Clock:
    """Stands in for the module ``time``."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The clock that progress looks at."""
    clock = Clock()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=clock.monotonic))
    return clock


@pytest.fixture
def live(clock):
    """(stream, Progress) of a terminal, with a line on it."""
    stream = Stream(terminal=True)
    shows = Progress(stream)
    shows.show("a long line")
    return stream, shows


def shown(shows, clock, seconds, step=0.05):
    """Let so many seconds pass; return when, counted from now, a line was due and shown."""
    began, times = clock.now, []
    for i in range(1, round(seconds / step) + 1):
        clock.now = began + i * step
        if shows.due():
            shows.show(f"line {len(times)}")
            times.append(round(clock.now - began, 2))
    return times


def test_a_log_has_a_line_every_ten_seconds(clock):
    stream = Stream(terminal=False)
    times = shown(Progress(stream), clock, 45)
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert times[0] <= 10
    assert gaps == pytest.approx([10] * len(gaps), abs=0.11)
    assert stream.seen == "".join(f"line {i}\n" for i in range(len(times)))


def test_a_terminal_shows_it_live(clock):
    stream = Stream(terminal=True)
    times = shown(Progress(stream), clock, 2)
    assert len(times) >= 10
    assert "\n" not in stream.seen


def test_nothing_is_due_at_once(clock):
    assert not Progress(Stream(terminal=True)).due()
    assert not Progress(Stream(terminal=False)).due()


def test_a_live_line_covers_the_longer_one_before_it(live):
    stream, shows = live
    shows.show("short")
    assert on_screen(stream.seen) == "short"


def test_a_live_line_goes_away_at_the_end(live):
    stream, shows = live
    shows.clear()
    shows.clear()
    assert on_screen(stream.seen) == ""
    assert stream.seen.endswith("\r")


def test_a_live_line_makes_room_for_one_that_stays(live):
    stream, shows = live
    shows.note("stays")
    shows.show("next")
    above, _, last = stream.seen.rpartition("\n")
    assert (on_screen(above), on_screen(last)) == ("stays", "next")


@pytest.mark.usefixtures("clock")
def test_a_log_keeps_all_lines():
    stream = Stream(terminal=False)
    shows = Progress(stream)
    shows.show("one")
    shows.note("two")
    shows.clear()
    assert stream.seen == "one\ntwo\n"


def on_screen(written):
    """What a terminal's line shows after this was written to it."""
    line = []
    for part in written.split("\r"):
        line[: len(part)] = part
    return "".join(line).rstrip()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1000, "1 k"),
        (1234, "1.23 k"),
        (45_600, "45.6 k"),
        (999_499, "999 k"),
        (999_500, "1 M"),
        (1_500_000, "1.5 M"),
        (2.5e9, "2.5 G"),
        (7.89e12, "7.89 T"),
    ],
)
def test_counts_are_short(number, text):
    assert compact(number) == text


@pytest.mark.parametrize("power", range(14))
def test_counts_stay_short_at_every_size(power):
    for factor in (1, 1.5, 9.99, 9.994, 9.995, 9.999):
        text = compact(factor * 10**power)
        assert len(text.split()[0]) <= 4, text
        assert "e" not in text
