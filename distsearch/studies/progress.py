"""Progress of a study of many runs: which one is at work, how far that is, and how long all will take."""

import statistics
import time

from ..api.facts import clock_time
from ..api.progress import Part


class Countdown(Part):
    """Stands for a ``Progress`` in the searches of a study, whose lines it begins by how far the study is.

    progress: where to show it; costs: for every run that is still to be done, in order, what runs are alike by, from
    the closest likeness to the loosest: the time of a run is foretold by those before that are the closest.
    """

    def __init__(self, progress, costs, clock=time.monotonic):
        super().__init__(progress, self._at_work)
        self._costs, self._clock = costs, clock
        self._seconds = {}  # likeness → seconds of runs that are over
        self._number, self._name, self._began = 0, "", clock()

    def before(self, name):
        """What comes before the first run is at work."""
        self._name = name
        if self.due():
            self.show("")

    def start(self, name):
        """The next run begins."""
        self._number, self._name, self._began = self._number + 1, name, self._clock()
        if self.due():
            self.show("")

    def finish(self):
        """It is over."""
        took = self._clock() - self._began
        for likeness in self._costs[self._number - 1]:
            self._seconds.setdefault(likeness, []).append(took)

    def left(self):
        """Return how many seconds all will still take, None before anything is known."""
        if not self._seconds:
            return None
        foretold = [self._foretell(likenesses) for likenesses in self._costs[self._number - 1 :]]
        if self._number == 0 or not foretold:
            return sum(foretold)
        return max(0.0, foretold[0] - (self._clock() - self._began)) + sum(foretold[1:])

    def _foretell(self, likenesses):
        known = next((likeness for likeness in likenesses if likeness in self._seconds), None)
        every = self._seconds[known] if known else [each for runs in self._seconds.values() for each in runs]
        return statistics.fmean(every)

    def _at_work(self):
        left = self.left()
        when = "" if left is None else f", {clock_time(left)} left"
        return (f"run {self._number} of {len(self._costs)}{when}: " if self._number else "") + self._name
