"""The node array: every node that the master made."""

from collections.abc import Sequence

import numpy as np

from ..core.pointers import address
from .layout import INFINITY, NODE, NONE


class NodeArray:
    """A forest of game positions; node i is record i. Scores are seen by the node's own side to move.

    ``records``: NODEs, of shape (capacity,); ``nodes.low`` and so on are their columns. ``state``: uint64 of shape
    (capacity, words).
    """

    def __init__(self, words: int, capacity: int = 1024):
        self.size = 0
        self._allocate(words, capacity)

    def _allocate(self, words, capacity):
        self.state, self.records = np.zeros((capacity, words), np.uint64), np.zeros(capacity, NODE)
        self.address = address(self.records)
        for name in NODE.names or ():
            setattr(self, name, self.records[name])

    def __getattr__(self, name: str) -> np.ndarray:
        raise AttributeError(name)  # declares the columns to type checkers

    def snapshot(self, roots: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return (copies of the arrays by name, the nodes in them): see ``restored.restored_nodes``.

        roots: how many the forest has. What hangs from other nodes without a parent, which are offloaded parts, is left
        out, and the others are numbered anew.
        """
        records, state = self.records[: self.size].copy(), self.state[: self.size].copy()
        kept = np.ones(self.size, bool)
        kept[roots:] = records["parent"][roots:] != NONE
        if kept.all():
            return {"state": state, "records": records}, np.arange(self.size)
        for node in np.flatnonzero(kept)[roots:].tolist():
            kept[node] = kept[records["parent"][node]]
        for node in np.flatnonzero(kept).tolist():  # take what is left out from the rings of transpositions
            following = records["transposition"][node]
            while not kept[following]:
                following = records["transposition"][following]
            records["transposition"][node] = following
        number = np.cumsum(kept) - 1
        for name in ("parent", "root", "children_start", "first_child", "best_child", "transposition"):
            column = records[name]
            column[:] = np.where(column == NONE, NONE, number[np.clip(column, 0, self.size - 1)])
        return {"state": state[kept], "records": records[kept]}, np.flatnonzero(kept)

    @property
    def capacity(self) -> int:
        """Nodes that fit without moving the arrays."""
        return len(self.state)

    def reserve(self, more: int) -> None:
        """Make room for ``more`` nodes; arrays at least double, so growing costs a constant a node."""
        if self.size + more > self.capacity:
            state, records = self.state, self.records
            self._allocate(state.shape[1], max(2 * self.capacity, self.size + more))
            self.state[: self.size], self.records[: self.size] = state[: self.size], records[: self.size]

    def add_root(self, state: Sequence[int], depth_left: int, at: int | None = None) -> int:
        """Add a root to be searched ``depth_left`` plies deep, or make it of node ``at``; return its index.

        The forest's roots come before any growth.
        """
        self.reserve(1)
        i = self.size if at is None else at
        self.size += at is None
        self.state[i], self.records[i] = state, 0
        fields = {
            "parent": NONE,
            "root": i,
            "depth_left": depth_left,
            "move": NONE,
            "low": -INFINITY,
            "high": INFINITY,
            "best_child": NONE,
            "transposition": i,
            "order": i << 40,
            "span": 1 << 40,
            "expected_cut_node": 1,
            "previous_iteration_node": NONE,
        }
        for field, value in fields.items():
            self.records[field][i] = value
        return i

    def children_of(self, node: int) -> range:
        """Return the children of a node."""
        start = int(self.children_start[node])
        return range(start, start + int(self.child_count[node]))

    def line(self, node: int) -> list[int]:
        """Return the nodes of the best line from ``node`` downwards, itself first."""
        nodes = [node]
        while self.best_child[nodes[-1]] != NONE:
            nodes.append(int(self.best_child[nodes[-1]]))
        return nodes
