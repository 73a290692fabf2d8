"""What hosts that search the same root tell one another: entries, orders of moves, and what their ranks are at.

The ranks of a host share a far table, see ``abdada``, and hosts have one each. An entry that took a rank long is also
written to a list behind the table. From there one rank takes it to the other hosts, where it goes into the table as if
a rank of that host had found it; and so do the orders of moves that ranks have found. The marks of large positions are
taken along; other hosts keep them apart from their own, as they were when they were told last. All hosts search with
the same engine, so a hash means the same everywhere. What is lost or comes late costs boards, and marks change the
order of a search; neither changes an answer.
"""

import numpy as np

from ..jit import compiled
from . import abdada
from . import table as tt

# Of one message, which MPI takes at once if it has at most 4,000 bytes: entries, and marks; words of orders
MOST, MOST_OF_ORDERS = 80, 170


def collected(far, since, least):
    """Return (entries, marks, how many entries there were so far), uint64, shape (n, 2): what other hosts are to know.

    far: the far table (uint64), with all that lies behind its buckets; entries: those after the first ``since``, at
    most MOST of them, and of those that are left at most ``abdada.TOLD``; marks: (hash, ranks) of positions with at
    least so much left, at most MOST.
    """
    head = 2 * tt.BUCKET * abdada.buckets(far) + abdada.NEWS
    count = int(far[head])
    since = min(max(since, count - abdada.TOLD), count)
    until = min(count, since + MOST)
    rows = far[head + 1 : head + 1 + 2 * abdada.TOLD].reshape(-1, 2)
    entries = rows[np.arange(since, until) % abdada.TOLD]
    return entries, abdada.marks_of(far, least, MOST), until


@compiled
def take_in(control, entries):
    """Put entries, as ``collected`` returns them, into the tables, beside what these hold already."""
    far_left, replaced = control[tt.FAR_LEFT], control[tt.REPLACED]
    control[tt.FAR_LEFT] = control[tt.FAR_LEFT_LATER]  # whatever the search at work does with the far table as yet
    for i in range(len(entries)):
        data = entries[i, 1]
        h, left = entries[i, 0] ^ data, tt.left_of(data)
        low, high, move, cut_off = tt.low_of(data), tt.high_of(data), tt.move_of(data), tt.is_cut_off(data)
        known = tt.look(control, h)
        if known != 0:
            if tt.left_of(known) > left:
                continue
            if move == tt.NO_MOVE:
                move = tt.move_of(known)
            if tt.left_of(known) == left and left < tt.MOST_LEFT:
                low, high = max(low, tt.low_of(known)), min(high, tt.high_of(known))
                cut_off |= tt.is_cut_off(known)
        tt.keep(control, h, tt.packed(control, low, high, move, left, cut_off), left)
    control[tt.FAR_LEFT], control[tt.REPLACED] = far_left, replaced
