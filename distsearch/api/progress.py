"""Progress for people, on stderr: one line that changes on a terminal; else a line after a second, then every ten."""

import contextlib
import sys
import time

_LIVE, _LOGGED = 0.1, 10.0  # seconds between two lines
_FIRST = 1.0  # seconds before the first one of a log


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


def compact(number: float) -> str:
    """Return a count in three or four digits and a unit: 999, 1.23 k, 45.6 M, 7.89 G."""
    units = ["", " k", " M", " G", " T"]
    while number >= 999.5 and len(units) > 1:
        number /= 1000
        del units[0]
    return f"{number:.0f}" if not units[0] else f"{number:.3g}{units[0]}"
