"""A game move by move: players choose, chance draws, until the game is over. Any game, any players.

What chance does is a stream of numbers of the game's seed, the same as in ``engines.player``: whatever plays a game of
a seed meets the same tiles as long as it makes the same moves.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engines.player import splitmix64
from ..formats.game_records import final_score
from ..games.interface import CHANCE, END, MAX_MOVES, Position, as_state
from .clock import Clock
from .players import Choice, Player

_CHOICES = 0x9E3779B97F4A7C15  # sets the players' random numbers apart from those of chance


@dataclass
class Tally:
    """What the moves of a player took: how many, and of those that were searched nodes and plies.

    plies: the sum of the depths that searches reached; seconds, slowest: wall time of all moves, and of the slowest;
    cpu: CPU seconds of the ranks that searched; lost_on_time: games that the player's clock ended.
    """

    moves: int = 0
    searched: int = 0
    nodes: int = 0
    plies: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    cpu: float = 0.0
    lost_on_time: int = 0

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
    player's moves until it was made, their seconds). clocks: of the players that have one; seconds_left: for each of
    ``codes`` those of the mover's clock after it, NaN where there is none.
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
    clocks: tuple[Clock | None, ...] = (None, None)
    seconds_left: list[float] = field(default_factory=list)

    @property
    def to_move(self) -> int:
        """The number of the player to move."""
        return self.players[self.position.side]

    @property
    def lost_on_time(self) -> int | None:
        """The side whose clock ended the game, None if its moves did."""
        lost = [side for side, player in enumerate(self.players) if self.tallies[player].lost_on_time]
        return lost[0] if lost else None


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

    A move of a game of two players that takes longer than its player's clock has left is not made, and the game is over
    as lost. Against chance such a clock stands still, so no move from there on is searched. What compiling and loading
    take is on no clock. watch(play, choice): called after every move, those of chance too, with None before the first
    one, and with the move that came too late.
    """
    if watch is not None and not play.codes:
        watch(play, None)
    end = None if most is None else len(play.codes) + most
    while (kind := int(game.kind(play.position.state, rules))) != END and len(play.codes) != end:
        choice = Choice(_drawn(game, rules, play), by_chance=True) if kind == CHANCE else _chosen(game, play, players)
        if choice is None:
            return
        if play.lost_on_time is None:
            _make(game, rules, play, choice)
        if watch is not None:
            watch(play, choice)
        if play.lost_on_time is not None:
            break
    play.over = kind == END or play.lost_on_time is not None


def _chosen(game, play, players):
    """Return the Choice of the player to move, and count what it took; None: the player ends the game."""
    began, clock, tally = time.perf_counter(), play.clocks[play.to_move], play.tallies[play.to_move]
    number = splitmix64(play.seed ^ _CHOICES, play.earlier + len(play.codes))
    choice = players[play.to_move].choose(play.position, number, clock)
    if choice is None:
        return None
    seconds = time.perf_counter() - began
    tally.add(choice, seconds)
    startup = 0.0 if choice.outcome is None else choice.outcome.startup_seconds
    if clock is not None and not clock.spend(seconds - startup):
        tally.lost_on_time = int(game.PLAYERS == 2)
    return choice


def _drawn(game, rules, play):
    """Return the code of what chance does."""
    out, chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
    n = game.outcomes(play.position.state, rules, out, chances, 0)
    below = chances[:n].cumsum()
    point = (splitmix64(play.seed, play.chance_steps) >> 11) * 2.0**-53 * below[-1]
    return int(out[min(int(below.searchsorted(point, side="right")), n - 1)])


def _make(game, rules, play, choice):
    before, side = play.position, play.position.side
    clock = None if choice.by_chance else play.clocks[play.to_move]
    state, points = game.play(before.state, rules, choice.code)
    play.position = Position(as_state(state), 1 - side if game.PLAYERS == 2 else side)
    play.points += -int(points) if side else int(points)
    play.codes.append(choice.code)
    play.seconds_left.append(math.nan if clock is None else clock.left)
    if choice.by_chance:
        play.chance_steps += 1
    elif hasattr(game, "largest"):
        largest = game.largest(play.position.state, rules)
        if largest > max(play.tiles, default=game.largest(before.state, rules)):
            tally = play.tallies[play.players[0]]
            play.tiles[largest] = tally.moves, tally.seconds


def score_of(game: Any, rules: np.ndarray, play: GamePlay) -> int:
    """Return the score of a game that is over, for side 0; one that was lost on time is lost by one."""
    if play.lost_on_time is not None:
        return 1 if play.lost_on_time else -1
    return play.points + final_score(game, rules, play.position)
