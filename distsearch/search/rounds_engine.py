"""A table of games against chance whose moves are found elsewhere: seat them, have some go on, read how they went."""

import numpy as np

from .. import jit
from ..addresses import address
from . import rounds


class Rounds:
    """Room for a number of games; a row of ``table`` (int64, by the columns of ``rounds``) is one, or free.

    engine: an ``Expectimax``, whose rules and room for what chance may do are used, and nothing else; states: (uint64)
    where the games of the rows stand; most: moves of a game that are kept, in ``codes`` (int16), 0: none.
    """

    def __init__(self, game, rules, engine, room, most=0):
        self._engine, self._start = engine, game.start(rules).state
        self._kernel = jit.specialise_all(rounds.TEMPLATES, engine.name, engine.kernels)["go_on"]
        engine.make_room(1)
        self.table = np.zeros((room, rounds.GAME_SIZE + len(self._start)), np.int64)
        self.states = self.table[:, rounds.GAME_SIZE :].view(np.uint64)
        self.codes = np.zeros((room, most), np.int16)
        self._free = np.arange(room)[::-1]

    def compile(self):
        """Compile, or load from disk, the kernel."""
        rows = self.seat([self._start], [1], [0], [4])
        self.leave(self.go_on(rows)[0])

    @property
    def room(self):
        """Rows that are free."""
        return len(self._free)

    def seat(self, states, seeds, drawn, until):
        """Return the rows of games that are new here, (n,); there must be room.

        states: where they stand, and chance has had ``drawn`` turns; seeds: as ``playing.seed_of`` has them; until:
        moves that each is to have, the player's and chance's.
        """
        rows = self._free[len(self._free) - len(states) :].copy()
        self._free = self._free[: len(self._free) - len(states)]
        self.table[rows] = 0
        self.states[rows] = states
        self.table[rows, rounds.SEED] = np.asarray(seeds, np.uint64).view(np.int64)
        self.table[rows, rounds.DRAWN], self.table[rows, rounds.UNTIL] = drawn, until
        if self.codes.shape[1]:
            self.table[rows, rounds.CODES] = address(self.codes) + self.codes.strides[0] * rows
        return rows

    def leave(self, rows):
        """Free rows."""
        self._free = np.concatenate([self._free, rows])

    def go_on(self, rows, found=None, boards=0):
        """Have the games of rows (int64) go on by the best move that was found for each; see ``rounds.go_on``.

        found: float64 (n, FOUND), None: they are new; boards: of the searches. Returns (rows of those to be searched
        next, their states (uint64), rows of those that have no more moves).
        """
        count, rows = len(rows), np.array(rows, np.int64)
        states, ended = np.empty((count, len(self._start)), np.uint64), np.empty(count, np.int64)
        values = 0 if found is None else address(found)
        searched = int(self._kernel(
            self._start, self._engine.where, address(self.table), address(rows), count, values, int(boards),
            address(states), address(ended),
        ))  # fmt: skip
        return rows[:searched], states[:searched], ended[: count - searched]
