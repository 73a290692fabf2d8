"""Jobs that are out: which nodes they are made of, what their workers are told meanwhile, and what comes back.

The arguments of the compiled functions are as ``asking`` has them; ``state``: the nodes' positions.
"""

import numpy as np

from ..core.jit import compiled
from .job_size import learn
from .layout import (
    ALL_AT_ONCE,
    ASKED_FOR,
    CHANGED,
    DROPPED,
    EXACT,
    FINISHED,
    FORCED,
    FREE,
    FREES,
    GIVES,
    JOB_HIGH,
    JOB_LOW,
    JOB_NODE,
    JOB_WORKER,
    RECALLED,
    REST,
    SHARED,
    STEPS,
    TO_GROW,
    WAIT,
    WHOLE,
    WISH,
    WISHES,
)
from .nodes import (
    ALPHA,
    ASKED,
    BETA,
    CUT,
    DEPTH,
    DOUBT,
    ELDEST,
    FIRST,
    INFINITY,
    LEFT,
    NONE,
    PARENT,
    ROOT,
    SENT,
    STATUS,
    WAITING,
)
from .ready_queue import is_asked, pop
from .windows import ask, improved, pass_on, settle, spend, tighten, wake

_TO_THE_END = -1  # in a job's record, instead of plies
_FURTHEST = 10**6  # every score of an engine with a table is nearer to 0
_RECALLED_ONE = 2

# Jobs that a part is asked of for each worker that could do with one: some end before they have one to give. With one,
# workers were idle a tenth more; with four, more was searched for nothing.
_ASKED_FOR_EACH = 2
# So much less doubt is worth a change of jobs: one is put back for another, or a part asked of a third. FFO #48 took 31
# virtual workers 2.2 times one worker's boards with 400, 1.9 with 200, and 1.8 with 40, by 1.4 times as many jobs.
_MARGIN = 200


@compiled
def take(c, t, heap, jobs, state, out, n, worker, budget):
    """Hand out jobs from the queue to fill rows n on of ``out``, see ``hand_out``; return how many are filled.

    Stops early where the queue is empty, or a node is to be grown, TO_GROW.
    """
    t[TO_GROW] = NONE
    while n < len(out):
        node = pop(c, t, heap)
        if node == NONE:
            break
        if _is_to_grow(c, t, node):
            t[TO_GROW] = node
            break
        hand_out(c, t, jobs, state, out, n, node, worker, budget)
        n += 1
    return n


@compiled
def _is_to_grow(c, t, node):
    """Whether a job of a node would keep one worker for so long that it is better shared out."""
    if c[DEPTH, node] < t[FORCED]:
        return not t[ALL_AT_ONCE]
    if t[GIVES]:  # a wide window is closed in on here, unless whoever takes the job does that
        steps = t[STEPS] and not t[WHOLE]
        return t[SHARED] < INFINITY and steps and c[LEFT, node] > 2 and c[BETA, node] - c[ALPHA, node] > 1
    return c[LEFT, node] > max(t[SHARED], 2)


@compiled
def hand_out(c, t, jobs, state, out, n, node, worker, budget):
    """Make a job of a node and write its record, as 64-bit words, to row n of ``out``; there must be a free number."""
    t[FREES] -= 1
    job = jobs[FREE, t[FREES]]
    low, high = c[ALPHA, node], c[BETA, node]
    sent(c, jobs, job, node, low, high, worker)
    out[n, 0] = _pair(job, _TO_THE_END if t[EXACT] else c[LEFT, node])
    out[n, 1] = budget
    out[n, 2] = _pair(_near(low), _near(high))
    out[n, 3] = c[CUT, node]
    for i in range(state.shape[1]):
        out[n, 4 + i] = np.int64(state[node, i])


@compiled
def _near(score):
    return min(max(score, -_FURTHEST), _FURTHEST)


@compiled
def sent(c, jobs, job, i, low, high, worker):
    """Note a job that is handed out.

    CHANGED stays: an earlier job of this number may still be listed, and then so is this one.
    """
    c[STATUS, i], c[ASKED, i] = SENT, job
    jobs[JOB_NODE, job], jobs[JOB_LOW, job], jobs[JOB_HIGH, job] = i, low, high
    jobs[JOB_WORKER, job], jobs[DROPPED, job], jobs[REST, job] = worker, 0, NONE


@compiled
def _pair(first, second):
    """Return two int32 that follow one another in memory as one int64 (the least significant byte comes first)."""
    return second << 32 | first & 0xFFFFFFFF


@compiled
def forget(t, jobs, job):
    """A job is answered, or goes on under another number: its number is free, and that of its rest."""
    jobs[JOB_NODE, job] = NONE
    jobs[FREE, t[FREES]] = job
    t[FREES] += 1
    if jobs[REST, job] != NONE:
        jobs[FREE, t[FREES]] = jobs[REST, job]
        t[FREES] += 1
        t[ASKED_FOR] -= 1
        jobs[REST, job] = NONE


@compiled
def take_in(c, t, heap, jobs, w, results, totals, sizes, lines):
    """Take result records in: what they say of their nodes' scores, what they took, and how large such jobs are.

    A score is the node's, or of one beyond the job's window the end that it lies at or beyond; if the job is not
    complete, a lower bound, or −inf. totals: float64 of shape (roots, 8); sizes: see ``sizes``. Returns how many of the
    records have a line to be kept; writes (record, node, whether it is no better than what was known) to ``lines``.
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
        if jobs[DROPPED, job] == _RECALLED_ONE:
            t[RECALLED] -= 1
        c[STATUS, i] = WAITING
        spend(c, i, record.boards)
        low, high = -INFINITY, INFINITY
        if record.score > -1e18:
            low = np.int64(record.score)
        if record.complete:
            high = low if low < jobs[JOB_HIGH, job] else INFINITY
            low = low if low > jobs[JOB_LOW, job] else -INFINITY
            learn(sizes, c[LEFT, i], record.boards, record.cpu)
        forget(t, jobs, job)
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
def steer(c, t, heap, jobs, found, idle, least):
    """Write what is new of jobs that are out to ``found``, see ``Schedule.job_updates``; return how many rows."""
    n = 0
    while t[WISHES] > 0 and n < len(found):
        job = next_wish(c, t, jobs)
        if job != NONE:
            n = _tell(jobs, found, n, job, NONE, 0)
    if not t[GIVES]:
        return n
    while n < len(found):
        job = recall(c, t, heap, jobs)
        if job == NONE:
            break
        n = _tell(jobs, found, n, job, NONE, 0)
    while idle >= 0 and n < len(found) and t[FREES] > 0:
        job = largest(c, jobs, least)
        if job == NONE:
            break
        limit = c[DOUBT, jobs[JOB_NODE, job]] + _MARGIN
        if t[ASKED_FOR] >= _ASKED_FOR_EACH * (idle + doubtful(c, t, heap, jobs, limit)):
            break
        t[FREES] -= 1
        jobs[REST, job] = jobs[FREE, t[FREES]]
        t[ASKED_FOR] += 1
        n = _tell(jobs, found, n, job, jobs[REST, job], least)
    return n


@compiled
def _tell(jobs, found, n, job, rest, least):
    low, high = _near(jobs[JOB_LOW, job]), _near(jobs[JOB_HIGH, job])
    if jobs[DROPPED, job]:
        low = high = 0
    found[n, 0], found[n, 1], found[n, 2], found[n, 3] = jobs[JOB_WORKER, job], job, low, high
    found[n, 4], found[n, 5] = rest, least
    return n + 1


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
def doubtful(c, t, heap, jobs, limit):
    """Return how many jobs are out of more doubt than ``limit``, less those that wait of no more."""
    count = 0
    for at in range(t[WAIT]):
        count -= c[DOUBT, heap[at]] <= limit
    for job in range(jobs.shape[1]):
        i = jobs[JOB_NODE, job]
        if i != NONE and not jobs[DROPPED, job] and c[DOUBT, i] > limit:
            count += 1
    return count


@compiled
def recall(c, t, heap, jobs):
    """Choose a job to be put back, since one of less doubt, by _MARGIN, waits; return it, NONE if there is none."""
    if t[WAIT] == 0:
        return NONE
    found = NONE
    for job in range(jobs.shape[1]):
        i = jobs[JOB_NODE, job]
        if i == NONE or jobs[DROPPED, job] or jobs[REST, job] != NONE or not is_asked(c, i):
            continue
        if found == NONE or c[DOUBT, i] > c[DOUBT, jobs[JOB_NODE, found]]:
            found = job
    if found == NONE:
        return NONE
    limit, better = c[DOUBT, jobs[JOB_NODE, found]] - _MARGIN, 0
    if c[DOUBT, heap[0]] >= limit:  # the least of what waits
        return NONE
    for at in range(t[WAIT]):
        better += c[DOUBT, heap[at]] < limit
    if better <= t[RECALLED]:
        return NONE
    jobs[DROPPED, found] = _RECALLED_ONE
    t[RECALLED] += 1
    return found


@compiled
def adopted(c, t, heap, jobs, w, job, rest, last, low, high):
    """A job's node has got the tree that its worker gave away; it goes on with node ``last`` as the job ``rest``."""
    i = jobs[JOB_NODE, job]
    jobs[REST, job] = NONE
    t[ASKED_FOR] -= 1
    sent(c, jobs, rest, last, low, high, jobs[JOB_WORKER, job])
    forget(t, jobs, job)
    node = last
    while node != i:
        node = c[PARENT, node]
        c[ELDEST, node] = c[FIRST, node]
        settle(c, node)
    improved(c, t, heap, jobs, w, i)
    pass_on(c, t, heap, jobs, w, i)
    tell_of_later(c, t, jobs, rest)


@compiled
def tell_of_later(c, t, jobs, job):
    """List a job that got a new number, if nobody asks for it: its worker is to be told."""
    if not is_asked(c, jobs[JOB_NODE, job]) and not jobs[CHANGED, job]:
        jobs[CHANGED, job] = 1
        jobs[WISH, t[WISHES]] = job
        t[WISHES] += 1
