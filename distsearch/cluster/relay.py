"""A source of work that hands jobs from above on to a sub-master's workers, and what comes of them up."""

from collections import deque

import numpy as np


class Relay:
    """Passes on jobs, what is new of them, their results, and parts that workers give away."""

    done = False  # more may come at any time
    waits = False

    def __init__(self, runner):
        self.result_dtype, self.job_dtype = runner.result_dtype, runner.job_dtype
        self._unsearched = getattr(runner, "unsearched", None)
        self._queue = deque()  # arrays of job records
        self._out = {}  # node → (worker, job record, None of a rest whose record its worker alone has)
        self._results, self._wishes, self._parts = [], [], []

    def begin(self, jobs):
        """Take in an array of job records."""
        self._queue.append(jobs)

    @property
    def waiting(self):
        return sum(map(len, self._queue))

    def take(self, count, worker):
        """Return up to ``count`` jobs for a worker."""
        if not self._queue:
            return np.zeros(0, self.job_dtype)
        jobs = self._queue.popleft()
        if len(jobs) > count:
            self._queue.appendleft(jobs[count:])
            jobs = jobs[:count]
        self._out.update((node, (worker, jobs[k])) for k, node in enumerate(jobs["node"].tolist()))
        return jobs

    def finish(self, results):
        """Take result records in."""
        for node in results["node"].tolist():
            del self._out[node]
        self._results.append(results)

    def steer(self, records):
        """Take in what is new of jobs: STEER_RECORDs."""
        for record in records.tolist():
            node, low, high = record[:3]
            if node in self._out:
                self._wishes.append((self._out[node][0], *record))
            else:
                self._steer_queued(node, low, high)

    def _steer_queued(self, node, low, high):
        for i, jobs in enumerate(self._queue):
            at = jobs["node"] == node
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

    def wishes(self, idle):
        """Return what is new of jobs that are out: (worker, fields of a STEER_RECORD) each."""
        found, self._wishes = self._wishes, []
        return found

    def gave(self, node, rest, part):
        """A worker gave a part of a job away, and goes on with the rest."""
        worker, _ = self._out.pop(node)
        self._out[rest] = worker, None
        self._parts.append((node, rest, part))

    def lost(self, worker):
        """A worker is gone: others do its jobs, but for those that it alone knew."""
        gone = [(node, job) for node, (holder, job) in self._out.items() if holder == worker]
        for node, job in gone:
            del self._out[node]
            if job is not None:
                self._queue.append(job.reshape(1))
            else:
                nothing = np.zeros(1, self.job_dtype)
                nothing["node"] = node
                self._results.append(self._unsearched(nothing))

    def parts(self):
        """Return (node, rest, part) of what workers gave away since the latest call."""
        found, self._parts = self._parts, []
        return found

    def hand_ups(self):
        """No roots are parted with."""
        return ()

    def answers(self, ended=False):
        """Return the result records that came in since the latest call."""
        found, self._results = self._results, []
        return np.concatenate(found) if found else np.zeros(0, self.result_dtype)
