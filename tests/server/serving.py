"""A server in a thread, and clients that speak its lines without any library."""

import contextlib
import json
import os
import socket
import threading
import time

from distsearch.server.limits import DEFAULTS
from distsearch.server.server import Server

from .fake_queue import outcome


class Serving:
    """A server at ``path`` while the context lasts; ``stop`` is the SIGTERM. What it raised is raised at the end."""

    def __init__(self, queue, path, limits=DEFAULTS, descriptors=(0, 1), log=None):
        self.queue, self.path = queue, None if path is None else str(path)
        self._server = Server(queue, self.path, limits, descriptors, log)
        self._stop, self._thread = threading.Event(), threading.Thread(target=self._serve, daemon=True)
        self.status = self.error = None

    def _serve(self):
        try:
            self.status = self._server.serve(self._stop.is_set)
        except Exception as error:
            self.error = error

    def __enter__(self):
        self._thread.start()
        if self.path is not None:
            with Wire(self.path):  # once it listens
                pass
        return self

    def __exit__(self, *_):
        self.stop()
        self.join()
        if self.error:
            raise self.error

    def stop(self):
        """Have it drain."""
        self._stop.set()

    def cpu_seconds(self):
        """CPU time of the server's own thread: a test process has others."""
        return time.clock_gettime(time.pthread_getcpuclockid(self._thread.ident))

    def join(self):
        """Wait for its end."""
        self._thread.join(30)
        assert not self._thread.is_alive()


class Wire:
    """A connection of plain lines."""

    def __init__(self, path, timeout=20.0):
        end = time.monotonic() + 10
        while True:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.settimeout(timeout)
            try:
                self.socket.connect(str(path))
                break
            except (FileNotFoundError, ConnectionRefusedError):  # not yet
                self.socket.close()
                if time.monotonic() > end:
                    raise
                time.sleep(0.005)
        self._file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Go without a word."""
        self._file.close()
        self.socket.close()

    def write(self, data):
        """Send bytes."""
        self.socket.sendall(data)

    def say(self, **message):
        """Send a message."""
        self.write(json.dumps(message).encode() + b"\n")

    def hear(self):
        """Return the next message, or None at the end."""
        line = self._file.readline()
        return strict(line) if line else None

    def hear_all(self):
        """Return the messages up to the end."""
        with contextlib.suppress(ConnectionResetError):  # it was closed with something of ours unread
            return [strict(line) for line in self._file]


def strict(line):
    """Return the object in a line, which must be JSON without NaN and infinity."""

    def refuse(text):
        raise ValueError(text)

    return json.loads(line, parse_constant=refuse)


def wait_until(true, seconds=10.0):
    """Wait for what happens in another thread."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


def ask(wire, name=1, **fields):
    """Ask for a search that is easy to read."""
    wire.say(id=name, **{"game": "connect4", **fields})


def code(message):
    """The code of an error message."""
    assert message["type"] == "error"
    return message["error"]["code"]


def descriptors():
    """How many this process has."""
    return len(os.listdir("/proc/self/fd"))


def small(**changes):
    """Limits that are soon reached."""
    return DEFAULTS._replace(**{"output": 1 << 16, "patience": 0.3, "drain": 0.5, **changes})


def long_outcome():
    """One of 20 kB in JSON."""
    return outcome(pv=["d3"] * 3000)


def status(wire):
    """The state of the service."""
    wire.say(op="status")
    return wire.hear()
