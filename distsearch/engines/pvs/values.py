"""Exact values (float64) in the shared table, see ``table``.

A value fills a word, so what tells whose it is shares the other one with what tells how much it is worth. An entry is
two uint64: a head, and the value's bits.

======  =====================================================
bits    of the head
======  =====================================================
0–55    the hash's, xor the upper 56 bits of the value's bits × ``_MIX``
56–58   age: the request that wrote it
59–63   plies left, up to 31; never 0 in an entry
======  =====================================================

The hash's upper 8 bits need not be kept: they follow from the bucket that an entry is in, of which there are more than
256. Words of two writers that race fit neither's hash, for the product spreads a value over all 56 bits (were it the
value itself, x and −x would differ in a bit that is not kept). A hash comes with the plies left, which belong to what
it is of. A value is a function of its hash, so two ranks that write the same entry write the same words.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import number_of, uint64s
from . import table as tt

AGES = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)
_KEPT = np.uint64((1 << 56) - 1)
_AGE = np.uint64(AGES - 1 << 56)
_LEFT, _MAX_DEPTH = np.uint64(59), 31
_BYTE = np.uint64(8)
_OF_THIS_AGE = np.uint64(32)  # more than an entry of another age can be worth


@compiled
def _wanted(h, depth_left):
    """Return the head of an entry as it would be with age 0 and the value 0.0."""
    return h & _KEPT | np.uint64(min(depth_left, _MAX_DEPTH)) << _LEFT


@compiled
def _fits(head, data, wanted):
    return (head ^ data * _MIX >> _BYTE) & ~_AGE == wanted


@compiled
def probe(t, h, depth_left):
    """Return (whether the shared table has the value of hash h, the value)."""
    shared, wanted = uint64s(t.shared), _wanted(h, depth_left)
    i = tt.bucket_place(t, h)
    for k in range(i, i + 2 * tt.BUCKET, 2):
        data = shared[k + 1]
        if _fits(shared[k], data, wanted):
            return True, number_of(np.int64(data))
    return False, 0.0


@compiled
def store(t, h, depth_left, data):
    """Write the bits of a value (uint64) to the shared table over the least worthy entry of its bucket."""
    shared, wanted = uint64s(t.shared), _wanted(h, depth_left)
    i = tt.bucket_place(t, h)
    chosen, least, age = i, np.uint64(1 << 63), np.uint64(t.generation)
    for k in range(i, i + 2 * tt.BUCKET, 2):
        head = shared[k]
        if _fits(head, shared[k + 1], wanted):
            chosen, least = k, np.uint64(0)
            break
        # an older request's entry goes first, then the one with the fewest plies left
        worth = head >> _LEFT
        worth += _OF_THIS_AGE if worth > 0 and (head & _AGE) >> np.uint64(56) == age else np.uint64(0)
        if worth < least:
            chosen, least = k, worth
    t.replaced += least != 0
    shared[chosen] = wanted ^ data * _MIX >> _BYTE | age << np.uint64(56)
    shared[chosen + 1] = data
