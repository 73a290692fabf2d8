"""The master as a state machine: events in, messages out. It reads no clock and does no I/O.

It knows nothing of games: a *source* hands out job records (``take(count, worker)``), takes results in
(``finish(records)``), and says how many jobs wait (``waiting``) and when it needs nothing more (``done``);
``result_dtype`` is the dtype of its result records, which have a field ``seconds``, what the job took.
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
    START,
    STOP,
    STOPPED,
    Message,
    Outgoing,
    from_records,
    to_records,
)  # fmt: skip


class Begin(NamedTuple):
    """Event: a new run.

    setup: bytes for the workers' runners; source: where jobs come from; prefetch: batches of jobs kept at each worker.
    """

    setup: bytes
    source: object
    prefetch: int = 2


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
ABSENT, OPENING, WORKING, STOPPING, STOPPED_WORK, ENDING, ENDED = range(7)

_BATCH_SECONDS = 1e-3  # of work in a message: small jobs travel together until they are worth one
_LARGEST_BATCH = 1024  # jobs


class _Worker:
    def __init__(self, rank, host):
        self.rank, self.host = rank, host
        self.begin()

    def begin(self):
        self.state = ABSENT
        self.out = 0  # jobs sent and not answered
        self.boards = 0  # of the job at work, as reported last


class Master:
    """Gives jobs to workers that are ready, and their results to the source.

    hosts: the host of each worker by rank. On every host one worker opens a run's setup first, so that it alone
    compiles and the others find its work on disk; jobs go out when all are ready. A message holds as many jobs as make
    about a millisecond of work, by the mean of the results so far; up to ``prefetch`` such batches are kept at each
    worker, so that it need not wait for the next one, as long as there are enough for everybody.
    """

    def __init__(self, hosts):
        self._workers = {rank: _Worker(rank, host) for rank, host in hosts.items()}
        self._run = 0
        self.running = False
        self._reset(Begin(b"", None))

    def _reset(self, begin):
        self._setup, self._source, self._prefetch = np.frombuffer(begin.setup, np.uint8), begin.source, begin.prefetch
        self._halted = False
        self.state = State(False, 0)  # for whoever watches the run, which is more often than this changes
        self._starved = True  # somebody went without a job
        self._jobs, self._seconds = 0, 0.0  # of the results so far
        self._awaited = set(self._workers)  # ranks that are not ready yet
        self.metrics = {}  # rank → METRICS_RECORD, of the run that ended last
        for worker in self._workers.values():
            worker.begin()

    def handle(self, event):
        """Take one event in; return the list of Outgoing messages that follow from it."""
        match event:
            case Received(sender, message):
                return self._received(self._workers[sender], message) if message.run == self._run else []
            case Begin():
                return self._begin(event)
            case Halt():
                self._halted = True
                return self._wind_up() if self.running else []
            case Leave():
                return [Outgoing(rank, Message(QUIT, self._run)) for rank in self._workers]
        raise TypeError(f"no such event: {event!r}")

    def _begin(self, event):
        self._run += 1
        self._reset(event)
        self.running = True
        leaders = {worker.host: worker for worker in reversed(self._workers.values())}
        return [self._open(worker) for worker in leaders.values()]

    def _open(self, worker):
        worker.state = OPENING
        return Outgoing(worker.rank, Message(SETUP, self._run, self._setup))

    def _received(self, worker, message):
        match message.type:
            case kind if kind == RESULTS:
                self._take_in(worker, to_records(message.payload, self._source.result_dtype))
            case kind if kind == READY:
                return self._ready(worker)
            case kind if kind == PROGRESS:
                self._count(worker, int(to_records(message.payload, np.int64)[0]))
                return []
            case kind if kind == STOPPED:
                worker.state, worker.out = STOPPED_WORK, 0
            case kind if kind == METRICS:
                worker.state = ENDED
                self.metrics[worker.rank] = to_records(message.payload, METRICS_RECORD)[0]
        return self._wind_up() if self._over else self._hand_out(worker)

    def _ready(self, worker):
        worker.state = WORKING
        if self._over:
            return self._wind_up()
        self._awaited.discard(worker.rank)
        if not self._awaited:
            self.state = State(True, 0)
            return [Outgoing(rank, Message(START, self._run)) for rank in self._workers] + self._hand_out(worker)
        neighbours = [w for w in self._workers.values() if w.host == worker.host and w.state == ABSENT]
        return [self._open(neighbour) for neighbour in neighbours]

    def _take_in(self, worker, results):
        worker.out -= len(results)
        self._count(worker, 0)
        self._jobs += len(results)
        self._seconds += float(results["seconds"].sum())
        self._source.finish(results)

    def _count(self, worker, boards):
        self.state = State(self.state.started, self.state.boards_at_work + boards - worker.boards)
        worker.boards = boards

    @property
    def _over(self):
        return self._halted or self._source.done

    def _hand_out(self, worker):
        """Top up the worker that was heard of, or, where some have gone without, everybody as far as jobs go."""
        if not self.state.started:
            return []
        if not self._starved:
            return [message for _ in range(self._prefetch) for message in self._top_up(worker, self._prefetch)]
        self._starved = False
        out = []
        for level in range(1, self._prefetch + 1):  # nobody gets a second batch before everybody has one
            for each in self._workers.values():
                out += self._top_up(each, level)
                if self._starved:
                    return out
        return out

    def _top_up(self, worker, level):
        """Return a message with one more batch for ``worker``, if it has room below ``level`` batches."""
        waiting, workers = self._source.waiting, len(self._workers)
        mean = self._seconds / self._jobs if self._jobs else _BATCH_SECONDS
        batch = max(1, min(int(_BATCH_SECONDS / max(mean, 1e-9)), _LARGEST_BATCH, waiting // (2 * workers)))
        # a job kept ahead is one that nobody idle can have
        if worker.out > (level - 1) * batch or worker.out and waiting < workers:
            return []
        jobs = self._source.take(batch, worker.rank)
        if not len(jobs):
            self._starved = True
            return []
        worker.out += len(jobs)
        return [Outgoing(worker.rank, Message(JOBS, self._run, from_records(jobs)))]

    def _wind_up(self):
        """Stop whoever is at work; when nobody is, end the run and gather the metrics."""
        out = []
        opened = [w for w in self._workers.values() if w.state not in (ABSENT, ENDED)]
        for worker in opened:
            if worker.state == WORKING:
                worker.state = STOPPING if worker.out else STOPPED_WORK
                if worker.out:
                    out.append(Outgoing(worker.rank, Message(STOP, self._run)))
        if all(worker.state == STOPPED_WORK for worker in opened):
            for worker in opened:
                worker.state = ENDING
                out.append(Outgoing(worker.rank, Message(END, self._run)))
        self.running = bool(opened)
        return out
