"""A Unix socket at a path: private from its first moment, one service a path, gone with the service."""

import contextlib
import errno
import fcntl
import os
import socket
import stat
import time

from ..core.errors import UserError

_BACKLOG = 128  # connections that wait to be accepted
_PATIENCE = 2.0  # seconds for another service to have started
_SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Shortage(Exception):  # noqa: N818
    """No descriptor or memory is left for another connection."""


class Listener:
    """Listens at ``path`` (str), for this user alone. Raises UserError if that cannot be.

    A socket that a dead service left behind is replaced.
    """

    def __init__(self, path: str):
        self._path, self._socket = path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            if not path:
                raise UserError("the socket's path is empty")
            with _alone_in(os.path.dirname(path) or "."):
                _make_way(path)
                self._bind()
        except (OSError, ValueError) as error:  # ValueError: a null byte
            self._socket.close()
            raise UserError(f"cannot listen at {path}: {getattr(error, 'strerror', None) or error}") from error
        except UserError:
            self._socket.close()
            raise

    def _bind(self):
        before = os.umask(0o177)  # mode 0600, without a moment of another one
        try:
            self._socket.bind(self._path)
        finally:
            os.umask(before)
        self._file = os.stat(self._path)
        self._socket.listen(_BACKLOG)
        self._socket.setblocking(False)

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._socket.fileno()

    def accept(self) -> socket.socket | None:
        """Return the socket of a new connection, or None if there is none; raises Shortage."""
        try:
            return self._socket.accept()[0]
        except OSError as error:
            if error.errno in _SHORT:
                raise Shortage from error
            return None  # none yet, or gone before it was accepted

    def close(self) -> None:
        """Stop listening, and take the file away unless another process has put one there."""
        # while the socket listens no other service takes its place, nor can another file have its inode
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(self._path), self._file):
                os.unlink(self._path)
        self._socket.close()


@contextlib.contextmanager
def _alone_in(directory):
    """Let one process at a time look at what is there and put its own socket in its place."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor):
    """Take the lock; do without if the file system has none, or another process keeps it: they may collide then."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:
            return None


def _make_way(path):
    """Remove a socket without a listener; raises UserError if anything else is there."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise UserError(f"cannot listen at {path}: a file that is no socket is there")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except BlockingIOError:  # it is there, and has a full backlog
            pass
    raise UserError(f"cannot listen at {path}: a service is there already")
