"""A shared table that begins small and grows while a search is long.

Short searches must not pay for a large table: with 1,024 MiB, 40 Connect 4 positions of a million nodes took 1.4 to 2
times the CPU time that they take with 64, in page faults and cache misses. Long ones win by it. So all of the table is
mapped, but takes memory only as it grows, a step at a time, each by a rank whose search is long and has lost an eighth
as many entries as a step has room for: with as many as that, FFO #45 ended with 100 MiB and 484 M nodes, with 1/16 of
them with 238 MiB and 474 M, in the same time. Linear hashing (see ``table.set_buckets``) keeps all other entries in
place.

All ranks that share the table find its size in a word behind it, and look there before every slice of work. One that
has another size for a moment misses entries at most.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import address, taken
from . import side_tables
from .table import BUCKET

LONG = 1 << 22  # nodes of a long search, 0.2 to 0.4 s
_BUCKETS_A_STEP = 1 << 15  # 2 MiB
LOST_A_STEP = BUCKET * _BUCKETS_A_STEP // 8  # entries that were lost, after which a step pays
WORDS = 8  # behind the table
_BEGUN, _DONE = 0, 1  # of these, which steps were begun, and how many are in use


@compiled
def _next_step(where):
    return taken(where)


class Growing:
    """A shared table that grows, as one of the ranks that share it sees it.

    words: uint64, all of it: entries, what ``side_tables`` describes, and WORDS more; zero at first; mib: its size at
    first; back(begin, end): provides the memory of these bytes of it, and returns whether there is some.
    ``words`` is what engines see of it, ``first``: buckets at first. It must have room for a step at least.
    """

    def __init__(self, words, mib, back):
        self.words, self._shared = words[:-WORDS], words[-WORDS:].view(np.int64)
        self.first = (mib << 20) // (16 * BUCKET) // _BUCKETS_A_STEP * _BUCKETS_A_STEP
        self._most = (side_tables.buckets(self.words) - self.first) // _BUCKETS_A_STEP
        self._back = back

    @staticmethod
    def compile():
        """Compile, or load from disk, the kernel that ``grow`` calls, before ranks search."""
        word = np.zeros(1, np.int64)  # kept until the call ends
        _next_step(address(word))

    @property
    def buckets(self):
        """Buckets in use by now."""
        return self.first + _BUCKETS_A_STEP * int(self._shared[_DONE])

    def grow(self):
        """Have the table grow by a step, if there is memory for it."""
        if self._shared[_BEGUN] >= self._most:
            return
        step = int(_next_step(address(self._shared)))
        if step >= self._most:
            return
        size = 16 * BUCKET * _BUCKETS_A_STEP  # bytes
        begin = 16 * BUCKET * self.first + step * size
        if not self._back(begin, begin + size):
            self._most = 0
            return
        self._divide(self.first + _BUCKETS_A_STEP * step)
        # steps that others are at count as done: what they have not moved yet is not found for a moment
        self._shared[_DONE] = max(int(self._shared[_DONE]), step + 1)

    def _divide(self, end):
        """Move to the buckets from ``end`` on what belongs there of those that are divided."""
        half = (end // self.first).bit_length() - 1
        bit = np.uint64(1 << half)
        old, new = (
            self.words[2 * BUCKET * at : 2 * BUCKET * (at + _BUCKETS_A_STEP)].reshape(-1, 2)
            for at in (end - (self.first << half), end)
        )
        entries = old.copy()
        moved = (entries[:, 0] ^ entries[:, 1]) & bit != 0
        new[moved] = entries[moved]
        old[moved] = 0
