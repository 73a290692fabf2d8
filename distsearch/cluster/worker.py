"""The worker as a state machine: messages in, messages out, and a slice of work when it is asked for one."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from ..core.errors import line_of
from . import messages
from .fair_queue import FairQueue
from .joint import Joint
from .joint_search import Guest, Owner
from .messages import Message, MessageType, Outgoing, from_records, to_records
from .protocols import BatchRunner, Runner
from .time_splitter import TimeSplitter
from .trace import NARROWED, SPLIT, WORK, Timers
from .worker_state import Setup, WorkerRun, next_budget

SLICE = 0.002  # CPU seconds of work between two looks at the mail
_ENOUGH = 0.75  # of a slice: a long job that goes on in the remainder may make two slices of it
_REPORT = 1.0  # seconds between two reports on a long job


log = logging.getLogger("distsearch.worker")


class Worker:
    """Does the jobs that the master sends; jobs of a run one after another, those of several runs in turn.

    A slice of work belongs to the client that has had the least so far (see ``fair_queue``), so a long search holds no
    other up. ``timers`` count from the latest START.

    Args:
        kinds: for each kind of job the class of its runner (see ``jobs``).
        clock, cpu_clock: return seconds.
        joint: by which ranks of the host join each other's jobs, None if they do not.
        shared_slice: seconds of a slice of a job that several ranks search, None for that of any job.
        guarded: an exception of a runner ends its run, which FAILED tells the master, and not this process.
        gpu_clock: returns the seconds that this rank's GPU has been at work, None if it has none.
    """

    def __init__(
        self,
        kinds: Mapping[str, Callable[[dict], Runner]],
        clock: Callable[[], float] = time.perf_counter,
        cpu_clock: Callable[[], float] = time.process_time,
        joint: Joint | None = None,
        shared_slice: float | None = None,
        guarded: bool = False,
        gpu_clock: Callable[[], float] | None = None,
    ):
        self._guarded = guarded
        self._kinds, self._clock, self._cpu_clock = kinds, clock, cpu_clock
        self._gpu_clock = gpu_clock or float  # always 0.0
        self._logs_jobs = log.isEnabledFor(logging.DEBUG)
        self._setups = {}  # number → Setup
        shared_slice = shared_slice or SLICE
        self._owner = Owner(joint, SLICE, shared_slice)
        self._guest = Guest(joint, self._setups, clock, cpu_clock, shared_slice) if joint else None
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
                job_id, host, *ranks = to_records(message.payload, np.int64).tolist()
                self._runs[message.run].begin_exchange(job_id, host, ranks, self._clock())
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
        self._owner.close(run)
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
        joint = self._guest is not None and bool(record["joint"])
        self._runs[message.run] = WorkerRun(message.run, setup, client, weight, joint)

    def _queue(self, run, jobs):
        if not run.has_work:
            self._join(run)
        run.queue.append(to_records(jobs, run.setup.job_dtype).copy())  # windows are narrowed in place

    def _resume(self, run, payload):
        size = run.setup.job_dtype.itemsize
        self._queue(run, payload[:size])
        run.progress[int(run.queue[-1]["job_id"][0])] = payload[size:]

    def peer_messages(self) -> list[Outgoing]:
        """Return the Outgoing messages to workers of other hosts."""
        out = []
        for run in self._runs.values():
            if run.exchanges:
                out += run.exchange.messages(run.runner, self._clock())
        return out

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
            run.end_exchange()
            if run.job:
                self._finish(run)
                self._put_down(run)
            self._leave(run)
        return [*run.take_results(), Message(MessageType.STOPPED, number)]

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
                    self._owner.close(run)
                    run.runner.narrow(low, high)
                    if self.timers.trace:
                        self.timers.trace.instant(NARROWED, self._clock(), job_id, low, high)
                else:
                    self._finish(run)
                    self._put_down(run)
            elif not run.update_queued(job_id, low, high):
                continue  # it has been answered
            if needed and least > 0:
                run.split_requests[job_id] = remainder, least
        if had_work and not run.has_work:
            self._leave(run)
        return run.take_results()

    def _update_in_batch_runner(self, run, job_id, low, high):
        if low < high:
            run.runner.narrow(job_id, low, high)
            return
        self._take_in(run, run.runner.drop(job_id))
        if not run.runner.at_work:
            run.job = run.time_splitter = None
            self._put_down(run)

    def _split(self, run):
        """Split a subtree off the job at work, if one is requested and there is one; return the Messages about it."""
        job_id = run.runner.job_id
        request = run.split_requests.get(job_id) if run.split_requests else None
        if request is None:
            return []
        subtree = run.runner.split_off(*request)
        if subtree is None:
            return []
        self._owner.close(run)
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
            run.end_exchange()
            self._owner.close(run)
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
        self._owner.close(run)
        if run.exchange:
            run.end_exchange_of((run.runner.job_id,))
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
        seconds = self._clock() - timers.started, timers.busy, timers.communication, timers.idle, timers.cpu, timers.gpu
        counts = timers.jobs, timers.messages, timers.bytes
        slots = max((setup.slots for setup in self._setups.values()), default=1)
        at_work = sum(run.at_work for run in self._runs.values())
        at_work += self._guest is not None and self._guest.is_at_work
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
        if self._guest and self._guest.is_at_work:
            self._guest.leave()
        began, cpu_began, gpu_began = self._clock(), self._cpu_clock(), self._gpu_clock()
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
        out += run.take_results()
        if run.job and run.split_requests and not run.time_splitter:
            out += self._split(run)
        if run.offloads and run.time_splitter and len(fresh := run.runner.new_offloads()):
            out.append(Message(MessageType.OFFLOAD, run.number, from_records(fresh)))
        self._owner.renew()
        if run.joint:
            self._owner.open(run)
        if not run.job and run.runner:
            self._put_down(run)
        if not run.has_work:
            self._leave(run)
        elif run.job and now - run.reported > _REPORT:
            run.reported = now
            nodes = run.runner.nodes + self._owner.nodes_of_others(run)
            out.append(Message(MessageType.NODE_COUNT, run.number, from_records(np.array([nodes], np.int64))))
        self.timers.cpu += self._cpu_clock() - cpu_began
        self.timers.gpu += self._gpu_clock() - gpu_began
        self.slice = began, self._clock()
        self.timers.busy += self.slice[1] - began
        if self.timers.trace:
            self.timers.trace.slice(WORK, *self.slice, self.timers.jobs - jobs)
        return out

    @property
    def can_join(self) -> bool:
        """Whether there is a job of another rank that this one, which has none, can join or has joined."""
        return self._guest is not None and not self.has_work and self._guest.can_work

    def join(self) -> list[Message]:
        """Do one slice of another rank's job, see ``can_join``; no Messages come of it, for its owner answers it."""
        began, guest = self._clock(), cast(Guest, self._guest)
        try:
            worked = guest.work(began, self.timers)
        except Exception as error:
            self.slice = began, self._clock()
            if not guest.is_at_work:
                raise
            self._tolerated(error)
            guest.fail()
            return []
        self.slice = began, self._clock() if worked else began
        if worked:
            self.timers.busy += self.slice[1] - began
            if self.timers.trace:
                self.timers.trace.slice(WORK, *self.slice, 0)
        return []

    def _work_on(self, run, now, cpu):
        """Do jobs of one run for a slice or until they are done; return the wall and CPU clocks."""
        if run.runner is None:
            run.runner = run.setup.take(run)
        runner = run.runner
        if run.exchanges:
            self._owner.share(run)
            run.exchange.apply(runner)
        length = self._owner.length_of(run)
        end, enough = now + length, now + _ENOUGH * length
        if isinstance(runner, BatchRunner):
            return self._work_with_batch_runner(run, now, cpu)
        while run.has_work and now < (enough if run.job else end):
            if run.job is None and runner.batches and not run.resumes and not run.was_joined:
                now, cpu = self._batch(run, now, cpu)
                continue
            if run.job is None:
                run.take_next()
                if self._logs_jobs:
                    log.debug("run %d: job %d begins", run.number, run.record["job_id"])
                run.job = run.begin(now)
                if run.was_joined:
                    self._owner.open(run)
                    length = self._owner.length_of(run)
                    end, enough = now + length, now + _ENOUGH * length
            before, cpu_before = runner.nodes, cpu
            done = runner.advance(run.budget)
            cpu = self._cpu_clock()
            self.timers.nodes += runner.nodes - before
            run.budget = next_budget(run.budget, runner.nodes - before, cpu - cpu_before, length)
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
        run.budget = next_budget(run.budget, nodes, cpu - cpu_began, SLICE)
        self._log_ended(run, records)
        self.timers.jobs += len(records)
        if len(records):
            run.results.append(records)
            run.end_exchange_of(records["job_id"])
            for job_id in records["job_id"].tolist() if run.split_requests else ():
                run.split_requests.pop(job_id, None)
        if unfinished:
            part = (at_work + 1) / counted
            run.job = now - part * (now - began), part * (cpu - cpu_began)
            run.reported, run.record = now, jobs[len(records)]
            if len(jobs) > len(records) + 1:
                run.queue.appendleft(jobs[len(records) + 1 :])
        return now, cpu
