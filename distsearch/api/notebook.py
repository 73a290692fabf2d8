"""Boards and answers as HTML, for notebooks."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np

from ..formats.board_svg import STYLES, board_svg
from ..formats.drawing import cells, drawn, names, place_of
from ..games import find, parse_board
from ..games.interface import Position


def board_html(
    game: Any, position: Position, rules: np.ndarray, scores: Mapping[str, str] | None = None, best: str | None = None
) -> str:
    """Return a position as HTML: a drawing, or its text where a game is not drawn.

    scores: texts by move, which stand on the squares of the moves; best: the move that is marked.
    """
    shown = cells(game, position, rules)
    text = drawn(game, position, rules)
    if shown is None:
        return f"<pre>{escape(text)}</pre>"
    columns, rows = names(game, rules)
    places = {move: place_of(game.NAME, move, shown) for move in {*(scores or {}), *([best] if best else [])}}
    on_squares = {place: said for move, said in (scores or {}).items() if (place := places[move])}
    return board_svg(shown, STYLES[game.NAME], text, columns, rows, on_squares, places[best] if best else None)


def outcome_html(
    game: str, board: str, position: str, scores: Mapping[str, str], best: str | None, rows: Iterable[tuple[str, str]]
) -> str:
    """Return an answer as HTML: the position, with scores and best move as in ``board_html``, and a table of rows.

    game, board, position: as an Outcome has them; rows: (name, text).
    """
    module = find(game)
    rules = module.rules(parse_board(board))
    drawing = board_html(module, module.parse(position, rules), rules, scores, best)
    cell = 'style="text-align: left"'
    lines = "".join(f"<tr><th {cell}>{escape(name)}</th><td {cell}>{escape(text)}</td></tr>" for name, text in rows)
    return f"<div>{drawing}<table>{lines}</table></div>"
