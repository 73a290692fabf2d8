"""The MPI library and the launcher of this process: ranks, whether the two belong together, and how a process ends."""

import atexit
import contextlib
import fcntl
import os
import stat
import struct
import sys
import termios
import threading
import time
import warnings
from pathlib import Path
from typing import Any

from ..core.errors import UserError

# Variables that launchers set: (with the number of ranks, with the rank, launcher)
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"),
    ("PMI_SIZE", "PMI_RANK", "an MPICH-like mpirun"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"),
)
# Parts of the names of the variables by which launchers tell ranks apart
OF_RANKS = "RANK", "PROCID", "PMI_", "APP_PE"

# Names of variables that choose MPICH's network, where it was built for several, end so; and the one set here
_CHOOSES_NETWORK, _USE_OFI = "CH4_NETMOD", ("MPIR_CVAR_CH4_NETMOD", "ofi")
_WITH_FT = "OMPI_MCA_mpi_ft_enable"  # as mpirun --with-ft ulfm sets it
_HANDLED = "OMPI_MCA_opal_signal"  # the signals that Open MPI handles, of crashes
_WRAPPED = "DISTSEARCH_SURVIVES"  # as scripts/survive sets it under MPICH's mpirun, whose other ranks then go on
SHARED_FILES = Path("/dev/shm")
_MPICH_FILES = "mpich_shm_"
_LEFT_NAMES = f"{_MPICH_FILES}*", "distsearch-*"
_FAREWELL, _READ = 0.2, 1.0  # seconds
_FRESH = 120.0  # seconds in which a rank of a job that begins maps its files
_forgone = set()  # not empty if MPI must not be finalized


def launcher() -> tuple[int, int, str | None]:
    """Return (ranks, rank, name) as set by the launcher of this process, (1, 0, None) if there was none."""
    for size, rank, name in _LAUNCHERS:
        if os.environ.get(size, "").isdigit() and os.environ.get(rank, "").isdigit():
            return int(os.environ[size]), int(os.environ[rank]), name
    return 1, 0, None


def _may_be_launched():
    """Whether a launcher may have started this process, be it one that is known here or not."""
    return any(part in name for name in os.environ for part in OF_RANKS)


def place() -> tuple[int, int]:
    """Return (ranks, rank) of this process, from MPI once that runs, else from the launcher."""
    ranks, rank, _ = launcher()
    loaded = sys.modules.get("mpi4py.MPI")
    if loaded and loaded.Is_initialized() and not loaded.Is_finalized() and loaded.COMM_WORLD.Get_size() > 1:
        return loaded.COMM_WORLD.Get_size(), loaded.COMM_WORLD.Get_rank()
    return ranks, rank


def only_thread() -> threading.Thread | None:
    """Return the thread that alone may call MPI, this one, or None where several may, one at a time."""
    mpi = _mpi()
    return threading.current_thread() if mpi.Query_thread() < mpi.THREAD_SERIALIZED else None


def is_first_of_host(comm: Any) -> bool:
    """Whether this rank of a communicator, None for one rank, is the first of its host; all ranks are here."""
    return comm is None or comm.Split_type(_mpi().COMM_TYPE_SHARED).Get_rank() == 0


def library() -> str:
    """Return the MPI library's name and version; raises UserError if there is no library."""
    return " ".join(_load().Get_library_version().strip("\x00").splitlines()[0].split(",")[0].split())


def communicator():
    """Return MPI's COMM_WORLD as the library sees it; None without a library, or with one that will not start."""
    try:
        return None if _refuses() else _mpi().COMM_WORLD
    except UserError:
        return None


def world():
    """Return MPI's COMM_WORLD, or None for a process that no launcher started: it saves the second that MPI may take.

    It is None for a single process without an MPI library, too. Raises UserError if a launcher started several
    processes and the library takes each for a world of its own.
    """
    ranks, _, name = launcher()
    if ranks == 1 and name is None:
        return communicator() if _may_be_launched() else None
    sees = 1 if _refuses() else _mpi().COMM_WORLD.Get_size()
    if ranks > sees:
        raise UserError(
            f"{name} started {ranks} ranks but the MPI library ({library()}) sees {sees}: "
            "launcher and library are of different MPIs; use the mpirun of that library"
        )
    return None if _refuses() else _mpi().COMM_WORLD


def _refuses():
    """Whether the library would end this process at its start: MPICH does, under Open MPI's mpirun."""
    return launcher()[2] == _LAUNCHERS[0][2] and "MPICH" in library()


def abort(status: int) -> None:
    """End every rank of the job."""
    _wait_for_readers()
    if not tells_of_failures():
        _mpi().COMM_WORLD.Abort(status)
        return
    # Open MPI's Abort may wait for ever then, and does not end ranks that would go on without this one
    _revoke(_mpi().COMM_WORLD)
    _exit(status)


def _wait_for_readers():
    """Wait until the launcher has read the output: MPICH's drops what is still in the pipe when a job is aborted."""
    end = time.monotonic() + _READ
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
            while _unread(stream.fileno()) and time.monotonic() < end:
                time.sleep(0.001)


def _unread(file):
    """Return the bytes that are in a pipe; 0 if the file is none."""
    if not stat.S_ISFIFO(os.fstat(file).st_mode):
        return 0
    return struct.unpack("i", fcntl.ioctl(file, termios.FIONREAD, bytes(4)))[0]


def _revoke(comm):
    """Have every rank see at its next look at the mail that it must end."""
    mpi, end = _mpi(), time.monotonic() + _FAREWELL
    with contextlib.suppress(mpi.Exception):
        comm.Revoke()
    while time.monotonic() < end:  # the others learn of it only while this rank is inside MPI
        with contextlib.suppress(mpi.Exception):
            comm.Iprobe()
        time.sleep(0.001)


def echoes_an_abort(error: Exception) -> bool:
    """Whether an exception only says that another rank has ended the job."""
    return _has_class(error, "ERR_REVOKED")


def tells_of_a_lost_rank(error: Exception) -> bool:
    """Whether an exception of MPI says that a rank has died."""
    return _has_class(error, "ERR_PROC_FAILED", "ERR_PROC_FAILED_PENDING")


def _has_class(error, *classes):
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(error, mpi.Exception):
        return False
    return error.Get_error_class() in [getattr(mpi, each) for each in classes]  # pyright: ignore[reportAttributeAccessIssue]


def tells_of_failures() -> bool:
    """Whether MPI lets ranks go on when others die, and reports it: Open MPI does under ``mpirun --with-ft ulfm``."""
    return os.environ.get(_WITH_FT, "0").lower() in ("1", "true", "yes", "enabled")


def others_go_on() -> bool:
    """Whether the launcher leaves the other ranks alone when one dies, or ends without finalizing MPI."""
    return tells_of_failures() or _WRAPPED in os.environ


def forgo_finalize() -> None:
    """End this process by ``leave`` without finalizing MPI, which would wait for all ranks."""
    _forgone.add(True)


def leave(status: int) -> None:
    """End this process now if MPI must not be finalized; else the interpreter ends it."""
    if _forgone:
        _exit(status)


def _exit(status):
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def unlink_shared_memory() -> None:
    """Unlink MPICH's files in shared memory, which its ranks unlink as MPI ends; ranks that die would not.

    All ranks of the host must have begun MPI.
    """
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        names = {line.split()[5] for line in maps if f"{SHARED_FILES}/{_MPICH_FILES}" in line}
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)


def left_behind(files: Path = SHARED_FILES, proc: Path = Path("/proc")) -> list[tuple[Path, int]]:
    """Return (file, bytes) of what killed ranks of this user have left in a host's shared memory.

    That is every file of MPICH's or of this program's there that no process of this user has mapped and that is older
    than two minutes, since ranks of a job that begins may not have mapped theirs yet.
    """
    old = time.time() - _FRESH
    found = {}
    for name in _LEFT_NAMES:
        for path in files.glob(name):
            with contextlib.suppress(OSError):
                is_of = path.lstat()
                if is_of.st_uid == os.getuid() and is_of.st_mtime < old and stat.S_ISREG(is_of.st_mode):
                    found[str(path)] = is_of.st_size
    for process in proc.glob("[0-9]*") if found else ():
        with contextlib.suppress(OSError):
            for line in (process / "maps").read_text(errors="replace").splitlines():
                found.pop(f"{files}{line.partition(str(files))[2]}", None)
    return [(Path(name), size) for name, size in sorted(found.items())]


def remove_left_behind() -> None:
    """Free what killed ranks of this user have left in this host's shared memory."""
    for path, _ in left_behind():
        with contextlib.suppress(OSError):
            path.unlink()


def _gets_addresses_by_slurm():
    """Whether ranks of several hosts tell one another their addresses by srun's PMI, not by that of MPICH's mpirun.

    Slurm's PMI reads lines of 1,024 bytes. For an address of UCX, MPICH 5.0.2 sends 4,096 bytes of its heap, as text in
    which runs of 0 are short. Unless most bytes are 0, the text is too long: ranks wait for ever or crash. What MPICH
    sends for OFI is always short.
    """
    hosts = os.environ.get("SLURM_STEP_NUM_NODES", "")
    return hosts.isdigit() and int(hosts) > 1 and "PMI_RANK" in os.environ and "MPI_LOCALRANKID" not in os.environ


def _load():
    """Return mpi4py's MPI without starting it."""
    if "mpi4py.MPI" in sys.modules:
        return sys.modules["mpi4py.MPI"]
    if _gets_addresses_by_slurm() and not any(name.endswith(_CHOOSES_NETWORK) for name in os.environ):
        os.environ.update([_USE_OFI])
    if tells_of_failures():
        os.environ.setdefault(_HANDLED, "")  # the handler prints a trace and may hang, and then the rank never dies
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        with warnings.catch_warnings():  # `world` reports a launcher of another MPI better than mpi4py's warning
            warnings.simplefilter("ignore")
            from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"no MPI library was found ({reason}); install one, or distsearch[mpich]") from error
    return MPI


def _mpi():
    """Return mpi4py's MPI, started."""
    mpi = _load()
    if not mpi.Is_initialized():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mpi.Init_thread()
        atexit.register(mpi.Finalize)
        remove_left_behind()
    return mpi
