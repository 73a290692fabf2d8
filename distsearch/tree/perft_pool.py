"""The positions to count, as a source of work: a breadth-first pool of subtrees.

A pool hands out job records by ``take``, of which ``waiting`` are left, takes result records back by ``finish``, and
``done`` says when all are in. It neither sends messages nor reads clocks.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..cluster.protocols import WorkSource
from ..core.saved import LARGEST, Saved
from ..games.interface import State
from ..jobs.two_player import PERFT_RESULT, job_dtype
from .expansion import Grower
from .layout import DONE, SENT, WAITING
from .nodes import NodeArray
from .restored import restored_nodes


class PerftPool(WorkSource):
    """Subtrees to count; counts are added up for each root."""

    result_dtype = PERFT_RESULT

    def __init__(self, grower: Grower, states: Sequence[State], depth: int, wanted_subtrees: int, snapshot: Any = None):
        """Grow a forest with a root for each of ``states`` until ``wanted_subtrees`` subtrees wait.

        depth: plies to count; snapshot: of an earlier pool with these arguments, to go on with; it is grown further if
        it wanted fewer subtrees.
        """
        self.roots, self.finished = len(states), 0  # jobs whose complete results are in
        self.progress = {}  # node → the progress of its job in an earlier run, until its result is in
        self._wanted_subtrees, counted = wanted_subtrees, 0
        wanted_before = -1
        self.nodes = self._roots(grower, states, depth)
        self.cpu, self.counts = 0.0, np.zeros((self.roots, depth + 1), np.int64)  # seconds of workers
        if snapshot is not None:
            wanted_before = self._restore(Saved(snapshot), grower, states, depth)
            self._wanted_subtrees, counted = max(wanted_subtrees, wanted_before), self.nodes.size
        begun = np.array(sorted(self.progress), np.int64)
        self.nodes.status[begun] = SENT  # so that they are not grown
        if wanted_subtrees > wanted_before:
            # from the first node on: those that must not be grown are skipped
            grower.grow(self.nodes, 0, len(self._waiting_nodes()), wanted_subtrees)
        self._count_grown(counted, grower.ended_stays)
        self._queue = np.concatenate((begun, self._waiting_nodes()))
        self._next = 0
        self._holders = {}  # node of a job that is out → its worker
        self._job_dtype = job_dtype(len(states[0]))
        self.jobs = self.finished + len(self._queue)

    def _restore(self, saved, grower, states, depth):
        """Take in what ``snapshot`` gave; return how many subtrees were wanted."""
        self.nodes = nodes = restored_nodes(saved.part("nodes"), grower, states, [depth] * self.roots, 1)
        self.cpu, counts = saved.number("cpu"), saved.array("counts", np.int64, self.counts.shape)
        self.finished, self.counts = saved.integer("finished", 0, nodes.size), counts.copy()
        progress = saved.part("progress")
        for name in progress.names():
            node = int(name) if re.fullmatch("[0-9]{1,18}", name) else nodes.size
            if not (node < nodes.size and nodes.status[node] == WAITING and not nodes.over[node]):
                raise saved.damaged("progress")
            self.progress[node] = progress.array(name, np.uint8, (None,))
        if np.any((counts < 0) | (counts > LARGEST)):
            raise saved.damaged("counts")
        return saved.integer("wanted_subtrees")

    @staticmethod
    def _roots(grower, states, depth):
        nodes = NodeArray(len(states[0]), 2 * len(states) + 1024)
        for state in states:
            nodes.over[nodes.add_root(state, depth)] = grower.finished(state) is not None
        return nodes

    def _count_grown(self, begin, stays):
        nodes = self.nodes
        for i in range(begin, nodes.size):
            self.counts[nodes.root[i], nodes.depth[i]] += 1
            if nodes.over[i]:
                self.counts[nodes.root[i], nodes.depth[i] + 1 :] += stays

    def _waiting_nodes(self):
        size = self.nodes.size
        return np.flatnonzero((self.nodes.status[:size] == WAITING) & (self.nodes.over[:size] == 0))

    def snapshot(self, at_work: Any = ()) -> dict[str, Any]:
        """Return what a pool of the same arguments needs to go on from here: numbers and arrays by name.

        at_work: node → progress of its job, of jobs that are out, as far as that is known.
        """
        progress = {**self.progress, **dict(at_work)}
        return {
            "nodes": self.nodes.snapshot(self.roots)[0],
            "finished": self.finished,
            "wanted_subtrees": self._wanted_subtrees,
            "progress": {str(node): content for node, content in progress.items()},
            "cpu": self.cpu,
            "counts": self.counts.copy(),
        }

    @property
    def done(self) -> bool:
        """Whether every job's complete result is in."""
        return self.finished == self.jobs

    @property
    def waiting(self) -> int:
        """Jobs that have not been handed out."""
        return len(self._queue) - self._next

    def take(self, count: int, worker: int) -> np.ndarray:
        """Return up to ``count`` jobs (an array of job records, perhaps empty) for ``worker``."""
        chosen = self._queue[self._next : self._next + count]
        self._next += len(chosen)
        self.nodes.status[chosen] = SENT
        self._holders.update(dict.fromkeys(chosen.tolist(), worker))
        jobs = np.zeros(len(chosen), self._job_dtype)
        jobs["job_id"], jobs["depth"], jobs["state"] = chosen, self.nodes.depth_left[chosen], self.nodes.state[chosen]
        return jobs

    def lost(self, worker: int) -> None:
        """Put the jobs of a lost worker first in the queue."""
        nodes = [node for node, holder in self._holders.items() if holder == worker]
        for node in nodes:
            del self._holders[node]
        self.nodes.status[nodes] = WAITING
        self._queue = np.concatenate((np.array(nodes, np.int64), self._queue[self._next :]))
        self._next = 0

    def finish(self, results: np.ndarray) -> None:
        """Take an array of result records in; a count that was stopped early is added as far as it went."""
        nodes = self.nodes
        for result in results:
            node = int(result["job_id"])
            self.progress.pop(node, None)
            del self._holders[node]
            below = int(nodes.depth_left[node])
            self.counts[nodes.root[node], nodes.depth[node] + 1 :] += result["counts"][1 : below + 1]
            nodes.status[node] = DONE if result["complete"] else SENT
        self.cpu += float(results["cpu"].sum())
        self.finished += int(np.count_nonzero(results["complete"]))
