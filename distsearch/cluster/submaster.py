"""The sub-master as a state machine: a worker to rank 0, and the master of a group of workers.

The same ``Master`` that rank 0 has gives jobs to the group. The source of these jobs depends on the setup. A shared one
(``"share"``) makes each job the root of a tree that the group searches together, so that rank 0 has few and large jobs.
Jobs of any other setup are passed on as they are. ``shares``: kind → function of a setup → function of the number of
workers → source; such a source is a ``protocols.SubmasterSource``.
"""

import json
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ..core.errors import line_of
from . import messages
from .events import Begin, Drop, Halt, Leave, More, Prepare, Received
from .master import EveryWorkerLostError, Master
from .messages import Message, MessageType, Outgoing, from_records, to_records
from .protocols import Runner, SubmasterSource

log = logging.getLogger("distsearch.submaster")

ABOVE = 0  # the rank that gives a group its jobs

_ABOUT_RUNS = {MessageType.JOBS, MessageType.RESTORE_PROGRESS, MessageType.JOB_UPDATE}
_ABOUT_RUNS |= {MessageType.EXPORT_IDS, MessageType.STOP, MessageType.END}


def blocks(size: int, submasters: int) -> dict[int, list[int]]:
    """Return {sub-master: the ranks of its workers} for so many ranks and sub-masters.

    Each group is a block of successive ranks, and its first rank is the sub-master. If all hosts have equally many
    ranks, and there are as many sub-masters as hosts, each group is a host, without rank 0.
    """
    cuts = [1 + i * (size - 1) // submasters for i in range(submasters + 1)] if submasters else []
    return {first: list(range(first + 1, end)) for first, end in zip(cuts, cuts[1:], strict=False)}


class _Setup:
    """A setup: its text, and its number at rank 0."""

    def __init__(self, number, payload):
        self.number, self.text = number, payload.tobytes()
        self.content = json.loads(self.text)
        self.make = None  # once it is ready: a function of the number of workers that makes a source
        self.failure = ""  # why there can be none
        self.awaited = True  # READY is

    def __repr__(self):
        return f"<_Setup {self.number}: {self.content['kind']}, awaited {self.awaited}>"


class _Run:
    """A run that is open here."""

    def __init__(self, number, source):
        self.number, self.source = number, source
        self.stopping = False

    def __repr__(self):
        return f"<_Run {self.number}: waiting {self.source.waiting}, stopping {self.stopping}>"


class Submaster:
    """Passes jobs from above on to workers, or shares them, and sends the results up.

    hosts: the host of each worker by rank; kinds: as for a Worker, of which the dtypes are needed; guarded: where no
    source can be made, that run fails, and not this process.

    A message from or to rank ``ABOVE`` is one of the protocol between master and worker, and so are those between the
    sub-master and its workers.
    """

    def __init__(
        self,
        hosts: Mapping[int, str],
        kinds: Mapping[str, Callable[[dict], Runner]],
        shares: Mapping[str, Callable] | None,
        guarded: bool = False,
    ):
        self.master = Master(hosts)
        self._ranks, self._kinds, self._shares, self._guarded = list(hosts), kinds, shares, guarded
        self._setups = {}  # number above → _Setup
        self._runs = {}  # number → _Run
        self._failing = {}  # number → why it has no source, of other runs that are open
        self._metrics_requests = []  # (run, {rank: METRICS_RECORD, None until it comes}) of each request, in order
        # how many of ``master.lost`` and ``master.rejoined`` were reported above
        self._reported_lost = self._reported_rejoined = 0
        self._epoch = None  # of a RESET that waits for the runs to end
        self.has_left = self.leaves_alone = False  # see ``Worker``
        self.has_no_workers = False  # every worker is lost

    def handle(self, event: NamedTuple) -> list[Outgoing]:
        """Take one event in; return the list of Outgoing messages that follow from it.

        Without any worker it leaves and sends nothing: to rank 0 it is lost.
        """
        try:
            return self._handle(event)
        except EveryWorkerLostError:
            log.warning("every worker is lost")
            self.has_left = self.has_no_workers = True
            return []

    def _handle(self, event):
        match event:
            case Received(sender, message) if sender == ABOVE:
                out = self._from_above(message)
            case Received(sender, message) if message.type == MessageType.METRICS and sender not in self.master.absent:
                self._take_in_metrics(sender, message)
                out = []
            case _:
                out = self.master.handle(event)
        return out + self._reports(event)

    def _from_above(self, message):
        if message.type in _ABOUT_RUNS and message.run in self._failing:
            return self._about_failing(message)
        if message.type in _ABOUT_RUNS:
            return self._about_run(self._runs[message.run], message)
        return self._about_itself(message)

    def _about_run(self, run, message):
        match message.type:
            case MessageType.JOBS:
                return self._begin(run, to_records(message.payload, run.source.job_dtype))
            case MessageType.RESTORE_PROGRESS:  # a tree cannot use the progress of one worker
                size = run.source.job_dtype.itemsize
                return self._begin(run, to_records(message.payload[:size], run.source.job_dtype))
            case MessageType.JOB_UPDATE:
                run.source.update(to_records(message.payload, messages.UPDATE_RECORD))
                return self.master.handle(More(run.number))
            case MessageType.EXPORT_IDS:
                job, *ids = to_records(message.payload, np.int64).tolist()
                run.source.assign_ids(job, ids)
            case MessageType.STOP:
                run.stopping = True
                return self.master.handle(Halt(run.number))
            case MessageType.END:
                del self._runs[message.run]
                return self.master.handle(Halt(message.run))
        return []

    def _about_failing(self, message):
        """Take in a message about a run that can have no source."""
        match message.type:
            case MessageType.JOBS | MessageType.RESTORE_PROGRESS:
                return [Outgoing(ABOVE, messages.failed(message.run, self._failing[message.run]))]
            case MessageType.STOP:
                return [Outgoing(ABOVE, Message(MessageType.STOPPED, message.run))]
            case MessageType.END:
                del self._failing[message.run]
        return []

    def _about_itself(self, message):
        """Take in a message that is not about a run."""
        match message.type:
            case MessageType.OPEN:
                return self._open(message)
            case MessageType.SETUP:
                if message.run not in self._setups:
                    self._setups[message.run] = _Setup(message.run, message.payload)
                self._setups[message.run].awaited = True
                return self.master.handle(Prepare(self._setups[message.run].text))
            case MessageType.FORGET:
                return self.master.handle(Drop(self._setups.pop(message.run).text))
            case MessageType.START:
                return [Outgoing(rank, message) for rank in self._ranks]
            case MessageType.METRICS_REQUEST:
                ranks = [rank for rank in self._ranks if rank not in self.master.absent]
                self._metrics_requests.append((message.run, dict.fromkeys(ranks)))
                return [Outgoing(rank, message) for rank in ranks]
            case MessageType.PROGRESS_REQUEST:
                return [Outgoing(ABOVE, Message(MessageType.PROGRESS, message.run))]
            case MessageType.PING:
                return [Outgoing(ABOVE, Message(MessageType.PONG, message.run))]
            case MessageType.RESET:
                self._epoch = message.run
                self._metrics_requests.clear()
                numbers, self._runs, self._failing = list(self._runs), {}, {}
                return [outgoing for number in numbers for outgoing in self.master.handle(Halt(number))]
            case MessageType.QUIT:
                self.has_left, self.leaves_alone = True, message.run == 1 or bool(self.master.lost)
                return self.master.handle(Leave(self.leaves_alone))
        return []

    def _begin(self, run, jobs):
        if log.isEnabledFor(logging.DEBUG):
            log.debug("run %d: jobs %s from above", run.number, jobs["job_id"].tolist())
        run.source.begin(jobs)
        return self.master.handle(More(run.number))

    def _open(self, message):
        log.info("run %d opens", message.run)
        record = to_records(message.payload, messages.OPEN_RECORD)[0]
        setup = self._setups[int(record["setup"])]
        source, failure = (None, setup.failure) if setup.failure else self._attempt(setup.make, len(self._ranks))
        if source is None:
            self._failing[message.run] = failure
            return []
        run = self._runs[message.run] = _Run(message.run, source)
        begin = Begin(run.number, setup.text, run.source, client=int(record["client"]), weight=float(record["weight"]))
        return self.master.handle(begin)

    def _take_in_metrics(self, sender, message):
        """Keep a worker's metrics until those of all have come."""
        record = to_records(message.payload, messages.METRICS_RECORD).copy()
        record["rank"] = sender
        for run, by_rank in self._metrics_requests:
            if run == message.run and by_rank.get(sender, record) is None:
                by_rank[sender] = record
                break

    def _metrics_answers(self):
        """Send up the metrics that have come from all workers that are there."""
        out, requests = [], self._metrics_requests
        self._metrics_requests = []
        for run, by_rank in requests:
            for rank in self.master.absent & by_rank.keys():  # if it rejoins, it does not know of the request
                del by_rank[rank]
            if run == messages.NO_RUN:  # one that compiles is not to hide from watchers what the others do
                for rank in self.master.preparing & by_rank.keys():
                    del by_rank[rank]
            if any(record is None for record in by_rank.values()):
                self._metrics_requests.append((run, by_rank))
            else:
                records = np.concatenate([np.empty(0, messages.METRICS_RECORD), *by_rank.values()])
                out.append(Outgoing(ABOVE, Message(MessageType.METRICS, run, from_records(records))))
        return out

    def _reports(self, event):
        """Return the messages to rank 0 that follow."""
        out = self._ready() + self._changes_of_workers() + self._metrics_answers()
        for run in list(self._runs.values()):
            out += self._reports_of(run)
        if (
            isinstance(event, Received)
            and event.message.type == MessageType.NODE_COUNT
            and self.master.is_open(event.message.run)
        ):
            nodes = np.array([self.master.state(event.message.run).nodes_at_work], np.int64)
            out.append(Outgoing(ABOVE, Message(MessageType.NODE_COUNT, event.message.run, from_records(nodes))))
        if self._epoch is not None and not self.master.has_runs:
            out.append(Outgoing(ABOVE, Message(MessageType.RESET_DONE, self._epoch)))
            self._epoch = None
        return out

    def _ready(self):
        """Report setups for which all workers are ready; the kernels that their jobs need here are loaded then."""
        out = []
        for setup in self._setups.values():
            if setup.awaited and self.master.is_ready(setup.text):
                log.info("setup %d is ready", setup.number)
                setup.awaited = False
                if not setup.make:
                    setup.make, setup.failure = self._attempt(self._maker, setup.content)
                out.append(Outgoing(ABOVE, Message(MessageType.READY, setup.number)))
        return out

    def _changes_of_workers(self):
        """Report workers that have been lost or have rejoined."""
        lost, rejoined = self.master.lost[self._reported_lost :], self.master.rejoined[self._reported_rejoined :]
        self._reported_lost, self._reported_rejoined = len(self.master.lost), len(self.master.rejoined)
        changes = [(rank, 1) for rank, _ in lost] + [(rank, 0) for rank, _ in rejoined]
        return [
            Outgoing(ABOVE, Message(MessageType.WORKER_LOST, 0, from_records(np.array(each, np.int64))))
            for each in changes
        ]

    def _attempt(self, make, *given):
        """Return (what ``make`` returns, ""), or (None, why it failed), which is raised if this is not guarded."""
        try:
            return make(*given), ""
        except Exception as error:
            if not self._guarded:
                raise
            return None, line_of(error)

    def _maker(self, content):
        if self._shares and content.get("share"):
            return self._shares[content["kind"]](content)
        runner = self._kinds[content["kind"]](content)
        return lambda workers: Relay(runner)

    def _reports_of(self, run):
        """Return the messages to rank 0 about a run."""
        source, number, out, above = run.source, run.number, [], []
        if failure := self.master.failures.pop(number, ""):
            above.append(messages.failed(number, failure))
        ended = run.stopping and not self.master.is_open(number) and not source.awaits_ids
        if not run.stopping:
            for job, words in source.exports():
                log.debug("run %d: job %d is exported", number, job)
                above.append(Message(MessageType.EXPORT, number, from_records(np.concatenate(([job], words)))))
            out += self.master.handle(More(number)) if above else []  # workers below them must know
        for job_id, remainder, subtree in source.splits():
            record = from_records(np.array([(job_id, remainder)], messages.SPLIT_RECORD))
            above.append(Message(MessageType.SPLIT, number, np.concatenate((record, subtree))))
        records = source.answers(ended)
        if len(records):
            log.debug("run %d: answers of jobs %s", number, records["job_id"])
        most = max(1, messages.LARGEST // records.itemsize)
        above += [
            Message(MessageType.RESULTS, number, from_records(records[i : i + most]))
            for i in range(0, len(records), most)
        ]
        if ended:
            run.stopping = False
            above.append(Message(MessageType.STOPPED, number))
        return out + [Outgoing(ABOVE, message) for message in above]


class Relay(SubmasterSource):
    """Passes on jobs, their updates, their results, and the subtrees that workers split off."""

    updates_jobs = True

    def __init__(self, runner: Runner):
        self.result_dtype, self.job_dtype = runner.result_dtype, runner.job_dtype
        self._unsearched = runner.unsearched
        self._queue = deque()  # arrays of job records
        self._out = {}  # job id → (worker, job record, None of a remainder whose record only its worker has)
        self._results, self._updates, self._splits = [], [], []

    def begin(self, jobs: np.ndarray) -> None:
        """Take in an array of job records."""
        self._queue.append(jobs)

    @property
    def waiting(self) -> int:
        return sum(map(len, self._queue))

    def take(self, count: int, worker: int) -> np.ndarray:
        """Return up to ``count`` jobs for a worker."""
        if not self._queue:
            return np.zeros(0, self.job_dtype)
        jobs = self._queue.popleft()
        if len(jobs) > count:
            self._queue.appendleft(jobs[count:])
            jobs = jobs[:count]
        self._out.update((job_id, (worker, jobs[k])) for k, job_id in enumerate(jobs["job_id"].tolist()))
        return jobs

    def finish(self, results: np.ndarray) -> None:
        """Take result records in."""
        for job_id in results["job_id"].tolist():
            del self._out[job_id]
        self._results.append(results)

    def update(self, records: np.ndarray) -> None:
        """Take in what is new of jobs: UPDATE_RECORDs."""
        for record in records.tolist():
            job_id, low, high = record[:3]
            if job_id in self._out:
                self._updates.append((self._out[job_id][0], *record))
            else:
                self._update_queued(job_id, low, high)

    def _update_queued(self, job_id, low, high):
        for i, jobs in enumerate(self._queue):
            at = jobs["job_id"] == job_id
            if not at.any():
                continue
            if low >= high:
                self._results.append(self._unsearched(jobs[at]))
                self._queue[i] = jobs[~at]
            else:
                self._queue[i] = narrowed = jobs.copy()
                narrowed["low"][at], narrowed["high"][at] = low, high
            break
        self._queue = deque(jobs for jobs in self._queue if len(jobs))

    def job_updates(self, idle_workers: int) -> list[tuple]:
        """See ``WorkSource.job_updates``."""
        found, self._updates = self._updates, []
        return found

    def on_split(self, job: int, remainder: int, subtree: np.ndarray) -> None:
        worker, _ = self._out.pop(job)
        self._out[remainder] = worker, None
        self._splits.append((job, remainder, subtree))

    def lost(self, worker: int) -> None:
        """See ``WorkSource.lost``; jobs that only the lost worker knew are answered with nothing."""
        gone = [(job_id, job) for job_id, (holder, job) in self._out.items() if holder == worker]
        for job_id, job in gone:
            del self._out[job_id]
            if job is not None:
                self._queue.append(job.reshape(1))
            else:
                nothing = np.zeros(1, self.job_dtype)
                nothing["job_id"] = job_id
                self._results.append(self._unsearched(nothing))

    def splits(self) -> list[tuple]:
        found, self._splits = self._splits, []
        return found

    def answers(self, ended: bool = False) -> np.ndarray:
        """Return the result records that came in since the latest call."""
        found, self._results = self._results, []
        return np.concatenate(found) if found else np.zeros(0, self.result_dtype)
