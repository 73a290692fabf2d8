"""Othello's last moves on boards of one word: exact scores of up to five empty squares, and discs that stay.

Masks are uint64, squares, scores and counts of nodes int64; scores are the side to move's and, from two squares on,
fail-soft at ``beta``: at least it, or below it, as the true score is. A *region* is a quarter of the board; the
side that moves last in a region gains, so regions with an odd number of empty squares are played in first (parity).
"""

import numpy as np

from ..core.jit import compiled
from . import lanes
from .othello import ABOVE, BELOW, BOARD, EMPTIES_TO_WINNER, ENDS, REGIONS, SPREADS, SQUARES, STEPS, reach, turned

_ONE = np.uint64(1)
_NO_MOVE = np.int64(-1000)  # instead of a score: no square can be played on
_NONE = np.int64(-1)  # instead of a move with the replies that it leaves


@compiled
def flips(own, opp, square, r):
    """Return the discs that own turns by a disc on an empty ``square``."""
    return turned((own,), (opp,), square, r)[0]


@compiled
def margin(own, opp, left, r):
    """Return the score of a finished game with ``left`` empty squares."""
    ahead = lanes.popcount(own) - lanes.popcount(opp)
    rest = left * np.int64(r[EMPTIES_TO_WINNER])
    return ahead + rest if ahead > 0 else ahead - rest if ahead < 0 else ahead


@compiled
def last_one(own, opp, a, r):
    """Return (score, nodes) with the empty square a left."""
    mine = lanes.popcount(flips(own, opp, a, r))
    ahead = lanes.popcount(own) - lanes.popcount(opp)
    if mine > 0:
        return ahead + 2 * mine + 1, np.int64(1)
    theirs = lanes.popcount(flips(opp, own, a, r))
    if theirs > 0:
        return ahead - 2 * theirs - 1, np.int64(2)
    return margin(own, opp, np.int64(1), r), np.int64(0)


@compiled
def last_two(own, opp, a, b, beta, r):
    """Return (score, nodes) of own's moves with two empty squares left; −_WON if it has none."""
    best, nodes = _NO_MOVE, np.int64(0)
    discs = flips(own, opp, a, r)
    if discs:
        value, more = last_one(opp & ~discs, own | discs | _ONE << np.uint64(a), b, r)
        best, nodes = -value, more + 1
        if best >= beta:
            return best, nodes
    discs = flips(own, opp, b, r)
    if discs:
        value, more = last_one(opp & ~discs, own | discs | _ONE << np.uint64(b), a, r)
        best, nodes = max(best, -value), nodes + more + 1
    return best, nodes


@compiled
def two(own, opp, a, b, beta, r):
    """Return (score, nodes) with two empty squares left."""
    best, nodes = last_two(own, opp, a, b, beta, r)
    if best > _NO_MOVE:
        return best, nodes
    best, nodes = last_two(opp, own, a, b, 1 - beta, r)
    if best > _NO_MOVE:
        return -best, nodes + 1
    return margin(own, opp, np.int64(2), r), np.int64(0)


@compiled
def last_three(own, opp, a, b, c, beta, r):
    """As ``last_two`` with three empty squares."""
    best, nodes = _NO_MOVE, np.int64(0)
    for i in range(3):
        discs = flips(own, opp, a, r)
        if discs:
            value, more = two(opp & ~discs, own | discs | _ONE << np.uint64(a), b, c, 1 - beta, r)
            best, nodes = max(best, -value), nodes + more + 1
            if best >= beta:
                break
        a, b, c = (b, a, c) if i == 0 else (c, b, a)
    return best, nodes


@compiled
def three(own, opp, a, b, c, beta, r):
    """Return (score, nodes) with three empty squares left."""
    best, nodes = last_three(own, opp, a, b, c, beta, r)
    if best > _NO_MOVE:
        return best, nodes
    best, nodes = last_three(opp, own, a, b, c, 1 - beta, r)
    if best > _NO_MOVE:
        return -best, nodes + 1
    return margin(own, opp, np.int64(3), r), np.int64(0)


@compiled
def last_four(own, opp, a, b, c, d, beta, r):
    """As ``last_two`` with four empty squares."""
    best, nodes = _NO_MOVE, np.int64(0)
    for i in range(4):
        discs = flips(own, opp, a, r)
        if discs:
            value, more = three(opp & ~discs, own | discs | _ONE << np.uint64(a), b, c, d, 1 - beta, r)
            best, nodes = max(best, -value), nodes + more + 1
            if best >= beta:
                break
        a, b, c, d = (b, a, c, d) if i == 0 else (c, b, a, d) if i == 1 else (d, b, c, a)
    return best, nodes


@compiled
def four(own, opp, a, b, c, d, beta, r):
    """Return (score, nodes) with four empty squares left."""
    best, nodes = last_four(own, opp, a, b, c, d, beta, r)
    if best > _NO_MOVE:
        return best, nodes
    best, nodes = last_four(opp, own, a, b, c, d, 1 - beta, r)
    if best > _NO_MOVE:
        return -best, nodes + 1
    return margin(own, opp, np.int64(4), r), np.int64(0)


@compiled
def odd_regions(empty, r):
    """Return the squares of the regions with an odd number of empty ones."""
    odd = np.uint64(0)
    for region in range(REGIONS, REGIONS + 16, 4):
        if lanes.popcount(empty & r[region]) & 1:
            odd |= r[region]
    return odd


@compiled
def next_square(first, rest):
    """Return a square of ``first``, or of ``rest`` if there is none, and both without it."""
    if first:
        return lanes.lowest(first), first & first - _ONE, rest
    return lanes.lowest(rest), first, rest & rest - _ONE


@compiled
def up_to_four(own, opp, left, beta, r):
    """Return (score, nodes) of a position with up to four empty squares, fail-soft at ``beta``."""
    empty = r[BOARD] & ~(own | opp)
    if left == 0:
        return margin(own, opp, left, r), np.int64(0)
    if left == 1:
        return last_one(own, opp, lanes.lowest(empty), r)
    if left == 2:
        a = lanes.lowest(empty)
        return two(own, opp, a, lanes.lowest(empty & empty - _ONE), beta, r)
    odd = odd_regions(empty, r)
    a, first, rest = next_square(empty & odd, empty & ~odd)
    b, first, rest = next_square(first, rest)
    c, first, rest = next_square(first, rest)
    if left == 3:
        return three(own, opp, a, b, c, beta, r)
    d, first, rest = next_square(first, rest)
    return four(own, opp, a, b, c, d, beta, r)


@compiled
def by_replies(own, opp, empty, r):
    """Return the moves of own with five empty squares, those first that leave few replies, then those of odd regions.

    Each is the square plus 64 times the most squares less the replies, ``_NONE`` in place of those that are missing.
    """
    a = b = c = d = e = _NONE
    odd = odd_regions(empty, r)
    first, rest = empty & odd, empty & ~odd
    for i in range(5):
        square, first, rest = next_square(first, rest)
        discs = flips(own, opp, square, r)
        if discs:
            bit = _ONE << np.uint64(square)
            replies = reach((opp & ~discs,), (own | discs | bit,), (empty ^ bit,), r)[0]
            m = (np.int64(64) - lanes.popcount(replies)) << 9 | np.int64(4 - i) << 6 | square
            a, m = max(a, m), min(a, m)
            b, m = max(b, m), min(b, m)
            c, m = max(c, m), min(c, m)
            d, e = max(d, m), min(d, m)
    return a, b, c, d, e


@compiled
def last_five(own, opp, empty, beta, r):
    """As ``last_two`` with five empty squares."""
    best, nodes = _NO_MOVE, np.int64(0)
    a, b, c, d, e = by_replies(own, opp, empty, r)
    while a != _NONE and best < beta:
        square = a & 63
        discs = flips(own, opp, square, r)
        value, more = up_to_four(opp & ~discs, own | discs | _ONE << np.uint64(square), np.int64(4), 1 - beta, r)
        best, nodes = max(best, -value), nodes + more + 1
        a, b, c, d, e = b, c, d, e, _NONE
    return best, nodes


@compiled
def five(own, opp, beta, r):
    """Return (score, nodes) with five empty squares left."""
    empty = r[BOARD] & ~(own | opp)
    best, nodes = last_five(own, opp, empty, beta, r)
    if best > _NO_MOVE:
        return best, nodes
    best, nodes = last_five(opp, own, empty, 1 - beta, r)
    if best > _NO_MOVE:
        return -best, nodes + 1
    return margin(own, opp, np.int64(5), r), np.int64(0)


@compiled
def most_score(own, opp, r):
    """Return a score that own cannot exceed, for opp's discs that stay."""
    return np.int64(r[SQUARES]) - 2 * lanes.popcount(stable_discs(opp, own, r))


@compiled
def last_moves(own, opp, left, beta, r):
    """Return (score, nodes) of a position with up to five empty squares, fail-soft at ``beta``."""
    if left < 5:
        return up_to_four(own, opp, left, beta, r)
    if beta > 2 * left:
        most = most_score(own, opp, r)
        if most < beta:
            return most, np.int64(0)
    return five(own, opp, beta, r)


@compiled
def _spread(near, squares, step, upwards):
    """Return squares, and those that lie one step from them, where ``near`` lets them."""
    return lanes.either(
        squares, lanes.both(near, lanes.axes_up(squares, step) if upwards else lanes.axes_down(squares, step))
    )


@compiled
def full_lines(filled, r):
    """Return for each axis (four lanes) the squares whose line on it has no empty square."""
    step = lanes.load(lanes.on_axes((filled,)), r, STEPS)
    below, above = lanes.load(step, r, BELOW), lanes.load(step, r, ABOVE)
    up = down = lanes.on_axes((r[BOARD] & ~filled,))
    # empty squares spread by 1, 2, 4 … squares; lines of up to eight squares without a loop, as in ``reach``
    up, down = _spread(below, up, step, True), _spread(above, down, step, False)
    below, above = lanes.both(below, lanes.axes_up(below, step)), lanes.both(above, lanes.axes_down(above, step))
    step = lanes.plus(step, step)
    up, down = _spread(below, up, step, True), _spread(above, down, step, False)
    below, above = lanes.both(below, lanes.axes_up(below, step)), lanes.both(above, lanes.axes_down(above, step))
    step = lanes.plus(step, step)
    up, down = _spread(below, up, step, True), _spread(above, down, step, False)
    if r[SPREADS] > 3:
        below, above = lanes.both(below, lanes.axes_up(below, step)), lanes.both(above, lanes.axes_down(above, step))
        step = lanes.plus(step, step)
        up, down = _spread(below, up, step, True), _spread(above, down, step, False)
    return lanes.without(lanes.on_axes((r[BOARD],)), lanes.either(up, down))


@compiled
def stable_discs(own, opp, r):
    """Return discs of own that no line of play can turn: many of them, not all.

    A disc stays if on each axis its line is full, or a neighbour stays, or the board ends there.
    """
    full = full_lines(own | opp, r)
    step = lanes.load(full, r, STEPS)
    below, above, ends = lanes.load(step, r, BELOW), lanes.load(step, r, ABOVE), lanes.load(step, r, ENDS)
    held = lanes.either(full, ends)
    stays = np.uint64(0)
    while True:
        four_times = lanes.on_axes((stays,))
        near = lanes.either(
            lanes.both(below, lanes.axes_up(four_times, step)), lanes.both(above, lanes.axes_down(four_times, step))
        )
        on = lanes.either(held, near)
        more = own & on[0] & on[1] & on[2] & on[3]
        if more == stays:
            return stays
        stays = more
