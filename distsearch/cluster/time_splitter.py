"""The time of jobs that are at work together, split among them."""

import numpy as np


class TimeSplitter:
    """Splits time by the jobs' nodes, of which every job counts one more."""

    def __init__(self):
        self.seconds = self.cpu = 0.0  # not attributed yet
        self._jobs = 0

    def add(self, jobs: int) -> None:
        self._jobs += jobs

    def spend(self, seconds: float, cpu: float) -> None:
        self.seconds += seconds
        self.cpu += cpu

    def attribute(self, records: np.ndarray, nodes_at_work: int) -> None:
        """Give records their times; nodes_at_work: nodes of the jobs that have no record. The last records get all."""
        shares = records["nodes"] + 1.0
        self._jobs -= len(records)
        shares /= max(float(shares.sum()) + nodes_at_work + self._jobs, 1.0)
        records["seconds"], records["cpu"] = shares * self.seconds, shares * self.cpu
        used = float(shares.sum())
        self.seconds -= used * self.seconds
        self.cpu -= used * self.cpu
