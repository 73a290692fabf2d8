"""The process that ends a host's ranks if one of them, or the launcher, is lost: it ends those and no others."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distsearch.cluster import start_watchdog

from ..launch.running import wait_for

SCRIPT = start_watchdog.__file__
PATIENCE = 0.5


class Family:
    """A process of a given name that has started so many ranks of a job, and so many of another job.

    ended: how many ranks have ended, so that only their scripts are there.
    """

    def __init__(self, folder, name, ranks, other, ended):
        program, script = folder / name, folder / "ended-rank"
        program.symlink_to(shutil.which("sh"))
        script.symlink_to(shutil.which("sleep"))
        lines = ["PMIX_NAMESPACE=one sleep 60 & echo $!"] * ranks + ["PMIX_NAMESPACE=two sleep 60 & echo $!"] * other
        lines += [f"{script} 60 & echo $!"] * ended
        # it outlives its children, and what is no builtin would be one of them
        command = [str(program), "-c", "\n".join([*lines, "read line"])]
        self.launcher = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.launcher.stdout is not None
        self.ranks = [int(self.launcher.stdout.readline()) for _ in range(ranks + other + ended)]
        self.watchdog = None

    def watch(self, rank, ranks, kind="Open MPI"):
        command = [sys.executable, "-I", "-S", SCRIPT, *map(str, (rank, ranks, kind, PATIENCE))]
        self.watchdog = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self):
        """End all of it."""
        self.launcher.kill()
        for pid in self.ranks:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.launcher.communicate()
        if self.watchdog is not None:
            self.watchdog.kill()
            self.watchdog.wait()
            self.watchdog.stdin.close()
            self.watchdog.stderr.close()


@pytest.fixture
def family(tmp_path):
    """A function that makes a Family, which ends with the test."""
    with contextlib.ExitStack() as stack:

        def make(name="mpirun", ranks=3, other=0, ended=0):
            made = Family(tmp_path, name, ranks, other, ended)
            stack.callback(made.end)
            return made

        yield make


def alive(*pids):
    return [pid in start_watchdog.processes() for pid in pids]


def waits(pid):
    """Whether a watchdog waits for its pipe, and so has found the launcher; skips the test where that is not told."""
    place = Path(f"/proc/{pid}/wchan").read_text()
    if place in ("", "0") and not _tells_where():
        pytest.skip("the kernel does not tell where processes wait")
    return "poll" in place or "select" in place


def _tells_where():
    with subprocess.Popen(["sleep", "60"]) as sleeping:
        time.sleep(0.2)
        told = Path(f"/proc/{sleeping.pid}/wchan").read_text()
        sleeping.kill()
    return told not in ("", "0")


@pytest.mark.parametrize("name", ["mpirun", "hydra_pmi_proxy", "prterun"])
def test_ranks_and_launcher_end_once_a_rank_is_lost(family, name):
    job = family(name)
    job.watch(job.ranks[0], 3, "MPICH" if name.startswith("hydra") else "Open MPI")
    os.kill(job.ranks[2], signal.SIGKILL)
    said = job.watchdog.communicate(timeout=10)[1]
    assert said == "distsearch: 1 of this host's 3 ranks were lost before all had met, so the job ends\n"
    assert job.launcher.wait(10) == -signal.SIGTERM
    wait_for(lambda: not any(alive(*job.ranks)))


def test_the_script_of_an_ended_rank_is_no_rank(family):
    job = family("hydra_pmi_proxy", ranks=2, ended=1)
    job.watch(job.ranks[0], 3, "MPICH")
    said = job.watchdog.communicate(timeout=10)[1]
    assert said == "distsearch: 1 of this host's 3 ranks were lost before all had met, so the job ends\n"
    wait_for(lambda: alive(*job.ranks) == [False, False, True])


def test_ranks_end_though_no_one_reads_what_is_said(family):
    job = family()
    job.watch(job.ranks[0], 3)
    job.watchdog.stderr.close()
    os.kill(job.ranks[2], signal.SIGKILL)
    wait_for(lambda: not any(alive(*job.ranks)))


def test_ranks_end_once_the_launcher_is_lost(family):
    job = family()
    job.watch(job.ranks[0], 3)
    wait_for(lambda: waits(job.watchdog.pid))
    job.launcher.kill()
    job.launcher.wait(10)
    wait_for(lambda: not any(alive(*job.ranks)))


def test_ranks_of_a_launcher_that_serves_several_jobs_end_alone(family):
    job = family("prted", other=1)
    job.watch(job.ranks[0], 3)
    os.kill(job.ranks[2], signal.SIGKILL)
    job.watchdog.communicate(timeout=10)
    wait_for(lambda: not any(alive(*job.ranks[:3])))
    assert alive(job.launcher.pid, job.ranks[3]) == [True, True]


@pytest.mark.parametrize("name", ["sh", "systemd", "prte", "hydra_pmi_proxy"])
def test_where_no_launcher_is_known_nothing_ends(family, name):
    job = family(name)
    names = {start_watchdog.processes()[pid].name for pid in _ancestors(os.getpid())}
    if names & set().union(*start_watchdog.LAUNCHERS.values()):
        pytest.skip("these tests run under mpirun")
    os.kill(job.ranks[2], signal.SIGKILL)
    job.watch(job.ranks[0], 3)
    assert job.watchdog.communicate(timeout=10)[1] == ""
    assert alive(job.launcher.pid, *job.ranks[:2]) == [True] * 3


def _ancestors(pid):
    known = start_watchdog.processes()
    while pid in known:
        yield pid
        pid = known[pid].parent


def test_nothing_ends_once_all_have_met(family):
    job = family()
    job.watch(job.ranks[0], 3)
    assert job.watchdog.communicate("1", timeout=10)[1] == ""
    assert job.watchdog.returncode == 0
    assert alive(job.launcher.pid, *job.ranks) == [True] * 4


def test_nothing_is_left_to_do_where_all_ranks_have_ended(family):
    job = family()
    job.watch(job.ranks[0], 3)
    wait_for(lambda: waits(job.watchdog.pid))
    for rank in job.ranks:
        os.kill(rank, signal.SIGKILL)
    assert job.watchdog.communicate(timeout=10)[1] == ""
    assert alive(job.launcher.pid) == [True]
