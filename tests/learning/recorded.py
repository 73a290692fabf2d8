"""Games of a Learner, a move at a time, with what the player saw before each."""

from typing import NamedTuple

import numpy as np

from distsearch import games
from distsearch.core.pointers import set_fields
from distsearch.evaluation import ntuple
from distsearch.evaluation.tuple_network import sizes
from distsearch.learning.cpu_team import shared_size
from distsearch.learning.learner import Learner
from distsearch.learning.shared_arrays import Arrays

from .td_twin import tiles


class Move(NamedTuple):
    before: np.ndarray  # codes, shape of the board
    after: np.ndarray
    points: int
    again: bool  # the first one after the game was over, from its middle


class Training:
    """One rank's learning: ``learner`` on ``arrays``; the arguments are those of a Learner, with a preset or tuples."""

    def __init__(
        self,
        name,
        tuples,
        board=(4, 4),
        symmetric=True,
        begins=(),
        coherent=False,
        rate=0.1,
        seed=1,
        arrays=None,
        **options,
    ):
        self.game, self.board, self.seed = games.find(name), board, seed
        self.rules = self.game.rules(board)
        self.codes = 1 << self.game.BITS
        self.tuples = ntuple.checked_tuples(self.game, tuples, board)
        size = sum(sizes(self.tuples, self.codes))
        self.arrays = arrays or Arrays(None, len(begins) + 1, size, coherent, shared_size(1))
        self.learner = Learner(
            self.game, self.rules, self.tuples, symmetric, begins, self.arrays, rate, seed, coherent=coherent, **options
        )

    def play(self, first, count=1, budget=1 << 40):
        """Play games by their numbers, and learn from them; return their results."""
        self._offer(first, count)
        while not self.learner.run(budget):
            pass
        return self.arrays.results[:count].copy()

    def _offer(self, first, count):
        set_fields(self.arrays.games, next=first, first=first, limit=first + count, stop=0)
        self.arrays.results[:count] = 0

    def moves(self, number):
        """Play a game; yield its Moves one by one, each before anything else happens."""
        self._offer(number, 1)
        spawns = [(code, probability) for code, _, probability in self._spawns()]
        tile, board = tiles(self.seed, number, spawns), np.zeros(self.board, int)
        board = self._with(self._with(board, next(tile)), next(tile))
        before, over, path = self.learner.moves, False, []
        while not over:
            over = self.learner.run(1)
            if self.learner.moves > before:
                before = self.learner.moves
                states, sums = self.learner.path
                after, again = self.cells(states[-1]), len(states) == 1 and len(path) > 1
                if again:
                    board, path = self._with(path[len(path) // 2], next(tile)), []
                path.append(after)
                yield Move(board, after, int(sums[-1] - (sums[-2] if len(sums) > 1 else 0)), again)
                board = self._with(after, next(tile))
        self.last = board

    def _spawns(self):
        from distsearch.games.sliding import parse_spawn

        return parse_spawn(self.game.SPAWN, list(self.game.VALUES), self.game.NAME)

    def _with(self, board, tile):
        chosen, code = tile
        columns = self.board[1]
        free = [(4 * (i // columns) + i % columns, i) for i in np.flatnonzero(board.ravel() == 0).tolist()]
        if self.game.NAME == "2584":  # its two words side by side
            free.sort(key=lambda each: (each[0] % 8, each[0] // 8))
        board = board.copy()
        board.ravel()[free[chosen(len(free))][1]] = code
        return board

    def cells(self, state):
        """Return the codes of a state, shape of the board."""
        rows, columns = self.board
        state = tuple(map(np.uint64, state))
        return np.array(
            [
                [int(self.game.code_at(state, np.int64(4 * row + column))) for column in range(columns)]
                for row in range(rows)
            ]
        )

    def tiles_of(self, board):
        """Return rows of tile values, as the plain twin of the game has them."""
        return tuple(tuple(self.game.VALUES[code] for code in row) for row in board.tolist())

    def codes_of(self, rows):
        return np.array([[self.game.VALUES.index(tile) for tile in row] for row in rows])

    def state_of(self, board):
        """Return the state of codes, with the player to move."""
        text = ",".join(str(self.game.VALUES[code]) for code in board.ravel())
        return self.game.parse(text, self.rules).state
