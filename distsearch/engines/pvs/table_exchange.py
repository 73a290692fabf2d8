"""What hosts that search the same root tell one another: entries, orders of moves, and what their ranks are at.

The ranks of a host have one shared table, see ``abdada``. An entry that took a rank long is also written to a list
behind the table. From there one rank takes it to the other hosts, where it goes into the table as if a rank of that
host had found it; and so do the orders of moves that ranks have found. The marks of large positions are taken along;
other hosts keep them apart from their own, as they were when they were told last. All hosts search with the same
engine, so a hash means the same everywhere. What is lost or comes late costs nodes, and marks change the order of a
search; neither changes an answer.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import uint64s
from . import table as tt
from .side_tables import (
    ENTRIES,
    FIRST_ORDER,
    LEFT,
    MARKS,
    MAX_ORDER_MOVES,
    ORDER_PLACES,
    ORDER_SIZE,
    ORDERS,
    ORDERS_TOLD,
    TOLD,
    place,
    ranks_of,
)

# Most entries, and most marks, of a message; most words of orders. MPI sends one of at most 4,000 bytes at once.
MOST, MAX_ORDER_WORDS = 80, 170


def export_entries(shared, since):
    """Return (entries, how many there were so far): those after the first ``since``, at most MOST.

    entries: uint64, shape (n, 2); far: the shared table (uint64), with all that lies behind its buckets. Of those that
    were not told in time, TOLD are left at most.
    """
    head = place(shared) + ENTRIES
    count = int(shared[head])
    since = min(max(since, count - TOLD), count)
    until = min(count, since + MOST)
    rows = shared[head + 1 : head + 1 + 2 * TOLD].reshape(-1, 2)
    return rows[np.arange(since, until) % TOLD], until


def export_orders(shared, since):
    """Return (orders, how many there were so far): those after the first ``since``, as ``import_orders`` has them.

    They are MAX_ORDER_WORDS words (uint64) at most; far: as ``export_entries`` has it.
    """
    head = place(shared) + ORDER_PLACES
    count, most = int(shared[head]), MAX_ORDER_WORDS
    since, found = min(max(since, count - ORDERS_TOLD), count), [shared[:0]]
    while since < count:
        first = int(shared[head + 1 + since % ORDERS_TOLD])
        order = shared[first : first + ORDER_SIZE].copy()  # others may be writing to it
        size = 2 + min(int(order[1]), MAX_ORDER_MOVES)
        most -= size
        if most < 0:
            break
        found.append(order[:size])
        since += 1
    return np.concatenate(found), since


def export_marks(shared, least, most=MOST):
    """Return (hash, ranks) of the marks of this host where at least so much is left: uint64, shape (n, 2).

    far: as ``export_entries`` has it; most: how many, those where the most is left.
    """
    found = np.empty((MARKS, 3), np.uint64)
    found = found[: _find_marks(shared, place(shared), least, found)]
    if len(found) > most:
        found = found[np.argsort(found[:, 2])[-most:]]
    return found[:, :2]


@compiled
def _find_marks(shared, first, least, found):
    """Write (hash, ranks, left) of those marks to ``found``; return how many there are."""
    n = 0
    for i in range(first, first + 2 * MARKS, 2):
        h, word = shared[i], shared[i + 1]
        if h != 0 and np.int64(word >> LEFT) >= least:
            found[n, 0], found[n, 1], found[n, 2] = h, ranks_of(word), word >> LEFT
            n += 1
    return n


@compiled
def import_entries(t, entries):
    """Put entries, as ``export_entries`` returns them, into the tables, and merge them with what these hold already."""
    far_left, replaced = t.shared_from, t.replaced
    t.shared_from = t.shared_from_later  # whatever the search at work does with the shared table as yet
    for i in range(len(entries)):
        data = entries[i, 1]
        h, depth_left = entries[i, 0] ^ data, tt.depth_of(data)
        low, high, move, cut_off = tt.low_of(data), tt.high_of(data), tt.move_of(data), tt.is_cut_off(data)
        known = tt.probe_shared(t, h) if t.buckets > 0 else np.uint64(0)
        if known == 0:
            known = tt.probe_l1(t, h)
        if known != 0:
            if tt.depth_of(known) > depth_left:
                continue
            same = tt.depth_of(known) == depth_left and depth_left < tt.MAX_DEPTH
            if move == tt.NO_MOVE or same and tt.low_of(known) > low:  # a root's move is the one that has ``low``
                move = tt.move_of(known)
            if same:
                low, high = max(low, tt.low_of(known)), min(high, tt.high_of(known))
                cut_off |= tt.is_cut_off(known)
        tt.store(t, h, tt.packed(t, low, high, move, depth_left, cut_off), depth_left)
    t.shared_from, t.replaced = far_left, replaced


@compiled
def import_orders(t, words):
    """Keep orders of other hosts: of each a check, the number of moves, and a word for each move."""
    shared, at = uint64s(t.shared), 0
    while at + 2 <= len(words):
        if words[at + 1] > MAX_ORDER_MOVES:  # written by two ranks at once
            break
        n = np.int64(words[at + 1])
        if at + 2 + n > len(words):
            break
        h = words[at] ^ words[at + 1]
        for i in range(at + 2, at + 2 + n):
            h ^= words[i]
        first = t.bucket_words + FIRST_ORDER + ORDER_SIZE * np.int64(h & np.uint64(ORDERS - 1))
        if shared[first] != words[at]:  # else it is there
            for i in range(n + 1):
                shared[first + 1 + i] = words[at + 1 + i]
            shared[first] = words[at]
        at += 2 + n
