"""What lies behind the buckets of a shared table: marks and orders, see ``abdada``, and what hosts tell.

All of it is uint64, and zero at first. Places are counted from the end of the buckets, ``FAR_WORDS`` of ``table``.
"""

import numpy as np

from ...core.jit import compiled
from . import table as tt

# Of two words: a hash; how many ranks are at its position, and from the bit LEFT on how much is left there.
MARKS = 1 << 12
LEFT = np.uint64(32)
ORDERS = 1 << 10
ORDER_SIZE = 32  # words of an order: check, number of moves, then score and code of each
MAX_ORDER_MOVES = ORDER_SIZE - 2
FIRST_ORDER = 2 * MARKS

# The entries that other hosts must be told, a ring buffer; before them, how many there were so far.
TOLD = 1 << 11
ENTRIES = FIRST_ORDER + ORDERS * ORDER_SIZE
# The orders to tell, likewise, as places in the shared table.
ORDERS_TOLD = 1 << 8
ORDER_PLACES = ENTRIES + 1 + 2 * TOLD

# The marks of other hosts by their hash, of two words each. Before them: the number of slots in use − 1, or 0 for none;
# how many hosts search the root, 0 if this one is alone; the number of this one among them.
MAX_REMOTE_MARKS = 1 << 13
SLOT_MASK = ORDER_PLACES + 1 + ORDERS_TOLD
HOSTS, HOST, FIRST_REMOTE_MARK = range(SLOT_MASK + 1, SLOT_MASK + 4)
WORDS = (FIRST_REMOTE_MARK + 2 * MAX_REMOTE_MARKS + 7) // 8 * 8  # as buckets are


def buckets(shared):
    """Return how many buckets a shared table (uint64, with all that lies behind them) has; 0 if it is too small."""
    return max(0, len(shared) - WORDS) // (2 * tt.BUCKET)


def place(shared):
    """Return where in a shared table its buckets end."""
    return 2 * tt.BUCKET * buckets(shared)


@compiled
def ranks_of(word):
    """Return the number of ranks in a mark's second word; 1 where ranks that raced have counted less than that."""
    ranks = np.int64(word & np.uint64(0xFFFFFFFF))
    return ranks if 0 < ranks < np.int64(1 << 31) else np.int64(1)
