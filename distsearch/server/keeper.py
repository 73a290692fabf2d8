"""The process between a program and the service of its ``LocalCluster``: ``python -m distsearch.server.keeper``.

It starts the ranks, and ends them when its stdin ends, which the program holds, or when the program is gone, however
that came. It is the subreaper of all that it starts, so it finds what is left of it, and leaves nothing.
"""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from ..cluster.launchers import command_on_this_host, without_ranks
from ..core.errors import UserError, print_error

SOCKET = "socket"  # in the folder of a cluster
_SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # of prctl(2)
_GLANCE, _PAUSE = 0.1, 0.01  # seconds
_DRAIN, _KILLING = 15.0, 5.0  # seconds for the ranks to end by themselves, and after they were killed


def main() -> int:
    """Keep ``serve FLAGS...`` at work: arguments are FOLDER, RANKS, PARENT (a process id), FLAGS; return its status.

    FOLDER is deleted at the end.
    """
    folder, ranks, parent, *flags = sys.argv[1:]
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ending: list[int] = []  # signals that came; none is raised, or it could cut short what ends the ranks
    for number in _SIGNALS:
        signal.signal(number, lambda number, _frame: ending.append(number))
    path, status = f"{folder}/{SOCKET}", 2
    try:
        launcher, variables = command_on_this_host(int(ranks), folder) if int(ranks) > 1 else ([], {})
        if ending:
            return 128 + ending[0]
        process = subprocess.Popen(
            [*launcher, sys.executable, "-m", "distsearch", "serve", "--socket", path, *flags],
            env={**without_ranks(), **variables},
            stdin=subprocess.DEVNULL,
            preexec_fn=lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0),  # noqa: PLW1509 - there is one thread
        )
        while process.poll() is None and not ending and os.getppid() == int(parent):
            if select.select([0], [], [], _GLANCE)[0]:
                break
        status = 128 + ending[0] if ending else process.poll() or 0
    except UserError as error:
        print_error(f"distsearch: {error}")
    finally:
        _end(path)
        shutil.rmtree(folder, ignore_errors=True)
    return status


def _end(path):
    """End all that was started: by a word to rank 0 if it listens, else at once; return when it is gone."""
    first = _listener(path)
    if first is not None and first in _descendants():
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGTERM)
        _wait(_DRAIN)
    end = time.monotonic() + _KILLING
    while (left := _descendants()) and time.monotonic() < end:  # again and again: a launcher may be starting ranks
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _listener(path):
    """Return the id of the process that listens at a socket, or None."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)  # where others wait to be accepted, rank 0 does not listen either
        try:
            asking.connect(path)
        except OSError:
            return None
        credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return struct.unpack("3i", credentials)[0]


def _wait(seconds):
    """Wait until no process is left of those that were started, so many seconds at most."""
    end = time.monotonic() + seconds
    while _descendants() and time.monotonic() < end:
        time.sleep(_PAUSE)


def _descendants():
    """Return the ids of the processes that this one, or one of them, started; those that have ended are reaped."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    children, found = {}, []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.name))
    left = [os.getpid()]
    while left:
        own = children.get(left.pop(), [])
        found += own
        left += own
    return found


if __name__ == "__main__":
    sys.exit(main())
