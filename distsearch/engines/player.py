"""One player of a game against chance: it searches every move, to a depth or a limit, and draws what chance does.

The game's chance is a stream of numbers of its own, splitmix64 (Steele, Lea, Flood 2014), of which the n-th can be had
without those before it: a game is its seed, its state and how often chance has had its turn, and any player goes on
with it from there.
"""

import time

import numpy as np

from ..games.interface import CHANCE, END, MAX_MOVES, as_state

DEEPER = 2  # plies from one search to the next under a limit: a move and what chance does
_CHUNK = 1 << 14  # nodes between looks at the clock, a third of a millisecond
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


def plies_for(game, rules, state, depth, depth_by_empty):
    """Return how deep to search a state: by its empty cells, else to the depth.

    depth_by_empty: pairs of (empty cells at most, plies), the fewest cells first.
    """
    if not depth_by_empty:
        return depth
    empty = game.empties(state, rules)
    return next((plies for most, plies in depth_by_empty if empty <= most), depth)


class Player:
    """Plays on from a state by an ``Expectimax`` engine, and can be paused.

    depth_by_empty: as ``plies_for`` has it; node_limit, seconds: limits of a move, under which its searches get deeper
    and deeper, 0: none. codes: moves since ``begin``, the player's and chance's; moves: of them the player's; score:
    what they brought; nodes, expanded: of their searches; times: seconds that each of the player's moves took, of a
    player with a limit of them; over: the game has come to its end.
    """

    def __init__(self, game, rules, engine, depth_by_empty=(), node_limit=0, seconds=0.0):
        self._game, self._rules, self._engine = game, rules, engine
        self._depth_by_empty, self._node_limit, self._seconds = depth_by_empty, node_limit, seconds
        self._limited = bool(node_limit or seconds)
        self._out, self._chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)

    def compile(self):
        """Compile, or load from disk, all that a game takes."""
        self._engine.compile()
        limits, self._limited = self._limited, False
        self.begin(self._game.start(self._rules).state, 1, 0, 0, 8)
        self.advance(1 << 20)
        self._limited = limits

    def begin(self, state, depth, seed, chance_steps, most):
        """Go on from a state after so many ``chance_steps``, for ``most`` moves; depth: plies of a search."""
        self.state, self._depth, self._seed, self._most = state, depth, seed, most
        self.chance_steps = chance_steps
        self.codes, self.times, self.moves, self.score, self.over = [], [], 0, 0, False
        self._nodes, self.expanded, self._searching = 0, 0, False
        self._engine.forget()  # so that nodes are the same on every rank

    @property
    def complete(self):
        """Whether the game is over or has got all of its moves."""
        return self.over or len(self.codes) == self._most

    @property
    def nodes(self):
        return self._nodes + (self._engine.nodes if self._searching else 0)

    def advance(self, budget):
        """Play on for about ``budget`` nodes; return whether that is ``complete``."""
        limit = self.nodes + budget
        while not self.complete:
            kind = int(self._game.kind(self.state, self._rules))
            if kind == CHANCE:
                self._play(self._draw())
            elif kind == END:
                self.over = True
            elif self._search(limit):
                self._play(self._move)
            else:
                return False
        return True

    def _search(self, limit):
        """Search the next move until so many nodes; return whether it is found."""
        if not self._searching:
            if self.nodes >= limit:
                return False
            self._open()
        while self.nodes < limit:
            if not self._engine.advance(self._slice(limit)):
                if not self._spent:
                    continue
                self._settle()
            else:
                self._settle()
                if self._limited and self._plies < self._deepest and not self._spent:
                    self._begin(min(self._plies + DEEPER, self._deepest))
                    continue
            if self._seconds:
                self.times.append(time.perf_counter() - self._began)
            self.moves += 1
            return True
        return False

    def _open(self):
        """Begin the first search of a move."""
        self._deepest = plies_for(self._game, self._rules, self.state, self._depth, self._depth_by_empty)
        self._move, self._began, self._before = None, time.perf_counter(), self._nodes
        self._begin(1 if self._limited else self._deepest)

    def _begin(self, plies):
        self._plies, self._searching = plies, True
        self._engine.begin(self.state, plies)

    def _slice(self, limit):
        """Nodes until there is something to look at."""
        left = limit - self.nodes
        if self._node_limit:
            left = min(left, self._before + self._node_limit - self.nodes)
        return max(1, min(left, _CHUNK) if self._seconds else left)

    @property
    def _spent(self):
        """Whether a move has had all that it may have; its first search, of a handful of nodes, ends in any case."""
        if self._move is None:
            return False
        out_of_nodes = self._node_limit and self.nodes - self._before >= self._node_limit
        return out_of_nodes or self._seconds and time.perf_counter() - self._began >= self._seconds

    def _settle(self):
        """A search has ended: take its move, if what it knows is about the last one's as well."""
        found = self._engine.result()
        self._searching = False
        self._nodes += found.nodes
        self.expanded += found.expanded
        if found.complete or self._move in found.values:
            self._move = found.move

    def _draw(self):
        """Return the code of what chance does."""
        n = self._game.outcomes(self.state, self._rules, self._out, self._chances, 0)
        below = self._chances[:n].cumsum()
        point = (splitmix64(self._seed, self.chance_steps) >> 11) * 2.0**-53 * below[-1]
        self.chance_steps += 1
        return int(self._out[min(int(below.searchsorted(point, side="right")), n - 1)])

    def _play(self, code):
        state, reward = self._game.play(self.state, self._rules, code)
        self.state = as_state(state)
        self.score += int(reward)
        self.codes.append(code)
