"""The node array: every node that the master made, as a struct of arrays, and how scores travel up it."""

import numpy as np

from ..games.interface import MAX
from ..jit import compiled

WAITING, SENT, DONE, GROWN = range(4)  # status of a node
UNKNOWN, LOWER, UPPER, EXACT = range(4)  # what a node's best score is worth
NONE = -1  # no such node

_FIELDS = {
    "parent": np.int32,
    "root": np.int32,
    "first": np.int32,
    "children": np.int32,
    "pending": np.int32,
    "kind": np.int8,
    "depth": np.int16,
    "left": np.int16,
    "best": np.float64,
    "bound": np.int8,
    "best_child": np.int32,
    "move": np.int16,
    "status": np.int8,
    "owner": np.int32,
    "cost": np.int64,
    "answer": np.int32,
}


class NodeArray:
    """A forest of game positions; node i is entry i of every array. All arrays have shape (capacity,), states apart.

    ==============  =======  ==================================================================================
    ``parent``      int32    the node above, NONE for a root
    ``root``        int32    the root it hangs from (roots are nodes 0 to roots − 1)
    ``first``       int32    its first child; children are neighbours in the order of the game's moves
    ``children``    int32    how many children, 0 while it has not been grown
    ``pending``     int32    children that are not DONE
    ``kind``        int8     MAX or MIN as seen by the side to move at the root, END if finished
    ``depth``       int16    plies below its root
    ``left``        int16    plies (in an exact search: moves) that are still to be searched from here
    ``best``        float64  best score so far, for the side to move at the root
    ``bound``       int8     UNKNOWN, LOWER, UPPER or EXACT, of ``best``, for the same side
    ``best_child``  int32    the child that it came from, or NONE
    ``move``        int16    the move that led here
    ``status``      int8     WAITING for a worker, SENT to one, GROWN (has children at work), DONE
    ``owner``       int32    the worker that has or had it, or NONE
    ``cost``        int64    boards searched below it
    ``answer``      int32    entry of the worker's result among the results, or NONE
    ``state``       uint64   shape (capacity, words)
    ==============  =======  ==================================================================================
    """

    def __init__(self, words, capacity=1024):
        self.size = 0
        self.state = np.zeros((capacity, words), np.uint64)
        for name, dtype in _FIELDS.items():
            setattr(self, name, np.zeros(capacity, dtype))

    def snapshot(self):
        """Return copies of the arrays, as far as there are nodes, by name: what ``restored`` takes."""
        return {name: getattr(self, name)[: self.size].copy() for name in ("state", *_FIELDS)}

    @classmethod
    def restored(cls, snapshot):
        """Return the NodeArray of a snapshot, in which nodes that were SENT wait again: nobody has them any more."""
        size, words = snapshot["state"].shape
        nodes = cls(words, size)
        nodes.size = size
        for name, values in snapshot.items():
            getattr(nodes, name)[:] = values
        nodes.status[nodes.status == SENT] = WAITING
        return nodes

    @property
    def capacity(self):
        """Nodes that fit without moving the arrays."""
        return len(self.parent)

    def reserve(self, more):
        """Make room for ``more`` nodes; arrays at least double, so growing costs a constant a node."""
        if self.size + more > self.capacity:
            capacity = max(2 * self.capacity, self.size + more)
            for name in ("state", *_FIELDS):
                old = getattr(self, name)
                new = np.zeros((capacity, *old.shape[1:]), old.dtype)
                new[: self.size] = old[: self.size]
                setattr(self, name, new)

    def add_root(self, state, left):
        """Add a root to be searched ``left`` plies deep and return its index; roots come before any growth."""
        self.reserve(1)
        i = self.size
        self.size += 1
        self.state[i] = state
        self.parent[i] = self.best_child[i] = self.owner[i] = self.answer[i] = NONE
        self.root[i], self.left[i], self.kind[i], self.status[i], self.move[i] = i, left, MAX, WAITING, NONE
        self.best[i], self.bound[i] = -np.inf, UNKNOWN
        return i

    def back_up(self, nodes):
        """Carry the scores of ``nodes`` (int array), which have just become DONE, up to where other work is missing."""
        settle(
            np.ascontiguousarray(nodes, np.int32), self.parent, self.pending, self.kind, self.best, self.bound,
            self.best_child, self.status, self.cost)  # fmt: skip

    def line(self, node):
        """Return the nodes of the best line from ``node`` downwards, itself first."""
        nodes = [node]
        while self.best_child[nodes[-1]] != NONE:
            nodes.append(int(self.best_child[nodes[-1]]))
        return nodes


@compiled
def settle(nodes, parent, pending, kind, best, bound, best_child, status, cost):
    """The loop of ``NodeArray.back_up``; the back-up rule belongs to the kind of the node above."""
    for i in range(len(nodes)):
        node = nodes[i]
        spent = cost[node]
        while parent[node] != NONE:
            above = parent[node]
            cost[above] += spent
            if status[node] == DONE:
                better = best[node] > best[above] if kind[above] == MAX else best[node] < best[above]
                # among equals the first child counts, whichever came in first, so that the line can be repeated
                first = best[node] == best[above] and node < best_child[above]
                if best_child[above] == NONE or better or first:
                    best[above] = best[node]
                    best_child[above] = node
                pending[above] -= 1
                bound[above] = LOWER if kind[above] == MAX else UPPER
                if pending[above] == 0:
                    bound[above] = EXACT
                    status[above] = DONE
                elif status[above] != DONE:
                    status[above] = GROWN
            node = above
