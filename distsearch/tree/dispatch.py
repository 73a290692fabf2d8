"""The table of jobs that are out: which nodes they are made of, the updates that workers get, and the results."""

import numpy as np

from ..core.jit import compiled
from ..core.pointers import int64s, uint64s
from .job_size import record_job
from .layout import INFINITY, NEEDED, NONE, PREEMPTED, SENT, UNNEEDED, WAITING, job_at, node_at, tree_at
from .ready_queue import is_asked, pop
from .windows import ask, back_up, improved, list_job, pass_on, spend, tighten, wake

_TO_THE_END = -1  # in a job's record, instead of plies
_FURTHEST = 10**6  # every score of an engine with a table is nearer to 0

# Split requests outstanding for each idle worker: some jobs finish before they can split. With one, workers were idle a
# tenth more; with four, more was searched that was not needed.
_SPLITS_PER_IDLE_WORKER = 2
# Difference of irrelevance from which a job is preempted, or a more relevant one split. FFO #48 took 31 virtual workers
# 2.2 times one worker's nodes with 400, 1.9 with 200, and 1.8 with 40, by 1.4 times as many jobs.
PREEMPTION_MARGIN = 200


@compiled
def take(tree, out, n, worker, budget):
    """Hand out jobs from the queue to fill rows n on of ``out``, see ``hand_out``; return how many are filled.

    Stops early where the queue is empty, or a node must be grown, ``to_expand``.
    """
    t = tree_at(tree, 0)
    t.to_expand = NONE
    while n < len(out):
        node = pop(tree)
        if node == NONE:
            break
        if _must_grow(tree, node):
            t.to_expand = node
            break
        hand_out(tree, out, n, node, worker, budget)
        n += 1
    return n


@compiled
def _must_grow(tree, node):
    """Whether a job of a node would keep one worker for so long that its children are better jobs."""
    t = tree_at(tree, 0)
    n = node_at(t.nodes, node)
    if n.depth < t.full_width_depth:
        return not t.all_at_once
    if t.splits:  # a wide window is closed in on here, unless the worker that takes the job does that
        steps = t.steps and not t.full_windows
        return t.expand_above < INFINITY and steps and n.depth_left > 2 and n.beta - n.alpha > 1
    return n.depth_left > max(t.expand_above, 2)


@compiled
def hand_out(tree, out, n, node, worker, budget):
    """Make a job of a node and write its record, as 64-bit words, to row n of ``out``; there must be a free id."""
    t = tree_at(tree, 0)
    t.free_count -= 1
    job, source = int64s(t.free_ids)[t.free_count], node_at(t.nodes, node)
    assign(tree, job, node, source.alpha, source.beta, worker)
    out[n, 0] = _pair(job, _TO_THE_END if t.exact else source.depth_left)
    out[n, 1] = budget
    out[n, 2] = _pair(_near(source.alpha), _near(source.beta))
    out[n, 3] = source.expected_cut_node
    for i in range(t.position_words):
        out[n, 4 + i] = np.int64(uint64s(t.positions)[node * t.position_words + i])


@compiled
def _near(score):
    return min(max(score, -_FURTHEST), _FURTHEST)


@compiled
def assign(tree, job, i, low, high, worker):
    """Note a job that is handed out.

    ``listed`` stays: an earlier job of this id may still be listed, and then so is this one.
    """
    t = tree_at(tree, 0)
    n, j = node_at(t.nodes, i), job_at(t.jobs, job)
    n.status, n.job_id = SENT, job
    j.node, j.low, j.high, j.worker, j.state, j.remainder = i, low, high, worker, NEEDED, NONE


@compiled
def _pair(first, second):
    """Return two int32 that follow one another in memory as one int64 (the least significant byte comes first)."""
    return second << 32 | first & 0xFFFFFFFF


@compiled
def release(tree, job):
    """Free the id of a job that is answered, or goes on under another id, and that of its remainder."""
    t = tree_at(tree, 0)
    j, free_ids = job_at(t.jobs, job), int64s(t.free_ids)
    j.node = NONE
    free_ids[t.free_count] = job
    t.free_count += 1
    if j.remainder != NONE:
        free_ids[t.free_count] = j.remainder
        t.free_count += 1
        t.splits_requested -= 1
        j.remainder = NONE


@compiled
def take_in(tree, results, totals, sizes, lines):
    """Take result records in: the scores of their nodes, what they took, and how large such jobs are.

    A score outside the job's window is the end of the window that it lies at or beyond. The score of a job that is not
    complete is a lower bound, or −inf. totals: float64 of shape (roots, 8), the ``COSTS`` but for nodes; sizes: see
    ``job_size``. Returns how many of the records have a line to keep; writes (record, node, whether it is no better
    than what was known) to ``lines``.
    """
    t = tree_at(tree, 0)
    kept = 0
    for k in range(len(results)):
        record = results[k]
        job = np.int64(record.job_id)
        j = job_at(t.jobs, job)
        i, n = j.node, node_at(t.nodes, j.node)
        wide = j.high - j.low > 1
        if record.line_length > 1 or record.line_length == 1 and (wide or i < len(totals)):  # else a move alone
            lines[kept, 0], lines[kept, 1], lines[kept, 2] = k, i, record.score <= j.low
            kept += 1
        t.finished += record.complete
        if j.state == PREEMPTED:
            t.preempted -= 1
        n.status = WAITING
        spend(tree, i, record.nodes)
        low, high = -INFINITY, INFINITY
        if record.score > -1e18:
            low = np.int64(record.score)
        if record.complete:
            high = low if low < j.high else INFINITY
            low = low if low > j.low else -INFINITY
            record_job(sizes, n.depth_left, record.nodes, record.cpu)
        release(tree, job)
        mine = totals[n.root]
        mine[0] += record.ordering_nodes
        mine[1] += record.evaluated
        mine[2] += record.table_hits
        mine[3] += record.table_far_hits
        mine[4] += record.table_stores
        mine[5] += record.table_replacements
        mine[6] += record.seconds
        mine[7] += record.cpu
        if tighten(tree, i, low, high):
            improved(tree, i)
        wake(tree, i)
        ask(tree, 0, i, n.alpha, n.beta)
    return kept


@compiled
def next_update(tree):
    """Take the job that was listed last; return its id if its worker must know of a change, else NONE.

    The job is UNNEEDED, or its window narrower from then on. A result that was on its way is still read rightly.
    """
    t = tree_at(tree, 0)
    t.update_count -= 1
    job = int64s(t.updates)[t.update_count]
    j = job_at(t.jobs, job)
    j.listed = 0
    if j.node == NONE or j.state != NEEDED:
        return NONE
    if not is_asked(tree, j.node):
        j.state = UNNEEDED
        return job
    n = node_at(t.nodes, j.node)
    low, high = max(j.low, n.alpha), min(j.high, n.beta)
    if low >= high or low == j.low and high == j.high:
        return NONE  # keep the stale window; the node is searched again later if necessary
    j.low, j.high = low, high
    return job


@compiled
def collect_updates(tree, found, idle_workers, min_depth_left):
    """Write what is new of jobs that are out to ``found``, see ``SearchTree.job_updates``; return how many rows."""
    t = tree_at(tree, 0)
    n = 0
    while t.update_count > 0 and n < len(found):
        job = next_update(tree)
        if job != NONE:
            n = _write_update(tree, found, n, job, NONE, 0)
    if not t.splits:
        return n
    while n < len(found):
        job = preempt(tree)
        if job == NONE:
            break
        n = _write_update(tree, found, n, job, NONE, 0)
    while idle_workers >= 0 and n < len(found) and t.free_count > 0:
        job = largest_job(tree, min_depth_left)
        if job == NONE:
            break
        j = job_at(t.jobs, job)
        limit = node_at(t.nodes, j.node).irrelevance + PREEMPTION_MARGIN
        if t.splits_requested >= _SPLITS_PER_IDLE_WORKER * (idle_workers + less_relevant(tree, limit)):
            break
        t.free_count -= 1
        j.remainder = int64s(t.free_ids)[t.free_count]
        t.splits_requested += 1
        n = _write_update(tree, found, n, job, j.remainder, min_depth_left)
    return n


@compiled
def _write_update(tree, found, n, job, remainder, min_depth_left):
    j = job_at(tree_at(tree, 0).jobs, job)
    low, high = _near(j.low), _near(j.high)
    if j.state != NEEDED:
        low = high = 0
    found[n, 0], found[n, 1], found[n, 2], found[n, 3] = j.worker, job, low, high
    found[n, 4], found[n, 5] = remainder, min_depth_left
    return n + 1


@compiled
def largest_job(tree, min_depth_left):
    """Return the job that is best split: the most relevant one with more left than ``min_depth_left``; NONE: no job."""
    t = tree_at(tree, 0)
    found, best = NONE, node_at(t.nodes, 0)
    for job in range(t.job_count):
        j = job_at(t.jobs, job)
        if j.node == NONE or j.remainder != NONE or j.state != NEEDED:
            continue
        n = node_at(t.nodes, j.node)
        if n.depth_left <= min_depth_left:
            continue
        more = best.irrelevance - n.irrelevance
        if found == NONE or more > 0 or more == 0 and n.depth_left > best.depth_left:
            found, best = job, n
    return found


@compiled
def less_relevant(tree, limit):
    """Return how many jobs that are out have a larger irrelevance, less the ready nodes that have none larger."""
    t = tree_at(tree, 0)
    count = 0
    for at in range(t.queue_size):
        count -= node_at(t.nodes, int64s(t.heap)[at]).irrelevance <= limit
    for job in range(t.job_count):
        j = job_at(t.jobs, job)
        if j.node != NONE and j.state == NEEDED and node_at(t.nodes, j.node).irrelevance > limit:
            count += 1
    return count


@compiled
def preempt(tree):
    """Choose a job to drop since a node more relevant by PREEMPTION_MARGIN is ready; return it, NONE: no job."""
    t = tree_at(tree, 0)
    if t.queue_size == 0:
        return NONE
    found, irrelevance = NONE, np.int64(0)
    for job in range(t.job_count):
        j = job_at(t.jobs, job)
        if j.node == NONE or j.state != NEEDED or j.remainder != NONE or not is_asked(tree, j.node):
            continue
        if found == NONE or node_at(t.nodes, j.node).irrelevance > irrelevance:
            found, irrelevance = job, node_at(t.nodes, j.node).irrelevance
    if found == NONE:
        return NONE
    heap, limit, better = int64s(t.heap), irrelevance - PREEMPTION_MARGIN, 0
    if node_at(t.nodes, heap[0]).irrelevance >= limit:  # the smallest of the queue
        return NONE
    for at in range(t.queue_size):
        better += node_at(t.nodes, heap[at]).irrelevance < limit
    if better <= t.preempted:
        return NONE
    job_at(t.jobs, found).state = PREEMPTED
    t.preempted += 1
    return found


@compiled
def on_split(tree, job, remainder, last, low, high):
    """Take in that a job's node got the tree of its worker, which goes on with node ``last`` as job ``remainder``."""
    t = tree_at(tree, 0)
    j = job_at(t.jobs, job)
    i = j.node
    j.remainder = NONE
    t.splits_requested -= 1
    assign(tree, remainder, last, low, high, j.worker)
    release(tree, job)
    node = last
    while node != i:
        node = node_at(t.nodes, node).parent
        n = node_at(t.nodes, node)
        n.first_child = n.children_start
        back_up(tree, node)
    improved(tree, i)
    pass_on(tree, i)
    list_unneeded(tree, remainder)


@compiled
def list_unneeded(tree, job):
    """List a job that got a new id, if its question is not open: its worker must know."""
    if not is_asked(tree, job_at(tree_at(tree, 0).jobs, job).node):
        list_job(tree, job)
