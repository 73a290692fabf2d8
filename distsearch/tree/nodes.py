"""The node array: every node that the master made, as a struct of arrays.

All columns are rows of one array of int64, so that a compiled function takes them as one argument: taking each alone
cost more than most of what is done with them.
"""

import numpy as np

WAITING, SENT, GROWN, DONE = range(4)  # status of a node: nobody has it, a worker has, it has children, was counted
NONE = -1  # no such node
INFINITY = 1 << 60  # no score is larger

FIELDS = (
    "parent",
    "root",
    "first",
    "children",
    "depth",
    "left",
    "move",
    "over",
    "status",
    "low",
    "high",
    "alpha",
    "beta",
    "asked",
    "eldest",
    "best_child",
    "cost",
    "key",
    "twin",
    "queued",
    "deferred",
    "doubt",
    "order",
    "span",
    "cut",
    "hint",
    "visited",
)
(
    PARENT,
    ROOT,
    FIRST,
    CHILDREN,
    DEPTH,
    LEFT,
    MOVE,
    OVER,
    STATUS,
    LOW,
    HIGH,
    ALPHA,
    BETA,
    ASKED,
    ELDEST,
    BEST_CHILD,
    COST,
    KEY,
    TWIN,
    QUEUED,
    DEFERRED,
    DOUBT,
    ORDER,
    SPAN,
    CUT,
    HINT,
    VISITED,
) = range(len(FIELDS))


class NodeArray:
    """A forest of game positions; node i is entry i of every column. Scores are seen by the node's own side to move.

    Columns have shape (capacity,) and dtype int64:

    ==============  ==================================================================================
    ``parent``      the node above, NONE for a root
    ``root``        the root it hangs from (roots are nodes 0 to roots − 1)
    ``first``       its first child; children are neighbours, the likeliest best one first
    ``children``    how many children, 0 while it has not been grown
    ``depth``       plies below its root
    ``left``        plies (in an exact search: moves) that are still to be searched from here
    ``move``        the move that led here
    ``over``        1: the game is over here
    ``status``      WAITING, SENT to a worker, GROWN, or DONE where each is done once
    ``low``         the score is at least this
    ``high``        the score is at most this
    ``alpha``       where the score lies is asked no further than from ``alpha`` …
    ``beta``        … to ``beta``; nothing is asked where alpha is not below beta
    ``asked``       of a grown node: what null windows below it ask for, −INFINITY at first; of a SENT one: its job
    ``eldest``      the child that is asked first
    ``best_child``  the child that ``low`` came from, or NONE
    ``cost``        boards searched below it, growing included
    ``key``         hash of the position, the same for symmetric ones
    ``twin``        the next node of the same position and ``left``; they form a ring, most often of one
    ``queued``      its place in the queue of those that wait to be handed out, from 1; 0: it does not wait
    ``deferred``    1: it waits for a twin at work
    ``doubt``       how likely its answer is not needed, in thousandths of −log of the probability that it is
    ``order``       where it stands in the order of a search by one worker …
    ``span``        … and how much of that order is its children's
    ``cut``         1: one of its moves is likely to be good enough, so that the others need no search
    ``hint``        the same node in the array of a search that was less deep, or NONE
    ``visited``     used by ``asking``
    ==============  ==================================================================================

    and ``state``, uint64 of shape (capacity, words).
    """

    def __init__(self, words, capacity=1024):
        self.size = 0
        self.state = np.zeros((capacity, words), np.uint64)
        self.columns = np.zeros((len(FIELDS), capacity), np.int64)

    def snapshot(self):
        """Return copies of the arrays, as far as there are nodes, by name: what ``restored`` takes."""
        return {"state": self.state[: self.size].copy(), "columns": self.columns[:, : self.size].copy()}

    @classmethod
    def restored(cls, snapshot):
        """Return the NodeArray of a snapshot, in which nodes that were SENT wait again: nobody has them any more."""
        size, words = snapshot["state"].shape
        nodes = cls(words, size)
        nodes.size = size
        nodes.state[:], nodes.columns[:] = snapshot["state"], snapshot["columns"]
        nodes.status[nodes.status == SENT] = WAITING
        return nodes

    @property
    def capacity(self):
        """Nodes that fit without moving the arrays."""
        return len(self.state)

    def reserve(self, more):
        """Make room for ``more`` nodes; arrays at least double, so growing costs a constant a node."""
        if self.size + more > self.capacity:
            capacity = max(2 * self.capacity, self.size + more)
            state, columns = self.state, self.columns
            self.state = np.zeros((capacity, state.shape[1]), np.uint64)
            self.columns = np.zeros((len(FIELDS), capacity), np.int64)
            self.state[: self.size], self.columns[:, : self.size] = state[: self.size], columns[:, : self.size]

    def add_root(self, state, left, at=None):
        """Add a root to be searched ``left`` plies deep, or make it of node ``at``; return its index.

        The forest's roots come before any growth.
        """
        self.reserve(1)
        i = self.size if at is None else at
        self.size += at is None
        self.state[i], self.columns[:, i] = state, 0
        fields = {
            "parent": NONE,
            "root": i,
            "left": left,
            "move": NONE,
            "low": -INFINITY,
            "high": INFINITY,
            "best_child": NONE,
            "twin": i,
            "order": i << 40,
            "span": 1 << 40,
            "cut": 1,
            "hint": NONE,
        }
        for name, value in fields.items():
            getattr(self, name)[i] = value
        return i

    def line(self, node):
        """Return the nodes of the best line from ``node`` downwards, itself first."""
        nodes = [node]
        while self.best_child[nodes[-1]] != NONE:
            nodes.append(int(self.best_child[nodes[-1]]))
        return nodes


for _i, _name in enumerate(FIELDS):
    setattr(NodeArray, _name, property(lambda self, i=_i: self.columns[i]))
