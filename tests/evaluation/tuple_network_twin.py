"""N-tuple networks once more, plainly: boards are arrays of codes, and a tuple's number is made digit by digit."""

import math

import numpy as np


def boards(board, symmetric):
    """Return a board of codes, and the seven that turning and mirroring make of it."""
    if not symmetric:
        return [board]
    turned = [np.rot90(board, k) for k in range(4)]
    return [*turned, *(each.T for each in turned)]


def indices(board, tuples, codes, symmetric=True):
    """Return which weights a board looks up, for each tuple those of its boards, as numbers within a stage.

    board: of codes, shape (rows, columns); tuples: of cells, numbered row by row.
    """
    found, first = [], 0
    for cells in tuples:
        for each in boards(board, symmetric):
            contents = each.ravel()[sorted(cells)].tolist()
            found.append(first + sum(code * codes**i for i, code in enumerate(contents)))
        first += codes ** len(cells)
    return found


def stage(board, begins):
    """Return the number of a board's stage; begins: codes of the largest tile with which later ones begin."""
    return sum(board.max() >= code for code in begins)


def weight(weights, at_stage, index):
    """Return a weight, which is that of the last stage before that has learnt it, if its own has not (NaN)."""
    while math.isnan(weights[at_stage, index]):
        at_stage -= 1
    return float(weights[at_stage, index])


def value(board, tuples, weights, codes, symmetric=True, begins=()):
    """Return what an afterstate is worth. weights: shape (stages, size)."""
    at_stage = stage(board, begins)
    return math.fsum(weight(weights, at_stage, index) for index in indices(board, tuples, codes, symmetric))
