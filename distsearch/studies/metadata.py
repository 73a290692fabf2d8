"""Under what circumstances a run was measured, so that a row of results tells it for itself."""

import functools
import os
import platform
import shlex
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numba

from .. import __version__, games
from ..cluster import mpi_runtime
from ..core.errors import UserError
from ..core.kernel_folder import source_hash

_SLURM = [  # what its variables SLURM_… say
    *("JOB_ID", "JOB_NAME", "ARRAY_JOB_ID", "ARRAY_TASK_ID", "CLUSTER_NAME", "JOB_PARTITION", "JOB_NODELIST"),
    *("JOB_NUM_NODES", "NTASKS", "NTASKS_PER_NODE", "CPUS_PER_TASK", "CPUS_ON_NODE", "STEP_NUM_TASKS", "RESTART_COUNT"),
]


def describe(places, seed=None, game=None, arguments=()):
    """Return the ``meta`` of a row, of plain types.

    places: (host, CPU model) of each rank of the run; seed: of what is random; game: the name of one whose rules
    counted; arguments: of the command line, without the program's name.
    """
    hosts = [host for host, _ in places]
    rules = None if game is None else rules_version(game)
    meta = {"version": __version__, "commit": commit(), "seed": seed, "rules": rules, "mpi": _mpi()}
    return meta | {
        "python": f"{platform.python_version()}, numba {numba.__version__}",
        "hosts": {host: hosts.count(host) for host in dict.fromkeys(hosts)},
        "cpu": "; ".join(dict.fromkeys(cpu for _, cpu in places)),
        "cores": len(os.sched_getaffinity(0)),
        "slurm": {name: os.environ[name] for name in map("SLURM_{}".format, _SLURM) if name in os.environ},
        "arguments": shlex.join(arguments),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@functools.cache
def commit():
    """Return the git commit of the sources, with "+" behind it where they were edited since; None without git."""
    try:
        here = Path(__file__).parents[1]
        head = _git(here, "rev-parse", "HEAD")
        _git(here, "ls-files", "--error-unmatch", "__init__.py")  # else the folder is part of another repository
        return head + "+" * bool(_git(here, "status", "--porcelain", "--untracked-files=no", "."))
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder, *arguments):
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()


@functools.cache
def rules_version(game):
    """Return a game's name and 16 hex digits that change whenever the sources of its rules do."""
    module = games.find(game)
    source = Path(module.__file__)
    own = module.__name__.startswith(games.__name__ + ".")  # its rules are made of several modules there
    return f"{game}-{source_hash(source.parent if own else source)}"


@functools.cache
def _mpi():
    """Return the MPI library's name and version, None for a process without any."""
    try:
        return mpi_runtime.library()
    except UserError:
        return None


@functools.cache
def cpu_model():
    """Return the name of this host's CPU."""
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
