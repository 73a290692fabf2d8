"""A bell that wakes an idle rank of the same host: a datagram socket, since waiting inside MPI takes a whole core."""

import contextlib
import select
import socket
import time

_LEAST = 1e-3  # seconds; poll counts milliseconds, and a shorter nap is not worth cutting short


class Wakeup:
    """Naps that end when somebody rings. ``name`` (bytes) is what others ring at, on this host; empty: no bell here."""

    def __init__(self):
        self.name = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        with contextlib.suppress(OSError):  # without abstract names, as outside Linux, naps last as long as they do
            self._socket.bind(b"")
            self.name = self._socket.getsockname()
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def wait(self, seconds):
        """Sleep for so long, or until somebody rings; return whether somebody did."""
        if seconds < _LEAST or not self.name:
            time.sleep(seconds)
        elif self._poll.poll(seconds * 1000):
            self.empty()
            return True
        return False

    def empty(self):
        """Forget who has rung so far."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.recv(1)

    def notify(self, name):
        """Wake who sleeps by the bell of that name; nothing happens where nobody does."""
        with contextlib.suppress(OSError):
            self._socket.sendto(b"", name)

    @staticmethod
    def exists(name):
        """Whether there is a bell of that name: it goes with its process, however that ends."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as visitor:
            try:
                visitor.connect(name)
            except ConnectionRefusedError:
                return False
        return True

    def close(self):
        """Give the socket back."""
        self._socket.close()
