"""A process that ends the ranks of its host if one of them, or the launcher, is lost before all ranks have met.

    python start_watchdog.py RANK RANKS KIND PATIENCE < PIPE

RANK: process id of the rank that has started this; RANKS: how many ranks its host has; KIND: Open MPI or MPICH, whose
launcher has said so; PATIENCE: seconds without a further rank's end after which the loss counts; after a mistake of the
user all ranks end by themselves within it. The rank writes a byte to the pipe once all ranks have met. This imports
nothing of the program, so that it starts in milliseconds.
"""

import contextlib
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

_REMOTE = "prted", "orted"  # on hosts other than mpirun's, perhaps for several jobs: they are never told to end
# Names of what starts the ranks of a host. Open MPI's prte, which serves several jobs, is not among them.
LAUNCHERS = {"Open MPI": ("prterun", "orterun", "mpirun", "mpiexec", *_REMOTE), "MPICH": ("hydra_pmi_proxy",)}
_ALL = {name for names in LAUNCHERS.values() for name in names}
# What a launcher may have started besides ranks at work. The last is scripts/survive once its rank has ended.
_NO_RANKS = "ssh", "rsh", "srun", *_REMOTE, "ended-rank"
_JOB = b"PMIX_NAMESPACE="  # names the job of a process under Open MPI
_LOOK = 0.25  # seconds


class Process(NamedTuple):
    """A process that has not ended. began: the time of its start, which tells it from a later one of the same id."""

    parent: int
    began: int
    name: str


def processes() -> dict[int, Process]:
    """Return all processes of the host by their ids."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):  # with "/stat" a process that ends meanwhile would be an error
        with contextlib.suppress(OSError, ValueError, IndexError):
            before, _, after = (path / "stat").read_text(errors="replace").rpartition(")")
            fields = after.split()
            if fields[0] not in "ZX":
                found[int(path.name)] = Process(int(fields[1]), int(fields[19]), before.partition("(")[2])
    return found


def launcher_of(rank: int, kind: str, known: dict[int, Process]) -> int:
    """Return the launcher's process on this host: the nearest ancestor of a rank that is one by its name.

    0 if there is none, and where it is of another kind, as where a rank of one MPI has started another MPI's ranks.
    Between a launcher and a rank may be a script, or a container's runtime.
    """
    ancestor = known[rank].parent if rank in known else 0
    while ancestor in known and known[ancestor].name not in _ALL:
        ancestor = known[ancestor].parent
    return ancestor if ancestor in known and known[ancestor].name in LAUNCHERS[kind] else 0


def _job(process):
    """Return the name of a process's job, None if it is not known."""
    with contextlib.suppress(OSError):
        for entry in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
            if entry.startswith(_JOB):
                return entry
    return None


def started_by(launcher: int, job: bytes | None, known: dict[int, Process]) -> set[int]:
    """Return the processes that a launcher has started as ranks of a job."""
    children = {process for process, each in known.items() if each.parent == launcher and each.name not in _NO_RANKS}
    return {process for process in children if job is None or _job(process) in (job, None)}


def _with_descendants(above, known):
    found, new = set(), set(above)
    while new:
        found |= new
        new = {process for process, each in known.items() if each.parent in new} - found
    return found - {os.getpid()}


class Loss(NamedTuple):
    """What to do about a loss.

    text: what was lost; None if it was the launcher, which would pass the text on; launcher: to be told to end, or 0;
    left: processes to kill.
    """

    text: str | None
    launcher: int
    left: dict[int, Process]


def watch(rank: int, ranks: int, kind: str, patience: float) -> Loss | None:
    """Wait for a loss; None once all ranks have met, if all of the host have ended, and where no launcher is known."""
    known, job, stdin = processes(), _job(rank), [sys.stdin]
    launcher, lost = launcher_of(rank, kind, known), (0, 0.0)  # how many ranks, since when
    while launcher:
        ready = select.select(stdin, [], [], _LOOK)[0]
        if ready and os.read(0, 1):
            return None
        if ready:  # its rank has ended
            stdin = []
            time.sleep(_LOOK)
        before, known, now = known, processes(), time.monotonic()
        if launcher not in known or known[launcher].began != before[launcher].began:
            left = _with_descendants(started_by(launcher, job, before), before)
            return Loss(None, 0, {process: before[process] for process in left})
        alive = started_by(launcher, job, known)
        if not alive:
            return None
        missing = ranks - len(alive)
        if missing != lost[0]:
            lost = missing, now
        elif missing > 0 and now - lost[1] >= patience:
            left = _with_descendants(alive, known)
            told = 0 if known[launcher].name in _REMOTE else launcher
            return Loss(f"{missing} of this host's {ranks} ranks were", told, {each: known[each] for each in left})
    return None


def _main():
    lost = watch(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
    if lost is None:
        return
    if lost.text:
        with contextlib.suppress(OSError):  # it has no reader
            print(f"distsearch: {lost.text} lost before all had met, so the job ends", file=sys.stderr, flush=True)
    if lost.launcher:
        # Open MPI's mpirun ends with a status that says so if it is told to end; where ranks alone were killed it was 0
        with contextlib.suppress(OSError):
            os.kill(lost.launcher, signal.SIGTERM)
        time.sleep(_LOOK)
    now = processes()
    for process, each in lost.left.items():
        if process in now and now[process].began == each.began:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    _main()
