"""Propagates search windows down the node array and score bounds up it, and keeps the ready queue current.

A question is a window: where between ALPHA and BETA does a node's score lie? The node's bounds answer it. A grown node
passes questions on to its children by the rules of its policy, and new bounds narrow the windows of its siblings and of
the nodes above. One set of compiled functions serves all policies and games: only expansion knows a game.

The functions take the node array's columns ``c``, the control array ``t`` (see ``layout``), the ready queue ``heap``,
the table ``jobs`` of jobs that are out (see ``layout``), and ``w``, room for three lists of nodes.
"""

import numpy as np

from ..core.jit import compiled, outlined
from .layout import (
    ALL_AT_ONCE,
    FIXED,
    FULL_WIDTH_DEPTH,
    JOB_LISTED,
    NULL_WINDOWS,
    PENDING_WINDOWS,
    STEPS,
    UPDATE_COUNT,
    UPDATE_LIST,
)
from .nodes import (
    ALPHA,
    BEST_CHILD,
    BETA,
    CHILD_COUNT,
    CHILDREN_START,
    COST,
    DEFERRED,
    DEPTH,
    EXPECTED_CUT_NODE,
    FIRST_CHILD,
    GROWN,
    HIGH,
    INFINITY,
    IRRELEVANCE,
    JOB_ID,
    LOW,
    NONE,
    NULL_WINDOW_BETA,
    PARENT,
    QUEUED,
    SENT,
    STATUS,
    TRANSPOSITION,
    VISITED,
)
from .ready_queue import is_asked, push, remove, requeue

_SEEN, _LISTED, _PENDING = 1, 2, 4  # bits of VISITED: in one list or another of ``w``

# What a move adds to the irrelevance of the moves behind it: -1000 ln(1 - p), where p is how often the first, second,
# third or a later move caused a cutoff; at nodes where none was expected to, and where one was. Counted in FFO #44 and
# #47, but for the first 500, which was 160: at the top of the tree, where most of the work is, nodes are more often
# taken for the wrong kind, so with 500 fewer nodes were searched that were not needed.
_SIBLING_IRRELEVANCE = np.array([[500, 50, 20, 10], [600, 310, 140, 50]])


@compiled
def wake(c, t, heap, i):
    """Queue the deferred transpositions of a node that is no longer at work, if their questions are open."""
    other = c[TRANSPOSITION, i]
    while other != i:
        if c[DEFERRED, other]:
            c[DEFERRED, other] = 0
            if is_asked(c, other):
                push(c, t, heap, other)
        other = c[TRANSPOSITION, other]


@compiled
def ask(c, t, heap, jobs, w, n, i, alpha, beta):
    """Ask a node something; return how many of the n nodes listed in ``w``, and this one, must pass questions on."""
    new = c[ALPHA, i] != alpha or c[BETA, i] != beta
    c[ALPHA, i], c[BETA, i] = alpha, beta
    if c[STATUS, i] == GROWN:
        if new:
            reset_first_child(c, i)
            w[0, n] = i
            n += 1
    elif c[STATUS, i] == SENT:
        job = c[JOB_ID, i]
        if not jobs[JOB_LISTED, job] and (new or not is_asked(c, i)):
            jobs[JOB_LISTED, job] = 1
            jobs[UPDATE_LIST, t[UPDATE_COUNT]] = job
            t[UPDATE_COUNT] += 1
    elif not is_asked(c, i):
        c[DEFERRED, i] = 0
        remove(c, t, heap, i)
    elif not c[DEFERRED, i]:
        push(c, t, heap, i)
    return n


@compiled
def next_pending(c, t, w):
    """Take a node off the list of those whose next null window must be chosen."""
    t[PENDING_WINDOWS] -= 1
    p = w[2, t[PENDING_WINDOWS]]
    c[VISITED, p] &= ~_PENDING
    return p


@compiled
def reset_first_child(c, p):
    """Have a grown node that is asked something new search the child first that was best so far."""
    c[FIRST_CHILD, p] = c[BEST_CHILD, p] if c[BEST_CHILD, p] != NONE else c[CHILDREN_START, p]


@compiled
@outlined
def pass_on(c, t, heap, jobs, w, start):
    """Ask the nodes below a grown one what its own question calls for."""
    n = 1
    w[0, 0] = start
    while n > 0:
        n -= 1
        p = w[0, n]
        first, count = c[CHILDREN_START, p], c[CHILD_COUNT, p]
        full_width = (t[FIXED] or c[DEPTH, p] < t[FULL_WIDTH_DEPTH]) and c[ALPHA, p] < c[BETA, p]
        active = is_asked(c, p) or full_width
        alpha, beta = c[ALPHA, p], c[BETA, p]
        if not active:
            wake(c, t, heap, p)
        elif t[STEPS] and beta - alpha > 1 and not full_width:
            null_window_beta = c[NULL_WINDOW_BETA, p]
            if not (max(c[LOW, p], alpha) < null_window_beta <= min(c[HIGH, p], beta)):
                if not c[VISITED, p] & _PENDING:
                    c[VISITED, p] |= _PENDING
                    w[2, t[PENDING_WINDOWS]] = p
                    t[PENDING_WINDOWS] += 1
                active = False
            alpha, beta = null_window_beta - 1, null_window_beta
        low = max(alpha, c[LOW, p])
        sibling_irrelevance = 0
        first_child = c[FIRST_CHILD, p]
        first_is_known = -c[LOW, first_child] <= low
        for i in range(first, first + count):
            a, b = np.int64(0), np.int64(0)
            better = -c[LOW, i] > low  # it may still be better than what is known
            if full_width:
                a, b = -beta, -alpha
            elif active and better:
                if t[ALL_AT_ONCE] or i == first_child or first_is_known and i == c[BEST_CHILD, p]:
                    a, b = -beta, -low
                elif first_is_known or t[NULL_WINDOWS] and not c[EXPECTED_CUT_NODE, p] and beta - low == 1:
                    a, b = (-low - 1 if t[NULL_WINDOWS] else -beta), -low
            before = n
            n = ask(c, t, heap, jobs, w, n, i, a, b)
            if not t[ALL_AT_ONCE] and is_asked(c, i):
                irrelevance = c[IRRELEVANCE, p] + sibling_irrelevance
                sibling_irrelevance += _SIBLING_IRRELEVANCE[c[EXPECTED_CUT_NODE, p], min(i - first, 3)]
                c[EXPECTED_CUT_NODE, i] = 0 if c[EXPECTED_CUT_NODE, p] and i == first_child else 1
                if irrelevance != c[IRRELEVANCE, i]:
                    c[IRRELEVANCE, i] = irrelevance
                    if c[QUEUED, i]:
                        requeue(c, t, heap, i)
                    elif c[STATUS, i] == GROWN and n == before:
                        w[0, n] = i
                        n += 1


@compiled
def back_up(c, p):
    """Tighten a grown node's bounds by those of its children; return whether they were tighter."""
    low = high = -INFINITY
    best = NONE
    for i in range(c[CHILDREN_START, p], c[CHILDREN_START, p] + c[CHILD_COUNT, p]):
        if -c[HIGH, i] > low:
            low, best = -c[HIGH, i], i
        high = max(high, -c[LOW, i])
    if low > c[LOW, p] or low == c[LOW, p] and (c[BEST_CHILD, p] == NONE or best < c[BEST_CHILD, p]):
        c[BEST_CHILD, p] = best  # the first of equals, whichever result came first
    return tighten(c, p, low, high)


@compiled
def tighten(c, i, low, high):
    """Take in bounds of a node; return whether they are tighter than those known."""
    found = False
    if low > c[LOW, i]:
        c[LOW, i] = low
        found = True
    if high < c[HIGH, i]:
        c[HIGH, i] = high
        found = True
    return found


@compiled
@outlined
def improved(c, t, heap, jobs, w, start):
    """Propagate a node's tighter bounds up the tree and to its transpositions; ask what follows from them."""
    n, visited = _list(c, w, 0, start), 0
    while n > 0:
        n -= 1
        i = w[0, n]
        c[VISITED, i] &= ~_LISTED
        other = c[TRANSPOSITION, i]
        while other != i:
            if tighten(c, other, c[LOW, i], c[HIGH, i]):
                n = _list(c, w, n, other)
            other = c[TRANSPOSITION, other]
        p = c[PARENT, i]
        if p == NONE:
            p = i
        elif back_up(c, p):
            n = _list(c, w, n, p)
        if not c[VISITED, p] & _SEEN:
            c[VISITED, p] |= _SEEN
            w[1, visited] = p
            visited += 1
    _from_the_top(c, t, heap, jobs, w, visited)


@compiled
def _list(c, w, n, i):
    """List a node whose bounds have become tighter, once; return how many are listed."""
    if c[VISITED, i] & _LISTED:
        return n
    c[VISITED, i] |= _LISTED
    w[0, n] = i
    return n + 1


@compiled
def _from_the_top(c, t, heap, jobs, w, count):
    """Pass questions on below the listed nodes, those nearer to a root first: they may end questions of the others."""
    for i in range(1, count):
        node, j = w[1, i], i
        while j > 0 and c[DEPTH, w[1, j - 1]] > c[DEPTH, node]:
            w[1, j] = w[1, j - 1]
            j -= 1
        w[1, j] = node
    for i in range(count):
        node = w[1, i]
        c[VISITED, node] &= ~_SEEN
        if c[STATUS, node] == GROWN:
            pass_on(c, t, heap, jobs, w, node)
        else:  # a root that is not grown
            ask(c, t, heap, jobs, w, 0, node, c[ALPHA, node], c[BETA, node])


@compiled
def spend(c, i, boards):
    """Count nodes that were searched below a node."""
    while i != NONE:
        c[COST, i] += boards
        i = c[PARENT, i]


@compiled
def on_expanded(c, t, heap, jobs, w, i):
    """Back up what is known of the children that a node has got, and pass its question on to them."""
    c[NULL_WINDOW_BETA, i] = -INFINITY
    c[FIRST_CHILD, i] = c[CHILDREN_START, i]
    if back_up(c, i):
        improved(c, t, heap, jobs, w, i)
    pass_on(c, t, heap, jobs, w, i)


@compiled
def ask_root(c, t, heap, jobs, w, i, low, high):
    """Ask where between low and high a root's score lies."""
    if ask(c, t, heap, jobs, w, 0, i, low, high):
        pass_on(c, t, heap, jobs, w, i)


@compiled
def back_up_all(c, size):
    """Tighten the bounds of all grown nodes, before anything is asked."""
    for i in range(size - 1, -1, -1):
        if c[STATUS, i] == GROWN:
            back_up(c, i)
            c[FIRST_CHILD, i] = c[CHILDREN_START, i]


@compiled
def ask_nothing(c, size):
    """Close every question; no job may be out."""
    for i in range(size):
        c[ALPHA, i] = c[BETA, i] = c[QUEUED, i] = c[DEFERRED, i] = c[VISITED, i] = 0


@compiled
def has_open_child(c, p):
    """Whether a question of a node's child is open."""
    for i in range(c[CHILDREN_START, p], c[CHILDREN_START, p] + c[CHILD_COUNT, p]):
        if is_asked(c, i):
            return True
    return False
