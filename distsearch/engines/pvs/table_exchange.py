"""What hosts that search the same root tell one another: entries, orders of moves, and what their ranks are at.

The ranks of a host share a far table, see ``abdada``, and hosts have one each. An entry that took a rank long is also
written to a list behind the table. From there one rank takes it to the other hosts, where it goes into the table as if
a rank of that host had found it; and so do the orders of moves that ranks have found. The marks of large positions are
taken along; other hosts keep them apart from their own, as they were when they were told last. All hosts search with
the same engine, so a hash means the same everywhere. What is lost or comes late costs boards, and marks change the
order of a search; neither changes an answer.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import uint64s
from . import table as tt
from .shared_table import (
    ENTRIES,
    FIRST_ORDER,
    LEFT,
    MARKS,
    MOST_MOVES,
    ORDER_PLACES,
    ORDER_SIZE,
    ORDERS,
    ORDERS_TOLD,
    TOLD,
    place,
    ranks_of,
)

# Most entries, and most marks, of a message; most words of orders. MPI sends one of at most 4,000 bytes at once.
MOST, MOST_OF_ORDERS = 80, 170


def export_entries(far, since):
    """Return (entries, how many there were so far): those after the first ``since``, at most MOST.

    entries: uint64, shape (n, 2); far: the far table (uint64), with all that lies behind its buckets. Of those that
    were not told in time, TOLD are left at most.
    """
    head = place(far) + ENTRIES
    count = int(far[head])
    since = min(max(since, count - TOLD), count)
    until = min(count, since + MOST)
    rows = far[head + 1 : head + 1 + 2 * TOLD].reshape(-1, 2)
    return rows[np.arange(since, until) % TOLD], until


def export_orders(far, since):
    """Return (orders, how many there were so far): those after the first ``since``, as ``import_orders`` has them.

    They are MOST_OF_ORDERS words (uint64) at most; far: as ``export_entries`` has it.
    """
    head = place(far) + ORDER_PLACES
    count, most = int(far[head]), MOST_OF_ORDERS
    since, found = min(max(since, count - ORDERS_TOLD), count), [far[:0]]
    while since < count:
        first = int(far[head + 1 + since % ORDERS_TOLD])
        order = far[first : first + ORDER_SIZE].copy()  # others may be writing to it
        size = 2 + min(int(order[1]), MOST_MOVES)
        most -= size
        if most < 0:
            break
        found.append(order[:size])
        since += 1
    return np.concatenate(found), since


def export_marks(far, least, most=MOST):
    """Return (hash, ranks) of the marks of this host where at least so much is left: uint64, shape (n, 2).

    far: as ``export_entries`` has it; most: how many, those where the most is left.
    """
    found = np.empty((MARKS, 3), np.uint64)
    found = found[: _find_marks(far, place(far), least, found)]
    if len(found) > most:
        found = found[np.argsort(found[:, 2])[-most:]]
    return found[:, :2]


@compiled
def _find_marks(far, first, least, found):
    """Write (hash, ranks, left) of those marks to ``found``; return how many there are."""
    n = 0
    for i in range(first, first + 2 * MARKS, 2):
        h, word = far[i], far[i + 1]
        if h != 0 and np.int64(word >> LEFT) >= least:
            found[n, 0], found[n, 1], found[n, 2] = h, ranks_of(word), word >> LEFT
            n += 1
    return n


@compiled
def import_entries(control, entries):
    """Put entries, as ``export_entries`` returns them, into the tables, beside what these hold already."""
    far_left, replaced = control[tt.FAR_LEFT], control[tt.REPLACED]
    control[tt.FAR_LEFT] = control[tt.FAR_LEFT_LATER]  # whatever the search at work does with the far table as yet
    for i in range(len(entries)):
        data = entries[i, 1]
        h, left = entries[i, 0] ^ data, tt.left_of(data)
        low, high, move, cut_off = tt.low_of(data), tt.high_of(data), tt.move_of(data), tt.is_cut_off(data)
        known = tt.look_far(control, h) if control[tt.FAR_BUCKETS] > 0 else np.uint64(0)
        if known == 0:
            known = tt.look_near(control, h)
        if known != 0:
            if tt.left_of(known) > left:
                continue
            same = tt.left_of(known) == left and left < tt.MOST_LEFT
            if move == tt.NO_MOVE or same and tt.low_of(known) > low:  # a root's move is the one that has ``low``
                move = tt.move_of(known)
            if same:
                low, high = max(low, tt.low_of(known)), min(high, tt.high_of(known))
                cut_off |= tt.is_cut_off(known)
        tt.keep(control, h, tt.packed(control, low, high, move, left, cut_off), left)
    control[tt.FAR_LEFT], control[tt.REPLACED] = far_left, replaced


@compiled
def import_orders(control, words):
    """Keep orders of other hosts: of each a check, the number of moves, and a word for each move."""
    far, at = uint64s(control[tt.FAR]), 0
    while at + 2 <= len(words):
        if words[at + 1] > MOST_MOVES:  # written by two ranks at once
            break
        n = np.int64(words[at + 1])
        if at + 2 + n > len(words):
            break
        h = words[at] ^ words[at + 1]
        for i in range(at + 2, at + 2 + n):
            h ^= words[i]
        first = control[tt.FAR_WORDS] + FIRST_ORDER + ORDER_SIZE * np.int64(h & np.uint64(ORDERS - 1))
        if far[first] != words[at]:  # else it is there
            for i in range(n + 1):
                far[first + 1 + i] = words[at + 1 + i]
            far[first] = words[at]
        at += 2 + n
