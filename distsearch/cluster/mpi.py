"""The transport between ranks: rank 0 is the master, all others are workers.

With a ``deadline``, or with an MPI that tells of failures (see ``launch.tells_of_failures``), the search goes on
without workers that have died. MPI tells within a second. Without its help a worker is lost that has not been heard
from for so many seconds, though it was asked whether it is there; it may be only slow, and come back. That a process of
the same host has died is known at once, for its bell is gone.
"""

import math
import time

from mpi4py import MPI

from ..errors import RanksLostError
from . import launch
from .alive import Alive
from .bell import Bell
from .master import Lost, Master, Received
from .messages import PING, PONG, PROGRESS, QUIT, STEER, Message
from .post import Post
from .runs import Cluster
from .waiting import sleep_until
from .worker import Timers, Worker

_MASTER = 0
_GLANCE = 0.05  # seconds between two looks at who is lost
_PARTING = 10.0  # seconds to wait for ranks that are to leave, where there is no deadline
_MASTERS = 3  # deadlines that a master may be silent for: it is at one thing at a time
_BEGINNING = 120.0  # seconds that it may take until it says its first word


class _Failures:
    """The ranks of a communicator that have died, as far as MPI tells."""

    def __init__(self, comm):
        self._comm, self._group = comm, comm.Get_group()

    def ranks(self):
        """Return them all, and have MPI receive from any of the others again."""
        failed = self._comm.Get_failed()
        if not failed.Get_size():
            return set()
        self._comm.Ack_failed()
        return set(failed.Translate_ranks(None, self._group))


def _tells_of_a_failure(error):
    return error.Get_error_class() in (MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING)


class MpiCluster(Cluster):
    """The master's side: runs sources of work on the workers of a communicator (rank 0 of two or more).

    deadline: seconds after which a silent worker is lost, or None; say(text): where to say that one is.
    """

    def __init__(self, comm, deadline=None, say=lambda text: None):
        super().__init__()
        self.comm, self._say = comm, say
        self.ranks = comm.Get_size()
        self.workers = self.ranks - 1
        self._bell = Bell()
        self._survives = _begin(comm, deadline)
        ranks = comm.gather((MPI.Get_processor_name(), b""), root=_MASTER)
        here, _ = ranks[0]
        comm.bcast((here, self._bell.name), root=_MASTER)
        launch.begun()
        self._hosts = {rank: host for rank, (host, _) in enumerate(ranks[1:], 1)}
        self._master = Master(self._hosts)
        self._bells = {rank: name for rank, (host, name) in enumerate(ranks) if host == here and name}
        self._post = Post(comm, survives=self._survives)
        self._failures = _Failures(comm) if launch.tells_of_failures() else None
        self._alive = Alive(deadline, self._hosts, time.monotonic()) if deadline else None
        self._glance, self._parting = min(_GLANCE, (deadline or 1.0) / 20), deadline or _PARTING
        self._watched = {rank for rank, name in self._bells.items() if deadline and self._bell.hangs(name)}
        # Who does not answer is asked once: MPICH keeps what nobody takes in one of 64 places, and without any of them
        # the master could write to nobody.
        self._asked = set()
        self._gone, self._looked, self._closed = set(), 0.0, False

    @property
    def master_seconds(self):
        return time.process_time()

    def turn(self):
        """Take in one message, if one is here; return whether there was any."""
        if self._survives and time.monotonic() - self._looked >= self._glance:
            self._look_for_the_lost()
        arrived = self._receive()
        if arrived is None:
            return False
        sender, message, _ = arrived
        if self._alive:
            self._alive.heard(sender, time.monotonic())
            self._asked.discard(sender)
            if message.type == PING:
                self._post.send(sender, Message(PONG, 0))
        self._act(Received(sender, message), sender)
        if message.type != PROGRESS:  # which each worker sends once a second, and nobody waits for
            self._rest.reset()
        return True

    def _receive(self):
        try:
            return self._post.receive()
        except MPI.Exception as error:
            if self._failures is None or not _tells_of_a_failure(error):
                raise
            self._look_for_the_lost()
            return None

    def _act(self, event, awake=_MASTER):
        """Have the master take an event in; awake: who has written just now, and has not gone to sleep yet."""
        called = set()
        for rank, message in self._master.handle(event):
            self._post.send(rank, message)
            if rank != awake and message.type != STEER:  # who is asleep has nothing to be steered
                called.add(rank)
        for rank in called & self._bells.keys() if called else ():
            self._bell.ring(self._bells[rank])

    def _look_for_the_lost(self):
        """Go on without workers that have died since, and ask those that are silent whether they are there."""
        now = self._looked = time.monotonic()
        if self._failures:
            self._post.failed |= self._failures.ranks()
        lost = set()
        if self._alive:
            self._welcome(now)
            lost.update(self._alive.silent(now, self._master.preparing))
            self._post.failed.update(rank for rank in self._watched if not self._bell.hangs(self._bells[rank]))
            for rank in set(self._alive.due(now)) - self._asked:
                self._asked.add(rank)
                self._post.send(rank, Message(PING, 0))
        for rank in sorted((lost | self._post.failed) - self._gone):
            self._lose(rank)

    def _lose(self, rank):
        self._gone.add(rank)
        self._say(f"distsearch: lost rank {rank} (host {self._hosts[rank]}): its work goes to the others")
        if self._alive:
            self._alive.lost(rank)
        self._act(Lost(rank))

    def _welcome(self, now):
        """Expect to hear from workers again that were taken for lost and have begun anew."""
        for rank in self._gone - self._master.absent:
            self._gone.discard(rank)
            self._say(f"distsearch: rank {rank} (host {self._hosts[rank]}) is back")
            self._alive.back(rank, now)

    def close(self):
        if self._closed:
            return
        self._closed = True
        super().close()
        if self.lost:
            launch.forgo_finalize()
            self._part()
        elif not _meet(self.comm, self._post, self._parting, self._survives):
            launch.forgo_finalize()
        self._bell.close()

    def _part(self):
        """Let the workers that are left say that they leave: MPI would wait at its end for those that are lost."""
        end, staying = time.monotonic() + self._parting, self._hosts.keys() - self._gone

        def alone():
            while arrived := self._receive():
                sender, message, _ = arrived
                if message.type == QUIT:
                    staying.discard(sender)
            staying.difference_update(self._post.failed)
            return not staying or time.monotonic() > end

        sleep_until(alone)


def _begin(comm, deadline):
    """Get ready to go on without some of the ranks, if that is wanted; return whether it is. All ranks are here."""
    if deadline is None and not launch.tells_of_failures():
        return False
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    if launch.tells_of_failures():
        launch.forgo_finalize()  # with ULFM it may wait for ever for a rank that dies meanwhile
    else:
        comm.Barrier()
        launch.unlink_shared_memory()
    return True


def _meet(comm, post, seconds, survives):
    """Wait, without spinning, for all ranks to come here; return whether they did: not, where one of them died."""
    end = time.monotonic() + seconds if survives else math.inf

    def late():
        return time.monotonic() > end

    try:
        sleep_until(lambda: post.all_sent() or late())
        gone = comm.Ibarrier()
        # workers leave when their messages have left, and a large one leaves when somebody takes it
        sleep_until(lambda: post.receive() is None and gone.Test() or late())
    except MPI.Exception as error:
        if not (survives and _tells_of_a_failure(error)):
            raise
        return False
    return not late()


class _Guard:
    """Knows on a worker, where there is a deadline, whether the master is still there; bell: its, on the same host."""

    def __init__(self, deadline, bell):
        self._deadline, self._next = deadline, 0.0
        self._bell = bell if bell and Bell.hangs(bell) else None
        self._alive = Alive(_BEGINNING, [_MASTER], time.monotonic())
        self._begun = False

    def heard(self):
        """A message has come."""
        now = time.monotonic()
        if not self._begun:
            self._begun, self._alive = True, Alive(_MASTERS * self._deadline, [_MASTER], now)
        self._alive.heard(_MASTER, now)

    def due(self):
        """Whether it is time to ``look``."""
        return time.monotonic() >= self._next

    def look(self):
        """Return whether to ask the master if it is there; raises RanksLostError if it does not answer."""
        now = time.monotonic()
        self._next = now + self._deadline / 4
        if self._alive.silent(now) or self._bell and not Bell.hangs(self._bell):
            raise RanksLostError("rank 0 is lost")
        return bool(self._alive.due(now))


def work_for_master(comm, kinds, deadline=None):
    """The worker's side: take jobs from rank 0 until it says to leave. Raises RanksLostError if rank 0 is lost."""
    bell = Bell()
    survives = _begin(comm, deadline)
    host = MPI.Get_processor_name()
    comm.gather((host, bell.name), root=_MASTER)
    there, name = comm.bcast(None, root=_MASTER)
    launch.begun()
    worker, post = Worker(kinds), Post(comm, _MASTER)
    try:
        _work(worker, post, bell, _Guard(deadline, name if there == host else b"") if deadline else None)
        _leave(comm, worker, post, deadline or _PARTING, survives)
    except MPI.Exception as error:
        if not (survives and _tells_of_a_failure(error)):
            raise
        raise RanksLostError("rank 0 is lost") from None
    bell.close()


def _work(worker, post, bell, guard):
    """Work until the master says to leave.

    One reading of the clock ends a time and begins the next one: where ranks share a core, a rank that loses it between
    two readings would miss many milliseconds.
    """
    now = time.perf_counter()
    while not worker.left:
        began = now
        arrived = post.receive()
        if guard:
            if arrived:
                guard.heard()
            elif guard.due() and guard.look():
                post.send(_MASTER, Message(PING, 0))
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
            sleep_until(_mail_or_time(post, guard) if guard else post.has_mail, bell.nap)
            now = time.perf_counter()
            worker.timers.idle += now - began


def _mail_or_time(post, guard):
    has_mail = post.has_mail
    return lambda: has_mail() or guard.due()


def _leave(comm, worker, post, seconds, survives):
    """Leave together with the others or, where some are lost, as soon as the master can know."""
    if worker.parts:
        post.send(_MASTER, Message(QUIT, 0))
        post.flush()
    if worker.parts or not _meet(comm, post, seconds, survives):
        launch.forgo_finalize()


def _count(timers: Timers, size, messages):
    timers.bytes += size
    timers.messages += messages
