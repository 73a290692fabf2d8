"""Boards as several lines of text, for people."""

from typing import Any

import numpy as np

from ..games.interface import Position


def drawn(game: Any, position: Position, rules: np.ndarray) -> str:
    """Return the drawing of a position, or its text where the game has none."""
    return game.draw_board(position, rules) if hasattr(game, "draw_board") else game.text(position, rules)
