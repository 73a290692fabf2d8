"""The transposition table: what is known of positions that were searched before.

Two levels. The *near* one belongs to a rank and is small enough to stay in its cache; every result goes there. The
*far* one is shared by all ranks of a host without locks. Only results that took some work go there and are looked for
there, and only once a search has turned out not to be easy, so a cache miss costs little and easy work has none. It
saves 1.2 to 2.7 times the boards where a search has more than a million, and nothing below that. It may begin with a
part of its memory and grow while a search is long, see ``growing``.

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
48–55   depth left (in an exact search: moves left, up to 255)
56–63   generation: the request that wrote it
======  =====================================================
"""

import numpy as np

from ...core.errors import UserError
from ...core.jit import compiled
from ...core.pages import lazy_zeros
from ...core.pointers import prefetch, uint64s

DEFAULT_MIB = 64  # of the far table
BUCKET = 4  # entries of the far table that a position may be in: one cache line
LOWEST, HIGHEST = -32768, 32767  # bounds that say nothing
GENERATIONS = 256
NO_MOVE = np.int64(-2)
NEVER = np.int64(1 << 40)  # more than is ever left
_HALF = np.uint64(0xFFFF)
_MOVE, _CUT_OFF = np.uint64(0x7FFF), np.uint64(47)
MOST_LEFT = np.int64(255)

# The table's part of an engine's control array (int64), which comes first in it.
NEAR, FAR = 0, 1  # addresses
NEAR_MASK, FAR_BUCKETS = 2, 3  # entries − 1; buckets in use, 0: no far table
FAR_LEFT = 4  # moves left from which on the far table is used, now: none at first
FAR_LEFT_LATER = 5  # and from when on a search has turned out not to be easy
GENERATION = 6
REPLACED = 7  # entries of other positions written over so far, in either table
FAR_FIRST = 8  # buckets of the far table before it grew; FAR_BUCKETS where it does not
# 2m − 1 and m · FAR_FIRST, where m is the largest power of two with m · FAR_FIRST <= FAR_BUCKETS
FAR_MASK, FAR_HALF = 9, 10
FAR_LOST = 11  # entries of this request that others of this request have replaced in the far table
FAR_WORDS = 12  # words before what ``far_layout`` describes, buckets that are not in use included
QUESTION = 13  # what is asked of the root, as a word that marks of other hosts are told apart by, see ``remote_hosts``
CONTROL_SIZE = 14
_SAMPLE, _SAMPLES = 8000, 8  # entries, of which 40% are found to be 40% ± 0.6%, and in how many places
EASY = 1 << 15  # boards of an easy search: about what the near table holds


def near_table(bits=16):
    """Return an empty near table (uint64) of 2**bits entries."""
    return np.zeros(2 << bits, np.uint64)


def far_table(mib):
    """Return an empty far table (uint64) of ``mib`` MiB for a process alone; raises UserError if it cannot be."""
    try:
        return lazy_zeros((mib << 20) // 8)
    except (OSError, MemoryError, ValueError) as error:
        raise UserError(f"table {mib}: there is not so much memory") from error


def full(far):
    """Return the share of the entries of a far table (uint64) that are used, 0 to 1, by a sample of them.

    In some places all over it: where it has grown in part, its buckets hold more or less.
    """
    entries = far[1::2]
    if len(entries) > _SAMPLE:
        size = _SAMPLE // _SAMPLES
        starts = np.linspace(0, len(entries) - size, _SAMPLES).astype(int)
        entries = np.concatenate([entries[start : start + size] for start in starts])
    return float(np.count_nonzero(entries)) / max(1, len(entries))


def set_buckets(control, first, buckets):
    """Have an engine (control: int64) use so many buckets of its far table, of which it had ``first`` at first.

    Linear hashing (Litwin 1980): a position's bucket is by the high half of its hash among the first ones, and by low
    bits of it in one of as many parts as there are. As the table grows, buckets are divided one after another, and the
    entries of all others stay where they are.
    """
    doublings = (buckets // first).bit_length() - 1 if first else 0
    control[FAR_FIRST], control[FAR_BUCKETS] = first, buckets
    control[FAR_MASK], control[FAR_HALF] = (2 << doublings) - 1, first << doublings


@compiled
def packed(control, low, high, move, left, cut_off):
    """Return an entry's data word; bounds beyond what it can hold become weaker, not wrong."""
    low, high = max(low, np.int64(LOWEST)), min(high, np.int64(HIGHEST))
    return (
        np.uint64(min(low, np.int64(HIGHEST)) - LOWEST)
        | np.uint64(max(high, np.int64(LOWEST)) - LOWEST) << np.uint64(16)
        | np.uint64(move - NO_MOVE) << np.uint64(32)
        | np.uint64(cut_off) << _CUT_OFF
        | np.uint64(min(left, MOST_LEFT)) << np.uint64(48)
        | np.uint64(control[GENERATION]) << np.uint64(56)
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
def left_of(data):
    return np.int64(data >> np.uint64(48) & np.uint64(0xFF))


@compiled
def is_cut_off(data):
    return np.int64(data >> _CUT_OFF & np.uint64(1))


@compiled
def near_place(control, h):
    """Return where in the near table an entry of hash h may be; unsigned, since numba checks signed ones."""
    return (h & np.uint64(control[NEAR_MASK])) << np.uint64(1)


@compiled
def far_place(control, h):
    """Return where the bucket of hash h begins in the far table."""
    first = control[FAR_FIRST]
    i = np.int64((h >> np.uint64(32)) * np.uint64(first) >> np.uint64(32))
    i += first * np.int64(h & np.uint64(control[FAR_MASK]))
    if i >= control[FAR_BUCKETS]:  # that bucket is not there yet
        i -= control[FAR_HALF]
    return i << 3


@compiled
def forget_near(control):
    """Forget the near table's entries."""
    near = uint64s(control[NEAR])
    for i in range(2 * (control[NEAR_MASK] + 1)):
        near[i] = 0


@compiled
def look_near(control, h):
    """Return the data of hash h in the near table, or 0."""
    near = uint64s(control[NEAR])
    i = near_place(control, h)
    data = near[i + np.uint64(1)]
    return data if near[i] ^ data == h else np.uint64(0)


@compiled
def look_far(control, h):
    """Return the data of hash h in the far table, or 0."""
    far = uint64s(control[FAR])
    i = far_place(control, h)
    for k in range(i, i + 2 * BUCKET, 2):
        data = far[k + 1]
        if far[k] ^ data == h:
            return data
    return np.uint64(0)


@compiled
def look(control, h):
    """Return the data of hash h in either table, or 0."""
    data = look_near(control, h)
    return look_far(control, h) if data == 0 and control[FAR_BUCKETS] > 0 else data


@compiled
def expect_near(control, h):
    """Have the near table's line for hash h fetched."""
    prefetch(control[NEAR] + np.int64(8 * near_place(control, h)))


@compiled
def expect_far(control, h):
    """Have the far table's line for hash h fetched: a miss takes as long as a node."""
    prefetch(control[FAR] + 8 * far_place(control, h))


@compiled
def keep(control, h, data, left):
    """Write an entry to the near table and, if it took work, to the far one over the least worthy of its bucket."""
    near = uint64s(control[NEAR])
    i = near_place(control, h)
    other = near[i + np.uint64(1)]
    control[REPLACED] += other != 0 and near[i] ^ other != h
    near[i] = h ^ data
    near[i + np.uint64(1)] = data
    if left >= control[FAR_LEFT]:
        far = uint64s(control[FAR])
        i = far_place(control, h)
        chosen, least = i, np.uint64(1 << 63)
        generation = data >> np.uint64(56)
        for k in range(i, i + 2 * BUCKET, 2):
            old = far[k + 1]
            if far[k] ^ old == h:
                chosen = k
                break
            # an older request's entry goes first, then the one with the least moves left
            worth = old >> np.uint64(48) & np.uint64(0xFF)
            worth += np.uint64(256) if old >> np.uint64(56) == generation else np.uint64(0)
            if worth < least:
                chosen, least = k, worth
        old = far[chosen + 1]
        replaced = old != 0 and far[chosen] ^ old != h
        control[REPLACED] += replaced
        control[FAR_LOST] += replaced and old >> np.uint64(56) == generation
        far[chosen] = h ^ data
        far[chosen + 1] = data
