"""States and moves of Othello that symmetry makes the same, on boards of every size."""

import numpy as np

from ..core.jit import compiled
from . import lanes
from .othello import COLUMNS, ROWS, SQUARES, WORDS


@compiled
def _image(square, turn, rows, columns):
    """Return the square that a symmetry of the board takes a square to.

    turn: 0 to 7; its bits reverse the rows, reverse the columns and, on square boards only, then exchange both.
    """
    i, j = square // columns, square % columns
    if turn & 1:
        i = rows - 1 - i
    if turn & 2:
        j = columns - 1 - j
    return j * columns + i if turn & 4 else i * columns + j


@compiled
def _disc(s, square, words):
    """Return 1 where the side to move has a disc, 2 where the other one has, and 0 for an empty square."""
    word, bit = square >> 6, np.uint64(square & 63)
    return (s[word] >> bit & np.uint64(1)) + 2 * (s[word + words] >> bit & np.uint64(1))


@compiled
def _stays(s, r, turn):
    """Whether a symmetry of the board leaves the position as it is."""
    rows, columns, words = np.int64(r[ROWS]), np.int64(r[COLUMNS]), np.int64(r[WORDS])
    for square in range(np.int64(r[SQUARES])):
        if _disc(s, square, words) != _disc(s, _image(square, turn, rows, columns), words):
            return False
    return True


@compiled
def _image_of_state(s, r, turn):
    """Return the state that a symmetry of the board makes of one."""
    rows, columns, words = np.int64(r[ROWS]), np.int64(r[COLUMNS]), np.int64(r[WORDS])
    own = opp = lanes.without(lanes.first_half(s), lanes.first_half(s))
    for square in range(np.int64(r[SQUARES])):
        disc = _disc(s, square, words)
        if disc == 1:
            own = lanes.with_bit(own, _image(square, turn, rows, columns))
        elif disc == 2:
            opp = lanes.with_bit(opp, _image(square, turn, rows, columns))
    return lanes.joined(own, opp)


@compiled
def smallest_image(s, r):
    """Return the state that is the first in the order of its words of all that are symmetric to one."""
    found = s
    for turn in range(1, 8 if r[ROWS] == r[COLUMNS] else 4):
        image = _image_of_state(s, r, turn)
        for word in range(len(s)):
            if image[word] != found[word]:
                if image[word] < found[word]:
                    found = image
                break
    return found


@compiled
def without_images(s, r, out, scores, at, n):
    """Remove moves that a symmetry of the position takes to an earlier one; return how many are left.

    out: int16, scores: int64; both have the n moves from ``at`` on, none of them a pass, and the others keep their
    order. Of the start's four moves one is left.
    """
    rows, columns = np.int64(r[ROWS]), np.int64(r[COLUMNS])
    for turn in range(1, 8 if rows == columns else 4):
        if not _stays(s, r, turn):
            continue
        end = at
        for i in range(at, at + n):
            image, is_first = _image(np.int64(out[i]), turn, rows, columns), True
            for j in range(at, end):
                is_first &= np.int64(out[j]) != image
            if is_first:
                out[end], scores[end] = out[i], scores[i]
                end += 1
        n = end - at
    return n
