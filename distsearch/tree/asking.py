"""Which questions are asked of which nodes: windows down the array, bounds up, and the queue of what waits.

A question is a window: where does a node's score lie, told apart no further than from ALPHA to BETA? It is answered as
soon as the node's bounds say so. A grown node passes questions on to its children as its policy has it, and bounds that
come in narrow the windows above and beside them. One set of compiled functions serves all policies and games: growing
alone knows a game.

The functions take the node array's columns ``c``, the control array ``t`` (int64, see below), the queue ``heap`` (a
binary heap of node indices), ``jobs`` (a column for each job that is out), and ``w``, room for three lists of nodes.
"""

import numpy as np

from ..jit import compiled
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
    LEFT,
    LOW,
    NONE,
    ORDER,
    PARENT,
    QUEUED,
    READY,
    ROOT,
    SENT,
    STATUS,
    TWIN,
    VISITED,
    WAITING,
)  # fmt: skip
from .sizes import learn

# The control array.
QUEUE = 0  # entries of the queue
WAIT = 1  # nodes that are READY
WISHES = 2  # jobs whose question has changed since the last look, listed in row WISH
POSING = 3  # grown nodes whose next null window is to be chosen, listed in row 2 of ``w``
FORCED = 4  # children of nodes above this depth get all of the window, whatever is known
ALL_AT_ONCE, FIXED, SCOUTS, STEPS, TELLS = range(5, 10)  # decisions of the policy, see ``policies``
CONTROL_SIZE = 10

# Rows of the jobs that are out; a job's number is its column.
# JOB_LOW and JOB_HIGH: the window that its worker was told of; CHANGED: it is listed in WISH; DROPPED: its worker was
# told that it is not wanted; REST: the number that was kept for its rest, if a part is asked of it.
JOB_NODE, JOB_LOW, JOB_HIGH, JOB_WORKER, CHANGED, DROPPED, REST, WISH = range(8)
JOB_ROWS = 8

_SEEN, _LISTED, _POSED = 1, 2, 4  # bits of VISITED: in one list or another of ``w``

_BESIDE_CUT = 400  # doubt of a brother of one that may well be good enough
_BESIDE_ALL = 60  # the same where none is expected to be


@compiled
def is_asked(c, i):
    """Whether a question of a node is open."""
    return c[ALPHA, i] < c[BETA, i] and c[LOW, i] < c[BETA, i] and c[HIGH, i] > c[ALPHA, i] and c[LOW, i] < c[HIGH, i]


@compiled
def _before(c, i, j):
    """Whether node i is to be handed out before node j."""
    return c[DOUBT, i] < c[DOUBT, j] or c[DOUBT, i] == c[DOUBT, j] and c[ORDER, i] < c[ORDER, j]


@compiled
def _push(c, t, heap, i):
    """Have a node wait to be handed out."""
    if c[READY, i]:
        return
    c[READY, i] = 1
    t[WAIT] += 1
    if c[QUEUED, i]:
        return
    c[QUEUED, i] = 1
    at = t[QUEUE]
    t[QUEUE] += 1
    while at > 0:
        above = (at - 1) // 2
        if not _before(c, i, heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = i


@compiled
def unready(c, t, i):
    """Have a node not wait any more."""
    if c[READY, i]:
        c[READY, i] = 0
        t[WAIT] -= 1


@compiled
def pop(c, t, heap):
    """Take the node that is to be handed out next off the queue; NONE if there is none."""
    while t[QUEUE] > 0:
        first = heap[0]
        t[QUEUE] -= 1
        last, n, at = heap[t[QUEUE]], t[QUEUE], 0
        while True:
            below = 2 * at + 1
            if below >= n:
                break
            if below + 1 < n and _before(c, heap[below + 1], heap[below]):
                below += 1
            if not _before(c, heap[below], last):
                break
            heap[at] = heap[below]
            at = below
        heap[at] = last
        c[QUEUED, first] = 0
        if c[READY, first]:
            unready(c, t, first)
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


@compiled
def _wake(c, t, heap, i):
    """Have the twins of a node that is no longer at work wait for themselves, in case they are still asked."""
    twin = c[TWIN, i]
    while twin != i:
        if c[DEFERRED, twin]:
            c[DEFERRED, twin] = 0
            if is_asked(c, twin):
                _push(c, t, heap, twin)
        twin = c[TWIN, twin]


@compiled
def _ask(c, t, heap, jobs, w, n, i, alpha, beta):
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
        unready(c, t, i)
    elif not c[DEFERRED, i]:
        _push(c, t, heap, i)
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
            _wake(c, t, heap, p)
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
        open_brothers = 0  # that are asked and not answered, of those before
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
                elif eldest_known:
                    a, b = (-low - 1 if t[SCOUTS] else -beta), -low
            if not (t[ALL_AT_ONCE] or c[READY, i] or c[QUEUED, i]):
                c[DOUBT, i] = c[DOUBT, p] + open_brothers * (_BESIDE_CUT if c[CUT, p] else _BESIDE_ALL)
                c[CUT, i] = 0 if c[CUT, p] and i == eldest else 1
            n = _ask(c, t, heap, jobs, w, n, i, a, b)
            open_brothers += is_asked(c, i)


@compiled
def _settle(c, p):
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
        elif _settle(c, p):
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
            _ask(c, t, heap, jobs, w, 0, node, c[ALPHA, node], c[BETA, node])


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
    if _settle(c, i):
        improved(c, t, heap, jobs, w, i)
    pass_on(c, t, heap, jobs, w, i)


@compiled
def ask_root(c, t, heap, jobs, w, i, low, high):
    """Ask a root for its score, told apart no further than from low to high."""
    if _ask(c, t, heap, jobs, w, 0, i, low, high):
        pass_on(c, t, heap, jobs, w, i)


@compiled
def take_in(c, t, heap, jobs, w, results, totals, sizes):
    """Take result records in: what they say of their nodes' scores, what they took, and how large such jobs are.

    A score is the node's, or of one beyond the job's window the end that it lies at or beyond; if the job is not
    complete, a lower bound, or −inf. totals: float64 of shape (roots, 7); sizes: see ``sizes``.
    """
    for k in range(len(results)):
        record = results[k]
        job, i = np.int64(record.node), jobs[JOB_NODE, record.node]
        jobs[JOB_NODE, job] = NONE
        c[STATUS, i] = WAITING
        spend(c, i, record.boards)
        low, high = -INFINITY, INFINITY
        if record.score > -1e18:
            low = np.int64(record.score)
        if record.complete:
            high = low if low < jobs[JOB_HIGH, job] else INFINITY
            low = low if low > jobs[JOB_LOW, job] else -INFINITY
            learn(sizes, c[LEFT, i], record.boards, record.cpu)
        mine = totals[c[ROOT, i]]
        mine[0] += record.seconds
        mine[1] += record.cpu
        mine[2] += record.ordering_boards
        mine[3] += record.evaluated
        mine[4] += record.table_hits
        mine[5] += record.table_stores
        mine[6] += record.table_replacements
        if tighten(c, i, low, high):
            improved(c, t, heap, jobs, w, i)
        _wake(c, t, heap, i)
        _ask(c, t, heap, jobs, w, 0, i, c[ALPHA, i], c[BETA, i])


@compiled
def settle_all(c, size):
    """Tighten the bounds of all grown nodes, when nothing is asked yet."""
    for i in range(size - 1, -1, -1):
        if c[STATUS, i] == GROWN:
            _settle(c, i)
            c[ELDEST, i] = c[FIRST, i]


@compiled
def ask_nothing(c, size):
    """Have no question open anywhere, as where no job is out."""
    for i in range(size):
        c[ALPHA, i] = c[BETA, i] = c[READY, i] = c[QUEUED, i] = c[DEFERRED, i] = c[VISITED, i] = 0


@compiled
def sent(c, jobs, job, i, low, high, worker):
    """Note a job that is handed out.

    CHANGED stays: an earlier job of this number may still be listed, and then so is this one.
    """
    c[STATUS, i], c[ASKED, i] = SENT, job
    jobs[JOB_NODE, job], jobs[JOB_LOW, job], jobs[JOB_HIGH, job] = i, low, high
    jobs[JOB_WORKER, job], jobs[DROPPED, job], jobs[REST, job] = worker, 0, NONE


@compiled
def next_wish(c, t, jobs):
    """Take the job that was listed last; return its number if its worker is to be told of a change, else NONE.

    The job is DROPPED, or its window narrower from then on. A result that was on its way is read rightly all the same.
    """
    t[WISHES] -= 1
    job = jobs[WISH, t[WISHES]]
    jobs[CHANGED, job] = 0
    i = jobs[JOB_NODE, job]
    if i == NONE or jobs[DROPPED, job]:
        return NONE
    low, high = jobs[JOB_LOW, job], jobs[JOB_HIGH, job]
    if not is_asked(c, i):
        jobs[DROPPED, job] = 1
        return job
    low, high = max(low, c[ALPHA, i]), min(high, c[BETA, i])
    if low >= high or low == jobs[JOB_LOW, job] and high == jobs[JOB_HIGH, job]:
        return NONE  # it goes on with a question that is not quite the one, and is asked again if need be
    jobs[JOB_LOW, job], jobs[JOB_HIGH, job] = low, high
    return job


@compiled
def has_open_child(c, p):
    """Whether the score of a node's child is asked for and not known."""
    for i in range(c[FIRST, p], c[FIRST, p] + c[CHILDREN, p]):
        if is_asked(c, i):
            return True
    return False


@compiled
def largest(c, jobs, least):
    """Return the job that a part is best asked of: with the most left, more than ``least``; NONE if there is none."""
    found = NONE
    for job in range(jobs.shape[1]):
        i = jobs[JOB_NODE, job]
        if i != NONE and jobs[REST, job] == NONE and not jobs[DROPPED, job] and c[LEFT, i] > least:
            j = jobs[JOB_NODE, found] if found != NONE else i
            if found == NONE or c[DOUBT, i] < c[DOUBT, j] or c[DOUBT, i] == c[DOUBT, j] and c[LEFT, i] > c[LEFT, j]:
                found = job
    return found


@compiled
def adopted(c, t, heap, jobs, w, job, rest, last, low, high):
    """A job's node has got the tree that its worker gave away; it goes on with node ``last`` as the job ``rest``."""
    i = jobs[JOB_NODE, job]
    worker = jobs[JOB_WORKER, job]
    jobs[JOB_NODE, job] = NONE
    sent(c, jobs, rest, last, low, high, worker)
    node = last
    while node != i:
        node = c[PARENT, node]
        c[ELDEST, node] = c[FIRST, node]
        _settle(c, node)
    improved(c, t, heap, jobs, w, i)
    pass_on(c, t, heap, jobs, w, i)
    if not is_asked(c, last) and not jobs[CHANGED, rest]:
        jobs[CHANGED, rest] = 1
        jobs[WISH, t[WISHES]] = rest
        t[WISHES] += 1
