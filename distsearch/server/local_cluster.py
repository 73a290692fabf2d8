"""Ranks of this host and a service, from within a program or a notebook."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path
from typing import Any

from ..cluster.launchers import without_ranks
from ..core.errors import UserError
from .client import Client, ServiceError
from .keeper import SOCKET

_OURS = "distsearch: "  # how our errors begin
_LOG = "log"  # in the folder of a cluster
_LONGEST_PATH = 100  # characters of the path of a socket, with room to spare
_GLANCE = 0.02  # seconds
_FAREWELL = 25.0  # seconds for the ranks to end, which is more than their keeper gives them


class LocalCluster(Client):
    """Ranks of this host that search for this program: a Client of a service that it starts, and ends.

        with distsearch.LocalCluster(ranks=4) as cluster:
            print(cluster.search("othello", "f5d6c3", depth=16)["move"])

    It is ready once it is made, and ends at the end of ``with``, at ``close()``, with the program, and also when the
    program or the kernel of a notebook is killed. It needs no mpirun by hand, and MPI may be at work in the program.

    ranks: one for each core of this process and a master unless given, 1 for a process without MPI; table, device,
    book, submasters, worker_timeout, checkpoints: as of ``distsearch serve``; timeout: see ``Client``. Raises UserError
    with what the service had against them, or if there is no MPI. ``path``: the socket, for other programs.
    """

    def __init__(
        self,
        ranks: int | None = None,
        *,
        table: int | None = None,
        device: str | None = None,
        book: str | None = None,
        submasters: int | None = None,
        worker_timeout: int | None = None,
        checkpoints: str | None = None,
        timeout: float | None = None,
    ):
        self.ranks = _checked(len(os.sched_getaffinity(0)) + 1 if ranks is None else ranks)
        given = {"table": table, "device": device, "book": book, "submasters": submasters}
        given |= {"worker-timeout": worker_timeout, "checkpoints": checkpoints}
        flags = [f"--{name}={value}" for name, value in given.items() if value is not None]
        folder = _private_folder()
        self.path = f"{folder}/{SOCKET}"
        with open(f"{folder}/{_LOG}", "wb") as log:
            command = [sys.executable, "-m", f"{__package__}.keeper", folder, str(self.ranks), str(os.getpid())]
            process = subprocess.Popen(
                [*command, *flags],
                env={**without_ranks(), "PYTHONPATH": _python_path()},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C is for the program
            )
        self._stop = weakref.finalize(self, _stop, process, folder, os.getpid())
        try:
            self._wait_for_service(process, f"{folder}/{_LOG}")
            super().__init__(self.path, timeout)
        except BaseException:
            self._stop()
            raise

    def _wait_for_service(self, process, log):
        with open(log, encoding="utf-8", errors="replace") as said:  # now, for the keeper deletes it
            while process.poll() is None:
                with contextlib.suppress(ServiceError), Client(self.path) as client:
                    client.status()
                    return
                time.sleep(_GLANCE)
            lines = said.read().split("\n")
        own = [line for line in lines if line.startswith(_OURS)]  # an mpirun may have said more after it
        reason = [f"status {process.returncode}", *filter(str.strip, lines), *own][-1]
        raise UserError(f"the service did not start: {reason.removeprefix(_OURS)}")

    def client(self, timeout: float | None = None) -> Client:
        """Return another Client, for another thread for example."""
        return Client(self.path, timeout)

    def close(self) -> None:
        """End the service, and wait for it; more than once does no more."""
        super().close()
        self._stop()


def _stop(process: subprocess.Popen, folder: str, owner: int) -> None:
    if os.getpid() != owner:  # a fork of the program is not the one that it belongs to
        return
    assert process.stdin is not None
    process.stdin.close()
    process.terminate()  # a fork of the program may have stdin open still
    try:
        process.wait(_FAREWELL)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _checked(ranks: Any) -> int:
    if not isinstance(ranks, int) or isinstance(ranks, bool) or ranks < 1:
        raise UserError(f"ranks {ranks!r:.40} is not a whole number of 1 or more")
    return ranks


def _private_folder():
    """Return a new folder of this user's own, whose name is short enough for a socket."""
    place = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="distsearch-", dir=place if len(place) < _LONGEST_PATH - 40 else "/tmp")


def _python_path():
    """Return where the ranks look for modules: first of all where this package was found."""
    package = str(Path(__file__).parents[2])
    return os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
