"""The node array: every node that the master made, as a struct of arrays.

All columns are rows of one array of int64, so that a compiled function takes them as one argument. Taking each column
alone cost more than most of what is done with them.
"""

from collections.abc import Iterable
from enum import IntEnum

import numpy as np

Status = IntEnum("Status", "WAITING SENT GROWN DONE", start=0)
WAITING, SENT, GROWN, DONE = map(int, Status)  # no worker has it, a worker has it, it has children, it is counted
NONE = -1  # no such node
INFINITY = 1 << 60  # no score is larger

FIELDS = (
    "parent",
    "root",
    "children_start",
    "child_count",
    "depth",
    "depth_left",
    "move",
    "over",
    "status",
    "low",
    "high",
    "alpha",
    "beta",
    "null_window_beta",
    "job_id",
    "first_child",
    "best_child",
    "cost",
    "key",
    "transposition",
    "queued",
    "deferred",
    "irrelevance",
    "order",
    "span",
    "expected_cut_node",
    "previous_iteration_node",
    "visited",
)
(
    PARENT,
    ROOT,
    CHILDREN_START,
    CHILD_COUNT,
    DEPTH,
    DEPTH_LEFT,
    MOVE,
    OVER,
    STATUS,
    LOW,
    HIGH,
    ALPHA,
    BETA,
    NULL_WINDOW_BETA,
    JOB_ID,
    FIRST_CHILD,
    BEST_CHILD,
    COST,
    KEY,
    TRANSPOSITION,
    QUEUED,
    DEFERRED,
    IRRELEVANCE,
    ORDER,
    SPAN,
    EXPECTED_CUT_NODE,
    PREVIOUS_ITERATION_NODE,
    VISITED,
) = range(len(FIELDS))


class NodeArray:
    """A forest of game positions; node i is entry i of every column. Scores are seen by the node's own side to move.

    Columns have shape (capacity,) and dtype int64:

    ===========================  =====================================================================================
    ``parent``                   the node above, NONE for a root
    ``root``                     the root that it hangs from (roots are nodes 0 to roots − 1)
    ``children_start``           its children are neighbours from this node on, the likeliest best one first
    ``child_count``              how many children, 0 while it has not been grown
    ``depth``                    plies below its root
    ``depth_left``               plies (in an exact search: moves) that are still to be searched from here
    ``move``                     the move that led here
    ``over``                     1: the game is over here
    ``status``                   a ``Status``; DONE where each node is searched once
    ``low``                      the score is at least this
    ``high``                     the score is at most this
    ``alpha``                    the score is wanted from ``alpha`` …
    ``beta``                     … to ``beta``; nothing is wanted where alpha is not below beta
    ``null_window_beta``         of a grown node: beta of the null windows below it, −INFINITY at first
    ``job_id``                   of a SENT node: its job
    ``first_child``              the child that is searched before its siblings
    ``best_child``               the child that ``low`` came from, or NONE
    ``cost``                     nodes searched below it, its expansion included
    ``key``                      hash of the position, the same for symmetric ones
    ``transposition``            the next node of the same position and ``depth_left``; they form a ring, mostly of one
    ``queued``                   its place in the ready queue, from 1; 0: it is not there
    ``deferred``                 1: it waits for a transposition that is being searched
    ``irrelevance``              −1000·ln P(result needed); 0: certainly needed
    ``order``                    its place in the order of a sequential search …
    ``span``                     … and how much of that order belongs to its children
    ``expected_cut_node``        1: one of its moves is likely to be good enough, so that the others need no search
    ``previous_iteration_node``  the same node in the array of the previous, less deep search, or NONE
    ``visited``                  used by ``windows``
    ===========================  =====================================================================================

    and ``state``, uint64 of shape (capacity, words).
    """

    def __init__(self, words: int, capacity: int = 1024):
        self.size = 0
        self.state = np.zeros((capacity, words), np.uint64)
        self._set_columns(np.zeros((len(FIELDS), capacity), np.int64))

    def snapshot(self) -> dict[str, np.ndarray]:
        """Return copies of the arrays, as far as there are nodes, by name: what ``restored`` takes."""
        return {"state": self.state[: self.size].copy(), "columns": self.columns[:, : self.size].copy()}

    @classmethod
    def restored(cls, snapshot: dict[str, np.ndarray]) -> "NodeArray":
        """Return the NodeArray of a snapshot, in which nodes that were SENT wait again: no worker has them."""
        size, words = snapshot["state"].shape
        nodes = cls(words, size)
        nodes.size = size
        nodes.state[:], nodes.columns[:] = snapshot["state"], snapshot["columns"]
        nodes.status[nodes.status == SENT] = WAITING
        return nodes

    def _set_columns(self, columns):
        self.columns = columns
        (
            self.parent,
            self.root,
            self.children_start,
            self.child_count,
            self.depth,
            self.depth_left,
            self.move,
            self.over,
            self.status,
            self.low,
            self.high,
            self.alpha,
            self.beta,
            self.null_window_beta,
            self.job_id,
            self.first_child,
            self.best_child,
            self.cost,
            self.key,
            self.transposition,
            self.queued,
            self.deferred,
            self.irrelevance,
            self.order,
            self.span,
            self.expected_cut_node,
            self.previous_iteration_node,
            self.visited,
        ) = columns

    @property
    def capacity(self) -> int:
        """Nodes that fit without moving the arrays."""
        return len(self.state)

    def reserve(self, more: int) -> None:
        """Make room for ``more`` nodes; arrays at least double, so growing costs a constant a node."""
        if self.size + more > self.capacity:
            capacity = max(2 * self.capacity, self.size + more)
            state, columns = self.state, self.columns
            self.state = np.zeros((capacity, state.shape[1]), np.uint64)
            self._set_columns(np.zeros((len(FIELDS), capacity), np.int64))
            self.state[: self.size], self.columns[:, : self.size] = state[: self.size], columns[:, : self.size]

    def add_root(self, state: Iterable[int], depth_left: int, at: int | None = None) -> int:
        """Add a root to be searched ``depth_left`` plies deep, or make it of node ``at``; return its index.

        The forest's roots come before any growth.
        """
        self.reserve(1)
        i = self.size if at is None else at
        self.size += at is None
        self.state[i], self.columns[:, i] = state, 0
        fields = {
            PARENT: NONE,
            ROOT: i,
            DEPTH_LEFT: depth_left,
            MOVE: NONE,
            LOW: -INFINITY,
            HIGH: INFINITY,
            BEST_CHILD: NONE,
            TRANSPOSITION: i,
            ORDER: i << 40,
            SPAN: 1 << 40,
            EXPECTED_CUT_NODE: 1,
            PREVIOUS_ITERATION_NODE: NONE,
        }
        for field, value in fields.items():
            self.columns[field, i] = value
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
