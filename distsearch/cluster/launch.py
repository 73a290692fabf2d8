"""What started this process: ranks, the MPI library, and whether the launcher and the library belong together."""

import os
import sys
import warnings

from ..errors import UserError

# What launchers tell their processes: (variable with the number of ranks, with the rank, launcher)
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"),
    ("PMI_SIZE", "PMI_RANK", "an MPICH-like mpirun"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"),
)


def launcher():
    """Return (ranks, rank, name) as the launcher of this process tells them, (1, 0, None) if there was none."""
    for size, rank, name in _LAUNCHERS:
        if os.environ.get(size, "").isdigit() and os.environ.get(rank, "").isdigit():
            return int(os.environ[size]), int(os.environ[rank]), name
    return 1, 0, None


def place():
    """Return (ranks, rank) of this process, from MPI once that runs, else as the launcher tells them."""
    ranks, rank, _ = launcher()
    loaded = sys.modules.get("mpi4py.MPI")
    if loaded and loaded.Is_initialized() and not loaded.Is_finalized() and loaded.COMM_WORLD.Get_size() > 1:
        return loaded.COMM_WORLD.Get_size(), loaded.COMM_WORLD.Get_rank()
    return ranks, rank


def library():
    """Return the MPI library's name and version; raises UserError if there is no library."""
    return " ".join(_mpi().Get_library_version().strip("\x00").splitlines()[0].split(",")[0].split())


def communicator():
    """Return MPI's COMM_WORLD as the library sees it, or None without an MPI library."""
    try:
        return _mpi().COMM_WORLD
    except UserError:
        return None


def world():
    """Return MPI's COMM_WORLD, or None for a single process without any MPI library.

    Raises UserError if a launcher started several processes and the library takes each for a world of its own.
    """
    ranks, _, name = launcher()
    if ranks == 1:
        return communicator()
    comm = _mpi().COMM_WORLD
    if ranks > comm.Get_size():
        raise UserError(
            f"{name} started {ranks} ranks but the MPI library ({library()}) sees {comm.Get_size()}: "
            "launcher and library are of different MPIs; use the mpirun of that library"
        )
    return comm


def _mpi():
    try:
        with warnings.catch_warnings():  # `world` says it better than mpi4py's warning of a launcher of another MPI
            warnings.simplefilter("ignore")
            from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"no MPI library was found ({reason}); install one, or distsearch[mpich]") from error
    return MPI


def abort():
    """End every rank of the job, with status 1."""
    _mpi().COMM_WORLD.Abort(1)
