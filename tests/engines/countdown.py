"""A game with a single line of play: a number counts down, and the side that brings it to 0 wins.

A move is the number that it counts down from.
"""

import numpy as np

from distsearch.core.jit import compiled
from distsearch.games.interface import END, MAX, Position

from ..games.tictactoe import ENDED_STAYS, OPTIONS, PLAYERS, UNIT  # noqa: F401, part of the game

NAME = "countdown"
BOARDS = ((1, 1), (1, 1), (1, 1))
LONGEST = 200  # moves


@compiled
def kind(s, r):
    return MAX if s[0] > 0 else END


@compiled
def moves(s, r, out, at):
    out[at] = s[0]
    return 1 if s[0] > 0 else 0


@compiled
def play(s, r, m):
    return (s[0] - np.uint64(1),), 0


@compiled
def final(s, r):
    return -1


@compiled
def key(s, r):
    return s[0]


@compiled
def moves_left(s, r):
    return np.int64(s[0])


def rules(board=None):
    return np.zeros(1, np.uint64)


def words(r):
    return 1


def state(number):
    """The state in which ``number`` moves are left."""
    return (np.uint64(number),)


def start(r):
    return Position(state(LONGEST))
