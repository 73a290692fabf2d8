"""Perft: known counts, the plain count by the game's own functions, and pausing."""

import functools

import pytest

from distsearch.engines.perft import MAX_DEPTH, Perft
from distsearch.games import connect4, othello
from distsearch.games.interface import Position
from distsearch.testing import contract

from ..games import tictactoe
from .positions import NO_PAUSE, board_id, rules, state_of, unfinished_states

OTHELLO = {
    (6, 6): [1, 4, 12, 56, 244, 1364, 7604, 47740, 308716, 2114912, 14976792],
    (8, 8): [1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800],
}
CONNECT4 = [1, 7, 49, 343, 2401, 16807, 117649, 823536, 5673234, 39394572, 268031646]
TICTACTOE = [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
BOARDS = [(4, 4), (6, 6), (8, 8), (9, 8), (16, 16)]


@functools.cache
def perft(board):
    """The engine for a board of Othello, or for tic-tac-toe if None."""
    return Perft(othello, rules(board)) if board else Perft(tictactoe, tictactoe.rules())


@functools.cache
def perft_connect4(board):
    """The engine for a board of Connect 4, and its rules array."""
    r = connect4.rules(board)
    return Perft(connect4, r), r


def counted(engine, state, depth, budget=NO_PAUSE):
    """The counts at plies 0 to depth, by slices of ``budget`` leaves."""
    engine.begin(state, depth)
    while not engine.advance(budget):
        pass
    return engine.counts[: depth + 1].tolist()


@pytest.mark.parametrize(("board", "sampled", "most"), [((6, 6), 10, 10), ((8, 8), 9, 11)], ids=["6x6", "8x8"])
def test_counts_of_othello_are_the_known_ones(board, sampled, most, full):
    depth = most if full else sampled
    assert counted(perft(board), othello.start(rules(board)).state, depth) == OTHELLO[board][: depth + 1]


@pytest.mark.parametrize("budget", [1000, NO_PAUSE])
def test_counts_of_connect4_are_the_known_ones(budget, full):
    (engine, r), depth = perft_connect4((6, 7)), 10 if full else 8
    assert counted(engine, connect4.start(r).state, depth, budget) == CONNECT4[: depth + 1]


@pytest.mark.parametrize("board", [(4, 4), (5, 4), (1, 9), (1, 32), (63, 1)], ids=board_id)
def test_counts_of_connect4_are_the_plain_ones(board):
    engine, r = perft_connect4(board)
    expected = [1, *contract.game_perft(connect4, r, connect4.start(r), 4)]
    assert counted(engine, connect4.start(r).state, 4) == expected


def test_counts_of_tictactoe_are_the_known_ones():
    empty = tictactoe.start(None).state
    for depth in range(10):
        assert counted(perft(None), empty, depth) == TICTACTOE[: depth + 1]
    assert counted(perft(None), empty, 12) == [*TICTACTOE, 0, 0, 0]


@pytest.mark.parametrize("board", BOARDS, ids=board_id)
@pytest.mark.parametrize("stage", ["any", "late"])
def test_counts_are_the_plain_ones(board, stage, full, rng):
    most_empties, plies = (6, 8) if stage == "late" else (None, 3)
    for state in unfinished_states(rng, board, 20 if full else 2, most_empties):
        expected = [1, *contract.game_perft(othello, rules(board), Position(state), plies)]
        for depth in range(plies + 1):
            assert counted(perft(board), state, depth) == expected[: depth + 1], state


@pytest.mark.parametrize(("board", "depth"), [((6, 6), 7), ((16, 16), 4), (None, 7)], ids=str)
@pytest.mark.parametrize("budget", [1, 7, 1000])
def test_pausing_changes_nothing(board, depth, budget):
    engine = perft(board)
    state = othello.start(rules(board)).state if board else tictactoe.start(None).state
    for plies in range(depth + 1):
        assert counted(engine, state, plies, budget) == counted(engine, state, plies)


def test_a_slice_keeps_to_its_budget():
    engine = perft((6, 6))
    engine.begin(othello.start(rules((6, 6))).state, 8)
    slices, done = 0, False
    while not done:
        before = engine.nodes
        done = engine.advance(500)
        slices += 1
        # the last position of a slice may have three plies below it
        assert engine.nodes - before < 500 + 15**3
        assert done or engine.nodes - before >= 500
    assert slices > 50


def test_an_unfinished_count_leaves_nothing_behind():
    engine, state = perft((6, 6)), othello.start(rules((6, 6))).state
    engine.begin(state, 9)
    assert not engine.advance(100)
    assert counted(engine, state, 6) == OTHELLO[6, 6][:7]


def test_a_finished_game_counts_once_at_every_deeper_ply_if_it_stays():
    finished = state_of((4, 4), ([["X"] * 4] * 4, "O"))
    assert counted(perft((4, 4)), finished, MAX_DEPTH) == [1] * (MAX_DEPTH + 1)
    won = tictactoe.parse("XXXOO---- O", None).state
    assert counted(perft(None), won, 5) == [1, 0, 0, 0, 0, 0]


def test_counting_goes_on_to_the_greatest_depth(rng):
    for state in unfinished_states(rng, (4, 4), 3, most_empties=4):
        counts = counted(perft((4, 4)), state, MAX_DEPTH)
        assert len(set(counts[10:])) == 1  # four moves and a pass before each, then all games are over
