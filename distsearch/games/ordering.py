"""Moves in order of a score: insertion, which for a dozen of them nothing beats."""

from ..core.jit import compiled


@compiled
def insert(out, scores, first, end, m, score):
    """Put move m among the moves ``out[first:end]`` (int16), whose ``scores`` (int64) fall; equal ones stay before it.

    ``out[end]`` and ``scores[end]`` are written over.
    """
    j = end
    while j > first and scores[j - 1] < score:
        out[j], scores[j] = out[j - 1], scores[j - 1]
        j -= 1
    out[j], scores[j] = m, score


@compiled
def sort(out, scores, first, n):
    """Put the n moves from ``out[first]`` (int16) on in order of falling ``scores`` (int64); equal ones keep theirs."""
    for i in range(first + 1, first + n):
        insert(out, scores, first, i, out[i], scores[i])
