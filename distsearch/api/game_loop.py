"""A game move by move: players choose, chance draws, until the game is over. Any game, any players.

What chance does is a stream of numbers of the game's seed, the same as in ``engines.player``: whatever plays a game of
a seed meets the same tiles as long as it makes the same moves.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engines.player import splitmix64
from ..formats.game_records import final_score
from ..games.interface import CHANCE, END, MAX_MOVES, Position, as_state
from .players import Choice, Player

_CHOICES = 0x9E3779B97F4A7C15  # sets the players' random numbers apart from those of chance


@dataclass
class Tally:
    """What the moves of a player took: how many, and of those that were searched nodes and plies.

    plies: the sum of the depths that searches reached; seconds, slowest: wall time of all moves, and of the slowest;
    cpu: CPU seconds of the ranks that searched.
    """

    moves: int = 0
    searched: int = 0
    nodes: int = 0
    plies: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    cpu: float = 0.0

    def add(self, choice: Choice, seconds: float) -> None:
        """Count a move that took so many seconds."""
        self.moves += 1
        self.seconds += seconds
        self.slowest = max(self.slowest, seconds)
        if choice.outcome is not None and choice.outcome.book is None:
            self.searched += 1
            self.nodes += choice.outcome.nodes
            self.plies += choice.outcome.depth
            self.cpu += choice.outcome.cpu_seconds

    def join(self, other: "Tally") -> None:
        """Take in what other moves took."""
        for name, value in vars(other).items():
            setattr(self, name, max(self.slowest, value) if name == "slowest" else getattr(self, name) + value)


@dataclass
class GamePlay:
    """A game so far.

    players: for each side the number of the player that has it (against chance: one); seed: of chance, 64 bits.
    earlier: moves before ``codes``, which are those of players and of chance; chance_steps: turns of chance; points:
    what moves brought, for side 0; tallies: of each player's moves; tiles: of games with a largest tile: value → (the
    player's moves until it was made, their seconds).
    """

    number: int
    start: Position
    position: Position
    players: tuple[int, ...]
    seed: int
    earlier: int = 0
    codes: list[int] = field(default_factory=list)
    chance_steps: int = 0
    points: int = 0
    over: bool = False
    tallies: tuple[Tally, ...] = field(default_factory=lambda: (Tally(), Tally()))
    tiles: dict[int, tuple[int, float]] = field(default_factory=dict)

    @property
    def to_move(self) -> int:
        """The number of the player to move."""
        return self.players[self.position.side]


Watch = Callable[[GamePlay, Choice | None], None]  # told of a game at its start, and after each move


def play_on(
    game: Any,
    rules: np.ndarray,
    play: GamePlay,
    players: Sequence[Player],
    most: int | None = None,
    watch: Watch | None = None,
) -> None:
    """Play a game on until it is over, has had ``most`` more moves, or a player ends it.

    watch(play, choice): called after every move, those of chance too, and with None before the first one.
    """
    if watch is not None and not play.codes:
        watch(play, None)
    end = None if most is None else len(play.codes) + most
    while (kind := int(game.kind(play.position.state, rules))) != END and len(play.codes) != end:
        if kind == CHANCE:
            choice = Choice(_drawn(game, rules, play), by_chance=True)
        else:
            began = time.perf_counter()
            number = splitmix64(play.seed ^ _CHOICES, play.earlier + len(play.codes))
            choice = players[play.to_move].choose(play.position, number)
            if choice is None:
                return
            play.tallies[play.to_move].add(choice, time.perf_counter() - began)
        _make(game, rules, play, choice)
        if watch is not None:
            watch(play, choice)
    play.over = kind == END


def _drawn(game, rules, play):
    """Return the code of what chance does."""
    out, chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
    n = game.outcomes(play.position.state, rules, out, chances, 0)
    below = chances[:n].cumsum()
    point = (splitmix64(play.seed, play.chance_steps) >> 11) * 2.0**-53 * below[-1]
    return int(out[min(int(below.searchsorted(point, side="right")), n - 1)])


def _make(game, rules, play, choice):
    before, side = play.position, play.position.side
    state, points = game.play(before.state, rules, choice.code)
    play.position = Position(as_state(state), 1 - side if game.PLAYERS == 2 else side)
    play.points += -int(points) if side else int(points)
    play.codes.append(choice.code)
    if choice.by_chance:
        play.chance_steps += 1
    elif hasattr(game, "largest"):
        largest = game.largest(play.position.state, rules)
        if largest > max(play.tiles, default=game.largest(before.state, rules)):
            tally = play.tallies[play.players[0]]
            play.tiles[largest] = tally.moves, tally.seconds


def score_of(game: Any, rules: np.ndarray, play: GamePlay) -> int:
    """Return the score of a game that is over, for side 0."""
    return play.points + final_score(game, rules, play.position)
