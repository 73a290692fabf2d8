"""The loop of ``distsearch serve``: clients at one end, the queue that has the searches done at the other."""

import contextlib
import select
import time
from collections import deque
from collections.abc import Callable
from itertools import count

from .. import __version__
from ..core.errors import UserError, print_error
from . import protocol
from .client_session import ClientSession
from .connections import Connection, SocketConnection, StandardConnection
from .limits import DEFAULTS, Limits
from .listener import Listener, Shortage
from .request_log import RequestLog
from .request_queue import RequestQueue

_GLANCE = 0.1  # seconds between two looks at signals: poll itself is not ended by one
_SELECTED = 1024  # descriptors from here on are not for select
_INTAKE = 0.002  # seconds of reading requests before the searches go on
_ACCEPTED_A_TURN = 32
_SWEEP = 1.0  # seconds between two looks at clients that do not read or wait for kernels, and tries to accept again
_FAREWELL = 2.0  # seconds for what is left to say when time is up


class Server:
    """Serves the clients at a Unix socket at ``path`` or, without one, the client at ``descriptors`` (stdin, stdout).

    queue: ``queue.RequestQueue``; limits: ``limits.Limits``; log: of requests, None for none. On one thread, and
    nothing in it blocks.
    """

    def __init__(
        self,
        queue: RequestQueue,
        path: str | None = None,
        limits: Limits = DEFAULTS,
        descriptors: tuple[int, int] = (0, 1),
        log: RequestLog | None = None,
    ):
        self._queue, self._path, self._limits, self._descriptors = queue, path, limits, descriptors
        self._log = log
        self._poll = select.poll()
        self._masks: dict[int, int] = {}  # descriptor → what poll is to tell
        self._connections: set[Connection] = set()
        self._by_descriptor: dict[int, Connection] = {}
        self._touched: set[Connection] = set()  # those to see to
        self._ready: deque[Connection] = deque()  # those with lines, in turn
        self._numbers = count(1)
        self._listener: Listener | None = None
        self._listening, self._sweep_at, self._cancelled = False, 0.0, False
        self._cancel_at: float | None = None
        self._reads_more = False  # this turn began to watch a client's input, which was not polled yet

    def serve(self, interrupted: Callable[[], bool], ready: Callable[[], None] = lambda: None) -> int:
        """Serve until stdin has ended, or until ``interrupted()``; return the exit status, 0.

        ``ready()`` is called when clients can be heard.

        Requests that are open then are still answered, after an interrupt for ``limits.drain`` seconds at most. Raises
        UserError if the path cannot be had, or if the answers cannot be written to stdout.
        """
        try:
            self._begin()
            ready()
            while self._listener or self._connections:
                quiet = self._turn()
                if interrupted() and self._drained(quiet):
                    break
        finally:
            self._end()
        self._settle()
        return 0

    def _begin(self):
        if self._queue.descriptor is not None:
            self._watch(self._queue.descriptor, select.POLLIN)
        if self._path is None:
            self._add(StandardConnection(self._descriptors, self._limits, self._touched.add))
        else:
            self._listener = Listener(self._path)
            self._listen(True)

    def _listen(self, wanted):
        self._listening = wanted
        if self._listener is not None:
            self._watch(self._listener.fileno(), select.POLLIN if wanted else None)

    def _turn(self):
        """Let every client have a share; return whether none sent anything, and the input of all was polled."""
        quiet, newcomers, self._reads_more = True, False, False
        for descriptor, event in self._wait():
            if descriptor == self._queue.descriptor:
                self._queue.awoken()
                continue
            quiet = False
            if descriptor in self._by_descriptor:
                connection = self._by_descriptor[descriptor]
                connection.on_event(descriptor, event)
                self._touched.add(connection)
            else:
                newcomers = True
        self._take_lines()
        self._queue.turn()
        self._tend()
        if newcomers:
            self._accept()  # last, for a client that has gone makes room
        return quiet and not self._reads_more

    def _wait(self):
        pause = 0.0 if self._ready or self._touched else min(self._queue.pause(), _GLANCE)
        if 0 < pause < 0.001:  # poll counts milliseconds
            descriptor = self._queue.descriptor
            waited_for = [] if descriptor is None or descriptor >= _SELECTED else [descriptor]
            select.select(waited_for, [], [], pause)
        return self._poll.poll(int(1000 * pause))

    def _accept(self):
        listener = self._listener
        for _ in range(_ACCEPTED_A_TURN if listener is not None else 0):
            try:
                connected = listener and listener.accept()
            except Shortage:
                self._listen(False)  # until the next sweep: poll would tell of it again and again
                return
            if connected is None:
                return
            if len(self._connections) < self._limits.clients:
                self._add(SocketConnection(connected, self._limits, self._touched.add))
            else:
                self._turn_away(connected)

    def _turn_away(self, connected):
        text = f"there are {self._limits.clients} clients already"
        with connected, contextlib.suppress(OSError):
            connected.setblocking(False)
            connected.send(protocol.encode(protocol.error(None, "too_many_clients", text)))

    def _add(self, connection):
        number = next(self._numbers)
        connection.session = ClientSession(number, self._queue, self._state, connection.send, self._limits, self._log)
        if self._cancel_at is not None:
            connection.session.shut()
        self._connections.add(connection)
        self._by_descriptor.update(dict.fromkeys(connection.interest, connection))
        self._touched.add(connection)

    def _state(self):
        return {**self._queue.status(), "clients": len(self._connections), "version": __version__}

    def _take_lines(self):
        """Take a line from each client in turn until the time for it is used up."""
        end = time.monotonic() + _INTAKE
        while self._ready and time.monotonic() < end:
            connection = self._ready.popleft()
            if connection.ready:
                connection.step()
                self._ready.append(connection)
            else:
                self._touched.add(connection)

    def _tend(self):
        """See to the connections of which something has changed."""
        now = time.monotonic()
        if now >= self._sweep_at:
            self._sweep_at = now + _SWEEP
            self._touched |= self._connections
            if self._listener and not self._listening:
                self._listen(True)
        touched = list(self._touched)
        self._touched.clear()
        for connection in touched:
            connection.flush()
            late = connection.overdue(now)
            if late or connection.finished:
                self._remove(connection, late)
                continue
            for descriptor, mask in connection.interest.items():
                self._watch(descriptor, mask)
            if connection.ready and connection not in self._ready:
                self._ready.append(connection)

    def _watch(self, descriptor, mask):
        before = self._masks.get(descriptor)
        if before == mask:
            return
        self._reads_more |= bool((mask or 0) & ~(before or 0) & select.POLLIN)
        if mask is None:
            self._poll.unregister(descriptor)
            del self._masks[descriptor]
        else:
            self._poll.register(descriptor, mask)
            self._masks[descriptor] = mask

    def _remove(self, connection, late):
        for descriptor in connection.interest:
            self._watch(descriptor, None)
            del self._by_descriptor[descriptor]
        self._connections.discard(connection)
        if connection in self._ready:
            self._ready.remove(connection)
        lost = connection.lost
        connection.leave()
        if self._path is None:
            self._conclude(lost, late)
        elif late:
            print_error("distsearch: a client that does not read its answers was let go")

    def _conclude(self, lost, late):
        """The only client is gone; raises UserError unless it ended in a usual way."""
        self._settle()
        if late:
            raise UserError("the answers on stdout have no reader")
        if lost is not None and not isinstance(lost, BrokenPipeError):
            raise UserError(f"stdin or stdout failed: {lost.strerror}")

    def _drained(self, quiet):
        """Whether all is said, or there is no time left to say it."""
        now = time.monotonic()
        if self._cancel_at is None:
            self._cancel_at = now + self._limits.drain
            for connection in self._connections:
                connection.session.shut()
        elif now >= self._cancel_at and not self._cancelled:
            self._cancelled = True
            for connection in self._connections:
                connection.session.cancel_all()
        late = now >= self._cancel_at + _FAREWELL
        return late or quiet and all(connection.settled for connection in self._connections)

    def _settle(self):
        """Let the queue end what was cancelled."""
        end = time.monotonic() + _FAREWELL
        while not self._queue.idle and time.monotonic() < end:
            if not self._queue.turn():
                time.sleep(min(self._queue.pause(), _GLANCE))

    def _end(self):
        if self._listener:
            self._listener.close()
        for connection in self._connections:
            connection.leave()
