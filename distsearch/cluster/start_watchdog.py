"""A process that ends the ranks of its host if one of them, or the launcher, is lost before all ranks have met.

    python start_watchdog.py RANK RANKS VARIABLE PATIENCE < PIPE

RANK: its process; RANKS: how many the host has; VARIABLE: by which the launcher tells a process its rank; PATIENCE:
seconds in which ranks may end by themselves, as all do where each finds the same mistake of the user. The rank writes a
byte to the pipe once all have met. This imports nothing of the program, so that it is there in milliseconds.
"""

import contextlib
import os
import select
import signal
import sys
import time
from pathlib import Path

_LOOK = 0.25  # seconds


def parents() -> dict[int, int]:
    """Return {process: its parent} of all processes that have not ended."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            state, parent = path.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                found[int(path.parent.name)] = int(parent)
    return found


def is_rank(process: int, variable: str) -> bool:
    """Whether a process is a rank, or a script that a launcher has started as one; False where that is not known."""
    try:
        environment = Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return False
    return any(entry.startswith(f"{variable}=".encode()) for entry in environment.split(b"\0"))


def launcher_of(rank: int, variable: str, parent_of: dict[int, int]) -> int:
    """Return the launcher's process on this host: the nearest ancestor of a rank that has no rank; 0 if none is known.

    Between the two may be a script that the launcher has started.
    """
    ancestor = parent_of.get(rank, 0)
    while ancestor > 1 and is_rank(ancestor, variable):
        ancestor = parent_of.get(ancestor, 0)
    return ancestor if ancestor > 1 else 0


def _below(launcher, parent_of):
    """Return all processes that a launcher has started, directly or not."""
    found, new = set(), {launcher}
    while new := {process for process, parent in parent_of.items() if parent in new} - found:
        found |= new
    return found - {os.getpid()}


def watch(rank: int, ranks: int, variable: str, patience: float) -> tuple[str, list[int]] | None:
    """Return (what was lost, the processes to end), or None once all have met or have ended.

    These are the launcher's process, then those of ranks.
    """
    parent_of = parents()
    launcher, noticed, stdin = launcher_of(rank, variable, parent_of), None, [sys.stdin]
    while launcher:
        ready = select.select(stdin, [], [], _LOOK)[0]
        if ready and os.read(0, 1):
            return None
        if ready:  # its rank has ended
            stdin = []
            time.sleep(_LOOK)
        known, now = parents(), time.monotonic()
        if launcher not in known:
            return "the launcher was", [launcher, *_below(launcher, parent_of)]
        parent_of = known
        alive = [process for process, parent in known.items() if parent == launcher and is_rank(process, variable)]
        if not alive:
            return None
        noticed = (noticed or now) if len(alive) < ranks else None
        if noticed and now - noticed >= patience:
            return f"{ranks - len(alive)} of this host's {ranks} ranks were", [launcher, *_below(launcher, known)]
    return None


def _main():
    rank, ranks, variable, patience = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    lost = watch(rank, ranks, variable, patience)
    if lost is None:
        return
    what, (launcher, *left) = lost
    print(f"distsearch: {what} lost before all had met, so the job ends", file=sys.stderr, flush=True)
    # told to end, Open MPI's mpirun ends with a status that says so; for ranks killed alone it has been 0
    with contextlib.suppress(OSError):
        os.kill(launcher, signal.SIGTERM)
    time.sleep(_LOOK)
    for process in left:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    _main()
