"""The start of a job that goes on without ranks that die: until all have met, no MPI tells which are lost."""

import contextlib
import faulthandler
import os
import subprocess
import sys
from pathlib import Path

from .mpi_runtime import OF_RANKS

LIMIT = 120.0  # seconds until all ranks have met, on whatever hosts
_PATIENCE = 2.0  # see ``start_watchdog``
_WATCHED = 2  # ranks of a host that have a watchdog: one of them may be lost before that is there
# Variables that launchers set: (rank, rank on its host, how many the host has)
_LAUNCHERS = (
    ("PMI_RANK", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
)
_watchdogs: list[subprocess.Popen] = []


def limit() -> None:
    """Have the ranks of this host end if some of them, or the launcher, are lost before all ranks have met.

    A process of its own sees to that, since MPI's start keeps all threads of a rank waiting. For ranks of other hosts
    there is ``LIMIT``, after which this process ends with a traceback.
    """
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=sys.__stderr__ or sys.stderr)
    for variable, of_host, count in _LAUNCHERS:
        place, ranks = os.environ.get(of_host, ""), os.environ.get(count, "")
        if variable in os.environ and place.isdigit() and ranks.isdigit() and int(place) < _WATCHED:
            _watch(int(ranks), variable, _PATIENCE * (1 + int(place) / 4))


def _watch(ranks, variable, patience):
    script = str(Path(__file__).with_name("start_watchdog.py"))
    command = [sys.executable, "-I", "-S", script, *map(str, (os.getpid(), ranks, variable, patience))]
    # it is no rank, and a terminal's signals are not for it
    environment = {name: value for name, value in os.environ.items() if not any(part in name for part in OF_RANKS)}
    with contextlib.suppress(OSError):  # no room for a process: LIMIT is left
        _watchdogs.append(
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, start_new_session=True
            )
        )


def all_have_met() -> None:
    """Note that all ranks have met."""
    faulthandler.cancel_dump_traceback_later()
    while _watchdogs:
        with contextlib.suppress(OSError):  # it has ended, as where it finds no launcher
            _watchdogs.pop().communicate(b"1")
