"""Boards drawn in a terminal: in colour where rich is installed and stdout is a terminal, else as plain text."""

import re
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..api.game_loop import GamePlay
from ..api.play_games import SIDES
from ..api.players import Choice
from ..formats import stdout
from ..formats.drawing import drawn
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
        """Tell of a move, and draw the board; in games against chance once it has made its moves."""
        if choice is not None and not choice.by_chance:
            self.say(self._move_text(play, choice))
        if int(self._game.kind(play.position.state, self._rules)) != CHANCE:
            self.show(play.position)

    def _move_text(self, play, choice):
        """Return what move a player has made, and what its search said."""
        mover = f"{SIDES[1 - play.position.side]} plays " if self._game.PLAYERS == 2 else ""
        found = choice.outcome
        said = "" if found is None else f"   score {found.score:+g} {found.unit}, depth {found.depth}"
        return f"{mover}{self._game.move_text(choice.code, self._rules)}{said}"

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
