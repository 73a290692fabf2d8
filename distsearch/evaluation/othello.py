"""Hand-made evaluations of Othello positions, for every board size.

Each is a function ``(s, r, tables) -> int64``, the value for the side to move, with ``tables`` the uint64 array that
the function of the same name ending in ``_tables`` makes from the rules. Swapping the sides negates the value.
"""

import json
from importlib import resources
from pathlib import Path

import numpy as np

from ..core.jit import compiled
from ..games import lanes
from ..games.interface import board_size
from ..games.othello import (
    BOARD,
    C_SQUARES,
    COLUMNS,
    CORNERS,
    EDGES,
    INNER,
    PARTS,
    SQUARES,
    STEPS,
    X_SQUARES,
    count,
    reach,
    sides,
)
from . import patterns
from .tuple_network import ENDING

# Points a disc for `static`, over the 1 that a disc on the inside is worth. The signs are the report's (corners good,
# their neighbours bad while the corner is empty, edges good); the sizes are ours.
_CORNER, _EDGE, _C, _X = 29, 4, -9, -16
_WEIGHTS = 0  # in the tables of `static`: the four weights above
_CORNER_SQUARES = 4  # the numbers of the corner squares
COUNTS = 6  # that `complex` is made of
STAGES = 8  # of `staged`, by the share of the squares that discs stand on
_MASKS = 8  # for each of the 16 sets of occupied corners: four masks for the four weights


def discs_tables(r):
    return np.zeros(1, np.uint64)


@compiled
def discs(s, r, tables):
    """Discs of the side to move minus the other's, as the board stands."""
    own, opp, _ = sides(s, r)
    return count(own) - count(opp)


def static_tables(r):
    rows, columns = board_size(r)
    n = -(-rows * columns // 64)
    squares = [0, columns - 1, (rows - 1) * columns, rows * columns - 1]
    tables = np.zeros(_MASKS + 16 * 4 * n, np.uint64)
    tables[:_MASKS] = np.array([_CORNER, _EDGE, _C, _X, *squares], np.int64).view(np.uint64)
    parts = [sum(int(r[PARTS + 4 * part + w]) << 64 * w for w in range(4)) for part in range(5)]
    for occupied in range(16):
        near = sum(
            1 << q
            for q in range(rows * columns)
            if any(
                not occupied >> i & 1 and max(abs(q // columns - c // columns), abs(q % columns - c % columns)) == 1
                for i, c in enumerate(squares)
            )
        )
        c_bad, x_bad = parts[C_SQUARES] & near, parts[X_SQUARES] & near
        masks = parts[CORNERS], parts[EDGES] | parts[C_SQUARES] & ~c_bad, c_bad, x_bad
        row = [mask >> (64 * w) & (2**64 - 1) for w in range(n) for mask in masks]
        tables[_MASKS + 4 * n * occupied : _MASKS + 4 * n * (occupied + 1)] = row
    return tables


@compiled
def _weight_lanes(word):
    return lanes.on_axes((word,))  # one lane for each of the four weights


@compiled
def static(s, r, tables):
    """Sum of square weights: corners and edges good, a corner's neighbours bad while the corner is empty."""
    own, opp = lanes.first_half(s), lanes.second_half(s)
    taken = lanes.either(own, opp)
    occupied = 0
    if lanes.any_of(lanes.both(taken, lanes.load(taken, r, PARTS + 4 * CORNERS))) != 0:
        for i in range(4):
            square = np.int64(tables[_CORNER_SQUARES + i])
            occupied |= np.int64(taken[square >> 6] >> np.uint64(square & 63) & np.uint64(1)) << i
    n = len(own)
    weights = lanes.load(_weight_lanes(own[0]), tables, _WEIGHTS)
    value = count(own) - count(opp)
    for w in range(n):
        masks = lanes.load(weights, tables, _MASKS + 4 * (n * occupied + w))
        mine = lanes.popcounts(lanes.both(masks, _weight_lanes(own[w])))
        theirs = lanes.popcounts(lanes.both(masks, _weight_lanes(opp[w])))
        value += np.int64(lanes.total(lanes.times(weights, lanes.minus(mine, theirs))))
    return value


def complex_tables(r):
    return discs_tables(r)


@compiled
def _share(own, opp):
    """100 · (own − opp) / (own + opp), rounded towards 0 so that swapping the sides negates it; 0 of nothing."""
    if own + opp == 0:
        return np.int64(0)
    part = 100 * abs(own - opp) // (own + opp)
    return part if own > opp else -part


@compiled
def stable(own, r):
    """Return the discs of ``own`` that can never be turned, as far as they follow from the corners (a mask).

    A disc is safe on an axis if one neighbour on it is off the board or is itself stable; it is stable if it is safe on
    all four. Repeated until nothing is added; discs that only full lines make stable are not found.
    """
    board = lanes.load(own, r, BOARD)
    inner = lanes.load(own, r, INNER)
    columns = np.int64(r[COLUMNS])
    side = lanes.without(board, inner)
    ends = lanes.without(board, lanes.both(lanes.shift_up(board, columns), lanes.shift_down(board, columns)))
    rim = lanes.either(side, ends)
    found = lanes.both(own, lanes.load(own, r, PARTS + 4 * CORNERS))
    grown = lanes.any_of(found) != 0
    while grown:
        safe = own
        for axis in range(4):
            step = np.int64(r[STEPS + len(own) * axis])
            # a shift may wrap round to the far column, whose squares are safe on these axes anyway
            near = lanes.either(lanes.shift_up(found, step), lanes.shift_down(found, step))
            edge = side if axis == 0 else ends if axis == 2 else rim
            safe = lanes.both(safe, lanes.either(near, edge))
        added = lanes.without(safe, found)
        found = lanes.either(found, added)
        grown = lanes.any_of(added) != 0
    return found


@compiled
def complex(s, r, tables):
    """Parity, mobility and stability, each a share of the two sides in [−100, 100], weighted 25 : 35 : 40."""
    own, opp, empty = sides(s, r)
    return of_counts(
        count(own),
        count(opp),
        count(reach(own, opp, empty, r)),
        count(reach(opp, own, empty, r)),
        count(stable(own, r)),
        count(stable(opp, r)),
    )


@compiled
def of_counts(own, opp, own_moves, opp_moves, own_stable, opp_stable):
    """The value of ``complex`` of what it counts: discs, moves and stable discs of the side to move and the other."""
    value = 25 * _share(own, opp) + 35 * _share(own_moves, opp_moves) + 40 * _share(own_stable, opp_stable)
    return value // 100 if value >= 0 else -(-value // 100)


def staged_tables(r):
    """Return the weights of each stage, three int64 a stage; see ``learning.complex_fit``, which makes their file."""
    weights, rows = np.zeros((STAGES, 3), np.int64), _staged()["rows"]
    for stage in range(STAGES):  # of what was not fitted, those of the nearest stage
        weights[stage] = min(rows, key=lambda row: abs(row[0] - stage))[1]
    return weights.ravel().view(np.uint64)


@compiled
def staged(s, r, tables):
    """The terms of ``complex`` by weights that were learnt for each stage of games on 8×8; 100 is a disc."""
    own, opp, empty = sides(s, r)
    mine, theirs = count(own), count(opp)
    at = 3 * min((mine + theirs) * STAGES // np.int64(r[SQUARES]), STAGES - 1)
    value = np.int64(tables[at]) * _share(mine, theirs)
    value += np.int64(tables[at + 1]) * _share(count(reach(own, opp, empty, r)), count(reach(opp, own, empty, r)))
    value += np.int64(tables[at + 2]) * _share(count(stable(own, r)), count(stable(opp, r)))
    return value // 100 if value >= 0 else -(-value // 100)


@compiled
def counts(s, r, squares, mask, out):
    """Write what ``of_counts`` takes to out (int64, COUNTS), as far as it stands on some squares (uint8 numbers).

    mask: room for the squares as bits (uint64, the words of a side). Counts of sets of squares without a common one
    add up.
    """
    own, opp, empty = sides(s, r)
    for w in range(len(own)):
        mask[w] = 0
    for i in range(len(squares)):
        square = np.int64(squares[i])
        mask[square >> 6] |= np.uint64(1) << np.uint64(square & 63)
    here = lanes.load(own, mask, 0)
    out[0], out[1] = count(lanes.both(own, here)), count(lanes.both(opp, here))
    out[2] = count(lanes.both(reach(own, opp, empty, r), here))
    out[3] = count(lanes.both(reach(opp, own, empty, r), here))
    out[4], out[5] = count(lanes.both(stable(own, r), here)), count(lanes.both(stable(opp, r), here))


def _most_static(r):
    return (max(_CORNER, _EDGE, -_C, -_X) + 1) * int(r[SQUARES])


def _most_staged():
    return max(sum(map(abs, weights)) for _, weights, *_ in _staged()["rows"]) + 1


def _staged():
    return json.loads((resources.files(__package__) / "fits" / "othello_8x8_staged.json").read_text())


# name → (function, its tables, its bound as ``Evaluation`` has it); `complex` first, for it alone is for every board:
# `staged`, which is stronger on 8×8, has weights that were learnt there
EVALUATIONS = {
    "complex": (complex, complex_tables, lambda r: 100),  # wins 77% against static at 6 plies
    "staged": (staged, staged_tables, lambda r: _most_staged()),
    "static": (static, static_tables, _most_static),
    "discs": (discs, discs_tables, lambda r: 0),
}

# what files of learnt weights are, and those that come with this package
UNITS = {"staged": 100}  # of values, where they are of discs
of_file = patterns.of_file
LEARNT = {patterns.NAME: lambda rules: _shipped(board_size(rules))}


def strongest(rules):
    """Return the name of the evaluation that plays best on a board."""
    return patterns.NAME if patterns.fits(rules) else "complex"


def for_order(rules):
    """Return what orders moves of exact searches, as ``of_file`` does; None for boards whose patterns order none."""
    preset = patterns.PRESETS.get(board_size(rules))
    return of_file(_shipped(board_size(rules)), rules) if preset and preset.ordering else None


def _shipped(board):
    """Return the name of the file of weights that come with this package for a board, (rows, columns)."""
    patterns.check_board(board)
    return str(Path(__file__).parent / "weights" / f"othello_{board[0]}x{board[1]}{ENDING}")
