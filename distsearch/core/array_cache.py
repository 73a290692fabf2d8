"""Arrays that take a while to make: made once, kept in the kernels' folder, and mapped: a host shares one copy."""

import contextlib
import fcntl
import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import archive
from .kernel_cache import FOLDER, about_to_compile

_PATIENCE = 60.0  # seconds that a process waits for another one's array before it makes its own
_LOOK = 0.02  # seconds between two looks
_BLOCK = 1 << 16  # bytes: as many zeros are a hole of a file


def kept(
    kind: str, source: Any, shape: tuple[int | None, ...], dtype: Any, make: Callable[[], np.ndarray]
) -> np.ndarray:
    """Return the array that ``make()`` makes of ``source``, mapped from a file that is made if it is not there.

    Of several processes that need it at the same time one makes it, and the others wait for that.
    kind: what sort of array it is; source: bytes, or a contiguous array, that the content follows from; shape, dtype:
    the array's expected dtype and shape, with None for any length. A file that is cut short, or says it is of another
    shape or dtype, is made again; what is in the others is believed, as kernels are. What is written to the array stays
    in this process. Where no file can be made, it is an array of this process alone.
    """
    path = FOLDER.path / f"{kind}-{hashlib.sha256(source).hexdigest()[:16]}.npy"
    found = _mapped(path, shape, dtype)
    if found is not None:
        return found
    about_to_compile(path.stem)  # it may take as long, and is made beforehand by the same processes
    with _alone(path.with_suffix(".lock")):  # of this array's own: making it may take others
        found = _mapped(path, shape, dtype)  # of another process, by now
        return _made(path, shape, dtype, make) if found is None else found


def _made(path, shape, dtype, make):
    """Return the array that is made, from its file if one can be written."""
    made = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # another host, or a process that did not wait, may be making it as well
        archive.replace(path, lambda file: _write(file, made), path.with_suffix(f".{uuid.uuid4().hex}"))
    except OSError:  # no room, or nowhere to write
        return made
    found = _mapped(path, shape, dtype)
    return made if found is None else found


def _write(file, array):
    """Write an array as ``np.save`` does, but long runs of zeros take no room on the disk."""
    array = np.asarray(array, order="C")
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    content = array.reshape(-1).view(np.uint8)
    for first in range(0, content.size, _BLOCK):
        block = content[first : first + _BLOCK]
        if block.any():
            file.write(block.data)
        else:
            file.seek(block.size, os.SEEK_CUR)
    file.truncate()


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """A context that one process at a time is in, by a lock of a file, where the file system has locks.

    After a minute it is entered all the same: the process that has the lock may have been stopped.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # there is no such folder, or no lock in it
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, descriptor)
            end = time.monotonic() + _PATIENCE
            while not _locked(descriptor) and time.monotonic() < end:
                time.sleep(_LOOK)
        yield


def _locked(descriptor):
    """Try to lock; return whether that is done."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _mapped(path, shape, dtype):
    """Return a file's array, or None if it is not whole or is another one."""
    try:
        # mapping more than the file has is refused; "c", for compiled code takes a read-only array for another type
        found = np.asarray(np.lib.format.open_memmap(path, mode="c"))
    except Exception:  # what numpy raises for a few wrong bytes is of a dozen kinds
        return None
    fits = len(found.shape) == len(shape) and all(n in (None, has) for n, has in zip(shape, found.shape, strict=True))
    return found if fits and found.dtype == dtype and found.flags.c_contiguous else None
