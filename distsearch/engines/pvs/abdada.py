"""Several ranks in one search: deferred moves (ABDADA: Weill 1996).

All ranks search the same root with the same engine and the same shared table. A rank that begins with a move marks the
position after it. A rank that comes to a node and finds a move's position marked defers the move: it is searched when
nothing else is left at that node, and by then its answer is mostly in the table. A move that is likely to cut is never
deferred, nor what comes before it passed over: ranks search it together (*young brothers wait*). At small nodes all
are, and where nothing else is left a rank waits for the others a little, for it could only do the same work twice.

No message says that a node is answered. Each rank looks every ``LOOK_EVERY`` nodes whether the table has answers for
the nodes on its path, and ends its work below one that is answered. Ordering the moves of a large node takes thousands
of nodes, so ranks share the orders that they have found as well.

Ranks of other hosts may search the same root as well, see ``remote_hosts``.

Marks and orders lie behind the shared table's entries and are hints: one that is lost, overwritten or left behind by a
rank that died changes the order of a search, never its answer.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import add_to, int64s, set_fields, uint64s
from . import table as tt
from .remote_hosts import queue_order, remote_ranks
from .side_tables import FIRST_ORDER, LEFT, MARKS, MAX_ORDER_MOVES, ORDER_SIZE, ORDERS, ranks_of

LOOK_EVERY = np.int64(400)  # nodes, 10 to 40 µs; with 1,000 FFO #47 took 15 ranks 5% more nodes
WAIT = np.int64(100)  # nodes' time that a rank waits for another before it looks around
PATIENCE = 50  # times that it does so; then it searches what it waited for, whose rank may be gone
_POLLS = 1_000  # that take about so long
_ORDER_POLLS = 30_000  # about as long as it takes to order the moves of a large node
_ORDERING = np.uint64(0x9E3779B97F4A7C15)  # xor a hash: the mark of a rank that orders the moves there
_SLOTS = 4  # in which the mark of a position may be


@compiled
def _first_slot(t, h):
    """Return the index in the shared table of the first slot for hash h."""
    return t.bucket_words + 2 * np.int64(h & np.uint64(MARKS - _SLOTS))


@compiled
def ranks_at(t, h):
    """Return how many ranks search the position of hash h."""
    shared, first = uint64s(t.shared), _first_slot(t, h)
    for i in range(first, first + 2 * _SLOTS, 2):
        if shared[i] == h:
            return ranks_of(shared[i + 1]) + remote_ranks(t, h)
    return remote_ranks(t, h)


@compiled
def mark(t, h, depth_left):
    """Mark the position of hash h as one that this rank searches, to so much depth."""
    shared, first = uint64s(t.shared), _first_slot(t, h)
    chosen = first + 2 * np.int64(h >> np.uint64(62))
    for i in range(first, first + 2 * _SLOTS, 2):
        if shared[i] == h:
            add_to(t.shared + np.int64(8) * (i + 1), np.int64(1))
            return
        if shared[i] == 0:
            chosen = i
    shared[chosen + 1] = np.uint64(depth_left) << LEFT | np.uint64(1)
    shared[chosen] = h


@compiled
def unmark(t, h):
    """Take away this rank's mark of the position of hash h."""
    shared, first = uint64s(t.shared), _first_slot(t, h)
    for i in range(first, first + 2 * _SLOTS, 2):
        if shared[i] == h:
            if ranks_of(shared[i + 1]) == 1:
                shared[i] = np.uint64(0)
            else:
                add_to(t.shared + np.int64(8) * (i + 1), np.int64(-1))
            break


@compiled
def wait_for(t, h):
    """Wait until no rank searches the position of hash h, but not for long."""
    for _ in range(_POLLS):
        if ranks_at(t, h) == 0:
            break


@compiled
def _order_at(t, h):
    """Return the index in the shared table of the order that hash h may have."""
    return t.bucket_words + FIRST_ORDER + ORDER_SIZE * np.int64(h & np.uint64(ORDERS - 1))


@compiled
def store_order(t, h, out, scores, at, n):
    """Store the n moves at ``at`` (int16), as they are ordered, and their scores, for ranks that come to hash h."""
    if n > MAX_ORDER_MOVES:
        return
    shared, first = uint64s(t.shared), _order_at(t, h)
    check = h ^ np.uint64(n)
    shared[first + 1] = n
    for i in range(n):
        word = np.uint64(np.int64(out[at + i]) & 0xFFFF) | np.uint64(scores[at + i]) << np.uint64(16)
        check ^= word
        shared[first + 2 + i] = word
    shared[first] = check
    queue_order(t, first)
    unmark(t, h ^ _ORDERING)


@compiled
def probe_order(t, h, out, scores, at, n):
    """Order the n moves at ``at`` as hash h has them; return whether it has, with nothing done if not.

    Two writers that race leave words whose check does not fit. There must be room for as many moves behind the n.
    """
    shared, first = uint64s(t.shared), _order_at(t, h)
    if n > MAX_ORDER_MOVES or shared[first + 1] != n:
        return False
    check = shared[first] ^ h ^ np.uint64(n)
    for i in range(n):
        word = shared[first + 2 + i]
        check ^= word
        out[at + n + i] = np.int64(word & np.uint64(0xFFFF))
        scores[at + n + i] = np.int64(word) >> 16
    if check != 0:
        return False
    for i in range(at, at + n):
        out[i], scores[i] = out[i + n], scores[i + n]
    return True


@compiled
def wait_for_order(t, h, out, scores, at, n):
    """Wait for the order of a rank that is ordering the moves of hash h; if none is, mark that this one does."""
    if n > MAX_ORDER_MOVES:
        return False
    for _ in range(_ORDER_POLLS):
        if ranks_at(t, h ^ _ORDERING) == 0:
            break
    if probe_order(t, h, out, scores, at, n):
        return True
    mark(t, h ^ _ORDERING, 0)
    return False


@compiled
def is_over(c):
    """Whether the search that this rank has joined is over; tells its owner how many nodes it took here."""
    if c.sequence_at == 0:
        return False
    int64s(c.nodes_at)[0] = c.nodes
    return int64s(c.sequence_at)[0] != c.sequence


class SharedSearch:
    """Base of engines whose searches several ranks can share: what their control blocks and tables say of them."""

    def watch(self, sequence_at, sequence, nodes_at):
        """Stop when another number than ``sequence`` stands at the first address; write ``nodes`` to the other one."""
        set_fields(self._control, sequence_at=sequence_at, sequence=sequence, nodes_at=nodes_at)

    @property
    def is_shared(self):
        """Whether other ranks can take part in the search begun last."""
        return self._control["defer_from"] < tt.NEVER

    @property
    def waited(self):
        """Time for which it has waited for others so far, in nodes."""
        return int(self._control["waited"])

    @property
    def table_full(self):
        """The share of the shared table's entries that are used, 0 to 1, by a sample of them."""
        return tt.full(self._shared[: 2 * tt.BUCKET * int(self._table["buckets"])])

    @property
    def nodes(self):
        """Nodes searched so far."""
        return int(self._control["nodes"])
