"""The table of jobs that are out: which nodes they are made of, the updates that workers get, and the results.

The arguments of the compiled functions are as in ``windows``; ``state``: the nodes' positions.
"""

import numpy as np

from ..core.jit import compiled
from .job_size import record_job
from .layout import (
    ALL_AT_ONCE,
    EXACT,
    EXPAND_ABOVE,
    FINISHED,
    FREE_COUNT,
    FREE_LIST,
    FULL_WIDTH_DEPTH,
    FULL_WINDOWS,
    JOB_HIGH,
    JOB_LISTED,
    JOB_LOW,
    JOB_NODE,
    JOB_REMAINDER,
    JOB_STATE,
    JOB_WORKER,
    NEEDED,
    PREEMPTED,
    PREEMPTED_JOBS,
    QUEUE_SIZE,
    SPLITS,
    SPLITS_REQUESTED,
    STEPS,
    TO_EXPAND,
    UNNEEDED,
    UPDATE_COUNT,
    UPDATE_LIST,
)
from .nodes import (
    ALPHA,
    BETA,
    CHILDREN_START,
    DEPTH,
    DEPTH_LEFT,
    EXPECTED_CUT_NODE,
    FIRST_CHILD,
    INFINITY,
    IRRELEVANCE,
    JOB_ID,
    NONE,
    PARENT,
    ROOT,
    SENT,
    STATUS,
    WAITING,
)
from .ready_queue import is_asked, pop
from .windows import ask, back_up, improved, pass_on, spend, tighten, wake

_TO_THE_END = -1  # in a job's record, instead of plies
_FURTHEST = 10**6  # every score of an engine with a table is nearer to 0

# Split requests outstanding for each idle worker: some jobs finish before they can split. With one, workers were idle a
# tenth more; with four, more was searched that was not needed.
_SPLITS_PER_IDLE_WORKER = 2
# Difference of irrelevance from which a job is preempted, or a more relevant one split. FFO #48 took 31 virtual workers
# 2.2 times one worker's nodes with 400, 1.9 with 200, and 1.8 with 40, by 1.4 times as many jobs.
PREEMPTION_MARGIN = 200


@compiled
def take(c, t, heap, jobs, state, out, n, worker, budget):
    """Hand out jobs from the queue to fill rows n on of ``out``, see ``hand_out``; return how many are filled.

    Stops early where the queue is empty, or a node must be grown, TO_EXPAND.
    """
    t[TO_EXPAND] = NONE
    while n < len(out):
        node = pop(c, t, heap)
        if node == NONE:
            break
        if _must_grow(c, t, node):
            t[TO_EXPAND] = node
            break
        hand_out(c, t, jobs, state, out, n, node, worker, budget)
        n += 1
    return n


@compiled
def _must_grow(c, t, node):
    """Whether a job of a node would keep one worker for so long that its children are better jobs."""
    if c[DEPTH, node] < t[FULL_WIDTH_DEPTH]:
        return not t[ALL_AT_ONCE]
    if t[SPLITS]:  # a wide window is closed in on here, unless the worker that takes the job does that
        steps = t[STEPS] and not t[FULL_WINDOWS]
        return t[EXPAND_ABOVE] < INFINITY and steps and c[DEPTH_LEFT, node] > 2 and c[BETA, node] - c[ALPHA, node] > 1
    return c[DEPTH_LEFT, node] > max(t[EXPAND_ABOVE], 2)


@compiled
def hand_out(c, t, jobs, state, out, n, node, worker, budget):
    """Make a job of a node and write its record, as 64-bit words, to row n of ``out``; there must be a free id."""
    t[FREE_COUNT] -= 1
    job = jobs[FREE_LIST, t[FREE_COUNT]]
    low, high = c[ALPHA, node], c[BETA, node]
    assign(c, jobs, job, node, low, high, worker)
    out[n, 0] = _pair(job, _TO_THE_END if t[EXACT] else c[DEPTH_LEFT, node])
    out[n, 1] = budget
    out[n, 2] = _pair(_near(low), _near(high))
    out[n, 3] = c[EXPECTED_CUT_NODE, node]
    for i in range(state.shape[1]):
        out[n, 4 + i] = np.int64(state[node, i])


@compiled
def _near(score):
    return min(max(score, -_FURTHEST), _FURTHEST)


@compiled
def assign(c, jobs, job, i, low, high, worker):
    """Note a job that is handed out.

    JOB_LISTED stays: an earlier job of this id may still be listed, and then so is this one.
    """
    c[STATUS, i], c[JOB_ID, i] = SENT, job
    jobs[JOB_NODE, job], jobs[JOB_LOW, job], jobs[JOB_HIGH, job] = i, low, high
    jobs[JOB_WORKER, job], jobs[JOB_STATE, job], jobs[JOB_REMAINDER, job] = worker, NEEDED, NONE


@compiled
def _pair(first, second):
    """Return two int32 that follow one another in memory as one int64 (the least significant byte comes first)."""
    return second << 32 | first & 0xFFFFFFFF


@compiled
def release(t, jobs, job):
    """Free the id of a job that is answered, or goes on under another id, and that of its remainder."""
    jobs[JOB_NODE, job] = NONE
    jobs[FREE_LIST, t[FREE_COUNT]] = job
    t[FREE_COUNT] += 1
    if jobs[JOB_REMAINDER, job] != NONE:
        jobs[FREE_LIST, t[FREE_COUNT]] = jobs[JOB_REMAINDER, job]
        t[FREE_COUNT] += 1
        t[SPLITS_REQUESTED] -= 1
        jobs[JOB_REMAINDER, job] = NONE


@compiled
def take_in(c, t, heap, jobs, w, results, totals, sizes, lines):
    """Take result records in: the scores of their nodes, what they took, and how large such jobs are.

    A score outside the job's window is the end of the window that it lies at or beyond. The score of a job that is not
    complete is a lower bound, or −inf. totals: float64 of shape (roots, 8); sizes: see ``job_size``. Returns how many
    of the records have a line to keep; writes (record, node, whether it is no better than what was known) to ``lines``.
    """
    kept = 0
    for k in range(len(results)):
        record = results[k]
        job, i = np.int64(record.job_id), jobs[JOB_NODE, record.job_id]
        wide = jobs[JOB_HIGH, job] - jobs[JOB_LOW, job] > 1
        if record.line_length > 1 or record.line_length == 1 and (wide or i < len(totals)):  # else a move alone
            lines[kept, 0], lines[kept, 1], lines[kept, 2] = k, i, record.score <= jobs[JOB_LOW, job]
            kept += 1
        t[FINISHED] += record.complete
        if jobs[JOB_STATE, job] == PREEMPTED:
            t[PREEMPTED_JOBS] -= 1
        c[STATUS, i] = WAITING
        spend(c, i, record.boards)
        low, high = -INFINITY, INFINITY
        if record.score > -1e18:
            low = np.int64(record.score)
        if record.complete:
            high = low if low < jobs[JOB_HIGH, job] else INFINITY
            low = low if low > jobs[JOB_LOW, job] else -INFINITY
            record_job(sizes, c[DEPTH_LEFT, i], record.boards, record.cpu)
        release(t, jobs, job)
        mine = totals[c[ROOT, i]]
        mine[0] += record.seconds
        mine[1] += record.cpu
        mine[2] += record.ordering_boards
        mine[3] += record.evaluated
        mine[4] += record.table_hits
        mine[5] += record.table_far_hits
        mine[6] += record.table_stores
        mine[7] += record.table_replacements
        if tighten(c, i, low, high):
            improved(c, t, heap, jobs, w, i)
        wake(c, t, heap, i)
        ask(c, t, heap, jobs, w, 0, i, c[ALPHA, i], c[BETA, i])
    return kept


@compiled
def next_update(c, t, jobs):
    """Take the job that was listed last; return its id if its worker must know of a change, else NONE.

    The job is UNNEEDED, or its window narrower from then on. A result that was on its way is still read rightly.
    """
    t[UPDATE_COUNT] -= 1
    job = jobs[UPDATE_LIST, t[UPDATE_COUNT]]
    jobs[JOB_LISTED, job] = 0
    i = jobs[JOB_NODE, job]
    if i == NONE or jobs[JOB_STATE, job] != NEEDED:
        return NONE
    low, high = jobs[JOB_LOW, job], jobs[JOB_HIGH, job]
    if not is_asked(c, i):
        jobs[JOB_STATE, job] = UNNEEDED
        return job
    low, high = max(low, c[ALPHA, i]), min(high, c[BETA, i])
    if low >= high or low == jobs[JOB_LOW, job] and high == jobs[JOB_HIGH, job]:
        return NONE  # keep the stale window; the node is searched again later if necessary
    jobs[JOB_LOW, job], jobs[JOB_HIGH, job] = low, high
    return job


@compiled
def collect_updates(c, t, heap, jobs, found, idle_workers, min_depth_left):
    """Write what is new of jobs that are out to ``found``, see ``SearchTree.job_updates``; return how many rows."""
    n = 0
    while t[UPDATE_COUNT] > 0 and n < len(found):
        job = next_update(c, t, jobs)
        if job != NONE:
            n = _write_update(jobs, found, n, job, NONE, 0)
    if not t[SPLITS]:
        return n
    while n < len(found):
        job = preempt(c, t, heap, jobs)
        if job == NONE:
            break
        n = _write_update(jobs, found, n, job, NONE, 0)
    while idle_workers >= 0 and n < len(found) and t[FREE_COUNT] > 0:
        job = largest_job(c, jobs, min_depth_left)
        if job == NONE:
            break
        limit = c[IRRELEVANCE, jobs[JOB_NODE, job]] + PREEMPTION_MARGIN
        if t[SPLITS_REQUESTED] >= _SPLITS_PER_IDLE_WORKER * (idle_workers + less_relevant(c, t, heap, jobs, limit)):
            break
        t[FREE_COUNT] -= 1
        jobs[JOB_REMAINDER, job] = jobs[FREE_LIST, t[FREE_COUNT]]
        t[SPLITS_REQUESTED] += 1
        n = _write_update(jobs, found, n, job, jobs[JOB_REMAINDER, job], min_depth_left)
    return n


@compiled
def _write_update(jobs, found, n, job, remainder, min_depth_left):
    low, high = _near(jobs[JOB_LOW, job]), _near(jobs[JOB_HIGH, job])
    if jobs[JOB_STATE, job] != NEEDED:
        low = high = 0
    found[n, 0], found[n, 1], found[n, 2], found[n, 3] = jobs[JOB_WORKER, job], job, low, high
    found[n, 4], found[n, 5] = remainder, min_depth_left
    return n + 1


@compiled
def largest_job(c, jobs, min_depth_left):
    """Return the job that is best split: the most relevant one with more left than ``min_depth_left``; NONE: no job."""
    found = NONE
    for job in range(jobs.shape[1]):
        i = jobs[JOB_NODE, job]
        if i == NONE or jobs[JOB_REMAINDER, job] != NONE or jobs[JOB_STATE, job] != NEEDED:
            continue
        if c[DEPTH_LEFT, i] <= min_depth_left:
            continue
        j = jobs[JOB_NODE, found] if found != NONE else i
        more = c[IRRELEVANCE, j] - c[IRRELEVANCE, i]
        if found == NONE or more > 0 or more == 0 and c[DEPTH_LEFT, i] > c[DEPTH_LEFT, j]:
            found = job
    return found


@compiled
def less_relevant(c, t, heap, jobs, limit):
    """Return how many jobs that are out have a larger irrelevance, less the ready nodes that have none larger."""
    count = 0
    for at in range(t[QUEUE_SIZE]):
        count -= c[IRRELEVANCE, heap[at]] <= limit
    for job in range(jobs.shape[1]):
        i = jobs[JOB_NODE, job]
        if i != NONE and jobs[JOB_STATE, job] == NEEDED and c[IRRELEVANCE, i] > limit:
            count += 1
    return count


@compiled
def preempt(c, t, heap, jobs):
    """Choose a job to drop since a node more relevant by PREEMPTION_MARGIN is ready; return it, NONE: no job."""
    if t[QUEUE_SIZE] == 0:
        return NONE
    found = NONE
    for job in range(jobs.shape[1]):
        i = jobs[JOB_NODE, job]
        if i == NONE or jobs[JOB_STATE, job] != NEEDED or jobs[JOB_REMAINDER, job] != NONE or not is_asked(c, i):
            continue
        if found == NONE or c[IRRELEVANCE, i] > c[IRRELEVANCE, jobs[JOB_NODE, found]]:
            found = job
    if found == NONE:
        return NONE
    limit, better = c[IRRELEVANCE, jobs[JOB_NODE, found]] - PREEMPTION_MARGIN, 0
    if c[IRRELEVANCE, heap[0]] >= limit:  # the smallest of the queue
        return NONE
    for at in range(t[QUEUE_SIZE]):
        better += c[IRRELEVANCE, heap[at]] < limit
    if better <= t[PREEMPTED_JOBS]:
        return NONE
    jobs[JOB_STATE, found] = PREEMPTED
    t[PREEMPTED_JOBS] += 1
    return found


@compiled
def on_split(c, t, heap, jobs, w, job, remainder, last, low, high):
    """Take in that a job's node got the tree of its worker, which goes on with node ``last`` as job ``remainder``."""
    i = jobs[JOB_NODE, job]
    jobs[JOB_REMAINDER, job] = NONE
    t[SPLITS_REQUESTED] -= 1
    assign(c, jobs, remainder, last, low, high, jobs[JOB_WORKER, job])
    release(t, jobs, job)
    node = last
    while node != i:
        node = c[PARENT, node]
        c[FIRST_CHILD, node] = c[CHILDREN_START, node]
        back_up(c, node)
    improved(c, t, heap, jobs, w, i)
    pass_on(c, t, heap, jobs, w, i)
    list_unneeded(c, t, jobs, remainder)


@compiled
def list_unneeded(c, t, jobs, job):
    """List a job that got a new id, if its question is not open: its worker must know."""
    if not is_asked(c, jobs[JOB_NODE, job]) and not jobs[JOB_LISTED, job]:
        jobs[JOB_LISTED, job] = 1
        jobs[UPDATE_LIST, t[UPDATE_COUNT]] = job
        t[UPDATE_COUNT] += 1
