"""What other hosts are at that search the same root, each with a far table of its own.

Their marks come a little late, see ``table_exchange``. So each position belongs to one host, by its hash, and a host
defers moves to positions of the others even if nobody is known to be at them. Several such searches at a time on a host
overwrite each other's marks, which costs boards.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import taken, uint64s
from . import shared_table
from . import table as tt

# A rank of another host counts as so many of this one: what it finds comes later. Of 1, 4, 8 and 16, 4 was best for two
# hosts of 8 on FFO #45 to #49.
_WEIGHT = 4
_MIXED = np.int64(0x1E3779B97F4A7C15)  # odd: spreads a small number over the bits of a word


@compiled
def begin_question(control, low, left):
    """Note that the root is now asked whether its score is above ``low``, with so much left (int64).

    Marks of other hosts come late. When a question is answered all ranks are at the eldest move; if those marks counted
    in the next question, every rank would find that move crowded and search another one.
    """
    control[tt.QUESTION] = (np.int64(low) << np.int64(16) ^ np.int64(left)) * _MIXED


@compiled
def hosts_at_root(control):
    """Return how many hosts search the root; 0: this one is alone."""
    return np.int64(uint64s(control[tt.FAR])[control[tt.FAR_WORDS] + shared_table.HOSTS])


@compiled
def remote_ranks(control, h):
    """Return for how many ranks those of other hosts count that are at work on the position of hash h."""
    far, place = uint64s(control[tt.FAR]), control[tt.FAR_WORDS]
    mask = np.int64(far[place + shared_table.SLOT_MASK])
    h ^= np.uint64(control[tt.QUESTION])
    at = np.int64(h) & mask
    for _ in range(mask):
        slot = place + shared_table.FIRST_REMOTE_MARK + 2 * at
        if far[slot] == h:
            return _WEIGHT * np.int64(far[slot + 1])
        if far[slot] == 0:
            break
        at = (at + 1) & mask
    return np.int64(0)


@compiled
def belongs_to_remote_host(control, h):
    """Whether the position of hash h belongs to another host that searches the root."""
    hosts = hosts_at_root(control)
    host = np.int64(uint64s(control[tt.FAR])[control[tt.FAR_WORDS] + shared_table.HOST])
    return hosts > 1 and np.int64(h >> np.uint64(40)) % hosts != host


@compiled
def set_remote_marks(control, marks, hosts, host):
    """Note what other hosts are at, and that this one is number ``host`` of so many that search a root, 0: it is alone.

    marks: uint64, shape (n, 2): hashes, the same one perhaps twice, and how many ranks are there.
    """
    far, place = uint64s(control[tt.FAR]), control[tt.FAR_WORDS]
    size, first = 0, place + shared_table.FIRST_REMOTE_MARK
    if len(marks) > 0:
        size = 256
        while size < min(4 * len(marks), shared_table.MOST_REMOTE_MARKS):
            size *= 2
    far[place + shared_table.SLOT_MASK] = 0  # while the slots change
    for i in range(first, first + 2 * size):
        far[i] = 0
    for k in range(min(len(marks), size // 2)):
        h = marks[k, 0]
        at = np.int64(h) & (size - 1)
        while far[first + 2 * at] != 0 and far[first + 2 * at] != h:
            at = (at + 1) & (size - 1)
        far[first + 2 * at] = h
        far[first + 2 * at + 1] += marks[k, 1]
    far[place + shared_table.HOSTS], far[place + shared_table.HOST] = hosts, host
    far[place + shared_table.SLOT_MASK] = max(size - 1, 0)


@compiled
def tell(control, h, data):
    """Have the other hosts that search the root, if any do, be told of an entry of hash h."""
    far, first = uint64s(control[tt.FAR]), control[tt.FAR_WORDS] + shared_table.ENTRIES
    if hosts_at_root(control) > 1:
        i = first + 1 + 2 * (taken(control[tt.FAR] + np.int64(8) * first) & (shared_table.TOLD - 1))
        far[i], far[i + 1] = h ^ data, data


@compiled
def queue_order(control, place):
    """Have them be told of the order at a place of the far table."""
    far, first = uint64s(control[tt.FAR]), control[tt.FAR_WORDS] + shared_table.ORDER_PLACES
    if hosts_at_root(control) > 1:
        far[first + 1 + (taken(control[tt.FAR] + np.int64(8) * first) & (shared_table.ORDERS_TOLD - 1))] = place
