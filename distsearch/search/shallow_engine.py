"""Plays many games against chance by searches of a few plies: begin them, play them in slices, read how they went."""

import numpy as np

from .. import jit
from ..addresses import address
from . import shallow

SHALLOW = 5  # plies that are searched in well under a millisecond, so that nothing has to be paused


class Shallow:
    """Plays games by an ``Expectimax`` engine, which nobody else may use in between.

    Games wait in a row and are played one after another. at: how many of them are done; table (int64): they themselves,
    one a line, by the columns of ``shallow``, of which ``states`` has the state (uint64).
    """

    def __init__(self, game, rules, engine):
        self._engine, self._state = engine, game.start(rules).state
        self._kernel = jit.specialise_all(shallow.TEMPLATES, engine.name, engine.kernels)["play_games"]
        self.begin([self._state], [1], [0], [0], 0, 1)

    def compile(self):
        """Compile, or load from disk, the kernel; the engine's own are the engine's to compile."""
        self.begin([self._state], [1], [1], [0], 8, 8)
        self.advance(1 << 20)

    def begin(self, states, depths, seeds, drawn, most, part, recorded=False):
        """Go on from states where chance has had ``drawn`` turns, each for ``most`` moves, the player's and chance's.

        depths: plies of their searches, 1 to SHALLOW; seeds: as ``playing.seed_of`` has them; part: moves after which
        the engine forgets its table; recorded: whether to keep the moves, in ``codes`` (int16, a line for each game).
        """
        states = np.asarray(states, np.uint64)
        self._most, self._part, self.at, self._end = most, part, 0, len(states)
        self.table = np.zeros((len(states), shallow.GAME_SIZE + states.shape[1]), np.int64)
        self.states = self.table[:, shallow.GAME_SIZE :].view(np.uint64)
        self.states[:] = states
        self.table[:, shallow.DEPTH], self.table[:, shallow.DRAWN] = depths, drawn
        self.table[:, shallow.SEED] = np.asarray(seeds, np.uint64).view(np.int64)
        self.codes = np.zeros((len(states), most if recorded else 0), np.int16)
        if recorded:
            self.table[:, shallow.CODES] = address(self.codes) + self.codes.strides[0] * np.arange(len(states))
        self._engine.make_room(max(depths))

    @property
    def last(self):
        """Index of the last game that is to be played."""
        return self._end - 1

    @property
    def boards(self):
        """Of the last game."""
        return int(self.table[self.last, shallow.BOARDS])

    @property
    def complete(self):
        """For each game whether it is over or has had all of its moves (bool)."""
        return (self.table[:, shallow.OVER] > 0) | (self.table[:, shallow.COUNT] == self._most)

    def advance(self, budget):
        """Play on for about ``budget`` boards; return whether all games are done."""
        where = address(self.table) + self.table.strides[0] * self.at
        left = self._end - self.at
        self.at += int(self._kernel(
            self._state, self._engine.where, where, left, self._most, self._part, int(budget)
        ))  # fmt: skip
        return self.at == self._end

    def drop_waiting(self):
        """Leave the games alone that come after the one at work."""
        self._end = min(self.at + 1, len(self.table))
