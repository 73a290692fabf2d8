"""What sources of work share whose jobs are sampled runs of one state: who has which job, and what all of them took."""

import numpy as np


class SampledPool:
    """Jobs by number, from 0 on, which are independent of one another; a kind of pool says what each of them is.

    count: of jobs; job_dtype, and ``result_dtype``: of records, in whose ``node`` the number is. ``known`` is which of
    them are done, by number. ``boards``, ``hits``, ``stores``, ``evaluated``, ``cpu``: of all results so far.
    """

    result_dtype = None  # of each kind of pool
    settled = False  # whether a search that goes further would find the same

    def __init__(self, count, job_dtype):
        self._job_dtype = job_dtype
        self._queue = list(range(count))
        self._holders = {}  # number of a job that is out → its worker
        self.known = np.zeros(count, bool)
        self.boards = self.hits = self.stores = self.evaluated = self.jobs = 0
        self.cpu = 0.0

    def _fill(self, job, number):
        """Write what a job is to its record."""
        raise NotImplementedError

    def _take_in(self, number, result):
        """Keep the result of a job that was done to its end."""
        raise NotImplementedError

    @property
    def done(self):
        """Whether every job is."""
        return bool(self.known.all())

    @property
    def finished(self):
        """Jobs that are done."""
        return int(self.known.sum())

    @property
    def subtrees(self):
        """All jobs."""
        return len(self.known)

    @property
    def waiting(self):
        """Jobs that have not been handed out."""
        return len(self._queue)

    def take(self, count, worker):
        """Return up to ``count`` jobs (an array of job records, perhaps empty) for ``worker``."""
        chosen, self._queue = self._queue[:count], self._queue[count:]
        self._holders.update(dict.fromkeys(chosen, worker))
        self.jobs += len(chosen)
        jobs = np.zeros(len(chosen), self._job_dtype)
        for job, number in zip(jobs, chosen, strict=True):
            job["node"] = number
            self._fill(job, number)
        return jobs

    def lost(self, worker):
        """A worker is gone: its jobs are the next to be handed out."""
        numbers = [number for number, holder in self._holders.items() if holder == worker]
        for number in numbers:
            del self._holders[number]
        self._queue = numbers + self._queue
        self.jobs -= len(numbers)

    def finish(self, results):
        """Take an array of result records in; what was stopped stays unknown."""
        for result in results:
            number = int(result["node"])
            del self._holders[number]
            if result["complete"]:
                self.known[number] = True
                self._take_in(number, result)
        for column, field in (("boards", "boards"), ("hits", "table_hits"), ("stores", "table_stores"),
                              ("evaluated", "evaluated"), ("cpu", "cpu")):  # fmt: skip
            setattr(self, column, getattr(self, column) + results[field].sum().item())
