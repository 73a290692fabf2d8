"""Positions of the first plies: how many there are, and what is below them."""

import numpy as np
import pytest

from distsearch.books.expansion import Expansion
from distsearch.games import connect4, othello
from distsearch.games.interface import END, as_state, legal_moves, step

from . import plain_connect4

# positions of 6×7 by ply, mirror images counted as two: what others have counted
DISTINCT = [1, 7, 49, 238, 1120, 4263]
STARTS = {"connect4": (connect4, (4, 4)), "othello": (othello, (4, 4))}


def test_each_mirrored_pair_of_a_small_board_is_there_once():
    rules = connect4.rules((4, 4))
    expansion = Expansion(connect4, rules)
    for states, expected in zip(expansion.levels(6), plain_connect4.levels(6), strict=True):
        keys = set(expansion.keys(states).tolist())
        assert len(keys) == len(states) == len(expected)
        texts = np.array([connect4.parse(moves, rules).state for moves in expected], np.uint64)
        assert set(expansion.keys(texts).tolist()) == keys


def test_mirror_images_make_up_the_positions_of_the_usual_board():
    rules = connect4.rules()
    counts = []
    for states in Expansion(connect4, rules).levels(5):
        images = {as_state(state) for state in states.tolist()}
        for own, stones in list(images):
            images.add(tuple(connect4_mirrored(mask) for mask in (own, stones)))
        counts.append(len(images))
    assert counts == DISTINCT


def connect4_mirrored(mask):
    columns = [int(mask) >> 7 * c & 127 for c in range(7)]
    return np.uint64(sum(column << 7 * c for c, column in enumerate(reversed(columns))))


@pytest.mark.parametrize("by_solver", [False, True])
@pytest.mark.parametrize("name", STARTS)
def test_children_are_what_the_rules_make(name, by_solver, rng):
    game, board = STARTS[name]
    rules = game.rules(board)
    expansion, positions = Expansion(game, rules, by_solver), [game.start(rules)]
    while len(positions) < 300:  # more than are expanded at once
        position = game.start(rules)
        while moves := legal_moves(game, position, rules):
            positions.append(position)
            position = step(game, position, rules, rng.choice(moves))
    below = expansion.children(np.array([position.state for position in positions], np.uint64))
    assert (np.diff(below.parents) >= 0).all()
    for i, position in enumerate(positions):
        here = below.parents == i
        assert sorted(below.moves[here].tolist()) == sorted(legal_moves(game, position, rules))
        for at in np.flatnonzero(here):
            child = step(game, position, rules, int(below.moves[at])).state
            assert expansion.keys(np.array([child], np.uint64))[0] == below.keys[at]
            assert below.over[at] == (game.kind(child, rules) == END)
            assert below.scores[at] == (game.final(child, rules) if below.over[at] else 0)


def test_the_middle_of_connect4_comes_first():
    rules = connect4.rules()
    start = np.array([connect4.start(rules).state], np.uint64)
    assert Expansion(connect4, rules, by_solver=True).children(start).moves.tolist() == [3, 2, 4, 1, 5, 0, 6]
    assert Expansion(connect4, rules).children(start).moves.tolist() == [3, 2, 4, 1, 5, 0, 6]


def test_nothing_is_below_nothing():
    rules = connect4.rules()
    below = Expansion(connect4, rules).children(np.empty((0, 2), np.uint64))
    assert [len(part) for part in below] == [0] * 6


def test_eight_plies_have_as_many_quiet_positions_as_others_count():
    """Those of the published set: no side has won, and the next move is not forced."""
    expansion = Expansion(connect4, connect4.rules())
    *_, states = expansion.levels(8)
    assert len(states) == 91_295
    quiet = np.ones(len(states), np.bool_)
    for own in (states[:, 0], states[:, 0] ^ states[:, 1]):  # a win of either side, were it to move
        below = expansion.children(np.stack([own, states[:, 1]], axis=1))
        quiet[below.parents[below.over & (below.scores < 0)]] = False
    assert np.count_nonzero(quiet) == 67_557
