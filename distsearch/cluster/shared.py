"""Memory that all ranks of a host share."""

import os

import numpy as np

from ..errors import UserError

_FILES = "/dev/shm"  # where MPI libraries keep shared memory on Linux
_SPARE = 4 << 20  # bytes that MPI itself needs there


class SharedWords:
    """An array of uint64, zero at first, that all ranks of a host see; collective over ``comm`` (None: one process).

    Pages take memory when they are first written to. Raises UserError, on every rank, if a host has no room for it.
    """

    def __init__(self, comm, mib):
        self._window = None
        size = mib << 20
        if comm is None or comm.Get_size() == 1:
            self.words = np.zeros(size // 8, np.uint64)
            return
        from mpi4py import MPI

        host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        short = host.Get_size() > 1 and _free() < size + _SPARE
        missing = comm.allreduce(_free() if short else -1, op=MPI.MAX)
        if missing >= 0:
            raise UserError(
                f"table {mib}: a host's shared memory ({_FILES}) has {missing >> 20} MiB free; give it more or use "
                f"--table {max(1, (missing - _SPARE) >> 20)}"
            )
        self._window = MPI.Win.Allocate_shared(size if host.Get_rank() == 0 else 0, 8, comm=host)
        memory, _ = self._window.Shared_query(0)
        self.words = np.frombuffer(memory, np.uint64)

    def close(self):
        """Give the memory back; collective, and the array must not be used any more."""
        if self._window is not None:
            self.words = None
            self._window.Free()
            self._window = None


def _free():
    try:
        state = os.statvfs(_FILES)
    except OSError:
        return 1 << 62  # no such file system: the library knows another way
    return state.f_bavail * state.f_frsize
