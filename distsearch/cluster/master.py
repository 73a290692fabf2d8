"""The master as a state machine: events in, messages out. It reads no clock and does no I/O.

It knows nothing of games: a ``protocols.WorkSource`` hands out jobs and takes results in.

A worker is lost when the transport says so. It may only be slow. So its messages are ignored, and the first one is
answered by RESET. Messages between two ranks keep their order: after RESET_DONE no earlier message can come, and the
worker is readmitted as a new one.
"""

import logging
from collections import Counter
from collections.abc import KeysView, Mapping
from typing import NamedTuple

import numpy as np

from ..core.errors import RanksLostError
from .copies import Copies
from .events import Begin, Drop, Halt, Leave, Lost, More, Prepare, Received, RequestMetrics, RequestProgress, Sample
from .master_run import MasterRun, State
from .messages import (
    METRICS_RECORD,
    NO_RUN,
    OPEN_RECORD,
    PROGRESS_RECORD,
    SPLIT_RECORD,
    Message,
    MessageType,
    Outgoing,
    from_records,
    to_lost,
    to_records,
    update_record,
)
from .samples import Samples
from .trace import EVENT
from .workers import WorkerRegistry

log = logging.getLogger("distsearch.master")

# Types of the messages of every job. Python 3.11 takes 0.2 µs to look a member of an enum up.
_JOBS, _RESULTS, _JOB_UPDATE = MessageType.JOBS, MessageType.RESULTS, MessageType.JOB_UPDATE


class EveryWorkerLostError(RanksLostError):
    """No worker is left."""

    def __init__(self):
        super().__init__("every worker is lost")


_LAST_ROUNDS = 4  # of long jobs that are handed out one at a time, so that none waits behind another one
_OFFLOADED_TO_EACH = 2  # parts for each worker with one slot: one to search, and one that waits
_SHARED_AT_ONCE = 4  # with 2, 15 or 16 workers in a group were idle for longer


class Master:
    """Gives the jobs of any number of runs to workers that are ready for them, and their results to the sources.

    On every host one worker prepares for a new setup first, so that it alone compiles and the others find the kernels
    on disk. A message holds as many jobs as make about a millisecond of work, by the mean of the run's results so far.
    Up to ``prefetch`` such batches are kept at each worker, so that it need not wait for the next one, as long as there
    are enough for all. Workers take turns among the runs of their jobs.

    A worker reports with READY its slots: how many jobs it has at work at once, if not one, as a GPU does. It gets so
    many in a message, or its share of those that wait, by the speeds of all workers so far.

    Args:
        hosts: the host of each worker by rank.
        submasters: rank → {rank of a worker: its host} of each sub-master (see ``submaster``). One of those has jobs
            for each of its workers, or, of a shared run, a few, each of which all its workers search.
    """

    has_no_workers = False  # without any worker it raises an error; see ``Submaster``

    def __init__(self, hosts: Mapping[int, str], submasters: Mapping[int, Mapping[int, str]] | None = None):
        self._hosts = hosts
        self._submasters = submasters or {}
        self._registry = WorkerRegistry(hosts)
        self.lost, self.rejoined = self._registry.lost, self._registry.rejoined
        self._logs_jobs = log.isEnabledFor(logging.DEBUG)  # looked up once: a job costs the master microseconds
        self._runs = {}  # number → MasterRun, of those that are not over
        self.failures: dict[int, str] = {}  # number → why a worker could do no job of this run, which ended it
        self.metrics = {}  # rank → METRICS_RECORD, of the measured run that reported last; none if it did not start
        self.traces = {}  # rank → EVENTs of its timeline, of that run
        self.samples = Samples()

    def is_open(self, run: int) -> bool:
        """Whether a run is not over yet."""
        return run in self._runs

    def state(self, run: int) -> State:
        """Return the State of an open run."""
        return self._runs[run].state

    def busy_workers(self, run: int) -> int:
        """Return how many workers have jobs of an open run, or are of the host of a worker whose job they may join."""
        found, workers = self._runs[run], self._registry.workers
        with_jobs = [rank for rank, jobs in found.out.items() if jobs]
        if not found.joint:
            return len(with_jobs)
        hosts = {workers[rank].host for rank in with_jobs}
        return sum(worker.host in hosts for worker in workers.values())

    def awaits_metrics(self, run: int) -> bool:
        """Whether METRICS of a run were requested and have not all come."""
        return run in self._runs and bool(self._runs[run].awaited)

    def awaits_progress(self, run: int) -> bool:
        """Whether PROGRESS of a run was requested and has not all come."""
        return run in self._runs and bool(self._runs[run].awaiting_progress)

    def progress(self, run: int) -> dict[int, np.ndarray]:
        """Return the progress of jobs that are out: job id → payload of PROGRESS."""
        payloads = self._runs[run].progress.values() if run in self._runs else ()
        return {
            int(to_records(payload[: PROGRESS_RECORD.itemsize], PROGRESS_RECORD)["job_id"][0]): payload
            for payload in payloads
        }

    def is_ready(self, setup: bytes) -> bool:
        """Whether all workers are ready for a setup."""
        return len(self._registry.ready_for(self._registry.setups.get(setup))) == len(self._registry.workers)

    @property
    def has_runs(self) -> bool:
        """Whether any run is open."""
        return bool(self._runs)

    @property
    def absent(self) -> KeysView[int]:
        """Ranks of the workers that are lost and have not rejoined."""
        return self._registry.absent.keys()

    def absent_ranks(self) -> set[int]:
        """Return the same, and those of workers that sub-masters have lost, or that were of a lost sub-master."""
        changes = Counter(rank for rank, _ in self.lost)
        changes.subtract(rank for rank, _ in self.rejoined)
        behind = (rank for leader in self.absent for rank in self._submasters.get(leader, ()))
        return {rank for rank, losses in changes.items() if losses > 0}.union(behind)

    @property
    def preparing(self) -> set[int]:
        """Ranks that prepare for a setup: they may compile for minutes without a look at their mail."""
        return self._registry.preparing

    @property
    def ignored(self) -> int:
        """Messages with results of workers that were lost when they came."""
        return self._registry.ignored

    def handle(self, event: NamedTuple) -> list[Outgoing]:
        """Take one event in; return the list of Outgoing messages that follow from it."""
        if type(event) is Received:  # by far the most
            worker = self._registry.workers.get(event.sender)
            if worker is None:
                return self._registry.on_message_from_lost(event.sender, event.message)
            return self._received(worker, event.message)
        match event:
            case Lost(rank):
                return self._lose(rank) if rank in self._registry.workers else []
            case Begin():
                return self._begin(event)
            case Prepare(setup):
                return self._registry.prepare(setup)
            case More(number):
                return self._more(self._runs[number]) if number in self._runs else []
            case RequestMetrics(number):
                return self._request_metrics(self._runs[number]) if number in self._runs else []
            case Sample():
                return self.samples.request(self._registry.workers)
            case RequestProgress(number):
                return self._request_progress(self._runs[number]) if number in self._runs else []
            case Halt(number):
                return self._halt(self._runs[number]) if number in self._runs else []
            case Drop(setup):
                return self._registry.drop(setup)
            case Leave(some_lost):
                self._runs.clear()
                left = Message(MessageType.QUIT, int(some_lost or bool(self.lost)))
                return [Outgoing(rank, left) for rank in (*self._registry.workers, *self._registry.absent)]
        raise TypeError(f"no such event: {event!r}")

    def _begin(self, begin):
        if not self._registry.workers:
            raise EveryWorkerLostError
        out = self._registry.prepare(begin.setup)
        run = self._runs[begin.run] = MasterRun(begin, self._registry.setups[begin.setup])
        log.info("run %d of setup %d begins", run.number, run.setup)
        run.without.update(self._registry.ready_for(run.setup))
        if len(set(self._hosts.values())) > 1 and run.joint and begin.source.spans_hosts:
            run.copies = Copies(self._hosts)
        if begin.measured:
            self.metrics = {}
        for rank in self._registry.absent:
            run.source.lost(rank)
        return out + self._more(run)

    def _lose(self, rank):
        """Go on without a worker."""
        log.warning("worker %d is lost", rank)
        out = self._registry.lose(rank)
        self.samples.lost(rank)
        for run in list(self._runs.values()):
            run.lose(rank)
            if run.awaited.pop(rank, 0) and not run.awaited:
                self._all_metrics_in(run)
        for run in list(self._runs.values()):
            if not run.ending and (self._registry.workers or run.over):
                out += self._more(run)
        if self._runs and not self._registry.workers:
            raise EveryWorkerLostError
        return out

    def _ready(self, worker, number):
        log.info("worker %d is ready for setup %d", worker.rank, number)
        out = self._registry.is_ready(worker, number)
        for run in [run for run in self._runs.values() if run.setup == number]:
            run.without.add(worker.rank)
            if run.measured and run.state.started:  # without this worker, which was lost then
                out.append(Outgoing(worker.rank, run.start))
            out += self._more(run)
        return out

    def _more(self, run):
        """Hand out what a run's source has, starting the run if it was waiting for workers."""
        if run.over and not run.measured:
            return self._wind_up(run)
        out = []
        if not run.state.started:
            if len(run.without) < (len(self._registry.workers) if run.measured else 1):
                return []
            run.state = State(True, 0)
            if run.measured:
                out = [Outgoing(rank, run.start) for rank in self._registry.workers]
        run.work_wanted = True
        return out + self._continue(run, None)

    def _request_metrics(self, run, last=False):
        message = Message(MessageType.METRICS_REQUEST, run.number, from_records(np.ones(int(last), np.int64)))
        for rank in self._registry.workers:
            run.awaited[rank] = run.awaited.get(rank, 0) + 1
        return [Outgoing(rank, message) for rank in self._registry.workers]

    def _request_progress(self, run):
        if run.over:
            return []
        run.progress = {}
        run.awaiting_progress = {rank for rank, jobs in run.out.items() if jobs}
        return [Outgoing(rank, Message(MessageType.PROGRESS_REQUEST, run.number)) for rank in run.awaiting_progress]

    def _halt(self, run):
        log.info("run %d is halted", run.number)
        run.halted = True
        return self._wind_up(run)

    def _received(self, worker, message):
        run = self._runs.get(message.run)
        if message.type is _RESULTS and run is not None:  # by far the most
            results = to_records(message.payload, run.source.result_dtype)
            return self._take_in(run, worker, results) + self._continue(run, worker)
        match message.type:
            case MessageType.READY:
                return self._take_in_ready(worker, message)
            case MessageType.METRICS if message.run == NO_RUN:
                self.samples.take_in(worker.rank, message)
            case MessageType.WORKER_LOST:
                rank, lost = to_lost(message)
                (self.lost if lost else self.rejoined).append((rank, self.host_behind(worker.rank, rank)))
        return [] if run is None else self._received_of(run, worker, message)

    def _take_in_ready(self, worker, message):
        had_slots = worker.slots.pop(message.run, None)
        if not len(message.payload) and had_slots:
            worker.gives_back.add(message.run)
        if len(message.payload):
            worker.slots[message.run] = int(to_records(message.payload, np.int64)[0])
        if message.run in worker.ready:  # it goes on in another way
            return []
        return self._ready(worker, message.run)

    def _received_of(self, run, worker, message):
        """Take in a message of an open run."""
        match message.type:
            case MessageType.NODE_COUNT:
                run.count(worker.rank, int(to_records(message.payload, np.int64)[0]))
                return []
            case MessageType.STOPPED:
                self._answered(run, worker, run.out[worker.rank])
                run.stopping.discard(worker.rank)
                run.expect_nothing(worker.rank)
            case MessageType.SPLIT:
                self._on_split(run, worker, message.payload)
            case MessageType.FAILED:
                self.failures.setdefault(run.number, message.payload.tobytes().decode())
                return self._halt(run)
            case MessageType.EXPORT:
                return self._on_export(run, worker, to_records(message.payload, np.int64))
            case MessageType.OFFLOAD:
                run.source.on_offload(worker.rank, to_records(message.payload, np.int64))
                run.work_wanted = True
            case MessageType.PROGRESS:
                run.awaiting_progress.discard(worker.rank)
                if len(message.payload):
                    run.progress[worker.rank] = message.payload
                return []
            case MessageType.TIMELINE:
                run.traces[worker.rank] = to_records(message.payload, EVENT)
                return []
            case MessageType.METRICS:
                self._take_in_metrics(run, worker, to_records(message.payload, METRICS_RECORD))
                return []
        return self._continue(run, worker)

    def _on_split(self, run, worker, payload):
        """Take in the subtree that a worker split off its job."""
        job, remainder = to_records(payload[: SPLIT_RECORD.itemsize], SPLIT_RECORD)[0].tolist()
        if self._logs_jobs:
            log.debug("run %d: worker %d splits job %d, goes on with %d", run.number, worker.rank, job, remainder)
        run.source.on_split(job, remainder, payload[SPLIT_RECORD.itemsize :])
        run.progress.pop(worker.rank, None)  # of a job that is no more, whose id others may get
        run.work_wanted = True

    def _on_export(self, run, worker, words):
        """Take in a job that a sub-master exports, and send it the ids of the jobs that go on there."""
        job = int(words[0])
        ids = run.source.on_export(job, words[1:])
        log.debug("run %d: worker %d exports job %d and goes on with jobs %s", run.number, worker.rank, job, ids)
        self._answered(run, worker, 1 - len(ids))
        run.work_wanted = True
        message = Message(MessageType.EXPORT_IDS, run.number, from_records(np.array([job, *ids], np.int64)))
        return [Outgoing(worker.rank, message), *self._continue(run, worker)]

    def _continue(self, run, worker):
        """Hand out jobs, and wind the run up when it is over, which a source may be once its last job is taken."""
        out = [] if run.over else self._hand_out(run, worker)
        if run.over:
            return out + self._wind_up(run)
        source = run.source
        if source.updates_jobs:
            out += self._update_jobs(run)
        return out + self._offload(run) if source.offloads else out

    def _update_jobs(self, run):
        """Send workers what is new of their jobs."""
        by_rank = {}
        for rank, *record in run.source.job_updates(-1 if run.copies else self._idle(run)):
            if self._logs_jobs:
                _log_update(run, rank, *record)
            for each in run.copies.narrow(*record[:3]) if run.copies else (rank,):
                by_rank[each] = by_rank.get(each, b"") + update_record(*record)
        return [Outgoing(rank, Message(_JOB_UPDATE, run.number, records)) for rank, records in by_rank.items()]

    def _offload(self, run):
        """Request parts of their jobs from workers with many slots, and send the results of earlier parts."""
        out = []
        for rank, rows in run.source.offload_results().items():
            results = from_records(np.array(rows, np.int64))
            out.append(Outgoing(rank, Message(MessageType.OFFLOAD_RESULT, run.number, results)))
        for rank in [rank for rank, jobs in run.out.items() if jobs and self._registry.workers[rank].slots]:
            out += self._request_offload(run, rank)
        return out

    def _request_offload(self, run, rank):
        """Request so many offloaded parts of a worker with many slots, if the request is new."""
        ready = [self._registry.workers[each].slots.get(run.setup, 0) for each in self._registry.ready_for(run.setup)]
        owners = np.count_nonzero(ready)
        wanted = _OFFLOADED_TO_EACH * (len(ready) - owners) // max(owners, 1), run.source.offload_depth
        if not wanted[0] and rank not in run.offload_requests or run.offload_requests.get(rank) == wanted:
            return []
        run.offload_requests[rank] = wanted
        return [
            Outgoing(rank, Message(MessageType.OFFLOAD_REQUEST, run.number, from_records(np.array(wanted, np.int64))))
        ]

    def _take_in(self, run, worker, results):
        """Take results in; return the messages by which workers drop what another host has answered."""
        if self._logs_jobs:
            log.debug("run %d: worker %d has done jobs %s", run.number, worker.rank, results["job_id"].tolist())
        worker.losses = 0
        self._answered(run, worker, len(results))
        run.progress.pop(worker.rank, None)  # which was of the first of these jobs
        run.count(worker.rank, 0)
        seconds = sum(results["seconds"].tolist())
        if worker.slots.get(run.setup):  # its jobs' times say nothing about those of other workers
            pace = run.paces.setdefault(worker.rank, [0, 0.0])
            pace[0] += int(np.count_nonzero(results["complete"]))  # others it hands back
            pace[1] += seconds
        elif run.setup not in worker.gives_back or results["complete"].any():  # else its GPU has failed: no pace
            worker.gives_back.discard(run.setup)
            run.jobs += len(results)
            run.seconds += seconds
        stop = []
        if run.copies:
            results, stop = run.copies.take_in(worker.rank, results)
        if len(results):
            run.source.finish(results)
        if run.setup in worker.gives_back:
            run.source.takes_any(worker.rank)
        if run.passed_over and run.source.waiting > run.source.reserved:
            run.passed_over, run.work_wanted = False, True
        return [
            Outgoing(rank, Message(_JOB_UPDATE, run.number, update_record(job_id, 0, 0, 0, 0))) for rank, job_id in stop
        ]

    def _answered(self, run, worker, jobs):
        run.out[worker.rank] -= jobs
        if not run.out[worker.rank]:
            run.without.add(worker.rank)
        self._registry.load(worker, -jobs)

    def _idle(self, run):
        """How many more jobs of a run could be at work."""
        if self._goes_by_host(run):
            return len(self._one_a_host(run))
        if not self._submasters:
            return len(self._registry.idle & run.without)
        ready = self._registry.ready_for(run.setup)
        return sum(max(0, self._slots(run, rank) - self._registry.workers[rank].load) for rank in ready)

    def _goes_by_host(self, run):
        """Whether a run has a job a host; one of a worker with many slots is offloaded to all others instead."""
        return run.by_host and not self._has_slots(run)

    def _has_slots(self, run):
        """Whether a worker has many jobs of a run at work at once."""
        return any(run.setup in worker.slots for worker in self._registry.workers.values())

    def _one_a_host(self, run):
        """Return a rank without a job for each host that has no job of a run, those with the least to do first."""
        busy = {self._hosts[rank] for rank, jobs in run.out.items() if jobs}
        found = {}
        for rank in sorted(run.without, key=self._turn_of):
            if self._hosts[rank] not in busy:
                found.setdefault(self._hosts[rank], rank)
        return list(found.values())

    def _slots(self, run, rank):
        """How many jobs of a run are at work at once at a worker, or at a sub-master's."""
        workers = len(self._submasters.get(rank, (rank,)))
        return min(_SHARED_AT_ONCE, workers) if run.shared else workers

    def host_behind(self, leader: int, rank: int) -> str:
        """Return the host of a sub-master's worker."""
        return self._submasters[leader][rank]

    def _hand_out(self, run, worker):
        """Hand out jobs that wait or, where none does, copies of jobs at work."""
        out = self._hand_out_new(run, worker)
        return out + self._copy(run) if run.copies else out

    def _hand_out_new(self, run, worker):
        """Top up the worker that has sent something, or, if some got no job before, all workers as far as jobs go."""
        out = []
        by_host = self._goes_by_host(run)
        if by_host and worker is not None and not run.out.get(worker.rank):
            run.work_wanted = True  # any free rank of its host gets the next one
        if worker is not None and not run.work_wanted:
            while sent := self._top_up(run, worker, run.most_batches * self._slots(run, worker.rank)):
                out += sent
            return out
        if not run.source.waiting:
            return out
        run.work_wanted = False
        for rank in self._one_a_host(run) if by_host else sorted(run.without, key=self._turn_of):
            out += self._top_up(run, self._registry.workers[rank], 1)
            if run.work_wanted:
                return out
        workers = self._registry.workers
        if by_host:
            return out
        slots = max((self._slots(run, rank) for rank in self._submasters), default=1)
        for level in range(2, run.most_batches * slots + 1):  # no second batch before all have one
            if level > slots and run.source.waiting < len(workers):
                return out
            most = (level - 1) * run.batch(run.source.waiting // (2 * len(workers)))
            lacking = (rank for rank, jobs in run.out.items() if jobs <= most or run.setup in workers[rank].slots)
            for rank in sorted(lacking, key=self._turn_of):
                out += self._top_up(run, workers[rank], level)
                if run.work_wanted or level > slots and run.source.waiting < len(workers):
                    return out
        return out

    def _turn_of(self, rank):
        """Sort key of workers that need work: of equally busy ones the reliable, or slow ones fail at a job for ever.

        Of these one with many slots: it offloads parts of a single job to the others, and is faster.
        """
        worker = self._registry.workers[rank]
        return worker.load, worker.losses, -len(worker.slots), rank

    def _top_up(self, run, worker, level):
        """Return a message with one more batch for ``worker``, if it has room below ``level`` batches."""
        waiting, workers, out = run.source.waiting, len(self._registry.workers), run.out.get(worker.rank, 0)
        if out and self._goes_by_host(run):
            return []
        slots = self._slots(run, worker.rank)
        rounds = _LAST_ROUNDS if run.many_ahead and run.jobs_are_long else 1
        if out >= slots and waiting < rounds * workers:  # a job kept ahead is not there for an idle worker
            return []
        batch, how = run.batch(waiting // (2 * workers)), {}
        own_slots = worker.slots.get(run.setup)
        if own_slots and run.source.offloads:
            if out or run.source.offloaded:  # the jobs that wait are offloaded parts
                return []
            batch, how = min(own_slots, waiting), {"full_window": True}
        elif own_slots:
            share = int(waiting * self._share_of_jobs(run, worker.rank) / 2)
            batch = max(1, min(own_slots, share, waiting - len(run.without - {worker.rank})))
        elif batch == 1:  # large jobs: others would lack those that wait at one worker
            level = min(level, run.prefetch * slots)
        if run.many_ahead and not own_slots:
            # the easiest jobs are answered first: by their mean a worker got batches that took it seconds
            batch = min(batch, max(run.jobs // workers, run.prefetch * slots) - out)
        if batch < 1 or out > (level - 1) * batch:
            return []
        jobs = run.source.take(batch, worker.rank, **how)
        if not len(jobs):
            if run.source.reserved:  # others may get some
                run.passed_over = True
            else:
                run.work_wanted = True
            return []
        if self._logs_jobs:
            log.debug("run %d: worker %d gets jobs %s", run.number, worker.rank, jobs["job_id"].tolist())
        sent = [Outgoing(worker.rank, message) for message in _messages(run, jobs)]
        if how:
            sent[:0] = self._request_offload(run, worker.rank)
        if run.copies:
            run.copies.assigned(worker.rank, jobs)
        return self._opened(run, worker, len(jobs)) + sent

    def _opened(self, run, worker, jobs):
        """Note that a worker gets so many jobs; return the message by which it knows the run, if it does not yet."""
        known = worker.rank in run.out
        run.out[worker.rank] = run.out.get(worker.rank, 0) + jobs
        run.without.discard(worker.rank)
        self._registry.load(worker, jobs)
        record = np.array([(run.setup, run.client, run.weight, run.joint)], OPEN_RECORD)
        return [] if known else [Outgoing(worker.rank, Message(MessageType.OPEN, run.number, from_records(record)))]

    def _copy(self, run):
        """Have hosts without a job search one of another host, and tell the owners of each job about one another."""
        out = []
        if run.without and not run.source.waiting and not self._has_slots(run):
            for rank in self._one_a_host(run):
                job = run.copies.choose(rank, {each for each, jobs in run.out.items() if jobs == 1})
                if job is None:
                    break
                log.debug("run %d: worker %d gets a copy of job %d", run.number, rank, job["job_id"])
                out += self._opened(run, self._registry.workers[rank], 1)
                out.append(Outgoing(rank, Message(_JOBS, run.number, job.tobytes())))
        for job_id, ranks in run.copies.changed_owners():
            for i, rank in enumerate(ranks):
                payload = from_records(np.array([job_id, i, *ranks], np.int64))
                out.append(Outgoing(rank, Message(MessageType.HOSTS, run.number, payload)))
        return out

    def _share_of_jobs(self, run, rank):
        """Return the share of a run's jobs for a worker with many slots, by the speeds so far."""
        others = len(self._registry.workers) - 1
        jobs, seconds = run.paces.get(rank, (0, 0.0))
        if not others or not jobs or not run.jobs:
            return 1.0
        speed = jobs / max(seconds, 1e-9)
        return speed / (speed + others * run.jobs / max(run.seconds, 1e-9))

    def _wind_up(self, run):
        """Stop the workers of a run; when none is at work, end it and, if it is measured, gather the metrics."""
        if run.ending:
            return []
        fresh = [rank for rank, jobs in run.out.items() if jobs and rank not in run.stopping]
        run.stopping.update(fresh)
        if run.stopping:
            return [Outgoing(rank, Message(MessageType.STOP, run.number)) for rank in fresh]
        out = [Outgoing(rank, Message(MessageType.END, run.number)) for rank in run.out]
        if run.measured and run.state.started and self._registry.workers:
            run.ending = True
            return out + self._request_metrics(run, last=True)
        self._end(run)
        return out

    def _take_in_metrics(self, run, worker, records):
        for record in records:
            run.metrics[int(record["rank"]) or worker.rank] = record
        run.awaited[worker.rank] -= 1
        if not run.awaited[worker.rank]:
            del run.awaited[worker.rank]
        if not run.awaited:
            self._all_metrics_in(run)

    def _all_metrics_in(self, run):
        """Publish the metrics when all workers have sent theirs, or are lost."""
        self.metrics = dict(run.metrics)
        if run.ending:
            self._end(run)

    def _end(self, run):
        log.info("run %d is over", run.number)
        del self._runs[run.number]
        if run.measured:
            self.metrics, self.traces = run.metrics, run.traces


def _log_update(run, worker, job, low, high, remainder, min_depth_left):
    what = f"matters from {low} to {high}" if low < high else "is dropped"
    split = f"; to be split, the remainder is job {remainder}" if min_depth_left else ""
    log.debug("run %d: job %d of worker %d %s%s", run.number, job, worker, what, split)


def _messages(run, jobs):
    """Return the messages that hand out jobs; those that an earlier run had begun travel alone."""
    progress = run.source.progress
    if not progress:
        return [Message(_JOBS, run.number, jobs.tobytes())]
    begun = np.isin(jobs["job_id"], list(progress))
    messages = [
        Message(MessageType.RESTORE_PROGRESS, run.number, job.tobytes() + bytes(progress[int(job["job_id"])]))
        for job in jobs[begun]
    ]
    rest = jobs[~begun]
    return [*messages, Message(_JOBS, run.number, rest.tobytes())] if len(rest) else messages
