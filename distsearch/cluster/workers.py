"""The workers of a master: which are ready for which setups, which are lost, and which have rejoined.

Methods return the Outgoing messages that follow.
"""

import logging
from collections.abc import Mapping

import numpy as np

from .messages import Message, MessageType, Outgoing

_MAX_REJOINS = 5  # of a worker that was lost at work so often without a result in between


log = logging.getLogger("distsearch.master")


class WorkerState:
    """A worker as the master knows it."""

    def __init__(self, rank: int, host: str, losses: int = 0):
        self.rank, self.host = rank, host
        self.losses = losses  # how often it was lost at work since its last result
        self.known_setups = set()  # numbers
        self.preparing = set()  # those that it has not answered for
        self.ready = set()
        self.epoch = None  # where it was lost: number of the RESET that it was sent
        self.slots = {}  # number of a setup → jobs of it at work at once, where it is not one
        self.gives_back = set()  # setups of which it had slots, until it has done a job in another way
        self.load = 0  # jobs sent and not answered, of all runs

    def __repr__(self):
        return f"<WorkerState {self.rank} on {self.host}: ready {self.ready}, load {self.load}, losses {self.losses}>"


class WorkerRegistry:
    """The workers by rank, and their setups; hosts: the host of each by rank."""

    def __init__(self, hosts: Mapping[int, str]):
        self.workers = {rank: WorkerState(rank, host) for rank, host in hosts.items()}
        self.absent = {}  # rank → WorkerState, of those that are lost
        self.idle = set(self.workers)  # ranks without a job of any run
        self.setups = {}  # bytes → number
        self.lost, self.rejoined = [], []  # (rank, host), in the order in which they were lost and rejoined
        self.ignored = 0  # messages with results of workers that were lost when they came
        self._prepared = 0  # setups so far
        self._epochs = 0  # RESETs so far

    @property
    def preparing(self) -> set[int]:
        """Ranks of workers that prepare for a setup."""
        return {worker.rank for worker in self.workers.values() if worker.preparing}

    def load(self, worker: WorkerState, jobs: int) -> None:
        """Add to the number of a worker's jobs."""
        worker.load += jobs
        if worker.load:
            self.idle.discard(worker.rank)
        else:
            self.idle.add(worker.rank)

    def ready_for(self, number: int | None) -> list[int]:
        """Return the ranks of those that are ready for a setup."""
        return [rank for rank, worker in self.workers.items() if number in worker.ready]

    def prepare(self, setup: bytes) -> list[Outgoing]:
        """Have one worker of each host prepare for a setup, if it is new."""
        if setup in self.setups:
            return []
        self._prepared += 1
        number = self.setups[setup] = self._prepared
        leaders = {worker.host: worker for worker in reversed(self.workers.values())}
        return [_prepare(worker, number, setup) for worker in leaders.values()]

    def is_ready(self, worker: WorkerState, number: int) -> list[Outgoing]:
        """Note that a worker is ready for a setup, and have the others of its host prepare, unless it was dropped."""
        worker.preparing.discard(number)
        setup = self._text(number)
        if setup is None:
            return []
        worker.ready.add(number)
        others = [
            each for each in self.workers.values() if each.host == worker.host and number not in each.known_setups
        ]
        return [_prepare(other, number, setup) for other in others]

    def drop(self, setup: bytes) -> list[Outgoing]:
        """Forget a setup, if it is known."""
        out, number = [], self.setups.pop(setup, None)
        for worker in self.workers.values():
            worker.ready.discard(number)
            if number in worker.known_setups:
                worker.known_setups.remove(number)
                out.append(Outgoing(worker.rank, Message(MessageType.FORGET, number)))
        return out

    def lose(self, rank: int) -> list[Outgoing]:
        """Go on without a worker; another one compiles what it had to compile for its host."""
        gone = self.absent[rank] = self.workers.pop(rank)
        gone.epoch = None
        gone.losses += gone.load > 0
        self.idle.discard(rank)
        self.lost.append((rank, gone.host))
        others = [worker for worker in self.workers.values() if worker.host == gone.host]
        return [
            _prepare(others[0], number, setup)
            for setup, number in self.setups.items()
            if number in gone.preparing and others and not any(number in worker.known_setups for worker in others)
        ]

    def on_message_from_lost(self, rank: int, message: Message) -> list[Outgoing]:
        """Have a lost worker that is there after all begin anew, unless it has done so too often without a result."""
        worker = self.absent[rank]
        self.ignored += message.type == MessageType.RESULTS
        if worker.epoch is None and worker.losses < _MAX_REJOINS:
            self._epochs += 1
            worker.epoch = self._epochs
            return [Outgoing(rank, Message(MessageType.RESET, worker.epoch))]
        if message.type == MessageType.RESET_DONE and message.run == worker.epoch:
            return self._readmit(self.absent.pop(rank))
        return []

    def _readmit(self, known):
        """Take a worker in again; it is ready at once for the setups that it had compiled."""
        log.warning("worker %d has rejoined", known.rank)
        worker = self.workers[known.rank] = WorkerState(known.rank, known.host, known.losses)
        self.rejoined.append((worker.rank, worker.host))
        self.idle.add(worker.rank)
        out = [
            Outgoing(worker.rank, Message(MessageType.FORGET, number))
            for number in known.known_setups
            if number not in self.setups.values()
        ]
        return out + [_prepare(worker, number, setup) for setup, number in self.setups.items()]

    def _text(self, number):
        """Return the setup of a number, None if it was dropped."""
        return next((text for text, known in self.setups.items() if known == number), None)


def _prepare(worker, number, setup):
    worker.known_setups.add(number)
    worker.preparing.add(number)
    return Outgoing(worker.rank, Message(MessageType.SETUP, number, np.frombuffer(setup, np.uint8)))
