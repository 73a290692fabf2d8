"""Searches of games of two players, from end to end: a forest of positions, a stream, or deeper and deeper."""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import evaluation
from ..cluster.protocols import TABLE_COUNTS
from ..core.errors import UserError
from ..core.saved import Saved
from ..engines.saved_path import legal_part
from ..formats.checkpoint import NO_CHECKPOINT, source_and_seconds
from ..games.interface import legal_moves, read_position
from ..jobs.two_player import TO_THE_END
from ..tree.deepening import Deepening
from ..tree.job_size import min_job_seconds, new_sizes
from ..tree.policies import POLICIES
from ..tree.position_stream import Stream
from ..tree.search_tree import ANY, SearchTree
from . import meaning
from .facts import Facts
from .result import Outcome, tidy
from .run import prepare
from .searcher import Searcher, facts_of
from .told_scores import ToldScores

_QUICK_SEARCH = 20_000  # nodes, in the same place, of an exact search
# a job of a sub-master or of a host that is not worth sharing out, in grains for each of its workers
_MIN_JOBS_OF_A_GROUP = 2
_MOST_SUBTREES = 1 << 20  # that a checkpoint can have wanted: a tree of so many takes 256 MiB
_GPU_JOB_SECONDS = 0.01  # a job of a GPU that is not worth sharing out: less than a launch
_AHEAD = 4  # plies of the first of the searches that a search to a depth begins with less than that
_QUICK = 0.3  # seconds for an answer where the user did not wait for one
_BLIND_SHARE = 0.05  # of a limit of time, for a search to a depth that sees nothing before the end
_SOLVED_AHEAD = 6  # moves left beyond the depth where an exact search takes no longer than the next depths
_DEEPEST = 34  # plies that a search to a depth hardly ever comes to
_ADDED = "seconds", "nodes", "ordering_nodes", "cpu_seconds", "jobs", *TABLE_COUNTS  # of two searches of a position


class _SearchResult(NamedTuple):
    """What is known of a position.

    known: whether a score is, ``exact`` or from below, for the side to move; line: move codes; nodes: searched;
    jobs, tree_nodes: of its pool; children: as ``SearchTree.children`` has them.
    """

    known: bool
    score: float
    exact: bool
    line: list
    nodes: int
    jobs: int = 1
    tree_nodes: int = 1
    children: list | None = None


class TwoPlayerSearcher(Searcher):
    """Searches positions of a game of two players, which the service can ask of it as well."""

    def __init__(self, options, cluster, *how, **named):
        if options.against_chance:
            raise UserError(f"{options.game} is a game against chance, for search alone")
        super().__init__(options, cluster, *how, **named)

    def _prepare(self, options):
        self._runner, self._grower = prepare(self._setup, self.game, self.rules, self.progress, self._interrupted)

    def _take(self, options):
        super()._take(options)
        self.deepening, self._solver = options.deepening, None
        # of the exact search by which a search under a limit of time ends; a timeline is of one run alone
        self.solving_options = None if self._cluster.traced else options.solving_last
        # an Evaluation, or None for searches to the end
        self._evaluation: Any = None if options.exact else evaluation.find(self.game, options.evaluation, self.rules)
        self._win = 0 if options.exact else self._evaluation.bound
        self.told = ToldScores(self.game, self.rules, options.window, self._win)

    def trial(self):
        read_position(self.game, "startpos", self.rules)  # its kernel is needed for every request
        source = self.stream(capacity=1)
        source.closed = True
        return source

    def search(self, positions: Sequence, checkpoint=NO_CHECKPOINT):
        """Search positions one after another if deepening, else as one forest; see ``Searcher.search``."""
        if checkpoint is not NO_CHECKPOINT:
            self.solving_options = None  # a checkpoint is of one run alone
        if self.deepening or self._options.by_steps and len(positions) == 1:
            for position in positions:
                if self.solving_options is not None and self._ends_in_reach(position):
                    self._compile_solver()  # now, as the limit of time leaves none for it
                yield self._deepen(position, checkpoint)
                if self._interrupted():
                    return
        else:
            yield from self._search_forest(positions, checkpoint)

    @property
    def seconds(self):
        """The limit of time for a position, or None."""
        return self._options.time

    @property
    def deepening_seconds(self):
        """The part of ``seconds`` for searches to a depth: little where they see nothing, and the rest is to solve."""
        blind = self.solving_options is not None and self._evaluation.sees_nothing
        return self.seconds * _BLIND_SHARE if blind else self.seconds

    @property
    def prefetch(self):
        """Batches of jobs to keep at each worker."""
        return self._options.prefetch

    def setup(self, brief=False):
        """Return the setup of the workers' runners, as bytes; brief: for a brief ``stream``."""
        return json.dumps({**self._setup, "brief": True} if brief else self._setup).encode()

    def setups(self):
        return [self.setup(), self.setup(brief=True)]

    @property
    def _depth(self):
        return TO_THE_END if self._options.exact else self._options.depth

    def stream(self, brief=False, capacity=1 << 16, snapshot=None):
        """Return a Stream for positions of this search, to the end or to a depth; see there for its arguments."""
        options = self._options

        def make_pool(state, window, shared, snapshot=None):
            return self._pool([state], self._depth, window, self.wanted_subtrees if shared else 1, snapshot=snapshot)

        return Stream(
            self.game.words(self.rules),
            self._depth,
            self._cluster.workers,
            make_pool,
            options.window or ANY,
            all_moves=options.all_moves,
            brief=brief,
            capacity=capacity,
            snapshot=snapshot,
            legal_part=partial(legal_part, self.game, self.rules),
            spans_hosts=self._cluster.joint and options.tabled and not options.repeatable,
            **({"first_try": 0} if self._cluster.joint else {}),
        )

    def deepen(self, position, snapshot=None):
        """Return a Deepening of a position, or that of a snapshot, until the limits other than time end it."""
        options, left = self._options, int(self.game.moves_left(position.state, self.rules))
        deepest = options.depth or (2 * left + 1 if self.solving_options is None else max(1, left - _SOLVED_AHEAD))

        def make_pool(depth, previous=None, snapshot=None):
            return self._pool([position.state], depth, previous=previous, snapshot=snapshot)

        if not options.by_steps:
            return Deepening(make_pool, deepest, options.nodes, snapshot=snapshot)
        # shallower searches tell in which order to share out the last one; a worker alone does the same by itself
        shared_out = self._cluster.workers > 1 and not self._cluster.joint
        first = max(2 - deepest % 2, deepest - _AHEAD) if shared_out else deepest
        return Deepening(make_pool, deepest, first=min(first, deepest), step=2, snapshot=snapshot)

    def answer(self, position, record, pool=None):
        """Return the Outcome of a position of a Stream; pool: what it was grown into, if it was."""
        line, options = record["line"][: record["line_length"]].tolist(), self._options
        grown = {} if pool is None else {"jobs": pool.jobs, "tree_nodes": pool.nodes.size}
        if pool is not None and options.all_moves:
            grown["children"] = pool.children(0)
        complete, score = bool(record["complete"]), float(record["score"])
        # what is known of an unanswered one is known from below: nothing, where that is not within the window
        known = complete or score > (options.window or ANY)[0]
        found = _SearchResult(known, score, complete, line, int(record["nodes"]), **grown)
        outcome = self._outcome(position, found, self._depth, complete)
        outcome.seconds = float(record["seconds"])
        _set_counts(outcome, record)
        return outcome

    def partial(self, position, pool, nodes, seconds):
        """Return the Outcome of a position that is at work, after so many nodes; pool: what it was grown into."""
        found = _SearchResult(False, -math.inf, False, [], nodes) if pool is None else self._found(pool, 0)
        if not found.known:
            known = {"score": None, "move": None, "bound": "lower", "unit": self.game.UNIT, "depth": 0}
            outcome = Outcome(**self._asked(position), **known)
        else:
            outcome = self._outcome(position, found, self._depth, False)
        outcome.complete, outcome.nodes, outcome.seconds = False, nodes, seconds
        return outcome

    def _pool(self, states, depth, window=None, wanted_subtrees=None, previous=None, snapshot=None):
        options = self._options
        return SearchTree(
            self._grower,
            states,
            depth,
            wanted_subtrees or self.wanted_subtrees,
            self.policy,
            # to see every move's score, the root's children must be searched on their own
            full_width_depth=int(options.all_moves),
            win_bonus=self._win,
            window=window or options.window or ANY,
            min_job_seconds=self._min_job_seconds,
            previous=previous,
            snapshot=snapshot,
            by_host=self._cluster.joint,
            sizes=new_sizes(on_gpus=True) if self._on_gpus else None,
        )

    @property
    def policy(self):
        """By default several GPUs share an exact search by windows; ranks with one GPU among them do not share it."""
        by_gpus = self._options.policy_by_default and self._options.exact and self._cluster.cards > 1 and self._on_gpus
        return "window" if by_gpus else self._options.policy

    @property
    def _shares(self):
        """Whether sub-masters share out their jobs."""
        return self._cluster.submasters > 0 and POLICIES[self.policy].splits

    @property
    def _on_gpus(self):
        """Whether all jobs are those of ranks with a GPU."""
        if not self._cluster.all_on_gpu:
            return False
        from ..jobs.gpu_two_player import does_parts

        return does_parts(self._setup)

    @property
    def _min_job_seconds(self):
        """CPU seconds of a job that is not worth sharing out."""
        cluster = self._cluster
        workers, submasters = cluster.workers, cluster.submasters
        if self._on_gpus:
            return _GPU_JOB_SECONDS
        if self._shares:
            return min_job_seconds(submasters) * workers / submasters * _MIN_JOBS_OF_A_GROUP
        return min_job_seconds(workers)

    def adopt(self, state):
        """Go on as the run did that saved ``state``, with its wanted subtrees where the answer depends on that."""
        if self._options.nodes:
            self.wanted_subtrees = Saved(state).integer("wanted_subtrees", 1, _MOST_SUBTREES)

    def _search_forest(self, positions, checkpoint):
        depth = self._depth
        pool = self._pool([position.state for position in positions], depth, snapshot=self._resumed(checkpoint))

        def so_far(nodes, seconds):
            return self.partial(positions[0], pool, nodes, seconds)

        took = self._run(pool, lambda: pool, checkpoint, so_far if len(positions) == 1 else None)
        totals = pool.totals()
        ended = time.perf_counter()
        for root, position in enumerate(positions):
            unknown = pool.score(root) == -math.inf
            if unknown and root > 0 and time.perf_counter() - ended > _QUICK:
                yield None  # a user who interrupts does not want quick answers to a thousand positions first
                continue
            complete = pool.is_answered(root)
            outcome = self._outcome(position, self._found(pool, root), depth, complete)
            outcome.seconds = took.seconds if len(positions) == 1 else float(totals["seconds"][root])
            _set_counts(outcome, {name: of_roots[root] for name, of_roots in totals.items()})
            outcome.add_run(took)
            yield outcome

    def _deepen(self, position, checkpoint):
        source = self.deepen(position, self._resumed(checkpoint))

        def so_far(nodes, seconds):
            return self.so_far(position, source, nodes, seconds)

        limits = self.deepening_seconds or math.inf, self.seconds
        took = self._run(source, lambda: source.pool, checkpoint, so_far, *limits)
        outcome = self.deepened(position, source, took.seconds, took.interrupted)
        outcome.add_run(took)
        left = self.seconds - outcome.seconds if self.solving_options is not None else 0.0
        if left <= 0 or outcome.proved or not outcome.complete:
            return outcome
        return self._solve_last(position, outcome, took, left)

    def _ends_in_reach(self, position):
        """Whether the searches to a depth may come so far that an exact search takes over."""
        left = int(self.game.moves_left(position.state, self.rules))
        return self._evaluation.sees_nothing or left <= _SOLVED_AHEAD + _DEEPEST

    def compile_all(self):
        """Compile what any position may need, where a game or a worker cannot wait for it later."""
        if self.solving_options is not None:
            self._compile_solver()

    def _compile_solver(self):
        """Return the searcher of the exact search, compiled once."""
        if self._solver is None:
            self._solver = TwoPlayerSearcher(self.solving_options, self._cluster, self.progress, self._interrupted)
        return self._solver

    def _solve_last(self, position, outcome, deepening, left):
        """Return the answer of the exact search in the seconds that are left, after a ``deepening`` (RunStats)."""
        solver = self._compile_solver()
        tree = solver.tree(position)

        def so_far(nodes, seconds):
            nodes, seconds = outcome.nodes + nodes, outcome.seconds + seconds
            return replace(outcome, complete=False, nodes=nodes, seconds=seconds)

        took = solver._run(tree, lambda: tree, NO_CHECKPOINT, so_far, left, left)
        outcome = self.solved(outcome, solver.known(position, tree, took.seconds), took.interrupted)
        outcome.add_run(took.after(deepening))
        return outcome

    def tree(self, position):
        """Return the SearchTree of a position under these options, which are not to go deeper and deeper."""
        return self._pool([position.state], self._depth)

    def known(self, position, tree, seconds):
        """Return the Outcome of what is known by ``tree`` after so many seconds."""
        if tree.is_answered(0):
            outcome = self._outcome(position, self._found(tree, 0), self._depth, True)
        else:
            outcome = self.partial(position, tree, tree.all_nodes, seconds)
        _set_counts(outcome, {name: of_root[0] for name, of_root in tree.totals().items()})
        outcome.seconds = seconds
        return outcome

    def solved(self, deepened, solved, interrupted):
        """Return the better of two Outcomes, of a deepening and then of an exact search, with what both have taken.

        A win that is known is better than a search that sees nothing.
        """
        at_least = solved.score if solved.bound == "lower" and solved.move is not None else None
        wins = self._evaluation.sees_nothing and at_least is not None and at_least > max(0, deepened.score)
        better, other = (solved, deepened) if solved.complete or wins else (deepened, solved)
        for name in _ADDED:
            setattr(better, name, getattr(better, name) + getattr(other, name))
        better.complete = solved.complete or not interrupted
        return better

    def deepened(self, position, source, seconds, interrupted):
        """Return the Outcome of a Deepening so far, after so many seconds; interrupted: it is not what was asked."""
        options = self._options
        pool, depth = source.completed or source.pool, source.completed_depth or source.depth
        complete = not interrupted and source.completed is not None
        if options.by_steps:
            complete = source.done
            depth = options.depth if complete else depth
        # a search to a depth has the same score by all policies
        proved = source.proved and not options.by_steps
        outcome = self._outcome(position, self._found(pool, 0), depth, complete, proved)
        # what was spent on an iteration that the budget cut short depends on timing, and a budget's answer must not
        spent = source.completed_spent if options.nodes and source.completed else source.spent
        _set_counts(outcome, spent | {"cpu": source.spent["cpu"]})
        outcome.seconds, outcome.nodes, outcome.jobs = seconds, spent["nodes"], spent["jobs"]
        return outcome

    def _resumed(self, checkpoint):
        """Return the snapshot of a source that an earlier run left, or None."""
        if checkpoint.state is None:
            return None
        self.adopt(checkpoint.state)
        return source_and_seconds(checkpoint.state)[0]

    def _state(self, source, seconds):
        """Return what a later run needs to go on with a source that is at work; seconds: so far."""
        snapshot = source.snapshot(self._cluster.request_progress(self._cluster.current))
        return {"source": snapshot, "seconds": seconds, "wanted_subtrees": self.wanted_subtrees}

    def so_far(self, position, source, nodes, seconds):
        """Return the Outcome of what is known by a Deepening at work, after so many nodes and seconds."""
        if source.completed is None:
            return self.partial(position, None, nodes, seconds)
        outcome = self.deepened(position, source, seconds, True)
        outcome.nodes = nodes
        return outcome

    def _run(self, source, pool, checkpoint, so_far=None, limit=math.inf, end=None):
        """Have a source done by the cluster; ``pool()`` is the one at work. An earlier run's seconds count as well.

        so_far(nodes, seconds): the Outcome so far, where one position is searched; end: seconds by which there is an
        answer, None: any.
        """
        _, before = source_and_seconds(checkpoint.state)

        def save(seconds):
            checkpoint.maybe_save(lambda: self._state(source, before + seconds))

        setup = {**self._setup, "part": self._cluster.workers > 1}
        if self._shares:
            setup["share"] = True

        def describe(nodes, seconds):
            left = None if end is None else max(0.0, end - before - seconds)
            return _facts(pool(), source.all_nodes + nodes, before + seconds, left, so_far, self._options.exact)

        took = self._run_on_cluster(setup, source, describe, limit - before, save=save)
        return took._replace(seconds=before + took.seconds)

    def _found(self, pool, root):
        """Return what a pool knows of a root."""
        exact, score = pool.is_answered(root), pool.score(root)
        known = exact or score > (self._options.window or ANY)[0]
        line = pool.line(root) if known else []
        children = pool.children(root) if self._options.all_moves else None
        return _SearchResult(
            known, score, exact, line, int(pool.nodes.cost[root]), pool.jobs, pool.nodes.size, children
        )

    def _outcome(self, position, found, depth, complete, proved=False):
        """Return the Outcome of what is known of a position; the caller adds times and totals."""
        options = self._options
        over = not legal_moves(self.game, position, self.rules)
        proved = bool(complete and (over or options.exact or proved))
        relation = "exact" if found.exact else "lower"
        if not found.known and options.solving:
            line, score, depth = self._quick_search(position)
            relation = "lower"
        elif found.known:
            line, score = found.line, found.score
            depth = int(self.game.moves_left(position.state, self.rules)) if depth == TO_THE_END else depth
        else:
            line, score, depth = self._quick(position)
            relation = "exact"
        in_points = proved or options.evaluation == "discs" or found.known and options.exact
        points = self.told.points if proved else tidy
        if not over and found.known and options.exact and score is not None:
            score, relation = self.told.within(score, relation)
        return Outcome(
            **self._asked(position),
            move=self.game.move_text(line[0], self.rules) if line else None,
            score=None if score is None else points(score),
            unit=self.game.UNIT if in_points else "evaluation",
            meaning=self._meaning(position, score, depth, proved) if relation == "exact" else None,
            bound=relation,
            proved=proved and relation == "exact",
            complete=bool(complete),
            moves=self.told.of_moves(found.children or [], points) if options.all_moves else None,
            depth=depth,
            nodes=found.nodes,
            pv=[self.game.move_text(m, self.rules) for m in line],
            jobs=found.jobs,
            tree_nodes=found.tree_nodes,
        )

    def _meaning(self, position, score, depth, proved):
        where = self.game, position, self.rules
        if proved:
            return meaning.of_value(*where, int(self.told.points(score)))
        if self._evaluation is None:
            return None
        return meaning.of_evaluated(
            *where, self._evaluation, score, depth, bool(self._options.foretelling or self._options.rank_cut)
        )

    def _quick(self, position):
        """Return (line, score, depth) of a short search here, for one that was stopped before it knew anything."""
        for depth, record, _ in self._deepen_here(position, min(_QUICK, self.seconds or _QUICK)):
            if depth > (self._options.depth or depth):
                break
            if record["complete"] or depth == 1:
                found = record["line"][: record["line_length"]].tolist(), float(record["score"]), depth
        return found

    def _quick_search(self, position):
        """Return (line, lower bound of the score or None, depth) of the first few thousand nodes of a solution."""
        job = self._job(position)
        self._runner.begin(job)
        self._runner.advance(_QUICK_SEARCH)
        record = self._runner.result(0.0, 0.0)[0]
        score = float(record["score"]) if np.isfinite(record["score"]) else None
        line = record["line"][: record["line_length"]].tolist() or legal_moves(self.game, position, self.rules)[:1]
        return line, score, int(self.game.moves_left(position.state, self.rules))

    def rate(self, position, seconds):
        began, nodes = time.process_time(), 0
        for _, _, searched in self._deepen_here(position, seconds):
            nodes += searched
            if self._options.solving and time.process_time() - began > seconds:
                break
        return nodes / (time.process_time() - began)

    def _job(self, position):
        job: Any = np.zeros((), self._runner.job_dtype)
        job["state"] = position.state
        job["low"], job["high"] = ANY
        return job

    def _deepen_here(self, position, seconds):
        """Yield (depth, result record, nodes) of deeper and deeper searches until the CPU seconds are used up."""
        runner, depth, end = self._runner, 1, time.process_time() + seconds
        job = self._job(position)
        while time.process_time() < end or depth == 1:
            job["depth"] = depth
            runner.begin(job)
            first = depth == 1 and not self._options.solving  # it must be complete, however long it takes
            while not runner.advance(10_000) and (time.process_time() < end or first):
                pass
            yield depth, runner.result(0.0, 0.0)[0], runner.nodes
            depth += 1


def _set_counts(outcome, counts):
    """Set an Outcome's nodes of ordering searches, CPU seconds and table counts by COSTS of its jobs."""
    outcome.ordering_nodes, outcome.cpu_seconds = int(counts["ordering_nodes"]), float(counts["cpu"])
    for name in TABLE_COUNTS:
        setattr(outcome, name, int(counts[name]))


def _facts(pool, nodes, seconds, seconds_left, so_far: Callable[[int, float], Outcome] | None, exact: bool) -> Facts:
    """Return the Facts of a search whose SearchTree at work is ``pool``; so_far: see ``TwoPlayerSearcher._run``."""
    depth = None if exact else int(pool.nodes.depth_left[: pool.roots].max())
    more: Any = {"done": pool.finished, "total": pool.jobs + pool.waiting, "seconds_left": seconds_left}
    more |= {"depth_at_work": depth, "more": "to the end" if exact else ""}
    return facts_of(so_far(nodes, seconds), **more) if so_far else Facts(seconds, nodes, **more)
