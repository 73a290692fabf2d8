"""Searches from end to end: options and positions in, outcomes out, over whatever cluster there is."""

import math
import time

import numpy as np

from .. import evaluation, games
from ..games.interface import legal_moves
from ..tree.deepening import Deepening
from ..tree.jobs import TO_THE_END
from ..tree.nodes import DONE, EXACT, LOWER, UNKNOWN
from ..tree.pool import ANY, SubtreePool
from .outcome import Outcome, tidy
from .progress import Progress, compact
from .run import prepare, run

_GLIMPSE = 20_000  # boards, in the same place, of an exact search
_TABLE_COUNTS = "table_hits", "table_stores", "table_replacements"
_QUICK = 0.3  # seconds for an answer where the user did not wait for one


class Searcher:
    """Searches positions of one game and board under one set of options.

    cluster: a LocalCluster, MpiCluster or SimulatedCluster; interrupted: a function that says whether the user wants
    an end.
    """

    def __init__(self, options, cluster, progress=None, interrupted=lambda: False):
        self._options, self._cluster, self._interrupted = options, cluster, interrupted
        self._progress = progress or Progress()
        self.game = games.find(options.game)
        self.rules = self.game.rules(options.board, **options.rules)
        self._win = 0 if options.exact else evaluation.find(self.game, options.evaluation, self.rules).bound
        self._setup = options.setup()
        self._runner, self._grower = prepare(self._setup, self.game, self.rules, self._progress)
        self._target = options.target(cluster.workers)

    def search(self, positions):
        """Yield an Outcome for each of a list of Positions, in order.

        After an interrupt some are incomplete; None stands for what was never looked at, or the rest is missing.

        Deepening searches take the positions one after another, others are one forest.
        """
        if self._options.deepening:
            for position in positions:
                yield self._deepen(position)
                if self._interrupted():
                    return
        else:
            yield from self._search_forest(positions)

    def _pool(self, states, depth):
        # to see every move's score, the root's children must be searched on their own
        forced = int(self._options.all_moves)
        window = self._options.window or ANY
        return SubtreePool(self._grower, states, depth, self._target, forced=forced, win=self._win, window=window)

    def _search_forest(self, positions):
        depth = TO_THE_END if self._options.exact else self._options.depth
        pool = self._pool([position.state for position in positions], depth)
        took = self._run(pool, lambda: pool)
        totals = pool.totals()
        ended = time.perf_counter()
        for root, position in enumerate(positions):
            unknown = pool.nodes.bound[root] == UNKNOWN
            if unknown and root > 0 and time.perf_counter() - ended > _QUICK:
                yield None  # whoever wants an end does not want quick answers to a thousand positions first
                continue
            outcome = self._outcome(position, pool, root, depth, complete=pool.nodes.status[root] == DONE)
            outcome.seconds = took.seconds if len(positions) == 1 else float(totals["seconds"][root])
            outcome.cpu_seconds = float(totals["cpu"][root])
            outcome.ordering_nodes = int(totals["ordering_boards"][root])
            for name in _TABLE_COUNTS:
                setattr(outcome, name, int(totals[name][root]))
            outcome.add_run(took)
            yield outcome

    def _deepen(self, position):
        options = self._options
        deepest = options.depth or 2 * int(self.game.moves_left(position.state, self.rules)) + 1
        source = Deepening(lambda depth: self._pool([position.state], depth), deepest, options.nodes)
        took = self._run(source, lambda: source.pool, options.time or math.inf)
        pool, depth = source.completed or source.pool, source.completed_depth or 1
        complete = not took.interrupted and source.completed is not None
        outcome = self._outcome(position, pool, 0, depth, complete, source.proved)
        outcome.add_run(took)
        outcome.seconds, outcome.cpu_seconds = took.seconds, source.spent.cpu
        # what was spent on an iteration that the budget cut short depends on timing, and a budget's answer must not
        spent = source.completed_spent if options.nodes and source.completed else source.spent
        outcome.nodes, outcome.ordering_nodes, outcome.jobs = spent.boards, spent.ordering_boards, spent.jobs
        for name in _TABLE_COUNTS:
            setattr(outcome, name, getattr(spent, name))
        return outcome

    def _run(self, source, pool, limit=math.inf):
        """Have a source done by the cluster; ``pool()`` is the one at work."""
        return run(
            self._cluster, self._setup, source, self._progress, self._interrupted,
            lambda boards, seconds: _describe(pool(), boards, seconds), limit,
            self._options.prefetch)  # fmt: skip

    def _outcome(self, position, pool, root, depth, complete, proved=False):
        """Return what ``pool`` knows of a root; whoever ran it adds times and totals."""
        options, bound, window = self._options, pool.nodes.bound[root], self._options.window or ANY
        known = bound == EXACT or bound == LOWER and pool.nodes.best[root] > window[0]
        over = not legal_moves(self.game, position, self.rules)
        proved = bool(complete and (over or options.exact or proved))
        if not known and options.solving:
            line, score, depth = self._glimpse(position)
            bound = LOWER
        elif known:
            line, score = pool.line(root), float(pool.nodes.best[root])
            depth = int(pool.nodes.left[root]) if depth == TO_THE_END else depth
        else:
            line, score, depth = self._quick(position)
        in_points = proved or options.evaluation == "discs" or known and options.exact
        points = self._points if proved else tidy
        relation = "lower" if bound == LOWER else "exact"
        if not over and known and options.exact:
            score, relation = _within(score, window, relation)
        return Outcome(
            **self._asked(position),
            move=self.game.move_text(line[0], self.rules) if line else None,
            score=None if score is None else points(score),
            unit=self.game.UNIT if in_points else "evaluation",
            bound=relation,
            proved=proved and relation == "exact",
            complete=bool(complete),
            moves=self._moves(pool, root, points) if options.all_moves else None,
            depth=depth,
            nodes=int(pool.nodes.cost[root]),
            pv=[self.game.move_text(m, self.rules) for m in line],
            jobs=pool.jobs,
            tree_nodes=pool.nodes.size,
        )

    def _asked(self, position):
        """Return the fields of an Outcome that say what was asked, and of whom."""
        options, cluster = self._options, self._cluster
        return {
            "game": self.game.NAME, "board": f"{options.board[0]}x{options.board[1]}",
            "position": self.game.text(position, self.rules), "ranks": cluster.ranks, "workers": cluster.workers,
            "algorithm": options.algorithm, "policy": options.policy, "load_factor": self._target / cluster.workers,
        }  # fmt: skip

    def _points(self, score):
        """Return the game's own score of a finished line: what a win adds in an evaluated search is taken off."""
        return tidy(score - math.copysign(self._win, score) if score else score)

    def _moves(self, pool, root, points):
        text = self.game.move_text
        found = []
        for m, found_score, exact in pool.children(root):
            if exact:
                score, relation = _within(found_score, self._options.window or ANY)
                limit = {} if relation == "exact" else {"bound": relation}
                found.append({"move": text(m, self.rules), "score": points(score), **limit})
        return found

    def _quick(self, position):
        """Return (line, score, depth) of a short search here, for one that was stopped before it knew anything."""
        for depth, record, _ in self._deepen_here(position, _QUICK):
            if record["complete"] or depth == 1:
                found = record["line"][: record["line_length"]].tolist(), float(record["score"]), depth
        return found

    def _glimpse(self, position):
        """Return (line, lower bound of the score or None, depth) of the first few thousand boards of a solution."""
        job = self._job(position)
        self._runner.begin(job)
        self._runner.advance(_GLIMPSE)
        record = self._runner.result(0.0, 0.0)[0]
        score = float(record["score"]) if np.isfinite(record["score"]) else None
        line = record["line"][: record["line_length"]].tolist() or legal_moves(self.game, position, self.rules)[:1]
        return line, score, int(self.game.moves_left(position.state, self.rules))

    def rate(self, position, seconds):
        """Return the boards a CPU second of deeper and deeper searches of ``position`` on this processor."""
        began, boards = time.process_time(), 0
        for _, _, searched in self._deepen_here(position, seconds):
            boards += searched
            if self._options.solving and time.process_time() - began > seconds:
                break
        return boards / (time.process_time() - began)

    def _job(self, position):
        job = np.zeros((), self._runner.job_dtype)
        job["state"] = position.state
        job["low"], job["high"] = ANY
        return job

    def _deepen_here(self, position, seconds):
        """Yield (depth, result record, boards) of deeper and deeper searches until the CPU seconds are used up."""
        runner, depth, end = self._runner, 1, time.process_time() + seconds
        job = self._job(position)
        while time.process_time() < end or depth == 1:
            job["depth"] = depth
            runner.begin(job)
            first = depth == 1 and not self._options.solving  # which is to be complete, however long it takes
            while not runner.advance(10_000) and (time.process_time() < end or first):
                pass
            yield depth, runner.result(0.0, 0.0)[0], runner.boards
            depth += 1


def _within(score, window, relation="exact"):
    """Return (score, relation to the true one) of a score that was told apart no further than the window."""
    low, high = window
    return (low, "upper") if score <= low else (high, "lower") if score >= high else (score, relation)


def _describe(pool, boards_at_work, seconds):
    boards = int(pool.nodes.cost[: pool.roots].sum()) + boards_at_work
    depth = int(pool.nodes.left[: pool.roots].max())
    rate = boards / max(seconds, 1e-9)
    return (
        f"depth {depth}: {pool.finished}/{pool.jobs} subtrees, {compact(boards)} boards, {compact(rate)} boards/s, "
        f"{seconds:.0f} s"
    )
