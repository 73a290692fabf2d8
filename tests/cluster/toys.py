"""A kind of job that needs no game, a source of such jobs, and a clock that only moves when a job is worked on."""

import json
import time
from functools import partial

import numpy as np

from distsearch.cluster.messages import OPEN_RECORD, Message, MessageType, from_records, to_records
from distsearch.cluster.protocols import JobRunner, WorkSource
from distsearch.cluster.worker import Worker

JOB = np.dtype([("job_id", np.int32), ("nodes", np.int64)])
RESULT = np.dtype(
    [("job_id", np.int32), ("complete", np.int8), ("nodes", np.int64), ("seconds", np.float64), ("cpu", np.float64)]
)
SETUP_TEXT = json.dumps({"kind": "toy", "rate": 1e6}).encode()


class Clock:
    """Seconds, as many as were spent, on a machine that may slow down."""

    def __init__(self):
        self.now = 0.0
        self.slowness = 1

    def __call__(self):
        return self.now

    def spend(self, seconds):
        self.now += seconds * self.slowness


class Processor:
    """What stands in for a Clock where work has to take real time."""

    def spend(self, seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass


class Runner(JobRunner):
    """Counts the nodes of a job, so many a second of the clock as the setup says."""

    job_dtype, result_dtype = JOB, RESULT
    nodes = 0

    def __init__(self, clock, compiled, setup):
        """``compiled``: the set of rates compiled for, of the whole process as kernels are."""
        self._clock, self._compiled, self._rate = clock, compiled, setup["rate"]

    def compile(self):
        self._compiled.add(self._rate)

    def begin(self, job):
        assert self._rate in self._compiled
        self._job, self.job_id, self.nodes = job, int(job["job_id"]), 0

    def advance(self, budget):
        step = min(budget, int(self._job["nodes"]) - self.nodes)
        self.nodes += step
        self._clock.spend(step / self._rate)
        return self.nodes == self._job["nodes"]

    def result(self, seconds, cpu):
        record = np.zeros(1, RESULT)
        record[0] = self._job["job_id"], self.nodes == self._job["nodes"], self.nodes, seconds, cpu
        return record


class BatchRunner(Runner):
    """One that does small jobs in one go."""

    batches = True

    def batch(self, jobs, budget):
        records = [np.zeros(0, RESULT)]
        for job in jobs:
            self.begin(job)
            done = self.advance(budget)
            budget -= self.nodes
            if not done:
                break
            records.append(self.result(0.0, 0.0))
        return np.concatenate(records)


class Source(WorkSource):
    """Hands out a job for each of ``sizes`` (in nodes).

    more: sizes of jobs that appear when all before them are in; enough: results after which nothing more is needed.
    """

    result_dtype = RESULT

    def __init__(self, sizes, more=(), enough=None):
        self._sizes, self._waiting, self._more = [], [], list(more)
        self._add(sizes)
        self._enough = enough or len(self._sizes) + len(self._more)
        self._out = {}  # node → worker
        self.taken = []  # (worker, node) in order
        self.results = []  # records in order
        self.finished = []  # nodes whose complete results are in

    def _add(self, sizes):
        self._waiting += range(len(self._sizes), len(self._sizes) + len(sizes))
        self._sizes += sizes

    @property
    def waiting(self):
        return len(self._waiting)

    @property
    def done(self):
        return len(self.finished) >= self._enough

    def take(self, count, worker):
        nodes, self._waiting = self._waiting[:count], self._waiting[count:]
        self.taken += [(worker, node) for node in nodes]
        self._out.update(dict.fromkeys(nodes, worker))
        return jobs_for(nodes, self._sizes)

    def lost(self, worker):
        nodes = [node for node, holder in self._out.items() if holder == worker]
        for node in nodes:
            del self._out[node]
        self._waiting = nodes + self._waiting

    def finish(self, records):
        self.results.extend(records)
        for node in records["job_id"].tolist():
            self._out.pop(node, None)
        self.finished += records["job_id"][records["complete"] != 0].tolist()
        if len(self.results) == len(self._sizes):
            self._add(self._more)
            self._more = []


class Stream(WorkSource):
    """Hands out jobs as they are added; done when it was closed and the results of all are in."""

    result_dtype = RESULT

    def __init__(self):
        self._sizes, self._taken, self._closed = [], 0, False
        self.finished = []  # nodes whose complete results are in

    def add(self, *sizes):
        self._sizes += sizes

    def close(self):
        self._closed = True

    @property
    def waiting(self):
        return len(self._sizes) - self._taken

    @property
    def done(self):
        return self._closed and len(self.finished) == len(self._sizes)

    def take(self, count, worker):
        nodes = range(self._taken, min(self._taken + count, len(self._sizes)))
        self._taken = nodes.stop
        return jobs_for(nodes, self._sizes)

    def lost(self, worker):
        """Only for workers that have no jobs."""

    def finish(self, records):
        self.finished += records["job_id"][records["complete"] != 0].tolist()


def jobs_for(nodes, sizes):
    """The job records of nodes; ``sizes``: nodes by node."""
    jobs = np.zeros(len(nodes), JOB)
    jobs["job_id"], jobs["nodes"] = nodes, [sizes[node] for node in nodes]
    return jobs


def kinds(clock, runner=Runner):
    """What a Worker takes as its kinds of job."""
    return {"toy": partial(runner, clock, set())}


def toy_worker(runner=Runner):
    """Return (Worker, its Clock)."""
    clock = Clock()
    return Worker(kinds(clock, runner), clock, clock), clock


def jobs_of(message):
    """The nodes of a JOBS message."""
    return to_records(message.payload, JOB)["job_id"].tolist()


def results_of(message):
    """The records of a RESULTS message."""
    return to_records(message.payload, RESULT)


def results_payload(nodes, seconds=1.0):
    """The payload of complete results."""
    records = np.zeros(len(nodes), RESULT)
    records["job_id"], records["complete"], records["seconds"] = nodes, 1, seconds
    return from_records(records)


def jobs_payload(*sizes):
    """The payload of jobs of so many nodes, numbered from 0."""
    return from_records(Source(sizes).take(len(sizes), worker=0))


def setup_message(rate, number=1):
    """A SETUP for runners of so many nodes a second."""
    text = json.dumps({"kind": "toy", "rate": rate}).encode()
    return Message(MessageType.SETUP, number, np.frombuffer(text, np.uint8))


def open_message(run, setup=1, client=0, weight=1.0):
    return Message(MessageType.OPEN, run, from_records(np.array([(setup, client, weight, 0)], OPEN_RECORD)))


def jobs_message(run, *sizes):
    return Message(MessageType.JOBS, run, jobs_payload(*sizes))


def work(worker):
    """Work until nothing is left; return all messages."""
    sent = []
    while worker.has_work:
        sent += worker.work()
    return sent


class Sleeper:
    """Time that passes only in sleeps."""

    def __init__(self):
        self.now = 1000.0
        self.sleeps = []

    def sleep(self, seconds):
        self.sleeps.append(seconds)
        self.now += seconds

    def perf_counter(self):
        return self.now
