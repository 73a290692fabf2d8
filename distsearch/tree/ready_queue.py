"""Priority queue of nodes ready to be dispatched: most likely needed first, ties in the order of a sequential search.

A binary heap of node indices in which every node knows its place, QUEUED, since irrelevances change while nodes wait.
The arguments of its functions are as in ``windows``.
"""

from ..core.jit import compiled
from .layout import QUEUE_SIZE
from .nodes import (
    ALPHA,
    BETA,
    DEFERRED,
    GROWN,
    HIGH,
    IRRELEVANCE,
    LOW,
    NONE,
    ORDER,
    QUEUED,
    SENT,
    STATUS,
    TRANSPOSITION,
)


@compiled
def is_asked(c, i):
    """Whether a node's question is open."""
    return c[ALPHA, i] < c[BETA, i] and c[LOW, i] < c[BETA, i] and c[HIGH, i] > c[ALPHA, i] and c[LOW, i] < c[HIGH, i]


@compiled
def _before(c, i, j):
    """Whether node i goes before node j."""
    return c[IRRELEVANCE, i] < c[IRRELEVANCE, j] or c[IRRELEVANCE, i] == c[IRRELEVANCE, j] and c[ORDER, i] < c[ORDER, j]


@compiled
def _put(c, heap, i, at):
    """Write a node to a place of the heap."""
    heap[at] = i
    c[QUEUED, i] = at + 1


@compiled
def _rise(c, heap, i, at):
    """Put a node where it belongs in the heap, at ``at`` or above."""
    while at > 0:
        above = (at - 1) // 2
        if not _before(c, i, heap[above]):
            break
        _put(c, heap, heap[above], at)
        at = above
    _put(c, heap, i, at)


@compiled
def _sink(c, t, heap, i, at):
    """Put a node where it belongs in the heap, at ``at`` or below."""
    n = t[QUEUE_SIZE]
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and _before(c, heap[below + 1], heap[below]):
            below += 1
        if not _before(c, heap[below], i):
            break
        _put(c, heap, heap[below], at)
        at = below
    _put(c, heap, i, at)


@compiled
def push(c, t, heap, i):
    """Add a node, unless it is there."""
    if not c[QUEUED, i]:
        t[QUEUE_SIZE] += 1
        _rise(c, heap, i, t[QUEUE_SIZE] - 1)


@compiled
def remove(c, t, heap, i):
    """Remove a node, if it is there."""
    if c[QUEUED, i]:
        at = c[QUEUED, i] - 1
        c[QUEUED, i] = 0
        t[QUEUE_SIZE] -= 1
        if at < t[QUEUE_SIZE]:
            last = heap[t[QUEUE_SIZE]]
            _sink(c, t, heap, last, at)
            _rise(c, heap, last, c[QUEUED, last] - 1)


@compiled
def requeue(c, t, heap, i):
    """Move a node whose irrelevance has changed."""
    _sink(c, t, heap, i, c[QUEUED, i] - 1)
    _rise(c, heap, i, c[QUEUED, i] - 1)


@compiled
def pop(c, t, heap):
    """Take the first node off the queue of which no transposition is at work, NONE if there is none."""
    while t[QUEUE_SIZE] > 0:
        first = heap[0]
        remove(c, t, heap, first)
        if not _transposition_at_work(c, first):
            return first
        c[DEFERRED, first] = 1
    return NONE


@compiled
def _transposition_at_work(c, i):
    """Whether the same position is being searched elsewhere in the tree."""
    other = c[TRANSPOSITION, i]
    while other != i:
        if c[STATUS, other] == SENT or c[STATUS, other] == GROWN and is_asked(c, other):
            return True
        other = c[TRANSPOSITION, other]
    return False
