"""Memory that all ranks of a host share."""

import os

import numpy as np

from ..errors import UserError

_FILES = "/dev/shm"  # where MPI libraries keep shared memory on Linux
_SPARE = 4 << 20  # bytes that MPI itself needs there


class SharedWords:
    """An array of uint64, zero at first, that all ranks of a host see; collective over ``comm`` (None: one process).

    ``mib`` is its size, less if ``less`` will do and a host has no room for more; alone(mib): makes the array for a
    process alone, which needs no room there. Pages take memory when they are first written to. Raises UserError, on
    every rank, if a host has no room.
    """

    def __init__(self, comm, mib, alone, less=False):
        self._window, self.mib = None, mib
        if comm is None or comm.Get_size() == 1:
            self.words = alone(mib)
            return
        from mpi4py import MPI

        host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        room = comm.allreduce(_room() if host.Get_size() > 1 else mib, op=MPI.MIN)
        if room < mib and (room < 1 or not less):
            host.Free()
            instead = f" or use --table {room}" if room else ""
            raise UserError(
                f"table {mib}: a host's shared memory ({_FILES}) has room for {room} MiB; give it more{instead}"
            )
        self.mib = min(mib, room)
        error = None
        if host.Get_size() == 1:  # what MPI gives a rank alone is not zero
            try:
                self.words = alone(self.mib)
            except UserError as refused:
                error = str(refused)
        else:
            size = self.mib << 20
            self._window = MPI.Win.Allocate_shared(size if host.Get_rank() == 0 else 0, 8, comm=host)
            memory, _ = self._window.Shared_query(0)
            self.words = np.frombuffer(memory, np.uint64)
        host.Free()
        if failed := [each for each in comm.allgather(error) if each]:
            self.close()
            raise UserError(failed[0])

    def close(self):
        """Give the memory back; collective, and the array must not be used any more."""
        self.words = None
        if self._window is not None:
            self._window.Free()
            self._window = None


def _room():
    """Return how many MiB a host can share."""
    try:
        state = os.statvfs(_FILES)
    except OSError:
        return 1 << 40  # no such file system: the library knows another way
    return max(0, state.f_bavail * state.f_frsize - _SPARE >> 20)
