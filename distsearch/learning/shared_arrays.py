"""What learners on the same copy share: weights, the traces of coherent learning, counters, and what games came to."""

import contextlib
import os
from functools import partial

import numpy as np

from ..cluster.shared_memory import SharedWords
from ..core.errors import UserError
from ..core.pages import begin_huge, lazy_zeros
from ..evaluation import near_order
from . import td

RESULTS = 1 << 16  # games whose results are kept until they are read


class Arrays:
    """Arrays that all ranks of ``comm`` see, which are of one host; collective over it (None: one process).

    stages, size: of the network; near: cells of each of its tuples, where their weights are in ``near`` order, see
    ``near_order``, None: in that of files; coherent: whether there are traces; visited: whether visits are counted;
    here: how many such arrays this host gets. weights: float32, shape (stages, size); traces: float32, shape
    (stages · size, 2), for each weight the sum of its errors and that of their sizes, or None; learnt: float32, both of
    them as one row;
    shared: int64, see ``td`` and ``cpu_team``; games: its first words, a ``td.SHARED``; results: int64, shape
    (RESULTS, 4); visits: uint8, for every weight, see ``merging``. All are zero at first. Raises UserError if a host
    has no room.
    """

    def __init__(self, comm, stages, size, coherent, shared_size, visited=False, here=1, near=None):
        count = stages * size
        learnt = -(-count * (3 if coherent else 1) // 2)
        words = [learnt, shared_size, RESULTS * td.RESULT_SIZE, -(-count // 8) if visited else 0]
        mib = -(-8 * sum(words) >> 20)
        merging = 8 * learnt + 16 * count >> 20 if visited else 0  # that a ``Merger`` takes besides
        self._memory = SharedWords(comm, mib, partial(_alone, here, merging), what="weights", times=here)
        ends = np.cumsum(words)
        parts = np.split(self._memory.words[: ends[-1]], ends[:-1])
        self.learnt = parts[0].view(np.float32)
        self.weights = self.learnt[:count].reshape(stages, size)
        self.traces = self.learnt[count : 3 * count].reshape(count, 2) if coherent else None
        self.shared, self.results = parts[1].view(np.int64), parts[2].view(np.int64).reshape(RESULTS, td.RESULT_SIZE)
        self.games = self.shared[: len(td.SHARED)].view(td.SHARED)[0]
        self.visits = parts[3].view(np.uint8)
        self.near = near

    @contextlib.contextmanager
    def as_in_files(self):
        """Have weights and traces in the order of files within a ``with``; no rank must use them meanwhile."""
        self._rearrange(False)
        try:
            yield
        finally:
            self._rearrange(True)

    def _rearrange(self, near):
        stages, size = self.weights.shape
        for stage in range(stages):
            first = stage * size
            for cells in self.near or ():
                end = first + (1 << 4 * cells)
                for values in (self.weights.reshape(-1), self.traces):
                    if values is not None:
                        near_order.rearrange(values[first:end], cells, near)
                first = end

    def close(self):
        """Give the memory back; the arrays are used no more."""
        memory = vars(self).get("_memory")
        vars(self).clear()
        if memory is not None:
            memory.close()


def _alone(here, merging, mib):
    """Return words in huge pages, where there are any; raises UserError if the host has not so much memory."""
    room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    if (mib + merging) * here >= room:
        raise UserError(
            f"weights {(mib + merging) * here}: this host has {room} MiB of memory; use fewer or smaller tuples"
        )
    words = lazy_zeros(mib << 17)
    begin_huge(words, 0, words.nbytes)
    return words
