"""A person at the terminal as a player of games."""

import sys
from typing import Any

import numpy as np

from ..api.clock import Clock
from ..api.players import Choice
from ..core.errors import UserError
from ..games.interface import PASS, Position, legal_moves
from .board_view import BoardView

_QUIT = "q", "quit"


class Person:
    """Asks for moves on stdin, again after a bad one; q or the end of stdin ends the game.

    waiting(): a context in which Ctrl-C ends the process: reading cannot look at a flag.
    """

    name = "you"

    def __init__(self, game: Any, rules: np.ndarray, view: BoardView, waiting: Any):
        self._game, self._rules, self._view, self._waiting = game, rules, view, waiting

    def choose(self, position: Position, number: int, clock: Clock | None = None) -> Choice | None:
        legal = legal_moves(self._game, position, self._rules)
        if legal == [PASS]:
            self._view.say("you have no move, and pass")
            return Choice(PASS)
        texts = {self._game.move_text(m, self._rules): m for m in legal}
        while True:
            self._view.say(f"your move ({' '.join(texts)}; q ends):")
            answer = self._read()
            if answer is None or answer in _QUIT:
                return None
            if answer in texts:
                return Choice(texts[answer])
            self._view.say(self._fault(answer))

    def _read(self):
        """Return what was typed; None at the end of stdin."""
        if sys.stdin is None:
            return None
        source: Any = getattr(sys.stdin, "buffer", sys.stdin)
        with self._waiting():
            line = source.readline()
        return line.decode(errors="replace").strip().lower() if line else None

    def _fault(self, answer):
        """Return what is wrong with an answer that is no legal move."""
        try:
            self._game.parse_move(answer, self._rules)
        except UserError as error:
            return str(error)
        return f"{answer} is not legal here"
