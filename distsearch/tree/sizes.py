"""How many boards a job is likely to take, learnt from those that were done."""

import math

import numpy as np

from ..jit import compiled

_RATE = 5e6  # boards a CPU second, before anything is known
_GROWTH = {True: 1.9, False: 2.7}  # times as many boards for a move more in exact searches, and for a ply more
_FIRST = 20  # boards of the smallest
_MEMORY = 0.05  # weight of a new job in the mean, at least
_SIZE = 2048


def new_sizes():
    """Return what ``learn`` fills: float64, [jobs, mean boards] of those with so much left, and last [boards, CPU]."""
    return np.zeros((_SIZE + 1, 2))


@compiled
def learn(sizes, left, boards, cpu):
    """Take in a job that is complete."""
    row = sizes[min(left, _SIZE - 1)]
    row[0] += 1
    row[1] += (boards - row[1]) * max(1 / row[0], _MEMORY)
    sizes[_SIZE, 0] += boards
    sizes[_SIZE, 1] += cpu


def rate(sizes):
    """Return the boards a CPU second of the jobs so far."""
    boards, cpu = sizes[_SIZE]
    return boards / cpu if cpu > 1e-3 else _RATE


def estimate(sizes, left, exact):
    """Return the boards that a job with so much left may take, from those that had most nearly as much."""
    known = np.flatnonzero(sizes[:_SIZE, 0])
    if not len(known):
        return _FIRST * _GROWTH[exact] ** min(left, 100)
    nearest = int(known[np.argmin(np.abs(known - left))])
    return max(sizes[nearest, 1], 1.0) * math.pow(_GROWTH[exact], min(left - nearest, 100))
