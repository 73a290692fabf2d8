"""The start of a job that goes on without ranks that die: until all have met, MPI does not report which are lost."""

import contextlib
import faulthandler
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import RanksLostError
from .mpi_runtime import OF_RANKS, tells_of_a_lost_rank

LIMIT = 120.0  # seconds after the start in which all ranks must have met, on whatever hosts
_PATIENCE = 2.0  # see ``start_watchdog``
_WATCHED = 2  # ranks of a host that have a watchdog: the first may die before its watchdog runs
_HEEDED = 1.0  # seconds that a rank waits for its watchdog to end before it kills it
# Variables of launchers: that of a rank's number → (its number on its host, how many the host has, whose they are)
_OF_HOST = {
    "OMPI_COMM_WORLD_RANK": ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "Open MPI"),
    "PMI_RANK": ("MPI_LOCALRANKID", "MPI_LOCALNRANKS", "MPICH"),
}
_started: list[subprocess.Popen | None] = []  # what is to end once all have met: None for the limit, and a watchdog


def limit() -> None:
    """Have the ranks of this host end if some of them, or the launcher, are lost before all ranks have met.

    A separate process does that, since MPI's start blocks all threads of a rank. For ranks of other hosts, and under
    launchers that it does not know, there is ``LIMIT``, after which this process ends with a traceback.
    """
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=sys.__stderr__ or sys.stderr)
    _started.append(None)
    names = next((names for variable, names in _OF_HOST.items() if variable in os.environ), None)
    if names is None:
        return
    place, ranks = (os.environ.get(name, "") for name in names[:2])
    if place.isdigit() and ranks.isdigit() and int(place) < _WATCHED:
        _watch(ranks, names[2], _PATIENCE * (1 + int(place) / 4))


def _watch(ranks, kind, patience):
    script = str(Path(__file__).with_name("start_watchdog.py"))
    command = [sys.executable, "-I", "-S", script, str(os.getpid()), ranks, kind, str(patience)]
    # it is no rank, and a terminal's signals are not for it
    environment = {name: value for name, value in os.environ.items() if not any(part in name for part in OF_RANKS)}
    with contextlib.suppress(OSError):  # no room for a process: LIMIT is left
        _started.append(
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, start_new_session=True
            )
        )


@contextlib.contextmanager
def meeting() -> Iterator[None]:
    """Take part in what all ranks do at the start.

    Raises RanksLostError if MPI says that one has died meanwhile, in a job that goes on without ranks that die later.
    """
    goes_on = bool(_started)
    try:
        yield
    except Exception as error:
        if not (goes_on and tells_of_a_lost_rank(error)):
            raise
        raise RanksLostError("a rank was lost before all had met") from None


def all_have_met() -> None:
    """Note that all ranks have met."""
    if _started:  # another program's timer is left alone
        faulthandler.cancel_dump_traceback_later()
    for watchdog in filter(None, _started):
        try:
            watchdog.communicate(b"1", _HEEDED)
        except subprocess.TimeoutExpired:
            watchdog.kill()
            watchdog.wait()
    _started.clear()
