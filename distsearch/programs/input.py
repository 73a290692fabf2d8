"""Commands of a program, a line each: those that have come, looked for while a search goes on as well."""

import os
import select
from collections import deque
from collections.abc import Callable

from ..core.errors import UserError
from ..server.protocol import Splitter

_LONGEST = 1 << 16  # bytes of a line; a longer one counts as empty
_CHUNK = 1 << 16
_MOST = 1000  # lines that wait; the kernel keeps the others, and has the program wait
_GLANCE = 0.1  # seconds between two looks at signals


class CommandInput:
    """Lines from a descriptor, whatever it is. output: of the answers, whose reader may go, or None.

    ``waiting``: lines that have come and were not taken.
    """

    def __init__(self, descriptor: int, output: int | None):
        self._descriptor, self._splitter, self._ended = descriptor, Splitter(_LONGEST), False
        self.waiting: deque[str] = deque()
        self._input, self._output = select.poll(), select.poll()
        self._input.register(descriptor, select.POLLIN)
        if output is not None:
            self._output.register(output, 0)

    @property
    def unread(self) -> bool:
        """Whether the reader of the answers has gone."""
        return any(event & select.POLLERR for _, event in self._output.poll(0))

    def look(self, seconds: float = 0.0) -> None:
        """Take in what has come, after at most so many seconds; raises UserError where reading fails."""
        while not self._ended and len(self.waiting) < _MOST and self._input.poll(1000 * seconds):
            try:
                data = os.read(self._descriptor, _CHUNK)
            except OSError as error:
                raise UserError(f"cannot read the commands: {error.strerror}") from error
            self._ended = not data
            lines = self._splitter.feed(data) if data else self._splitter.end()
            self.waiting += [(line or b"").decode(errors="replace") for line in lines]
            seconds = 0.0

    def take(self, interrupted: Callable[[], bool]) -> str | None:
        """Return the next line, once it comes; None at the end, after an interrupt, or without a reader."""
        while not interrupted() and not self.unread:
            if self.waiting:
                return self.waiting.popleft()
            if self._ended:
                return None
            self.look(_GLANCE)
        return None
