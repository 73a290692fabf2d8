"""Several ranks in one search: deferred moves (ABDADA: Weill 1996).

All ranks search the same root with the same engine, and share the far table. A rank that begins with a move marks the
position after it. A rank that comes to a node and finds a move's position marked defers the move: it is searched when
nothing else is left at that node, and by then its answer is mostly in the table. A move that is likely to cut is never
deferred, nor what comes before it passed over: ranks search it together (*young brothers wait*). At small nodes all
are, and where nothing else is left a rank waits for the others a little, for it could only do the same twice.

Nobody sends word that a node is answered. Each rank looks every ``LOOK_EVERY`` boards whether the table has answers for
the nodes on its path, and ends its work below one that is answered. Ordering the moves of a large node takes thousands
of boards, so ranks share the orders that they have found as well.

Ranks of other hosts may search the same root with a far table of their own, see ``news``. What they are at is known a
little late. So each position belongs to one of the hosts, by its hash: a host defers moves to those of the others while
nobody is at them.

Marks and orders lie behind the far table's entries and are hints: one that is lost, overwritten or left behind by a
rank that died changes the order of a search, never its answer.
"""

import numpy as np

from ..addresses import add_to, taken, uint64s
from ..jit import compiled
from . import table as tt

LOOK_EVERY = np.int64(400)  # boards, 10 to 40 µs; with 1,000 FFO #47 took 15 ranks 5% more boards
WAIT = np.int64(100)  # boards' time that a rank waits for another before it looks around
PATIENCE = 50  # times that it does so; then it searches what it waited for, whose rank may be gone
_POLLS = 1_000  # that take about so long
_ORDER_POLLS = 30_000  # about as long as it takes to order the moves of a large node
_ORDERING = np.uint64(0x9E3779B97F4A7C15)  # xor a hash: the mark of a rank that orders the moves there
_MARKS = 1 << 12  # of two words, a hash and the number of ranks at its position
_SLOTS = 4  # in which the mark of a position may be
_ORDERS = 1 << 10
_ORDER_SIZE = 32  # words of an order: check, number of moves, then score and code of each
_MOST_MOVES = _ORDER_SIZE - 2
# Behind marks and orders: the entries that other hosts are to be told, written round and round; before them, how many
# there were so far.
TOLD = 1 << 11
NEWS = 2 * _MARKS + _ORDERS * _ORDER_SIZE
# The same of the orders: where they are.
ORDERS_TOLD = 1 << 8
ORDER_NEWS = NEWS + 1 + 2 * TOLD
# And the marks of other hosts, by their hash: before them the number of slots in use − 1, or 0 for none, how many hosts
# search the root, 0 if this one is alone, and the number of this one among them.
MOST_ELSEWHERE = 1 << 13
ELSEWHERE = ORDER_NEWS + 1 + ORDERS_TOLD
_SLOT_MASK, HOSTS, _HOST, _FIRST = range(4)
WORDS = ELSEWHERE + _FIRST + 2 * MOST_ELSEWHERE
# A rank of another host counts as so many of this one: what it finds comes later. Of 1, 4 and 16, 4 was best for two
# hosts of 8 on FFO #42, #43, #46 and #47.
_WEIGHT_ELSEWHERE = 4
_RANKS, _LEFT = np.uint64(0xFFFFFFFF), np.uint64(32)  # of a mark's second word: how many, and what is left


def buckets(far):
    """Return how many buckets of the far table (uint64) there are before marks and orders; 0 if it is too small."""
    return max(0, len(far) - WORDS) // (2 * tt.BUCKET)


@compiled
def _first_slot(control, h):
    """Return the index in the far table of the first slot for hash h."""
    return control[tt.FAR_WORDS] + 2 * np.int64(h & np.uint64(_MARKS - _SLOTS))


@compiled
def _hosts(control):
    """Return how many hosts search the root; 0: this one is alone."""
    return np.int64(uint64s(control[tt.FAR])[control[tt.FAR_WORDS] + ELSEWHERE + HOSTS])


@compiled
def _ranks_elsewhere(control, h):
    """Return for how many ranks those of other hosts count that are at work on the position of hash h."""
    far, head = uint64s(control[tt.FAR]), control[tt.FAR_WORDS] + ELSEWHERE
    mask = np.int64(far[head + _SLOT_MASK])
    at = np.int64(h) & mask
    for _ in range(mask):
        slot = head + _FIRST + 2 * at
        if far[slot] == h:
            return _WEIGHT_ELSEWHERE * np.int64(far[slot + 1])
        if far[slot] == 0:
            break
        at = (at + 1) & mask
    return np.int64(0)


@compiled
def set_elsewhere(control, marks, hosts, host):
    """Note what other hosts are at, and that this one is number ``host`` of so many that search a root, 0: it is alone.

    marks: uint64, shape (n, 2): hashes, the same one perhaps twice, and how many ranks are there.
    """
    far, head = uint64s(control[tt.FAR]), control[tt.FAR_WORDS] + ELSEWHERE
    size = 0
    if len(marks) > 0:
        size = 256
        while size < min(4 * len(marks), MOST_ELSEWHERE):
            size *= 2
    far[head + _SLOT_MASK] = 0  # while the slots change
    for i in range(head + _FIRST, head + _FIRST + 2 * size):
        far[i] = 0
    for k in range(min(len(marks), size // 2)):
        h = marks[k, 0]
        at = np.int64(h) & (size - 1)
        while far[head + _FIRST + 2 * at] != 0 and far[head + _FIRST + 2 * at] != h:
            at = (at + 1) & (size - 1)
        far[head + _FIRST + 2 * at] = h
        far[head + _FIRST + 2 * at + 1] += marks[k, 1]
    far[head + HOSTS], far[head + _HOST] = hosts, host
    far[head + _SLOT_MASK] = max(size - 1, 0)


@compiled
def is_anothers(control, h):
    """Whether the position of hash h belongs to another host that searches the root."""
    far, head = uint64s(control[tt.FAR]), control[tt.FAR_WORDS] + ELSEWHERE
    hosts = _hosts(control)
    return hosts > 1 and np.int64(h >> np.uint64(40)) % hosts != np.int64(far[head + _HOST])


@compiled
def tell(control, h, data):
    """Have the other hosts that search the root, if any do, be told of an entry of hash h."""
    far, first = uint64s(control[tt.FAR]), control[tt.FAR_WORDS] + NEWS
    if _hosts(control) > 1:
        i = first + 1 + 2 * (taken(control[tt.FAR] + np.int64(8) * first) & (TOLD - 1))
        far[i], far[i + 1] = h ^ data, data


@compiled
def ranks_at(control, h):
    """Return how many ranks are at work on the position of hash h."""
    far, first = uint64s(control[tt.FAR]), _first_slot(control, h)
    for i in range(first, first + 2 * _SLOTS, 2):
        if far[i] == h:
            return max(np.int64(far[i + 1] & _RANKS), np.int64(1)) + _ranks_elsewhere(control, h)
    return _ranks_elsewhere(control, h)


@compiled
def enter(control, h, left):
    """Say that this rank is at work on the position of hash h, too, where so much is left."""
    far, first = uint64s(control[tt.FAR]), _first_slot(control, h)
    chosen = first + 2 * np.int64(h >> np.uint64(62))
    for i in range(first, first + 2 * _SLOTS, 2):
        if far[i] == h:
            add_to(control[tt.FAR] + np.int64(8) * (i + 1), np.int64(1))
            return
        if far[i] == 0:
            chosen = i
    far[chosen + 1] = np.uint64(left) << _LEFT | np.uint64(1)
    far[chosen] = h


@compiled
def leave(control, h):
    """Say that this rank is no longer at work on the position of hash h."""
    far, first = uint64s(control[tt.FAR]), _first_slot(control, h)
    for i in range(first, first + 2 * _SLOTS, 2):
        if far[i] == h:
            if np.int64(far[i + 1] & _RANKS) <= 1:
                far[i] = np.uint64(0)
            else:
                add_to(control[tt.FAR] + np.int64(8) * (i + 1), np.int64(-1))
            break


def marks_of(far, least, most):
    """Return (hash, ranks) of the marks of this host where at least so much is left: uint64, shape (n, 2).

    far: the far table (uint64), with all that lies behind its buckets; most: how many, those where the most is left.
    """
    found = np.empty((_MARKS, 3), np.uint64)
    found = found[: _find_marks(far, 2 * tt.BUCKET * buckets(far), least, found)]
    if len(found) > most:
        found = found[np.argsort(found[:, 2])[-most:]]
    return found[:, :2]


@compiled
def _find_marks(far, first, least, found):
    """Write (hash, ranks, left) of those marks to ``found``; return how many there are."""
    n = 0
    for i in range(first, first + 2 * _MARKS, 2):
        h, word = far[i], far[i + 1]
        if h != 0 and np.int64(word >> _LEFT) >= least:
            found[n, 0], found[n, 1], found[n, 2] = h, word & _RANKS, word >> _LEFT
            n += 1
    return n


@compiled
def wait_for(control, h):
    """Wait until nobody is at work on the position of hash h, but not for long."""
    for _ in range(_POLLS):
        if ranks_at(control, h) == 0:
            break


@compiled
def _order_at(control, h):
    """Return the index in the far table of the order that hash h may have."""
    return control[tt.FAR_WORDS] + 2 * _MARKS + _ORDER_SIZE * np.int64(h & np.uint64(_ORDERS - 1))


@compiled
def keep_order(control, h, out, scores, at, n):
    """Keep the n moves at ``at`` (int16), as they are ordered, and their scores, for ranks that come to hash h."""
    if n > _MOST_MOVES:
        return
    far, first = uint64s(control[tt.FAR]), _order_at(control, h)
    check = h ^ np.uint64(n)
    far[first + 1] = n
    for i in range(n):
        word = np.uint64(np.int64(out[at + i]) & 0xFFFF) | np.uint64(scores[at + i]) << np.uint64(16)
        check ^= word
        far[first + 2 + i] = word
    far[first] = check
    if _hosts(control) > 1:
        news = control[tt.FAR_WORDS] + ORDER_NEWS
        far[news + 1 + (taken(control[tt.FAR] + np.int64(8) * news) & (ORDERS_TOLD - 1))] = first
    leave(control, h ^ _ORDERING)


def orders_told(far, since, most):
    """Return (orders found after the first ``since``, as ``take_in_orders`` has them; how many there were so far).

    most: words of them (uint64) at most; far: as ``marks_of`` has it.
    """
    news = 2 * tt.BUCKET * buckets(far) + ORDER_NEWS
    count = int(far[news])
    since, found = min(max(since, count - ORDERS_TOLD), count), []
    while since < count:
        first = int(far[news + 1 + since % ORDERS_TOLD])
        order = far[first : first + _ORDER_SIZE].copy()  # others may be writing to it
        size = 2 + min(int(order[1]), _MOST_MOVES)
        most -= size
        if most < 0:
            break
        found.append(order[:size])
        since += 1
    return np.concatenate([far[:0], *found]), since


@compiled
def take_in_orders(control, words):
    """Keep orders of other hosts: of each a check, the number of moves, and a word for each move."""
    far, at = uint64s(control[tt.FAR]), 0
    while at + 2 <= len(words):
        if words[at + 1] > _MOST_MOVES:  # written by two ranks at once
            break
        n = np.int64(words[at + 1])
        if at + 2 + n > len(words):
            break
        h = words[at] ^ words[at + 1]
        for i in range(at + 2, at + 2 + n):
            h ^= words[i]
        first = _order_at(control, h)
        for i in range(n + 1):
            far[first + 1 + i] = words[at + 1 + i]
        far[first] = words[at]
        at += 2 + n


@compiled
def kept_order(control, h, out, scores, at, n):
    """Order the n moves at ``at`` as hash h has them; return whether it has, with nothing done if not.

    Two writers that race leave words whose check does not fit.
    """
    far, first = uint64s(control[tt.FAR]), _order_at(control, h)
    if n > _MOST_MOVES or far[first + 1] != n:
        return False
    check = far[first] ^ h ^ np.uint64(n)
    for i in range(first + 2, first + 2 + n):
        check ^= far[i]
    if check != 0:
        return False
    check = far[first] ^ h ^ np.uint64(n)
    for i in range(n):
        word = far[first + 2 + i]
        check ^= word
        out[at + i] = np.int64(word & np.uint64(0xFFFF))
        scores[at + i] = np.int64(word) >> 16
    return check == 0


@compiled
def order_comes(control, h, out, scores, at, n):
    """Wait for the order of a rank that is ordering the moves of hash h; if none is, say that this one does."""
    if n > _MOST_MOVES:
        return False
    for _ in range(_ORDER_POLLS):
        if ranks_at(control, h ^ _ORDERING) == 0:
            break
    if kept_order(control, h, out, scores, at, n):
        return True
    enter(control, h ^ _ORDERING, 0)
    return False
