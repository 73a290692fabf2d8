"""Compiled writers of positions say what each game's ``text`` says, or leave it to that."""

import numpy as np
import pytest

from distsearch.formats.answer_rows import PositionTexts
from distsearch.formats.position_writers import MOST_TEXT, writer_of
from distsearch.games import connect4, othello
from distsearch.games.interface import Position, as_state, legal_moves, step

from ..games import tictactoe

BOARDS = [(connect4, board) for board in (None, (4, 4), (5, 9), (1, 32), (3, 16), (63, 1))]
BOARDS += [(othello, board) for board in (None, (4, 4), (6, 8), (16, 16))]


def played(rng, game, r):
    """A position of a random game, perhaps its end."""
    position = game.start(r)
    for _ in range(rng.randrange(int(game.moves_left(position.state, r)) + 1)):
        moves = legal_moves(game, position, r)
        if not moves:
            break
        position = step(game, position, r, rng.choice(moves))
    return position


@pytest.mark.parametrize(("game", "board"), BOARDS, ids=lambda each: getattr(each, "NAME", str(each)))
def test_what_is_written_is_the_text(game, board, rng):
    r, out, left = game.rules(board), np.zeros(MOST_TEXT + 3, np.uint8), 0
    for _ in range(40):
        position = played(rng, game, r)
        end = writer_of(game)(position.state, position.side, r, out, 3)
        left += end < 0
        if end >= 0:
            assert out[3:end].tobytes().decode() == game.text(position, r)
    assert left < 30


@pytest.mark.parametrize("game", [connect4, othello, tictactoe], ids=lambda game: game.NAME)
def test_many_positions(game, rng):
    r = game.rules()
    positions = [game.start(r), *(played(rng, game, r) for _ in range(30))]
    states = np.array([position.state for position in positions], np.uint64)
    sides = np.array([position.side for position in positions], np.int8)
    found = PositionTexts(game, r).of(states, sides)
    assert found.texts.to_list() == [game.text(position, r) for position in positions]
    assert found.over.tolist() == [not legal_moves(game, position, r) for position in positions]
    assert found.left.tolist() == [int(game.moves_left(position.state, r)) for position in positions]


def test_a_board_that_no_order_of_play_leads_to_is_left_to_the_game():
    """Found by the game's own search: there is no order in which these stones could have been played."""
    r = connect4.rules()
    text = "-" * 35 + "OXXXO-O X"
    own, stones = 0, 0
    for column, square in enumerate(text[35:42]):
        own |= (square == "X") << 7 * column
        stones |= (square != "-") << 7 * column
    state = as_state((own, stones))
    position = Position(state, 0)
    end = writer_of(connect4)(state, 0, r, np.zeros(MOST_TEXT, np.uint8), 0)
    found = connect4.text(position, r)
    assert (end < 0) == (" " in found)
