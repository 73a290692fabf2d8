"""A master that is spoken to by hand, and how to read what it says."""

import numpy as np

from distsearch.cluster.events import Begin, Halt, Lost, More, Received
from distsearch.cluster.master import Master
from distsearch.cluster.messages import METRICS_RECORD, Message, MessageType, from_records

from .toys import SETUP_TEXT, jobs_of, results_payload

TWO_HOSTS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "a"}


class Talk:
    """One master; messages belong to the run begun last, unless they say whose they are."""

    def __init__(self, hosts, **how):
        self.master = Master(hosts, **how)
        self._hosts = hosts
        self.run = 0

    def begin(self, source, setup=SETUP_TEXT, **how):
        self.run += 1
        return self.master.handle(Begin(self.run, setup, source, **how))

    def more(self, run=None):
        return self.master.handle(More(run or self.run))

    def halt(self, run=None):
        return self.master.handle(Halt(run or self.run))

    def say(self, worker, kind, payload=None, run=None):
        """A message from a worker; returns what the master sends."""
        message = Message(kind, run or self.run) if payload is None else Message(kind, run or self.run, payload)
        return self.master.handle(Received(worker, message))

    def answer(self, worker, nodes, seconds=1.0, run=None):
        return self.say(worker, MessageType.RESULTS, results_payload(nodes, seconds), run)

    def progress(self, worker, nodes, run=None):
        return self.say(worker, MessageType.NODE_COUNT, from_records(np.array([nodes], np.int64)), run)

    def ready(self, worker, setup=1):
        """A worker is ready for the so manieth setup."""
        return self.say(worker, MessageType.READY, run=setup)

    def lose(self, worker):
        return self.master.handle(Lost(worker))

    def restarted(self, worker, epoch=1):
        """Answer the RESET of that epoch for a lost worker, which has forgotten its runs."""
        return self.say(worker, MessageType.RESET_DONE, run=epoch)

    def all_ready(self, setup=1):
        """Let all workers be ready; return what the master sends at last."""
        sent = []
        for worker in self._hosts:
            sent = self.ready(worker, setup)
        return sent

    def stopped(self, workers, run=None):
        """Answer for workers that were told to stop; return what the master sends at last."""
        sent = []
        for worker in workers:
            sent = self.say(worker, MessageType.STOPPED, run=run)
        return sent

    def metrics(self, run=None):
        """Send everybody's metrics, whose wall time is their rank; the run is over with the last of them."""
        for worker in self._hosts:
            assert self.master.is_open(run or self.run)
            assert self.say(worker, MessageType.METRICS, metrics_payload(wall=worker), run) == []
        assert not self.master.is_open(run or self.run)

    @property
    def is_open(self):
        return self.master.is_open(self.run)

    @property
    def state(self):
        return self.master.state(self.run)


def workers(count):
    return dict.fromkeys(range(1, count + 1), "here")


def started(count, source, **how):
    """Return (Talk, first messages) of a measured run: one that begins when all workers are ready."""
    talk = Talk(workers(count))
    talk.begin(source, measured=True, **how)
    return talk, talk.all_ready()


def summary(sent):
    """(type, receiver) of messages."""
    return [(outgoing.message.type, outgoing.to) for outgoing in sent]


def jobs(sent):
    """(receiver, nodes) of the JOBS messages among others."""
    return [(outgoing.to, jobs_of(outgoing.message)) for outgoing in sent if outgoing.message.type == MessageType.JOBS]


def runs(sent):
    """The runs that messages belong to."""
    return {outgoing.message.run for outgoing in sent}


def metrics_payload(**fields):
    record = np.zeros(1, METRICS_RECORD)
    for name, value in fields.items():
        record[name] = value
    return from_records(record)
