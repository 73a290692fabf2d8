"""Othello's evaluations once more, by plain loops over lists: what the package's are checked against.

``squares`` is a list of rows, each a list of "X", "O" and "-"; values are for ``side``, "X" or "O".
"""

import json
from importlib import resources

from ..games.othello_twin import OTHER, OthelloTwin

AXES = [(0, 1), (1, 0), (1, 1), (1, -1)]


def discs(squares, side):
    return _count(squares, side) - _count(squares, OTHER[side])


def static(squares, side):
    value = 0
    for i, row in enumerate(squares):
        for j, disc in enumerate(row):
            if disc != "-":
                value += weight(squares, i, j) if disc == side else -weight(squares, i, j)
    return value


def weight(squares, i, j):
    """Points for a disc on (i, j): the corners' neighbours are bad, but only while their corner is empty."""
    bottom, right = len(squares) - 1, len(squares[0]) - 1
    corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)]
    if (i, j) in corners:
        return 30
    on_edge = i in (0, bottom) or j in (0, right)
    if any(squares[k][m] == "-" and max(abs(i - k), abs(j - m)) == 1 for k, m in corners):
        return -8 if on_edge else -15
    return 5 if on_edge else 1


def terms(squares, side):
    return [
        share(_count(squares, side), _count(squares, OTHER[side])),
        share(mobility(squares, side), mobility(squares, OTHER[side])),
        share(len(stable(squares, side)), len(stable(squares, OTHER[side]))),
    ]


def complex(squares, side):
    return weighted(terms(squares, side), (25, 35, 40))


def weighted(shares, weights):
    return int(sum(weight * each for weight, each in zip(weights, shares, strict=True)) / 100)


def staged(squares, side):
    """The weights of the stage: which of eight equal parts of the squares the discs have come to."""
    file = resources.files("distsearch.evaluation") / "fits" / "othello_8x8_staged.json"
    weights = {stage: row for stage, row, *_ in json.loads(file.read_text())["rows"]}
    played = _count(squares, side) + _count(squares, OTHER[side])
    stage = min(8 * played // (len(squares) * len(squares[0])), 7)
    return weighted(terms(squares, side), weights[stage])


def share(own, other):
    """100 · (own − other) / (own + other), without its fraction."""
    return int(100 * (own - other) / (own + other)) if own + other else 0


def mobility(squares, side):
    """Number of squares that ``side`` could play on."""
    twin = OthelloTwin(len(squares), len(squares[0]))
    return sum(twin.is_legal(squares, side, i, j) for i, j in twin.square.values())


def stable(squares, side):
    """The discs of ``side``, as a set of squares, that lie next to the edge or a stable one on all four axes."""
    on_board = {(i, j) for i in range(len(squares)) for j in range(len(squares[0]))}
    own = {(i, j) for i, j in on_board if squares[i][j] == side}
    found = set()
    while True:
        grown = {square for square in own if all(_is_safe(square, axis, on_board, found) for axis in AXES)}
        if grown == found:
            return found
        found = grown


def _is_safe(square, axis, on_board, found):
    i, j = square
    neighbours = [(i + axis[0], j + axis[1]), (i - axis[0], j - axis[1])]
    return any(neighbour not in on_board or neighbour in found for neighbour in neighbours)


def _count(squares, disc):
    return sum(row.count(disc) for row in squares)
