"""The command line in processes of its own, alone or under ``mpirun``, and what /proc tells of them."""

import contextlib
import functools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import NamedTuple

import pytest

import distsearch

COMMAND_LINE = ("-m", "distsearch")
TRACEBACK = "Traceback (most recent call last)"
SOON = 15  # seconds within which a job that is to end does, however busy the machine; usual is less than one
PATIENCE = 60  # seconds for whatever comes sooner or later; three ranks of a busy machine take ten to start
_RANKS = (b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK=")  # how mpirun tells a process its rank
_WRAPPER, _ENDED = "survive", "ended-rank"  # the script around a rank, and its name once the rank has ended
MARK = "DISTSEARCH_TEST_JOB"  # in the environment of all processes of one job
_FOLDER = "PRTE_MCA_prte_tmpdir_base"  # where Open MPI's mpirun makes its folder
_PACKAGE = Path(distsearch.__file__).parents[1]
_BARE = Path(__file__).with_name("bare")
PACKAGES = f"{_BARE}{os.pathsep}{_PACKAGE}"  # what processes find on PYTHONPATH
_TICKS = os.sysconf("SC_CLK_TCK")


def _folder_of_mpirun():
    # Open MPI 5.0.11's mpirun names its folder by its process id, leaves it when it is killed, and does not start
    # ("listener thread failed to start") where one of that name is left
    return tempfile.TemporaryDirectory(prefix="distsearch-mpirun-", ignore_cleanup_errors=True)


class Finished(NamedTuple):
    """A job that has ended. seconds: from its start; status: the exit status of the process that was started."""

    status: int
    out: str
    err: str
    seconds: float

    @property
    def results(self):
        """The JSON objects on stdout; MPICH's mpirun writes there too when it gets Ctrl-C."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]


class Job:
    """A command line at work: a context whose end is the end of all its processes.

    ranks: how many mpirun is to start, 0 to do without mpirun; launcher: further options of mpirun; program: what
    Python runs; environment: variables to set; survives: ranks that are killed do not end the others; other options
    are those of ``subprocess.Popen``.
    """

    def __init__(
        self, *arguments, ranks=0, launcher=(), program=COMMAND_LINE, environment=None, survives=False, **options
    ):
        self._mark = uuid.uuid4().hex
        launcher = ["mpirun", *launcher, "-n", str(ranks)] if ranks else []
        if survives and mpirun_is_open_mpi():
            launcher[1:1] = ["--with-ft", "ulfm"]
        elif survives:
            launcher = [*launcher, "-disable-auto-cleanup", str(_PACKAGE / "scripts" / _WRAPPER)]
        command = [*launcher, sys.executable, *program, *arguments]
        self._folder = _folder_of_mpirun()
        # not the environment of this process as C sees it: MPI has added to that if a test here has used MPI
        variables = {
            **os.environ,
            "PYTHONPATH": PACKAGES,
            MARK: self._mark,
            _FOLDER: self._folder.name,
            **(environment or {}),
        }
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self._size = ranks
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            command, env=variables, text=True, start_new_session=True, **{**streams, **options}
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._kill()
        self._process.communicate()
        self._folder.cleanup()

    def _members(self):
        """Return {process id: its environment} of the job's processes."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                environment = (path / "environ").read_bytes().split(b"\0")
            except OSError:
                continue  # it is gone, or another process's
            if f"{MARK}={self._mark}".encode() in environment and not _is_wrapper(path):
                found[int(path.name)] = environment
        return found

    def commands(self):
        """Return {process id: its command line, as bytes} of the job's processes."""
        found = {}
        for pid in self._members():
            with contextlib.suppress(OSError):
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes()
        return found

    def kill(self, *ranks):
        """Kill these ranks."""
        pids = self.ranks()
        for rank in ranks:
            os.kill(pids[rank], signal.SIGKILL)

    def _kill(self):
        # found by their mark, for mpirun gives ranks sessions of their own and may be gone already
        for pid in self._members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def left(self):
        """Whether any process of the job is still there."""
        return bool(self._members())

    def ranks(self):
        """Return the process ids, by rank, of the ranks that have started."""
        if not self._size:
            return {0: self._process.pid}
        variables = ((pid, entry) for pid, environment in self._members().items() for entry in environment)
        found = {}
        for pid, entry in sorted(variables):  # processes that a rank has started, such as compilers, come after it
            if entry.startswith(_RANKS):
                found.setdefault(int(entry.split(b"=")[1]), pid)
        return found

    @property
    def over(self):
        """Whether the process that was started has ended."""
        return self._process.poll() is not None

    def wait_for_handlers(self):
        """Wait until every rank has arranged what it does at SIGTERM."""

        def arranged():
            assert not self.over, self._process.communicate()
            pids = self.ranks().values()
            return len(pids) == max(self._size, 1) and all(handles(pid, signal.SIGTERM) for pid in pids)

        wait_for(arranged)

    def wait_for_work(self, seconds):
        """Wait until a rank has had so many seconds of CPU time from now."""
        before = self.cpu()
        wait_for(lambda: any(now - before[rank] >= seconds for rank, now in self.cpu().items()))

    def wait_for_search(self, seconds):
        """Wait until a worker has had so many seconds of CPU time more than the master.

        To get ready takes all ranks about the same, whatever the machine, and the master has hardly anything to do.
        """
        wait_for(lambda: 0 in (cpu := self.cpu()) and max(cpu.values()) - cpu[0] >= seconds)

    def cpu(self):
        """Return the CPU seconds of each rank so far."""
        return {rank: cpu_seconds(pid) for rank, pid in self.ranks().items()}

    def naps(self):
        """Return how often each rank has gone to sleep so far."""
        return {rank: int(status(pid)["voluntary_ctxt_switches"]) for rank, pid in self.ranks().items()}

    def head(self, lines):
        """Read so many lines of stdout and close it, as ``head`` does."""
        for _ in range(lines):
            self._process.stdout.readline()
        self._process.stdout.close()

    def say(self, text):
        """Write a line to stdin, which is a pipe."""
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()

    def hear(self, timeout=PATIENCE):
        """Return the next line of stdout, of which there must be one at a time; fail after ``timeout`` seconds."""
        assert select.select([self._process.stdout], [], [], timeout)[0], f"nothing came in {timeout} s"
        return self._process.stdout.readline().rstrip("\n")

    def signal(self, number):
        """Send a signal to the process that was started, if it is there."""
        self._process.send_signal(number)

    def signal_first_rank(self, number):
        """Send a signal to rank 0 alone."""
        os.kill(self.ranks()[0], number)

    def signal_all(self, number):
        """Send a signal to every rank, as batch systems do."""
        for pid in self.ranks().values():
            os.kill(pid, number)

    def finish(self, timeout=PATIENCE):
        """Return what the job leaves; fail if it still runs after ``timeout`` seconds from now."""
        late = False
        try:
            out, err = self._process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            late = True
            self._kill()
            out, err = self._process.communicate()
        if late:
            pytest.fail(f"still running after {timeout} s\nstdout: {out}\nstderr: {err}")
        return Finished(self._process.returncode, out, err, time.monotonic() - self._began)


def run(*arguments, timeout=PATIENCE, **options):
    """Run a command line as a Job to its end and return what it leaves (Finished)."""
    with Job(*arguments, **options) as job:
        return job.finish(timeout)


@functools.cache
def mpirun_is_open_mpi():
    """Whether the mpirun on PATH is Open MPI's; else it is MPICH's."""
    return "Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True).stdout


@functools.cache
def mpirun_ends_stdin():
    """Whether ranks learn that mpirun's stdin has ended; Open MPI 5.0.11's, with a fault of its PMIx, never tells."""
    if not mpirun_is_open_mpi():
        return True
    with _folder_of_mpirun() as folder:
        variables = {**os.environ, _FOLDER: folder}
        try:
            subprocess.run(["mpirun", "-n", "1", "cat"], check=True, stdin=subprocess.DEVNULL, timeout=5, env=variables)
        except subprocess.TimeoutExpired:
            return False
    return True


def _is_wrapper(process):
    """Whether a folder of /proc is that of the script around a rank, which has the rank's environment."""
    try:
        return (process / "comm").read_text().strip() in (_WRAPPER, _ENDED)
    except OSError:
        return False


def send(job, ranks, number):
    """Signal what a user would signal; Open MPI's mpirun kills its ranks then, so there it is rank 0."""
    if ranks and mpirun_is_open_mpi():
        job.signal_first_rank(number)
    else:
        job.signal(number)


def handles(pid, number):
    """Whether a process catches or ignores a signal."""
    signals = status(pid)
    return bool((int(signals["SigCgt"], 16) | int(signals["SigIgn"], 16)) >> (number - 1) & 1)


def status(pid):
    """What /proc/PID/status says, by name."""
    return dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


def cpu_seconds(pid):
    """The CPU time of a process so far, in user and system mode."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def wait_for(condition, timeout=PATIENCE):
    """Wait until ``condition()`` is true; fail after ``timeout`` seconds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"nothing came in {timeout} s"
        time.sleep(0.01)
