"""A new file that is written a line at a time.

A file of games that were played: a line of JSON each, in order of their numbers, whenever it is a game's turn.

A line holds all of the game's moves as text, the player's and chance's, from the empty board on: it can be played over
by the rules alone, with no search and no random numbers. Workers send them in parts, see ``jobs.self_play``.
"""

import json

from ..core.errors import UserError


class RecordFile:
    """A context in which lines are written. Raises UserError if the file is there, or cannot be written."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        self._file = self._do(lambda: open(self._path, "x"))  # noqa: SIM115, closed as the context ends
        return self

    def __exit__(self, *_):
        self._do(self._file.close)

    def write(self, line):
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

    def __init__(self, path, game, rules, heading):
        super().__init__(path)
        self._game, self._rules, self._heading = game, rules, heading
        self._texts = {}  # of moves that have been met, by code
        self._waiting = {}  # number → line, of games that ended before others of a lower number
        self._next = 0

    def __exit__(self, *_):
        """What waited for games that did not end is written as well."""
        try:
            for number in sorted(self._waiting):
                self.write(self._waiting[number])
        finally:
            super().__exit__()

    def add(self, played):
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
