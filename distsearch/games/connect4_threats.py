"""Connect 4's threats: squares that would complete four, moves that do not lose at once, and bounds by following up."""

import numpy as np

from ..core.jit import compiled
from .connect4 import BOARD, EVEN_ROWS, LINES, ODD_ROWS, ROWS, free, has_four

LATE = 20  # moves left from which on lines are blocked often enough for ``claimeven_bounds``

_ONE = np.uint64(1)


@compiled
def winning_squares(stones, empty, r):
    """Return the squares of ``empty`` that would complete four in a row of ``stones``."""
    found = stones << _ONE & stones << np.uint64(2) & stones << np.uint64(3)
    for distance in (r[LINES], r[LINES + 1], r[LINES + 2]):
        twice = distance + distance
        thrice = twice + distance
        up, down = stones << distance, stones >> distance
        pairs = up & stones << twice
        found |= pairs & (stones << thrice | down)
        pairs = down & stones >> twice
        found |= pairs & (stones >> thrice | up)
    return found & empty


@compiled
def non_losing_moves(s, threats, r):
    """Return the squares whose stones do not lose at once; ``threats`` complete four for the other side."""
    squares = free(s, r)
    forced = squares & threats
    if forced != 0:
        # two at once cannot both be met
        squares = forced if forced & forced - _ONE == 0 else np.uint64(0)
    return squares & ~(threats >> _ONE)


@compiled
def claimeven_bounds(s, r, beta, low, high):
    """Return (low, high) as far as what ``beta`` asks is answered by following up, or by lines that are all blocked.

    A side that answers every stone in the column where it fell (Allis's claimeven, 1988) is sure of the squares above,
    where all columns but the one to play in now have an even number of empty squares.
    """
    own, other = s[0], s[1] ^ s[0]
    empty = r[BOARD] & ~s[1]
    odd_columns = free(s, r) & r[EVEN_ROWS]
    none_odd, one_odd = odd_columns == 0, odd_columns & odd_columns - _ONE == 0
    if r[ROWS] & _ONE != 0:
        none_odd = one_odd = False
    if beta > 0:
        if not has_four(own | empty, r):
            high = np.int64(0)
        elif none_odd:
            # the other side follows up: it gets the even rows of what is left, this side the odd ones
            if not has_four(own | empty & r[ODD_ROWS], r):
                high = np.int64(0)
        elif (
            # this side takes the single odd square, then follows up
            one_odd
            and beta == 1
            and has_four(own | odd_columns | empty & r[EVEN_ROWS], r)
            and not has_four(other | empty & ~odd_columns & r[ODD_ROWS], r)
        ):
            low = np.int64(1)
    elif not has_four(other | empty, r):
        low = np.int64(0)
    elif none_odd:
        if beta == 0 and has_four(other | empty & r[EVEN_ROWS], r) and not has_four(own | empty & r[ODD_ROWS], r):
            high = np.int64(-1)
    elif one_odd and not has_four(other | empty & ~odd_columns & r[ODD_ROWS], r):
        low = np.int64(0)
    return low, high
