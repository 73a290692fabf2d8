"""One player of a game against chance: it searches every move to a fixed depth, and draws what chance does.

The game's chance is a stream of numbers of its own, splitmix64 (Steele, Lea, Flood 2014), of which the n-th can be had
without those before it: a game is its seed, its state and how often chance has had its turn, and any player goes on
with it from there.
"""

import numpy as np

from ..games.interface import CHANCE, END, MAX_MOVES, as_state

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def splitmix64(seed, n):
    """Return the n-th number of a seed's stream, from 0 on, an integer of 64 bits."""
    x = seed + (n + 1) * _GOLDEN & _WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
    return x ^ x >> 31


def seed_of(seed, game):
    """Return the seed (64 bits) of the game of a number, for a seed of all of them."""
    return int(np.random.SeedSequence((seed, game)).generate_state(1, np.uint64)[0])


class Player:
    """Plays on from a state by an ``Expectimax`` engine, and can be paused.

    codes: moves since ``begin``, the player's and chance's; moves: of them the player's; score: what they brought;
    boards, expanded: of their searches; over: the game has come to its end.
    """

    def __init__(self, game, rules, engine):
        self._game, self._rules, self._engine = game, rules, engine
        self._out, self._chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)

    def compile(self):
        """Compile, or load from disk, all that a game takes."""
        self._engine.compile()
        self.begin(self._game.start(self._rules).state, 1, 0, 0, 8)
        self.advance(1 << 20)

    def begin(self, state, depth, seed, drawn, most):
        """Go on from a state where chance has had ``drawn`` turns, for ``most`` moves; depth: plies of a search."""
        self.state, self._depth, self._seed, self.drawn, self._most = state, depth, seed, drawn, most
        self.codes, self.moves, self.score, self.over = [], 0, 0, False
        self._boards, self.expanded, self._searching = 0, 0, False
        self._engine.forget()  # so that boards are the same, whoever plays

    @property
    def complete(self):
        """Whether the game is over or has got all of its moves."""
        return self.over or len(self.codes) == self._most

    @property
    def boards(self):
        return self._boards + (self._engine.boards if self._searching else 0)

    def advance(self, budget):
        """Play on for about ``budget`` boards; return whether that is ``complete``."""
        limit = self.boards + budget
        while not self.complete:
            kind = int(self._game.kind(self.state, self._rules))
            if kind == CHANCE:
                self._play(self._draw())
            elif kind == END:
                self.over = True
            elif self._search(limit):
                self._play(self._choose())
            else:
                return False
        return True

    def _search(self, limit):
        """Search the next move until so many boards; return whether it is found."""
        if self.boards >= limit:
            return False
        if not self._searching:
            self._engine.begin(self.state, self._depth)
            self._searching = True
        return self._engine.advance(limit - self.boards)

    def _choose(self):
        found = self._engine.result()
        self._searching = False
        self._boards += found.boards
        self.expanded += found.expanded
        self.moves += 1
        return found.move

    def _draw(self):
        """Return the code of what chance does."""
        n = self._game.outcomes(self.state, self._rules, self._out, self._chances, 0)
        below = self._chances[:n].cumsum()
        point = (splitmix64(self._seed, self.drawn) >> 11) * 2.0**-53 * below[-1]
        self.drawn += 1
        return int(self._out[min(int(below.searchsorted(point, side="right")), n - 1)])

    def _play(self, code):
        state, reward = self._game.play(self.state, self._rules, code)
        self.state = as_state(state)
        self.score += int(reward)
        self.codes.append(code)
