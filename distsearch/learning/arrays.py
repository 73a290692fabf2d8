"""What learners of a host share: weights, the traces of coherent learning, counters, and what games came to."""

import numpy as np

from ..cluster.shared import SharedWords
from ..search.memory import HugePages, lazy_zeros
from . import td

RESULTS = 1 << 16  # games whose results are kept until they are read


class Arrays:
    """Arrays that all ranks of a host see; collective over ``comm`` (None: one process).

    stages, size: of the network; coherent: whether there are traces; hosts: how many there are. weights: float32, shape
    (stages, size); traces: float32, shape (stages · size, 2), for each weight the sum of its errors and that of their
    sizes, or None; learnt: float32, both of them as one row; shared: int64, see ``td`` and ``team``; results: int64,
    shape (RESULTS, 4). With several hosts base, own and total: float32, as ``learnt``, see ``merging``, and touched:
    uint8, the same length. All are zero at first. Raises UserError if a host has no room.
    """

    def __init__(self, comm, stages, size, coherent, shared_size, hosts=1):
        count = stages * size
        learnt = -(-count * (3 if coherent else 1) // 2)
        others = [learnt] * 3 + [-(-learnt // 4)] if hosts > 1 else []
        words = [learnt, shared_size, RESULTS * td.RESULT_SIZE, *others]
        mib = -(-8 * sum(words) >> 20)
        self._memory = SharedWords(comm, mib, _alone, what="weights")
        ends = np.cumsum(words)
        parts = np.split(self._memory.words[: ends[-1]], ends[:-1])
        self.learnt = parts[0].view(np.float32)
        self.weights = self.learnt[:count].reshape(stages, size)
        self.traces = self.learnt[count : 3 * count].reshape(count, 2) if coherent else None
        self.shared, self.results = parts[1].view(np.int64), parts[2].view(np.int64).reshape(RESULTS, td.RESULT_SIZE)
        self.base = self.own = self.total = self.touched = None
        if others:
            self.base, self.own, self.total = (part.view(np.float32) for part in parts[3:6])
            self.touched = parts[6].view(np.uint8)[: len(self.learnt)]

    def close(self):
        """Give the memory back; nobody uses the arrays any more."""
        vars(self).clear()


def _alone(mib):
    """Return words in huge pages, where there are any."""
    words = lazy_zeros(mib << 17)
    pages = HugePages(words)
    while pages.left:
        pages.make_one()
    return words
