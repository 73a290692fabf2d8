"""What is told how far work is: a program's function, or people on stderr.

For them that is one line which changes on a terminal; else a line with the time after a second, then every ten.
"""

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from .facts import Facts, clipped, width

_LIVE, _LOGGED = 0.1, 10.0  # seconds between two lines
_FIRST = 1.0  # seconds before the first one of a log
_USUAL = 80  # columns of a terminal that does not tell


class Progress:
    """Shows how a run goes. ``stream`` is stderr unless given; None, as where stderr is closed: nothing is shown."""

    def __init__(self, stream=None):
        self._stream = stream or sys.stderr
        # a dumb terminal cannot go back to the beginning of a line
        self._live = self._stream is not None and self._stream.isatty() and os.environ.get("TERM") != "dumb"
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
        self.show(facts.within(self._room() if self._live else None))

    def end(self, facts: Facts) -> None:
        """A search of one position is over: what else is told of it says enough."""

    def show(self, text: str) -> None:
        """Show ``text`` as the state of things."""
        self._shown = time.monotonic()
        if self._live:
            room = self._room()
            line = clipped(text, room)
            self._write("\r" + line + " " * (min(self._width, room) - width(line)))
            self._width = width(line)
        else:
            self._every = _LOGGED
            now = datetime.now().astimezone().isoformat(timespec="seconds")
            self._write(f"{now} progress: {clipped(text, len(text) * 2)}\n")

    def _room(self):
        """How many columns a line may take: at the last one some terminals begin another line."""
        columns = 0
        with contextlib.suppress(OSError, ValueError):  # it is no terminal after all, or closed
            columns = os.get_terminal_size(self._stream.fileno()).columns
        return max(1, (columns or _USUAL) - 1)

    def note(self, text: str) -> None:
        """Write a line that stays."""
        self.clear()
        self._write(text + "\n")

    def clear(self) -> None:
        """Take a live line away again."""
        if self._live and self._width:
            self._write("\r" + " " * min(self._width, self._room()) + "\r")
            self._width = 0

    def _write(self, text):
        # the reader of stderr has gone, and the search matters more
        if self._stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()


class Silent(Progress):
    """Shows nothing."""

    _live = False  # nor is there a terminal

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


class Part(Silent):
    """Stands for a ``Progress`` in each part of longer work, whose lines it begins by which part that is.

    part: function that returns that as a text, such as "game 3/10".
    """

    def __init__(self, progress: Progress, part: Callable[[], str]):
        self._progress, self._part = progress, part
        progress.begin()

    def due(self) -> bool:
        return self._progress.due()

    def tell(self, facts: Facts) -> None:
        self._progress.tell(replace(facts, part=self._part()))

    def show(self, text: str) -> None:
        """Show ``text`` behind the part."""
        self._progress.show(f"{self._part()}{': ' * bool(text)}{text}")

    def note(self, text: str) -> None:
        self._progress.note(text)

    def clear(self) -> None:
        self._progress.clear()


class Hook(Silent):
    """Calls ``function(facts)`` ten times a second at most, by a clock, in the thread that searches."""

    def __init__(self, function: Callable[[Facts], object], clock: Callable[[], float] = time.monotonic):
        self._function, self._clock, self._called = function, clock, -math.inf

    def due(self) -> bool:
        return self._clock() - self._called >= _LIVE

    def tell(self, facts: Facts) -> None:
        self._called = self._clock()
        self._function(facts)

    def show(self, text: str) -> None:
        """Text is for people."""

    def end(self, facts: Facts) -> None:
        self._function(facts)
