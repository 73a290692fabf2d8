"""Idle ranks sleep on a datagram socket, and others of the host wake them: to wait inside MPI takes a whole core."""

import contextlib
import select
import socket
import time

_MOST = 64  # notifications that are forgotten at a time; the socket holds fewer, usually 10
_LEAST = 1e-3  # seconds; poll counts milliseconds, and a shorter sleep is not worth cutting short


class Wakeup:
    """A sleep that other ranks can end. ``name`` (bytes): of the socket, for ranks of this host; empty: no socket."""

    def __init__(self):
        self.name = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        with contextlib.suppress(OSError):  # without abstract names, as outside Linux, no sleep is cut short
            self._socket.bind(b"")
            self.name = self._socket.getsockname()
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def fileno(self) -> int:
        """Return the descriptor that is readable once another rank has notified this one, until ``empty``."""
        return self._socket.fileno()

    def wait(self, seconds: float) -> bool:
        """Sleep for so long, or until another rank notifies this one; return whether one did."""
        if seconds < _LEAST or not self.name:
            time.sleep(seconds)
        elif self._poll.poll(seconds * 1000):
            self.empty()
            return True
        return False

    def empty(self) -> None:
        """Forget the notifications so far, ``_MOST`` of them at most."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(_MOST):  # a process that floods the socket must not hold this one up
                self._socket.recv(1)

    def notify(self, name: bytes) -> None:
        """Wake the rank that sleeps on the socket of that name, if there is one."""
        with contextlib.suppress(OSError):
            self._socket.sendto(b"", name)

    @staticmethod
    def exists(name: bytes) -> bool:
        """Whether there is a socket of that name: it goes with its process, however that ends."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as visitor:
            try:
                visitor.connect(name)
            except ConnectionRefusedError:
                return False
        return True

    def close(self) -> None:
        """Give the socket back."""
        self._socket.close()
