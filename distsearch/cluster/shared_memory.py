"""Memory that all ranks of a host share."""

import mmap
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import UserError

_FILES = "/dev/shm"  # files in memory, where MPI libraries keep what they share as well
_SPARE = 4 << 20  # bytes that MPI itself needs there


class SharedWords:
    """An array of uint64, zero at first, that all ranks of a host see; collective over ``comm`` (None: one process).

    Raises UserError, on every rank, if a host has no room.

    Args:
        comm: of all ranks, or None.
        mib: its size; the smallest of any rank counts.
        alone: (mib) -> the array of a process that shares it with no other.
        less: a smaller array will do where a host has no room for more.
        what: its name in messages.
        times: how many such arrays a host must hold.
        touched: pages take memory at once, not when they are first written to.
        first: MiB of an array that takes the rest only by ``back``, and must leave half of a host's room to others.
    """

    def __init__(
        self,
        comm: Any,
        mib: int,
        alone: Callable[[int], np.ndarray],
        less: bool = False,
        what: str = "table",
        times: int = 1,
        touched: bool = False,
        first: int | None = None,
    ):
        self.mib = mib
        self._file = None
        self.rank, self.ranks = 0, 1  # of this process among those that share it; how many those are
        if comm is None or comm.Get_size() == 1:
            self.words = _alone(alone, mib, touched)
            return
        from mpi4py import MPI

        host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        here = _room() // times if host.Get_size() > 1 else mib
        if first is not None:
            mib = comm.allreduce(max(first, min(mib, here // 2 if host.Get_size() > 1 else mib)), op=MPI.MIN)
        room = comm.allreduce(here, op=MPI.MIN)
        if room < mib and (room < 1 or not less):
            host.Free()
            instead = f" or use --table {room}" if room and what == "table" else ""
            raise UserError(
                f"{what} {mib}: a host's shared memory ({_FILES}) has room for {room} MiB; give it more{instead}"
            )
        self.mib, self.rank, self.ranks = min(mib, room), host.Get_rank(), host.Get_size()
        error = None
        try:
            if host.Get_size() == 1:
                self.words = _alone(alone, self.mib, touched)
            else:
                self.words, self._file = _shared(host, self.mib << 20, what, touched)
        except UserError as refused:
            error = str(refused)
        host.Free()
        if failed := [each for each in comm.allgather(error) if each]:
            self.close()
            raise UserError(failed[0])

    def close(self) -> None:
        """Free the memory, once this process uses the array no more; the other ranks keep it."""
        self.words = None
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def back(self, begin: int, end: int) -> bool:
        """Provide the memory of these bytes of the array; return whether there is some.

        A process that writes to a file in memory that is full is ended by a signal, unless its memory was provided.
        """
        if self._file is None:
            return True  # the system provides the memory of a process alone
        try:
            os.posix_fallocate(self._file, begin, end - begin)
        except OSError:
            return False
        return True


def _alone(alone, mib, touched):
    words = alone(mib)
    if touched:
        words[:: mmap.PAGESIZE // words.itemsize] = 0
    return words


def _shared(host, size, what, touched):
    """Return an array of so many bytes that all ranks of a communicator see, which are of one host, and its file.

    Not MPI's own shared memory: to free that takes all ranks, of which some may have died. This is a file whose name is
    gone as soon as all have opened it, so it goes with the last of them, however that ends.
    """
    name, refused = host.bcast(_new_file(size, touched) if host.Get_rank() == 0 else None)
    if refused:
        raise UserError(f"cannot share the {what} in {name}: {refused}")
    file = mapped = None
    try:
        file = os.open(name, os.O_RDWR)
        mapped = mmap.mmap(file, size)
    except OSError as error:
        refused = error.strerror
    host.Barrier()
    if host.Get_rank() == 0:
        os.unlink(name)
    if mapped is None:
        if file is not None:
            os.close(file)
        raise UserError(f"cannot share the {what} in {name}: {refused}")
    return np.frombuffer(mapped, np.uint64), file


def _new_file(size, touched):
    """Return (the name of a new file of so many zeros, None), or (its folder, the error).

    The zeros take no memory yet unless they are ``touched``.
    """
    where = _FILES if os.path.isdir(_FILES) else tempfile.gettempdir()
    name = None
    try:
        file, name = tempfile.mkstemp(prefix="distsearch-", dir=where)
        with open(file, "r+b") as opened:
            if touched:
                os.posix_fallocate(opened.fileno(), 0, size)
            else:
                opened.truncate(size)
    except OSError as refused:
        if name:
            os.unlink(name)
        return where, refused.strerror
    return name, None


def _room():
    """Return how many MiB a host can share."""
    try:
        state = os.statvfs(_FILES)
    except OSError:
        return 1 << 40  # no such file system: the library knows another way
    return max(0, state.f_bavail * state.f_frsize - _SPARE >> 20)
