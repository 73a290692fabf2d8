"""Parts of a job that its worker, which has a GPU, offloads to others while it searches all of it: see ``gpu.offload``.

A part is a root of its own in the node array, with the one question that its owner has about it. The owner is told the
answer as soon as it is known, and it counts nowhere else: the result of the job is the owner's.
"""

import weakref
from collections import deque
from collections.abc import Collection
from typing import Any

import numpy as np

from ..jobs.offloaded import HEAD
from .layout import NEEDED, NONE, WAITING

_EXPANDED_KEPT = 256


class Offloads:
    """The offloaded parts of a SearchTree's jobs."""

    def __init__(self, tree: Any):
        self._tree = weakref.proxy(tree)  # a cycle would hold a tree's arrays until the collector finds it
        self._out = {}  # (worker, number of the part) → (job, node)
        self._spare = []  # nodes of parts that have ended, some still at work
        self._expanded = deque(maxlen=_EXPANDED_KEPT)  # of these, those that were grown, so not reusable

    def __len__(self):
        return len(self._out)

    def take_in(self, worker: int, words: np.ndarray) -> None:
        """Take in rows of OFFLOAD from a worker."""
        for row in words.reshape(-1, HEAD + self._tree.nodes.state.shape[1]):
            job, part, low, high, depth_left = row[:HEAD].tolist()
            if low >= high:
                self._end(worker, part)
            elif self._is_at_work(job, worker):
                node = self._node(job, depth_left, row[HEAD:].view(np.uint64))
                self._out[worker, part] = job, node
                self._tree.ask(node, low, high)

    def _is_at_work(self, job, worker):
        known = self._tree.jobs_out[job]
        return known["worker"] == worker and known["node"] != NONE and known["state"] == NEEDED

    def _node(self, job, depth_left, state):
        """Return a root of its own for a part of a job, a used one if there is one."""
        nodes = self._tree.nodes
        self._expanded += [node for node in self._spare if nodes.child_count[node]]
        self._spare = [node for node in self._spare if not nodes.child_count[node]]
        at = next((i for i, node in enumerate(self._spare) if _is_free(nodes, node)), None)
        node = nodes.add_root(state, depth_left, None if at is None else self._spare.pop(at))
        self._tree.make_room()
        above = int(self._tree.jobs_out["node"][job])
        nodes.root[node], nodes.irrelevance[node] = nodes.root[above], nodes.irrelevance[above]
        nodes.depth[node] = max(1, nodes.depth[above] + nodes.depth_left[above] - depth_left)
        return node

    def _end(self, worker, part):
        job_and_node = self._out.pop((worker, part), None)
        if job_and_node:
            self._tree.ask(job_and_node[1], 0, 0)
            self._spare.append(job_and_node[1])

    def end(self, worker: int, jobs: Collection[int] | None = None) -> None:
        """End the parts of some jobs of a worker, or of all of them."""
        for key, (job, _) in list(self._out.items()):
            if key[0] == worker and (jobs is None or job in jobs):
                self._end(*key)

    def answered(self) -> dict[int, list[tuple[int, int, int]]]:
        """Return the answers since the last time: worker → rows of a part's number and bounds of its score."""
        found = {}
        if not self._out:
            return found
        nodes = self._tree.nodes
        at = np.array([node for _, node in self._out.values()])
        low, high = nodes.low[at], nodes.high[at]
        for i in np.flatnonzero((low >= nodes.beta[at]) | (high <= nodes.alpha[at])).tolist():
            worker, part = list(self._out)[i]
            found.setdefault(worker, []).append((part, int(low[i]), int(high[i])))
        for worker, rows in found.items():
            for part, _, _ in rows:
                self._end(worker, part)
        return found

    def nodes(self) -> int:
        """Return the nodes that were searched for parts since the last time (but for parts that ended long ago)."""
        cost = self._tree.nodes.cost
        at = [*self._spare, *self._expanded, *(node for _, node in self._out.values())]
        nodes = int(cost[at].sum()) if at else 0
        cost[at] = 0
        return nodes


def _is_free(nodes, node):
    """Whether nothing in the array or at a worker is about a node."""
    is_alone = nodes.transposition[node] == node and not nodes.child_count[node]
    return is_alone and nodes.status[node] == WAITING and not nodes.queued[node]
