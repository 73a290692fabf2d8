"""Games against chance that go on by a move of the player's each, found elsewhere: compiled code for thousands.

A GPU searches the positions of many games in a call. The rest of a round is here: the best move is played, chance has
its turns, and the positions to search next are put together. Chance draws what ``player.Player`` draws, so games are
those of a CPU wherever searches find the same moves. A table holds the games: add them, step some, read their results.
"""

import numpy as np

from ..core import jit
from ..core.pointers import address, float64s, int16s, int64_struct, int64s, record_view, set_fields, uint64s
from ..games import lanes
from ..games.interface import CHANCE
from . import expectimax as em
from . import self_play

play = turn = chance_draws = None  # bound for each game and evaluation

# A game; the words of its state follow.
GAME = int64_struct(
    "seed",  # of its chance
    "chance_steps",  # moves of chance so far
    "codes",  # address that takes the codes of all moves (int16); 0: they are not recorded
    "count",  # moves so far, the player's and chance's
    "until",  # how many it may have
    "score",  # points of the player's moves
    "moves",  # the player's
    "nodes",  # of the searches: its share
    "over",  # 1: the game has come to its end
)
_game_at, _GAME_SIZE = record_view(GAME), GAME.itemsize

FOUND = 5  # numbers that a search finds: the values of four moves, and of the node itself
_MOVES = 4


def step(like, where, games, rows, count, found, nodes, states, ended):
    """Have games go on by the best of their moves, the first of equals, and by what chance does then.

    like: any state (it tells the width); games: address of the table of all; rows: address of the rows in it (int64)
    of those that go on; found: address of what searches of them found (float64, FOUND a game; moves that are not legal
    −1e300), or 0: nothing yet, only chance may have a turn; nodes: of all those searches. Writes the rows of
    games that must be searched next over ``rows``, their states (uint64) to the address ``states`` and the rows of
    those that are over, or have had their moves, to ``ended`` (int64); returns how many must be searched.
    """
    c = em.control_view(where, 0)
    r = uint64s(c.rules)
    lines, values, out, done = int64s(rows), float64s(found), uint64s(states), int64s(ended)
    searched = np.int64(0)
    for i in range(count):
        row = lines[i]
        game = games + (_GAME_SIZE + 8 * len(like)) * row
        g, words = _game_at(game, 0), uint64s(game + _GAME_SIZE)
        s = lanes.load(like, words, np.int64(0))
        codes, n, over = int16s(g.codes), g.count, False
        if found != 0:
            best, chosen = -1e299, np.int64(-1)
            for move in range(_MOVES):
                value = values[FOUND * i + move]
                if value > best:
                    best, chosen = value, move
            g.nodes += nodes // count + (i < nodes % count)
            over = chosen < 0
            if not over:
                s, gain = play(s, r, chosen)
                g.score += gain
                g.moves += 1
                if g.codes != 0:
                    codes[n] = chosen
                n += 1
        while not over and n < g.until and turn(s, r) == CHANCE:
            code = chance_draws(s, c, np.uint64(g.seed), g.chance_steps)
            g.chance_steps += 1
            s, _ = play(s, r, code)
            if g.codes != 0:
                codes[n] = code
            n += 1
        g.count, g.over = n, over
        lanes.store(words, np.int64(0), s)
        if over or n == g.until:
            done[i - searched] = row
        else:
            lines[searched] = row
            lanes.store(out, searched * len(like), s)
            searched += 1
    return searched


_TEMPLATES = self_play.chance_draws, step


class BatchedPlay:
    """Room for a number of games; a row of ``table`` is one, a GAME and its ``state`` (uint64), or free.

    engine: an ``Expectimax``, whose rules and room for what chance may do are used, and nothing else; most:
    moves of a game that are kept, in ``codes`` (int16), 0: none.
    """

    def __init__(self, game, rules, engine, room, most=0):
        self._engine, self._start = engine, game.start(rules).state
        self._kernel = jit.specialise_all(_TEMPLATES, engine.name, engine.kernels)["step"]
        engine.make_room(1)
        self.table = np.zeros(room, [*GAME.descr, ("state", np.uint64, len(self._start))])
        self.codes = np.zeros((room, most), np.int16)
        self._free = np.arange(room)[::-1]

    def compile(self):
        """Compile, or load from disk, the kernel."""
        rows = self.add_games([self._start], [1], [0], [4])
        self.remove_games(self.step(rows)[0])

    @property
    def room(self):
        """Rows that are free."""
        return len(self._free)

    @property
    def rows(self):
        """Rows of games."""
        return np.setdiff1d(np.arange(len(self.table)), self._free)

    def add_games(self, states, seeds, chance_steps, until):
        """Return the rows of games that are new here, (n,); there must be room.

        states: after so many ``chance_steps``; seeds: as ``player.seed_of`` has them; until: moves that each may have,
        the player's and chance's.
        """
        rows = self._free[len(self._free) - len(states) :].copy()
        self._free = self._free[: len(self._free) - len(states)]
        games = np.zeros(len(rows), self.table.dtype)
        seeds = np.asarray(seeds, np.uint64).view(np.int64)
        set_fields(games, state=states, seed=seeds, chance_steps=chance_steps, until=until)
        if self.codes.shape[1]:
            games["codes"] = address(self.codes) + self.codes.strides[0] * rows
        self.table[rows] = games
        return rows

    def remove_games(self, rows):
        """Free rows."""
        self._free = np.concatenate([self._free, rows])

    def step(self, rows, found=None, nodes=0):
        """Have the games of rows (int64) go on by the best move that was found for each; see ``step`` above.

        found: float64 (n, FOUND), None: they are new; nodes: of the searches. Returns (rows of those that must
        be searched next, their states (uint64), rows of those that have no more moves).
        """
        count, rows = len(rows), np.array(rows, np.int64)
        states, ended = np.empty((count, len(self._start)), np.uint64), np.empty(count, np.int64)
        values = 0 if found is None else address(found)
        searched = int(
            self._kernel(
                self._start,
                self._engine.where,
                address(self.table),
                address(rows),
                count,
                values,
                int(nodes),
                address(states),
                address(ended),
            )
        )
        return rows[:searched], states[:searched], ended[: count - searched]
