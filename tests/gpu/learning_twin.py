"""Games that a plain twin plays and learns from, chance and all, and steps that are learnt from all at once."""

import numpy as np

from distsearch import games
from distsearch.evaluation import ntuple
from distsearch.evaluation.tuple_network import sizes

from ..games.sliding_twin import twin_of
from ..learning.recorded import Training
from ..learning.td_twin import Twin, tiles

SPAWNS = {"2048": [(1, 0.9), (2, 0.1)], "2584": [(1, 0.75), (3, 0.25)]}


class Player:
    """A network with random weights. weights, traces: float32, as a Learner has them; arguments: its own."""

    def __init__(
        self,
        name,
        tuples,
        seed,
        symmetric=True,
        coherent=False,
        rate=0.1,
        forward=False,
        room=1 << 16,
        layers=0,
        steps=1,
        stages=(),
        dead_boards=False,
    ):
        self.game, self.seed, self.symmetric, self.rate, self.coherent = (
            games.find(name),
            seed,
            symmetric,
            rate,
            coherent,
        )
        self.rules, self.codes = self.game.rules((4, 4)), 1 << self.game.BITS
        self.tuples = ntuple.checked_tuples(self.game, tuples, (4, 4))
        numbers, size = np.random.default_rng(seed), sum(sizes(self.tuples, self.codes))
        self.weights, self.traces = numbers.normal(0, 30, (1, size)).astype(np.float32), None
        if stages:  # which have learnt nothing yet
            self.weights = np.concatenate([self.weights, np.full((len(stages), size), np.nan, np.float32)])
            size *= len(self.weights)
        if coherent:
            errors = numbers.integers(0, 3, size) * 10
            self.traces = np.stack([errors * numbers.uniform(-1, 1, size), errors], axis=1).astype(np.float32)
        self.twin = Twin(
            self.weights, self.traces, self.tuples, self.codes, symmetric, stages, rate, steps, forward, room
        )
        self._rules, self._layers, self._dead_boards = twin_of(name, (4, 4)), layers, dead_boards

    def play(self, number, learning=True):
        """Play a game; return ([1 + score, largest code, moves, learning], its afterstates of codes, their points)."""
        tile, board = tiles(self.seed, number, SPAWNS[self.game.NAME]), np.zeros((4, 4), int)
        board, boards, points = self._with(self._with(board, next(tile)), next(tile)), [], []
        while found := self._best(board, self._layers):
            (_, after, gain), board = found, None
            boards.append(after)
            points.append(gain)
            if learning:
                self.twin.add(after, gain)
            board = self._with(after, next(tile))
        if learning:
            self.twin.end()
        return [1 + sum(points), int(board.max()), len(points), int(learning)], boards, points

    def _best(self, board, layers):
        """Return (what the best move is worth, its afterstate, its points), or None."""
        rows = tuple(tuple(self.game.VALUES[code] for code in row) for row in board.tolist())
        best = None
        for move in self._rules.moves((rows, 0)):
            after, points = self._rules.slid(rows, move)
            codes = np.array([[self.game.VALUES.index(tile) for tile in row] for row in after])
            value = points + self._worth(codes, layers)
            if best is None or value > best[0]:
                best = value, codes, points
        return best

    def _worth(self, board, layers):
        """Return what an afterstate is worth, by a search of so many layers."""
        if not layers:
            return self.twin.value(board)
        free, total = np.flatnonzero(board.ravel() == 0), 0.0
        for cell in free:
            for code, probability in SPAWNS[self.game.NAME]:
                after = board.copy()
                after.ravel()[cell] = code
                found = self._best(after, layers - 1)
                if found or self._dead_boards:
                    total += probability * (found[0] if found else self.twin.value(after))
        return total / len(free)

    def _with(self, board, tile):
        chosen, code = tile
        free = np.flatnonzero(board.ravel() == 0).tolist()
        if self.game.NAME == "2584":  # its two words side by side
            free.sort(key=lambda cell: (cell % 8, cell // 8))
        board = board.copy()
        board.ravel()[free[chosen(len(free))]] = code
        return board

    def state_of(self, board):
        """Return the two words of codes."""
        text = ",".join(str(self.game.VALUES[code]) for code in board.ravel())
        return self.game.parse(text, self.rules).state


class Cpu:
    """The CPU's learner, with random weights: where symmetric boards are worth the same, bits decide what is played."""

    symmetric, coherent, traces = True, False, None

    def __init__(self, name, tuples, seed, rate=0.1, room=1 << 16):
        self.seed, self.rate = seed, rate
        self._training = Training(name, tuples, seed=seed, rate=rate, room=room)
        self._frozen = Training(name, tuples, seed=seed, rate=0.0, arrays=self._training.arrays)
        self.game, self.rules, self.tuples = (getattr(self._training, each) for each in ("game", "rules", "tuples"))
        self.weights = self._training.arrays.weights
        self.weights[:] = np.random.default_rng(seed).normal(0, 30, self.weights.shape)

    def play(self, number, learning=True):
        """As ``Player.play``, but that boards are states."""
        training = self._training if learning else self._frozen
        (row,) = training.play(number).tolist()
        states, sums = training.learner.path
        return [*row[:3], int(learning)], states, np.diff(sums, prepend=0).tolist()

    def cells(self, state):
        return self._training.cells(state)


def learn_at_once(player, paths):
    """Learn from all steps of games, ``Player.play``'s boards and points, by the weights as they are before."""
    changes = np.zeros(player.weights.shape[1])
    for boards, points in paths:
        for t, board in enumerate(boards):
            target = points[t + 1] + player.twin.value(boards[t + 1]) if t + 1 < len(boards) else 0
            at = player.twin._indices(board)
            np.add.at(changes, at, player.rate * (target - player.twin.value(board)) / len(at))
    player.weights += changes.astype(np.float32)
