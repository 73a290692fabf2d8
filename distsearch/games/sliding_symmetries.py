"""The eight boards that turning and mirroring make of one of 4×4 sliding tiles, for what looks at patterns on them."""

import numpy as np

from ..core.jit import compiled
from . import g2048, g2584
from .bits import byte_swap, pext

_2, _4, _5, _12, _15, _20, _32 = map(np.uint64, (2, 4, 5, 12, 15, 20, 32))
_LOW_BITS = np.uint64(0x3333333333333333)
_NIBBLE = np.uint64(0x0F0F0F0F0F0F0F0F)
_1ST, _2ND, _3RD, _4TH = (np.uint64(0x000F000F000F000F << 4 * i) for i in range(4))
_FIRST, _SECOND, _THIRD, _FOURTH = (np.uint64(0x1F | 0x1F << 20) << np.uint64(5 * i) for i in range(4))
_ROW = np.uint64(0xFFFFF)


@compiled
def _mirrored_2048(x):
    """Return the board with left and right exchanged."""
    return (x & _1ST) << _12 | (x & _2ND) << _4 | (x & _3RD) >> _4 | (x & _4TH) >> _12


@compiled
def _half_turned_2048(x):
    x = byte_swap(x)
    return (x & _NIBBLE) << _4 | x >> _4 & _NIBBLE


@compiled
def all_2048(s):
    """Return eight boards, each as its two words of cells; the first is the board itself."""
    none, x = np.uint64(0), s[0]
    t = g2048.transpose(x)
    m, n = _mirrored_2048(x), _mirrored_2048(t)
    return (
        (x, none),
        (m, none),
        (_half_turned_2048(x), none),
        (_half_turned_2048(m), none),
        (t, none),
        (n, none),
        (_half_turned_2048(t), none),
        (_half_turned_2048(n), none),
    )


# With a board's two halves side by side, see ``all_near_2048``, a row of either is a byte.


@compiled
def _exchanged(x, mask, distance):
    """Exchange the bits of ``mask`` with those ``distance`` above them."""
    change = (x ^ x >> distance) & mask
    return x ^ change ^ change << distance


@compiled
def _transposed_near(x):
    x = _exchanged(x, np.uint64(0x00CC00CC00CC00CC), np.uint64(6))  # within each square of four cells
    return _exchanged(x, np.uint64(0x0000F0F00000F0F0), _12)  # the squares


@compiled
def _mirrored_near(x):
    x = x >> _4 & _NIBBLE | (x & _NIBBLE) << _4
    return x >> _2 & _LOW_BITS | (x & _LOW_BITS) << _2


@compiled
def _upside_down_near(x):
    x = byte_swap(x)
    return x << _32 | x >> _32


@compiled
def all_near_2048(s):
    """Return the same with the two lower bits of all cells in the lower half of a word, those of the first the lowest.

    So contents of cells that are alike but for a small tile in place of another are near numbers.
    """
    none = np.uint64(0)
    x = pext(s[0], _LOW_BITS) | pext(s[0], ~_LOW_BITS) << _32
    t = _transposed_near(x)
    m, n = _mirrored_near(x), _mirrored_near(t)
    return (
        (x, none),
        (m, none),
        (_upside_down_near(m), none),
        (_upside_down_near(x), none),
        (t, none),
        (n, none),
        (_upside_down_near(n), none),
        (_upside_down_near(t), none),
    )


@compiled
def _mirrored_2584(x):
    return (x & _FIRST) << _15 | (x & _SECOND) << _5 | (x & _THIRD) >> _5 | (x & _FOURTH) >> _15


@compiled
def _rows_exchanged(x):
    return x >> _20 | (x & _ROW) << _20


@compiled
def _upside_down_2584(low, high):
    return _rows_exchanged(high), _rows_exchanged(low)


@compiled
def all_2584(s):
    """Return the same, of 2584."""
    low, high = s[0], s[1] & g2584.WORD
    turned_low, turned_high = g2584.transpose((low, high))
    m, n = _mirrored_2584(low), _mirrored_2584(high)
    p, q = _mirrored_2584(turned_low), _mirrored_2584(turned_high)
    return (
        (low, high),
        (m, n),
        _upside_down_2584(low, high),
        _upside_down_2584(m, n),
        (turned_low, turned_high),
        (p, q),
        _upside_down_2584(turned_low, turned_high),
        _upside_down_2584(p, q),
    )
