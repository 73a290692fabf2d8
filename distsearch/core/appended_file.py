"""Locks for files that only one run may write at a time."""

import contextlib
import fcntl
import os

from .errors import UserError


def lock(descriptor: int, shown: str) -> None:
    """Keep a file, open as ``descriptor``, from other runs until it is closed; raises UserError if one has it.

    shown: what to call it. On a file system without locks this does nothing.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(f"{shown} is being written by another run") from None
    except OSError:
        return


class Lock:
    """A lock for a file that is replaced as a whole: a file PATH.lock, which is there until ``release``.

    path: of the file. Raises UserError if another run has it, or no file can be made there.
    """

    def __init__(self, path: str):
        self._path = f"{path}.lock"
        while True:
            try:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except (OSError, ValueError) as error:  # ValueError: a name with a NUL
                reason = getattr(error, "strerror", None) or error
                raise UserError(f"cannot write {self._path[:200]}: {reason}") from error
            try:
                lock(self._descriptor, path)
            except UserError:
                os.close(self._descriptor)
                raise
            if self._is_there():
                return
            os.close(self._descriptor)  # the run that had it has ended, and removed it in between

    def _is_there(self):
        """Whether the file that is open is still the one of that name."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others have it."""
        with contextlib.suppress(OSError):
            if self._is_there():
                os.unlink(self._path)
        os.close(self._descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of ``content``, in as many calls as the system wants; raises OSError."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
