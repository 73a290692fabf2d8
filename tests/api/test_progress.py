"""Progress on stderr: live on a terminal, now and then in a log."""

import io
import os
import re
from types import SimpleNamespace

import pytest

from distsearch.api import progress
from distsearch.api.facts import Facts, width
from distsearch.api.progress import Hook, Part, Progress

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d"  # one format of time for all lines of a log


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
    monkeypatch.delenv("TERM", raising=False)
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
    assert untimed(stream.seen) == [f"line {i}" for i in range(len(times))]


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
    first, second = stream.seen.splitlines()
    assert (untimed(first), second) == (["one"], "two")


def untimed(log):
    """The lines of a log without what each begins with."""
    return [re.fullmatch(f"{STAMP} progress: (.*)", line)[1] for line in log.splitlines()]


def on_screen(written):
    """What a terminal's line shows after this was written to it."""
    line = []
    for part in written.split("\r"):
        line[: len(part)] = part
    return "".join(line).rstrip()


@pytest.fixture
def terminal(monkeypatch):
    """(a function that sets the columns of a terminal, its stream)."""
    stream = Stream(terminal=True)
    stream.fileno = lambda: 7
    monkeypatch.delenv("TERM", raising=False)

    def resize(columns):
        monkeypatch.setattr(os, "get_terminal_size", lambda descriptor: os.terminal_size((columns, 24)))

    resize(80)
    return resize, stream


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("columns", [1, 2, 20, 80])
@pytest.mark.parametrize("text", ["wins by 12 discs " * 20, "\u5e73\u624b" * 50, "e\u0301" * 200, "a\nb\x1b[31m" * 30])
def test_a_live_line_fits_the_terminal(terminal, columns, text):
    resize, stream = terminal
    resize(columns)
    shows = Progress(stream)
    shows.show(text)
    shows.show("x")
    shows.clear()
    assert all(width(line) < max(2, columns) for line in stream.seen.split("\r"))
    assert stream.seen.replace("\r", "").isprintable()


@pytest.mark.usefixtures("clock")
def test_a_terminal_may_become_narrower(terminal):
    resize, stream = terminal
    shows = Progress(stream)
    shows.show("x" * 70)
    resize(20)
    shows.show("y")
    assert stream.seen.endswith("\ry" + " " * 18)


@pytest.mark.usefixtures("clock")
def test_what_matters_most_stays_on_a_narrow_terminal(terminal):
    resize, stream = terminal
    facts = Facts(27.0, 1_230_000, move="f5", score=3.0, unit="discs", depth=21, seconds_left=33.0)
    shows = Progress(stream)
    shows.tell(facts)
    assert stream.seen == f"\r{facts.line}"
    resize(30)
    shows.tell(facts)
    assert stream.seen.rpartition("\r")[2].rstrip() == "best f5: +3 discs, 33 s left"


@pytest.mark.usefixtures("clock")
def test_a_dumb_terminal_gets_a_log(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    stream = Stream(terminal=True)
    Progress(stream).show("one")
    assert untimed(stream.seen) == ["one"]


class Closed(io.StringIO):
    """As stderr is once it was closed."""

    def isatty(self):
        return False

    def write(self, text):
        raise ValueError("I/O operation on closed file")


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("stream", [None, Closed()])
def test_a_closed_stderr_is_no_trouble(monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream)
    shows = Progress()
    shows.show("one")
    shows.note("two")
    shows.clear()


def test_parts_of_longer_work_are_one_run(clock):
    """A second of all of it, and not of each part, makes the first line."""
    stream, number = Stream(terminal=False), 0
    shows = Part(Progress(stream), lambda: f"game {number}/3")
    for number in (1, 2, 3):  # noqa: B007
        shows.begin()
        clock.now += 0.6
        if shows.due():
            shows.tell(Facts(0.6, move="d3"))
    assert untimed(stream.seen) == ["game 2/3, best d3, 1 s"]


def test_a_hook_is_told_of_parts(clock):
    told = []
    Part(Hook(told.append), lambda: "game 2/3").tell(Facts(0.6))
    assert [facts.part for facts in told] == ["game 2/3"]
