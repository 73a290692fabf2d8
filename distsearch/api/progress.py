"""How far work is: as ``Facts`` for programs, and for people on stderr.

That is one line which changes on a terminal; else a line after a second, then every ten.
"""

import contextlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

_LIVE, _LOGGED = 0.1, 10.0  # seconds between two lines
_FIRST = 1.0  # seconds before the first one of a log


@dataclass(frozen=True)
class Facts:
    """How far a session's work is. What is not known, or not there, is None.

    line: for people; seconds: since it began, in which ``nodes`` were searched; done, total: how many of what is
    ``counted``, "subtrees", "positions" or "games", are done, and how many are known of;
    move, score, unit, bound, meaning: the answer so far of a search of one position, as in ``Outcome``, by a search of
    ``depth`` plies; depth_at_work: plies of the search at work, None to the end; ranks; busy_ranks: those that have
    work, not counting a master; seconds_left: of a limit of time; complete: this is the last one, and the
    work came to its end.
    """

    line: str
    seconds: float
    nodes: int = 0
    counted: str = "subtrees"
    done: int = 0
    total: int | None = None
    move: str | None = None
    score: float | None = None
    unit: str | None = None
    bound: str = "exact"
    meaning: str | None = None
    depth: int | None = None
    depth_at_work: int | None = None
    ranks: int = 1
    busy_ranks: int | None = None
    seconds_left: float | None = None
    complete: bool = False

    @property
    def nodes_per_second(self) -> int:
        return round(self.nodes / self.seconds) if self.seconds > 0 else 0


class Progress:
    """Shows how a run goes. ``stream`` is stderr unless given."""

    def __init__(self, stream=None):
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._width = 0
        self.begin()

    def begin(self) -> None:
        """A run begins: the first line is due a little later."""
        self._shown = time.monotonic()
        self._every = _LIVE if self._live else _FIRST

    def due(self) -> bool:
        """Whether it is time for another line: ask this before making one."""
        return time.monotonic() - self._shown >= self._every

    def tell(self, facts: Facts) -> None:
        """Show facts as the state of things."""
        self.show(facts.line)

    def end(self, facts: Facts) -> None:
        """A search of one position is over: what else is told of it says enough."""

    def show(self, text: str) -> None:
        """Show ``text`` as the state of things."""
        self._shown = time.monotonic()
        if self._live:
            self._write(f"\r{text:<{self._width}}")
            self._width = len(text)
        else:
            self._every = _LOGGED
            self._write(text + "\n")

    def note(self, text: str) -> None:
        """Write a line that stays."""
        self.clear()
        self._write(text + "\n")

    def clear(self) -> None:
        """Take a live line away again."""
        if self._live and self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0

    def _write(self, text):
        # the reader of stderr has gone, and the search matters more
        with contextlib.suppress(OSError):
            self._stream.write(text)
            self._stream.flush()


class Silent(Progress):
    """Shows nothing."""

    def __init__(self):
        """There is no stream to look at."""

    def begin(self) -> None:
        """Nothing is due."""

    def due(self) -> bool:
        return False

    def clear(self) -> None:
        """Nothing is there."""

    def _write(self, text):
        """Progress that goes nowhere."""


class Hook(Silent):
    """Calls ``function(facts)`` ten times a second at most, in the thread that searches."""

    def __init__(self, function: Callable[[Facts], object]):
        self._function, self._called = function, -_LIVE

    def due(self) -> bool:
        return time.monotonic() - self._called >= _LIVE

    def tell(self, facts: Facts) -> None:
        self._called = time.monotonic()
        self._function(facts)

    def show(self, text: str) -> None:
        """Text is for people."""

    def end(self, facts: Facts) -> None:
        self._function(facts)


def compact(number: float) -> str:
    """Return a count in three or four digits and a unit: 999, 1.23 k, 45.6 M, 7.89 G."""
    units = ["", " k", " M", " G", " T"]
    while number >= 999.5 and len(units) > 1:
        number /= 1000
        del units[0]
    return f"{number:.0f}" if not units[0] else f"{number:.3g}{units[0]}"
