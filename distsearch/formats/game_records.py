"""Files of games that were played: a line of JSON each, in order of their numbers, whenever it is a game's turn.

A line holds all of the game's moves as text, the players' and chance's, from the game's start or a position ``start``
on: it can be played over by the rules alone, with no search and no random numbers.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .. import games
from ..core.errors import UserError
from ..core.files import lines_of
from ..games.interface import CHANCE, END, MAX_MOVES, Position, as_state
from .drawing import SIDES

_TEXTS = "game", "board", "moves"
_PLAYERS = "X", "O", "player"
LOST_ON_TIME = "lost_on_time"  # the field with the side whose clock ended the game


class RecordFile:
    """A context in which lines are written. Raises UserError if the file is there, or cannot be written."""

    def __init__(self, path: str):
        self._path = path

    def __enter__(self) -> Self:
        self._file = self._do(lambda: open(self._path, "x"))  # noqa: SIM115, closed as the context ends
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._file.close)

    def write(self, line: str) -> None:
        """Write a line, for others to read at once."""
        self._do(lambda: print(line, file=self._file, flush=True))

    def _do(self, write):
        try:
            return write()
        except (OSError, ValueError) as error:  # ValueError: a name with a NUL
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"cannot write {str(self._path)[:200]}: {reason}") from error


class GameRecords(RecordFile):
    """A context in which games are written as they end, see ``RecordFile``.

    heading: fields that all lines begin with.
    """

    def __init__(self, path: str, game: Any, rules: np.ndarray, heading: dict[str, Any]):
        super().__init__(path)
        self._game, self._rules, self._heading = game, rules, heading
        self._texts: dict[int, str] = {}  # of moves that have been met, by code
        self._waiting: dict[int, str] = {}  # number → line, of games that ended before others of a lower number
        self._next = 0

    def __exit__(self, *_: object) -> None:
        """What waited for games that did not end is written as well."""
        try:
            for number in sorted(self._waiting):
                self.write(self._waiting[number])
        finally:
            super().__exit__()

    def add(self, played: Any) -> None:
        """Take in a game against chance that is over, from the empty board on."""
        largest = self._game.largest(played.state, self._rules)
        self.write_game(played.number, None, played.codes, {"score": played.score, "largest": largest})

    def write_game(self, number: int, start: Position | None, codes: Sequence[int], fields: dict[str, Any]) -> None:
        """Take in a game that is over: where it began (None: at the game's start), its moves, and more fields."""
        self._waiting[number] = self._line(number, start, codes, fields)
        while self._next in self._waiting:
            self.write(self._waiting.pop(self._next))
            self._next += 1

    def _line(self, number, start, codes, fields):
        texts = self._texts
        for code in set(codes) - texts.keys():
            texts[code] = self._game.move_text(code, self._rules)
        line = {**self._heading, "number": number, **fields}
        if start is not None and start != self._game.start(self._rules):
            line["start"] = self._game.text(start, self._rules)
        return json.dumps({**line, "moves": " ".join(texts[code] for code in codes)})


@dataclass
class RecordedGame:
    """A line of a record."""

    where: str  # what to call it in messages
    name: str  # of the game
    board: str
    options: dict[str, str]  # the game's own that were given
    start: str | None  # where it began; None: at the game's start
    moves: list[str]
    score: int  # for the side that moves first, if there are two
    largest: int | None  # of games with a largest tile
    players: dict[str, str]  # what played, by the fields of the record that say it
    lost_on_time: str | None = None  # the side whose clock ended the game, by one point

    @property
    def played(self) -> int:
        """How many of the moves are the player's, in a game against chance."""
        return sum("@" not in move for move in self.moves)

    def rules(self) -> tuple[Any, np.ndarray]:
        """Return (game module, rules array); raises UserError."""
        try:
            game = games.find(self.name)
            if hasattr(game, "largest") and self.largest is None:
                raise UserError("no largest tile")
            for name, value in self.options.items():
                allowed = game.OPTIONS[name]
                if allowed is not None and value not in allowed:
                    raise UserError(f"{name} '{value[:40]}' is not {' or '.join(allowed)}")
            return game, game.rules(games.checked_board(game, games.parse_board(self.board)), **self.options)
        except UserError as error:
            raise UserError(f"{self.where}: {error}") from error

    def result(self) -> str:
        """Return the names of the players, as far as the record has them, and the score, for people."""
        names = "".join(filter(str.isprintable, ", ".join(" ".join(each) for each in self.players.items())))
        late = f", {self.lost_on_time} lost on time" if self.lost_on_time else ""
        return f"{names}{', ' * bool(names)}score {self.score:{'+' if self.largest is None else ''}}{late}"

    def positions(self, game: Any, rules: np.ndarray) -> Iterator[tuple[Position, str | None]]:
        """Yield every position with the move made there, None at the end; raises UserError where one is not legal.

        So it does if the game is not over at its end nor lost on time, or has another score or largest tile than the
        record says.
        """
        position, score, codes, out = self._first(game, rules), 0, {}, np.zeros(MAX_MOVES, np.int16)
        for number, text in enumerate(self.moves, 1):
            if text not in codes:
                codes[text] = self._code(game, rules, number, text)
            code = codes[text]
            if code not in out[: game.moves(position.state, rules, out, 0)].tolist():
                raise UserError(f"{self.where}: move {number}, {text[:20]}, is not legal")
            yield position, text
            state, points = game.play(position.state, rules, code)
            score += -int(points) if position.side else int(points)
            position = Position(as_state(state), 1 - position.side if game.PLAYERS == 2 else position.side)
        self._check_end(game, rules, position, score)
        yield position, None

    def states(self, game: Any, rules: np.ndarray) -> Iterator[tuple]:
        """Yield every state in which the player moves, in a game against chance; raises as ``positions`` does."""
        for (state, _), move in self.positions(game, rules):
            if move is not None and game.kind(state, rules) != CHANCE:
                yield state

    def afterstates(self, game: Any, rules: np.ndarray) -> Iterator[tuple[tuple, int]]:
        """Yield (state, points) of every move of the player, in a game against chance; raises as ``positions`` does."""
        for (state, _), move in self.positions(game, rules):
            if move is not None and game.kind(state, rules) != CHANCE:
                child, points = game.play(state, rules, self._code(game, rules, 0, move))
                yield child, int(points)

    def _first(self, game, rules):
        try:
            return game.start(rules) if self.start is None else game.parse(self.start, rules)
        except UserError as error:
            raise UserError(f"{self.where}: {error}") from error

    def _check_end(self, game, rules, position, score):
        state = position.state
        if self.lost_on_time is not None:
            if SIDES[position.side] != self.lost_on_time or self.score != (1 if position.side else -1):
                raise UserError(f"{self.where}: no game that {self.lost_on_time} to move lost on time, by one point")
            return
        if game.kind(state, rules) != END:
            raise UserError(f"{self.where}: the game is not over after {len(self.moves)} moves")
        if self.largest is not None:
            if not hasattr(game, "largest"):
                raise UserError(f"{self.where}: {game.NAME} has no largest tile")
            largest = game.largest(state, rules)
            if (score, largest) != (self.score, self.largest):
                raise UserError(
                    f"{self.where}: score {self.score} and tile {self.largest} are not those of its moves: "
                    f"{score} and {largest}"
                )
        elif (found := score + final_score(game, rules, position)) != self.score:
            raise UserError(f"{self.where}: score {self.score} is not that of its moves: {found}")

    def _code(self, game, rules, number, text):
        try:
            return game.parse_move(text, rules)
        except UserError as error:
            raise UserError(f"{self.where}: move {number}: {error}") from error


def final_score(game: Any, rules: np.ndarray, position: Position) -> int:
    """Return the score of a finished game for the side that moves first, without what single moves brought."""
    final = int(game.final(position.state, rules))
    return -final if position.side else final


def read_games(path: str) -> Iterator[RecordedGame]:
    """Yield the games of a record, which has at least one; raises UserError, at the line that is wrong."""
    empty = True
    try:
        for number, line in enumerate(lines_of(path), 1):
            yield parse(line, f"{path[:200]} line {number}")
            empty = False
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
    if empty:
        raise UserError(f"{path[:200]} holds no game")


def parse(line: bytes, where: str) -> RecordedGame:
    """Return the RecordedGame of a line of a record (bytes); raises UserError."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} is not JSON") from error
    if not isinstance(fields, dict):
        raise UserError(f"{where} is not a game: a JSON object")
    named = fields.get("game") in games.names()
    options = {name: fields[name] for name in (games.find(fields["game"]).OPTIONS if named else ()) if name in fields}
    wanted = [(name, str, "a text") for name in (*_TEXTS, *options, *(["start"] if "start" in fields else []))]
    wanted += [(name, str, "a text") for name in [LOST_ON_TIME] if name in fields]
    wanted += [(name, int, "a whole number") for name in ("score", *(["largest"] if "largest" in fields else []))]
    for name, kind, meaning in wanted:
        if not isinstance(fields.get(name), kind):
            raise UserError(f"{where} is not a game: {name} is not {meaning}")
    return RecordedGame(
        where,
        fields["game"],
        fields["board"],
        options,
        fields.get("start"),
        fields["moves"].split(),
        fields["score"],
        fields.get("largest"),
        {name: str(fields[name]) for name in _PLAYERS if name in fields},
        fields.get(LOST_ON_TIME),
    )
