"""Merging: what was learnt apart, on several copies of the weights, is put together while all play on.

Copies are on several hosts, or on one. The first rank of each keeps the weights as of the last merge. Writers count how
often they change a weight. What lines of 16 weights with such counts have changed by goes out to all copies in the
background, and is added to what they have by then. No rank stops for it, and what takes part in a merge is no more than
what has changed.

Of a weight that several copies have changed, all of the changes count (``sum``); or their mean (``mean``); or what is
between, by how often they have changed it (``visits``). For a change takes a share r of the error off: n of them take
1 − (1 − r)^n of it. r is a tenth of the learning rate, for a weight shares its error with the others of a board. What
copies have done apart, in n and m changes, is put together as if one copy had made n + m: a weight that each has
visited now and then gets all of it, and one of which each for itself has learnt all that there is to learn, the mean.
There the sum of two oscillates, and that of three diverges; where changes are few the mean wastes them.
"""

import time

import numpy as np

from ..core.jit import compiled
from ..core.pointers import float32s, uint8s, uint64s
from .rank_group import wait

MODES = "visits", "sum", "mean"
LINE = 16  # weights, or pairs of traces, that are sent together
MOST = 255  # visits that are counted
PART = 0.1  # of the learning rate; with 0.03 to 1 learning differs by a few percent


@compiled
def _visited(visits, lines):
    """Return how many lines have counts. visits: the address of a uint8 for each weight."""
    found, words = 0, uint64s(visits)
    for line in range(lines):
        found += words[2 * line] | words[2 * line + 1] != 0
    return found


@compiled
def _collect(learnt, base, visits, weights, width, lines, values, counts):
    """Write the numbers of visited lines, what they have changed by and how often; return how many there were.

    learnt, base, visits: addresses; weights: how many there are, with traces behind them where ``width`` is above LINE.
    No more are written than there is room for.
    """
    learnt, base, each, words = float32s(learnt), float32s(base), uint8s(visits), uint64s(visits)
    n = 0
    for line in range(weights // LINE):
        if words[2 * line] | words[2 * line + 1] != 0 and n < len(lines):
            lines[n] = line
            for j in range(LINE):
                counts[n, j] = each[LINE * line + j]
                each[LINE * line + j] = 0  # first: what is written from here on is counted anew
            for j in range(width):
                at = _place(line, j, weights)
                values[n, j] = learnt[at] - base[at]
            n += 1
    return n


@compiled
def _place(line, j, weights):
    """Return where the j-th value of a line is: of its weights, then of its traces."""
    return LINE * line + j if j < LINE else weights + 2 * LINE * line + j - LINE


@compiled
def _add_traces(learnt, base, weights, width, lines, values, begin, end):
    """Add all copies' changes of traces; those from begin to end are our own."""
    learnt, base = float32s(learnt), float32s(base)
    for i in range(len(lines)):
        own = begin <= i < end
        for j in range(LINE, width):
            at = _place(lines[i], j, weights)
            base[at] += values[i, j]
            if not own:
                learnt[at] += values[i, j]


@compiled
def _add(learnt, base, lines, values, counts, begin, end, shares, scratch):
    """Add what all copies' changes of weights come to.

    shares: float32, what so many visits take off an error, see ``_shares``; scratch: float32, shape (weights, 4),
    zeros: sums of changes, of their shares, of visits, and our own change.
    """
    learnt, base = float32s(learnt), float32s(base)
    for i in range(len(lines)):
        for j in range(LINE):
            at, count = LINE * lines[i] + j, counts[i, j]
            if count == 0:  # what was written but not counted yet comes with the next merge
                continue
            scratch[at, 0] += values[i, j]
            scratch[at, 1] += shares[count]
            scratch[at, 2] += count
            if begin <= i < end:
                scratch[at, 3] = values[i, j]
    for i in range(len(lines)):
        for j in range(LINE):
            at = LINE * lines[i] + j
            visits = np.int64(scratch[at, 2])  # a line comes several times, and counts once
            if visits > 0:
                change = scratch[at, 0] * shares[visits] / scratch[at, 1]
                base[at] += change
                learnt[at] += change - scratch[at, 3]
                scratch[at, 0] = scratch[at, 1] = scratch[at, 2] = scratch[at, 3] = 0


def _shares(mode, rate, copies):
    """Return what changes take off an error, by their number, float32: what is put together of shares counts as one.

    So changes that take as much each, whatever their number, come to their mean; and those that add up, to their sum.
    """
    visits = np.arange(MOST * copies + 1)
    if mode == "visits":
        return (1 - (1 - PART * min(rate, 1.0)) ** visits).astype(np.float32)
    return (visits if mode == "sum" else np.minimum(visits, 1)).astype(np.float32)


class Merger:
    """Merges the ``Arrays`` of several copies, on the first rank of each.

    leaders: a communicator of these; mode: of MODES; rate: of learning; learnt: ``arrays.learnt`` as all ranks of a
    copy see it, None: as this one does. seconds: that it has taken of this rank's time; merges: how many there were.
    """

    def __init__(self, leaders, arrays, mode, rate, learnt=None):
        self._leaders, self._arrays = leaders, arrays
        self._learnt, self._visits = arrays.learnt if learnt is None else learnt, arrays.visits
        self._base = np.zeros_like(arrays.learnt)
        self._weights = arrays.weights.size
        self._width = LINE if arrays.traces is None else 3 * LINE
        self._scratch = np.zeros((self._weights, 4), np.float32)
        self._shares = _shares(mode, rate, leaders.Get_size())
        self._requests, self._then = [], None
        self._asked, self._share = 0, 1
        self.seconds, self.merges = 0.0, 0

    def compile(self):
        """Compile, or load from disk, all that a merge takes."""
        self._collected()
        self._added(np.zeros(0, np.int32), np.zeros((0, self._width), np.float32), np.zeros((0, LINE), np.uint8), 0, 0)

    def fetch(self):
        """Have all copies become what the first one is."""
        wait(self._leaders.Ibcast(self._learnt))
        self._base[:] = self._learnt
        self._visits[:] = 0

    def begin(self, merges, share):
        """A phase begins with so many merges to make, evenly, while this copy's ranks play their share of the games."""
        self._asked, self._share, self._made = merges, max(1, share), 0

    def look(self, games):
        """Go on with merging; games: that they have begun in this phase."""
        began = time.perf_counter()
        if self._then is not None:
            waiting = [request for request in self._requests if not request.Test()]
            if not waiting:
                self._then()
                self.seconds += time.perf_counter() - began
        elif self._made < self._asked and games * self._asked >= (self._made + 1) * self._share:
            self._send_counts()
            self.seconds += time.perf_counter() - began

    def end(self, look):
        """Make the merges that are left of the phase, and another one. look(): called in between."""
        began = time.perf_counter()
        while self._made <= self._asked:
            if self._then is None:
                self._send_counts()
            while self._then is not None:
                for request in self._requests:
                    wait(request, look)
                self._then()
        self.seconds += time.perf_counter() - began

    def _send_counts(self):
        self._lines, self._values, self._visited = self._collected()
        self._counts = np.zeros(self._leaders.Get_size(), np.int32)
        self._requests = [self._leaders.Iallgather(np.array([len(self._lines)], np.int32), self._counts)]
        self._then = self._send_changes

    def _send_changes(self):
        total = int(self._counts.sum())
        self._all_lines = np.zeros(total, np.int32)
        self._all_values = np.zeros((total, self._width), np.float32)
        self._all_visited = np.zeros((total, LINE), np.uint8)
        self._requests = [
            self._leaders.Iallgatherv(own, (every, self._counts * (every.size // max(1, total))))
            for own, every in (
                (self._lines, self._all_lines),
                (self._values, self._all_values),
                (self._visited, self._all_visited),
            )
        ]
        self._then = self._take_in

    def _take_in(self):
        begin = int(self._counts[: self._leaders.Get_rank()].sum())
        own = begin, begin + len(self._lines)
        self._added(self._all_lines, self._all_values, self._all_visited, *own)
        self._requests, self._then = [], None
        self._made, self.merges = self._made + 1, self.merges + 1

    def _collected(self):
        """Return of changed lines the numbers, int32, the changes, float32, shape (n, width), and visits, (n, LINE)."""
        where = self._learnt.ctypes.data, self._base.ctypes.data, self._visits.ctypes.data
        most = _visited(where[2], self._weights // LINE)
        lines, values = np.zeros(most, np.int32), np.zeros((most, self._width), np.float32)
        visited = np.zeros((most, LINE), np.uint8)
        found = _collect(*where, self._weights, self._width, lines, values, visited)
        return lines[:found], values[:found], visited[:found]

    def _added(self, lines, values, visited, begin, end):
        where = self._learnt.ctypes.data, self._base.ctypes.data
        _add(*where, lines, values, visited, begin, end, self._shares, self._scratch)
        _add_traces(*where, self._weights, self._width, lines, values, begin, end)
