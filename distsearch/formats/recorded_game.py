"""Games of a record, see ``game_records``, played over by the rules alone: with no search and no random numbers."""

import json
from dataclasses import dataclass

import numpy as np

from .. import games
from ..core.errors import UserError
from ..games.interface import CHANCE, END, MAX_MOVES, as_state

_TEXTS, _NUMBERS = ("game", "board", "moves"), ("score", "largest")


@dataclass
class RecordedGame:
    """A line of a record. where: what to call it in messages; spawn: None for the usual tiles; moves: their texts."""

    where: str
    name: str
    board: str
    spawn: str | None
    moves: list
    score: int
    largest: int

    @property
    def played(self):
        """How many of the moves are the player's."""
        return sum("@" not in move for move in self.moves)

    def rules(self):
        """Return (game module, rules array); raises UserError."""
        try:
            game = games.find(self.name)
            if not hasattr(game, "largest"):
                raise UserError(f"{self.name} is not a game of tiles that grow")
            spawn = {} if self.spawn is None else {"spawn": self.spawn}
            return game, game.rules(games.checked_board(game, games.parse_board(self.board)), **spawn)
        except UserError as error:
            raise UserError(f"{self.where}: {error}") from error

    def states(self, game, rules):
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


def parse(line, where):
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
                raise UserError(f"{where} is not a game: {name} is to be {meaning}")
    if not isinstance(spawn := fields.get("spawn"), str | None):
        raise UserError(f"{where} is not a game: spawn is to be a text")
    return RecordedGame(
        where, fields["game"], fields["board"], spawn, fields["moves"].split(), fields["score"], fields["largest"]
    )
