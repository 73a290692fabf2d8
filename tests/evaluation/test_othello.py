"""Othello's evaluations: against plain recomputation, and by the symmetries that they must have."""

import functools
import random

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.evaluation import othello as shared
from distsearch.games import othello

from ..games.othello_twin import OTHER, OthelloTwin, random_game, random_position
from . import othello_twin

SHAPES = [(4, 4), (5, 7), (8, 8), (16, 4), (9, 8), (12, 13), (16, 16)]
shapes = pytest.mark.parametrize("board", SHAPES, ids=lambda board: f"{board[0]}x{board[1]}")
evaluations = pytest.mark.parametrize(
    "name", [name for name in evaluation.names(othello) if not evaluation.learnt(othello, name)]
)


@pytest.fixture(scope="module")
def positions(seed, full):
    """A function from a shape to random positions (squares, side): half from games, half strewn."""

    def of(board):
        rng, twin, n = random.Random(seed), OthelloTwin(*board), 500 if full else 50
        played = []
        while len(played) < 4 * n:
            played += random_game(rng, twin)
        return rng.sample(played, n) + [random_position(rng, *board) for _ in range(n)]

    return {board: of(board) for board in SHAPES}


@functools.cache
def bound_to(name, board):
    """The Evaluation of that name, and the rules, for a board."""
    r = othello.rules(board)
    return evaluation.find(othello, name, r), r


def value(name, squares, side):
    """What the package's evaluation makes of a position on a list of rows."""
    evaluate, r = bound_to(name, (len(squares), len(squares[0])))
    at = othello.parse("".join(map("".join, squares)) + " " + side, r)
    return evaluate.function(at.state, r, evaluate.tables)


@shapes
@evaluations
def test_value_is_the_twins(board, name, positions):
    for squares, side in positions[board]:
        assert value(name, squares, side) == getattr(othello_twin, name)(squares, side), (squares, side)


@shapes
@evaluations
def test_swapping_the_sides_negates_the_value(board, name, positions):
    for squares, side in positions[board]:
        assert value(name, squares, OTHER[side]) == -value(name, squares, side), (squares, side)


@shapes
@evaluations
def test_reflections_keep_the_value(board, name, positions):
    for squares, side in positions[board]:
        expected = value(name, squares, side)
        upside_down, mirrored, transposed = (
            squares[::-1],
            [row[::-1] for row in squares],
            list(zip(*squares, strict=True)),
        )
        for reflected in (upside_down, mirrored, transposed):
            assert value(name, reflected, side) == expected, (squares, side)


@shapes
@evaluations
def test_no_unfinished_position_is_out_of_bounds(board, name, positions):
    # without a bound of its own an evaluation is on the scale of final scores
    bound = bound_to(name, board)[0].bound or board[0] * board[1]
    twin = OthelloTwin(*board)
    for squares, side in positions[board]:
        if twin.kind((squares, side)) != "end":
            assert abs(value(name, squares, side)) <= bound, (squares, side)


def test_a_corners_neighbours_are_bad_only_while_it_is_empty():
    empty = [list(row) for row in ("-X------", "-X------", *["--------"] * 6)]
    assert value("static", empty, "X") == -8 - 15
    taken = [list(row) for row in ("OX------", "-X------", *["--------"] * 6)]
    assert value("static", taken, "X") == -30 + 5 + 1


def test_stability_grows_from_a_corner():
    squares = [list(row) for row in ("XXX-----", "XX------", "X-------", *["--------"] * 4, "-------O")]
    assert othello_twin.stable(squares, "X") == {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)}
    # discs 6 : 1, neither side can move, stable discs 6 : 1, each a share of 71 in 100
    assert value("complex", squares, "X") == (25 * 71 + 40 * 71) // 100


@shapes
def test_counts_over_parts_of_the_board_add_up(board, positions, rng):
    evaluate, r = bound_to("complex", board)
    squares = list(range(board[0] * board[1]))
    mask, out = np.zeros(othello.words(r) // 2, np.uint64), np.zeros(shared.COUNTS, np.int64)
    for rows, side in positions[board][::5]:
        state = othello.parse("".join(map("".join, rows)) + " " + side, r).state
        rng.shuffle(squares)
        cuts = sorted(rng.sample(range(len(squares) + 1), 3))
        total = np.zeros(shared.COUNTS, np.int64)
        for begin, end in zip([0, *cuts], [*cuts, None], strict=True):
            shared.counts(state, r, np.array(squares[begin:end], np.uint8), mask, out)
            total += out
        assert shared.of_counts(*total.tolist()) == evaluate.function(state, r, evaluate.tables), (rows, side)
