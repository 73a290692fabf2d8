"""A real service under mpirun, what /proc tells of its ranks, and positions to ask it about."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from distsearch.server.client import Client, ServiceError

_MARK = "DISTSEARCH_BENCHMARK"  # in the environment of a service's processes
_SURVIVE = Path(__file__).parents[2] / "scripts" / "survive"
_RANK = re.compile(rb"(?:PMI_RANK|OMPI_COMM_WORLD_RANK)=([0-9]+)\0")


class Service:
    """``mpirun -n RANKS distsearch serve`` at a socket of its own while the context lasts; ``path`` is where.

    http: whether it serves HTTP as well, at ``port``, 0 for one that is free; then ``url`` and ``token`` are those;
    survives: whether it goes on when workers are killed.
    """

    def __init__(self, ranks, http=False, survives=False, port=0):
        self._ranks, self._http, self._mark = ranks, http, f"{_MARK}={uuid.uuid4().hex}"
        self._survives, self._port = survives, port
        self._folder = tempfile.TemporaryDirectory()
        self.path = f"{self._folder.name}/socket"
        self.pids = {}  # rank → process id, of those that live; "HTTP" → that of the process that serves it

    def __enter__(self):
        launcher, options = ["mpirun", "-n", str(self._ranks)] if self._ranks > 1 else [], []
        if self._survives and "Open MPI" in subprocess.check_output(["mpirun", "--version"], text=True):
            launcher[1:1] = ["--with-ft", "ulfm"]
        elif self._survives:
            launcher = [*launcher, "-disable-auto-cleanup", str(_SURVIVE)]
            options = ["--worker-timeout", "10"]
        command = [*launcher, sys.executable, "-m", "distsearch", "serve", "--socket", self.path, *options]
        command += ["--http", str(self._port)] if self._http else []
        name, value = self._mark.split("=")
        environment, out = {**os.environ, name: value}, subprocess.PIPE if self._http else None
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=out, text=True)
        try:
            if self._process.stdout is not None:
                self.url, self.token = self._process.stdout.readline().strip().split("#token=")
            self._wait()
        except BaseException:
            self.kill()
            raise
        self.pids = self._find()
        if self._http:
            self.pids["HTTP"] = self._child_of(self.pids[0])
        return self

    def _wait(self):
        """Wait until it has loaded the kernels of usual requests, which may have to be compiled first."""
        while True:
            if self._process.poll() is not None:
                sys.exit(f"the service ended with status {self._process.returncode}")
            try:
                with Client(self.path, timeout=60) as client:
                    while client.status()["state"] != "serving":
                        time.sleep(0.05)
                return
            except ServiceError:
                time.sleep(0.05)

    def _find(self):
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                environment, command = (path / "environ").read_bytes() + b"\0", (path / "cmdline").read_bytes()
            except OSError:
                continue  # it is gone, or another process's
            others = b"mpirun" in command or str(_SURVIVE).encode() in command
            if self._mark.encode() in environment and b"\0serve\0" in command and not others:
                rank = _RANK.search(environment)
                if rank or self._ranks == 1:
                    found[int(rank[1]) if rank else 0] = int(path.name)
        return dict(sorted(found.items()))

    def _child_of(self, pid):
        """The process that serves HTTP."""
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (path / "stat").read_text().rpartition(")")[2].split()[1] == str(pid):
                    command = (path / "cmdline").read_bytes()
                    if b"server.http.process" in command:
                        return int(path.name)
        raise AssertionError("no process serves HTTP")

    def kill_worker(self, rank):
        """Kill a worker of a service that survives it."""
        os.kill(self.pids.pop(rank), signal.SIGKILL)

    def __exit__(self, *_):
        self.stop()

    def stop(self, timeout=30):
        """End it by SIGTERM to rank 0, since Open MPI's mpirun kills its ranks at one; return its exit status.

        More than once does no more.
        """
        if self._process.poll() is None:
            os.kill(self.pids[0], signal.SIGTERM)
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._folder.cleanup()
        return self._process.returncode

    def kill(self):
        """End it at once."""
        for pid in self._find().values():
            os.kill(pid, signal.SIGKILL)
        self._process.wait(10)

    def resident(self):
        """Return the MiB of resident memory of each process, those of the shared table apart, by rank."""
        return {rank: private_mib(pid) for rank, pid in list(self.pids.items())}

    def descriptors(self):
        """Return how many descriptors each process has open, by rank."""
        return {rank: len(os.listdir(f"/proc/{pid}/fd")) for rank, pid in list(self.pids.items())}

    def cpu(self):
        """Return the CPU seconds of each rank so far."""
        ticks = os.sysconf("SC_CLK_TCK")
        return {rank: sum(map(int, _stat(pid)[11:13])) / ticks for rank, pid in self.pids.items()}


def _stat(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def private_mib(pid):
    """Return the MiB of resident memory of a process, shared memory apart."""
    return int(re.search(r"RssAnon:\s+([0-9]+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def share(values, part):
    """Return the value below which a part (0 to 1) of them lie."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]
