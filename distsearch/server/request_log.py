"""A line on stderr for each request, written by a thread: a slow reader of stderr holds nothing up."""

import contextlib
import json
import os
import queue
import threading
from datetime import datetime
from typing import Any

_WAITING = 1000  # lines; further ones are left out, and counted
_LONGEST = 120  # characters of a text
_FAREWELL = 0.5  # seconds for the lines that wait at the end


class RequestLog:
    """Lines of ``name=value``, after the time. descriptor: where to write. ``close`` writes what waits."""

    def __init__(self, descriptor: int = 2):
        self._descriptor = descriptor
        self._lines: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._left_out = 0
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def add(self, kind: str, **fields: object) -> None:
        """Add the line of a request; fields: texts that clients may have chosen, and numbers. None is left out."""
        now = datetime.now().astimezone().isoformat(timespec="milliseconds")
        words = " ".join(f"{name}={_shown(value)}" for name, value in fields.items() if value is not None)
        try:
            if self._left_out:
                self._lines.put_nowait(f"{now} requests left_out={self._left_out}\n".encode())
                self._left_out = 0
            self._lines.put_nowait(f"{now} {kind} {words}\n".encode())
        except queue.Full:
            self._left_out += 1

    def close(self) -> None:
        """Write the lines that wait, if they are taken soon."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
            self._thread.join(_FAREWELL)

    def _write(self):
        while line := self._lines.get():
            with contextlib.suppress(OSError):  # stderr has no reader, or the disk is full
                os.write(self._descriptor, line)


def _shown(value: Any) -> str:
    """Return a value as one word of ASCII; a text of other than plain characters as a string of JSON."""
    if isinstance(value, float):
        return f"{value:.4f}"
    text = str(value)
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "..."
    if text and text.isascii() and text.isprintable() and not set(text) & set(' "\\='):
        return text
    return json.dumps(text).replace("\x7f", "\\u007f")
