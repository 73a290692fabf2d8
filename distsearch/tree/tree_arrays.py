"""The arrays of a search tree, whose addresses its TREE record holds."""

from types import SimpleNamespace

import numpy as np

from ..core.pointers import address
from ..games.interface import MAX_MOVES
from .layout import INFINITY, JOB, NONE, TREE
from .nodes import NodeArray


class TreeArrays:
    """A node array and what compiled functions need next to it; they take ``address``, see ``layout``.

    ``control``: the fields of the TREE record, each an array of one entry. decisions: values of fields.
    """

    def __init__(self, nodes: NodeArray, **decisions: int):
        self.nodes = nodes
        record = np.zeros(1, TREE)
        self.address = address(record)
        self.control = SimpleNamespace(**{name: record[name] for name in TREE.names or ()})
        self.heap, self.jobs = np.zeros(0, np.int64), np.zeros(0, JOB)
        for name, value in {"expand_above": INFINITY, "to_expand": NONE, **decisions}.items():
            record[name] = value
        self.update()

    def update(self) -> None:
        """Make every array as large as the node array, with room for one more node's children."""
        nodes, control = self.nodes, self.control
        nodes.reserve(MAX_MOVES)
        if len(self.heap) != nodes.capacity:
            heap, self._lists = np.zeros(nodes.capacity, np.int64), np.zeros((3, nodes.capacity), np.int64)
            heap[: len(self.heap)] = self.heap
            self.heap = heap
            control.nodes[0], control.heap[0] = nodes.address, address(heap)
            control.agenda[0], control.seen[0], control.pending[0] = map(address, self._lists)
            control.positions[0], control.position_words[0] = address(nodes.state), nodes.state.shape[1]

    def reserve_ids(self, count: int) -> None:
        """Have free ids for so many jobs, and some for remainders."""
        free, known = self.control.free_count.item(), len(self.jobs)
        more = count + 16 - free
        if more > 0:
            size = max(more, 64, known)
            fresh = np.zeros(size, JOB)
            fresh["node"] = fresh["remainder"] = NONE
            self.jobs = np.concatenate((self.jobs, fresh))
            updates, free_ids = np.zeros((2, known + size), np.int64)
            if known:
                updates[:known], free_ids[:known] = self.updates, self.free_ids
            free_ids[free : free + size] = np.arange(known + size - 1, known - 1, -1)
            self.updates, self.free_ids = updates, free_ids
            control = self.control
            control.jobs[0], control.job_count[0] = address(self.jobs), known + size
            control.updates[0], control.free_ids[0] = address(updates), address(free_ids)
            control.free_count[0] += size

    def take_ids(self, count: int) -> np.ndarray:
        """Return ids for so many jobs."""
        self.reserve_ids(count)
        self.control.free_count[0] -= count
        free = self.control.free_count.item()
        return self.free_ids[free : free + count].copy()
