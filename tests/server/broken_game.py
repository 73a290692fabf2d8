"""A game that can be loaded, and fails when it is asked about."""

from ..games.tictactoe import *  # noqa: F403
from ..games.tictactoe import parse as parse_tictactoe

NAME = "broken"


def parse(text, r):
    """Fail at one position."""
    return parse_tictactoe(str(1 // 0) if text == "boom" else text, r)


def text(position, r):
    """Fail at every answer."""
    raise ZeroDivisionError
