"""A file of games that were played: a line of JSON each, in order of their numbers, whenever it is a game's turn.

A line holds all of the game's moves as text, the player's and chance's, from the empty board on: it can be played over
by the rules alone, with no search and no random numbers. Workers send them in parts, see ``tree.games_pool``.
"""

import json

from .record_file import RecordFile


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
            "number": played.number, "score": played.score, "largest": self._game.largest(played.state, self._rules),
            "moves": " ".join(texts[code] for code in played.codes),
        }  # fmt: skip
        return json.dumps({**self._heading, **fields})
