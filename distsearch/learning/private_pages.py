"""Private pages: a rank's own copy of the weights that it writes most often, at the same addresses.

The ranks of a host write to the same weights, and most of what they write goes to few of them (empty corners, small
tiles). Each write takes a cache line from all other cores, so many ranks wait for one another's lines. Here a rank maps
private memory over the pages that it writes most often: what reads and writes weights finds them where they were. Now
and then it merges them: adds what it has changed to the shared pages, which it sees at other addresses, and takes over
what others have added. With coherence the pages of traces are like those of weights. At the end of a phase all pages
are merged and shared again, so that no other module has to know of any of this.

What a rank has learnt since its last merge it has learnt from weights that lack what others have added meanwhile, so
the sum of both goes too far where each has learnt all there is to learn; with 15 ranks it diverges at once. So a change
is added as if it had been learnt after theirs: visits that have taken a share s off a weight's error would have taken
as much off what others have changed. A weight was k, this rank has brought it to p and others to w: it becomes
w + (p - k) - s (w - k), the sum where visits are rare, and p where they are many. The share of n visits is
1 - exp(-r n), with r as in ``merging``, and n from a sample of what is looked up. Sums of errors are added as they are.

A network that knows nothing changes by what all games have in common, and learns badly from weights that are late. So
pages stay shared for a while at first, and merges are no further apart than a part of the moves that were learnt from.
"""

import ctypes
import mmap
import sys
import time

import numpy as np

from ..core.jit import compiled
from ..core.pointers import address, float32s, replaced, uint8s, uint64s
from . import td
from .merging import MOST, PART

LEAST_RANKS = 4  # fewer seldom wait for one another
PAGE = 4096  # bytes
MOST_PAGES = 1024  # of a rank: 4 MiB, and as much for what they were at the last merge
_LEAST_SHARE = 1e-4  # of what is looked up, for a page to be worth its merges
_FLOATS = PAGE // 4
_LINE = 16  # float32s of a cache line
_FIRST = 1 << 17  # moves of a rank until pages are first chosen; then whenever there were twice as many
_SHORTEST, _LONGEST = _FIRST // 32, 1 << 17  # moves of a rank between merges: no more than a 32nd of those so far
_MERGING = 0.05  # of the time, within these bounds

_MREMAP_MAYMOVE, _MREMAP_FIXED, _MAP_FIXED = 1, 2, 0x10
_REFUSED = ctypes.c_void_p(-1).value


@compiled
def _merge(learnt, shared, kept, pages, first, weights, coherent, counts, scale, visits):
    """Merge the pages, from the one that is the ``first``-th in the list on; return how many lines were changed.

    learnt, shared: addresses of what this rank sees, and of what all share; kept: of the pages as of the last merge;
    weights: how many there are, traces behind them; counts: address of sampled visits, float32, of each weight of the
    pages; scale: what one of them takes off; visits: address of those to count for the ``Merger``, 0: none.
    """
    learnt_words, shared_words, kept_words = uint64s(learnt), uint64s(shared), uint64s(kept)
    mine, ours, before = float32s(learnt), float32s(shared), float32s(kept)
    each, often, changed = float32s(counts), uint8s(visits), 0
    for i in range(len(pages)):
        slot = (first + i) % len(pages)
        for line in range(_FLOATS // _LINE):
            at, own = pages[slot] * _FLOATS + line * _LINE, slot * _FLOATS + line * _LINE
            differ = np.uint64(0)
            for j in range(_LINE // 2):
                differ |= learnt_words[at // 2 + j] ^ kept_words[own // 2 + j]
            if differ:
                changed += 1
                for j in range(_LINE):
                    new, old = mine[at + j], before[own + j]
                    if new == old:
                        continue
                    part, found, visited = np.float32(0), ours[at + j], each[own + j]
                    if visited > 0 and found != old:
                        x = np.float32(scale) * visited
                        if coherent:
                            size = mine[weights + 2 * (at + j) + 1]
                            if size > 0:
                                x *= abs(mine[weights + 2 * (at + j)]) / size
                        part = np.float32(1) - np.exp(-x)
                    if old != old:  # a stage has learnt it: the first to say so
                        if found != found and new == new:
                            replaced(shared + 4 * (at + j), found, new)
                        continue
                    while not replaced(
                        shared + 4 * (at + j), found, np.float32(found + (new - old) - part * (found - old))
                    ):
                        found = ours[at + j]
                    if visits != 0 and at + j < weights:  # last, as in every write to shared weights
                        often[at + j] = min(MOST, often[at + j] + max(1, int(visited) * td.SAMPLED))
                for j in range(_LINE):
                    each[own + j] = 0
            for j in range(_LINE // 2):
                word = shared_words[at // 2 + j]
                learnt_words[at // 2 + j] = word
                kept_words[own // 2 + j] = word
    return changed


class _Libc:
    """The calls that put memory where it is wanted. Raises OSError for what the system refuses."""

    def __init__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self._map, self._remap, self._unmap = libc.mmap, libc.mremap, libc.munmap
        place, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        self._map.argtypes = place, size, number, number, number, ctypes.c_long
        self._remap.argtypes = place, size, size, number, place
        self._unmap.argtypes = place, size
        self._map.restype = self._remap.restype = place

    def again(self, where, size, at=None):
        """Map shared memory at a second address, or ``at`` one, in place of what is there; return the address."""
        flags = _MREMAP_MAYMOVE | (0 if at is None else _MREMAP_FIXED)
        return self._checked(self._remap(where, 0, size, flags, at))

    def private(self, size, at):
        """Map zeros of this process's own at an address, in place of what is there."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
        self._checked(self._map(at, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0))

    def unmap(self, where, size):
        """Give memory back."""
        self._unmap(where, size)

    @staticmethod
    def _checked(where):
        if where == _REFUSED:
            raise OSError(ctypes.get_errno(), "memory cannot be mapped")
        return where


class PrivatePages:
    """One rank's private pages of ``Arrays``, which ``ranks`` share; ``place`` is this one's number among them.

    rate: of learning; visiting: whether to count visits for a ``Merger``. shared: all of ``arrays.learnt`` as others
    see it, at any time; pages: numbers of those that are private now; merges: how many there were; seconds: that they
    took. Only between ``begin`` and ``end`` are pages private.
    """

    def __init__(self, arrays, place, ranks, rate, visiting=False):
        self._arrays, self._libc = arrays, _Libc()
        self._where, self._weights, self._rate = address(arrays.learnt), arrays.weights.size, rate
        self._visits = address(arrays.visits) if visiting else 0
        whole = arrays.learnt.nbytes // PAGE
        self._room = min(MOST_PAGES, whole)
        self._size = -(-arrays.learnt.nbytes // PAGE) * PAGE
        self._alias = self._libc.again(self._where, self._size)
        self.shared = np.frombuffer((ctypes.c_char * arrays.learnt.nbytes).from_address(self._alias), np.float32)
        self.touches = np.zeros(whole + 1, np.int64)  # of each page, sampled; the last may have other things behind it
        self.slots = np.full(whole + 1, -1, np.int64)  # of each page among the private ones
        self.counts = np.zeros(self._room * _FLOATS, np.float32)  # of each weight of the private pages, sampled
        self._kept = np.zeros(self._room * _FLOATS, np.float32)
        self._start = place / ranks  # ranks that merge at the same time do so in different places
        self.pages = self._wanted = np.zeros(0, np.int64)
        self.merges, self.seconds = 0, 0.0
        self._moves = self._merged_at = 0
        self._choose_at, self._every, self._merged_when = _FIRST, _SHORTEST, 0.0

    def compile(self):
        """Compile, or load from disk, what merges take."""
        self._merge()

    def begin(self):
        """A phase begins: from here on pages are private that were, or are chosen."""
        self._make_private(self._wanted)
        self._merged_at, self._merged_when = self._moves, time.perf_counter()

    @property
    def left(self):
        """Moves until there is something to do."""
        return max(1, (self._merged_at + self._every if len(self.pages) else self._choose_at) - self._moves)

    def look(self, moves):
        """Do what is due after so many more moves of this rank."""
        self._moves += moves
        if len(self.pages) and self._moves >= self._merged_at + self._every:
            self.merge()
        if self._moves >= self._choose_at and (self._merged_at == self._moves or not len(self.pages)):
            self._choose_at = 2 * self._moves
            self._choose()
            self._merged_at, self._merged_when = self._moves, time.perf_counter()

    def merge(self):
        """Merge all private pages now."""
        began = time.perf_counter()
        self._merge()
        now = time.perf_counter()
        moves, played = self._moves - self._merged_at, max(began - self._merged_when, 1e-9)
        wanted = min((now - began) / _MERGING * moves / played, _LONGEST, self._moves / 32)
        self._every = max(round((3 * self._every + wanted) / 4), _SHORTEST)
        self._merged_at, self._merged_when, self.merges = self._moves, now, self.merges + 1
        self.seconds += now - began

    def end(self):
        """Merge and share all pages again."""
        if len(self.pages):
            self.merge()
        self._wanted = self.pages
        self._make_private(self.pages[:0])

    def close(self):
        """Share all pages, without a merge, and give all memory back; the arrays have to be there still."""
        if self._alias is None:
            return
        self._make_private(self.pages[:0])
        self.shared = None
        self._libc.unmap(self._alias, self._size)
        self._alias = None

    def _merge(self):
        _merge(
            learnt=self._where,
            shared=self._alias,
            kept=address(self._kept),
            pages=self.pages,
            first=int(self._start * len(self.pages)),
            weights=self._weights,
            coherent=self._arrays.traces is not None,
            counts=address(self.counts),
            scale=td.SAMPLED * PART * min(self._rate, 1.0),
            visits=self._visits,
        )

    def _choose(self):
        """Make those pages private that are looked up most often, and share the others again; all is merged."""
        touches = self.touches[:-1]
        least = max(1, _LEAST_SHARE * int(touches.sum()))
        most = np.argsort(touches)[::-1][: self._room]
        wanted = np.sort(most[touches[most] >= least])
        self.touches //= 2
        if not np.array_equal(wanted, self.pages):
            self._make_private(wanted)

    def _make_private(self, wanted):
        """Have these pages private, with what is shared now, and no others. What this rank has changed is lost."""
        self._make_shared(self.pages[~np.isin(self.pages, wanted)])
        before = self.slots[wanted]
        for slot in np.flatnonzero(before < 0).tolist():
            try:
                self._libc.private(PAGE, self._where + int(wanted[slot]) * PAGE)
            except OSError:  # there may be no more such pieces of memory: those that there are will do
                self._make_shared(wanted[slot:][before[slot:] >= 0])
                wanted, before, self._choose_at = wanted[:slot], before[:slot], sys.maxsize
                break
        self.counts[: len(wanted) * _FLOATS] = 0
        for slot, page in enumerate(wanted.tolist()):
            at = slice(page * _FLOATS, (page + 1) * _FLOATS)
            self._kept[slot * _FLOATS : (slot + 1) * _FLOATS] = self._arrays.learnt[at] = self.shared[at]
        self.slots[:] = -1
        self.slots[wanted] = np.arange(len(wanted))
        self.pages = wanted

    def _make_shared(self, pages):
        for page in pages.tolist():
            self._libc.again(self._alias + page * PAGE, PAGE, self._where + page * PAGE)


def private_pages(arrays, place, ranks, rate, visiting=False):
    """Return the PrivatePages of a rank, or None where too few ranks share, or the system has no such thing."""
    if ranks < LEAST_RANKS or sys.platform != "linux" or mmap.PAGESIZE != PAGE or address(arrays.learnt) % PAGE:
        return None
    try:
        return PrivatePages(arrays, place, ranks, rate, visiting)
    except OSError:
        return None
