"""The worker as a state machine: messages in, messages out, and a slice of work when it is asked for one."""

import json
import time
from collections import deque

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
    from_records,
    to_records,
)  # fmt: skip

SLICE = 0.002  # CPU seconds of work between two looks at the mail
_FIRST_BUDGET = 1000  # boards, before the rate is known
_REPORT = 1.0  # seconds between two reports on a long job
_FASTEST_GROWTH = 8  # a budget grows at most so many times from one slice to the next


class Timers:
    """Where a worker's time goes, in seconds: three clocks, none of them worked out from the others.

    The caller adds to ``communication`` and ``idle``; work adds to ``busy`` (wall) and ``cpu``.
    """

    def __init__(self, clock):
        self.started = clock()
        self.busy = self.communication = self.idle = self.cpu = 0.0
        self.jobs = self.messages = self.bytes = 0


class Worker:
    """Does the jobs that the master sends, one after another.

    kinds: for each kind of job the class of its runner (see ``tree.jobs``); clock and cpu_clock: seconds. ``timers``
    belong to the run at hand.
    """

    def __init__(self, kinds, clock=time.perf_counter, cpu_clock=time.process_time):
        self._kinds, self._clock, self._cpu_clock = kinds, clock, cpu_clock
        self._runners = {}  # by setup, for the runs to come
        self._runner = None
        self._run = 0
        self._queue = deque()
        self._job = None  # (began, CPU seconds so far) of the job at work
        self._results = []  # of jobs done in this slice
        self._reported = 0.0
        self._budget = _FIRST_BUDGET
        self.left = False  # the master said QUIT
        self.slice = 0.0, 0.0  # when the last slice of work began and ended
        self.timers = Timers(clock)

    def handle(self, message):
        """Take a message in; return the list of Messages that answer it."""
        if message.type == SETUP:
            return self._open(message)
        if message.type == QUIT:
            self.left = True
            return []
        if message.run != self._run:
            return []
        if message.type == START:
            self.timers = Timers(self._clock)
        elif message.type == JOBS:
            self._queue.extend(to_records(message.payload, self._runner.job_dtype))
        elif message.type == STOP:
            return self._stop()
        elif message.type == END:
            return [Message(METRICS, self._run, from_records(self._metrics()))]
        return []

    def _open(self, message):
        text = message.payload.tobytes()
        if text not in self._runners:
            setup = json.loads(text)
            runner = self._kinds[setup["kind"]](setup)
            runner.compile()
            self._runners[text] = runner
        self._runner, self._run = self._runners[text], message.run
        self._runner.open(message.run)
        self._queue.clear()
        self._results.clear()
        self._job = None
        self._budget = _FIRST_BUDGET
        self.timers = Timers(self._clock)
        return [Message(READY, self._run)]

    def _stop(self):
        self._queue.clear()
        if self._job:
            self._finish()
        return [*self._send_results(), Message(STOPPED, self._run)]

    def _finish(self):
        began, cpu = self._job
        self._job = None
        self._results.append(self._runner.result(self._clock() - began, cpu))

    def _send_results(self):
        if not self._results:
            return []
        payload = from_records(np.concatenate(self._results))
        self._results.clear()
        return [Message(RESULTS, self._run, payload)]

    def _metrics(self):
        timers = self.timers
        record = np.zeros(1, METRICS_RECORD)
        record[0] = (
            self._clock() - timers.started, timers.busy, timers.communication, timers.idle, timers.cpu, timers.jobs,
            timers.messages, timers.bytes,
        )  # fmt: skip
        return record

    @property
    def has_work(self):
        """Whether a job is at work or queued."""
        return self._job is not None or bool(self._queue)

    def work(self):
        """Do one slice of work, many small jobs or a part of a large one; return the Messages that come of it."""
        began, cpu_began = self._clock(), self._cpu_clock()
        now, cpu = began, cpu_began
        while self.has_work and now - began < SLICE:
            if self._job is None:
                self._runner.begin(self._queue.popleft())
                self._job = now, 0.0
                self._reported = now
            before = self._runner.boards
            done = self._runner.advance(self._budget)
            cpu_before, cpu = cpu, self._cpu_clock()
            self._adapt(self._runner.boards - before, cpu - cpu_before)
            self._job = self._job[0], self._job[1] + cpu - cpu_before
            if done:
                self._finish()
                self.timers.jobs += 1
            now = self._clock()
        out = self._send_results()
        if self._job and now - self._reported > _REPORT:
            self._reported = now
            out.append(Message(PROGRESS, self._run, from_records(np.array([self._runner.boards], np.int64))))
        self.timers.cpu += self._cpu_clock() - cpu_began
        self.slice = began, self._clock()
        self.timers.busy += self.slice[1] - began
        return out

    def _adapt(self, boards, cpu):
        """Make the next slice last about SLICE, from the rate of this one, if it was long enough to tell."""
        if boards >= self._budget or cpu > SLICE:
            self._budget = int(min(max(boards / max(cpu, 1e-6) * SLICE, 100), self._budget * _FASTEST_GROWTH))
