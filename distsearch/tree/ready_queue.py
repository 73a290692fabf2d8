"""Priority queue of nodes ready to be dispatched: most likely needed first, ties in the order of a sequential search.

A binary heap of node indices in which every node knows its place, ``queued``, since irrelevances change while nodes
wait.
"""

from ..core.jit import compiled
from ..core.pointers import int64s
from .layout import GROWN, NONE, SENT, node_at, tree_at


@compiled
def is_asked(tree, i):
    """Whether a node's question is open."""
    n = node_at(tree_at(tree, 0).nodes, i)
    return n.alpha < n.beta and n.low < n.beta and n.high > n.alpha and n.low < n.high


@compiled
def _before(t, i, j):
    """Whether node i goes before node j."""
    one, other = node_at(t.nodes, i), node_at(t.nodes, j)
    return one.irrelevance < other.irrelevance or one.irrelevance == other.irrelevance and one.order < other.order


@compiled
def _put(t, i, at):
    """Write a node to a place of the heap."""
    int64s(t.heap)[at] = i
    node_at(t.nodes, i).queued = at + 1


@compiled
def _rise(t, i, at):
    """Put a node where it belongs in the heap, at ``at`` or above."""
    heap = int64s(t.heap)
    while at > 0:
        above = (at - 1) // 2
        if not _before(t, i, heap[above]):
            break
        _put(t, heap[above], at)
        at = above
    _put(t, i, at)


@compiled
def _sink(t, i, at):
    """Put a node where it belongs in the heap, at ``at`` or below."""
    heap, n = int64s(t.heap), t.queue_size
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and _before(t, heap[below + 1], heap[below]):
            below += 1
        if not _before(t, heap[below], i):
            break
        _put(t, heap[below], at)
        at = below
    _put(t, i, at)


@compiled
def push(tree, i):
    """Add a node, unless it is there."""
    t = tree_at(tree, 0)
    if not node_at(t.nodes, i).queued:
        t.queue_size += 1
        _rise(t, i, t.queue_size - 1)


@compiled
def remove(tree, i):
    """Remove a node, if it is there."""
    t = tree_at(tree, 0)
    n = node_at(t.nodes, i)
    if n.queued:
        at = n.queued - 1
        n.queued = 0
        t.queue_size -= 1
        if at < t.queue_size:
            last = int64s(t.heap)[t.queue_size]
            _sink(t, last, at)
            _rise(t, last, node_at(t.nodes, last).queued - 1)


@compiled
def requeue(tree, i):
    """Move a node whose irrelevance has changed."""
    t = tree_at(tree, 0)
    n = node_at(t.nodes, i)
    _sink(t, i, n.queued - 1)
    _rise(t, i, n.queued - 1)


@compiled
def pop(tree):
    """Take the first node off the queue of which no transposition is at work, NONE if there is none."""
    t = tree_at(tree, 0)
    while t.queue_size > 0:
        first = int64s(t.heap)[0]
        remove(tree, first)
        if not _transposition_at_work(tree, first):
            return first
        node_at(t.nodes, first).deferred = 1
    return NONE


@compiled
def _transposition_at_work(tree, i):
    """Whether the same position is being searched elsewhere in the tree."""
    nodes = tree_at(tree, 0).nodes
    other = node_at(nodes, i).transposition
    while other != i:
        n = node_at(nodes, other)
        if n.status == SENT or n.status == GROWN and is_asked(tree, other):
            return True
        other = n.transposition
    return False
