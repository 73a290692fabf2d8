"""Games between players, each on one rank: a kind of job for the workers, and the source that hands it out.

A job is a part of a game. Each player has a cluster of its own, so that no player knows what the other has searched.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..games.interface import Position, as_state
from ..jobs.numbered import NumberedJobs
from ..jobs.records import record
from ..jobs.setups import rules_of
from .clock import Clock
from .compiling import in_this_process
from .game_loop import GamePlay, Tally, play_on
from .game_plan import GamePlan
from .options import Options
from .pausable_runner import PausableRunner
from .players import Player, RandomPlayer, SearchPlayer

KIND = "player_games"
PART = 256  # moves of a game in a job
_TILES = 32  # tiles that a part has room for; no game has so many kinds
_TALLY, _CLOCK = (tuple(kind.__dataclass_fields__) for kind in (Tally, Clock))
_CLOCKS = np.float64, (2, len(_CLOCK))


def game_job(words: int) -> np.dtype:
    """Record of a part of a game: its id, moves so far, players of the sides, side to move, seed, chance, state.

    clocks: a row for each player, the fields of its Clock, NaN where it has none.
    """
    place = ("earlier", np.int32), ("players", np.int8, 2), ("side", np.int8)
    return record("job_id", *place, "seed", "chance_steps", ("clocks", *_CLOCKS), ("state", np.uint64, words))


def game_result(words: int) -> np.dtype:
    """Record of the result of such a part: what it adds to the game, and the game's state after it.

    tallies: a row for each player, the fields of a Tally; tiles: value, moves and seconds since the part began; clocks:
    as in a job; seconds_left: see ``GamePlay``.
    """
    added = ("score", np.int64), ("tallies", np.float64, (2, len(_TALLY))), ("tiles", np.float64, (_TILES, 3))
    added = *added, ("clocks", *_CLOCKS), ("seconds_left", np.float32, PART)
    moves = ("length", np.int16), ("codes", np.int16, PART)
    state = ("side", np.int8), ("state", np.uint64, words)
    return record("job_id", "complete", "over", "chance_steps", "nodes", "seconds", "cpu", *added, *moves, *state)


def _rows_of(clocks):
    """Return the ``clocks`` of a record for those of a game."""
    return [[math.nan] * len(_CLOCK) if clock is None else list(vars(clock).values()) for clock in clocks]


def _clocks_of(rows):
    """Return a game's clocks of the ``clocks`` of a record."""
    kinds = Clock.__annotations__.values()
    return tuple(
        None if math.isnan(row[0]) else Clock(*(kind(value) for kind, value in zip(kinds, row, strict=True)))
        for row in rows.tolist()
    )


def setup_of(
    game: Any, board: tuple[int, int], rules: dict, players: Sequence[Options | None], book: str | None = None
) -> dict[str, Any]:
    """Return the setup of the workers' runners, of plain types; book: as in ``find_book``."""
    plain = [None if each is None else each.given() for each in players]
    return {"kind": KIND, "game": game.NAME, "board": board, "options": rules, "players": plain, "book": book}


class PlayerGamesRunner(PausableRunner):
    """Plays parts of games between players."""

    def __init__(self, setup: dict[str, Any]):
        super().__init__()
        self._setup = setup
        self._game, self._rules = rules_of(setup)
        words = self._game.words(self._rules)
        self.job_dtype, self.result_dtype = game_job(words), game_result(words)
        self._players: list[Player] = []

    def compile(self) -> None:
        """Compile, or load from disk, what the players need."""
        if not self._players:
            with in_this_process():
                self._players = [self._player(given) for given in self._setup["players"]]

    def _player(self, given):
        if given is None:
            return RandomPlayer(self._game, self._rules)
        setup = self._setup
        options = Options(setup["game"], tuple(setup["board"]), setup["options"], **given)
        return SearchPlayer(options, self._cluster(), interrupted=self._interrupted, book=setup["book"])

    @property
    def nodes(self) -> int:
        return sum(tally.nodes for tally in self._play.tallies)

    def begin(self, job: np.void) -> None:
        self._stop()
        self.compile()
        self.job_id = int(job["job_id"])
        position = Position(as_state(job["state"]), int(job["side"]))
        sides = tuple(job["players"].tolist())
        play = GamePlay(self.job_id, position, position, sides, int(job["seed"]), int(job["earlier"]))
        play.chance_steps, play.clocks, self._play = int(job["chance_steps"]), _clocks_of(job["clocks"]), play
        self._call(lambda: play_on(self._game, self._rules, play, self._players, PART))

    def result(self, seconds: float, cpu: float) -> np.ndarray:
        self._stop()
        found, play = np.zeros(1, self.result_dtype), self._play
        fields = {"job_id": self.job_id, "over": play.over, "chance_steps": play.chance_steps, "nodes": self.nodes}
        fields |= {"seconds": seconds, "cpu": cpu, "score": play.points, "side": play.position.side}
        fields |= {"length": len(play.codes), "state": play.position.state}
        fields |= {"complete": play.over or len(play.codes) == PART}
        for name, value in fields.items():
            found[name] = value
        found["codes"][0, : len(play.codes)] = play.codes
        found["seconds_left"][0, : len(play.codes)] = play.seconds_left
        found["clocks"] = _rows_of(play.clocks)
        found["tallies"] = [[getattr(tally, name) for name in _TALLY] for tally in play.tallies]
        for row, (tile, (moves, taken)) in zip(found["tiles"][0], play.tiles.items(), strict=False):
            row[:] = tile, moves, taken
        return found


class PlayerGames(NumberedJobs):
    """The games of a plan as a source of work: each is a chain of jobs, the next part of it.

    take_in(play): called for every game that is over, in the order of their numbers; returns whether to stop there.
    """

    def __init__(self, plan: GamePlan, take_in: Callable[[GamePlay], bool]):
        words = plan.game.words(plan.rules)
        super().__init__(game_job(words))
        self.result_dtype = game_result(words)
        self._plan, self._take_in = plan, take_in
        self._begun: dict[int, GamePlay] = {}  # by number, of those that have not been taken in
        self._next = self.over = 0  # numbers of the first game that was not begun, and that was not taken in
        self._stopped = False

    @property
    def done(self) -> bool:
        """Whether every game that is needed is over."""
        return self._stopped or self.over == self._plan.count

    @property
    def waiting(self) -> int:
        """Parts that have not been handed out, of games that were begun and that were not."""
        return 0 if self._stopped else len(self._queue) + self._plan.count - self._next

    def take(self, count: int, worker: int) -> np.ndarray:
        """See ``NumberedJobs.take``; games that were begun go first."""
        return self._handed([self._following() for _ in range(min(count, self.waiting))], worker)

    def _following(self):
        if self._queue:
            return self._queue.popleft()
        self._begun[self._next] = self._plan.begin(self._next)
        self._next += 1
        return self._next - 1

    def _fill(self, job, number):
        play = self._begun[number]
        job["earlier"], job["chance_steps"], job["seed"] = len(play.codes), play.chance_steps, play.seed
        job["players"], (job["state"], job["side"]) = (*play.players, 0)[:2], play.position
        job["clocks"] = _rows_of(play.clocks)

    def finish(self, results: np.ndarray) -> None:
        """Take result records in; a game whose part was stopped goes no further."""
        for number, result in self._back(results):
            self._add(self._begun[number], result)
            if result["complete"] and not result["over"]:
                self._queue.append(number)
        while not self.done and self.over in self._begun and self._begun[self.over].over:
            self._stopped = self._take_in(self._begun.pop(self.over))
            self.over += 1

    def _add(self, play, result):
        """Add a part to a game."""
        before = play.tallies[play.players[0]]
        for tile, moves, seconds in result["tiles"][result["tiles"][:, 0] > 0].tolist():
            play.tiles[int(tile)] = before.moves + int(moves), before.seconds + seconds
        for tally, row in zip(play.tallies, result["tallies"].tolist(), strict=True):
            kinds = Tally.__annotations__
            tally.join(Tally(**{name: kinds[name](value) for name, value in zip(_TALLY, row, strict=True)}))
        play.position = Position(as_state(result["state"]), int(result["side"]))
        play.codes += result["codes"][: result["length"]].tolist()
        play.seconds_left += result["seconds_left"][: result["length"]].tolist()
        play.clocks = _clocks_of(result["clocks"])
        play.points, play.chance_steps = play.points + int(result["score"]), int(result["chance_steps"])
        play.over = bool(result["over"])
