"""The Go Text Protocol, version 2, for Othello: commands in, responses out, as Edax and GoGui speak it.

Squares are named as in Othello, a1 at the top left. The side to move passes by itself where it must and the other
side's move is given or asked for. Once the game is over both sides pass.
"""

import inspect
import math
import re
import time
from collections.abc import Callable

from .. import __version__, games
from ..core.errors import UserError
from ..formats.drawing import drawn
from ..games.interface import PASS, Position
from .clock import PeriodClock
from .engine import Engine

_COLORS = "BW"  # by side
_SIDES = {"b": 0, "black": 0, "w": 1, "white": 1}
_NO_LIMIT = 315576000  # seconds of main time, ten years: what programs send for none


class Stopped(Exception):  # noqa: N818
    """The search had to end, and there is no response."""


def _number(text: str) -> float:
    """Return a number; raises UserError."""
    try:
        value = float(text)
    except ValueError as error:
        raise UserError("syntax error") from error
    if not math.isfinite(value):
        raise UserError("syntax error")
    return value


def _whole(text: str) -> int:
    """Return a whole number from 0 on, of nine digits at most; raises UserError."""
    if not re.fullmatch("[0-9]{1,9}", text):
        raise UserError("syntax error")
    return int(text)


class Gtp:
    """The engine's side of the protocol. ``ended``: it was told to quit."""

    def __init__(self, engine: Engine):
        self._engine, self.ended = engine, False
        self._clocks: list[PeriodClock | None] = [None, None]
        self._commands: dict[str, Callable[..., str]] = {
            "protocol_version": lambda: "2",
            "name": lambda: "distsearch",
            "version": lambda: __version__,
            "known_command": lambda name: str(name in self._commands).lower(),
            "list_commands": lambda: "\n".join(self._commands),
            "quit": self._quit,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "showboard": lambda: f"\n{drawn(engine.game, engine.position, engine.rules)}",
            "final_score": self._final_score,
            "set_game": self._set_game,
            "list_games": lambda: "Othello",
        }

    def answer(self, line: str) -> str | None:
        """Return the response to a line, None for one without a command; raises Stopped."""
        kept = "".join(" " if c == "\t" else c for c in line if c == "\t" or c >= " " and c != "\x7f")
        words = kept.partition("#")[0].split()
        if not words:
            return None
        number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
        try:
            return f"={number} {self._result(words)}".rstrip() + "\n\n"
        except UserError as error:
            return f"?{number} {error}\n\n"

    def _result(self, words):
        command = self._commands.get(words[0]) if words else None
        if command is None:
            raise UserError("unknown command")
        wanted = len(inspect.signature(command).parameters)
        if len(words) <= wanted:
            raise UserError("syntax error")
        return command(*words[1 : 1 + wanted])  # what a controller says beyond that does not matter

    def _quit(self):
        self.ended = True
        return ""

    def _boardsize(self, size: str):
        side = _whole(size)
        try:
            self._engine.begin(games.checked_board(self._engine.game, (side, side)))
        except UserError as error:
            raise UserError("unacceptable size") from error
        return ""

    def _clear_board(self):
        self._engine.restart()
        return ""

    def _komi(self, komi: str):
        _number(komi)  # which Othello has not got
        return ""

    def _side(self, word):
        if word.lower() not in _SIDES:
            raise UserError("syntax error")
        return _SIDES[word.lower()]

    def _turn_of(self, word) -> Position:
        """Return the position in which a side is to move, if need be after a pass; raises UserError."""
        engine = self._engine
        if self._side(word) == engine.position.side:
            return engine.position
        if not (engine.must_pass() or engine.is_over()):
            raise UserError("illegal move")
        return engine.after_pass()

    def _play(self, color: str, move: str):
        engine, position = self._engine, self._turn_of(color)
        try:
            code = PASS if engine.is_over() and move.lower() == "pass" else engine.code(move, position)
        except UserError as error:
            raise UserError("illegal move") from error
        engine.play(code, position)
        return ""

    def _genmove(self, color: str):
        began, position = time.monotonic(), self._turn_of(color)
        code = self._chosen(position)
        self._engine.play(code, position)
        if (clock := self._clocks[position.side]) is not None:
            clock.spend(time.monotonic() - began)
        return self._engine.text(code)

    def _reg_genmove(self, color: str):
        return self._engine.text(self._chosen(self._turn_of(color)))

    def _chosen(self, position):
        engine = self._engine
        if engine.is_over(position):
            return PASS
        found = engine.choose(position, clock=self._clocks[position.side])
        if found is None:
            raise Stopped
        return found[0]

    def _undo(self):
        self._engine.undo()
        return ""

    def _time_settings(self, main: str, period: str, stones: str):
        seconds, each, moves = _whole(main), _whole(period), _whole(stones)
        unlimited = each and not moves or seconds >= _NO_LIMIT
        periods = (float(each), moves) if each else None
        left, begun = (float(seconds), 0) if seconds or periods is None else periods
        self._clocks = [None if unlimited else PeriodClock(left, stones=begun, period=periods) for _ in _COLORS]
        return ""

    def _time_left(self, color: str, left: str, stones: str):
        clock, seconds, moves = self._clocks[self._side(color)], _number(left), _whole(stones)
        if clock is not None:
            clock.left, clock.stones = max(seconds, 0.0), moves
        return ""

    def _final_score(self):
        engine = self._engine
        if not engine.is_over():
            raise UserError("the game is not over")
        score = int(engine.game.final(engine.position.state, engine.rules))
        winner = _COLORS[engine.position.side ^ (score < 0)]
        return f"{winner}+{abs(score)}" if score else "0"

    def _set_game(self, name: str):
        if name.lower() != "othello":
            raise UserError("unsupported game")
        return ""
