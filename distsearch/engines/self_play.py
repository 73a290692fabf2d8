"""Games against chance in compiled code, where every move is searched a few plies deep.

``player.Player`` takes some 13 µs of Python a move, many times what so shallow a search does. Here a table of games is
played in one call, each up to a number of moves, and all of them up to a number of nodes, which is checked between
two moves of the player. Moves, points, nodes and what chance draws are those of ``Player``, to the bit.

A search is ``expectimax.descend`` from the root's children on: of so few plies nothing needs to be paused.

Plays many games against chance by searches of a few plies: begin them, play them in slices, read how they went.
"""

import numpy as np

from ..core import jit
from ..core.pointers import address, float64s, int16s, int64_struct, int64s, record_view, set_fields, uint64s
from ..core.rng import drawn
from ..games import lanes
from ..games.interface import CHANCE
from . import expectimax as em
from .pvs import table as tt

play = outcomes = turn = expand = leaf = descend = None  # bound for each game and evaluation

# A game; the words of its state follow.
GAME = int64_struct(
    "depth",  # plies of a search
    "seed",  # of its chance
    "chance_steps",  # moves of chance so far
    "codes",  # address that takes the codes of all moves (int16); 0: they are not recorded
    "count",  # moves so far, the player's and chance's
    "score",  # points of the player's moves
    "moves",  # the player's
    "nodes",  # of the searches
    "expanded",  # of these, those in which the player's moves were tried
    "over",  # 1: the game has come to its end
)
_game_at, _GAME_SIZE = record_view(GAME), GAME.itemsize

_TABLED = 3  # plies of the shallowest search that asks the engine's table
_LOW = np.uint64(11)  # bits of a drawn number that a float64 has no room for


def chance_draws(s, c, seed, n):
    """Return the code of what chance does by the n-th number of a seed's stream, as ``Player`` draws it."""
    out, below = int16s(c.moves), float64s(c.chances)
    count = np.int64(outcomes(s, uint64s(c.rules), out, below, 0))
    total = 0.0
    for i in range(count):
        total += below[i]
        below[i] = total
    point = np.float64(np.int64(drawn(seed, n) >> _LOW)) * 2.0**-53 * total
    chosen = np.int64(0)
    for i in range(count - 1):  # all of them: a loop that ends early is mispredicted once a draw
        chosen += below[i] <= point
    return np.int64(out[chosen])


def best_of(s, c, n, depth):
    """Return the index of the best of the root's n > 0 moves, the first of equals; ``expand`` has written them from 0.

    s: any state (it tells the width).
    """
    children, gains = uint64s(c.children), int64s(c.gains)
    best, chosen = -np.inf, np.int64(0)
    for i in range(n):
        child = lanes.load(s, children, i * len(s))
        value = leaf(child, c) if depth == 1 else descend(child, c, n, depth - 1, em.CERTAIN)
        if c.points:
            value += gains[i]
        if value > best:
            best, chosen = value, i
    c.nodes += n
    c.expanded += 1
    return chosen


@jit.outlined
def play_on(like, where, game, until, limit):
    """Play a game on, until it has had so many moves or is over, or its searches have had ``limit`` nodes.

    like: any state (it tells the width); game: its address.
    """
    c, g = em.control_view(where, 0), _game_at(game, 0)
    r, out = uint64s(c.rules), int16s(c.moves)
    children, gains = uint64s(c.children), int64s(c.gains)
    codes, words = int16s(g.codes), uint64s(game + _GAME_SIZE)
    s, depth, seed = lanes.load(like, words, np.int64(0)), g.depth, np.uint64(g.seed)
    count, turns, score, tried, over = g.count, g.chance_steps, g.score, g.moves, False
    recorded = g.codes != 0
    c.nodes = c.expanded = 0
    while count < until:
        if turn(s, r) == CHANCE:
            code = chance_draws(s, c, seed, turns)
            turns += 1
            s, _ = play(s, r, code)
        else:
            n = np.int64(expand(s, r, out, children, gains, 0))
            if n == 0:
                over = True
                break
            if c.nodes >= limit:
                break
            i = best_of(s, c, n, depth)
            code = np.int64(out[i])
            score += gains[i]
            tried += 1
            s = lanes.load(s, children, i * len(s))
        if recorded:
            codes[count] = code
        count += 1
    lanes.store(words, np.int64(0), s)
    g.count, g.chance_steps, g.score, g.moves, g.over = count, turns, score, tried, over
    g.nodes += c.nodes
    g.expanded += c.expanded


def play_games(like, where, games, count, most, part, budget):
    """Play games one after another until about ``budget`` nodes; return how many are over or have had their moves.

    games: address of ``count`` games; most: moves of each, the player's and chance's; part: moves after which the
    table is forgotten, as it is before the first one. A game takes a node of the budget at least.
    """
    c = em.control_view(where, 0)
    for i in range(count):
        game = games + (_GAME_SIZE + 8 * len(like)) * i
        g = _game_at(game, 0)
        while not g.over and g.count < most:
            if g.depth >= _TABLED and g.count % part == 0:
                tt.forget_l1(c.table)
            play_on(like, where, game, min(most, (g.count // part + 1) * part), budget)
            budget -= c.nodes
            if budget <= 0 and not g.over and g.count < most:
                return i
        budget -= g.nodes == 0
    return count


_TEMPLATES = chance_draws, best_of, play_on, play_games


MAX_PLIES = 5  # that are searched in well under a millisecond, so that nothing has to be paused


class SelfPlay:
    """Plays games by an ``Expectimax`` engine, which must not be used otherwise in between.

    Games wait in a row and are played one after another. at: how many of them are done; table: the games
    themselves, a GAME each and its ``state`` (uint64).
    """

    def __init__(self, game, rules, engine):
        self._engine, self._state = engine, game.start(rules).state
        self._kernel = jit.specialise_all(_TEMPLATES, engine.name, engine.kernels)["play_games"]
        self.begin([self._state], [1], [0], [0], 0, 1)

    def compile(self):
        """Compile, or load from disk, the kernel; the engine's own are the engine's to compile."""
        self.begin([self._state], [1], [1], [0], 8, 8)
        self.advance(1 << 20)

    def begin(self, states, depths, seeds, chance_steps, most, part, recorded=False):
        """Go on from states after so many ``chance_steps``, each for ``most`` moves, the player's and chance's.

        depths: plies of their searches, 1 to MAX_PLIES; seeds: as ``player.seed_of`` has them; part: moves after which
        the engine forgets its table; recorded: whether to keep the moves, in ``codes`` (int16, a line for each game).
        """
        states = np.asarray(states, np.uint64)
        self._most, self._part, self.at, self._end = most, part, 0, len(states)
        self.table = np.zeros(len(states), [*GAME.descr, ("state", np.uint64, states.shape[1])])
        self.codes = np.zeros((len(states), most if recorded else 0), np.int16)
        seeds = np.asarray(seeds, np.uint64).view(np.int64)
        set_fields(self.table, state=states, depth=depths, chance_steps=chance_steps, seed=seeds)
        if recorded:
            self.table["codes"] = address(self.codes) + self.codes.strides[0] * np.arange(len(states))
        self._engine.make_room(max(depths))

    @property
    def last(self):
        """Index of the last game to play."""
        return self._end - 1

    @property
    def nodes(self):
        """Of the last game."""
        return int(self.table["nodes"][self.last])

    @property
    def complete(self):
        """For each game whether it is over or has had all of its moves (bool)."""
        return (self.table["over"] > 0) | (self.table["count"] == self._most)

    def advance(self, budget):
        """Play on for about ``budget`` nodes; return whether all games are done."""
        where = address(self.table) + self.table.strides[0] * self.at
        left = self._end - self.at
        self.at += int(self._kernel(self._state, self._engine.where, where, left, self._most, self._part, int(budget)))
        return self.at == self._end

    def drop_waiting(self):
        """Leave the games alone that come after the one at work."""
        self._end = min(self.at + 1, len(self.table))
