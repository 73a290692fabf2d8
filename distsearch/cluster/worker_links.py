"""The messages between a rank and its workers, and what it does about workers that are lost."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from mpi4py import MPI

from ..core.errors import RanksLostError
from . import mpi_runtime
from .backoff import sleep_until
from .events import Lost, Received
from .liveness import Liveness
from .mailbox import Mailbox
from .master import Master
from .messages import Message, MessageType
from .wakeup import Wakeup

_GLANCE = 0.05  # seconds between two looks for lost workers
# Messages to a worker that has said nothing since, after which its process is looked for before the next one: each that
# a dead process does not receive takes one of the 64 places that MPICH has for those to all ranks, for ever.
_UNHEARD = 8
PARTING = 10.0  # seconds to wait for ranks that leave, where there is no timeout


class Failures:
    """The ranks of a communicator that have died, as far as MPI knows."""

    def __init__(self, comm: MPI.Intracomm):
        self._comm, self._group = comm, comm.Get_group()

    def ranks(self) -> set[int]:
        """Return them all, and have MPI receive from any of the others again."""
        failed = self._comm.Get_failed()
        if not failed.Get_size():
            return set()
        self._comm.Ack_failed()
        return set(failed.Translate_ranks(None, self._group))


def next_message(mailbox: Mailbox, failures: Failures | None, on_failure: Callable[[], None]) -> tuple | None:
    """Return what a mailbox receives; None if nothing is here, or MPI says that ranks have died."""
    try:
        return mailbox.receive()
    except MPI.Exception as error:
        if failures is None or not mpi_runtime.tells_of_a_lost_rank(error):
            raise
        on_failure()
        return None


class WorkerLinks:
    """The messages between this rank and its workers.

    Args:
        comm: the communicator.
        machine: a Master, or a Submaster, whose Master is ``master``.
        ranks: of the workers.
        known: (host, name of its wakeup socket) of every rank of the communicator.
        wakeup: this rank's.
        worker_timeout: seconds after which a silent worker is lost, or None.
        survives: whether to go on without some workers.
        say: takes a line that says that a worker is lost.
        tell: takes a TOLD_TO_END message, which is not for the machine.
        last: see ``Liveness``.
        above: of a sub-master, the rank that it works for, None of rank 0.

    Raises RanksLostError where MPI says that the rank above has died.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        machine: Any,
        master: Master,
        ranks: Iterable[int],
        known: Sequence[tuple[str, bytes]],
        wakeup: Wakeup,
        worker_timeout: float | None,
        survives: bool,
        say: Callable[[str], None] = lambda text: None,
        last: int = 1,
        tell: Callable[[Message], None] = lambda message: None,
        above: int | None = None,
    ):
        self._tell, self._above = tell, above
        self._comm, self._machine, self._master, self._wakeup, self._say = comm, machine, master, wakeup, say
        here = MPI.Get_processor_name()
        self._hosts = {rank: known[rank][0] for rank in ranks}
        self._wakeups = {rank: known[rank][1] for rank in ranks if known[rank][0] == here and known[rank][1]}
        self.mailbox = Mailbox(comm, survives=survives)
        self._survives = survives
        self._failures = Failures(comm) if mpi_runtime.tells_of_failures() else None
        self._liveness = Liveness(worker_timeout, self._hosts, time.monotonic(), last=last) if worker_timeout else None
        self._glance, self._parting = min(_GLANCE, (worker_timeout or 1.0) / 20), worker_timeout or PARTING
        self._watched = {rank for rank, name in self._wakeups.items() if worker_timeout and self._wakeup.exists(name)}
        # A silent worker is pinged once: MPICH keeps each message that is not received in one of 64 places, and when
        # all are full the master cannot send to any rank.
        self._pinged = set()
        self._unheard = dict.fromkeys(self._hosts, 0)  # messages to a worker since it was heard last
        self._gone, self._looked, self._said = set(), 0.0, time.monotonic()

    def poll(self) -> tuple[int, Message, int] | None:
        """Take in one message, if one is here; return it as (sender, Message, bytes), or None."""
        if self._survives and time.monotonic() - self._looked >= self._glance:
            self._look_for_the_lost()
        arrived = next_message(self.mailbox, self._failures, self._look_for_the_lost)
        if arrived is None:
            return None
        sender, message, _ = arrived
        self._unheard[sender] = 0
        if self._liveness and sender in self._hosts:
            self._liveness.heard(sender, time.monotonic())
            self._pinged.discard(sender)
            if message.type == MessageType.PING:
                self.mailbox.send(sender, Message(MessageType.PONG, 0))
        if message.type == MessageType.TOLD_TO_END:
            self._tell(message)
        else:
            self.dispatch(Received(sender, message), sender)
        return arrived

    def dispatch(self, event: NamedTuple, awake: int | None = None) -> None:
        """Have the machine take an event in, and send what follows; awake: a rank that does not sleep."""
        to_wake = set()
        for rank, message in self._machine.handle(event):
            if rank in self._watched:
                self._look_at(rank)
            self.mailbox.send(rank, message)
            if rank != awake and message.type != MessageType.JOB_UPDATE:  # a rank that sleeps has no jobs to update
                to_wake.add(rank)
        for rank in to_wake & self._wakeups.keys() if to_wake else ():
            self._wakeup.notify(self._wakeups[rank])

    def _look_at(self, rank):
        """Send nothing more to a worker that hears nothing since its process has ended."""
        self._unheard[rank] += 1
        if self._unheard[rank] % _UNHEARD == 0 and not self._wakeup.exists(self._wakeups[rank]):
            self.mailbox.failed.add(rank)

    def _look_for_the_lost(self):
        """Go on without workers that have died since, and ping those that are silent."""
        now = self._looked = time.monotonic()
        if self._failures:
            self.mailbox.failed |= self._failures.ranks()
        if self._above in self.mailbox.failed:
            raise RanksLostError(f"rank {self._above} is lost")
        lost = set()
        if self._liveness:
            self._readmit(now)
            lost.update(self._liveness.silent(now, self._master.preparing))
            self.mailbox.failed.update(rank for rank in self._watched if not self._wakeup.exists(self._wakeups[rank]))
            for rank in set(self._liveness.due(now)) - self._pinged:
                self._pinged.add(rank)
                self.mailbox.send(rank, Message(MessageType.PING, 0))
        for rank in sorted((lost | self.mailbox.failed) & self._hosts.keys() - self._gone):
            self._lose(rank)

    def _lose(self, rank):
        self._gone.add(rank)
        self.say_of(rank, self._hosts[rank], True)
        if self._liveness:
            self._liveness.lost(rank)
        self.dispatch(Lost(rank))

    def say_of(self, rank: int, host: str, lost: bool) -> None:
        """Say that a worker is lost, or has rejoined."""
        place = f"rank {rank} (host {host})"
        self._say(f"distsearch: lost {place}: its work goes to the others" if lost else f"distsearch: {place} is back")

    def _readmit(self, now):
        """Expect messages again from workers that were declared lost and have begun anew."""
        for rank in self._gone - self._master.absent:
            self._gone.discard(rank)
            self.say_of(rank, self._hosts[rank], False)
            if self._liveness:
                self._liveness.rejoined(rank, now)

    def be_heard(self) -> None:
        """Send a message to workers of other hosts, once in half a timeout, by which they know that this rank lives."""
        now = time.monotonic()
        if self._liveness and now - self._said >= self._liveness.timeout / 2:
            self._said = now
            for rank in self._hosts.keys() - self._wakeups.keys() - self._gone:
                self.mailbox.send(rank, Message(MessageType.PONG, 0))

    def leave(self):
        """Wait until the remaining workers say that they leave: MPI would wait at its end for those that are lost."""
        end, remaining = time.monotonic() + self._parting, self._hosts.keys() - self._gone

        def alone():
            while arrived := next_message(self.mailbox, self._failures, self._look_for_the_lost):
                sender, message, _ = arrived
                if message.type == MessageType.QUIT:
                    remaining.discard(sender)
            remaining.difference_update(self.mailbox.failed)
            return not remaining or time.monotonic() > end

        sleep_until(alone)

    def barrier(self) -> bool:
        """Wait for all ranks, see the function."""
        return barrier(self._comm, self.mailbox, self._parting, self._survives)

    def close(self) -> None:
        """Close the wakeup socket."""
        self._wakeup.close()


def barrier(comm: MPI.Intracomm, mailbox: Mailbox, seconds: float, survives: bool) -> bool:
    """Wait, without spinning, for all ranks to come here; return whether they did, which is false if one died."""
    end = time.monotonic() + seconds if survives else math.inf

    def late():
        return time.monotonic() > end

    try:
        sleep_until(lambda: mailbox.all_sent() or late())
        gone = comm.Ibarrier()
        # workers leave when their messages have left, and a large one leaves only when it is received
        sleep_until(lambda: mailbox.receive() is None and gone.Test() or late())
    except MPI.Exception as error:
        if not (survives and mpi_runtime.tells_of_a_lost_rank(error)):
            raise
        return False
    return not late()
