"""The queue of nodes that wait to be handed out: those of least doubt first, then as a search by one worker has them.

A binary heap of node indices in which every node knows its place, QUEUED, since doubts change while nodes wait. The
arguments of its functions are as ``asking`` has them.
"""

from ..core.jit import compiled
from .layout import WAIT
from .nodes import ALPHA, BETA, DEFERRED, DOUBT, GROWN, HIGH, LOW, NONE, ORDER, QUEUED, SENT, STATUS, TWIN


@compiled
def is_asked(c, i):
    """Whether a question of a node is open."""
    return c[ALPHA, i] < c[BETA, i] and c[LOW, i] < c[BETA, i] and c[HIGH, i] > c[ALPHA, i] and c[LOW, i] < c[HIGH, i]


@compiled
def _before(c, i, j):
    """Whether node i is to be handed out before node j."""
    return c[DOUBT, i] < c[DOUBT, j] or c[DOUBT, i] == c[DOUBT, j] and c[ORDER, i] < c[ORDER, j]


@compiled
def _put(c, heap, i, at):
    """Have a node at a place of the heap."""
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
    n = t[WAIT]
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
    """Have a node wait to be handed out."""
    if not c[QUEUED, i]:
        t[WAIT] += 1
        _rise(c, heap, i, t[WAIT] - 1)


@compiled
def unready(c, t, heap, i):
    """Have a node not wait any more."""
    if c[QUEUED, i]:
        at = c[QUEUED, i] - 1
        c[QUEUED, i] = 0
        t[WAIT] -= 1
        if at < t[WAIT]:
            last = heap[t[WAIT]]
            _sink(c, t, heap, last, at)
            _rise(c, heap, last, c[QUEUED, last] - 1)


@compiled
def requeue(c, t, heap, i):
    """The doubt of a node that waits has changed."""
    _sink(c, t, heap, i, c[QUEUED, i] - 1)
    _rise(c, heap, i, c[QUEUED, i] - 1)


@compiled
def pop(c, t, heap):
    """Take the node that is to be handed out next off the queue; NONE if there is none."""
    while t[WAIT] > 0:
        first = heap[0]
        unready(c, t, heap, first)
        if not _twin_at_work(c, first):
            return first
        c[DEFERRED, first] = 1
    return NONE


@compiled
def _twin_at_work(c, i):
    """Whether the same position is being searched elsewhere in the tree."""
    twin = c[TWIN, i]
    while twin != i:
        if c[STATUS, twin] == SENT or c[STATUS, twin] == GROWN and is_asked(c, twin):
            return True
        twin = c[TWIN, twin]
    return False
