"""The setups and runs of a worker."""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from . import messages
from .exchange import Exchange
from .joint import MOST_BYTES, Open
from .messages import Message, MessageType, from_records, to_records
from .protocols import Runner
from .time_splitter import TimeSplitter

_LONGEST = 1e9  # seconds, 30 years, that a job can have taken
_SPARE = 4  # runners of a setup that are kept for the next runs: each has a table of a mebibyte
FIRST_BUDGET = 1000  # nodes of a slice, before the rate is known
_FASTEST_GROWTH = 8  # a budget grows at most so many times from one slice to the next


def next_budget(budget: int, nodes: int, cpu: float, length: float) -> int:
    """Return the nodes of the next slice, which is to last about ``length`` CPU seconds.

    nodes, cpu: what the last one took, CPU seconds, with a budget of so many nodes.
    """
    if nodes < budget and cpu <= length:  # too short to tell the rate
        return budget
    return int(min(max(nodes / max(cpu, 1e-6) * length, 100), budget * _FASTEST_GROWTH))


class Setup:
    """Makes runners of one kind; a run that has a job at work has one to itself.

    failure: why there can be none, "" if there can; see ``Worker``.
    """

    slots, can_join, spans_hosts = 1, False, False
    failure = ""
    _any: Any = None

    def __init__(self, make: Callable[[dict], Any], text: bytes):
        self._make, self._setup = make, json.loads(text)
        self.key = int.from_bytes(hashlib.sha256(text).digest()[:7])  # the same on all ranks
        self._free = []

    def __repr__(self):
        return f"<Setup {self._setup}>"

    def take(self, run: "WorkerRun") -> Any:
        """Return a runner for a run."""
        runner = self._free.pop() if self._free else self._make(self._setup)
        runner.open(run.number)
        return runner

    def guest(self, job: Open, addresses: tuple[int, int]) -> Any:
        """Return a runner that has begun an ``Open`` job of another rank; addresses: as ``Joint.join`` returns them."""
        runner = self._free.pop() if self._free else self._make(self._setup)
        runner.join(job.run, to_records(job.record, self.job_dtype)[0], job.sequence, *addresses)
        return runner

    def give_back(self, runner: Runner) -> None:
        """Keep a runner for the next run, if there is room."""
        if len(self._free) < _SPARE:
            self._free.append(runner)

    def compile(self) -> None:
        """Compile what runners need, and take over what all of them have in common."""
        runner = self._make(self._setup)
        runner.compile()
        if runner.failed:  # from now on others are made
            runner = self._make(self._setup)
            runner.compile()
        self.job_dtype, self.unsearched = runner.job_dtype, runner.unsearched
        self.slots, self.spans_hosts = runner.slots, runner.spans_hosts
        self.can_join = runner.can_join and self.job_dtype.itemsize <= MOST_BYTES
        self._free = [runner]
        self._any = runner

    @property
    def table_full(self) -> float:
        """The share of the table that is used, 0 to 1; 0 where there is none."""
        return self._any.table_full if self._any else 0.0


class WorkerRun:
    """A worker's part of a run."""

    def __init__(self, number: int, setup: Setup, client: int, weight: float, joint: bool):
        self.number, self.setup, self.client, self.weight = number, setup, client, weight
        self.joint = joint and setup.can_join  # other ranks may join its jobs
        self.was_joined = False  # other ranks had joined the job done last: they can join the next at once
        self.joined = 0, 0.0  # nodes and CPU seconds that those spent on the job at work until it was closed last
        self.exchange: Exchange | None = None  # the Exchange with other hosts that search one of its jobs as well
        self.queue = deque()  # arrays of job records
        self.progress = {}  # job id → the progress of a queued job
        self.runner: Any = None  # while a job is at work: a run that waits for its turn holds none
        # (began, CPU seconds so far) of the job at work, or of the first of a batch runner's
        self.job: tuple[float, float] | None = None
        self.record: Any = None  # the job itself, where it was begun alone
        self.time_splitter: TimeSplitter | None = None  # of a batch runner's jobs, which are at work together
        self.results = []  # arrays of records that have not been sent
        self.split_requests = {}  # job id → (id of its remainder, the least depth left of the subtree)
        self.offloads = None  # (how many, the most depth left) of parts to offload, where that is requested
        self.reported = 0.0
        self.budget = FIRST_BUDGET  # nodes of a slice

    def __repr__(self):
        return f"<Run {self.number}: at work {self.at_work}, queued {self.queued}, split {self.split_requests}>"

    @property
    def at_work(self) -> int:
        """How many jobs are at work."""
        return self.runner.at_work if self.time_splitter and self.runner else int(self.job is not None)

    @property
    def queued(self) -> int:
        """How many jobs wait."""
        return sum(map(len, self.queue))

    @property
    def resumes(self) -> bool:
        """Whether the next job was begun by an earlier run."""
        return bool(self.progress) and int(self.queue[0]["job_id"][0]) in self.progress

    @property
    def has_work(self) -> bool:
        """Whether a job is at work or queued."""
        return self.job is not None or bool(self.queue)

    def update_queued(self, job_id: int, low: int, high: int) -> bool:
        """Narrow the window of a job that waits, or drop the job if the window is empty; return whether it is there."""
        for i, jobs in enumerate(self.queue):
            at = np.flatnonzero(jobs["job_id"] == job_id)
            if not len(at):
                continue
            if low < high:
                jobs["low"][at], jobs["high"][at] = low, high
            else:
                self.results.append(self.setup.unsearched(jobs[at]))
                self.progress.pop(job_id, None)
                self.split_requests.pop(job_id, None)
                self.end_exchange_of((job_id,))
                if len(jobs) > 1:
                    self.queue[i] = np.delete(jobs, at)
                else:
                    del self.queue[i]
            return True
        return False

    def take_next(self) -> None:
        """Take the first job off the queue: it is the ``record``."""
        jobs = self.queue.popleft()
        if len(jobs) > 1:
            self.queue.appendleft(jobs[1:])
        self.record = jobs[0]

    def begin(self, now: float) -> tuple[float, float]:
        """Begin the job that was taken, or go on with it where an earlier run was saved; return the new ``job``."""
        job = self.record
        progress, self.reported = self.progress.pop(int(job["job_id"]), None), now
        if progress is None:
            self.runner.begin(job)
            return now, 0.0
        size = messages.PROGRESS_RECORD.itemsize
        self.runner.restore(job, progress[size:].tobytes())
        seconds = cpu = 0.0
        if len(progress) >= size:
            record = to_records(progress[:size], messages.PROGRESS_RECORD)[0]
            seconds, cpu = float(record["seconds"]), float(record["cpu"])
        if not (0 <= seconds < _LONGEST and 0 <= cpu < _LONGEST):  # of a damaged checkpoint
            seconds = cpu = 0.0
        return now - seconds, cpu

    def take_results(self) -> list[Message]:
        """Return the Messages with the results that have not been sent."""
        if not self.results:
            return []
        records = np.concatenate(self.results) if len(self.results) > 1 else self.results[0]
        self.results.clear()
        most = max(1, messages.LARGEST // records.itemsize)
        parts = (records[i : i + most] for i in range(0, len(records), most))
        return [Message(MessageType.RESULTS, self.number, from_records(each)) for each in parts]

    def begin_exchange(self, job_id: int, host: int, ranks: Sequence[int], now: float) -> None:
        """Search a job together with these ranks of other hosts, or alone on this host if there are none.

        Each rank does a search that ranks cannot share by itself.
        """
        self.end_exchange()
        if len(ranks) < 2 or not self.setup.can_join:  # a batch runner has many jobs at once
            return
        known = self.job is not None and self.runner.job_id == job_id
        if known or any(job_id in jobs["job_id"] for jobs in self.queue):
            self.exchange = Exchange(self.number, job_id, host, ranks, now)

    def end_exchange(self) -> None:
        """Search its jobs on this host alone from now on."""
        if self.exchange and self.runner:
            self.exchange.end(self.runner)
        self.exchange = None

    def end_exchange_of(self, job_ids: Collection[int]) -> None:
        """Search on this host alone from now on if the job that other hosts search as well is one of these."""
        if self.exchange and self.exchange.job_id in job_ids:
            self.end_exchange()

    @property
    def exchanges(self) -> bool:
        """Whether the job at work is searched together with other hosts."""
        if self.exchange is None or self.job is None or self.runner.job_id != self.exchange.job_id:
            return False
        return self.runner.can_be_shared
