"""A client's bytes: cut into lines on the way in, kept until the client takes them on the way out. Nothing blocks."""

import os
import select
import socket
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

from .client_session import ClientSession
from .limits import Limits
from .protocol import Splitter, encode

_CHUNK = 1 << 16  # bytes
_PIPE_CHUNK = 4096  # PIPE_BUF: as many bytes fit where poll calls a pipe writable
_FAILED = select.POLLERR | select.POLLHUP | select.POLLNVAL


class Connection(ABC):
    """What the two ways have in common; ``session`` is what takes the lines and sends the messages.

    touch: function that is called with the connection when there is something to see to.
    """

    session: ClientSession

    def __init__(self, limits: Limits, touch: Callable[["Connection"], None]):
        self._limits, self._touch = limits, touch
        self._splitter, self._output = Splitter(limits.line), bytearray()
        self._lines: deque[bytes | None] = deque()  # None: one that was too long
        self._ended = False  # the client says no more
        self._behind = False  # it left something unread when there was last a look
        self._above_since: float | None = None
        self.lost: OSError | None = None  # after which the client hears no more

    @property
    @abstractmethod
    def interest(self) -> dict[int, int | None]:
        """{descriptor: poll's mask, or None for not at all}."""

    @abstractmethod
    def on_event(self, descriptor: int, event: int) -> None:
        """React to what poll says."""

    @abstractmethod
    def _read(self) -> bytes:
        pass

    @abstractmethod
    def _write(self, output: bytearray) -> int:
        pass

    @abstractmethod
    def _close(self) -> None:
        pass

    def send(self, message: dict[str, Any]) -> None:
        """Put a message (dict) behind the others. What soon is old is dropped while the client has more to read."""
        stale = self._behind and message["type"] in ("progress", "cluster")
        if self.lost is None and not stale:
            self._output += encode(message)
            self._touch(self)

    def flush(self) -> None:
        """Pass on what the client takes."""
        while self._output and self.lost is None:
            try:
                sent = self._write(self._output)
            except BlockingIOError:
                sent = 0
            except OSError as error:
                self.lost, sent = error, 0
            if not sent:
                break
            del self._output[:sent]
        self._behind = bool(self._output)

    @property
    def _congested(self):
        return len(self._output) > self._limits.output // 8

    @property
    def ready(self) -> bool:
        """Whether ``step`` has something to do, and may."""
        if self.lost is not None or self._congested:
            return False
        if self.session.reading:
            return not self.session.held
        return bool(self._lines) and self.session.open < self._limits.open_requests

    @property
    def settled(self) -> bool:
        """Whether all that the client said is dealt with, and it has heard everything."""
        return not (self._lines or self.session.open or self._output)

    @property
    def finished(self) -> bool:
        """Whether the connection can be closed."""
        return self.lost is not None or self._ended and self.settled

    def overdue(self, now: float) -> bool:
        """Whether the client leaves too much unread, or for too long; now: seconds on any clock."""
        if len(self._output) <= self._limits.output:
            self._above_since = None
            return False
        if self._above_since is None:
            self._above_since = now
        return len(self._output) > 2 * self._limits.output or now - self._above_since > self._limits.patience

    def step(self) -> None:
        """Take one line, or go on with the latest one, if that takes longer."""
        if self.session.reading:
            self.session.read_more()
        else:
            self.session.take(self._lines.popleft())

    def leave(self) -> None:
        """Let the client go; what it asked for is cancelled."""
        self.lost = self.lost or ConnectionAbortedError("let go")
        self._lines.clear()
        self.session.cancel_all()
        self._close()

    def _receive(self):
        try:
            data = self._read()
        except BlockingIOError:
            return
        except OSError as error:
            self.lost = error
            return
        if data:
            self._lines += self._splitter.feed(data)
        else:
            self._ended = True
            self._lines += self._splitter.end()

    @property
    def _wants_input(self):
        # the kernel keeps what a client sends while there is enough to do, and has it wait
        full = self._lines or self._congested or self.session.open >= self._limits.open_requests
        return not (self._ended or full)


class SocketConnection(Connection):
    """A client at a Unix socket."""

    def __init__(self, connected: socket.socket, limits: Limits, touch: Callable[[Connection], None]):
        super().__init__(limits, touch)
        connected.setblocking(False)
        self._socket = connected

    @property
    def interest(self):
        """{descriptor: poll's mask, or None for not at all}. With mask 0 a hang-up is still told."""
        mask = select.POLLIN * self._wants_input | select.POLLOUT * bool(self._output)
        return {self._socket.fileno(): mask}

    def on_event(self, descriptor, event):
        """React to what poll says."""
        if event & _FAILED:  # both directions are closed; if it is only the client's, there is POLLIN and no data
            self.lost = ConnectionResetError("the client is gone")
        elif event & select.POLLIN:
            self._receive()

    def _read(self):
        return self._socket.recv(_CHUNK)

    def _write(self, output):
        return self._socket.send(output[:_CHUNK])

    def _close(self):
        self._socket.close()


class StandardConnection(Connection):
    """The client at stdin and stdout, which may be files, pipes or a terminal.

    Others may share them, so they are not made non-blocking: poll is asked before every read and write.
    """

    def __init__(self, descriptors: tuple[int, int], limits: Limits, touch: Callable[[Connection], None]):
        super().__init__(limits, touch)
        self._in, self._out = descriptors
        self._writable = select.poll()
        self._writable.register(self._out, select.POLLOUT)

    @property
    def interest(self):
        """As a socket's. A pipe at its end tells so forever: stdin is left out where nothing can be read."""
        wanted = select.POLLIN if self._wants_input else None
        return {self._in: wanted, self._out: select.POLLOUT * bool(self._output)}

    def on_event(self, descriptor, event):
        """React to what poll says."""
        if descriptor == self._in:
            self._receive()
        elif event & _FAILED:
            self.lost = BrokenPipeError("stdout has no reader")

    def _read(self):
        return os.read(self._in, _CHUNK)

    def _write(self, output):
        return os.write(self._out, output[:_PIPE_CHUNK]) if self._writable.poll(0) else 0

    def _close(self):
        """The descriptors belong to the process."""
