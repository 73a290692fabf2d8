"""The kernels of ``api.board_pieces``."""

import numpy as np

from ..core.jit import compiled


@compiled
def unpacked(state, corners, board):
    """Write to board (uint8) the squares of a state (uint64): 1 a disc of the side to move, 255 another's, 0 none.

    corners: int64, their squares. Returns which of them have a disc, a bit each.
    """
    half = len(state) // 2
    for square in range(len(board)):
        word, bit = square >> 6, np.uint64(square & 63)
        mine, theirs = state[word] >> bit & np.uint64(1), state[half + word] >> bit & np.uint64(1)
        board[square] = np.uint8(mine) if mine else np.uint8(255 * theirs)
    taken = 0
    for i in range(len(corners)):
        taken |= (board[corners[i]] != 0) << i
    return taken


@compiled
def add_weighed(part, weights, begin, out):
    """Write to out[0] (int64) the sum of a piece's discs by their weights; its squares are numbered from ``begin`` on.

    part: uint8, the number of the row of weights, then the discs as ``unpacked`` writes them; weights: int64, shape
    (16, squares).
    """
    total, row = 0, np.int64(part[0])
    for i in range(1, len(part)):
        disc = np.int64(part[i])
        total += (disc - 256 if disc > 1 else disc) * weights[row, begin + i - 1]
    out[0] = total
