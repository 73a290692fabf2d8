"""Nim: take any number of stones from one of four heaps; the player who takes the last stone wins.

A state is one word with eight bits a heap. A position's text is the heaps and the side to move, ``1,3,5,7 A``; a move's
is the heap, from a to d, and how many stones are taken: ``d7``.
"""

import numpy as np

from distsearch.core.errors import UserError
from distsearch.core.jit import compiled
from distsearch.games.interface import END, MAX, Position

NAME = "nim"
UNIT = "points"
OPTIONS = {}
BOARDS = ((4, 7), (4, 7), (4, 7))  # heaps, and stones in the largest one
PLAYERS = 2
ENDED_STAYS = False
START = (1, 3, 5, 7)


@compiled
def heap(s, i):
    return np.int64(s[0] >> np.uint64(8 * i) & np.uint64(255))


@compiled
def kind(s, r):
    return END if s[0] == 0 else MAX


@compiled
def moves(s, r, out, at):
    n = 0
    for i in range(4):
        for taken in range(1, heap(s, i) + 1):
            out[at + n] = 8 * i + taken
            n += 1
    return n


@compiled
def play(s, r, m):
    return (s[0] - (np.uint64(m & 7) << np.uint64(8 * (m >> 3))),), 0


@compiled
def final(s, r):
    return -1  # the other side has taken the last stone


@compiled
def key(s, r):
    return s[0] * np.uint64(0x9E3779B97F4A7C15)


@compiled
def moves_left(s, r):
    return heap(s, 0) + heap(s, 1) + heap(s, 2) + heap(s, 3)


def rules(board=None):
    return np.zeros(1, np.uint64)


def words(r):
    return 1


def start(r):
    return position(START, 0)


def position(heaps, side):
    """Return the Position with these heaps; side: 0 or 1."""
    return Position((np.uint64(sum(stones << 8 * i for i, stones in enumerate(heaps))),), side)


def text(position, r):
    heaps = ",".join(str(int(position.state[0]) >> 8 * i & 255) for i in range(4))
    return f"{heaps} {'AB'[position.side]}"


def parse(text, r):
    if text == "startpos":
        return start(r)
    heaps, _, side = text.partition(" ")
    heaps = heaps.split(",")
    if len(heaps) != 4 or side not in ("A", "B") or not all(stones in set("01234567") for stones in heaps):
        raise UserError(
            f"position {text[:20]!r} is neither startpos nor four heaps of 0 to 7 stones, a space, and A or B"
        )
    return position(map(int, heaps), "AB".index(side))


def move_text(m, r):
    return f"{'abcd'[m >> 3]}{m & 7}"


def parse_move(text, r):
    if len(text) != 2 or text[0] not in "abcd" or text[1] not in "1234567":
        raise UserError(f"move {text[:20]!r} is not a heap from a to d and a number of stones")
    return 8 * "abcd".index(text[0]) + int(text[1])
