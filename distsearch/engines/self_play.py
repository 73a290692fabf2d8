"""Games against chance in compiled code, where every move is searched a few plies deep.

``playing.Player`` takes some 13 µs of Python a move, many times what so shallow a search does. Here a table of games is
played in one call, each up to a number of moves, and all of them up to a number of boards, which is looked at between
two moves of the player. Moves, points, boards and what chance draws are those of ``Player``, to the bit.

A search is ``expectimax.descend`` from the root's children on: of so few plies nothing needs to be paused.

Plays many games against chance by searches of a few plies: begin them, play them in slices, read how they went.
"""

import numpy as np

from ..core import jit
from ..core.pointers import address, float64s, int16s, int64s, uint64s
from ..core.rng import drawn
from ..games import lanes
from ..games.interface import CHANCE
from . import expectimax as em
from .pvs import table as tt

play = outcomes = turn = expand = leaf = descend = None  # bound for each game and evaluation

# A game (int64); the words of its state follow.
DEPTH = 0  # plies of a search
SEED, DRAWN = 1, 2  # of its chance, and how often that has had its turn
CODES = 3  # address that takes the codes of all moves (int16); 0: nobody wants them
COUNT = 4  # of all moves so far
SCORE, MOVES = 5, 6  # what the player's moves brought, and how many they were
BOARDS, EXPANDED = 7, 8  # of the searches
OVER = 9  # 1: the game has come to its end
GAME_SIZE = 10

_TABLED = 3  # plies of the shallowest search that asks the engine's table
_LOW = np.uint64(11)  # bits of a drawn number that a float64 has no room for


def chance_draws(s, where, seed, n):
    """Return the code of what chance does by the n-th number of a seed's stream, as ``Player`` draws it."""
    control = int64s(where)
    out, below = int16s(control[em.MOVES]), float64s(control[em.CHANCES])
    count = np.int64(outcomes(s, uint64s(control[em.RULES]), out, below, 0))
    total = 0.0
    for i in range(count):
        total += below[i]
        below[i] = total
    point = np.float64(np.int64(drawn(seed, n) >> _LOW)) * 2.0**-53 * total
    chosen = np.int64(0)
    for i in range(count - 1):  # all of them: a loop that ends early is mispredicted once a draw
        chosen += below[i] <= point
    return np.int64(out[chosen])


def best_of(s, where, n, depth):
    """Return the index of the best of the root's n > 0 moves, the first of equals; ``expand`` has written them from 0.

    s: any state (it tells the width).
    """
    control = int64s(where)
    children, gains = uint64s(control[em.CHILDREN]), int64s(control[em.GAINS])
    best, chosen = -np.inf, np.int64(0)
    for i in range(n):
        child = lanes.load(s, children, i * len(s))
        value = leaf(child, where) if depth == 1 else descend(child, where, n, depth - 1, em.CERTAIN)
        if control[em.POINTS]:
            value += gains[i]
        if value > best:
            best, chosen = value, i
    control[em.BOARDS] += n
    control[em.EXPANDED] += 1
    return chosen


def play_on(like, where, game, until, limit):
    """Play a game on, until it has had so many moves or is over, or its searches have had ``limit`` boards.

    like: any state (it tells the width); game: its address.
    """
    control, g = int64s(where), int64s(game)
    r, out = uint64s(control[em.RULES]), int16s(control[em.MOVES])
    children, gains = uint64s(control[em.CHILDREN]), int64s(control[em.GAINS])
    codes, words = int16s(g[CODES]), uint64s(game + 8 * GAME_SIZE)
    s, depth, seed = lanes.load(like, words, np.int64(0)), g[DEPTH], np.uint64(g[SEED])
    count, turns, score, tried, over = g[COUNT], g[DRAWN], g[SCORE], g[MOVES], False
    recorded = g[CODES] != 0
    control[em.BOARDS] = control[em.EXPANDED] = 0
    while count < until:
        if turn(s, r) == CHANCE:
            code = chance_draws(s, where, seed, turns)
            turns += 1
            s, _ = play(s, r, code)
        else:
            n = np.int64(expand(s, r, out, children, gains, 0))
            if n == 0:
                over = True
                break
            if control[em.BOARDS] >= limit:
                break
            i = best_of(s, where, n, depth)
            code = np.int64(out[i])
            score += gains[i]
            tried += 1
            s = lanes.load(s, children, i * len(s))
        if recorded:
            codes[count] = code
        count += 1
    lanes.store(words, np.int64(0), s)
    g[COUNT], g[DRAWN], g[SCORE], g[MOVES], g[OVER] = count, turns, score, tried, over
    g[BOARDS] += control[em.BOARDS]
    g[EXPANDED] += control[em.EXPANDED]


def play_games(like, where, games, count, most, part, budget):
    """Play games one after another until about ``budget`` boards; return how many are over or have had their moves.

    games: address of ``count`` games; most: moves of each, the player's and chance's; part: moves after which the
    table is forgotten, as it is before the first one. A game takes a board of the budget at least.
    """
    control = int64s(where)
    for i in range(count):
        game = games + 8 * (GAME_SIZE + len(like)) * i
        g = int64s(game)
        while not g[OVER] and g[COUNT] < most:
            if g[DEPTH] >= _TABLED and g[COUNT] % part == 0:
                tt.forget_near(control)
            play_on(like, where, game, min(most, (g[COUNT] // part + 1) * part), budget)
            budget -= control[em.BOARDS]
            if budget <= 0 and not g[OVER] and g[COUNT] < most:
                return i
        budget -= g[BOARDS] == 0
    return count


TEMPLATES = chance_draws, best_of, play_on, play_games


SHALLOW = 5  # plies that are searched in well under a millisecond, so that nothing has to be paused


class Shallow:
    """Plays games by an ``Expectimax`` engine, which nobody else may use in between.

    Games wait in a row and are played one after another. at: how many of them are done; table (int64): they themselves,
    one a line, by the columns of ``shallow``, of which ``states`` has the state (uint64).
    """

    def __init__(self, game, rules, engine):
        self._engine, self._state = engine, game.start(rules).state
        self._kernel = jit.specialise_all(TEMPLATES, engine.name, engine.kernels)["play_games"]
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
        self.table = np.zeros((len(states), GAME_SIZE + states.shape[1]), np.int64)
        self.states = self.table[:, GAME_SIZE:].view(np.uint64)
        self.states[:] = states
        self.table[:, DEPTH], self.table[:, DRAWN] = depths, drawn
        self.table[:, SEED] = np.asarray(seeds, np.uint64).view(np.int64)
        self.codes = np.zeros((len(states), most if recorded else 0), np.int16)
        if recorded:
            self.table[:, CODES] = address(self.codes) + self.codes.strides[0] * np.arange(len(states))
        self._engine.make_room(max(depths))

    @property
    def last(self):
        """Index of the last game that is to be played."""
        return self._end - 1

    @property
    def boards(self):
        """Of the last game."""
        return int(self.table[self.last, BOARDS])

    @property
    def complete(self):
        """For each game whether it is over or has had all of its moves (bool)."""
        return (self.table[:, OVER] > 0) | (self.table[:, COUNT] == self._most)

    def advance(self, budget):
        """Play on for about ``budget`` boards; return whether all games are done."""
        where = address(self.table) + self.table.strides[0] * self.at
        left = self._end - self.at
        self.at += int(self._kernel(self._state, self._engine.where, where, left, self._most, self._part, int(budget)))
        return self.at == self._end

    def drop_waiting(self):
        """Leave the games alone that come after the one at work."""
        self._end = min(self.at + 1, len(self.table))
