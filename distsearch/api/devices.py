"""Which ranks search on a GPU, and on which: chosen once, for as long as the ranks stay together."""

import platform

from ..core.errors import UserError
from ..gpu import build, device

DEVICES = "cpu", "gpu", "auto"


def chosen(comm, name):
    """Return the ``gpu.device.Gpu`` of this rank, None where it searches on its CPU; all ranks of ``comm`` are here.

    name: cpu; auto: the first workers of each host have a GPU each, as far as those go; gpu: every worker has one,
    several the same where there are fewer. comm: an mpi4py communicator, or None for a process alone. Raises UserError,
    on every rank, if a GPU that is asked for cannot be had.
    """
    if name not in DEVICES:
        raise UserError(f"device '{str(name)[:20]}' is none of {', '.join(DEVICES)}")
    if name == "cpu":
        return None
    gpu = error = None
    try:
        gpu = _opened(_place(comm), name)
    except UserError as refused:
        error = str(refused)
    if failed := [each for each in (comm.allgather(error) if comm else [error]) if each]:
        if gpu is not None:
            gpu.close()
        raise UserError(failed[0])
    return gpu


def of_all(comm, gpu):
    """Return (how many different GPUs the ranks of ``comm`` have, how many of its workers have none).

    All ranks call this. gpu: this rank's, or None.
    """
    own = None if gpu is None else (platform.node(), gpu.card)
    every = comm.allgather(own) if comm else [own]
    workers = every[1:] or every  # without the master
    return len({each for each in workers if each}), workers.count(None)


def _opened(place, name):
    """Return the Gpu of the worker at a place among those of its host, or None."""
    if place is None:
        return None
    try:
        count = device.count()
        build.compiler()
    except UserError:
        if name == "auto":
            return None
        raise
    if name == "auto" and place >= count:
        return None
    if not count:
        raise UserError("this host has no GPU: use --device cpu, or auto where only some hosts have one")
    return device.Gpu(place % count)


def _place(comm):
    """Return which of its host's workers this rank is, from 0; None for the master of others."""
    if comm is None or comm.Get_size() == 1:
        return 0
    from mpi4py import MPI

    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    workers = [rank for rank in host.allgather(comm.Get_rank()) if rank > 0]
    host.Free()
    return workers.index(comm.Get_rank()) if comm.Get_rank() > 0 else None
