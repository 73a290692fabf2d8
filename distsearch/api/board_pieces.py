"""How ranks share the evaluation of one Othello board.

Each of ``PIECES`` is a class with, for ``ranks`` ranks: first, arrays of the bytes that each rank is sent, before a
board is in them; counts: how many numbers a rank finds; put(parts, state): puts a state into these arrays; count(part,
out): counts on the rank's own; total(found): the evaluation, for the side to move, of an array of what all have found.
"""

import numpy as np

from ..evaluation.othello import COUNTS, counts, of_counts, static, static_tables
from ..games.interface import board_size
from ..games.othello import SQUARES
from .board_kernels import add_weighed, unpacked

_CORNERS = 4


class Counted:
    """Evaluation ``complex``: a rank is sent the whole board and its squares' numbers, and counts on these."""

    counts = COUNTS

    def __init__(self, rules, words, ranks, rank):
        self._rules, self._state = rules, 8 * words
        squares = np.array_split(np.arange(int(rules[SQUARES]), dtype=np.uint8), ranks)
        self.first = [np.concatenate([np.zeros(self._state, np.uint8), each]) for each in squares]
        self._mask = np.zeros(words, np.uint64)
        self._board = np.zeros(words, np.uint64)

    def put(self, parts, state):
        content = np.array(state, np.uint64).view(np.uint8)
        for part in parts:
            part[: self._state] = content

    def count(self, part, out):
        self._board.view(np.uint8)[:] = part[: self._state]  # copied, for pieces need not begin at whole words
        counts(tuple(self._board), self._rules, part[self._state :], self._mask, out)

    def total(self, found):
        return int(of_counts(*found.sum(axis=0).tolist()))


class Weighed:
    """Evaluation ``static``: a rank is sent its piece of a board, 1 for a disc of the side to move, 255 for another's.

    Every rank has the weights of all squares, one set for each set of corners that have discs, and is sent which; it
    multiplies square by square, and adds. Pieces are as long as one another, the first by a square longer.
    """

    counts = 1

    def __init__(self, rules, words, ranks, rank):
        squares = int(rules[SQUARES])
        self._corners, self._weights = _corners(rules), _weights(rules)
        pieces = np.array_split(np.arange(squares), ranks)
        self.first = [np.zeros(1 + len(each), np.uint8) for each in pieces]
        self._begins = np.cumsum([0, *map(len, pieces)]).tolist()
        self._begin = self._begins[rank]
        self._board = np.zeros(squares, np.uint8)

    def put(self, parts, state):
        corners = unpacked(np.array(state, np.uint64), self._corners, self._board)
        for part, begin, end in zip(parts, self._begins, self._begins[1:], strict=False):
            part[0] = corners
            part[1:] = self._board[begin:end]

    def count(self, part, out):
        add_weighed(part, self._weights, self._begin, out)

    def total(self, found):
        return int(found.sum())


def _corners(rules):
    rows, columns = board_size(rules)
    return np.array([0, columns - 1, (rows - 1) * columns, rows * columns - 1])


def _weights(rules):
    """Return the weights of all squares by what ``static`` says of one disc more, int64, a row for each set of corners.

    Bit i of a row's number: corner i has a disc.
    """
    squares, corners, tables = int(rules[SQUARES]), _corners(rules).tolist(), static_tables(rules)
    words = -(-squares // 64)

    def worth(discs):
        state = [discs >> 64 * i & 2**64 - 1 for i in range(words)] + words * [0]
        return int(static(tuple(map(np.uint64, state)), rules, tables))

    found = np.zeros((1 << _CORNERS, squares), np.int64)
    for row in range(1 << _CORNERS):
        taken = sum(1 << corner for i, corner in enumerate(corners) if row >> i & 1)
        for square in range(squares):
            before = 0 if square in corners else taken
            found[row, square] = worth(before | 1 << square) - worth(before)
    return found


PIECES = {"static": Weighed, "complex": Counted}
