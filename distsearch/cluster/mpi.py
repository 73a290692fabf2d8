"""The transport between ranks: rank 0 is the master, all others are workers.

Every message is one typed buffer under one tag. Nobody blocks in a receive: ranks look for mail with Iprobe and sleep
in between (see ``waiting``), so that many more ranks than cores stay usable.
"""

import time
from functools import partial

import numpy as np
from mpi4py import MPI

from .master import Begin, Halt, Leave, Master, Received
from .messages import PROGRESS, decode, encode
from .waiting import BackOff, sleep_until
from .worker import Timers, Worker

_MASTER = 0
_TAG = 1


class _Post:
    """Sends and receives messages on a communicator; sends are kept until MPI is done with their buffers."""

    def __init__(self, comm):
        self._comm = comm
        self._status = MPI.Status()
        self._sending = []
        # ``has_mail()``: whether a message is here; called for as long as a rank is idle, so without a frame of Python
        self.has_mail = partial(comm.Iprobe, MPI.ANY_SOURCE, _TAG, self._status)

    def send(self, to, message):
        """Start sending; return the number of bytes."""
        buffer = encode(message)
        self._all_sent()
        self._sending.append((self._comm.Isend([buffer, MPI.BYTE], dest=to, tag=_TAG), buffer))
        return len(buffer)

    def receive(self):
        """Return (sender, Message, bytes) of the next message that is here, or None."""
        if not self.has_mail():
            return None
        buffer = np.empty(self._status.Get_count(MPI.BYTE), np.uint8)
        source = self._status.Get_source()
        self._comm.Recv([buffer, MPI.BYTE], source=source, tag=_TAG)
        return source, decode(buffer), len(buffer)

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


class MpiCluster:
    """The master's side: runs sources of work on the workers of a communicator (rank 0 of two or more)."""

    def __init__(self, comm):
        self.comm = comm
        self.ranks = comm.Get_size()
        self.workers = self.ranks - 1
        hosts = comm.gather(MPI.Get_processor_name(), root=_MASTER)
        self._master = Master(dict(enumerate(hosts[1:], 1)))
        self._post = _Post(comm)
        self._closed = False

    clock = staticmethod(time.perf_counter)

    def run(self, setup, source, watch, prefetch=2):
        """Have ``source`` done; ``watch(state)`` is called every few milliseconds and returns True to stop early.

        Returns the workers' METRICS_RECORDs by rank.
        """
        self._send(self._master.handle(Begin(setup, source, prefetch)))
        halted, pause = False, BackOff()
        while self._master.running:
            arrived = self._post.has_mail()
            if arrived:
                sender, message, _ = self._post.receive()
                self._send(self._master.handle(Received(sender, message)))
                if message.type != PROGRESS:  # which each worker sends once a second, and nobody waits for
                    pause.reset()
            if not halted and watch(self._master.state):
                halted = True
                self._send(self._master.handle(Halt()))
            elif not arrived:
                pause.sleep()
        return self._master.metrics

    def _send(self, messages):
        for outgoing in messages:
            self._post.send(outgoing.to, outgoing.message)

    def close(self):
        """Let the workers go, and wait until they have gone; more than once does no more."""
        if self._closed:
            return
        self._closed = True
        self._send(self._master.handle(Leave()))
        self._post.flush()
        wait_for_all(self.comm)


def work_for_master(comm, kinds):
    """The worker's side: take jobs from rank 0 until it says to leave.

    One reading of the clock ends a time and begins the next one: where ranks share a core, a rank that loses it between
    two readings would miss many milliseconds.
    """
    comm.gather(MPI.Get_processor_name(), root=_MASTER)
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
            sleep_until(post.has_mail)
            now = time.perf_counter()
            worker.timers.idle += now - began
    post.flush()
    wait_for_all(comm)


def _count(timers: Timers, size, messages):
    timers.bytes += size
    timers.messages += messages
