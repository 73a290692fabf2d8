"""The transport between ranks: rank 0 is the master, all others are workers.

Every message is one typed buffer under one tag. Nobody blocks in a receive: ranks look for mail with Iprobe and sleep
in between (see ``waiting``), so that many more ranks than cores stay usable.
"""

import time
from collections import deque
from functools import partial

import numpy as np
from mpi4py import MPI

from .bell import Bell
from .master import Master, Received
from .messages import PROGRESS, decode, encode
from .runs import Cluster
from .waiting import sleep_until
from .worker import Timers, Worker

_MASTER = 0
_TAG = 1
_SMALL = 4096  # bytes; such a message has come as a whole when any of it has, with the usual settings of either MPI


class _Post:
    """Sends and receives messages on a communicator without waiting for the other side.

    What is on its way is kept with its buffer until MPI is done with it. A large message often travels in pieces, each
    when its sender looks at its mail: waiting for one kept a master from its other workers for 0.7 ms.
    """

    def __init__(self, comm):
        self._comm = comm
        self._status = MPI.Status()
        self._sending = []
        self._arriving = deque()  # (source, request, buffer), in the order in which they were sent
        # ``_probe()``: whether a message is here; called for as long as a rank is idle, so without a frame of Python.
        # MPICH sees what came while a rank slept in the second call only, so whoever would sleep on asks twice: that
        # takes 2 of 5 ms off an easy request.
        self._probe = partial(comm.Iprobe, MPI.ANY_SOURCE, _TAG, self._status)

    def send(self, to, message):
        """Start sending; return the number of bytes."""
        buffer = encode(message)
        self._all_sent()
        self._sending.append((self._comm.Isend([buffer, MPI.BYTE], dest=to, tag=_TAG), buffer))
        return len(buffer)

    @property
    def has_mail(self):
        """A function that says whether it is time to ``receive``."""
        return self._on_the_way if self._arriving else self._probe

    def _on_the_way(self):
        return self._probe() or any(request.Get_status() for _, request, _ in self._arriving)

    def receive(self):
        """Return (sender, Message, bytes) of the next message that is here as a whole, or None."""
        if self._arriving and (arrived := self._arrived()):
            return arrived
        if not (self._probe() or self._probe()):
            return None
        buffer = np.empty(self._status.Get_count(MPI.BYTE), np.uint8)
        source = self._status.Get_source()
        if len(buffer) <= _SMALL and all(source != sender for sender, _, _ in self._arriving):
            self._comm.Recv([buffer, MPI.BYTE], source=source, tag=_TAG)
            return source, decode(buffer), len(buffer)
        matched = self._comm.Improbe(source, _TAG)
        self._arriving.append((source, matched.Irecv([buffer, MPI.BYTE]), buffer))
        return self._arrived()

    def _arrived(self):
        """Return the first message that has come as a whole, after those that its sender sent before, or None."""
        before = set()
        for i, (source, request, buffer) in enumerate(self._arriving):
            if source not in before and request.Test():
                del self._arriving[i]
                return source, decode(buffer), len(buffer)
            before.add(source)
        return None

    def flush(self):
        """Wait, without spinning, until every message has left."""
        sleep_until(self._all_sent)

    def _all_sent(self):
        """Forget the messages that have left; return whether all have."""
        self._sending = [(request, kept) for request, kept in self._sending if not request.Test()]
        return not self._sending


def wait_for_all(comm):
    """A barrier that sleeps."""
    sleep_until(comm.Ibarrier().Test)


class MpiCluster(Cluster):
    """The master's side: runs sources of work on the workers of a communicator (rank 0 of two or more)."""

    def __init__(self, comm):
        super().__init__()
        self.comm = comm
        self.ranks = comm.Get_size()
        self.workers = self.ranks - 1
        self._bell = Bell()
        ranks = comm.gather((MPI.Get_processor_name(), b""), root=_MASTER)
        here, _ = ranks[0]
        self._master = Master({rank: host for rank, (host, _) in enumerate(ranks[1:], 1)})
        self._bells = {rank: name for rank, (host, name) in enumerate(ranks) if host == here and name}
        self._post = _Post(comm)
        self._closed = False

    def turn(self):
        """Take in one message, if one is here; return whether there was any."""
        arrived = self._post.receive()
        if arrived is None:
            return False
        sender, message, _ = arrived
        self._act(Received(sender, message))
        if message.type != PROGRESS:  # which each worker sends once a second, and nobody waits for
            self._rest.reset()
        return True

    def _act(self, event):
        called = set()
        for outgoing in self._master.handle(event):
            self._post.send(outgoing.to, outgoing.message)
            called.add(outgoing.to)
        for rank in called & self._bells.keys():
            self._bell.ring(self._bells[rank])

    def close(self):
        if self._closed:
            return
        self._closed = True
        super().close()
        self._post.flush()
        gone = self.comm.Ibarrier()
        # workers leave when their messages have left, and a large one leaves when somebody takes it
        sleep_until(lambda: self._post.receive() is None and gone.Test())
        self._bell.close()


def work_for_master(comm, kinds):
    """The worker's side: take jobs from rank 0 until it says to leave.

    One reading of the clock ends a time and begins the next one: where ranks share a core, a rank that loses it between
    two readings would miss many milliseconds.
    """
    bell = Bell()
    comm.gather((MPI.Get_processor_name(), bell.name), root=_MASTER)
    worker, post = Worker(kinds), _Post(comm)
    now = time.perf_counter()
    while not worker.left:
        began = now
        arrived = post.receive()
        if arrived:
            _, message, size = arrived
            now = time.perf_counter()
            worker.timers.communication += now - began  # before END is handled, which reports it
            answers, began = worker.handle(message), now
            _count(worker.timers, size, 1)
            for answer in answers:
                _count(worker.timers, post.send(_MASTER, answer), 1)
            now = time.perf_counter()
            worker.timers.communication += now - max(began, worker.timers.started)
        elif worker.has_work:
            for answer in worker.work():
                _count(worker.timers, post.send(_MASTER, answer), 1)
            now = time.perf_counter()
            work_began, work_ended = worker.slice
            worker.timers.communication += work_began - began + now - work_ended
        else:
            sleep_until(post.has_mail, bell.nap)
            now = time.perf_counter()
            worker.timers.idle += now - began
    post.flush()
    wait_for_all(comm)
    bell.close()


def _count(timers: Timers, size, messages):
    timers.bytes += size
    timers.messages += messages
