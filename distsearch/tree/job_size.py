"""How many boards a job is likely to take, learnt from those that were done."""

import numpy as np

from ..core.jit import compiled

_RATE = 5e6  # boards a CPU second, before anything is known
_GROWTH = {True: 1.9, False: 2.7}  # times as many boards for a move more in exact searches, and for a ply more
_FIRST = 20  # boards of the smallest
_MEMORY = 0.05  # weight of a new job in the mean, at least
_SIZE = 2048
_LARGEST = 300  # what is left: more is as much


# CPU seconds of a job: long enough to pay for its messages, and for the master's time when all workers want jobs.
_GRAIN, _GRAIN_OF_EACH = 0.003, 60e-6


def grain(workers):
    """Return how many CPU seconds of work are not worth sharing out among so many workers."""
    return _GRAIN + _GRAIN_OF_EACH * workers


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


def most_left(sizes, boards, exact):
    """Return how much a job may have left and take no more than so many boards, by the estimates."""
    return int(_most_left(sizes, float(boards), _GROWTH[exact]))


@compiled
def _most_left(sizes, boards, growth):
    left = 0
    while left < _LARGEST and _estimate(sizes, left + 1, growth) <= boards:
        left += 1
    return left


def estimate(sizes, left, exact):
    """Return the boards that a job with so much left may take, from those that had most nearly as much."""
    return _estimate(sizes, left, _GROWTH[exact])


@compiled
def _estimate(sizes, left, growth):
    nearest = -1
    for i in range(_LARGEST):
        if sizes[i, 0] > 0 and (nearest < 0 or abs(i - left) < abs(nearest - left)):
            nearest = i
    if nearest < 0:
        return _FIRST * growth ** min(left, 100)
    return max(sizes[nearest, 1], 1.0) * growth ** min(left - nearest, 100)
