"""Propagates search windows down the node array and score bounds up it, and keeps the ready queue current.

A question is a window: where between ``alpha`` and ``beta`` does a node's score lie? The node's bounds answer it. A
grown node passes questions on to its children by the rules of its policy, and new bounds narrow the windows of its
siblings and of the nodes above. One set of compiled functions serves all policies and games: only expansion knows a
game. ``layout`` says how they reach the arrays.
"""

import numpy as np

from ..core.jit import compiled, outlined
from ..core.pointers import int64s
from .layout import GROWN, INFINITY, NONE, SENT, job_at, node_at, tree_at
from .ready_queue import is_asked, push, remove, requeue

_SEEN, _LISTED, _PENDING = 1, 2, 4  # bits of ``visited``: the lists that a node is in

# What a move adds to the irrelevance of the moves behind it: -1000 ln(1 - p), where p is how often the first, second,
# third or a later move caused a cutoff; at nodes where none was expected to, and where one was. Counted in FFO #44 and
# #47, but for the first 500, which was 160: at the top of the tree, where most of the work is, nodes are more often
# taken for the wrong kind, so with 500 fewer nodes were searched that were not needed.
_SIBLING_IRRELEVANCE = np.array([[500, 50, 20, 10], [600, 310, 140, 50]])


@compiled
def wake(tree, i):
    """Queue the deferred transpositions of a node that is no longer at work, if their questions are open."""
    nodes = tree_at(tree, 0).nodes
    other = node_at(nodes, i).transposition
    while other != i:
        n = node_at(nodes, other)
        if n.deferred:
            n.deferred = 0
            if is_asked(tree, other):
                push(tree, other)
        other = n.transposition


@compiled
def ask(tree, listed, i, alpha, beta):
    """Ask a node something; return the length of the agenda, whose first ``listed`` nodes stay.

    A grown node that is asked something new is added: it must pass the question on.
    """
    t = tree_at(tree, 0)
    n = node_at(t.nodes, i)
    new = n.alpha != alpha or n.beta != beta
    n.alpha, n.beta = alpha, beta
    if n.status == GROWN:
        if new:
            reset_first_child(tree, i)
            int64s(t.agenda)[listed] = i
            listed += 1
    elif n.status == SENT:
        if new or not is_asked(tree, i):
            list_job(tree, n.job_id)
    elif not is_asked(tree, i):
        n.deferred = 0
        remove(tree, i)
    elif not n.deferred:
        push(tree, i)
    return listed


@compiled
def list_job(tree, job):
    """List a job whose worker may have to know of a change, unless it is listed."""
    t = tree_at(tree, 0)
    j = job_at(t.jobs, job)
    if not j.listed:
        j.listed = 1
        int64s(t.updates)[t.update_count] = job
        t.update_count += 1


@compiled
def next_pending(tree):
    """Take a node off the list of those whose next null window must be chosen."""
    t = tree_at(tree, 0)
    t.pending_count -= 1
    p = int64s(t.pending)[t.pending_count]
    node_at(t.nodes, p).visited &= ~_PENDING
    return p


@compiled
def reset_first_child(tree, p):
    """Have a grown node that is asked something new search the child first that was best so far."""
    n = node_at(tree_at(tree, 0).nodes, p)
    n.first_child = n.best_child if n.best_child != NONE else n.children_start


@compiled
@outlined
def pass_on(tree, start):
    """Ask the nodes below a grown one what its own question calls for."""
    t = tree_at(tree, 0)
    nodes, agenda = t.nodes, int64s(t.agenda)
    listed = 1
    agenda[0] = start
    while listed > 0:
        listed -= 1
        p = agenda[listed]
        n = node_at(nodes, p)
        full_width = (t.fixed or n.depth < t.full_width_depth) and n.alpha < n.beta
        active = is_asked(tree, p) or full_width
        alpha, beta = n.alpha, n.beta
        if not active:
            wake(tree, p)
        elif t.steps and beta - alpha > 1 and not full_width:
            null_window_beta = n.null_window_beta
            if not (max(n.low, alpha) < null_window_beta <= min(n.high, beta)):
                if not n.visited & _PENDING:
                    n.visited |= _PENDING
                    int64s(t.pending)[t.pending_count] = p
                    t.pending_count += 1
                active = False
            alpha, beta = null_window_beta - 1, null_window_beta
        low = max(alpha, n.low)
        sibling_irrelevance = 0
        first_is_known = -node_at(nodes, n.first_child).low <= low
        for i in range(n.children_start, n.children_start + n.child_count):
            child = node_at(nodes, i)
            a, b = np.int64(0), np.int64(0)
            better = -child.low > low  # it may still be better than what is known
            if full_width:
                a, b = -beta, -alpha
            elif active and better:
                if t.all_at_once or i == n.first_child or first_is_known and i == n.best_child:
                    a, b = -beta, -low
                elif first_is_known or t.null_windows and not n.expected_cut_node and beta - low == 1:
                    a, b = (-low - 1 if t.null_windows else -beta), -low
            before = listed
            listed = ask(tree, listed, i, a, b)
            if not t.all_at_once and is_asked(tree, i):
                irrelevance = n.irrelevance + sibling_irrelevance
                sibling_irrelevance += _SIBLING_IRRELEVANCE[n.expected_cut_node, min(i - n.children_start, 3)]
                child.expected_cut_node = 0 if n.expected_cut_node and i == n.first_child else 1
                if irrelevance != child.irrelevance:
                    child.irrelevance = irrelevance
                    if child.queued:
                        requeue(tree, i)
                    elif child.status == GROWN and listed == before:
                        agenda[listed] = i
                        listed += 1


@compiled
def back_up(tree, p):
    """Tighten a grown node's bounds by those of its children; return whether they were tighter."""
    nodes = tree_at(tree, 0).nodes
    n = node_at(nodes, p)
    low = high = -INFINITY
    best = NONE
    for i in range(n.children_start, n.children_start + n.child_count):
        child = node_at(nodes, i)
        if -child.high > low:
            low, best = -child.high, i
        high = max(high, -child.low)
    if low > n.low or low == n.low and (n.best_child == NONE or best < n.best_child):
        n.best_child = best  # the first of equals, whichever result came first
    return tighten(tree, p, low, high)


@compiled
def tighten(tree, i, low, high):
    """Take in bounds of a node; return whether they are tighter than those known."""
    n = node_at(tree_at(tree, 0).nodes, i)
    tighter = False
    if low > n.low:
        n.low = low
        tighter = True
    if high < n.high:
        n.high = high
        tighter = True
    return tighter


@compiled
@outlined
def improved(tree, start):
    """Propagate a node's tighter bounds up the tree and to its transpositions; ask what follows from them."""
    t = tree_at(tree, 0)
    nodes, agenda, seen = t.nodes, int64s(t.agenda), int64s(t.seen)
    listed, count = _list(tree, 0, start), 0
    while listed > 0:
        listed -= 1
        i = agenda[listed]
        n = node_at(nodes, i)
        n.visited &= ~_LISTED
        other = n.transposition
        while other != i:
            if tighten(tree, other, n.low, n.high):
                listed = _list(tree, listed, other)
            other = node_at(nodes, other).transposition
        p = n.parent
        if p == NONE:
            p = i
        elif back_up(tree, p):
            listed = _list(tree, listed, p)
        above = node_at(nodes, p)
        if not above.visited & _SEEN:
            above.visited |= _SEEN
            seen[count] = p
            count += 1
    _from_the_top(tree, count)


@compiled
def _list(tree, listed, i):
    """Add a node whose bounds have become tighter to the agenda, once; return the agenda's length."""
    t = tree_at(tree, 0)
    n = node_at(t.nodes, i)
    if n.visited & _LISTED:
        return listed
    n.visited |= _LISTED
    int64s(t.agenda)[listed] = i
    return listed + 1


@compiled
def _from_the_top(tree, count):
    """Pass questions on below the nodes seen, those nearer to a root first: they may end questions of the others."""
    t = tree_at(tree, 0)
    nodes, seen = t.nodes, int64s(t.seen)
    for i in range(1, count):
        node, j = seen[i], i
        while j > 0 and node_at(nodes, seen[j - 1]).depth > node_at(nodes, node).depth:
            seen[j] = seen[j - 1]
            j -= 1
        seen[j] = node
    for i in range(count):
        n = node_at(nodes, seen[i])
        n.visited &= ~_SEEN
        if n.status == GROWN:
            pass_on(tree, seen[i])
        else:  # a root that is not grown
            ask(tree, 0, seen[i], n.alpha, n.beta)


@compiled
def spend(tree, i, searched):
    """Count nodes that were searched below a node."""
    nodes = tree_at(tree, 0).nodes
    while i != NONE:
        n = node_at(nodes, i)
        n.cost += searched
        i = n.parent


@compiled
def on_expanded(tree, i):
    """Back up what is known of the children that a node has got, and pass its question on to them."""
    n = node_at(tree_at(tree, 0).nodes, i)
    n.null_window_beta = -INFINITY
    n.first_child = n.children_start
    if back_up(tree, i):
        improved(tree, i)
    pass_on(tree, i)


@compiled
def ask_root(tree, i, low, high):
    """Ask where between low and high a root's score lies."""
    if ask(tree, 0, i, low, high):
        pass_on(tree, i)


@compiled
def back_up_all(tree, size):
    """Tighten the bounds of all grown nodes, before anything is asked."""
    nodes = tree_at(tree, 0).nodes
    for i in range(size - 1, -1, -1):
        n = node_at(nodes, i)
        if n.status == GROWN:
            back_up(tree, i)
            reset_first_child(tree, i)


@compiled
def has_open_child(tree, p):
    """Whether a question of a node's child is open."""
    n = node_at(tree_at(tree, 0).nodes, p)
    for i in range(n.children_start, n.children_start + n.child_count):
        if is_asked(tree, i):
            return True
    return False
