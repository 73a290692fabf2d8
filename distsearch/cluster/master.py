"""The master as a state machine: events in, messages out. It reads no clock and does no I/O.

It knows nothing of games: a *source* hands out job records (``take(count, worker)``), takes results in
(``finish(records)``), and says how many jobs wait (``waiting``) and when it needs nothing more (``done``);
``result_dtype`` is the dtype of its result records, which have a field ``seconds``, what the job took. A source that
hands out nothing has run dry until results come in, or ``More``. One that has ``wishes(idle)`` says by them what is new
of jobs that are out, told how many workers have none: (worker, and the fields of a STEER_RECORD) each; and takes in by
``gave(node, rest, part)`` what a worker gave away. One that goes on where another was has ``saved``: node of a job →
what a worker had SAVED of it. By ``lost(worker)`` it has the jobs of a worker that is gone wait again: no result of
them will come.

A worker is lost when the transport says so. It may be there all the same, only slow; so what it sends is not listened
to any more, and the first that comes is answered by RESTART. Messages between two ranks keep their order: after
RESTARTED nothing from before can come, and the worker is taken in again as a new one.
"""

from typing import NamedTuple

import numpy as np

from ..errors import RanksLostError
from .messages import (
    ASK,
    END,
    FORGET,
    GAVE,
    GAVE_RECORD,
    HANDED,
    JOBS,
    LOST,
    METRICS,
    METRICS_RECORD,
    NAMED,
    OPEN,
    OPEN_RECORD,
    PROGRESS,
    QUIT,
    READY,
    RESTART,
    RESTARTED,
    RESULTS,
    RESUME,
    SAVE,
    SAVED,
    SAVED_RECORD,
    SETUP,
    START,
    STEER,
    STOP,
    STOPPED,
    Message,
    Outgoing,
    from_records,
    to_lost,
    to_records,
)  # fmt: skip


class Begin(NamedTuple):
    """Event: a new run.

    run: its number, never used before; setup: bytes for the workers' runners; source: where jobs come from; prefetch:
    batches of jobs kept at each worker; batch: seconds of work in a batch of small jobs, of which ``ahead`` times as
    many are kept; client: for whom, and weight: how much of the client's share, where several runs want the workers;
    measured: time counts from when all workers are ready, and at the end they say where theirs went; shared: a
    sub-master's workers search each of its jobs together.
    """

    run: int
    setup: bytes
    source: object
    prefetch: int = 2
    batch: float = 1e-3
    ahead: int = 1
    client: int = 0
    weight: float = 1.0
    measured: bool = False
    shared: bool = False


class Prepare(NamedTuple):
    """Event: a setup of which runs may come."""

    setup: bytes


class Received(NamedTuple):
    """Event: a message has come from a worker."""

    sender: int
    message: Message


class Lost(NamedTuple):
    """Event: a worker is not there any more, or was not heard from for too long."""

    rank: int


class More(NamedTuple):
    """Event: a run's source, which had run dry, has jobs again."""

    run: int


class Ask(NamedTuple):
    """Event: where does the time of a measured run go?"""

    run: int


class Save(NamedTuple):
    """Event: how far are the jobs at work of a run?"""

    run: int


class Halt(NamedTuple):
    """Event: the user or a clock wants a run to end now."""

    run: int


class Drop(NamedTuple):
    """Event: no more runs of this setup, if there were any; none may be open."""

    setup: bytes


class Leave(NamedTuple):
    """Event: no more runs, and those that are open are given up; workers may go. parts: ranks elsewhere are lost."""

    parts: bool = False


class State(NamedTuple):
    """How a run stands: whether it has started, and boards of unfinished jobs as reported last."""

    started: bool
    boards_at_work: int


class EveryWorkerLostError(RanksLostError):
    """Nobody is left to do the work of a run."""

    def __init__(self):
        super().__init__("every worker is lost")


_LARGEST_BATCH = 1024  # jobs in a message
_SHARED_AT_ONCE = 4  # with 2, 15 or 16 workers in a group went without for longer


class _Worker:
    def __init__(self, rank, host):
        self.rank, self.host = rank, host
        self.told = set()  # numbers of setups, of those that it has not been told to forget
        self.preparing = set()  # those that it has not answered for
        self.ready = set()
        self.life = None  # where it was lost: number of the RESTART that it was sent
        self.load = 0  # jobs sent and not answered, of all runs


class _Run:
    def __init__(self, begin, setup):
        self.number, self.setup, self.source, self.prefetch = begin.run, setup, begin.source, begin.prefetch
        self.wishes = getattr(begin.source, "wishes", None)
        self.batch_seconds, self.most_batches = begin.batch, begin.prefetch * begin.ahead
        self.client, self.weight, self.measured = begin.client, begin.weight, begin.measured
        self.shared = begin.shared
        self.state = State(False, 0)  # for whoever watches the run, which is more often than this changes
        self.out = {}  # rank → jobs sent and not answered, of the workers that know the run
        self.boards = {}  # rank → boards of its job at work, as reported last
        self.stopping = set()  # ranks that were told to stop
        self.halted = False
        self.metrics = {}  # rank → METRICS_RECORD, as told last
        self.awaited = {}  # rank → METRICS that were asked for and have not come
        self.ending = False  # asks for them a last time
        self.saving = set()  # ranks that were asked how far they are and have not told
        self.saved = {}  # rank → payload of SAVED, as told last, of jobs that are still out
        self.starved = True  # somebody went without a job
        self.jobs, self.seconds = 0, 0.0  # of the results so far

    @property
    def over(self):
        return self.halted or self.source.done

    def count(self, rank, boards):
        change = boards - self.boards.get(rank, 0)
        if change:
            self.state = State(self.state.started, self.state.boards_at_work + change)
            self.boards[rank] = boards

    def lose(self, rank):
        """Wait for nothing more from a worker, and give its jobs back to the source."""
        self.count(rank, 0)
        for by_rank in (self.out, self.boards, self.metrics, self.saved):
            by_rank.pop(rank, None)
        self.stopping.discard(rank)
        self.saving.discard(rank)
        self.source.lost(rank)


class Master:
    """Gives the jobs of any number of runs to workers that are ready for them, and their results to the sources.

    hosts: the host of each worker by rank. On every host one worker makes itself ready for a new setup first, so that
    it alone compiles and the others find its work on disk. A message holds as many jobs as make about a millisecond of
    work, by the mean of the run's results so far; up to ``prefetch`` such batches are kept at each worker, so that it
    need not wait for the next one, as long as there are enough for everybody. Workers take turns among the runs that
    they have jobs of.

    groups: rank → {rank of a worker: its host}, of the ranks that are sub-masters (see ``group``). One of those has
    jobs for each of its workers, or, of a shared run, a few: what one leaves idle has another to do.
    """

    def __init__(self, hosts, groups=None):
        self._groups = groups or {}
        self._workers = {rank: _Worker(rank, host) for rank, host in hosts.items()}
        self._setups = {}  # bytes → number
        self._prepared = 0  # setups so far
        self._absent = {}  # rank → _Worker, of those that are lost
        self._idle = set(self._workers)  # ranks without a job of any run
        self._lives = 0  # RESTARTs so far
        self.lost, self.back = [], []  # (rank, host) of workers, in the order in which they were lost and came back
        self.ignored = 0  # messages with results of workers that were lost when they came
        self._runs = {}  # number → _Run, of those that are not over
        self.metrics = {}  # rank → METRICS_RECORD, of the measured run that told last, none if it ended before it began

    def is_open(self, run):
        """Whether a run is not over yet."""
        return run in self._runs

    def state(self, run):
        """Return the State of an open run."""
        return self._runs[run].state

    def awaits_metrics(self, run):
        """Whether METRICS of a run were asked for and have not all come."""
        return run in self._runs and bool(self._runs[run].awaited)

    def awaits_saved(self, run):
        """Whether workers were asked how far their jobs of a run are, and have not all told."""
        return run in self._runs and bool(self._runs[run].saving)

    def saved(self, run):
        """Return what they told: node of a job that is out → payload of SAVED."""
        told = self._runs[run].saved.values() if run in self._runs else ()
        return {int(to_records(payload[: SAVED_RECORD.itemsize], SAVED_RECORD)["node"][0]): payload for payload in told}

    def is_ready(self, setup):
        """Whether all workers are ready for a setup."""
        number = self._setups.get(setup)
        return number is not None and all(number in worker.ready for worker in self._workers.values())

    @property
    def has_runs(self):
        """Whether any run is open."""
        return bool(self._runs)

    @property
    def absent(self):
        """Ranks of the workers that are lost, and have not come back."""
        return self._absent.keys()

    @property
    def preparing(self):
        """Ranks that make themselves ready for a setup: they may compile for minutes without a look at their mail."""
        return {worker.rank for worker in self._workers.values() if worker.preparing}

    def handle(self, event):
        """Take one event in; return the list of Outgoing messages that follow from it."""
        match event:
            case Received(sender, message) if sender in self._workers:
                return self._received(self._workers[sender], message)
            case Received(sender, message):
                return self._received_late(self._absent[sender], message)
            case Lost(rank):
                return self._lose(self._workers.pop(rank)) if rank in self._workers else []
            case Begin():
                return self._begin(event)
            case Prepare(setup):
                return [] if setup in self._setups else self._prepare(setup)
            case More(number):
                return self._more(self._runs[number]) if number in self._runs else []
            case Ask(number):
                return self._ask(self._runs[number]) if number in self._runs else []
            case Save(number):
                return self._save(self._runs[number]) if number in self._runs else []
            case Halt(number):
                return self._halt(self._runs[number]) if number in self._runs else []
            case Drop(setup):
                return self._drop(self._setups.pop(setup)) if setup in self._setups else []
            case Leave(parts):
                self._runs.clear()
                left = Message(QUIT, int(parts or bool(self.lost)))
                return [Outgoing(rank, left) for rank in (*self._workers, *self._absent)]
        raise TypeError(f"no such event: {event!r}")

    def _begin(self, begin):
        if not self._workers:
            raise EveryWorkerLostError
        out = [] if begin.setup in self._setups else self._prepare(begin.setup)
        run = self._runs[begin.run] = _Run(begin, self._setups[begin.setup])
        if begin.measured:
            self.metrics = {}
        return out + self._more(run)

    def _prepare(self, setup):
        self._prepared += 1
        number = self._setups[setup] = self._prepared
        leaders = {worker.host: worker for worker in reversed(self._workers.values())}
        return [self._ask_to_prepare(worker, number, setup) for worker in leaders.values()]

    def _ask_to_prepare(self, worker, number, setup):
        worker.told.add(number)
        worker.preparing.add(number)
        return Outgoing(worker.rank, Message(SETUP, number, np.frombuffer(setup, np.uint8)))

    def _drop(self, number):
        out = []
        for worker in self._workers.values():
            worker.ready.discard(number)
            if number in worker.told:
                worker.told.remove(number)
                out.append(Outgoing(worker.rank, Message(FORGET, number)))
        return out

    def _lose(self, worker):
        """Go on without a worker."""
        self._absent[worker.rank], worker.life = worker, None
        self._idle.discard(worker.rank)
        self.lost.append((worker.rank, worker.host))
        for run in list(self._runs.values()):
            run.lose(worker.rank)
            if run.awaited.pop(worker.rank, 0) and not run.awaited:
                self._all_told(run)
        out = self._prepare_instead(worker)
        for run in list(self._runs.values()):
            if not run.ending and (self._workers or run.over):
                out += self._more(run)
        if self._runs and not self._workers:
            raise EveryWorkerLostError
        return out

    def _prepare_instead(self, lost):
        """Have somebody else compile what a lost worker was to compile for its host."""
        neighbours = [worker for worker in self._workers.values() if worker.host == lost.host]
        numbers = [number for number in self._setups.values() if number in lost.preparing]
        return [
            self._ask_to_prepare(neighbours[0], number, self._text(number))
            for number in numbers
            if neighbours and not any(number in worker.told for worker in neighbours)
        ]

    def _received_late(self, worker, message):
        """A lost worker is there after all; it begins anew."""
        self.ignored += message.type == RESULTS
        if worker.life is None:
            self._lives += 1
            worker.life = self._lives
            return [Outgoing(worker.rank, Message(RESTART, worker.life))]
        if message.type == RESTARTED and message.run == worker.life:
            return self._welcome(self._absent.pop(worker.rank))
        return []

    def _welcome(self, known):
        """Take a worker in again; it is ready at once for the setups that it had compiled."""
        worker = self._workers[known.rank] = _Worker(known.rank, known.host)
        self.back.append((worker.rank, worker.host))
        self._idle.add(worker.rank)
        out = [Outgoing(worker.rank, Message(FORGET, n)) for n in known.told if n not in self._setups.values()]
        return out + [self._ask_to_prepare(worker, number, setup) for setup, number in self._setups.items()]

    def _text(self, number):
        """Return the setup of a number, None if it was dropped."""
        return next((text for text, known in self._setups.items() if known == number), None)

    def _ready(self, worker, number):
        worker.preparing.discard(number)
        setup = self._text(number)
        if setup is None:  # dropped in the meantime
            return []
        worker.ready.add(number)
        neighbours = [w for w in self._workers.values() if w.host == worker.host and number not in w.told]
        out = [self._ask_to_prepare(neighbour, number, setup) for neighbour in neighbours]
        for run in [run for run in self._runs.values() if run.setup == number]:
            if run.measured and run.state.started:  # without this worker, which was lost then
                out.append(Outgoing(worker.rank, Message(START, run.number)))
            out += self._more(run)
        return out

    def _more(self, run):
        """Hand out what a run's source has, starting the run if it was waiting for workers."""
        if run.over and not run.measured:
            return self._wind_up(run)
        out = []
        if not run.state.started:
            ready = [run.setup in worker.ready for worker in self._workers.values()]
            if not (all(ready) if run.measured else any(ready)):
                return []
            run.state = State(True, 0)
            if run.measured:
                out = [Outgoing(rank, Message(START, run.number)) for rank in self._workers]
        run.starved = True
        return out + self._go_on(run, None)

    def _ask(self, run):
        for rank in self._workers:
            run.awaited[rank] = run.awaited.get(rank, 0) + 1
        return [Outgoing(rank, Message(ASK, run.number)) for rank in self._workers]

    def _save(self, run):
        if run.over:
            return []
        run.saved = {}
        run.saving = {rank for rank, jobs in run.out.items() if jobs}
        return [Outgoing(rank, Message(SAVE, run.number)) for rank in run.saving]

    def _halt(self, run):
        run.halted = True
        return self._wind_up(run)

    def _received(self, worker, message):
        if message.type == READY:
            return self._ready(worker, message.run)
        if message.type == LOST:
            rank, lost = to_lost(message)
            (self.lost if lost else self.back).append((rank, self.host_behind(worker.rank, rank)))
        run = self._runs.get(message.run)
        if run is None:
            return []
        match message.type:
            case kind if kind == RESULTS:
                self._take_in(run, worker, to_records(message.payload, run.source.result_dtype))
            case kind if kind == PROGRESS:
                run.count(worker.rank, int(to_records(message.payload, np.int64)[0]))
                return []
            case kind if kind == STOPPED:
                self._answered(run, worker, run.out[worker.rank])
                run.stopping.discard(worker.rank)
            case kind if kind == GAVE:
                record = to_records(message.payload[: GAVE_RECORD.itemsize], GAVE_RECORD)[0]
                run.saved.pop(worker.rank, None)  # of a job that is no more, whose number others may get
                run.source.gave(*record.tolist(), message.payload[GAVE_RECORD.itemsize :])
                run.saved.pop(worker.rank, None)  # which was of the job by its old name
                run.starved = True
            case kind if kind == HANDED:
                return self._handed(run, worker, to_records(message.payload, np.int64))
            case kind if kind == SAVED:
                run.saving.discard(worker.rank)
                if len(message.payload):
                    run.saved[worker.rank] = message.payload
                return []
            case kind if kind == METRICS:
                self._note(run, worker, to_records(message.payload, METRICS_RECORD))
                return []
        return self._go_on(run, worker)

    def _handed(self, run, worker, words):
        """Take in a job that a sub-master parts with, and tell it the numbers of what goes on there."""
        job = int(words[0])
        numbers = run.source.handed(job, words[1:])
        self._answered(run, worker, 1 - len(numbers))
        run.starved = True
        names = Message(NAMED, run.number, from_records(np.array([job, *numbers], np.int64)))
        return [Outgoing(worker.rank, names), *self._go_on(run, worker)]

    def _go_on(self, run, worker):
        """Hand out jobs, and wind the run up when it is over, which a source may be once its last job is taken."""
        out = [] if run.over else self._hand_out(run, worker)
        if run.over:
            return out + self._wind_up(run)
        return out + self._steer(run) if run.wishes else out

    def _steer(self, run):
        """Tell workers what is new of their jobs."""
        if self._groups:
            ready = [worker for worker in self._workers.values() if run.setup in worker.ready]
            idle = sum(max(0, self._places(run, worker) - worker.load) for worker in ready)
        else:
            idle = sum(run.setup in self._workers[rank].ready for rank in self._idle)
        told = {}
        for rank, *record in run.wishes(idle):
            told.setdefault(rank, []).append(record)
        return [
            Outgoing(rank, Message(STEER, run.number, from_records(np.array(records, np.int32))))
            for rank, records in told.items()
        ]

    def _take_in(self, run, worker, results):
        self._answered(run, worker, len(results))
        run.saved.pop(worker.rank, None)  # which was of the first of these jobs
        run.count(worker.rank, 0)
        run.jobs += len(results)
        run.seconds += float(results["seconds"].sum())
        run.source.finish(results)

    def _answered(self, run, worker, jobs):
        run.out[worker.rank] -= jobs
        self._load(worker, -jobs)

    def _load(self, worker, jobs):
        worker.load += jobs
        if worker.load:
            self._idle.discard(worker.rank)
        else:
            self._idle.add(worker.rank)

    def _places(self, run, worker):
        """How many jobs of a run are at work at once at a worker."""
        workers = len(self._groups.get(worker.rank, (worker,)))
        return min(_SHARED_AT_ONCE, workers) if run.shared else workers

    def host_behind(self, leader, rank):
        """Return the host of a sub-master's worker."""
        return self._groups[leader][rank]

    def _hand_out(self, run, worker):
        """Top up the worker that was heard of, or, where some have gone without, everybody as far as jobs go."""
        out = []
        if not run.starved:
            while sent := self._top_up(run, worker, run.most_batches * self._places(run, worker)):
                out += sent
            return out
        if not run.source.waiting:
            return out
        run.starved = False
        ready = [worker for worker in self._workers.values() if run.setup in worker.ready]
        ready.sort(key=lambda worker: worker.load)
        places = max((self._places(run, each) for each in ready), default=0)
        for level in range(1, run.most_batches * places + 1):  # nobody gets a second batch before everybody has one
            if level > places and run.source.waiting < len(self._workers):
                return out
            for each in ready if level > 1 else [each for each in ready if not run.out.get(each.rank)]:
                if level <= run.most_batches * self._places(run, each):
                    out += self._top_up(run, each, level)
                if run.starved:
                    return out
        return out

    def _top_up(self, run, worker, level):
        """Return a message with one more batch for ``worker``, if it has room below ``level`` batches."""
        waiting, workers, out = run.source.waiting, len(self._workers), run.out.get(worker.rank, 0)
        places = self._places(run, worker)
        if out >= places and waiting < workers:  # a job kept ahead is one that nobody idle can have
            return []
        mean = run.seconds / run.jobs if run.jobs else run.batch_seconds
        batch = max(1, min(int(run.batch_seconds / max(mean, 1e-9)), _LARGEST_BATCH, waiting // (2 * workers)))
        if batch == 1:  # large jobs: a pile of them at one worker is what others lack in the end
            level = min(level, run.prefetch * places)
        if out > (level - 1) * batch:
            return []
        jobs = run.source.take(batch, worker.rank)
        if not len(jobs):
            run.starved = True
            return []
        sent = [Outgoing(worker.rank, message) for message in _messages(run, jobs)]
        if worker.rank not in run.out:
            record = np.array([(run.setup, run.client, run.weight)], OPEN_RECORD)
            sent.insert(0, Outgoing(worker.rank, Message(OPEN, run.number, from_records(record))))
        run.out[worker.rank] = out + len(jobs)
        self._load(worker, len(jobs))
        return sent

    def _wind_up(self, run):
        """Stop who is at work on a run; when nobody is, end it and, if it is measured, gather the metrics."""
        if run.ending:
            return []
        fresh = [rank for rank, jobs in run.out.items() if jobs and rank not in run.stopping]
        run.stopping.update(fresh)
        if run.stopping:
            return [Outgoing(rank, Message(STOP, run.number)) for rank in fresh]
        out = [Outgoing(rank, Message(END, run.number)) for rank in run.out]
        if run.measured and run.state.started and self._workers:
            run.ending = True
            return out + self._ask(run)
        self._end(run)
        return out

    def _note(self, run, worker, records):
        for record in records:
            run.metrics[int(record["rank"]) or worker.rank] = record
        run.awaited[worker.rank] -= 1
        if not run.awaited[worker.rank]:
            del run.awaited[worker.rank]
        if not run.awaited:
            self._all_told(run)

    def _all_told(self, run):
        """Everybody of whom METRICS were awaited has sent them, or is lost."""
        self.metrics = dict(run.metrics)
        if run.ending:
            self._end(run)

    def _end(self, run):
        del self._runs[run.number]
        if run.measured:
            self.metrics = run.metrics


def _messages(run, jobs):
    """Yield the messages that hand out jobs; those that an earlier run had begun travel alone."""
    saved = getattr(run.source, "saved", None)
    if not saved:
        yield Message(JOBS, run.number, from_records(jobs))
        return
    begun = np.isin(jobs["node"], list(saved))
    for job in jobs[begun]:
        yield Message(RESUME, run.number, np.concatenate((from_records(job.reshape(1)), saved[int(job["node"])])))
    if not begun.all():
        yield Message(JOBS, run.number, from_records(jobs[~begun]))
