"""Clocks of games: the seconds that a player has for all its moves of a game, and how many of them a move gets."""

import re
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..core.errors import UserError
from ..games.interface import Position

_RESERVE = 0.1  # seconds kept for what a move takes apart from its search, and at most this part of what is left:
_MOST_RESERVE = 0.25
_MOST = 0.75  # of the seconds that are there, for one move
_LEAST = 1e-3  # seconds below which there is no search
_PLIES_A_MOVE = 3  # of the plies left in a game of two players: the last ones take little, since they are solved
_FEWEST, _FEWEST_AGAINST_CHANCE = 2, 1000  # moves that are always expected


@dataclass
class Clock:
    """A player's clock in one game.

    left: seconds; increment: seconds that each move brings; moves: that were made; given: seconds that the latest one
    was to search; overrun: the seconds that it took on top of those, or half of what this was before if that is more.
    """

    left: float
    increment: float = 0.0
    moves: int = 0
    given: float = 0.0
    overrun: float = 0.0

    def give(self, expected: float) -> float:
        """Return the seconds that the next move's search gets; 0: it has none. expected: moves still to be made.

        That is an equal part of what is left, and the increment, but at most three quarters of what is left. A reserve
        is not given out: 0.1 s, or a quarter of what is left if that is less; twice the overrun if that is more.
        """
        usable = self.left - max(min(_RESERVE, _MOST_RESERVE * self.left), 2 * self.overrun)
        seconds = min(usable / expected + self.increment, _MOST * usable)
        self.given = seconds if seconds >= _LEAST else 0.0
        return self.given

    def spend(self, seconds: float) -> bool:
        """Take in a move that took so many seconds; return whether the clock had as many."""
        if seconds > self.left:
            self.left = 0.0  # and stays so: there is no increment for a move that came too late
            return False
        self.left += self.increment - seconds
        self.moves += 1
        self.overrun = max(self.overrun / 2, seconds - self.given)  # one late move is not held against all
        return True


def moves_expected(game: Any, rules: np.ndarray, position: Position, made: int) -> float:
    """Return how many moves a player is expected to make yet, after it has made some: what ``Clock.give`` divides by.

    Two players: a third of the plies that the game can still have, or 2 if that is more. Against chance, where games
    have no known length: as many as were made, and at least 1,000.
    """
    plies = int(game.moves_left(position.state, rules))
    if game.PLAYERS == 2:
        return max(_FEWEST, plies / _PLIES_A_MOVE)
    return max(_FEWEST, min(max(made, _FEWEST_AGAINST_CHANCE), plies / 2))


def parse_clock(text: str) -> tuple[float, float]:
    """Return (seconds, increment) of ``60+0.5`` or ``60``; raises UserError."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{0,6})?)(?:\+([0-9]{1,6}(?:\.[0-9]{0,6})?))?", text)
    if not match:
        raise UserError(f"clock '{text[:40]}' is not seconds for a game, or seconds+increment, such as 60+0.5")
    found = float(match[1]), float(match[2] or 0)
    check_clock(found)
    return found


def check_clock(clock: Any) -> None:
    """Raise UserError unless a clock is (seconds, increment), the seconds above 0."""
    pair = isinstance(clock, tuple | list) and len(clock) == 2 and all(isinstance(each, Real) for each in clock)
    if not pair or not 0 < clock[0] < 1e9 or not 0 <= clock[1] < 1e6:
        text = clock_text((clock[0], clock[1])) if pair else repr(clock)
        raise UserError(f"clock {text:.40} is not seconds above 0, and an increment of 0 or more, as in 60+0.5")


def clock_text(clock: tuple[float, float]) -> str:
    """Return a clock as ``parse_clock`` reads it."""
    seconds, increment = (f"{each:.6f}".rstrip("0").rstrip(".") for each in clock)
    return f"{seconds}+{increment}" if clock[1] else seconds
