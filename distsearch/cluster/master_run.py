"""An open run of a master."""

from typing import NamedTuple

import numpy as np

from .copies import Copies
from .events import Begin
from .messages import Message, MessageType, from_records

_LARGEST_BATCH = 1024  # jobs in a message


class State(NamedTuple):
    """Whether a run has started, and the node count of unfinished jobs as reported last."""

    started: bool
    nodes_at_work: int


class MasterRun:
    """A run that is not over; begin: its ``events.Begin``; setup: the number of its setup."""

    def __init__(self, begin: Begin, setup: int):
        self.number, self.setup, self.source, self.prefetch = begin.run, setup, begin.source, begin.prefetch
        self.joint, self.by_host = begin.source.joint, begin.source.by_host
        self.offload_requests = {}  # rank → its latest OFFLOAD_REQUEST
        self.copies: Copies | None = None  # of jobs, where several hosts may search one
        self.batch_seconds, self.most_batches = begin.batch, begin.prefetch * begin.ahead
        self.many_ahead = begin.ahead > 1
        self.client, self.weight, self.measured = begin.client, begin.weight, begin.measured
        self.shared = begin.shared
        self.start = Message(
            MessageType.START, begin.run, from_records(np.array([begin.traced][: begin.traced], np.int64))
        )
        self.traces = {}  # rank → EVENTs of its timeline
        self.state = State(False, 0)  # kept up to date, since callers look at it more often than it changes
        self.out = {}  # rank → jobs sent and not answered, of the workers that know the run
        self.without = set()  # ranks of the workers that are ready for it and have no job of it
        self.nodes = {}  # rank → nodes of its job at work, as reported last
        self.stopping = set()  # ranks that were told to stop
        self.halted = False
        self.metrics = {}  # rank → its latest METRICS_RECORD
        self.awaited = {}  # rank → METRICS that were requested and have not come
        self.ending = False  # the last METRICS are requested
        self.awaiting_progress = set()  # ranks of which PROGRESS was requested and has not come
        self.progress = {}  # rank → its latest payload of PROGRESS, of jobs that are still out
        self.work_wanted = True  # a worker got no job
        self.passed_over = False  # one got none although some waited
        self.jobs, self.seconds = 0, 0.0  # of the results so far
        self.paces = {}  # rank → [jobs, seconds] of those with many slots

    def __repr__(self):
        jobs = {rank: jobs for rank, jobs in self.out.items() if jobs}
        return f"<MasterRun {self.number}: {self.state}, jobs out {jobs}, waiting {self.source.waiting}>"

    @property
    def over(self) -> bool:
        return self.halted or self.source.done

    def batch(self, most: int) -> int:
        """Return how many jobs make a message: one, or at most ``most``."""
        if most < 2:
            return 1
        mean = self.seconds / self.jobs if self.jobs else self.batch_seconds
        return max(1, min(int(self.batch_seconds / max(mean, 1e-9)), _LARGEST_BATCH, most))

    @property
    def jobs_are_long(self) -> bool:
        """Whether a job makes a batch, as far as is known."""
        return self.jobs > 0 and self.seconds > self.jobs * self.batch_seconds

    def count(self, rank: int, nodes: int) -> None:
        """Note the node count of a worker's job at work."""
        change = nodes - self.nodes.get(rank, 0)
        if change:
            self.state = State(self.state.started, self.state.nodes_at_work + change)
            self.nodes[rank] = nodes

    def lose(self, rank: int) -> None:
        """Expect nothing more from a worker, and give its jobs back to the source."""
        self.count(rank, 0)
        for by_rank in (self.out, self.nodes, self.metrics, self.progress, self.offload_requests):
            by_rank.pop(rank, None)
        for ranks in (self.without, self.stopping, self.awaiting_progress):
            ranks.discard(rank)
        self.expect_nothing(rank)
        self.source.lost(rank)

    def expect_nothing(self, rank: int) -> None:
        """Leave a worker's copies of jobs to the other owners; take in the answers of jobs that have no other owner."""
        if not self.copies:
            return
        finished, kept = self.copies.lost(rank)
        for node, other in kept:
            self.source.moved(node, other)
        for results in finished:
            self.source.finish(results)
