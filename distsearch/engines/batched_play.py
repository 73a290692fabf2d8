"""Games against chance that go on by a move of the player's each, found elsewhere: compiled code for thousands.

A GPU searches the boards of many games in a call. What is left of their rounds is here: the best move is played, chance
has its turns, and the boards to be searched next are put together. Chance draws what ``playing.Player`` draws, so
games are those of a CPU wherever searches find the same moves.

A table of games against chance whose moves are found elsewhere: seat them, have some go on, read how they went.
"""

import numpy as np

from ..core import jit
from ..core.pointers import address, float64s, int16s, int64s, uint64s
from ..games import lanes
from ..games.interface import CHANCE
from . import expectimax as em
from . import self_play

play = turn = chance_draws = None  # bound for each game and evaluation

# A game (int64); the words of its state follow.
SEED, DRAWN = 0, 1  # of its chance, and how often that has had its turn
CODES = 2  # address that takes the codes of all moves (int16); 0: nobody wants them
COUNT, UNTIL = 3, 4  # moves so far, the player's and chance's; how many it is to have
SCORE, MOVES = 5, 6  # what the player's moves brought, and how many they were
BOARDS = 7  # of the searches: its part
OVER = 8  # 1: the game has come to its end
GAME_SIZE = 9

FOUND = 5  # numbers that a search finds: what four moves are worth, and the board
_MOVES = 4


def go_on(like, where, games, rows, count, found, boards, states, ended):
    """Have games go on by the best of their moves, the first of equals, and by what chance does then.

    like: any state (it tells the width); games: address of the table of all; rows: address of the lines in it (int64)
    of those that go on; found: address of what searches of them found (float64, FOUND a game; moves that are not legal
    −1e300), or 0: nothing yet, only chance may have a turn; boards: of all those searches. Writes the rows of games
    that are to be searched next over ``rows``, their states (uint64) to the address ``states`` and the rows of those
    that are over, or have had their moves, to ``ended`` (int64); returns how many are to be searched.
    """
    r = uint64s(int64s(where)[em.RULES])
    lines, values, out, done = int64s(rows), float64s(found), uint64s(states), int64s(ended)
    searched = np.int64(0)
    for i in range(count):
        row = lines[i]
        game = games + 8 * (GAME_SIZE + len(like)) * row
        g, words = int64s(game), uint64s(game + 8 * GAME_SIZE)
        s = lanes.load(like, words, np.int64(0))
        codes, n, over = int16s(g[CODES]), g[COUNT], False
        if found != 0:
            best, chosen = -1e299, np.int64(-1)
            for move in range(_MOVES):
                value = values[FOUND * i + move]
                if value > best:
                    best, chosen = value, move
            g[BOARDS] += boards // count + (i < boards % count)
            over = chosen < 0
            if not over:
                s, gain = play(s, r, chosen)
                g[SCORE] += gain
                g[MOVES] += 1
                if g[CODES] != 0:
                    codes[n] = chosen
                n += 1
        while not over and n < g[UNTIL] and turn(s, r) == CHANCE:
            code = chance_draws(s, where, np.uint64(g[SEED]), g[DRAWN])
            g[DRAWN] += 1
            s, _ = play(s, r, code)
            if g[CODES] != 0:
                codes[n] = code
            n += 1
        g[COUNT], g[OVER] = n, over
        lanes.store(words, np.int64(0), s)
        if over or n == g[UNTIL]:
            done[i - searched] = row
        else:
            lines[searched] = row
            lanes.store(out, searched * len(like), s)
            searched += 1
    return searched


TEMPLATES = self_play.chance_draws, go_on


class Rounds:
    """Room for a number of games; a row of ``table`` (int64, by the columns of ``rounds``) is one, or free.

    engine: an ``Expectimax``, whose rules and room for what chance may do are used, and nothing else; states: (uint64)
    where the games of the rows stand; most: moves of a game that are kept, in ``codes`` (int16), 0: none.
    """

    def __init__(self, game, rules, engine, room, most=0):
        self._engine, self._start = engine, game.start(rules).state
        self._kernel = jit.specialise_all(TEMPLATES, engine.name, engine.kernels)["go_on"]
        engine.make_room(1)
        self.table = np.zeros((room, GAME_SIZE + len(self._start)), np.int64)
        self.states = self.table[:, GAME_SIZE:].view(np.uint64)
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
        self.table[rows, SEED] = np.asarray(seeds, np.uint64).view(np.int64)
        self.table[rows, DRAWN], self.table[rows, UNTIL] = drawn, until
        if self.codes.shape[1]:
            self.table[rows, CODES] = address(self.codes) + self.codes.strides[0] * rows
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
        searched = int(
            self._kernel(
                self._start,
                self._engine.where,
                address(self.table),
                address(rows),
                count,
                values,
                int(boards),
                address(states),
                address(ended),
            )
        )
        return rows[:searched], states[:searched], ended[: count - searched]
