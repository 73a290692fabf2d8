"""A job over several hosts that loses a worker of another host, or that host's network for a while, in either MPI."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from benchmarks.faults import hosts

from ..launch.running import Job, handles, mpirun_is_open_mpi, wait_for

TIMEOUT = 3  # seconds, the worker timeout
SEARCH = "search", "connect4", "444444", "--exact", "--book", "none", "--json"
RANKS, VICTIM = 5, 3


@pytest.fixture(params=["mpich", "openmpi"])
def job(request, monkeypatch):
    """A search at work on all hosts."""
    if request.param == "openmpi":
        venv = request.getfixturevalue("openmpi")
        monkeypatch.setenv("PATH", f"{venv}/bin:{os.environ['PATH']}")
        monkeypatch.setattr(sys, "executable", f"{venv}/bin/python")
    mpirun_is_open_mpi.cache_clear()
    with Job(*SEARCH, "--worker-timeout", str(TIMEOUT), ranks=RANKS, launcher=hosts.options(), survives=True) as job:
        wait_for(lambda: len(job.ranks()) == RANKS)
        wait_for(lambda: all(handles(process, signal.SIGTERM) for process in job.ranks().values()))
        job.wait_for_search(0.3)
        yield job


@pytest.fixture(scope="module")
def expected():
    done = subprocess.run(["distsearch", *SEARCH], capture_output=True, text=True, check=True, timeout=100)
    return json.loads(done.stdout)["score"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_of_another_host_dies(job, number, expected):
    os.kill(job.ranks()[VICTIM], number)
    done = job.finish()
    assert done.status == 0, done.err
    assert re.findall(r"distsearch: lost rank (\d)", done.err) == [str(VICTIM)]
    assert done.results[-1]["score"] == expected


def test_a_host_has_no_network_for_a_while(job, expected):
    """Longer than it takes to declare its worker lost, and for that worker to leave."""
    hosts.connect(hosts.of_rank(VICTIM), "down")
    try:
        time.sleep(5 * TIMEOUT)
    finally:
        hosts.connect(hosts.of_rank(VICTIM), "up")
    done = job.finish()
    assert done.status == 0, done.err
    assert done.results[-1]["score"] == expected
