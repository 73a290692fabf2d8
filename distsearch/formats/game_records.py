"""Files of games that were played: a line of JSON each, in order of their numbers, whenever it is a game's turn.

A line holds all of the game's moves as text, the player's and chance's, from the empty board on: it can be played over
by the rules alone, with no search and no random numbers. Workers send them in parts, see ``jobs.self_play``.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .. import games
from ..core.errors import UserError
from ..games.interface import CHANCE, END, MAX_MOVES, as_state

_TEXTS, _NUMBERS = ("game", "board", "moves"), ("score", "largest")


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
        """Take in a game that is over."""
        self._waiting[played.number] = self._line(played)
        while self._next in self._waiting:
            self.write(self._waiting.pop(self._next))
            self._next += 1

    def _line(self, played):
        texts = self._texts
        for code in set(played.codes) - texts.keys():
            texts[code] = self._game.move_text(code, self._rules)
        fields = {
            "number": played.number,
            "score": played.score,
            "largest": self._game.largest(played.state, self._rules),
            "moves": " ".join(texts[code] for code in played.codes),
        }
        return json.dumps({**self._heading, **fields})


@dataclass
class RecordedGame:
    """A line of a record."""

    where: str  # what to call it in messages
    name: str  # of the game
    board: str
    spawn: str | None  # None: the usual tiles
    moves: list[str]
    score: int
    largest: int

    @property
    def played(self) -> int:
        """How many of the moves are the player's."""
        return sum("@" not in move for move in self.moves)

    def rules(self) -> tuple[Any, np.ndarray]:
        """Return (game module, rules array); raises UserError."""
        try:
            game = games.find(self.name)
            if not hasattr(game, "largest"):
                raise UserError(f"{self.name} is not a game of tiles that grow")
            spawn = {} if self.spawn is None else {"spawn": self.spawn}
            return game, game.rules(games.checked_board(game, games.parse_board(self.board)), **spawn)
        except UserError as error:
            raise UserError(f"{self.where}: {error}") from error

    def states(self, game: Any, rules: np.ndarray) -> Iterator[tuple]:
        """Yield every state in which the player moves; raises UserError where a move is not legal.

        So it does if the game is not over at its end, or has another score or largest tile than the record says.
        """
        state, score, codes, out = game.start(rules).state, 0, {}, np.zeros(MAX_MOVES, np.int16)
        for number, text in enumerate(self.moves, 1):
            if text not in codes:
                codes[text] = self._code(game, rules, number, text)
            code = codes[text]
            if code not in out[: game.moves(state, rules, out, 0)].tolist():
                raise UserError(f"{self.where}: move {number}, {text[:20]}, is not legal")
            if game.kind(state, rules) != CHANCE:
                yield state
            state, points = game.play(state, rules, code)
            state, score = as_state(state), score + int(points)
        if game.kind(state, rules) != END:
            raise UserError(f"{self.where}: the game is not over after {len(self.moves)} moves")
        if (score, largest := game.largest(state, rules)) != (self.score, self.largest):
            raise UserError(
                f"{self.where}: score {self.score} and tile {self.largest} are not those of its moves: "
                f"{score} and {largest}"
            )

    def _code(self, game, rules, number, text):
        try:
            return game.parse_move(text, rules)
        except UserError as error:
            raise UserError(f"{self.where}: move {number}: {error}") from error


def parse(line: bytes, where: str) -> RecordedGame:
    """Return the RecordedGame of a line of a record (bytes); raises UserError."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} is not JSON") from error
    if not isinstance(fields, dict):
        raise UserError(f"{where} is not a game: a JSON object")
    for names, kind, meaning in ((_TEXTS, str, "a text"), (_NUMBERS, int, "a whole number")):
        for name in names:
            if not isinstance(fields.get(name), kind):
                raise UserError(f"{where} is not a game: {name} is not {meaning}")
    if not isinstance(spawn := fields.get("spawn"), str | None):
        raise UserError(f"{where} is not a game: spawn is not a text")
    return RecordedGame(
        where, fields["game"], fields["board"], spawn, fields["moves"].split(), fields["score"], fields["largest"]
    )
