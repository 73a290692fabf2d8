"""Which questions are asked of which nodes: windows down the array, bounds up, and the queue of what waits.

A question is a window: where does a node's score lie, told apart no further than from ALPHA to BETA? It is answered as
soon as the node's bounds say so. A grown node passes questions on to its children as its policy has it, and bounds that
come in narrow the windows above and beside them. One set of compiled functions serves all policies and games: growing
alone knows a game.

The functions take the node array's columns ``c``, the control array ``t`` (see ``control``), the queue ``heap`` (a
binary heap of node indices), ``jobs`` (a column for each job that is out), and ``w``, room for three lists of nodes.
"""

import numpy as np

from ..core.jit import compiled
from .layout import ALL_AT_ONCE, CHANGED, FIXED, FORCED, POSING, SCOUTS, STEPS, WISH, WISHES
from .nodes import (
    ALPHA,
    ASKED,
    BEST_CHILD,
    BETA,
    CHILDREN,
    COST,
    CUT,
    DEFERRED,
    DEPTH,
    DOUBT,
    ELDEST,
    FIRST,
    GROWN,
    HIGH,
    INFINITY,
    LOW,
    NONE,
    PARENT,
    QUEUED,
    SENT,
    STATUS,
    TWIN,
    VISITED,
)
from .ready_queue import is_asked, push, requeue, unready

_SEEN, _LISTED, _POSED = 1, 2, 4  # bits of VISITED: in one list or another of ``w``

# Doubt of what stands behind a move that is asked about: -1000 ln(1 - p), where p is how often the first, second, third
# or a later move of a node was good enough, that the others need no search: at nodes where none was likely to be, and
# where one was. Counted in FFO #44 and #47, but for the first 500, which was 160: nodes of the top, where most of the
# work is, are more often taken for the wrong kind, so fewer boards were searched for nothing.
_BESIDE = np.array([[500, 50, 20, 10], [600, 310, 140, 50]])


@compiled
def wake(c, t, heap, i):
    """Have the twins of a node that is no longer at work wait for themselves, in case they are still asked."""
    twin = c[TWIN, i]
    while twin != i:
        if c[DEFERRED, twin]:
            c[DEFERRED, twin] = 0
            if is_asked(c, twin):
                push(c, t, heap, twin)
        twin = c[TWIN, twin]


@compiled
def ask(c, t, heap, jobs, w, n, i, alpha, beta):
    """Ask a node something; return how many nodes ``w`` lists that are to pass questions on, of which there were n."""
    new = c[ALPHA, i] != alpha or c[BETA, i] != beta
    c[ALPHA, i], c[BETA, i] = alpha, beta
    if c[STATUS, i] == GROWN:
        if new:
            choose_eldest(c, i)
            w[0, n] = i
            n += 1
    elif c[STATUS, i] == SENT:
        job = c[ASKED, i]
        if not jobs[CHANGED, job] and (new or not is_asked(c, i)):
            jobs[CHANGED, job] = 1
            jobs[WISH, t[WISHES]] = job
            t[WISHES] += 1
    elif not is_asked(c, i):
        c[DEFERRED, i] = 0
        unready(c, t, heap, i)
    elif not c[DEFERRED, i]:
        push(c, t, heap, i)
    return n


@compiled
def posed(c, t, w):
    """Take a node off the list of those whose next null window is to be chosen."""
    t[POSING] -= 1
    p = w[2, t[POSING]]
    c[VISITED, p] &= ~_POSED
    return p


@compiled
def choose_eldest(c, p):
    """Before a grown node is asked something else: the child that was best so far is to be asked first."""
    c[ELDEST, p] = c[BEST_CHILD, p] if c[BEST_CHILD, p] != NONE else c[FIRST, p]


@compiled
def pass_on(c, t, heap, jobs, w, start):
    """Have the nodes below a grown one be asked what its own question calls for."""
    n = 1
    w[0, 0] = start
    while n > 0:
        n -= 1
        p = w[0, n]
        first, count = c[FIRST, p], c[CHILDREN, p]
        forced = (t[FIXED] or c[DEPTH, p] < t[FORCED]) and c[ALPHA, p] < c[BETA, p]
        active = is_asked(c, p) or forced
        alpha, beta = c[ALPHA, p], c[BETA, p]
        if not active:
            wake(c, t, heap, p)
        elif t[STEPS] and beta - alpha > 1 and not forced:
            asked = c[ASKED, p]
            if not (max(c[LOW, p], alpha) < asked <= min(c[HIGH, p], beta)):
                if not c[VISITED, p] & _POSED:
                    c[VISITED, p] |= _POSED
                    w[2, t[POSING]] = p
                    t[POSING] += 1
                active = False
            alpha, beta = asked - 1, asked
        low = max(alpha, c[LOW, p])
        beside = 0  # doubt
        eldest = c[ELDEST, p]
        eldest_known = -c[LOW, eldest] <= low
        for i in range(first, first + count):
            a, b = np.int64(0), np.int64(0)
            better = -c[LOW, i] > low  # it may still be better than what is known
            if forced:
                a, b = -beta, -alpha
            elif active and better:
                if t[ALL_AT_ONCE] or i == eldest or eldest_known and i == c[BEST_CHILD, p]:
                    a, b = -beta, -low
                elif eldest_known or t[SCOUTS] and not c[CUT, p] and beta - low == 1:
                    a, b = (-low - 1 if t[SCOUTS] else -beta), -low
            before = n
            n = ask(c, t, heap, jobs, w, n, i, a, b)
            if not t[ALL_AT_ONCE] and is_asked(c, i):
                doubt = c[DOUBT, p] + beside
                beside += _BESIDE[c[CUT, p], min(i - first, 3)]
                c[CUT, i] = 0 if c[CUT, p] and i == eldest else 1
                if doubt != c[DOUBT, i]:
                    c[DOUBT, i] = doubt
                    if c[QUEUED, i]:
                        requeue(c, t, heap, i)
                    elif c[STATUS, i] == GROWN and n == before:
                        w[0, n] = i
                        n += 1


@compiled
def settle(c, p):
    """Tighten a grown node's bounds by its children's; return whether they did."""
    low = high = -INFINITY
    best = NONE
    for i in range(c[FIRST, p], c[FIRST, p] + c[CHILDREN, p]):
        if -c[HIGH, i] > low:
            low, best = -c[HIGH, i], i
        high = max(high, -c[LOW, i])
    if low > c[LOW, p] or low == c[LOW, p] and (c[BEST_CHILD, p] == NONE or best < c[BEST_CHILD, p]):
        c[BEST_CHILD, p] = best  # the first of equals, whichever result came first
    return tighten(c, p, low, high)


@compiled
def tighten(c, i, low, high):
    """Take in bounds of a node; return whether they tell anything new."""
    found = False
    if low > c[LOW, i]:
        c[LOW, i] = low
        found = True
    if high < c[HIGH, i]:
        c[HIGH, i] = high
        found = True
    return found


@compiled
def improved(c, t, heap, jobs, w, start):
    """Carry the bounds of a node, which have just become tighter, up and to its twins; ask what follows from them."""
    n, visited = _list(c, w, 0, start), 0
    while n > 0:
        n -= 1
        i = w[0, n]
        c[VISITED, i] &= ~_LISTED
        twin = c[TWIN, i]
        while twin != i:
            if tighten(c, twin, c[LOW, i], c[HIGH, i]):
                n = _list(c, w, n, twin)
            twin = c[TWIN, twin]
        p = c[PARENT, i]
        if p == NONE:
            p = i
        elif settle(c, p):
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
    """Pass questions on below the nodes that are listed, those nearer to a root first: what they end need no more."""
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
    """Count boards that were searched below a node."""
    while i != NONE:
        c[COST, i] += boards
        i = c[PARENT, i]


@compiled
def grown(c, t, heap, jobs, w, i):
    """A node has got children: what they are known to be worth counts, and questions go on to them."""
    c[ASKED, i] = -INFINITY
    c[ELDEST, i] = c[FIRST, i]
    if settle(c, i):
        improved(c, t, heap, jobs, w, i)
    pass_on(c, t, heap, jobs, w, i)


@compiled
def ask_root(c, t, heap, jobs, w, i, low, high):
    """Ask a root for its score, told apart no further than from low to high."""
    if ask(c, t, heap, jobs, w, 0, i, low, high):
        pass_on(c, t, heap, jobs, w, i)


@compiled
def settle_all(c, size):
    """Tighten the bounds of all grown nodes, when nothing is asked yet."""
    for i in range(size - 1, -1, -1):
        if c[STATUS, i] == GROWN:
            settle(c, i)
            c[ELDEST, i] = c[FIRST, i]


@compiled
def ask_nothing(c, size):
    """Have no question open anywhere, as where no job is out."""
    for i in range(size):
        c[ALPHA, i] = c[BETA, i] = c[QUEUED, i] = c[DEFERRED, i] = c[VISITED, i] = 0


@compiled
def has_open_child(c, p):
    """Whether the score of a node's child is asked for and not known."""
    for i in range(c[FIRST, p], c[FIRST, p] + c[CHILDREN, p]):
        if is_asked(c, i):
            return True
    return False
