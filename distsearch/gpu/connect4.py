"""Connect 4 for the GPU's solver: what ``solver`` has to know of a game, for many positions at a time."""

import numpy as np

from ..core.errors import UserError
from ..games import connect4
from ..games.connect4_knowledge import MIRRORED, winning_squares

NAME = "connect4"
SOURCE = "connect4_solver.cu"
MOST_MOVES = 16  # columns for which there is room in a frame
STATE, SCORE, FLAGS = 16, np.int8, 1  # in a kernel: bytes of a state, type of a score, bytes of a level's flags
LANES, BLOCKS = 8, 6  # of a search; that a multiprocessor is to hold
OFFLOADS = True

# Moves left from which on the solver uses its table and shares work; with so many more left there is room for twice as
# many groups below a position, and below one that is asked for.
TABLE, SHARE, NODE_GROUPS_DOUBLE, JOB_GROUPS_DOUBLE = 6, 16, 2, 1
OFFLOAD_LEFT = 22  # moves left of what is offloaded to a CPU, before it is known how long that takes one

_BITS = np.array([bin(i).count("1") for i in range(256)], np.uint8)
_ONE = np.uint64(1)


def defines(rules):
    """Return the macros that the source is compiled with; raises UserError for a board that it cannot do."""
    rows, columns = int(rules[connect4.ROWS]), int(rules[connect4.COLUMNS])
    if columns > MOST_MOVES:
        raise UserError(f"board {rows}x{columns}: a GPU solves connect4 on boards of at most {MOST_MOVES} columns")
    return {"ROWS": rows, "COLUMNS": columns}


def moves(rules):
    """Return how many moves a position has at most."""
    return int(rules[connect4.COLUMNS])


def left(states, rules):
    """Return the empty squares (int64) of states (uint64, shape (n, 2))."""
    stones = np.ascontiguousarray(states[:, 1]).view(np.uint8).reshape(-1, 8)
    return int(rules[connect4.SQUARES]) - _BITS[stones].sum(axis=1, dtype=np.int64)


def ended(states, rules):
    """Return which states (uint64, shape (n, 2)) are ends of games (bool)."""
    return _has_four(states[:, 1] ^ states[:, 0], rules) | (states[:, 1] == rules[connect4.BOARD])


def expanded(states, rules):
    """Return (children, there): uint64, shape (n, moves, 2), and bool, shape (n, moves), of states of shape (n, 2).

    There are none of a game that is over or won at once, and none that the other side would win at once.
    """
    own, stones = states[:, 0], states[:, 1]
    other, board = stones ^ own, rules[connect4.BOARD]
    wins = winning_squares.py_func(own, board & ~stones, rules) & (stones + rules[connect4.BOTTOM])
    going_on = (wins == 0) & ~_has_four(other, rules)
    columns = moves(rules)
    children = np.empty((len(states), columns, 2), np.uint64)
    there = np.empty((len(states), columns), bool)
    for c in range(columns):
        stone = (stones + rules[connect4.BOTTOM]) & rules[connect4.COLUMN_MASKS + c]
        after = stones | stone
        replies = winning_squares.py_func(other, board & ~after, rules) & (after + rules[connect4.BOTTOM])
        children[:, c, 0], children[:, c, 1] = other, after
        there[:, c] = going_on & (stone != 0) & (replies == 0)
    return children, there


def canonical(states, rules):
    """Return states (uint64, shape (n, 2)), early ones as their mirror image if that is the smaller number."""
    mirrored = np.stack([_mirrored(states[:, i], rules) for i in range(2)], axis=1)
    smaller = (mirrored[:, 1] < states[:, 1]) | (mirrored[:, 1] == states[:, 1]) & (mirrored[:, 0] < states[:, 0])
    smaller &= left(states, rules) >= int(rules[connect4.SQUARES]) - MIRRORED
    return np.where(smaller[:, None], mirrored, states)


def keys(states):
    """Return a number (uint64) for each of ``states``, another for another one."""
    return states[:, 0] + states[:, 1]


def _has_four(stones, rules):
    found = np.zeros(len(stones), bool)
    for distance in (_ONE, *rules[connect4.LINES : connect4.LINES + 3]):
        pairs = stones & stones >> distance
        found |= (pairs & pairs >> distance + distance) != 0
    return found


def _mirrored(masks, rules):
    height, found = rules[connect4.HEIGHT], np.zeros_like(masks)
    column = (_ONE << rules[connect4.ROWS]) - _ONE
    for _ in range(int(rules[connect4.COLUMNS])):
        found = found << height | masks & column
        masks = masks >> height
    return found
