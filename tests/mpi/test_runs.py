"""Runs over MPI whose results are too large to be sent before they are received."""

import json
import select

import numpy as np
import pytest

from distsearch.cluster.protocols import JobRunner, WorkSource

JOB = np.dtype([("job_id", np.int32)])
LARGE = np.dtype([("job_id", np.int32), ("seconds", np.float64), ("more", np.uint8, 1000)])
SETUP = json.dumps({"kind": "large"}).encode()

pytestmark = pytest.mark.mpi(min_size=2)


class Runner(JobRunner):
    """Does nothing, and says it at length."""

    job_dtype, result_dtype, nodes = JOB, LARGE, 0

    def __init__(self, setup):
        self._record = np.zeros(1, LARGE)

    def begin(self, job):
        self._record["job_id"] = job["job_id"]

    def advance(self, budget):
        return True

    def result(self, seconds, cpu):
        return self._record.copy()


class Endless(WorkSource):
    """A source that is never done."""

    result_dtype, waiting, done = LARGE, 10**6, False

    def __init__(self):
        self.finished = 0

    def take(self, count, worker):
        return np.zeros(count, JOB)

    def finish(self, results):
        self.finished += len(results)

    def lost(self, worker):
        """Its jobs are all alike."""


def lead(comm, body, guarded=False):
    """Rank 0 calls ``body(cluster)`` and closes the cluster; the others work for it."""
    from distsearch.cluster.mpi import MpiCluster, work_for_master  # which starts MPI

    if comm.Get_rank():
        work_for_master(comm, {"large": Runner}, guarded=guarded)
        return
    cluster = MpiCluster(comm, guarded=guarded)
    body(cluster)
    cluster.close()
    cluster.close()


@pytest.mark.parametrize("guarded", [False, True])
def test_workers_of_a_service_wake_their_master(guarded, comm, agree):
    found = {}

    def body(cluster):
        descriptor, source = cluster.descriptor, Endless()
        cluster.begin(SETUP, source)
        if descriptor is not None:
            found["woken"] = bool(select.select([descriptor], [], [], 60)[0])
            cluster.awoken()
        while source.finished < 1000:
            cluster.turn()

    lead(comm, body, guarded)
    agree(comm.Get_rank() > 0 or found == ({"woken": True} if guarded else {}), found)


def test_workers_are_let_go_in_the_middle_of_many_runs(comm, agree):
    sources = [Endless() for _ in range(8)]

    def body(cluster):
        for client, source in enumerate(sources):
            cluster.begin(SETUP, source, prefetch=4, client=client % 3)
        while sum(source.finished for source in sources) < 20_000:
            cluster.turn()

    lead(comm, body)
    agree(True)


def test_runs_that_are_halted_end_while_others_go_on(comm, agree):
    found = {}

    def body(cluster):
        first, second = Endless(), Endless()
        runs = [cluster.begin(SETUP, source, client=client) for client, source in enumerate((first, second))]
        while min(first.finished, second.finished) < 2000:
            cluster.turn()
        cluster.halt(runs[0])
        while cluster.is_open(runs[0]):
            cluster.turn()
        before, then = first.finished, second.finished
        while second.finished < then + 2000:
            cluster.turn()
        found.update(ended=not cluster.is_open(runs[0]), open=cluster.is_open(runs[1]), late=first.finished - before)

    lead(comm, body)
    agree(comm.Get_rank() > 0 or found == {"ended": True, "open": True, "late": 0}, found)
