"""Optimal play of small games of sliding tiles by retrograde iteration: numpy alone, and none of the package's code.

A move leaves the sum of the tiles as it is, and chance raises it. So all that can be reached is found sum by sum, and
is worth what follows from larger sums.
"""

from collections import defaultdict

import numpy as np

_BITS = np.int64(5)  # of a cell's code in a board's number


class Retrograde:
    """The points that the best player gets on average from every board that can be reached, the player to move.

    values: of the codes, 0 first; merges: by two codes, the code of what neighbours merge to, or 0; spawns: tile value
    → probability; last: the game is over when there is a tile of that value, None: goes on.
    """

    def __init__(self, rows, columns, values, merges, spawns, last=None):
        self._shape, self._values = (rows, columns), np.array(values)
        self._merges, self._last = np.array(merges), last
        self._spawns = [(list(values).index(tile), tile, probability) for tile, probability in spawns.items()]
        self._shifts = _BITS * np.arange(rows * columns)
        self._boards = self._reachable()  # by sum, ascending numbers
        self._worth = {}
        for total in sorted(self._boards, reverse=True):
            self._worth[total] = self._best(total)

    def __iter__(self):
        """All boards, as (tile values row by row, what they are worth)."""
        for total, boards in self._boards.items():
            cells = self._values[self._cells(boards)]
            yield from zip(cells.tolist(), self._worth[total].tolist(), strict=True)

    def __len__(self):
        return sum(map(len, self._boards.values()))

    def _reachable(self):
        found, first = defaultdict(set), defaultdict(set)
        empty = np.zeros(1, np.int64)
        for total, boards in self._after_chance(empty, 0):
            first[total].update(boards.tolist())
        for total, boards in list(first.items()):
            for sum_, more in self._after_chance(np.array(sorted(boards)), total):
                found[sum_].update(more.tolist())
        done = {}
        while found:
            total = min(found)
            done[total] = boards = np.array(sorted(found.pop(total)))
            for legal, after, _ in self._moves(boards):
                for sum_, more in self._after_chance(np.unique(after[legal]), total):
                    found[sum_].update(more.tolist())
        return done

    def _best(self, total):
        best = np.full(len(self._boards[total]), -np.inf)
        for legal, after, points in self._moves(self._boards[total]):
            unique, where = np.unique(after[legal], return_inverse=True)
            best[legal] = np.maximum(best[legal], points[legal] + self._mean(unique, total)[where])
        return np.where(np.isfinite(best), best, 0.0)

    def _mean(self, boards, total):
        """What boards are worth on which chance is to put a tile."""
        free, worth = self._cells(boards) == 0, np.zeros(len(boards))
        for code, tile, probability in self._spawns:
            for cell, shift in enumerate(self._shifts):
                at = free[:, cell]
                if at.any():
                    known = np.searchsorted(self._boards[total + tile], boards[at] + (code << shift))
                    worth[at] += probability * self._worth[total + tile][known]
        return worth / np.maximum(free.sum(axis=1), 1)

    def _after_chance(self, boards, total):
        free = self._cells(boards) == 0
        for code, tile, _ in self._spawns:
            for cell, shift in enumerate(self._shifts):
                if free[:, cell].any():
                    yield total + tile, boards[free[:, cell]] + (code << shift)

    def _moves(self, boards):
        """(whether it is legal, the boards after it, points) of each of the four moves."""
        grid = self._cells(boards).reshape(-1, *self._shape)
        over = np.zeros(len(boards), bool)
        if self._last is not None:
            over = (self._values[grid] >= self._last).any(axis=(1, 2))
        for turned in (False, True):
            for back in (False, True):
                lines = grid.transpose(0, 2, 1) if turned else grid
                lines = lines[:, :, ::-1] if back else lines
                slid, points = self._slid(lines.reshape(-1, lines.shape[2]))
                slid = slid.reshape(lines.shape)
                slid = slid[:, :, ::-1] if back else slid
                slid = slid.transpose(0, 2, 1) if turned else slid
                after = (slid.reshape(len(boards), -1) << self._shifts).sum(axis=1)
                yield (after != boards) & ~over, after, points.reshape(lines.shape[:2]).sum(axis=1)

    def _slid(self, lines):
        """Lines slid to their beginning, and the points of each."""
        lines, points = _without_gaps(lines), np.zeros(len(lines), np.int64)
        for i in range(lines.shape[1] - 1):
            made = self._merges[lines[:, i], lines[:, i + 1]]
            merged = made > 0
            lines[merged, i], lines[merged, i + 1] = made[merged], 0  # so that what was made meets nothing any more
            points += self._values[made]
        return _without_gaps(lines), points

    def _cells(self, boards):
        return boards[:, None] >> self._shifts & (1 << _BITS) - 1


def _without_gaps(lines):
    return np.take_along_axis(lines, np.argsort(lines == 0, axis=1, kind="stable"), axis=1)
