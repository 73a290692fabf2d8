"""Tic-tac-toe, the smallest complete game: an example of a game module outside the package.

A state is two masks of the nine squares, the stones of the side to move and then those of the other side. Square
``3 * row + column`` is the bit of that number. Only the other side can have three in a row: it has just moved.
"""

import numpy as np

from distsearch.core.errors import UserError
from distsearch.core.jit import compiled
from distsearch.games.interface import END, MAX, Position

NAME = "tictactoe"
UNIT = "points"
OPTIONS = {}
BOARDS = ((3, 3), (3, 3), (3, 3))
PLAYERS = 2
ENDED_STAYS = False

ONE = np.uint64(1)
FULL = np.uint64(0b111_111_111)
LINES = tuple(
    np.uint64(sum(1 << square for square in line))
    for line in ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
)


@compiled
def has_line(stones):
    for line in LINES:
        if stones & line == line:
            return True
    return False


@compiled
def kind(s, r):
    return END if has_line(s[1]) or s[0] | s[1] == FULL else MAX


@compiled
def moves(s, r, out, at):
    if has_line(s[1]):
        return 0
    n = 0
    for square in range(9):
        if (s[0] | s[1]) >> np.uint64(square) & ONE == 0:
            out[at + n] = square
            n += 1
    return n


@compiled
def play(s, r, m):
    return (s[1], s[0] | ONE << np.uint64(m)), 0


@compiled
def final(s, r):
    return -1 if has_line(s[1]) else 0


@compiled
def key(s, r):
    # an odd multiplication maps different numbers to different ones and spreads their bits upwards
    return (s[0] << np.uint64(9) | s[1]) * np.uint64(0x9E3779B97F4A7C15)


@compiled
def moves_left(s, r):
    left = 0
    for square in range(9):
        left += (s[0] | s[1]) >> np.uint64(square) & ONE == 0
    return left


def rules(board=None):
    """The rules array: nothing about the game can be chosen, so it holds nothing of interest."""
    return np.zeros(1, np.uint64)


def words(r):
    return 2


def start(r):
    return Position((np.uint64(0), np.uint64(0)), 0)


def text(position, r):
    """The squares as X, O and - from a1 to c3, a space, and the side to move."""
    own, other = position.state
    x, o = (own, other) if position.side == 0 else (other, own)
    squares = "".join("X" if x >> np.uint64(i) & ONE else "O" if o >> np.uint64(i) & ONE else "-" for i in range(9))
    return f"{squares} {'XO'[position.side]}"


def parse(text, r):
    if text == "startpos":
        return start(r)
    squares, _, side = text.partition(" ")
    if len(squares) != 9 or set(squares) - set("XO-") or side not in ("X", "O"):
        raise UserError(
            f"position {text[:20]!r} is neither startpos nor nine of X, O and -, a space, and X or O to move"
        )
    x, o = (np.uint64(sum(1 << i for i in range(9) if squares[i] == stone)) for stone in "XO")
    return Position((x, o), 0) if side == "X" else Position((o, x), 1)


def move_text(m, r):
    return f"{'abc'[m % 3]}{m // 3 + 1}"


def parse_move(text, r):
    names = [move_text(m, r) for m in range(9)]
    if text not in names:
        raise UserError(f"move {text[:20]!r} is not a square from a1 to c3")
    return names.index(text)
