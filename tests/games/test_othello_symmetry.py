"""Moves that symmetry makes the same: against boards turned as text, and scores that leaving them out leaves as is."""

import numpy as np
import pytest

from distsearch.games import othello, othello_knowledge
from distsearch.games.interface import as_state
from distsearch.games.othello_symmetry import smallest_image, without_images

from .othello_twin import OthelloTwin, random_game


def images(squares):
    """Of each way to turn and mirror: the board that it makes, and where it takes a square."""
    rows, columns = len(squares), len(squares[0])
    numbers = [[columns * i + j for j in range(columns)] for i in range(rows)]
    for swapped in (False, True) if rows == columns else (False,):
        for up, along in ((1, 1), (1, -1), (-1, 1), (-1, -1)):

            def turned(board, swapped=swapped, up=up, along=along):
                board = [list(row)[::along] for row in board[::up]]
                return [list(row) for row in zip(*board, strict=True)] if swapped else board

            there = [q for row in turned(numbers) for q in row]
            yield turned(squares), {q: at for at, q in enumerate(there)}


def orbits(squares, moves):
    """The moves in sets of those that are the same by symmetry."""
    symmetries = [goes for board, goes in images(squares) if board == [list(row) for row in squares]]
    return {frozenset(goes[m] for goes in symmetries) for m in moves}


def left_over(text, rules):
    """(moves that are legal, those that are left) of a position."""
    out, scores = np.zeros(256, np.int16), np.zeros(256, np.int64)
    s = as_state(othello.parse(text, rules).state)
    n = othello_knowledge.ordered_moves_slow(s, rules, out, scores, 0)
    every = out[:n].tolist()
    left = without_images(s, rules, out, scores, 0, n)
    return every, out[:left].tolist()


@pytest.mark.parametrize("board", [(4, 4), (6, 6), (8, 8), (6, 8), (10, 10)])
def test_one_of_each_set_of_moves_that_are_the_same_is_left(board, rng):
    rules = othello.rules(board)
    fewer = 0
    for _ in range(10):
        for squares, side in random_game(rng, OthelloTwin(*board))[:6]:
            every, left = left_over("".join(map("".join, squares)) + " " + side, rules)
            if len(every) > 1:
                sets = orbits(squares, every)
                assert len(left) == len(sets)
                assert all(len(sets_of.intersection(left)) == 1 for sets_of in sets)
                assert left == [m for m in every if m in left]  # in their order
                fewer += len(left) < len(every)
    assert fewer >= 10  # at every game's start


def test_the_solver_looks_at_one_first_move():
    rules = othello.rules((6, 6))
    out, scores = np.zeros(256, np.int16), np.zeros(256, np.int64)
    s = as_state(othello.start(rules).state)
    assert othello_knowledge.solver_moves(s, rules, np.int64(32), np.uint64(0), out, scores, 0) == 1


@pytest.mark.parametrize("board", [(4, 4), (8, 8), (4, 6), (6, 4), (10, 10)])
def test_images_have_one_state_in_common(board, rng):
    rules = othello.rules(board)
    for squares, side in random_game(rng, OthelloTwin(*board))[::5]:
        states = []
        for image, _ in images([list(row) for row in squares]):
            text = "".join(map("".join, image)) + " " + side
            states.append(tuple(map(int, othello.parse(text, rules).state)))
        found = {tuple(map(int, smallest_image(as_state(state), rules))) for state in states}
        assert found == {min(states)}
