"""Files that are appended to by one run alone."""

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


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of ``content``, in as many calls as the system wants; raises OSError."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
