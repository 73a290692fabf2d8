"""Merging: what hosts have learnt apart is added to what each of them has, while they play on.

The first rank of each host keeps the weights as of the last merge. Writers mark the lines of 16 weights that they
change; what these lines have changed by goes out to all hosts in the background, and comes to be added to what they
have by then. Nobody stops for it, and what takes part in a merge is no more than what has changed. Of a weight that
several hosts have changed, either all of the changes count (``sum``), or their mean, weighted by their sizes
(``mean``): a plain mean would halve what one host has learnt for a change of next to nothing on another.

Hosts learn from weights that lack what the others have learnt since. With ``sum`` that is as harmless as the delay is
short; where each host for itself has learnt all that there is to learn of a weight, their sum is too much. ``mean``
stands long delays, and learns more slowly.
"""

import time

import numpy as np

from ..addresses import float32s, uint8s, uint64s
from ..jit import compiled
from .waiting import wait

MODES = "sum", "mean"
LINE = 16  # weights, or pairs of traces, that are marked and sent together
_WORD = 8  # lines whose marks are looked at together


@compiled
def _marked(marks, words):
    """Return how many lines are marked. marks: the address of uint8 marks; words: how many uint64 they fill."""
    found, marks = 0, uint64s(marks)
    for i in range(words):
        if marks[i] != 0:
            word = marks[i]
            while word != 0:
                found += np.int64(word & np.uint64(1))
                word >>= np.uint64(8)
    return found


@compiled
def _collect(learnt, base, marks, words, weights, width, lines, values, most):
    """Write the numbers of marked lines and what they have changed by, ``most`` of them; return how many there were.

    learnt, base, marks: addresses; weights: how many there are, with traces behind them where ``width`` is above LINE.
    """
    learnt, base, each, marks = float32s(learnt), float32s(base), uint8s(marks), uint64s(marks)
    n = 0
    for i in range(words):
        if marks[i] == 0:
            continue
        for line in range(_WORD * i, _WORD * i + _WORD):
            if each[line] and n < most:
                each[line] = 0  # first: what is written from here on is marked anew
                lines[n] = line
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
def _add(learnt, base, weights, width, first, lines, values, begin, end):
    """Add all hosts' changes, from the ``first`` value of a line on; those from begin to end are our own."""
    learnt, base = float32s(learnt), float32s(base)
    for i in range(len(lines)):
        own = begin <= i < end
        for j in range(first, width):
            at = _place(lines[i], j, weights)
            base[at] += values[i, j]
            if not own:
                learnt[at] += values[i, j]


@compiled
def _add_means(learnt, base, lines, values, begin, end, scratch):
    """Add the weighted means of all hosts' changes of weights. scratch: float32, shape (3, weights), zeros."""
    learnt, base = float32s(learnt), float32s(base)
    for i in range(len(lines)):
        for j in range(LINE):
            at, value = LINE * lines[i] + j, values[i, j]
            scratch[0, at] += value * abs(value)
            scratch[1, at] += abs(value)
            if begin <= i < end:
                scratch[2, at] = value
    for i in range(len(lines)):
        for j in range(LINE):
            at = LINE * lines[i] + j
            if scratch[1, at] > 0:  # a line comes several times, and counts once
                change = scratch[0, at] / scratch[1, at]
                base[at] += change
                learnt[at] += change - scratch[2, at]
                scratch[0, at] = scratch[1, at] = scratch[2, at] = 0


class Merger:
    """Merges the ``Arrays`` of several hosts, on the first rank of each.

    leaders: a communicator of these; mode: of MODES. seconds: that it has taken of this rank's time; merges: how many
    there were.
    """

    def __init__(self, leaders, arrays, mode):
        self._leaders, self._arrays, self._mean = leaders, arrays, mode == "mean"
        self._learnt, self._marks = arrays.learnt, arrays.marks
        self._base = np.zeros_like(arrays.learnt)
        self._weights = arrays.weights.size
        self._width = LINE if arrays.traces is None else 3 * LINE
        self._scratch = np.zeros((3, self._weights if self._mean else 0), np.float32)
        self._requests, self._then = [], None
        self._asked, self._share = 0, 1
        self.seconds, self.merges = 0.0, 0

    def compile(self):
        """Compile, or load from disk, all that a merge takes."""
        self._collected()
        self._added(np.zeros(0, np.int32), np.zeros((0, self._width), np.float32), 0, 0)

    def fetch(self):
        """Have all hosts take what the first one has."""
        wait(self._leaders.Ibcast(self._learnt))
        self._base[:] = self._learnt
        self._marks[:] = 0

    def begin(self, merges, share):
        """A phase begins with so many merges to make, evenly, while this host plays its share of the games."""
        self._asked, self._share, self._made = merges, max(1, share), 0

    def look(self, games):
        """Go on with merging; games: that this host has begun in this phase."""
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
        self._lines, self._values = self._collected()
        self._counts = np.zeros(self._leaders.Get_size(), np.int32)
        self._requests = [self._leaders.Iallgather(np.array([len(self._lines)], np.int32), self._counts)]
        self._then = self._send_changes

    def _send_changes(self):
        total = int(self._counts.sum())
        self._all_lines = np.zeros(total, np.int32)
        self._all_values = np.zeros((total, self._width), np.float32)
        values = self._counts * self._width
        self._requests = [
            self._leaders.Iallgatherv(self._lines, (self._all_lines, self._counts)),
            self._leaders.Iallgatherv(self._values, (self._all_values, values)),
        ]
        self._then = self._take_in

    def _take_in(self):
        begin = int(self._counts[: self._leaders.Get_rank()].sum())
        self._added(self._all_lines, self._all_values, begin, begin + len(self._lines))
        self._requests, self._then = [], None
        self._made, self.merges = self._made + 1, self.merges + 1

    def _collected(self):
        """Return the numbers of changed lines, int32, and by what they have changed, float32, shape (n, width)."""
        marks, words = self._marks.ctypes.data, len(self._marks) // _WORD
        most = _marked(marks, words)
        lines, values = np.zeros(most, np.int32), np.zeros((most, self._width), np.float32)
        where = self._learnt.ctypes.data, self._base.ctypes.data
        found = _collect(*where, marks, words, self._weights, self._width, lines, values, most)
        return lines[:found], values[:found]

    def _added(self, lines, values, begin, end):
        where = self._learnt.ctypes.data, self._base.ctypes.data
        if self._mean:
            _add_means(*where, lines, values, begin, end, self._scratch)
        _add(*where, self._weights, self._width, LINE if self._mean else 0, lines, values, begin, end)
