"""The pages of large arrays, and how much memory there is for them.

A large array of zeros takes memory page by page, as it is written to. Small pages suit short work: a first write to a
huge one clears 2 MiB, 2 s for 1 GiB. Huge ones suit long work: random access to 1 GiB is a third faster. So arrays
begin with small pages, and a worker that has searched for a while has them made huge, one after another.
"""

import contextlib
import ctypes
import mmap
import resource
import sys
from pathlib import Path

import numpy as np

from .pointers import address

HUGE_PAGE = 1 << 21  # bytes
_COLLAPSE = 25  # MADV_COLLAPSE of Linux 6.1
_CAN_CHOOSE = sys.platform == "linux" and hasattr(mmap, "MADV_NOHUGEPAGE")


def lazy_zeros(size: int) -> np.ndarray:
    """Return a uint64 array of zeros, in small pages that take memory when they are written to."""
    if size == 0 or not _CAN_CHOOSE:
        return np.zeros(size, np.uint64)
    memory = mmap.mmap(-1, 8 * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.uint64)


def begin_huge(array: np.ndarray, begin: int, end: int) -> None:
    """Have bytes of an array from ``lazy_zeros`` take memory in huge pages as they are first written to."""
    start = address(array)
    begin, end = (-(-(start + place) // HUGE_PAGE) * HUGE_PAGE for place in (begin, end))
    end = min(end, (start + array.nbytes) // HUGE_PAGE * HUGE_PAGE)
    if _CAN_CHOOSE and begin < end:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), mmap.MADV_HUGEPAGE)


def available(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return how many bytes this process could take before the system, or a limit set for it, runs short."""
    figures = _figures(proc / "meminfo")
    found = [1024 * figures[name] for name in ("MemAvailable",) if name in figures]
    if _text(proc / "sys/vm/overcommit_memory") == "2":
        found.append(1024 * (figures.get("CommitLimit", 0) - figures.get("Committed_AS", 0)))
    found += _left_to_groups(_text(proc / "self/cgroup"), cgroups)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        found.append(limit)
    return max(0, min(found, default=0))


def _text(path):
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text().strip()
    return ""


def _figures(path):
    """Return the numbers of a file of lines ``name: number kB`` or ``name number``, by name."""
    rows = (line.replace(":", " ").split() for line in _text(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def _left_to_groups(lines, cgroups):
    """Return the bytes that are left to each cgroup of this process, by ``/proc/self/cgroup``, where it has a limit.

    What the group keeps of files can be had back and counts as left.
    """
    found = []
    for _, kinds, path in (line.split(":", 2) for line in lines.splitlines() if line.count(":") >= 2):
        if kinds == "":  # version 2
            root, limit, usage, files = cgroups, "memory.max", "memory.current", "inactive_file"
        elif "memory" in kinds.split(","):
            root, limit, usage = cgroups / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            files = "total_inactive_file"
        else:
            continue
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts) + 1):  # a group's limit holds for those in it; in a container the root is its own
            folder = root.joinpath(*parts[:depth])
            most, used = _text(folder / limit), _text(folder / usage)
            if most.isdigit() and used.isdigit():
                found.append(int(most) - int(used) + _figures(folder / "memory.stat").get(files, 0))
    return found


class HugePages:
    """Makes the pages of an array from ``lazy_zeros`` huge, one at a time."""

    def __init__(self, array: np.ndarray):
        start = address(array)
        self._next = -(-start // HUGE_PAGE) * HUGE_PAGE
        self._end = start + array.nbytes if _CAN_CHOOSE else 0

    @property
    def left(self) -> int:
        """Huge pages that are still to be made."""
        return max(0, (self._end - self._next) // HUGE_PAGE)

    def make_one(self) -> None:
        """Make the next page huge; if the system cannot, none is left.

        It takes about 1 ms, but 4.5 to 4.7 ms were measured at times, and 8 to 10 ms next to other work: a slice takes
        that much longer.
        """
        where, size = ctypes.c_void_p(self._next), ctypes.c_size_t(HUGE_PAGE)
        advise = ctypes.CDLL(None).madvise
        if advise(where, size, mmap.MADV_HUGEPAGE) or advise(where, size, _COLLAPSE):
            self._end = 0
        self._next += HUGE_PAGE
