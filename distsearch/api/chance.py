"""Searches of games against chance, from end to end: one position after another, each shared out by ranks or hosts.

Searches in which chance has an adversary, from end to end; see ``engines.expectiminimax``.

Searches by sampled runs, from end to end; each is the search of a game against chance with a pool of its own.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import evaluation
from ..cluster.protocols import TABLE_COUNTS
from ..engines.player import plies_for
from ..formats.checkpoint import NO_CHECKPOINT
from ..games.interface import CHANCE, END, MAX_MOVES, Position, step
from ..jobs.expectimax import ExpectimaxPool
from ..jobs.expectiminimax import ExpectiminimaxPool
from ..jobs.mcts import MctsPool
from ..jobs.sampled import AveragedPool, IdaPool
from ..jobs.two_player import KINDS
from . import meaning
from .compiling import Recipe, compile_with_notice
from .facts import compact
from .options import Options
from .result import Outcome
from .searcher import Searcher, facts_of
from .two_player import TwoPlayerSearcher


class Iterations:
    """Searches of a position, each to a greater depth, for a caller that runs one after another.

    make_pool(depth) makes the work source of a search; depths: what searches go up to, in turn; counts: figures to sum
    up, by the names of their sums, those of the source. ``pool`` and ``depth`` are of the search at work, ``completed``
    is (pool, depth) of the latest one that came to its end, or None.
    """

    def __init__(self, make_pool: Callable[[int], Any], depths: Iterator[int], counts: dict[str, str]):
        self._make_pool, self._depths, self._names = make_pool, depths, counts
        self._earlier = dict.fromkeys(counts, 0)
        self.completed: tuple[Any, int] | None = None
        self.depth = next(depths)
        self._next_depth: int | None = None
        self.pool = make_pool(self.depth)

    @property
    def counts(self) -> dict[str, Any]:
        """The sums over all searches so far, by name."""
        return {name: self._earlier[name] + getattr(self.pool, of_pool) for name, of_pool in self._names.items()}

    def conclude(self) -> bool:
        """Take in that the search at work is over, to its end or not; return whether a deeper one may follow."""
        if not self.pool.done:
            return False
        self.completed = self.pool, self.depth
        self._next_depth = next(self._depths, None)
        return self._next_depth is not None and not self.pool.resolved

    def go_deeper(self) -> None:
        """Make the next search the one at work, after ``conclude`` has said that there may be one."""
        assert self._next_depth is not None
        self._earlier, self.depth = self.counts, self._next_depth
        self.pool = self._make_pool(self.depth)


class ChanceSearcher(Searcher):
    """Searches positions of a game against chance; a search saves nothing to a ``checkpoint``."""

    deepening = True  # positions are taken one after another
    _joins = True  # ranks of a host can search one subtree together
    _first, _effort = 1, "depth"  # what a search under a limit of time begins with, and what that is
    # figures of an Outcome that sum up those of pools: by its names, theirs
    _counts = {"cpu_seconds": "cpu", "nodes": "nodes"} | {name: name for name in ("jobs", *TABLE_COUNTS)}

    def _prepare(self, options):
        recipe = Recipe.of_setup(self._setup)
        compile_with_notice(options.game, lambda: self._compile(options), self.progress, recipe, self._interrupted)

    def _compile(self, options):
        self._runner = KINDS[self._setup["kind"]](self._setup)
        self._runner.compile()

    @property
    def _points_to_come(self):
        """Whether values are the points that a position is still expected to bring."""
        return self._options.algorithm == "expectimax" and self._setup["points"]

    @property
    def _by_host(self):
        """Whether the ranks of a host search a subtree together, rather than one each."""
        asked = self._joins and self._options.policy == "split"
        return asked and self._cluster.joint and not self._cluster.on_gpu

    @property
    def _sharers(self):
        """Those that have subtrees of their own: hosts, or workers."""
        return len(set(self._cluster.hosts.values())) if self._by_host else self._cluster.workers

    def search(self, positions, checkpoint=NO_CHECKPOINT):
        """Search positions one after another; the last may be incomplete after an interrupt."""
        for position in positions:
            yield self._search(position)
            if self._interrupted():
                return

    def _search(self, position):
        found, spent, startup = self.deepen(position), 0.0, 0.0
        limit = math.inf if self.seconds is None else self.seconds
        while True:
            took = self._run(position, found, limit, spent)
            spent += took.seconds
            startup += took.startup_seconds
            if not found.conclude() or spent >= limit:
                break
            found.go_deeper()
        outcome = self.deepened(position, found, spent, took.interrupted)
        outcome.add_run(took._replace(startup_seconds=startup))
        return outcome

    @property
    def seconds(self):
        """The limit of time for a position, or None."""
        return self._options.time

    def deepen(self, position):
        """Return the Iterations of a position, with its first search at work."""
        return Iterations(lambda depth: self._pool(position, depth), self._depths(position), self._counts)

    def _depths(self, position):
        """Yield what searches of a position go up to, one after another; more than one under a limit of time."""
        deepest = self._most(position)
        depth = deepest if self._options.time is None else self._first
        yield depth
        if int(self.game.kind(position.state, self.rules)) == END:
            return
        while depth < deepest:
            depth = min(self._more(depth), deepest)
            yield depth

    def deepened(self, position, iterations, seconds, interrupted):
        """Return the Outcome of Iterations so far, after so many seconds; interrupted: it is not what was asked."""
        pool, depth = iterations.completed or (iterations.pool, iterations.depth)
        outcome = self._outcome(position, pool, depth, interrupted)
        outcome.seconds = seconds
        vars(outcome).update(iterations.counts)
        return outcome

    def setups(self):
        return [json.dumps(setup).encode() for setup in (self._setup, self._setup_of_part)]

    def setup_of(self, iterations):
        """Return the setup of the workers' runners, as bytes, for the search at work."""
        return self.setups()[self._is_shared_out(iterations.pool)]

    @property
    def _setup_of_part(self):
        return {**self._setup, "part": True}

    def _is_shared_out(self, pool):
        """Whether there are several subtrees, where values of one are of use to the worker of another one."""
        return pool.subtrees > 1 and self._options.takes_table

    def trial(self):
        return self._pool(self.game.start(self.rules), 1)

    def rate(self, position, seconds):
        began, nodes, depth, runner = time.process_time(), 0, self._first, self._runner
        while (spent := time.process_time() - began) < seconds:
            runner.begin(self._pool(position, depth).take(1, 1)[0])
            while not runner.advance(10_000) and time.process_time() - began < seconds:
                pass
            nodes, depth = nodes + runner.nodes, self._more(depth)
        return nodes / spent

    def _most(self, position):
        """Return what a search goes up to."""
        options, state = self._options, position.state
        depth = plies_for(self.game, self.rules, state, options.depth, options.depth_by_empty)
        return depth or 2 * int(self.game.moves_left(state, self.rules)) + 1

    def _more(self, depth):
        """Return what comes after a depth, under a limit of time."""
        return depth + self._options.layer_plies

    def _pool(self, position, depth):
        return ExpectimaxPool(*self._asked_of_tree(position, depth), self._by_host)

    def _asked_of_tree(self, position, depth):
        # the first search must end at once, and sharing it out would cost more than itself
        wanted_subtrees = 1 if depth < self._options.layer_plies else self.wanted_subtrees
        return self._setup, position.state, depth, wanted_subtrees, self._options.all_moves

    def _run(self, position, iterations, limit, spent):
        """Have the search at work done in what is left of a limit of which so many seconds are ``spent``."""
        pool, depth = iterations.pool, iterations.depth

        def describe(nodes, seconds):
            outcome = self.deepened(position, iterations, spent + seconds, True)
            outcome.nodes += nodes
            return facts_of(
                outcome,
                done=pool.finished,
                total=pool.subtrees,
                depth_at_work=depth if self._effort == "depth" else None,
                more="" if self._effort == "depth" else f"{compact(depth)} {self._effort}",
                seconds_left=None if math.isinf(limit) else max(0.0, limit - outcome.seconds),
            )

        setup = self._setup_of_part if self._is_shared_out(pool) else self._setup
        return self._run_on_cluster(setup, pool, describe, max(limit - spent, 0.0))

    def _outcome(self, position, pool, depth, interrupted):
        game = self.game
        best, known = pool.best(), pool.done
        move = None if best is None else game.move_text(best, self.rules)
        moves = [{"move": game.move_text(m, self.rules), "score": value} for m, value in pool.moves().items()]
        by_chance = int(game.kind(position.state, self.rules)) == CHANCE
        if not known and moves and not by_chance:
            value, known = max(each["score"] for each in moves), True  # of those that were searched to their end
        else:
            value = pool.root_value
        return Outcome(
            **self._asked(position),
            move=move,
            score=float(value) if known else None,
            unit="evaluation",
            meaning=meaning.of_points(value) if pool.done and self._points_to_come else None,
            bound="exact" if pool.done else "lower",
            complete=pool.done and not interrupted,
            moves=moves if self._options.all_moves else None,
            depth=depth,
            pv=[] if move is None else [move],
            tree_nodes=pool.tree_nodes,
            chance_to_move=by_chance or None,
        )


def begun(game: Any, text: str, position: Position, rules: np.ndarray, seed: int) -> Position:
    """Return the Position of a text, that of ``startpos`` after chance has done all that is its turn, by a seed."""
    by_chance = game.PLAYERS == 1 and text == "startpos"
    return apply_initial_chance(game, position, rules, seed) if by_chance else position


def apply_initial_chance(game: Any, position: Position, rules: np.ndarray, seed: int) -> Position:
    """Return the Position after chance has done all that is its turn, by a seed."""
    rng = np.random.default_rng(seed)
    while int(game.kind(position.state, rules)) == CHANCE:
        codes, chances = outcomes_of(game, position, rules)
        position = step(game, position, rules, rng.choice(codes, p=chances / chances.sum()))
    return position


def outcomes_of(game: Any, position: Position, rules: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what chance may do, it being its turn, as codes (int16), and the probabilities of each (float64)."""
    out, chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
    n = game.outcomes(position.state, rules, out, chances, 0)
    return out[:n], chances[:n]


class AdversarySearcher(ChanceSearcher):
    """Searches positions by expectiminimax, minimax or alpha-beta, shared out by a pool or by brothers that wait."""

    _counts = ChanceSearcher._counts | {name: name for name in ("jobs_used", "jobs_wasted", "jobs_cut")}
    _joins = False

    def _compile(self, options):
        super()._compile(options)
        self._evaluation = evaluation.find(self.game, options.evaluation, self.rules)
        self._evaluate(self.game.start(self.rules).state)

    def _evaluate(self, state):
        return float(self._evaluation.function(state, self.rules, self._evaluation.tables))

    def _pool(self, position, depth):
        evaluate, waits = self._evaluate if self._setup["prune"] else None, self._options.policy == "brothers"
        return ExpectiminimaxPool(*self._asked_of_tree(position, depth), self._options.par_depth, waits, evaluate)

    def _outcome(self, *found):
        outcome, options = super()._outcome(*found), self._options
        outcome.par_depth, outcome.pruning = options.par_depth, "alphabeta" if options.pruned else "none"
        return outcome


_FIRST_BOARDS = 1_000  # of a run of ida or mcts under a limit of time; then twice as many, until the time is up
_MOST_BOARDS = 1 << 40


class AveragedSearcher(ChanceSearcher):
    """Searches positions by averaged runs; see ``engines.averaged``."""

    _joins = False

    def _pool(self, position, depth):
        options = self._options
        return AveragedPool(self.game, self.rules, position, depth, options.runs, options.seed)

    def _outcome(self, *found):
        outcome, options = super()._outcome(*found), self._options
        outcome.runs, outcome.width, outcome.seed = options.runs, options.width, options.seed
        return outcome


class IdaSearcher(ChanceSearcher):
    """Searches positions by IDA* on sampled spawns; see ``engines.ida``. What goes up are runs' nodes, not plies."""

    _joins = False
    _first = _FIRST_BOARDS
    _effort = "nodes a run"

    def _most(self, position):
        return self._options.nodes or _MOST_BOARDS

    def _more(self, nodes):
        return 2 * nodes

    def _pool(self, position, nodes):
        return IdaPool(self.game, self.rules, position, nodes, self._options.runs, self._options.seed)

    def _outcome(self, position, pool, nodes, interrupted):
        outcome, options = super()._outcome(position, pool, nodes, interrupted), self._options
        outcome.runs, outcome.goals, outcome.seed = options.runs, pool.goals, options.seed
        outcome.depth, outcome.unit = pool.longest, "of the runs"
        return outcome


class MctsSearcher(IdaSearcher):
    """Searches positions by trees of simulations; see ``engines.mcts``. Nodes of a tree go up as runs' of ida do."""

    def _pool(self, position, nodes):
        return MctsPool(self.game, self.rules, position, nodes, self._options.runs, self._options.seed)

    def _outcome(self, position, pool, nodes, interrupted):
        outcome, options = ChanceSearcher._outcome(self, position, pool, nodes, interrupted), self._options
        outcome.runs, outcome.seed, outcome.depth = options.runs, options.seed, 2 * pool.longest
        outcome.unit = "of the visits"
        if self._setup["points"] and not math.isnan(pool.mean):
            outcome.meaning = meaning.of_points(pool.mean)
        return outcome


_AGAINST_CHANCE = {"expectimax": ChanceSearcher, "averaged": AveragedSearcher, "ida": IdaSearcher, "mcts": MctsSearcher}


def searcher_of(options: Options) -> type[Searcher]:
    """Return the class that searches positions under Options."""
    if not options.against_chance:
        return TwoPlayerSearcher
    return _AGAINST_CHANCE.get(str(options.algorithm), AdversarySearcher)
