"""Where turning and mirroring a (side, side) board take patterns: tuples of squares, numbered row by row."""

import functools

import numpy as np

CODES = 3  # of a square: empty, of the side to move, of the other one
_QUARTER_TURNS = (0, 3, 5, 6)  # among ``images``; the others are mirrored


def embedded(tuples, side, around):
    """Return tuples of squares of a (side, side) board as squares of the (around, around) board that it is amid."""
    margin = (around - side) // 2
    return tuple(tuple(around * (cell // side + margin) + cell % side + margin for cell in cells) for cells in tuples)


def images(cells, side):
    """Return the eight images of a pattern: of each, where its cells are found, in order."""
    found = []
    for cell_of in (lambda i, j: (i, j), lambda i, j: (j, i)):
        for rows in (1, -1):
            for columns in (1, -1):
                placed = (cell_of(*divmod(cell, side)) for cell in cells)
                placed = ((i if rows > 0 else side - 1 - i, j if columns > 0 else side - 1 - j) for i, j in placed)
                found.append(tuple(side * i + j for i, j in placed))
    return found


@functools.cache
def mirrorings(cells, side):
    """Return how a pattern's contents change where turning or mirroring the board leaves it in its place.

    An array of the number of its contents afterwards for each (int32), the first one as they are.
    """
    digits = np.arange(CODES ** len(cells))[:, None] // CODES ** np.arange(len(cells)) % CODES
    orders = [[cells.index(q) for q in image] for image in images(cells, side) if sorted(image) == list(cells)]
    return [(digits[:, order] @ CODES ** np.arange(len(cells))).astype(np.int32) for order in orders]


def kind_of(cells, side):
    """Return by how many images a pattern is looked up: the different ones, if quarter turns make them; else all 8."""
    still = [turn for turn, image in enumerate(images(cells, side)) if sorted(image) == list(cells)]
    turns = [turn for turn in still if turn in _QUARTER_TURNS]
    return {(2, 1): 4, (4, 2): 2}.get((len(still), len(turns)), 8)


def added_up(cells, side, weights):
    """Return a pattern's weights, shape (stages, n), as they are looked up: by ``kind_of`` images, not eight."""
    if kind_of(cells, side) == 8:
        return weights
    return sum(weights[:, order] for order in mirrorings(cells, side))
