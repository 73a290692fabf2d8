"""The worker as a state machine: messages in, messages out, and a slice of work when it is asked for one."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from ..core.errors import line_of
from . import messages
from .exchange import NOTHING, Exchange
from .fair_queue import FairQueue
from .joint import Joint
from .messages import Message, MessageType, Outgoing, from_records, to_records
from .protocols import BatchRunner, Runner
from .time_splitter import TimeSplitter
from .trace import NARROWED, SPLIT, WORK, Timers
from .worker_state import FIRST_BUDGET, Setup, WorkerRun

SLICE = 0.002  # CPU seconds of work between two looks at the mail
_ENOUGH = 0.75  # of a slice: a long job that goes on in the remainder may make two slices of it
_REPORT = 1.0  # seconds between two reports on a long job
_FASTEST_GROWTH = 8  # a budget grows at most so many times from one slice to the next


log = logging.getLogger("distsearch.worker")


class _JoinedJob:
    """A job of another rank that this one has joined; its runner is there once it has begun."""

    def __init__(self, job, setup):
        self.job, self.setup = job, setup
        self.runner: Any = None
        self.budget, self.cpu = FIRST_BUDGET, 0.0


class Worker:
    """Does the jobs that the master sends; jobs of a run one after another, those of several runs in turn.

    A slice of work belongs to the client that has had the least so far (see ``fair_queue``), so a long search holds no
    other up. ``timers`` count from the latest START.

    Args:
        kinds: for each kind of job the class of its runner (see ``jobs``).
        clock, cpu_clock: return seconds.
        joint: by which ranks of the host join each other's jobs, None if they do not.
        shared_slice: seconds of a slice of a job that several ranks search.
        guarded: an exception of a runner ends its run, which FAILED tells the master, and not this process.
    """

    def __init__(
        self,
        kinds: Mapping[str, Callable[[dict], Runner]],
        clock: Callable[[], float] = time.perf_counter,
        cpu_clock: Callable[[], float] = time.process_time,
        joint: Joint | None = None,
        shared_slice: float | None = None,
        guarded: bool = False,
    ):
        self._guarded = guarded
        self._kinds, self._clock, self._cpu_clock = kinds, clock, cpu_clock
        self._joint = cast(Joint, joint)  # where it is None, no run is ``joint``
        self._shared_slice = shared_slice or SLICE
        self._logs_jobs = log.isEnabledFor(logging.DEBUG)
        self._opened = None  # the Run whose job at work other ranks can join
        self._joined_job: _JoinedJob | None = None  # while this worker searches a job of another rank
        self._setups = {}  # number → Setup
        self._runs = {}  # number → Run, of those that are open
        self._clients = FairQueue()  # of the runs that have work
        self._turns = {}  # client → FairQueue of its runs that have work
        self.has_left = self.leaves_alone = False  # the master said QUIT; with ranks lost, so that each leaves alone
        self.slice = 0.0, 0.0  # when the last slice of work began and ended
        self.timers = Timers(clock)

    def handle(self, message: Message) -> list[Message]:
        """Take a message in; return the list of Messages that answer it."""
        match message.type:
            case MessageType.JOBS | MessageType.RESTORE_PROGRESS if self._runs[message.run].setup.failure:
                return [messages.failed(message.run, self._runs[message.run].setup.failure)]
            case MessageType.JOBS:
                self._queue(self._runs[message.run], message.payload)
            case MessageType.RESTORE_PROGRESS:
                self._resume(self._runs[message.run], message.payload)
            case MessageType.JOB_UPDATE:
                return self._update_jobs(self._runs[message.run], to_records(message.payload, messages.UPDATE_RECORD))
            case MessageType.OFFLOAD_REQUEST:
                self._runs[message.run].offloads = tuple(to_records(message.payload, np.int64).tolist())
            case MessageType.OFFLOAD_RESULT:
                run = self._runs[message.run]
                if run.time_splitter:  # else its jobs are done
                    run.runner.on_offload_results(
                        to_records(message.payload, np.int64).reshape(-1, messages.OFFLOAD_RESULT_FIELDS)
                    )
            case MessageType.HOSTS:
                self._share_with_hosts(self._runs[message.run], *to_records(message.payload, np.int64).tolist())
            case MessageType.TT_UPDATE:
                if (run := self._runs.get(message.run)) and run.exchange:
                    run.exchange.take_in(message)
            case MessageType.PROGRESS_REQUEST:
                return [Message(MessageType.PROGRESS, message.run, self._progress(self._runs[message.run]))]
            case MessageType.OPEN:
                self._begin_run(message)
            case MessageType.STOP:
                return self._stop(message.run)
            case MessageType.END:
                del self._runs[message.run]
            case MessageType.SETUP:
                return self._prepare(message)
            case MessageType.START:
                events = to_records(message.payload, np.int64).tolist()
                self.timers = Timers(self._clock, *map(int, events))
            case MessageType.METRICS_REQUEST:
                metrics = Message(MessageType.METRICS, message.run, from_records(self._metrics()))
                return [*self._timeline(message.run), metrics] if len(message.payload) else [metrics]
            case MessageType.FORGET:
                del self._setups[message.run]
            case MessageType.QUIT:
                self.has_left, self.leaves_alone = True, message.run == 1
            case MessageType.PING:
                return [Message(MessageType.PONG, message.run)]
            case MessageType.RESET:
                return self._reset(message.run)
        return []

    def _prepare(self, message):
        if message.run not in self._setups:  # it is there if this worker was declared lost
            text = message.payload.tobytes()
            setup = self._setups[message.run] = Setup(self._kinds[json.loads(text)["kind"]], text)
            began = time.perf_counter()
            try:
                setup.compile()
            except Exception as error:
                setup.failure = self._tolerated(error)
            log.info("setup %d compiled in %.2f s: %s", message.run, time.perf_counter() - began, text.decode())
        return [self._ready(message.run)]

    def _tolerated(self, error):
        """Return an exception of a runner as a line, if this worker is guarded; else raise it again."""
        if not self._guarded:
            raise error
        return line_of(error)

    def _give_up(self, run, error):
        """Do nothing more for a run, of which a job has failed; return the Message about it."""
        failure = self._tolerated(error)
        if self._opened is run:
            self._close(run)
        for left in (run.queue, run.progress, run.split_requests, run.results):
            left.clear()
        run.exchange = run.job = run.time_splitter = run.runner = None  # the runner may be in any state
        self._leave(run)
        return [messages.failed(run.number, failure)]

    def _ready(self, number):
        slots = self._setups[number].slots
        return Message(MessageType.READY, number, from_records(np.array([slots] if slots > 1 else [], np.int64)))

    def _reset(self, epoch):
        """Forget all runs: the master declared this worker lost, and other workers have its jobs."""
        log.warning("declared lost: all runs are dropped")
        for run in self._runs.values():
            if run.runner is not None:
                self._put_down(run)
        self._runs.clear()
        self._clients, self._turns = FairQueue(), {}
        self.timers = Timers(self._clock)
        return [Message(MessageType.RESET_DONE, epoch)]

    def _begin_run(self, message):
        log.info("run %d opens", message.run)
        record = to_records(message.payload, messages.OPEN_RECORD)[0]
        setup = self._setups[int(record["setup"])]
        client, weight = int(record["client"]), float(record["weight"])
        joint = self._joint is not None and bool(record["joint"])
        self._runs[message.run] = WorkerRun(message.run, setup, client, weight, joint)

    def _queue(self, run, jobs):
        if not run.has_work:
            self._join(run)
        run.queue.append(to_records(jobs, run.setup.job_dtype).copy())  # windows are narrowed in place

    def _resume(self, run, payload):
        size = run.setup.job_dtype.itemsize
        self._queue(run, payload[:size])
        run.progress[int(run.queue[-1]["job_id"][0])] = payload[size:]

    def _share_with_hosts(self, run, job_id, host, *ranks):
        """Search a job together with these ranks of other hosts, or alone on this host if there are none.

        Each rank does a search that ranks cannot share by itself.
        """
        self._end_exchange(run)
        known = run.job is not None and run.runner.job_id == job_id
        known = known or any(job_id in jobs["job_id"] for jobs in run.queue)
        if len(ranks) > 1 and run.setup.can_join and known:
            run.exchange = Exchange(run.number, job_id, host, ranks, self._clock())

    def _end_exchange(self, run):
        if run.exchange and run.runner:
            run.exchange.end(run.runner)
        run.exchange = None

    def _end_exchange_of(self, run, job_ids):
        if run.exchange and run.exchange.job_id in job_ids:
            self._end_exchange(run)

    def _exchanges(self, run):
        """Whether a run's job at work is searched together with other hosts."""
        if run.exchange is None or run.job is None or run.runner.job_id != run.exchange.job_id:
            return False
        return run.runner.can_be_shared

    def peer_messages(self) -> list[Outgoing]:
        """Return the Outgoing messages to workers of other hosts."""
        out = []
        for run in self._exchanging:
            out += run.exchange.messages(run.runner, self._clock())
        return out

    @property
    def _exchanging(self):
        return [run for run in self._runs.values() if self._exchanges(run)]

    def _progress(self, run):
        """Return the payload of PROGRESS of a run's job at work."""
        content = run.runner.save() if run.job and not run.time_splitter else b""
        if not content:
            return from_records(np.empty(0, messages.PROGRESS_RECORD))
        began, cpu = run.job
        record = np.array([(run.runner.job_id, self._clock() - began, cpu)], messages.PROGRESS_RECORD)
        return np.concatenate((from_records(record), np.frombuffer(content, np.uint8)))

    def _join(self, run):
        if run.client not in self._clients:
            self._clients.join(run.client)
            self._turns[run.client] = FairQueue()
        self._turns[run.client].join(run)

    def _leave(self, run):
        turns = self._turns[run.client]
        turns.leave(run)
        if not len(turns):
            del self._turns[run.client]
            self._clients.leave(run.client)

    def _stop(self, number):
        run = self._runs[number]
        if run.has_work:
            run.queue.clear()
            run.progress.clear()
            self._end_exchange(run)
            if run.job:
                self._finish(run)
                self._put_down(run)
            self._leave(run)
        return [*self._send_results(run), Message(MessageType.STOPPED, number)]

    def _update_jobs(self, run, records):
        """Take in what is new of jobs; those that are dropped are answered at once, as far as they are."""
        had_work = run.has_work
        for record in records:
            job_id, low, high, remainder, least = record.tolist()
            if self._logs_jobs:
                log.debug("run %d: job %d matters from %d to %d, split %d", run.number, job_id, low, high, least)
            needed = low < high
            if run.time_splitter and run.runner.has(job_id):
                self._update_in_batch_runner(run, job_id, low, high)
            elif run.job is not None and not run.time_splitter and run.runner.job_id == job_id:
                if needed:
                    self._close(run)
                    run.runner.narrow(low, high)
                    if self.timers.trace:
                        self.timers.trace.instant(NARROWED, self._clock(), job_id, low, high)
                else:
                    self._finish(run)
                    self._put_down(run)
            elif not self._update_queued(run, job_id, low, high):
                continue  # it has been answered
            if needed and least > 0:
                run.split_requests[job_id] = remainder, least
        if had_work and not run.has_work:
            self._leave(run)
        return self._send_results(run)

    def _update_in_batch_runner(self, run, job_id, low, high):
        if low < high:
            run.runner.narrow(job_id, low, high)
            return
        self._take_in(run, run.runner.drop(job_id))
        if not run.runner.at_work:
            run.job = run.time_splitter = None
            self._put_down(run)

    def _update_queued(self, run, job_id, low, high):
        """Narrow or drop a job that waits; return whether it is there."""
        for i, jobs in enumerate(run.queue):
            at = np.flatnonzero(jobs["job_id"] == job_id)
            if not len(at):
                continue
            if low < high:
                jobs["low"][at], jobs["high"][at] = low, high
            else:
                run.results.append(run.setup.unsearched(jobs[at]))
                run.progress.pop(job_id, None)
                run.split_requests.pop(job_id, None)
                self._end_exchange_of(run, (job_id,))
                if len(jobs) > 1:
                    run.queue[i] = np.delete(jobs, at)
                else:
                    del run.queue[i]
            return True
        return False

    def _split(self, run):
        """Split a subtree off the job at work, if one is requested and there is one; return the Messages about it."""
        job_id = run.runner.job_id
        request = run.split_requests.get(job_id) if run.split_requests else None
        if request is None:
            return []
        subtree = run.runner.split_off(*request)
        if subtree is None:
            return []
        self._close(run)
        del run.split_requests[job_id]
        log.debug("run %d: job %d is split, the remainder is job %d", run.number, job_id, request[0])
        if self.timers.trace:
            self.timers.trace.instant(SPLIT, self._clock(), job_id)
        record = np.array([(job_id, request[0])], messages.SPLIT_RECORD)
        return [Message(MessageType.SPLIT, run.number, np.concatenate((from_records(record), subtree)))]

    def _continue_without(self, run):
        """Replace a runner that has failed, and has given its jobs back undone, by one of another kind."""
        run.runner = run.job = run.time_splitter = None
        run.setup.compile()
        return [self._ready(next(number for number, setup in self._setups.items() if setup is run.setup))]

    def _put_down(self, run):
        if run.time_splitter:
            run.runner.stop()
            run.time_splitter = None
        if run.setup.can_join:
            self._end_exchange(run)
            self._close(run)
            run.runner.share(False)
        run.setup.give_back(run.runner)
        run.runner = None

    def _finish(self, run):
        """End the job at work, or all jobs of a batch runner."""
        began, cpu = run.job
        run.job = None
        if run.time_splitter:
            self._take_in(run, run.runner.stop())
            return
        now = self._clock()
        self._close(run)
        self._end_exchange_of(run, [run.runner.job_id] if run.exchange else ())
        result = run.runner.result(now - began, cpu)
        if run.joint:
            result["nodes"] += run.joined[0]
            result["cpu"] += run.joined[1]
            run.was_joined = run.joined[0] > 0
            run.joined = 0, 0.0
        run.results.append(result)
        if self._logs_jobs:
            how = "done" if result["complete"][0] else "stopped"
            log.debug("run %d: job %d is %s after %.6f s", run.number, result["job_id"][0], how, now - began)
        if self.timers.trace:
            self.timers.trace.job(run.record, result[0], began, now)
        if run.split_requests:
            run.split_requests.pop(run.runner.job_id, None)

    def _send_results(self, run):
        if not run.results:
            return []
        records = np.concatenate(run.results) if len(run.results) > 1 else run.results[0]
        run.results.clear()
        most = max(1, messages.LARGEST // records.itemsize)
        parts = (records[i : i + most] for i in range(0, len(records), most))
        return [Message(MessageType.RESULTS, run.number, from_records(each)) for each in parts]

    def _timeline(self, number):
        """Return the message with the timeline of a run that is over, if one was kept."""
        if not self.timers.trace:
            return []
        events, self.timers.trace = self.timers.trace.records(), None
        return [Message(MessageType.TIMELINE, number, from_records(events))]

    def _metrics(self):
        timers = self.timers
        full = max((setup.table_full for setup in self._setups.values()), default=0.0)  # all have one table
        record = np.zeros(1, messages.METRICS_RECORD)
        seconds = self._clock() - timers.started, timers.busy, timers.communication, timers.idle, timers.cpu
        counts = timers.jobs, timers.messages, timers.bytes
        slots = max((setup.slots for setup in self._setups.values()), default=1)
        at_work = sum(run.at_work for run in self._runs.values()) + (self._joined_job is not None)
        queued = sum(run.queued for run in self._runs.values())
        record[0] = 0, *seconds, *counts, full, timers.nodes, at_work, queued, slots
        return record

    @property
    def has_work(self) -> bool:
        """Whether a job is at work or queued."""
        return bool(self._turns)

    def work(self) -> list[Message]:
        """Do one slice of work, many small jobs or a part of a large one; return the Messages that follow.

        A slice belongs to one run, and ends with the run's work, however early: finished jobs are answered at once.
        There must be some work (see ``has_work``).
        """
        if self._joined_job:
            self._leave_joined_job()
        began, cpu_began = self._clock(), self._cpu_clock()
        client, jobs = self._clients.first(), self.timers.jobs
        run = self._turns[client].first()
        try:
            now, cpu = self._work_on(run, began, cpu_began)
        except Exception as error:
            self.slice = began, self._clock()
            return self._give_up(run, error)
        self._clients.charge(client, cpu - cpu_began)
        self._turns[client].charge(run, cpu - cpu_began, run.weight)
        # the master must know that it has fewer slots before it has the jobs back
        out = self._continue_without(run) if run.runner.failed else []
        out += self._send_results(run)
        if run.job and run.split_requests and not run.time_splitter:
            out += self._split(run)
        if run.offloads and run.time_splitter and len(fresh := run.runner.new_offloads()):
            out.append(Message(MessageType.OFFLOAD, run.number, from_records(fresh)))
        if self._opened:
            self._joint.renew()
        if run.joint:
            self._open(run)
        if not run.job and run.runner:
            self._put_down(run)
        if not run.has_work:
            self._leave(run)
        elif run.job and now - run.reported > _REPORT:
            run.reported = now
            nodes = run.runner.nodes + run.joined[0]
            if self._opened is run:
                nodes += self._joint.spent[0]
            out.append(Message(MessageType.NODE_COUNT, run.number, from_records(np.array([nodes], np.int64))))
        self.timers.cpu += self._cpu_clock() - cpu_began
        self.slice = began, self._clock()
        self.timers.busy += self.slice[1] - began
        if self.timers.trace:
            self.timers.trace.slice(WORK, *self.slice, self.timers.jobs - jobs)
        return out

    def _open(self, run):
        """Let other ranks join the job at work, if it is a large one, and share what is found with those that do."""
        if self._opened is not None and self._opened is not run:
            self._close(self._opened)
        if run.job is None or not run.runner.can_be_shared:
            return
        if self._opened is None:
            self._opened = run
            self._joint.open(run.setup.key, run.number, from_records(run.runner.job_now()))
        if self._joint.joined or run.was_joined:
            self._share(run)

    def _share(self, run):
        """Search the job at work together with other ranks, from the next slice on."""
        if not run.runner.is_shared:
            if run.exchange is None and run.setup.spans_hosts:  # an owner that is gone may have left others' marks
                run.runner.set_remote_marks(NOTHING, 0, 0)
            run.runner.share(True)
            run.budget = max(100, int(run.budget * self._length_of(run) / SLICE))

    def _length_of(self, run):
        """Return the seconds of a slice of a run."""
        if not run.setup.can_join or not run.runner.is_shared:
            return SLICE
        return min(self._shared_slice, run.exchange.every) if run.exchange else self._shared_slice

    def _close(self, run):
        """Stop the ranks that have joined a run's job at work, and note what they have spent."""
        if self._opened is run:
            nodes, cpu = self._joint.close()
            run.joined = run.joined[0] + nodes, run.joined[1] + cpu
            self._opened = None

    @property
    def can_join(self) -> bool:
        """Whether there is a job of another rank that this one, which has none, can join or has joined."""
        if self._joint is None or self.has_work:
            return False
        return self._joined_job is not None or self._joint.any_open and self._find() is not None

    def _find(self):
        known = {setup.key: setup for setup in self._setups.values() if setup.can_join and not setup.failure}
        job = self._joint.find(known, self._clock())
        return (job, known[job.setup]) if job else None

    def join(self) -> list[Message]:
        """Do one slice of another rank's job, see ``can_join``; no Messages come of it, for its owner answers it."""
        began = self._clock()
        try:
            return self._join_a_job(began)
        except Exception as error:
            joined, self._joined_job, self.slice = self._joined_job, None, (began, self._clock())
            if joined is None:
                raise
            self._tolerated(error)
            self._joint.leave(joined.job)  # its owner answers it, and other jobs of its setup may do
            return []

    def _join_a_job(self, began):
        cpu_began = self._cpu_clock()
        if self._joined_job and not self._joint.lasts(self._joined_job.job, began):
            self._leave_joined_job()  # its owner has reported what it took
        if self._joined_job is None:
            found = self._find()
            if found is None:
                self.slice = began, began
                return []
            joined = self._joined_job = _JoinedJob(*found)
            joined.runner = joined.setup.guest(joined.job, self._joint.join(joined.job))
        joined = self._joined_job
        before = joined.runner.nodes
        done = joined.runner.advance(joined.budget)
        cpu = self._cpu_clock() - cpu_began
        self.timers.nodes += joined.runner.nodes - before
        _adapt(joined, joined.runner.nodes - before, cpu, self._shared_slice)
        joined.cpu += cpu
        self._joint.spend(joined.runner.nodes, joined.cpu)
        if done or not self._joint.lasts(joined.job, began):
            self._leave_joined_job(joined.job if done else None)
        self.timers.cpu += self._cpu_clock() - cpu_began
        self.slice = began, self._clock()
        self.timers.busy += self.slice[1] - began
        if self.timers.trace:
            self.timers.trace.slice(WORK, *self.slice, 0)
        return []

    def _leave_joined_job(self, done=None):
        self._joint.leave(done)
        joined, self._joined_job = self._joined_job, None
        if joined:
            joined.runner.share(False)
            joined.setup.give_back(joined.runner)

    def _work_on(self, run, now, cpu):
        """Do jobs of one run for a slice or until they are done; return the wall and CPU clocks."""
        if run.runner is None:
            run.runner = run.setup.take(run)
        runner = run.runner
        if self._exchanges(run):
            self._share(run)
            run.exchange.apply(runner)
        length = self._length_of(run)
        end, enough = now + length, now + _ENOUGH * length
        if isinstance(runner, BatchRunner):
            return self._work_with_batch_runner(run, now, cpu)
        while run.has_work and now < (enough if run.job else end):
            if run.job is None and runner.batches and not run.resumes and not run.was_joined:
                now, cpu = self._batch(run, now, cpu)
                continue
            if run.job is None:
                run.job = self._begin(run, now)
                if run.was_joined:
                    self._open(run)
                    length = self._length_of(run)
                    end, enough = now + length, now + _ENOUGH * length
            before, cpu_before = runner.nodes, cpu
            done = runner.advance(run.budget)
            cpu = self._cpu_clock()
            self.timers.nodes += runner.nodes - before
            _adapt(run, runner.nodes - before, cpu - cpu_before, length)
            job_began, job_cpu = run.job
            run.job = job_began, job_cpu + cpu - cpu_before
            if done:
                self._finish(run)
                self.timers.jobs += 1
                if run.setup.can_join:
                    runner.share(False)
            now = self._clock()
        return now, cpu

    def _work_with_batch_runner(self, run, began, cpu_began):
        """Advance all jobs of a batch runner."""
        runner = run.runner
        if run.job is None:
            run.job, run.time_splitter, run.reported = (began, 0.0), TimeSplitter(), began
        while run.queue and runner.at_work < runner.slots:
            jobs = run.queue.popleft()
            fits = runner.slots - runner.at_work
            if len(jobs) > fits:
                run.queue.appendleft(jobs[fits:])
            runner.add(jobs[:fits])
            run.time_splitter.add(len(jobs[:fits]))
        run.progress.clear()  # such jobs begin again
        if run.offloads:
            runner.offload(*run.offloads)
        before = runner.nodes
        records = runner.advance()
        self.timers.nodes += max(0, int(records["nodes"].sum()) + runner.nodes - before)
        now, cpu = self._clock(), self._cpu_clock()
        run.time_splitter.spend(now - began, cpu - cpu_began)
        self._take_in(run, records)
        self.timers.jobs += len(records)
        if not runner.at_work:
            run.job = run.time_splitter = None
        return now, cpu

    def _take_in(self, run, records):
        """Keep the records of some jobs of a batch runner."""
        run.time_splitter.attribute(records, run.runner.nodes)
        self._log_ended(run, records)
        if len(records):
            run.results.append(records)
        for job_id in records["job_id"].tolist() if run.split_requests else ():
            run.split_requests.pop(job_id, None)

    def _log_ended(self, run, records):
        if self._logs_jobs and len(records):
            log.debug("run %d: jobs %s have ended", run.number, records["job_id"].tolist())

    def _begin(self, run, now):
        """Begin the next job in the queue; return what ``Run.job`` then is."""
        job = run.record = _first(run.queue)
        if self._logs_jobs:
            log.debug("run %d: job %d begins", run.number, job["job_id"])
        progress, run.reported = run.progress.pop(int(job["job_id"]), None), now
        if progress is None:
            run.runner.begin(job)
            return now, 0.0
        record = to_records(progress[: messages.PROGRESS_RECORD.itemsize], messages.PROGRESS_RECORD)[0]
        run.runner.restore(job, progress[messages.PROGRESS_RECORD.itemsize :].tobytes())
        return now - float(record["seconds"]), float(record["cpu"])

    def _batch(self, run, began, cpu_began):
        """Do small jobs in one go, as far as a slice's budget goes; the next one may be left at work."""
        jobs = run.queue.popleft()
        records = run.runner.batch(jobs, run.budget)
        unfinished = len(jobs) > len(records)
        at_work = run.runner.nodes if unfinished else 0
        now, cpu = self._clock(), self._cpu_clock()
        nodes = int(records["nodes"].sum()) + at_work
        self.timers.nodes += nodes
        # no clock is read in there: the time is shared by node counts, at least one for each job
        counted = nodes + len(records) + unfinished
        shares = (records["nodes"] + 1) / counted
        records["seconds"], records["cpu"] = shares * (now - began), shares * (cpu - cpu_began)
        _adapt(run, nodes, cpu - cpu_began)
        self._log_ended(run, records)
        self.timers.jobs += len(records)
        if len(records):
            run.results.append(records)
            self._end_exchange_of(run, records["job_id"])
            for job_id in records["job_id"].tolist() if run.split_requests else ():
                run.split_requests.pop(job_id, None)
        if unfinished:
            part = (at_work + 1) / counted
            run.job = now - part * (now - began), part * (cpu - cpu_began)
            run.reported, run.record = now, jobs[len(records)]
            if len(jobs) > len(records) + 1:
                run.queue.appendleft(jobs[len(records) + 1 :])
        return now, cpu


def _first(queue):
    """Take the first job record off a queue of arrays."""
    jobs = queue.popleft()
    if len(jobs) > 1:
        queue.appendleft(jobs[1:])
    return jobs[0]


def _adapt(run, nodes, cpu, length=SLICE):
    """Make the next slice last about ``length`` seconds, from the rate of this one, if it was long enough to tell."""
    if nodes >= run.budget or cpu > length:
        run.budget = int(min(max(nodes / max(cpu, 1e-6) * length, 100), run.budget * _FASTEST_GROWTH))
