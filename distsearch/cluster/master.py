"""The master as a state machine: events in, messages out. It reads no clock and does no I/O.

It knows nothing of games: a *source* hands out job records (``take(count, worker)``), takes results in
(``finish(records)``), and says how many jobs wait (``waiting``) and when it needs nothing more (``done``);
``result_dtype`` is the dtype of its result records.
"""

from typing import NamedTuple

import numpy as np

from .messages import (
    END,
    JOBS,
    METRICS,
    METRICS_RECORD,
    PROGRESS,
    QUIT,
    READY,
    RESULTS,
    SETUP,
    STOP,
    STOPPED,
    Message,
    Outgoing,
    from_records,
    to_records,
)  # fmt: skip


class Begin(NamedTuple):
    """Event: a new run. setup: bytes for the workers' runners; source: where jobs come from."""

    setup: bytes
    source: object


class Received(NamedTuple):
    """Event: a message has come from a worker."""

    sender: int
    message: Message


class Halt(NamedTuple):
    """Event: the user or a clock wants the run to end now."""


class State(NamedTuple):
    """How a run stands: whether all workers were ready yet, and boards of unfinished jobs as reported last."""

    started: bool
    boards_at_work: int


class Leave(NamedTuple):
    """Event: no more runs; workers may go."""


# Where a worker stands in a run
ABSENT, OPENING, READY_FOR_JOBS, STOPPING, STOPPED_WORK, ENDING, ENDED = range(7)


class _Worker:
    def __init__(self, rank, host):
        self.rank, self.host = rank, host
        self.state = ABSENT
        self.out = 0  # jobs sent and not answered
        self.boards = 0  # of the job at work, as reported last


class Master:
    """Gives jobs to workers that are ready, and their results to the source.

    hosts: the host of each worker by rank. On every host one worker opens a run's setup first, so that it alone
    compiles and the others find its work on disk; jobs go out when all are ready. Up to ``ahead`` jobs are kept at a
    worker, so that it need not wait for the next one, as long as there are enough for everybody.
    """

    def __init__(self, hosts, ahead=2):
        self._workers = {rank: _Worker(rank, host) for rank, host in hosts.items()}
        self._ahead = ahead
        self._run = 0
        self._setup = self._source = None
        self._halted = self._started = False
        self.running = False
        self.metrics = {}  # rank → METRICS_RECORD, of the run that ended last

    def handle(self, event):
        """Take one event in; return the list of Outgoing messages that follow from it."""
        match event:
            case Received(sender, message):
                return self._received(self._workers[sender], message) if message.run == self._run else []
            case Begin(setup, source):
                return self._begin(setup, source)
            case Halt():
                self._halted = True
                return self._go_on()
            case Leave():
                return [Outgoing(rank, Message(QUIT, self._run)) for rank in self._workers]
        raise TypeError(f"no such event: {event!r}")

    def _begin(self, setup, source):
        self._run += 1
        self._setup, self._source = np.frombuffer(setup, np.uint8), source
        self._halted, self._started, self.running, self.metrics = False, False, True, {}
        for worker in self._workers.values():
            worker.state, worker.out, worker.boards = ABSENT, 0, 0
        leaders = {worker.host: worker for worker in reversed(self._workers.values())}
        return [self._open(worker) for worker in leaders.values()]

    def _open(self, worker):
        worker.state = OPENING
        return Outgoing(worker.rank, Message(SETUP, self._run, self._setup))

    def _received(self, worker, message):
        out = []
        if message.type == READY:
            worker.state = READY_FOR_JOBS
            if not self._over:
                waiting = (w for w in self._workers.values() if w.host == worker.host and w.state == ABSENT)
                out = [self._open(peer) for peer in waiting]
            self._started = all(w.state == READY_FOR_JOBS for w in self._workers.values())
        elif message.type == RESULTS:
            results = to_records(message.payload, self._source.result_dtype)
            worker.out -= len(results)
            worker.boards = 0
            self._source.finish(results)
        elif message.type == PROGRESS:
            worker.boards = int(to_records(message.payload, np.int64)[0])
        elif message.type == STOPPED:
            worker.state, worker.out = STOPPED_WORK, 0
        elif message.type == METRICS:
            worker.state = ENDED
            self.metrics[worker.rank] = to_records(message.payload, METRICS_RECORD)[0]
        return out + self._go_on()

    @property
    def state(self):
        """The State of the run, for whoever watches it."""
        return State(self._started, sum(worker.boards for worker in self._workers.values()))

    @property
    def _over(self):
        return self._halted or self._source.done

    def _go_on(self):
        if self._over:
            return self._wind_up()
        return self._hand_out() if self._started else []

    def _hand_out(self):
        """Top up every worker: first those with nothing, then, while there is plenty, those with little."""
        out = []
        for level in range(self._ahead):
            for worker in self._workers.values():
                if worker.out > level:
                    continue
                if level and self._source.waiting < len(self._workers):
                    return out
                jobs = self._source.take(1, worker.rank)
                if not len(jobs):
                    return out
                worker.out += len(jobs)
                out.append(Outgoing(worker.rank, Message(JOBS, self._run, from_records(jobs))))
        return out

    def _wind_up(self):
        """Stop whoever is at work; when nobody is, end the run and gather the metrics."""
        workers = [w for w in self._workers.values() if w.state not in (ABSENT, ENDED)]
        out = []
        for worker in workers:
            if worker.state == READY_FOR_JOBS:
                worker.state = STOPPING if worker.out else STOPPED_WORK
                if worker.out:
                    out.append(Outgoing(worker.rank, Message(STOP, self._run)))
        if all(worker.state == STOPPED_WORK for worker in workers):
            for worker in workers:
                worker.state = ENDING
                out.append(Outgoing(worker.rank, Message(END, self._run)))
        self.running = bool(workers)
        return out
