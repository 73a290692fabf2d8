"""A server that takes one turn at a time, in a time of its own, and connections that never wait.

So what clients do between two turns is up to a test, and a sequence of actions repeats itself.
"""

import contextlib
import socket
import threading
import weakref
from itertools import count

from distsearch.server import client_session, request_queue, running_request, server, watchers
from distsearch.server.connections import SocketConnection
from distsearch.server.listener import Listener
from distsearch.server.request_queue import RequestQueue
from distsearch.server.server import Server

from .serving import strict

_LOOK = 0.0002  # seconds that a look at the clock takes: 10 lines, or 10 turns of the cluster, in a turn of the server
_KEPT = 2048  # bytes that the kernel is asked to keep for a client; it keeps some more
_NUMBERS = count()


class Clock:
    """Stands for the module ``time``: it advances by looks at it, and by what a test adds to ``now``."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += _LOOK
        return self.now

    perf_counter = monotonic

    def sleep(self, seconds):
        self.now += seconds


class _NumberedConnection(SocketConnection):
    """One whose place in a set is the same whenever a test repeats itself."""

    def __init__(self, *how):
        super().__init__(*how)
        self._number = next(_NUMBERS)

    def __hash__(self):
        return self._number


def install(patch, clock, errors):
    """Have the service live by a Clock, write what goes wrong into a list, and have the kernel keep little."""
    accept = Listener.accept

    def accept_small(listener):
        connected = accept(listener)
        if connected is not None:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KEPT)
        return connected

    patch.setattr(Listener, "accept", accept_small)
    patch.setattr(server, "SocketConnection", _NumberedConnection)
    for module in (client_session, request_queue, running_request, server, watchers):
        patch.setattr(module, "time", clock)
        for name in {"print_error", "print_traceback"} & vars(module).keys():
            patch.setattr(module, name, errors.append)


class SteppedQueue(RequestQueue):
    """A queue that never has the server wait; ``seen``: requests that are still known anywhere."""

    def __init__(self, *how):
        super().__init__(*how)
        self.seen = weakref.WeakSet()

    def submit(self, request):
        super().submit(request)
        self.seen.add(request)

    def pause(self):
        super().pause()
        return 0.0


class SteppedServer(Server):
    """A server at ``path`` in a thread that stands still except during ``turn``."""

    def __init__(self, queue, path, limits):
        super().__init__(queue, str(path), limits)
        self._may_turn, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        self.over, self.status, self.error = False, None, None
        self._signals = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self._stands.acquire()

    def _serve(self):
        try:
            self.status = self.serve(self._interrupted)
        except BaseException as error:
            self.error = error
        self.over = True
        self._stands.release()

    def _turn(self):
        self._stands.release()
        self._may_turn.acquire()
        return super()._turn()

    def _interrupted(self):
        if self._signals > 1:
            raise KeyboardInterrupt
        return bool(self._signals)

    def turn(self):
        """Have the server take a turn, unless it has ended."""
        if not self.over:
            self._may_turn.release()
            self._stands.acquire()

    def signal(self):
        """The first SIGTERM, or a further one, which the server hears of after its next turn."""
        self._signals += 1

    def state(self):
        """What a status message says."""
        return self._state()

    @property
    def stopping(self):
        """Whether there was a signal."""
        return self._signals > 0

    @property
    def killed(self):
        """Whether there was a second one."""
        return self._signals > 1

    def kill(self):
        """Have it end, whatever it does."""
        self._signals = 2
        while not self.over:
            self.turn()
        self._thread.join()


class SteppedWire:
    """A connection that sends and hears what is possible.

    reads: whether it takes what is sent to it; ended: whether the service has closed it, and all was read.
    """

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.connect(str(path))
        self._outbox, self._inbox, self._closing = bytearray(), bytearray(), False
        self.reads, self.ended = True, False

    def write(self, data):
        """Send bytes, now or as soon as the service takes them."""
        self._outbox += data

    def shut(self):
        """Say that no more comes, after what waits."""
        self._closing = True

    def close(self):
        """Leave at once, with what waits."""
        self._socket.close()

    def send(self):
        """Send what waits, as far as the service takes it."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            while self._outbox:
                del self._outbox[: self._socket.send(self._outbox)]
            if self._closing:
                self._closing = False
                self._socket.shutdown(socket.SHUT_WR)

    def hear(self):
        """Return the messages that came."""
        if not self.reads or self.ended:
            return []
        with contextlib.suppress(BlockingIOError):
            while True:
                try:
                    data = self._socket.recv(1 << 16)
                except ConnectionResetError:  # something of ours was not read
                    data = b""
                if not data:
                    self.ended = True
                    break
                self._inbox += data
        *lines, rest = bytes(self._inbox).split(b"\n")
        self._inbox = bytearray(rest)
        return [strict(line) for line in lines]
