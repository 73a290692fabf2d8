"""Compiled writers of positions' texts, for millions of answers: what a game's ``text`` returns, as bytes.

A game of another package may have one in its own module, a compiled function ``write(s, side, r, out, at)``: it writes
the text of the position (ASCII, at most MOST_TEXT bytes) to the bytes ``out[at:]`` (uint8) and returns where it ends.
It returns −1 where ``text`` must be asked; ``out[at:]`` may then hold anything.
"""

from typing import Any

# pyright: reportCallIssue=false
import numpy as np

from ..core.jit import compiled
from ..games import connect4, lanes, othello
from ..games.connect4 import BOTTOM, COLUMN_MASKS, COLUMNS, has_four
from ..games.othello import SQUARES, WORDS

MOST_TEXT = 512  # bytes
_FEW_STEPS = 1000  # of the search for an order of play, which meets dead ends again
_ONE = np.uint64(1)
_DASH, _SPACE, _ONE_AS_TEXT, _A = b"- 1a"
_XO = tuple(b"XO")


@compiled
def unwritten(s, side, r, out, at):
    """Leave every position to ``text``: for a game without a compiled writer."""
    return -1


@compiled
def write_othello(s, side, r, out, at):
    """Write the board and the side to move."""
    n, squares = np.int64(r[WORDS]), np.int64(r[SQUARES])
    for q in range(squares):
        word, bit = q >> 6, np.uint64(q & 63)
        if s[word] >> bit & _ONE:
            out[at + q] = _XO[side]
        elif s[n + word] >> bit & _ONE:
            out[at + q] = _XO[1 - side]
        else:
            out[at + q] = _DASH
    out[at + squares] = _SPACE
    out[at + squares + 1] = _XO[side]
    return at + squares + 2


@compiled
def write_connect4(s, side, r, out, at):
    """Write the columns of the order of play that ``connect4.text`` finds, by the same search without its memory."""
    stones, last, other = s[1], s[1] ^ s[0], s[0]
    fours = has_four(last, r) or has_four(other, r)
    columns, end = np.int64(r[COLUMNS]), at + np.int64(lanes.popcount(stones))
    i, c = end - 1, np.int64(0)  # where the column of the stone that is taken back goes, and the column that is tried
    for _ in range(_FEW_STEPS):
        bit = np.uint64(0)
        while c < columns:
            column = stones & r[COLUMN_MASKS + np.uint64(c)]
            bit = column + (r[BOTTOM] & r[COLUMN_MASKS + np.uint64(c)]) >> _ONE & column  # the top stone
            if last & bit and not (fours and (has_four(last ^ bit, r) or has_four(other, r))):
                break
            c += 1
        if c < columns:
            out[i] = c
            stones, last, other = stones ^ bit, other, last ^ bit
            if stones == 0:
                break
            i, c = i - 1, np.int64(0)
        elif i == end - 1:
            return -1
        else:  # a dead end: the latest stone goes back, and the next column is tried
            i += 1
            c = np.int64(out[i])
            taken = (stones + r[BOTTOM]) & r[COLUMN_MASKS + np.uint64(c)]
            stones, last, other = stones | taken, other | taken, last
            c += 1
    if stones != 0 or i != at:
        return -1
    for k in range(at, end):
        column = np.int64(out[k])
        out[k] = _ONE_AS_TEXT + column if column < 9 else _A + column - 9
    return end


_OWN = {connect4: write_connect4, othello: write_othello}


def writer_of(game: Any) -> Any:
    """Return the compiled writer of a game's positions."""
    return _OWN.get(game) or getattr(game, "write", unwritten)
