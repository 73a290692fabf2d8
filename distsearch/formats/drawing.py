"""Boards as several lines of text, for people.

A game may offer ``draw_board(position, rules) -> str``; the package's own games are drawn here, apart from their rules.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..games.interface import END, Position, board_size

SIDES = "X", "O"  # of a game of two players, the first to move before the other


def drawn(game: Any, position: Position, rules: np.ndarray) -> str:
    """Return the drawing of a position, or its text where there is none, and the side to move of two."""
    if hasattr(game, "draw_board"):
        board = game.draw_board(position, rules)
    elif game.NAME in _DRAWINGS:
        board = _DRAWINGS[game.NAME](game, position, rules)
    else:
        return game.text(position, rules)
    over = int(game.kind(position.state, rules)) == END
    return board if over or game.PLAYERS != 2 else f"{board}\n{SIDES[position.side]} to move"


def cells(game: Any, position: Position, rules: np.ndarray) -> list[list[str]] | None:
    """Return what each cell of a board shows, row by row from the top; None for a game that is not drawn here.

    ``X`` and ``O`` are the sides, ``-`` and ``.`` are empty, others are tiles.
    """
    return _CELLS[game.NAME](game, position, rules) if game.NAME in _CELLS else None


def names(game: Any, rules: np.ndarray) -> tuple[list[str], list[str]]:
    """Return the names of a board's columns and of its rows, from the top; none where moves do not need them."""
    rows, columns = board_size(rules)
    if game.NAME == "othello":
        return [chr(ord("a") + column) for column in range(columns)], [str(row + 1) for row in range(rows)]
    return [game.move_text(column, rules) for column in range(columns)] if game.NAME == "connect4" else [], []


def place_of(game: str, move: str, cells: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Return (row from the top, column) where a move of a game by name puts a piece on cells, None if it puts none."""
    if game == "connect4":
        column = "123456789abcdefghijklmnopqrstuvwxyz".index(move)
        row = max((i for i, row in enumerate(cells) if row[column] == "-"), default=None)
        return None if row is None else (row, column)
    if game == "othello" and move[1:].isdecimal():
        return int(move[1:]) - 1, ord(move[0]) - ord("a")
    return None


def drawn_board(cells: Sequence[Sequence[str]], columns: Sequence[str] = (), rows: Sequence[str] = ()) -> str:
    """Return cells, row by row from the top, as lines with a space between; names of columns stand above, of rows left.

    Cells are as wide as the widest one.
    """
    lines = [*([columns] if columns else []), *cells]
    left = [*([""] if columns else []), *(rows or [""] * len(cells))]
    width, margin = max(len(cell) for line in lines for cell in line), max(map(len, left))
    return "\n".join(
        " ".join([*([name.rjust(margin)] if margin else []), *(cell.rjust(width) for cell in line)])
        for name, line in zip(left, lines, strict=True)
    )


def _squares(game, position, rules):
    """Othello's text has the squares row by row."""
    rows, columns = board_size(rules)
    return _lines(list(game.text(position, rules)[: rows * columns]), columns)


def _discs(game, position, rules):
    """Othello: letters above, numbers at the left."""
    return drawn_board(_squares(game, position, rules), *names(game, rules))


def _holes(game, position, rules):
    """Connect 4's states have rows + 1 bits for each column, from the bottom up."""
    rows, columns = board_size(rules)
    own, stones = map(int, position.state)
    first = own if position.side == 0 else stones ^ own
    bits = [1 << column * (rows + 1) + row for row in reversed(range(rows)) for column in range(columns)]
    return _lines(["X" if first & bit else "O" if stones & bit else "-" for bit in bits], columns)


def _stones(game, position, rules):
    """Connect 4: names of columns above."""
    return drawn_board(_holes(game, position, rules), *names(game, rules))


def _tiles(game, position, rules):
    """2048 and 2584: a dot for an empty cell; their text has the tiles row by row."""
    tiles = game.text(position, rules).partition(" ")[0].split(",")
    return _lines(["." if tile == "0" else tile for tile in tiles], board_size(rules)[1])


def _grid(game, position, rules):
    return drawn_board(_tiles(game, position, rules))


def _lines(squares, columns):
    return [squares[i : i + columns] for i in range(0, len(squares), columns)]


_CELLS: dict[str, Callable[[Any, Position, np.ndarray], list[list[str]]]] = {
    "othello": _squares,
    "connect4": _holes,
    "2048": _tiles,
    "2584": _tiles,
}
_DRAWINGS: dict[str, Callable[[Any, Position, np.ndarray], str]] = {
    "othello": _discs,
    "connect4": _stones,
    "2048": _grid,
    "2584": _grid,
}
