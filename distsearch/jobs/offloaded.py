"""The record of a part of a job that its worker offloads while it goes on with all of it, as a GPU does."""

import numpy as np

HEAD = 5  # numbers of a row before the state: the job, the part, its window and what is left of it


def row(job, part, low, high, left, state):
    """Return what is told of a part: int64. It is not wanted (any more) where low >= high."""
    head = np.array([job, part, low, high, left], np.int64)
    return np.concatenate((head, np.asarray(state, np.uint64).view(np.int64)))
