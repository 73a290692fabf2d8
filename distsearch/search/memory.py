"""The pages of large arrays.

A large array of zeros takes memory page by page, as it is written to. Small pages suit short work: a first write to a
huge one clears 2 MiB, 2 s for 1 GiB. Huge ones suit long work: random access to 1 GiB is a third faster. So arrays
begin with small pages, and whoever has worked on one for a while has them made huge, one after another.
"""

import ctypes
import mmap
import sys

import numpy as np

from ..addresses import address

HUGE_PAGE = 1 << 21  # bytes
_COLLAPSE = 25  # MADV_COLLAPSE of Linux 6.1
_CAN_CHOOSE = sys.platform == "linux" and hasattr(mmap, "MADV_NOHUGEPAGE")


def lazy_zeros(size):
    """Return a uint64 array of zeros, in small pages that take memory when they are written to."""
    if size == 0 or not _CAN_CHOOSE:
        return np.zeros(size, np.uint64)
    memory = mmap.mmap(-1, 8 * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.uint64)


class HugePages:
    """Makes the pages of an array from ``lazy_zeros`` huge, one at a time."""

    def __init__(self, array):
        start = address(array)
        self._next = -(-start // HUGE_PAGE) * HUGE_PAGE
        self._end = start + array.nbytes if _CAN_CHOOSE else 0

    @property
    def left(self):
        """Huge pages that are still to be made."""
        return max(0, (self._end - self._next) // HUGE_PAGE)

    def make_one(self):
        """Make the next page huge; if the system cannot, none is left.

        It takes about 1 ms, but 4.5 to 4.7 ms were measured at times, and 8 to 10 ms beside other work: a slice takes
        that much longer.
        """
        where, size = ctypes.c_void_p(self._next), ctypes.c_size_t(HUGE_PAGE)
        advise = ctypes.CDLL(None).madvise
        if advise(where, size, mmap.MADV_HUGEPAGE) or advise(where, size, _COLLAPSE):
            self._end = 0
        self._next += HUGE_PAGE
