"""The record of a part of a job that its worker offloads while it goes on with all of it, as a GPU does."""

from typing import Any

import numpy as np

HEAD = 5  # numbers of a row before the state: the job, the part, its window, its depth left


def row(job: int, part: int, low: int, high: int, depth_left: int, state: Any) -> np.ndarray:
    """Return a row of OFFLOAD (int64) about a part; the part ends where low >= high."""
    head = np.array([job, part, low, high, depth_left], np.int64)
    return np.concatenate((head, np.asarray(state, np.uint64).view(np.int64)))
