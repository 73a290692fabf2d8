"""The time of jobs that are at work together, split among them."""


class TimeSplitter:
    """Splits time by the jobs' nodes, of which every job counts one more."""

    def __init__(self):
        self.seconds = self.cpu = 0.0  # not attributed yet
        self._jobs = 0

    def add(self, jobs):
        self._jobs += jobs

    def spend(self, seconds, cpu):
        self.seconds += seconds
        self.cpu += cpu

    def attribute(self, records, left):
        """Give records their times; left: boards of the jobs that are still at work. The last ones get all."""
        parts = records["boards"] + 1.0
        self._jobs -= len(records)
        parts /= max(float(parts.sum()) + left + self._jobs, 1.0)
        records["seconds"], records["cpu"] = parts * self.seconds, parts * self.cpu
        used = float(parts.sum())
        self.seconds -= used * self.seconds
        self.cpu -= used * self.cpu
