"""The transposition table: what is known of positions that were searched before.

Two levels. The *L1 table* belongs to a rank and is small enough to stay in its cache; every result goes there. The
*shared table* is shared by all ranks of a host without locks. Only results that took some work go there and are looked
for there, and only once a search has turned out not to be easy, so a cache miss costs little and easy work has none. It
saves 1.2 to 2.7 times the nodes where a search has more than a million, and nothing below that. It may begin with a
part of its memory and grow while a search is long, see ``growing_table``.

An entry is two uint64: the data, and the position's hash xor the data (Hyatt and Mann 2002). Words of two writers that
race do not fit each other, so what they leave is not found, and never taken for an answer. A hash takes 64 bits; for
Connect 4 it tells every position from every other.

======  =====================================================
bits    of the data
======  =====================================================
0–15    lower bound of the score, + 32768
16–31   upper bound, + 32768
32–46   the best move's code + 2, or 0
47      1: the bounds rest on leaves that a depth limit cut off
48–55   depth left (in an exact search: moves left), up to 255
56–63   generation: the request that wrote it
======  =====================================================
"""

import numpy as np

from ...core.errors import UserError
from ...core.jit import compiled
from ...core.pages import lazy_zeros
from ...core.pointers import int64_struct, prefetch, set_fields, uint64s

DEFAULT_MIB = 64  # of the shared table
BUCKET = 4  # entries of the shared table that a position may be in: one cache line
LOWEST, HIGHEST = -32768, 32767  # bounds that say nothing
GENERATIONS = 256
NO_MOVE = np.int64(-2)
NEVER = np.int64(1 << 40)  # more than any depth
_HALF = np.uint64(0xFFFF)
_MOVE, _CUT_OFF = np.uint64(0x7FFF), np.uint64(47)
MAX_DEPTH = np.int64(255)  # that an entry holds

# The table's part of an engine's control block.
TABLE = int64_struct(
    "l1",  # address of the L1 table
    "shared",  # address of the shared table
    "l1_mask",  # entries of the L1 table - 1
    "buckets",  # of the shared table in use; 0: there is none
    "shared_from",  # depth from which on the shared table is used now: none at first
    "shared_from_later",  # and once a search has turned out not to be easy
    "generation",
    "replaced",  # entries of other positions written over so far, in either table
    "first_buckets",  # of the shared table before it grew; ``buckets`` where it does not
    # 2m - 1 and m * first_buckets, where m is the largest power of two with m * first_buckets <= buckets
    "bucket_mask",
    "bucket_half",
    "lost",  # entries of this request that others of this request have replaced in the shared table
    "bucket_words",  # words before what ``side_tables`` describes, buckets that are not in use included
    "question",  # what is asked of the root, as a word that marks of other hosts are told apart by
)
_SAMPLE, _SAMPLES = 8000, 8  # entries, of which 40% are found to be 40% ± 0.6%, and in how many places
EASY = 1 << 15  # nodes of an easy search: about what the L1 table holds


def new_l1_table(bits=16):
    """Return an empty L1 table (uint64) of 2**bits entries."""
    return np.zeros(2 << bits, np.uint64)


def new_shared_table(mib):
    """Return an empty shared table (uint64) of ``mib`` MiB for a process alone; raises UserError if it cannot be."""
    try:
        return lazy_zeros((mib << 20) // 8)
    except (OSError, MemoryError, ValueError) as error:
        raise UserError(f"table {mib}: there is not so much memory") from error


def full(shared):
    """Return the share of the entries of a shared table (uint64) that are used, 0 to 1, by a sample of them.

    In some places all over it: where it has grown in part, its buckets hold more or less.
    """
    entries = shared[1::2]
    if len(entries) > _SAMPLE:
        size = _SAMPLE // _SAMPLES
        starts = np.linspace(0, len(entries) - size, _SAMPLES).astype(int)
        entries = np.concatenate([entries[start : start + size] for start in starts])
    return float(np.count_nonzero(entries)) / max(1, len(entries))


def set_buckets(table, first, buckets):
    """Have an engine (table: a TABLE) use so many buckets of its shared table, of which it had ``first`` at first.

    Linear hashing (Litwin 1980): a position's bucket is by the high half of its hash among the first ones, and by low
    bits of it in one of as many parts as there are. As the table grows, buckets are divided one after another, and the
    entries of all others stay where they are.
    """
    doublings = (buckets // first).bit_length() - 1 if first else 0
    set_fields(table, first_buckets=first, buckets=buckets)
    set_fields(table, bucket_mask=(2 << doublings) - 1, bucket_half=first << doublings)


@compiled
def packed(t, low, high, move, depth_left, cut_off):
    """Return an entry's data word; bounds beyond what it can hold become weaker, not wrong."""
    low, high = max(low, np.int64(LOWEST)), min(high, np.int64(HIGHEST))
    return (
        np.uint64(min(low, np.int64(HIGHEST)) - LOWEST)
        | np.uint64(max(high, np.int64(LOWEST)) - LOWEST) << np.uint64(16)
        | np.uint64(move - NO_MOVE) << np.uint64(32)
        | np.uint64(cut_off) << _CUT_OFF
        | np.uint64(min(depth_left, MAX_DEPTH)) << np.uint64(48)
        | np.uint64(t.generation) << np.uint64(56)
    )


@compiled
def low_of(data):
    return np.int64(data & _HALF) + LOWEST


@compiled
def high_of(data):
    return np.int64(data >> np.uint64(16) & _HALF) + LOWEST


@compiled
def move_of(data):
    return np.int64(data >> np.uint64(32) & _MOVE) + NO_MOVE


@compiled
def depth_of(data):
    return np.int64(data >> np.uint64(48) & np.uint64(0xFF))


@compiled
def is_cut_off(data):
    return np.int64(data >> _CUT_OFF & np.uint64(1))


@compiled
def l1_place(t, h):
    """Return where in the L1 table an entry of hash h may be; unsigned, since numba checks signed ones."""
    return (h & np.uint64(t.l1_mask)) << np.uint64(1)


@compiled
def bucket_place(t, h):
    """Return where the bucket of hash h begins in the shared table."""
    first = t.first_buckets
    i = np.int64((h >> np.uint64(32)) * np.uint64(first) >> np.uint64(32))
    i += first * np.int64(h & np.uint64(t.bucket_mask))
    if i >= t.buckets:  # that bucket is not there yet
        i -= t.bucket_half
    return i << 3


@compiled
def forget_l1(t):
    """Forget the L1 table's entries."""
    l1 = uint64s(t.l1)
    for i in range(2 * (t.l1_mask + 1)):
        l1[i] = 0


@compiled
def probe_l1(t, h):
    """Return the data of hash h in the L1 table, or 0."""
    l1 = uint64s(t.l1)
    i = l1_place(t, h)
    data = l1[i + np.uint64(1)]
    return data if l1[i] ^ data == h else np.uint64(0)


@compiled
def probe_shared(t, h):
    """Return the data of hash h in the shared table, or 0."""
    shared = uint64s(t.shared)
    i = bucket_place(t, h)
    for k in range(i, i + 2 * BUCKET, 2):
        data = shared[k + 1]
        if shared[k] ^ data == h:
            return data
    return np.uint64(0)


@compiled
def probe(t, h):
    """Return the data of hash h in either table, or 0."""
    data = probe_l1(t, h)
    return probe_shared(t, h) if data == 0 and t.buckets > 0 else data


@compiled
def prefetch_l1(t, h):
    """Fetch the L1 table's cache line for hash h ahead of its use."""
    prefetch(t.l1 + np.int64(8 * l1_place(t, h)))


@compiled
def prefetch_shared(t, h):
    """Fetch the shared table's cache line for hash h ahead of its use: a miss takes as long as a node."""
    prefetch(t.shared + 8 * bucket_place(t, h))


@compiled
def store(t, h, data, depth_left):
    """Write an entry to the L1 table and, if it took work, to the shared one over the least worthy of its bucket."""
    l1 = uint64s(t.l1)
    i = l1_place(t, h)
    other = l1[i + np.uint64(1)]
    t.replaced += other != 0 and l1[i] ^ other != h
    l1[i] = h ^ data
    l1[i + np.uint64(1)] = data
    if depth_left >= t.shared_from:
        shared = uint64s(t.shared)
        i = bucket_place(t, h)
        chosen, least = i, np.uint64(1 << 63)
        generation = data >> np.uint64(56)
        for k in range(i, i + 2 * BUCKET, 2):
            old = shared[k + 1]
            if shared[k] ^ old == h:
                chosen = k
                break
            # an older request's entry goes first, then the one with the least depth left
            worth = old >> np.uint64(48) & np.uint64(0xFF)
            worth += np.uint64(256) if old >> np.uint64(56) == generation else np.uint64(0)
            if worth < least:
                chosen, least = k, worth
        old = shared[chosen + 1]
        replaced = old != 0 and shared[chosen] ^ old != h
        t.replaced += replaced
        t.lost += replaced and old >> np.uint64(56) == generation
        shared[chosen] = h ^ data
        shared[chosen + 1] = data
