"""What other hosts are at that search the same root, each with a shared table of its own.

Their marks come a little late, see ``table_exchange``. So each position belongs to one host, by its hash, and a host
defers moves to positions of the others even if no rank is known to search them. Several such searches at a time on a
host overwrite each other's marks, which costs nodes.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import taken, uint64s
from . import side_tables

# A rank of another host counts as so many of this one: what it finds comes later. Of 1, 4, 8 and 16, 4 was best for two
# hosts of 8 on FFO #45 to #49.
_WEIGHT = 4
_MIXED = np.int64(0x1E3779B97F4A7C15)  # odd: spreads a small number over the bits of a word


@compiled
def begin_question(t, low, depth_left):
    """Note that the root is now asked whether its score is above ``low``, with so much left (int64).

    Marks of other hosts come late. When a question is answered all ranks search the first move; if those marks counted
    in the next question, every rank would find that move crowded and search another one.
    """
    t.question = (np.int64(low) << np.int64(16) ^ np.int64(depth_left)) * _MIXED


@compiled
def hosts_at_root(t):
    """Return how many hosts search the root; 0: this one is alone."""
    return np.int64(uint64s(t.shared)[t.bucket_words + side_tables.HOSTS])


@compiled
def remote_ranks(t, h):
    """Return for how many ranks those of other hosts count that search the position of hash h."""
    shared, place = uint64s(t.shared), t.bucket_words
    mask = np.int64(shared[place + side_tables.SLOT_MASK])
    h ^= np.uint64(t.question)
    at = np.int64(h) & mask
    for _ in range(mask):
        slot = place + side_tables.FIRST_REMOTE_MARK + 2 * at
        if shared[slot] == h:
            return _WEIGHT * np.int64(shared[slot + 1])
        if shared[slot] == 0:
            break
        at = (at + 1) & mask
    return np.int64(0)


@compiled
def belongs_to_remote_host(t, h):
    """Whether the position of hash h belongs to another host that searches the root."""
    hosts = hosts_at_root(t)
    host = np.int64(uint64s(t.shared)[t.bucket_words + side_tables.HOST])
    return hosts > 1 and np.int64(h >> np.uint64(40)) % hosts != host


@compiled
def set_remote_marks(t, marks, hosts, host):
    """Note what other hosts are at, and that this one is number ``host`` of so many that search a root, 0: it is alone.

    marks: uint64, shape (n, 2): hashes, the same one perhaps twice, and how many ranks are there.
    """
    shared, place = uint64s(t.shared), t.bucket_words
    size, first = 0, place + side_tables.FIRST_REMOTE_MARK
    if len(marks) > 0:
        size = 256
        while size < min(4 * len(marks), side_tables.MAX_REMOTE_MARKS):
            size *= 2
    shared[place + side_tables.SLOT_MASK] = 0  # while the slots change
    for i in range(first, first + 2 * size):
        shared[i] = 0
    for k in range(min(len(marks), size // 2)):
        h = marks[k, 0]
        at = np.int64(h) & (size - 1)
        while shared[first + 2 * at] != 0 and shared[first + 2 * at] != h:
            at = (at + 1) & (size - 1)
        shared[first + 2 * at] = h
        shared[first + 2 * at + 1] += marks[k, 1]
    shared[place + side_tables.HOSTS], shared[place + side_tables.HOST] = hosts, host
    shared[place + side_tables.SLOT_MASK] = max(size - 1, 0)


@compiled
def tell(t, h, data):
    """Have the other hosts that search the root, if any do, be told of an entry of hash h."""
    shared, first = uint64s(t.shared), t.bucket_words + side_tables.ENTRIES
    if hosts_at_root(t) > 1:
        i = first + 1 + 2 * (taken(t.shared + np.int64(8) * first) & (side_tables.TOLD - 1))
        shared[i], shared[i + 1] = h ^ data, data


@compiled
def queue_order(t, place):
    """Have them be told of the order at a place of the shared table."""
    shared, first = uint64s(t.shared), t.bucket_words + side_tables.ORDER_PLACES
    if hosts_at_root(t) > 1:
        shared[first + 1 + (taken(t.shared + np.int64(8) * first) & (side_tables.ORDERS_TOLD - 1))] = place
