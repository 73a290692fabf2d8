"""Boards drawn in a terminal: in colour where rich is installed and stdout is a terminal, else as plain text."""

import math
import re
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..api.game_loop import GamePlay
from ..api.players import Choice
from ..formats import stdout
from ..formats.drawing import SIDES, drawn
from ..games.interface import CHANCE, Position

_STYLES = {"X": "bold cyan", "O": "bold yellow", "-": "dim"}
# of tiles, by the length of their binary numbers
_TILES = "white", "cyan", "green", "yellow", "magenta", "red", "blue", "bright_cyan", "bright_green", "bright_yellow"
_PIECE = re.compile(r"(?<![^\s])(?:[XO-]|\d+)(?=\s|$)")


class BoardView:
    """Writes boards and lines to stdout, or to stderr where stdout is for JSON."""

    def __init__(self, game: Any, rules: np.ndarray, to_stderr: bool = False):
        self._game, self._rules, self._to_stderr = game, rules, to_stderr
        self._console: Any = None
        if not to_stderr and sys.stdout.isatty() and find_spec("rich"):
            from rich.console import Console  # pyright: ignore[reportMissingImports]

            self._console = Console(highlight=False)

    def watch(self, play: GamePlay, choice: Choice | None) -> None:
        """Tell of a move of a game, None before the first one, and draw the board; see ``Watch``."""
        if choice is None:
            self.made(None, play.position)
            return
        if play.lost_on_time is not None:
            self.say(f"{SIDES[play.lost_on_time]} loses on time")
            return
        found, left = choice.outcome, play.seconds_left[-1]
        said = "" if found is None else f"   score {found.score:+g} {found.unit}, depth {found.depth}"
        said += "" if math.isnan(left) else f"   {left:.1f} s left"
        self.made(self._game.move_text(choice.code, self._rules), play.position, choice.by_chance, said)

    def made(self, move: str | None, position: Position, by_chance: bool = False, said: str = "") -> None:
        """Tell of a move that led to a position, with more that is ``said``, and draw the board.

        move: None before the first one. Moves of chance are not told, and the board is drawn once it has made them.
        """
        if move is not None and not by_chance:
            mover = f"{SIDES[1 - position.side]} plays " if self._game.PLAYERS == 2 else ""
            self.say(f"{mover}{move}{said}")
        if int(self._game.kind(position.state, self._rules)) != CHANCE:
            self.show(position)

    def show(self, position: Position) -> None:
        """Draw a position."""
        text = drawn(self._game, position, self._rules)
        if self._console is None:
            self.say(text)
        else:
            self._console.print(coloured(text))

    def say(self, text: str) -> None:
        """Write a line, or several."""
        if self._to_stderr:
            print(text, file=sys.stderr, flush=True)
        else:
            stdout.print_result(text)


def coloured(text: str) -> Any:
    """Return a drawn board as a ``rich.text.Text``, its pieces and tiles in colour, the names of rows not."""
    from rich.text import Text  # pyright: ignore[reportMissingImports]

    found = Text(text)
    for piece in _PIECE.finditer(text):
        style = _STYLES.get(piece[0]) or _TILES[int(piece[0]).bit_length() % len(_TILES)]
        at_edge = piece.start() == 0 or text[piece.start() - 1] == "\n"
        found.stylize("dim" if at_edge else style, piece.start(), piece.end())
    return found
