"""A cluster of which only the load is known: its timers run as a test says."""

import numpy as np

from distsearch.cluster.messages import METRICS_RECORD, NO_RUN, Message, MessageType, from_records
from distsearch.cluster.samples import Samples


class FakeCluster:
    """Rank 0 and so many workers on host ``here``; ``work`` has a worker's timers go on, ``silent`` do not answer."""

    pause = 0.001
    host = "here"

    def __init__(self, workers=2, submasters=0):
        self.ranks, self.submasters = workers + submasters + 1, submasters
        self.hosts = dict.fromkeys(range(1, self.ranks), "there")
        self.samples, self.asked, self.now, self.master_seconds = Samples(), 0, 0.0, 0.0
        self.absent, self.preparing, self.silent = set(), set(), set()
        self._records = {rank: np.zeros(1, METRICS_RECORD) for rank in self.hosts}

    def clock(self):
        return self.now

    def work(self, rank, **more):
        """Add to a worker's figures; table_full, at_work, queued and slots are set instead."""
        for name, value in more.items():
            record = self._records[rank]
            record[name] = value + (0 if name in ("table_full", "at_work", "queued", "slots") else record[name])

    def restart(self, rank):
        """A worker's timers begin anew."""
        self._records[rank][:] = 0

    def sample(self):
        self.asked += 1
        for outgoing in self.samples.request(self.hosts.keys() - self.absent):
            if outgoing.to not in self.silent:
                self.answer(outgoing.to)

    def answer(self, rank):
        self.samples.take_in(rank, Message(MessageType.METRICS, NO_RUN, from_records(self._records[rank].copy())))
