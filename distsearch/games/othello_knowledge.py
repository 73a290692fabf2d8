"""What Othello knows beyond its rules."""

import numpy as np

from ..jit import compiled
from . import lanes
from .othello import (
    C_SQUARES,
    CORNERS,
    EDGES,
    INSIDE,
    PARTS,
    X_SQUARES,
    count,
    pass_or_end,
    reach,
    sides,
    write_squares,
)

_ORDER = (CORNERS, EDGES, INSIDE, C_SQUARES, X_SQUARES)


@compiled
def ordered_moves(s, r, out, at):
    """As ``moves``: corners first, then edges and the inside, the corners' neighbours last."""
    own, opp, empty = sides(s, r)
    squares = reach(own, opp, empty, r)
    n = 0
    for part in _ORDER:
        n += write_squares(lanes.both(squares, lanes.load(squares, r, PARTS + 4 * part)), out, at + n)
    return n if n > 0 else pass_or_end(own, opp, empty, r, out, at)


@compiled
def count_moves(s, r):
    """Number of legal moves, a pass counting 1, without writing them."""
    own, opp, empty = sides(s, r)
    n = count(reach(own, opp, empty, r))
    return n if n > 0 else np.int64(lanes.any_of(reach(opp, own, empty, r)) != 0)
