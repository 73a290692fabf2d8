"""Which games to play: how many, from which openings, and which player has which side."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ..core.errors import UserError
from ..core.files import lines_of
from ..engines.player import seed_of
from ..games.interface import Position, legal_moves, step
from ..games.random_play import random_position
from .clock import Clock
from .game_loop import GamePlay

MOST_GAMES = 10**6
_MOST_PLIES = 8  # that are drawn by themselves, and one for so many squares:
_SQUARES_A_PLY = 8
_TRIES = 100  # for an opening that was not drawn before


def usual_plies(board: Any) -> int:
    """Return how many random plies openings have unless asked for otherwise; board: (rows, columns)."""
    return min(_MOST_PLIES, board[0] * board[1] // _SQUARES_A_PLY)


def checked_games(count: int) -> int:
    """Return a number of games; raises UserError."""
    if not isinstance(count, Integral) or not 1 <= int(count) <= MOST_GAMES:
        raise UserError(f"games {count!r:.40} is not a number of games from 1 to {MOST_GAMES}")
    return int(count)


@dataclass
class GamePlan:
    """``count`` games of a game. Creating one raises UserError if it makes no sense.

    players: which player has which side in game 0, (0, 1) or (1, 0); alternate: whether they change sides after each
    game; paired: whether games 2k and 2k + 1 have the same opening and the same seed of chance. Against chance there is
    one player, or by ``alternate`` one and then the other. openings: Positions to begin at, in turn; None: each begins
    with ``random_plies`` drawn ones, by ``seed``, and none is repeated until there is no other one. options: the game's
    own, by which it has these rules. clocks: of each player the (seconds, increment) of its clock, or None.
    """

    game: Any
    rules: np.ndarray
    options: dict[str, str]
    count: int
    seed: int
    players: tuple[int, int] = (0, 1)
    alternate: bool = False
    paired: bool = False
    random_plies: int = 0
    openings: Sequence[Position] | None = None
    clocks: Sequence[tuple[float, float] | None] = (None, None)

    def __post_init__(self):
        self.count = checked_games(self.count)
        if self.random_plies and self.game.PLAYERS != 2:
            raise UserError(f"random-plies is for games of two players; {self.game.NAME} is a game against chance")
        if self.random_plies > int(self.game.moves_left(self.game.start(self.rules).state, self.rules)) // 2:
            raise UserError(f"random-plies {self.random_plies} are more than half of a game of {self.game.NAME}")
        self._drawn: list[Position] = []  # openings, by number
        self._seen: set[Position] = set()
        self._new: set[Position] | None = None  # those not drawn since all were, once they are known
        self.different_openings: int | None = None  # how many there are, where drawn ones repeat

    def begin(self, number: int) -> GamePlay:
        """Return the GamePlay of a number, from 0 on, before its first move."""
        opening = number // 2 if self.paired else number
        players = self.players[::-1] if self.alternate and number % 2 else self.players
        if self.game.PLAYERS != 2:
            players = players[:1]
        start = self._opening(opening)
        clocks = tuple(None if clock is None else Clock(*clock) for clock in self.clocks)
        return GamePlay(number, start, start, players, seed_of(self.seed, opening), clocks=clocks)

    def _opening(self, number):
        if self.openings is not None:
            return self.openings[number % len(self.openings)]
        if not self.random_plies:
            return self.game.start(self.rules)
        while len(self._drawn) <= number:
            self._drawn.append(self._draw(random.Random(f"{self.seed} {len(self._drawn)}")))
            self._seen.add(self._drawn[-1])
        return self._drawn[number]

    def _draw(self, rng):
        """Return an opening that was not drawn before, or once all were, not since then."""
        if self._new is None:
            plies = range(self.random_plies, self.random_plies + 1)
            for _ in range(_TRIES):
                position = random_position(self.game, self.rules, plies, rng)
                if position not in self._seen:
                    return position
            self._new = self._every_opening() - self._seen
        if not self._new:
            self._new = self._every_opening()
            self.different_openings = len(self._new)
        position = rng.choice(sorted(self._new))
        self._new.remove(position)
        return position

    def _every_opening(self):
        """Return all positions after so many plies in which the game goes on; there are not many if they repeat."""
        game, rules, found = self.game, self.rules, {self.game.start(self.rules)}
        for _ in range(self.random_plies):
            found = {step(game, position, rules, m) for position in found for m in legal_moves(game, position, rules)}
        return {position for position in found if legal_moves(game, position, rules)}


def read_openings(path: str, game: Any, rules: np.ndarray) -> list[Position]:
    """Return the Positions of a file, a line each, in which the game goes on; raises UserError."""
    try:
        lines = [line.decode(errors="replace").partition("%")[0].strip() for line in lines_of(path)]
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            position = game.parse(line, rules)
        except UserError as error:
            raise UserError(f"{path[:200]} line {number}: {error}") from error
        if not legal_moves(game, position, rules):
            raise UserError(f"{path[:200]} line {number}: the game is over there")
        found.append(position)
    if not found:
        raise UserError(f"{path[:200]} holds no position")
    return found
