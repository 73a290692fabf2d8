"""Progress of a study of many runs: which one is at work, how far that is, and how long all will take."""

import statistics
import time


class Countdown:
    """Stands for a ``Progress`` in the searches of a study, whose lines it begins by how far the study is.

    progress: where to show it; costs: for every run that is still to be done, in order, what runs are alike by, from
    the closest likeness to the loosest: the time of a run is foretold by those before that are the closest.
    """

    def __init__(self, progress, costs, clock=time.monotonic):
        self._progress, self._costs, self._clock = progress, costs, clock
        self._seconds = {}  # likeness → seconds of runs that are over
        self._number, self._name, self._began = 0, "", clock()
        progress.begin()

    def begin(self):
        """A search begins; the study has begun long ago."""

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

    def due(self):
        return self._progress.due()

    def show(self, text):
        left = self.left()
        when = "" if left is None else f", {clock_time(left)} left"
        where = f"run {self._number} of {len(self._costs)}{when}: " if self._number else ""
        self._progress.show(f"{where}{self._name}{': ' * bool(text)}{text}")

    def note(self, text):
        self._progress.note(text)

    def clear(self):
        self._progress.clear()


def clock_time(seconds):
    """Return seconds as 0:07, 12:34 or 1:23:45."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
