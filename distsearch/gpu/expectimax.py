"""Expectimax of many boards of 2048 or 2584 at once on a GPU, with the values of the CPU's engine.

Three methods. ``merged``: levels of afterstates, each of which is searched once, whichever boards of a call and moves
lead to it. ``multilevel`` and ``naive`` are those of a report on 2584: level by level without what is invalid, and a
thread for each path. They are compared in benchmarks/gpu/expectimax.py.
"""

from typing import NamedTuple

import numpy as np

from ..core.errors import UserError
from ..games.sliding import CELLS
from . import expectimax_tables
from .expectimax_merged import AfterstateLevels
from .expectimax_reference import Multilevel, Naive
from .structs import struct, typed

METHODS = {"merged": AfterstateLevels, "multilevel": Multilevel, "naive": Naive}
MOVES = 4
_THREADS, _FEW_BOARDS = 256, 4  # of ``evaluation_rate``: threads of a block, boards
_DUE = np.uint64(62)
_CELLS = np.uint64((1 << 62) - 1)
NO_MOVE = -1e299  # values below are none: moves that are not legal


class ExpectimaxResult(NamedTuple):
    """What searches of n states found."""

    values: np.ndarray  # float64 (n,)
    moves: np.ndarray  # int16 (n,): the first of the best ones; -1 where the player is not to move, or cannot
    leaves: int  # evaluated


class GpuExpectimax:
    """Expectimax searches on a GPU.

    gpu: a ``device.Gpu``; game: the module of 2048 or 2584, on 4×4; evaluation: an ``Evaluation`` of it; method: one of
    ``METHODS``; points: whether what moves bring counts, None: as the evaluation wants it; uniform_chance: chance does
    everything with the same probability; sizes: what the method's class takes. Raises UserError for what a GPU cannot
    do.
    """

    def __init__(self, gpu, game, rules, evaluation, method="merged", points=None, uniform_chance=False, **sizes):
        if method not in METHODS:
            raise UserError(f"method '{str(method)[:20]}' is not {' or '.join(METHODS)}")
        if points is not None:
            evaluation = evaluation._replace(points=bool(points))
        self._gpu, self._game, self._rules = gpu, game, rules
        self._evaluator = expectimax_tables.make_evaluator(gpu, game, rules, evaluation, uniform_chance)
        self._kinds = self._evaluator.macros["KINDS"]
        self.method = METHODS[method](gpu, self._evaluator, **sizes)

    def compile(self):
        """Compile, or load from disk, what searches take. Method merged alone."""
        self.method.compile()

    def values(self, states, layers=None, depth=None):
        """Return what was ExpectimaxResult of states (uint64, shape (n, 2)).

        layers: as many moves with what follows each, and one; or depth: plies, 0 for the evaluation.
        """
        found, leaves = self._found(states, layers, depth)
        worth = found[:, :MOVES]
        moves = np.where(worth.max(axis=1) < NO_MOVE, -1, worth.argmax(axis=1)).astype(np.int16)
        return ExpectimaxResult(found[:, MOVES].copy(), moves, leaves)

    def all_moves(self, states, layers=None, depth=None):
        """Return what moves left, right, up, down are worth: float64 (n, 4), NaN where one is not legal."""
        found, _ = self._found(states, layers, depth)
        return np.where(found[:, :MOVES] < NO_MOVE, np.nan, found[:, :MOVES])

    def evaluate(self, states):
        """Return what states are worth at the depth limit: float64 (n,)."""
        given = self._gpu.upload(_checked(states))
        out = self._gpu.array(max(1, len(states)), np.float64)
        record = np.array((self._evaluator.record, given.address, out.address, len(states)), _LEAVES)
        kernel = self._gpu.kernel("expectimax_leaves.cu", "evaluate_states", **self._evaluator.macros)
        kernel(record, min(max(1, -(-len(states) // _THREADS)), 8 * self._gpu.multiprocessors), _THREADS)
        return out.get()[: len(states)]

    def evaluation_rate(self, states, turns=4000):
        """Return how many evaluations a second this GPU makes where it does nothing else: of the first few states.

        All threads evaluate the same board, so look-ups of a warp are of one address and in L1. No search evaluates its
        leaves faster. turns: evaluations of a thread.
        """
        kernel = self._gpu.kernel("expectimax_leaves.cu", "evaluate_again", **self._evaluator.macros)
        blocks = self._gpu.multiprocessors * kernel.resident(_THREADS)
        values = self._gpu.array(blocks * _THREADS, np.float64)
        boards = np.resize(_checked(states) & _CELLS, 2 * _FEW_BOARDS)
        record = np.array((self._evaluator.record, boards, values.address, turns, 0), _EVALUATE_AGAIN)
        kernel(record, blocks, _THREADS)
        first = self._gpu.mark()
        kernel(record, blocks, _THREADS)
        return blocks * _THREADS * turns / self._gpu.seconds(first, self._gpu.mark())

    def begin(self, states, depth):
        """Have the GPU search states to ``depth`` > 0 plies; the call returns while it is at it. Method merged alone.

        All of them are the player's turn.
        """
        self.method.begin(_checked(states), depth - 1)

    def at_once(self, depth):
        """Return how many states a launch of ``begin`` takes; more of them go one launch after another."""
        return self.method.at_once(depth - 1)

    def found(self):
        """Return (float64 (n, 5): what moves and the state are worth, leaves) of what was begun last.

        Moves that are not legal are worth less than ``NO_MOVE``.
        """
        return self.method.result()

    def _found(self, states, layers, depth):
        """Return (float64 (n, 5): what moves and the state are worth, leaves)."""
        states = _checked(states)
        if (layers is None) == (depth is None):
            raise UserError("a search has either layers or a depth")
        depth = 2 * layers + 1 if depth is None else depth
        due = states[:, 1] >> _DUE
        if depth and len(states) and not due.any():
            return self.method.search(states, depth - 1)
        out, leaves = np.full((len(states), MOVES + 1), -np.inf), 0
        if depth == 0:
            out[:, MOVES] = self.evaluate(states)
            return out, len(states)
        twice = np.flatnonzero(due > 1)
        for at in twice:
            out[at, MOVES], more = self._spread(states[at], depth)
            leaves += more
        for by_chance in (0, 1):
            which = np.flatnonzero(due == by_chance)
            if len(which):
                out[which], more = self.method.search(states[which], depth - 1 + by_chance)
                leaves += more
        return out, leaves

    def _spread(self, state, depth):
        """Return (the value of a state on which several tiles are due, leaves)."""
        due = int(state[1] >> _DUE)
        after, weights = [], []
        for cell in range(CELLS):
            for kind in range(self._kinds):
                code = np.uint64(self._evaluator.record["codes"][kind])
                cells = np.uint64(state[0]), np.uint64(state[1]) & _CELLS
                if self._game.code_at(cells, np.int64(cell)) == 0:
                    low, high = self._game.put(cells, np.int64(cell), code)
                    after.append((low, np.uint64(high) | np.uint64(due - 1) << _DUE))
                    weights.append(float(self._evaluator.record["chances"][kind]))
        found, leaves = self._found(np.array(after, np.uint64), None, depth - 1)
        return float(np.average(found[:, MOVES], weights=weights)), leaves


_LEAVES = struct(
    "Leaves",
    [
        ("by", expectimax_tables.EVALUATOR),
        ("states", typed("const ulonglong2*")),
        ("values", typed("double*")),
        ("count", "u8"),
    ],
)
_EVALUATE_AGAIN = struct(
    "EvaluateAgain",
    [
        ("by", expectimax_tables.EVALUATOR),
        ("boards", "u8", 2 * _FEW_BOARDS),
        ("values", typed("double*")),  # of threads
        ("turns", "i4"),
        ("pad", "i4"),
    ],
)


def _checked(states):
    states = np.ascontiguousarray(states, np.uint64)
    if states.ndim != 2 or states.shape[1] != 2:
        raise UserError(f"states of shape {states.shape} are not two words each")
    return states
