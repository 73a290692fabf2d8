"""Parts of a job that its worker lends out while it goes on with all of it, as a GPU does: see ``gpu.offload``.

A part is a root of its own in the node array, asked the one question that its lender has about it. What its jobs bring
is told the lender as soon as that is answered, and counts nowhere else: it is the lender's own result that does.
"""

from collections import deque

import numpy as np

from ..jobs.offloaded import HEAD
from .layout import DROPPED, JOB_NODE, JOB_WORKER
from .nodes import CHILDREN, COST, DEPTH, DOUBT, LEFT, NONE, QUEUED, ROOT, STATUS, TWIN, WAITING

_SPLIT = 256


class Loans:
    """The parts that are lent out of a Schedule's jobs."""

    def __init__(self):
        self._out = {}  # (worker, number of the part) → (job, node)
        self._spare = []  # nodes of parts that nobody wants, some still at work
        self._split = deque(maxlen=_SPLIT)  # of these, such as have children and so are none to be had again

    def __len__(self):
        return len(self._out)

    def take_in(self, schedule, worker, words):
        """Take in what a worker tells of its parts."""
        for told in words.reshape(-1, HEAD + schedule.nodes.state.shape[1]):
            job, part, low, high, left = told[:HEAD].tolist()
            if low >= high:
                self._end(schedule, worker, part)
            elif _is_at_work(schedule.jobs_out, job, worker):
                node = self._node(schedule, job, left, told[HEAD:].view(np.uint64))
                self._out[worker, part] = job, node
                schedule.ask(node, low, high)

    def _node(self, schedule, job, left, state):
        """Return a root of its own for a part of a job, an old one if there is one."""
        c = schedule.nodes.columns
        self._split += [node for node in self._spare if c[CHILDREN, node]]
        self._spare = [node for node in self._spare if not c[CHILDREN, node]]
        at = next((i for i, node in enumerate(self._spare) if _is_free(c, node)), None)
        node = schedule.nodes.add_root(state, left, None if at is None else self._spare.pop(at))
        schedule.make_room()
        c, above = schedule.nodes.columns, int(schedule.jobs_out[JOB_NODE, job])
        c[ROOT, node], c[DOUBT, node] = c[ROOT, above], c[DOUBT, above]
        c[DEPTH, node] = max(1, c[DEPTH, above] + c[LEFT, above] - left)
        return node

    def _end(self, schedule, worker, part):
        job_and_node = self._out.pop((worker, part), None)
        if job_and_node:
            schedule.ask(job_and_node[1], 0, 0)
            self._spare.append(job_and_node[1])

    def end(self, schedule, worker, jobs=None):
        """Nobody wants the parts of some jobs of a worker any more, or of all of them."""
        for key, (job, _) in list(self._out.items()):
            if key[0] == worker and (jobs is None or job in jobs):
                self._end(schedule, *key)

    def answered(self, schedule):
        """Return what has been found out since: worker → rows of a part's number and bounds of its score."""
        found = {}
        if not self._out:
            return found
        nodes = schedule.nodes
        at = np.array([node for _, node in self._out.values()])
        low, high = nodes.low[at], nodes.high[at]
        for i in np.flatnonzero((low >= nodes.beta[at]) | (high <= nodes.alpha[at])).tolist():
            worker, part = list(self._out)[i]
            found.setdefault(worker, []).append((part, int(low[i]), int(high[i])))
        for worker, rows in found.items():
            for part, _, _ in rows:
                self._end(schedule, worker, part)
        return found

    def boards(self, schedule):
        """Return the boards that were searched for parts since the last time (but for parts that ended long ago)."""
        cost = schedule.nodes.columns[COST]
        at = [*self._spare, *self._split, *(node for _, node in self._out.values())]
        boards = int(cost[at].sum()) if at else 0
        cost[at] = 0
        return boards


def _is_at_work(jobs, job, worker):
    return jobs[JOB_WORKER, job] == worker and jobs[JOB_NODE, job] != NONE and not jobs[DROPPED, job]


def _is_free(c, node):
    """Whether nothing in the array or at a worker is about a node."""
    return c[STATUS, node] == WAITING and not c[QUEUED, node] and not c[CHILDREN, node] and c[TWIN, node] == node
