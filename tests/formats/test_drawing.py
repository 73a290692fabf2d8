"""Drawn boards: every cell where the plain twins have it."""

from types import SimpleNamespace

import pytest

from distsearch import games
from distsearch.formats.drawing import drawn, drawn_board
from distsearch.games.interface import MAX

from ..games.replay import twin

BOARDS = [("othello", (4, 4)), ("othello", (10, 12)), ("connect4", (6, 7)), ("2048", (3, 4)), ("2584", (4, 4))]


def cells_of(name, position, rows):
    """The cells of a twin's position, row by row from the top."""
    board, _ = position
    if name == "connect4":
        return [[column[row] if row < len(column) else "-" for column in board] for row in reversed(range(rows))]
    return [["." if cell == 0 else str(cell) for cell in row] for row in board]


@pytest.mark.parametrize(("name", "board"), BOARDS)
def test_every_cell_is_where_the_twin_has_it(name, board, rng):
    game, plain = games.find(name), twin(name, board)
    rules, position = game.rules(board), plain.start()
    while moves := plain.moves(position):
        lines = drawn(game, game.parse(plain.text(position), rules), rules).splitlines()
        if game.PLAYERS == 2:
            assert lines.pop() == f"{position[1]} to move"
            assert len({len(line) for line in lines}) == 1  # nothing is out of line
            assert lines.pop(0).split() == list("abcdefghijkl" if name == "othello" else "1234567")[: board[1]]
        found = [line.split() for line in lines]
        if name == "othello":
            assert [row.pop(0) for row in found] == [str(row + 1) for row in range(board[0])]
        assert found == cells_of(name, position, board[0])
        position, _ = plain.play(position, rng.choice(moves))
    assert "to move" not in drawn(game, game.parse(plain.text(position), rules), rules)


def test_a_drawn_board_is_as_wide_as_its_widest_cell():
    assert drawn_board([["2", "."], ["1024", "8"]]) == "   2    .\n1024    8"
    assert drawn_board(["XO"] * 2, "ab", ["9", "10"]) == "   a b\n 9 X O\n10 X O"


def test_a_game_draws_itself_or_shows_its_text():
    game = SimpleNamespace(NAME="mine", PLAYERS=2, kind=lambda s, r: MAX, text=lambda position, r: "as text")
    position = SimpleNamespace(state=(0,), side=1)
    assert drawn(game, position, None) == "as text"
    game.draw_board = lambda position, r: "as a board"
    assert drawn(game, position, None) == "as a board\nO to move"
