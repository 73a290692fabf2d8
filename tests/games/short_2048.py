"""2048 that ends when a tile is reached: small enough to be solved, and a game against chance outside the package.

The tile is where the rules array has the highest tile of the game.
"""

import numpy as np

from distsearch.core.jit import compiled
from distsearch.evaluation import Evaluation
from distsearch.games import g2048, sliding
from distsearch.games.g2048 import (  # noqa: F401, the game's interface
    BOARDS,
    ENDED_STAYS,
    PLAYERS,
    UNIT,
    final,
    key,
    largest,
    move_text,
    outcomes,
    parse,
    parse_move,
    play,
    start,
    text,
    words,
)
from distsearch.games.interface import END

NAME = "short2048"
OPTIONS = {"spawn": None, "last": None}


def rules(board=None, spawn=g2048.SPAWN, last=16):
    """The rules array of 2048, with the tile that ends the game."""
    r = g2048.rules(board, spawn).copy()
    r[sliding.MOST] = last
    return r


@compiled
def reached(s, r):
    """Whether it is the player's turn and the tile is there."""
    if sliding.due(s) > 0:
        return False
    for cell in range(sliding.CELLS):
        if r[sliding.VALUES + np.int64(g2048.code_at(s, np.int64(cell)))] >= r[sliding.MOST]:
            return True
    return False


@compiled
def kind(s, r):
    return np.int64(END) if reached(s, r) else np.int64(g2048.kind(s, r))


@compiled
def moves(s, r, out, at):
    return np.int64(0) if reached(s, r) else np.int64(g2048.moves(s, r, out, at))


@compiled
def moves_left(s, r):
    return np.int64(0) if reached(s, r) else np.int64(g2048.moves_left(s, r))


@compiled
def _cells(s, r, tables):
    return np.int64(s[0] & tables[0])


def cells(seen):
    """The evaluation that reads these bits of a board as a number."""
    return Evaluation("cells", _cells, np.array([seen], np.uint64), 1 << 20)
