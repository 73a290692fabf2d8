"""Root-parallel Monte-Carlo tree search: trees of one position, of different seeds, are independent jobs.

The visits of a move are added up over the trees, in the order of their numbers. So any number of ranks finds the same.
"""

import math
from typing import Any

import numpy as np

from .. import evaluation
from ..core.errors import UserError
from ..engines.mcts import Mcts
from ..engines.player import seed_of
from ..evaluation import PLAYOUT
from ..games.interface import MAX, Position, legal_moves
from .chance import EngineRunner
from .records import record
from .sampled import RUN_COSTS, SampledPool, run_job
from .setups import rules_of

MOST_MOVES = 64  # of the position that is searched
MCTS_RESULT = record(
    "job_id",
    "complete",
    ("visits", np.int64, MOST_MOVES),  # of the root's moves, in the order of the game
    ("means", np.float64, MOST_MOVES),
    ("longest", np.int32),
    *RUN_COSTS,
)


class MctsRunner(EngineRunner):
    """Grows a tree."""

    result_dtype = MCTS_RESULT

    def __init__(self, setup: dict[str, Any]):
        game, rules = rules_of(setup)
        name = setup["evaluation"]
        chosen = None if name == PLAYOUT else evaluation.find(game, name, rules)
        super().__init__(run_job(game.words(rules)), Mcts(game, rules, chosen, setup["points"]))

    def begin(self, job: np.void) -> None:
        self.job_id = int(job["job_id"])
        self._engine.begin(tuple(job["state"]), int(job["seed"]), int(job["limit"]))

    def result(self, seconds: float, cpu: float) -> np.ndarray:
        found, result = np.zeros(1, MCTS_RESULT), self._engine.result()
        for name in ("complete", "longest", "nodes", "evaluated"):
            found[name] = getattr(result, name)
        found["job_id"], found["seconds"], found["cpu"] = self.job_id, seconds, cpu
        found["visits"][0, : len(result.visits)], found["means"][0, : len(result.means)] = result.visits, result.means
        return found


class MctsPool(SampledPool):
    """Trees of one ``Position``, each of about ``limit`` nodes; seed: of all of them.

    A move is worth its share of all visits; the best is that with most, and of two with as many that with the higher
    mean of values. Raises UserError for a position with more than MOST_MOVES moves.
    """

    result_dtype = MCTS_RESULT
    tree_nodes = 1  # that the master has

    def __init__(self, game: Any, rules: np.ndarray, position: Position, limit: int, trees: int, seed: int):
        self._state, self._limit, self._moves = position.state, limit, []
        if int(game.kind(position.state, rules)) == MAX:
            self._moves = legal_moves(game, position, rules)
        if len(self._moves) > MOST_MOVES:
            raise UserError(f"mcts is for positions with {MOST_MOVES} moves at most; this one has {len(self._moves)}")
        self._seeds = [seed_of(seed, tree) for tree in range(trees)]
        self._visits = np.zeros((trees, len(self._moves)), np.int64)
        self._totals = np.zeros((trees, len(self._moves)))
        self.longest = 0
        super().__init__(trees, run_job(game.words(rules)))

    def _fill(self, job, number):
        job["limit"], job["seed"], job["state"] = self._limit, self._seeds[number], self._state

    def _take_in(self, number, result):
        count = len(self._moves)
        self._visits[number] = result["visits"][:count]
        self._totals[number] = result["means"][:count] * result["visits"][:count]
        self.longest = max(self.longest, int(result["longest"]))

    def _visited(self):
        """Return {code: (visits, mean of the values)} of the moves that were visited."""
        sums = zip(self._moves, self._visits.sum(axis=0).tolist(), self._totals.T.tolist(), strict=True)
        return {move: (visits, math.fsum(totals) / visits) for move, visits, totals in sums if visits}

    def best(self) -> int | None:
        """Return the best move so far as a code, None if there is none."""
        visited = self._visited()
        return max(visited, key=lambda move: visited[move]) if visited else None

    def moves(self) -> dict[int, float]:
        """Return {code: share of the visits} of all moves once a tree is done, 0 for one that none visited."""
        visited = self._visited()
        every = sum(visits for visits, _ in visited.values())
        return {move: visited.get(move, (0, 0.0))[0] / every for move in self._moves} if every else {}

    @property
    def mean(self) -> float:
        """The mean of the best move's values, nan without a move."""
        best = self.best()
        return math.nan if best is None else self._visited()[best][1]

    @property
    def root_value(self) -> float:
        """The share of the best move, 0 without a move."""
        return max(self.moves().values(), default=0.0)
