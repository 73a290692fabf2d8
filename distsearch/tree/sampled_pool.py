"""What sources of work share whose jobs are sampled runs of one state: which are done, and what all of them took."""

import numpy as np

from .numbered import NumberedJobs


class SampledPool(NumberedJobs):
    """Jobs by number, from 0 on, which are independent of one another; a kind of pool says what each of them is.

    count: of jobs; job_dtype, and ``result_dtype``: of records, in whose ``node`` the number is. ``known`` is which of
    them are done, by number. ``boards``, ``hits``, ``stores``, ``evaluated``, ``cpu``: of all results so far.
    """

    result_dtype = None  # of each kind of pool
    far_hits = replacements = 0  # there is no far table
    settled = False  # whether a search that goes further would find the same

    def __init__(self, count, job_dtype):
        super().__init__(job_dtype, range(count))
        self.known = np.zeros(count, bool)
        self.boards = self.hits = self.stores = self.evaluated = 0
        self.cpu = 0.0

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

    def finish(self, results):
        """Take an array of result records in; what was stopped stays unknown."""
        for number, result in self._back(results):
            if result["complete"]:
                self.known[number] = True
                self._take_in(number, result)
        self._add_up(
            results, boards="boards", hits="table_hits", stores="table_stores", evaluated="evaluated", cpu="cpu"
        )
