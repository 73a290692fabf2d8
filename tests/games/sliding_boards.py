"""Boards of 2048 and 2584 by the thousand: random ones, and what the game makes of them."""

from typing import NamedTuple

import numpy as np

from distsearch.core import jit
from distsearch.games.interface import END

from .sliding_twin import MOVES

kind = moves = play = None  # bound for each game


class Moved(NamedTuple):
    """What every move makes of n boards: all arrays are by board and move, except ``ended``, which is by board."""

    cells: np.ndarray  # codes after the move, row by row, shape (n, 4, 16)
    points: np.ndarray
    legal: np.ndarray
    ended: np.ndarray


def random_codes(numbers, game, n):
    """Return the codes of n boards, shape (n, 16), drawn from a ``numpy.random.Generator``.

    They are empty, full and all between, of one kind of tile or many, of the smallest or the largest.
    """
    most = len(game.VALUES) - 1
    span = numbers.integers(1, most + 1, (n, 1))
    lowest = numbers.integers(1, most - span + 2)
    tiles = lowest + (numbers.random((n, 16)) * span).astype(np.int64)
    filled = numbers.random((n, 1)) * 1.4  # beyond 1 they are full
    return np.where(numbers.random((n, 16)) < filled, tiles, 0)


def packed(game, codes):
    """Return the states of boards of codes, uint64, shape (n, 2), with no tile due."""
    bits, per_word = (4, 16) if game.NAME == "2048" else (5, 8)
    shifted = codes.astype(np.uint64) << (np.arange(16, dtype=np.uint64) % np.uint64(per_word) * np.uint64(bits))
    words = np.zeros((len(codes), 2), np.uint64)
    for cell in range(16):
        words[:, cell // per_word] |= shifted[:, cell]
    return words


def unpacked(game, states):
    """Return the codes of states: the last axis is of 16 cells instead of 2 words."""
    bits, per_word = (4, 16) if game.NAME == "2048" else (5, 8)
    cells = [states[..., cell // per_word] >> np.uint64(bits * (cell % per_word)) for cell in range(16)]
    return (np.stack(cells, axis=-1) & np.uint64((1 << bits) - 1)).astype(np.int64)


def every_move(states, r, out, after, points, legal, ended):
    for i in range(len(states)):
        s = states[i, 0], states[i, 1]
        ended[i] = kind(s, r) == END
        for j in range(moves(s, r, out, 0)):
            legal[i, out[j]] = True
        for m in range(4):
            child, points[i, m] = play(s, r, np.int64(m))
            after[i, m, 0], after[i, m, 1] = child


def moved(game, codes):
    """Return what the game's moves make of boards of codes, as a ``Moved``; legal or not, they are all played."""
    names = {name: getattr(game, name) for name in ("kind", "moves", "play")}
    kernel = jit.specialise(every_move, f"every_move_{game.NAME}", names)
    shape = len(codes), len(MOVES)
    after, points = np.zeros((*shape, 2), np.uint64), np.zeros(shape, np.int64)
    legal, ended = np.zeros(shape, np.bool_), np.zeros(len(codes), np.bool_)
    kernel(packed(game, codes), game.rules(), np.zeros(256, np.int16), after, points, legal, ended)
    assert (after[..., 1] >> np.uint64(62) == 1).all()  # after any move chance puts down one tile
    after[..., 1] &= np.uint64((1 << 62) - 1)
    return Moved(unpacked(game, after), points, legal, ended)
