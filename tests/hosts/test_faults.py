"""Jobs in which a worker of another host than rank 0's dies, or that host has no network for a while, in either MPI."""

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
SEARCH = "search", "othello", "--depth", "19", "--book", "none", "--json"
RANKS, VICTIM = 5, 3


@pytest.fixture(params=["mpich", "openmpi"])
def job(request, monkeypatch):
    """A search at work on all hosts; the victim is the only rank of its host."""
    if request.param == "openmpi":
        venv = request.getfixturevalue("openmpi")
        monkeypatch.setenv("PATH", f"{venv}/bin:{os.environ['PATH']}")
        monkeypatch.setattr(sys, "executable", f"{venv}/bin/python")
    monkeypatch.delenv(hosts.ONE_HOST, raising=False)
    mpirun_is_open_mpi.cache_clear()
    how = {"ranks": RANKS, "launcher": hosts.mpirun_options(), "survives": True}
    with Job(*SEARCH, "--worker-timeout", str(TIMEOUT), **how) as job:
        wait_for(lambda: len(job.ranks()) == RANKS)
        wait_for(lambda: all(handles(process, signal.SIGTERM) for process in job.ranks().values()))
        wait_for(lambda: not any(b"start_watchdog" in command for command in job.commands().values()))  # all have met
        job.wait_for_work(1.0)
        yield job
    mpirun_is_open_mpi.cache_clear()


@pytest.fixture(scope="module")
def expected():
    done = subprocess.run(["distsearch", *SEARCH], capture_output=True, text=True, check=True, timeout=100)
    return json.loads(done.stdout)["score"]


def told(done):
    """Return what a job says of the victim, in order. Others are ignored: they may miss so short a timeout too."""
    return re.findall(rf"distsearch: (lost rank {VICTIM}|rank {VICTIM} .*is back|rank 0 is lost)", done.err)


def test_a_worker_of_another_host_is_killed(job, expected):
    job.kill(VICTIM)
    done = job.finish()
    assert done.status == 0, done.err
    assert told(done) == [f"lost rank {VICTIM}"]
    assert done.results[-1]["score"] == expected


@pytest.mark.parametrize("timeouts", [2, 5])
def test_a_host_has_no_network_for_a_while(job, timeouts, expected):
    """Its worker is lost, and comes back or leaves alone, by how long it has heard nothing."""
    hosts.set_network(hosts.of_rank(VICTIM), False)
    try:
        time.sleep(timeouts * TIMEOUT)
    finally:
        hosts.set_network(hosts.of_rank(VICTIM), True)
    done = job.finish()
    assert done.status == 0, done.err
    assert told(done)[0] == f"lost rank {VICTIM}"
    assert done.results[-1]["score"] == expected
