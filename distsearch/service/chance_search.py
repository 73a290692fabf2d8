"""Searches of games against chance, from end to end: one position after another, each shared out as a pool."""

import math

import numpy as np

from .. import games
from ..errors import UserError
from ..games.interface import CHANCE, END, MAX_MOVES, step
from ..search.playing import DEEPER, plies_for
from ..tree.chances import ChancePool
from ..tree.jobs import KINDS
from .checkpoint import NOT_KEPT
from .outcome import Outcome
from .progress import Progress, compact
from .run import compile_once, run


class ChanceSearcher:
    """Searches positions of one game and board under one set of options; see ``search.Searcher``.

    A search keeps nothing of itself: ``kept`` is left as it is.
    """

    deepening = True  # positions are taken one after another

    def __init__(self, options, cluster, progress=None, interrupted=lambda: False):
        self._options, self._cluster, self._interrupted = options, cluster, interrupted
        self._progress = progress or Progress()
        self.game = games.find(options.game)
        self.rules = self.game.rules(options.board, **options.rules)
        self._setup, self.target = options.setup(), options.target(cluster.workers)
        if options.nodes is not None:
            raise UserError(
                f"nodes is for play in {options.game}, a game against chance: a pool takes more than one worker"
            )
        runner = KINDS["expectimax"](self._setup)
        compile_once(runner.name, options.game, runner.compile, self._progress)

    def search(self, positions, kept=NOT_KEPT):
        """Yield an Outcome for each of a list of Positions, in order; the last may be incomplete after an interrupt."""
        for position in positions:
            yield self._search(position)
            if self._interrupted():
                return

    def _search(self, position):
        options, spent, completed, pool, took = self._options, 0.0, None, None, None
        asked = plies_for(self.game, self.rules, position.state, options.depth, options.deeper)
        deepest = asked or 2 * int(self.game.moves_left(position.state, self.rules)) + 1
        depth = deepest if options.time is None else 1
        boards = cpu = jobs = hits = stores = 0
        while True:
            pool = self._pool(position, depth)
            took = self._run(pool, depth, math.inf if options.time is None else options.time - spent)
            spent += took.seconds
            boards, cpu, jobs = boards + pool.boards, cpu + pool.cpu, jobs + pool.jobs
            hits, stores = hits + pool.hits, stores + pool.stores
            if pool.done:
                completed = pool, depth
            over = int(self.game.kind(position.state, self.rules)) == END
            if over or not pool.done or depth >= deepest or spent >= (options.time or 0):
                break
            depth = min(depth + DEEPER, deepest)
        outcome = self._outcome(position, *(completed or (pool, depth)), took.interrupted)
        outcome.seconds, outcome.cpu_seconds, outcome.nodes, outcome.jobs = spent, cpu, boards, jobs
        outcome.table_hits, outcome.table_stores = hits, stores
        outcome.add_run(took)
        return outcome

    def _pool(self, position, depth):
        setup, options = self._setup, self._options
        # a first search is to be there at once, and a pool of it would cost more than itself
        target = 1 if depth < DEEPER else self.target
        return ChancePool(
            self.game, self.rules, position.state, depth, target, setup["points"], setup["least"], setup["alike"],
            options.all_moves)  # fmt: skip

    def _run(self, pool, depth, limit):
        def describe(boards, seconds):
            boards += pool.boards
            rate = compact(boards / max(seconds, 1e-9))
            return f"depth {depth}: {pool.finished}/{pool.subtrees} subtrees, {compact(boards)} boards, {rate} boards/s"

        return run(
            self._cluster, self._setup, pool, self._progress, self._interrupted, describe, max(limit, 0.0),
            self._options.prefetch)  # fmt: skip

    def _outcome(self, position, pool, depth, interrupted):
        options, cluster, game = self._options, self._cluster, self.game
        best, known = pool.best(), pool.done
        move = None if best is None else game.move_text(best, self.rules)
        moves = [{"move": game.move_text(m, self.rules), "score": value} for m, value in pool.moves().items()]
        by_chance = int(game.kind(position.state, self.rules)) == CHANCE
        if not known and moves and not by_chance:
            value, known = max(each["score"] for each in moves), True  # of those that were searched to their end
        else:
            value = pool.value[0]
        return Outcome(
            game=game.NAME, board=f"{options.board[0]}x{options.board[1]}",
            position=game.text(position, self.rules), move=move, score=float(value) if known else None,
            unit="evaluation", bound="exact" if pool.done else "lower", complete=pool.done and not interrupted,
            moves=moves if options.all_moves else None, depth=depth, pv=[] if move is None else [move],
            ranks=cluster.ranks, workers=cluster.workers, algorithm=options.algorithm, policy=options.policy,
            load_factor=self.target / cluster.workers, tree_nodes=len(pool.parent),
        )  # fmt: skip


def dealt(game, position, rules, seed):
    """Return the Position after chance has done all that is its turn, by a seed."""
    rng = np.random.default_rng(seed)
    out, chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
    while int(game.kind(position.state, rules)) == CHANCE:
        n = game.outcomes(position.state, rules, out, chances, 0)
        position = step(game, position, rules, rng.choice(out[:n], p=chances[:n] / chances[:n].sum()))
    return position
