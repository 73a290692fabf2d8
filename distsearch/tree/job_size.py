"""How many nodes a job is likely to take, estimated from jobs that are done."""

import numpy as np

from ..core.jit import compiled

_RATE = 5e6  # nodes a CPU second, before anything is known
_GPU_RATE, _GPU_SECONDS = 1e9, 0.01  # the same of a rank with a GPU, as if it had taken so long already
_GROWTH = {True: 1.9, False: 2.7}  # times as many nodes for a move more in exact searches, and for a ply more
_SMALLEST = 20  # nodes
_MEMORY = 0.05  # weight of a new job in the mean, at least
_SIZE = 2048
_LARGEST = 300  # depth left: more counts as this


# CPU seconds of a job: long enough to pay for its messages, and for the master's time when all workers want jobs.
_MIN_JOB_SECONDS, _MIN_JOB_SECONDS_PER_WORKER = 0.003, 60e-6


def min_job_seconds(workers: int) -> float:
    """Return how many CPU seconds of work are not worth sharing out among so many workers."""
    return _MIN_JOB_SECONDS + _MIN_JOB_SECONDS_PER_WORKER * workers


def new_sizes(on_gpus: bool = False) -> np.ndarray:
    """Return what ``record_job`` fills: float64, [jobs, mean nodes] by depth left, and last [nodes, CPU seconds].

    on_gpus: whether all jobs are those of ranks with a GPU.
    """
    sizes = np.zeros((_SIZE + 1, 2))
    if on_gpus:
        sizes[_SIZE] = _GPU_RATE * _GPU_SECONDS, _GPU_SECONDS
    return sizes


@compiled
def record_job(sizes, depth_left, nodes, cpu):
    """Take in a job that is complete."""
    row = sizes[min(depth_left, _SIZE - 1)]
    row[0] += 1
    row[1] += (nodes - row[1]) * max(1 / row[0], _MEMORY)
    sizes[_SIZE, 0] += nodes
    sizes[_SIZE, 1] += cpu


def rate(sizes: np.ndarray) -> float:
    """Return the nodes a CPU second of the jobs so far."""
    nodes, cpu = sizes[_SIZE]
    return nodes / cpu if cpu > 1e-3 else _RATE


def largest_depth_left(sizes: np.ndarray, nodes: float, exact: bool) -> int:
    """Return the largest depth left at which a job is estimated to take no more than so many nodes."""
    return int(_largest_depth_left(sizes, float(nodes), _GROWTH[exact]))


@compiled
def _largest_depth_left(sizes, nodes, growth):
    depth_left = 0
    while depth_left < _LARGEST and _estimate(sizes, depth_left + 1, growth) <= nodes:
        depth_left += 1
    return depth_left


@compiled
def _estimate(sizes, depth_left, growth):
    nearest = -1
    for i in range(_LARGEST):
        if sizes[i, 0] > 0 and (nearest < 0 or abs(i - depth_left) < abs(nearest - depth_left)):
            nearest = i
    if nearest < 0:
        return _SMALLEST * growth ** min(depth_left, 100)
    return max(sizes[nearest, 1], 1.0) * growth ** min(depth_left - nearest, 100)
