"""The kinds of job that a GPU does, many at a time: see ``cluster.protocols.BatchRunner``.

Records of jobs and results are those of the runners on a CPU, so ranks with and without a GPU work on one search. Jobs
that a GPU cannot do, the same rank does on its CPU.
"""

import platform
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..cluster.protocols import BatchRunner
from ..core.errors import UserError, print_error
from ..games import connect4, othello
from ..games.interface import Position, as_state, legal_moves
from ..gpu.othello_endgame import GpuEndgame
from ..gpu.solver import GpuSolver
from . import gpu_expectimax, offloaded
from .setups import rules_of
from .two_player import BRIEF_RESULT, SUBTREE_RESULT, job_dtype

_SLOTS = 8192  # jobs at a rank: a batch at work, and one that waits for it
_CPU_BOARDS = 50_000  # between two launches, of jobs that are the CPU's
_TABLE_MIB, _ENDGAME_MIB = 4096, 1024  # of the GPU's memory, or
_SHARE = 8  # an eighth of what is free, for other ranks and other setups
_NO_MOVE = -2
_COUNTS = {"nodes": "nodes", "table_hits": "hits", "table_stores": "stores"}  # field of a record → count of a solver
_LAUNCH, _SHORT_LAUNCH = 0.015, 0.001  # seconds
_ALONE = (
    8  # launches of a batch before parts of it are offloaded: earlier, that cost 5 to 20% and won nothing (an H200)
)


def check(setup: dict[str, Any], depth: int | None = None) -> None:
    """Raise UserError unless a GPU does the jobs of a setup, of searches to so many plies if they are to a depth."""
    if setup["kind"] in _BY_CHANCE:
        gpu_expectimax.check(setup, depth)
    elif setup["kind"] != "solve" or setup["game"] not in _SOLVERS:
        raise UserError(
            f"device gpu solves {' and '.join(_SOLVERS)} to the end (add --exact), and searches and plays 2048 and "
            "2584 by expectimax; for all else use --device cpu"
        )


def on_gpu(
    kinds: dict[str, Callable[[dict], Any]], gpu: Any, among_others: bool = False
) -> dict[str, Callable[[dict], Any]]:
    """Return the kinds of job of a rank with a GPU; kinds: those of one without.

    among_others: if the GPU fails, the rank says so and goes on without it, and its jobs go back to the source.
    """
    rank_gpu = _RankGpu(gpu, among_others)

    def solve(setup):
        # a part of a middle game of Othello would keep one core busy, whose job cannot be split
        if rank_gpu.gpu is None or setup["game"] not in _SOLVERS or setup["game"] == "othello" and setup.get("part"):
            return kinds["solve"](setup)
        return GpuSolveRunner(setup, rank_gpu, kinds["solve"])

    def by_chance(kind, runner):
        def make(setup):
            try:
                check(setup)
            except UserError:  # where a GPU is required, the option was refused before
                return kinds[kind](setup)
            return runner(setup, rank_gpu.gpu, rank_gpu.fails) if rank_gpu.gpu is not None else kinds[kind](setup)

        return make

    return type(kinds)(
        {**kinds, "solve": solve, **{kind: by_chance(kind, runner) for kind, runner in _BY_CHANCE.items()}}
    )


def _room(gpu, mib):
    """Return how many of the wanted MiB a table may take."""
    return min(mib, max(gpu.free() // _SHARE >> 20, 1))


class _RankGpu:
    """The GPU of a rank, until it fails."""

    def __init__(self, gpu, among_others):
        self.gpu, self._among_others = gpu, among_others

    def fails(self, error):
        if not self._among_others:
            raise error
        if self.gpu is not None:
            print_error(f"distsearch: a rank on {platform.node()} goes on without its GPU: {error}")
        self.gpu = None


class _Connect4:
    """Any number of stones."""

    offloads = True

    def __init__(self, gpu, rules):
        self.solver = GpuSolver(gpu, connect4, rules, _room(gpu, _TABLE_MIB))
        self.counts = {}  # of the batch, as of the latest ``found``

    def fits(self, states):
        return np.ones(len(states), bool)

    def found(self):
        """Return (scores, complete, moves) of the batch; None for moves if there are none."""
        scores, complete, _, self.counts = self.solver.result()
        return scores, complete, None


class _Othello:
    """End games of so few empty squares that one launch can solve them."""

    MOST, offloads = 14, False
    SHARED = 9  # from so many on, groups without a position help others: 22% faster, measured with 30,000 of 10 to 12

    def __init__(self, gpu, rules):
        self._rules = rules
        self.solver: Any = None
        if int(rules[othello.SQUARES]) <= 64:
            sizes = {"table_mib": _room(gpu, _ENDGAME_MIB), "share_from": self.SHARED}
            self.solver = GpuEndgame(gpu, othello, rules, most=self.MOST, **sizes)

    def fits(self, states):
        if self.solver is None:
            return np.zeros(len(states), bool)
        taken = [int(own | other).bit_count() for own, other in states[:, :2]]
        return int(self._rules[othello.SQUARES]) - np.array(taken, np.int64) <= self.MOST

    def found(self):
        return self.solver.result()

    @property
    def counts(self):
        return self.solver.counts


_SOLVERS = {"connect4": _Connect4, "othello": _Othello}


_BY_CHANCE = {"expectimax": gpu_expectimax.GpuExpectimaxRunner, "game": gpu_expectimax.GpuGamesRunner}


class GpuSolveRunner(BatchRunner):
    """Solves positions exactly, those of a batch at once.

    rank_gpu: of ``on_gpu``; plain: makes the runner of positions that do not fit the GPU. Once it has ``failed`` it has
    no jobs: it has returned results of them that are not complete.
    """

    slots = _SLOTS

    def __init__(self, setup: dict[str, Any], rank_gpu: Any, plain: Callable[[dict], Any]):
        self._game, self._rules = rules_of(setup)
        self._plain = plain(setup)
        self._rank_gpu, self._solver_of = rank_gpu, _SOLVERS[setup["game"]]
        self._on_gpu: Any = None  # a _Connect4 or an _Othello
        self.failed = False
        self._brief = setup.get("brief", False)
        self.result_dtype = BRIEF_RESULT if self._brief else SUBTREE_RESULT
        self.job_dtype = job_dtype(self._game.words(self._rules))
        self.name = f"gpu_{self._plain.name}"
        self._waiting, self._by_cpu, self._at_cpu = [], deque(), None
        self._jobs = np.zeros(0, self.job_dtype)  # the batch at work
        self._open = np.zeros(0, bool)  # those of it that have no answer yet
        self._requested = None  # (how many, the most depth left) of parts to offload
        self._answers, self._offloaded_rows = {}, []  # results of such parts; rows of OFFLOAD
        self._launches = 0  # of the batch
        self._counted = dict.fromkeys(_COUNTS, 0)  # of the batch so far
        self._spare = dict.fromkeys(_COUNTS, 0)  # of it, what is not attributed to a job yet

    def compile(self) -> None:
        """Compile for the CPU and for the GPU."""
        self._plain.compile()
        self._make_solver()

    def open(self, run: int) -> None:
        """Keep the tables: their entries are true in any run."""
        self._plain.open(run)
        self._make_solver()
        self._requested, self._answers, self._offloaded_rows = None, {}, []

    def _make_solver(self):
        if self._on_gpu is not None:
            return
        try:
            if self._rank_gpu.gpu is None:
                raise UserError("it has failed before")
            self._on_gpu = self._solver_of(self._rank_gpu.gpu, self._rules)
        except UserError as error:
            self._fail(error)

    def _fail(self, error):
        self._rank_gpu.fails(error)
        self.failed = True

    @property
    def engine(self) -> Any:
        return self._plain.engine

    def unsearched(self, jobs: np.ndarray) -> np.ndarray:
        return self._plain.unsearched(jobs)

    @property
    def at_work(self) -> int:
        """Jobs that have no answer yet."""
        waiting = sum(map(len, self._waiting)) + len(self._by_cpu) + (self._at_cpu is not None)
        return int(np.count_nonzero(self._open)) + waiting

    @property
    def nodes(self) -> int:
        return self._spare["nodes"] + (self._plain.nodes if self._at_cpu is not None else 0)

    def add(self, jobs: np.ndarray) -> None:
        """Take an array of jobs in."""
        if self.failed:
            self._waiting.append(jobs)
            return
        fits = self._on_gpu.fits(jobs["state"])
        self._by_cpu.extend(jobs[i : i + 1] for i in np.flatnonzero(~fits))
        if fits.any():
            self._waiting.append(jobs[fits])

    def advance(self) -> np.ndarray:
        """Do a launch, and a little of the CPU's jobs; return the records of the jobs that are done."""
        try:
            return self._advance()
        except UserError as error:
            self._fail(error)
            return self.stop()

    def _advance(self):
        if self.failed:
            return self.stop()
        records = []
        if not self._open.any() and self._waiting:
            self._begin(np.concatenate(self._waiting))
        if self._open.any():
            self._offload()
            records.append(self._launch())
        if self._at_cpu is None and self._by_cpu:
            (self._at_cpu,) = self._by_cpu.popleft()
            self._plain.begin(self._at_cpu)
        if self._at_cpu is not None and self._plain.advance(_CPU_BOARDS):
            records.append(self._end_at_cpu())
        return np.concatenate(records) if records else self._none

    def _begin(self, jobs):
        self._waiting = []
        self._jobs, self._open = jobs, np.ones(len(jobs), bool)
        self._children: Any = None  # (parents, moves) of the replies that are searched
        self._scores = np.zeros(len(jobs), np.int32)
        self._launches, self._on_gpu.solver.seconds = 0, _LAUNCH
        self._ask(jobs["state"], jobs["low"], jobs["high"])

    def _ask(self, states, low, high):
        self._counted = dict.fromkeys(_COUNTS, 0)
        if self._on_gpu.offloads:
            self._offloaded_rows += [self._row(number) for number in self._on_gpu.solver.offloaded]
        self._on_gpu.solver.begin(states, low, high)

    def offload(self, count: int, depth_left: int) -> None:
        """See ``BatchRunner.offload``."""
        self._requested = count, depth_left

    def new_offloads(self) -> np.ndarray:
        """See ``BatchRunner.new_offloads``."""
        rows, self._offloaded_rows = self._offloaded_rows, []
        return np.concatenate(rows) if rows else np.zeros(0, np.int64)

    def on_offload_results(self, rows: np.ndarray) -> None:
        """Take in rows of a part's number and bounds of its score."""
        parts = self._on_gpu.solver.offloaded
        for number, low, high in rows.tolist():
            if number in parts:
                self._answers[number] = low if low >= parts[number][2] else high

    def _offload(self):
        """Take answers in and offload more parts, if they are requested."""
        alone = self._launches < _ALONE or self._children is not None
        if alone or not self._requested or not self._on_gpu.offloads:
            return
        solver, answers, self._answers = self._on_gpu.solver, self._answers, {}
        fresh, gone = solver.offload(*self._requested, answers)
        self._offloaded_rows += [self._row(number) for number in gone if number not in answers]
        for number in fresh:
            job, state, beta = solver.offloaded[number]
            depth_left = int(self._game.moves_left(tuple(state), self._rules))
            self._offloaded_rows.append(
                offloaded.row(int(self._jobs["job_id"][job]), number, beta - 1, beta, depth_left, state)
            )

    def _row(self, number):
        """Return a row that ends a part."""
        return offloaded.row(0, number, 0, 0, 0, np.zeros(self.job_dtype["state"].shape[0], np.uint64))

    def _launch(self):
        done = self._on_gpu.solver.advance()
        self._launches += 1
        scores, complete, moves = self._on_gpu.found()
        counted = self._on_gpu.counts
        counts = {name: counted[there] for name, there in _COUNTS.items()}
        for name, count in counts.items():
            self._spare[name] += count - self._counted[name]
        self._counted = counts
        if self._children is not None:
            self._on_gpu.solver.seconds = _LAUNCH
            return self._replies(scores, complete)
        if self._brief or moves is not None:
            solved = np.flatnonzero(complete & self._open)
            return self._answered(solved, scores[solved], None if self._brief else moves[solved])
        if done:
            self._scores = scores
            self._ask_for_replies()
        return self._none

    @property
    def _none(self):
        return np.zeros(0, self.result_dtype)

    def _ask_for_replies(self):
        """Search for moves of the solved positions that leave the other side no more than the score."""
        children, parents, moves = [], [], []
        for i in np.flatnonzero(self._open):
            position = Position(as_state(self._jobs["state"][i]), 0)
            for move in legal_moves(self._game, position, self._rules):
                children.append(self._game.play(position.state, self._rules, int(move))[0])
                parents.append(i)
                moves.append(move)
        self._children = np.array(parents, np.int64), np.array(moves, np.int16)
        low = -self._scores[self._children[0]]
        self._ask(np.array(children, np.uint64).reshape(-1, 2), low, low + 1)
        if self._on_gpu.offloads:  # most of them are known, so short launches are enough
            self._on_gpu.solver.seconds = _SHORT_LAUNCH

    def _replies(self, scores, complete):
        """Return the records of positions with a known best move, or without moves."""
        parents, moves = self._children
        best = np.full(len(self._jobs), _NO_MOVE, np.int16)
        good = complete & (scores <= -self._scores[parents])
        best[parents[good][::-1]] = moves[good][::-1]  # the first of several
        waits = np.zeros(len(self._jobs), bool)
        waits[parents[~complete]] = True
        solved = np.flatnonzero(self._open & ((best != _NO_MOVE) | ~waits))
        return self._answered(solved, self._scores[solved], best[solved])

    def _answered(self, at, scores=None, moves=None):
        """Return the records of some jobs of the batch, with their share of the counts; without scores: given up."""
        records, unanswered = np.zeros(len(at), self.result_dtype), np.count_nonzero(self._open)
        self._open[at] = False
        records["job_id"], records["complete"] = self._jobs["job_id"][at], scores is not None
        records["score"] = -np.inf if scores is None else scores
        for name in _COUNTS if len(at) else ():
            if name not in (records.dtype.names or ()):
                continue  # a brief record
            records[name] = self._spare[name] // unanswered
            records[name][0] += self._spare[name] % unanswered if len(at) == unanswered else 0
            self._spare[name] -= int(records[name].sum())
        if moves is not None:
            records["line_length"] = moves != _NO_MOVE
            records["line"][:, 0] = np.where(moves != _NO_MOVE, moves, 0)
        return records

    def _end_at_cpu(self):
        record, self._at_cpu = self._plain.result(0.0, 0.0), None
        return record

    def _at(self, job_id):
        """Return where in the batch an open job is, None if it is not there."""
        found = np.flatnonzero((self._jobs["job_id"] == job_id) & self._open)
        return int(found[0]) if len(found) else None

    def has(self, job_id: int) -> bool:
        """Whether a job has no answer yet."""
        waiting = any((jobs["job_id"] == job_id).any() for jobs in (*self._waiting, *self._by_cpu))
        return waiting or self._is_at_cpu(job_id) or self._at(job_id) is not None

    def _is_at_cpu(self, job_id):
        return self._at_cpu is not None and self._at_cpu["job_id"] == job_id

    def narrow(self, job_id: int, low: int, high: int) -> None:
        """Narrow the window of a job."""
        if self._is_at_cpu(job_id):
            self._plain.narrow(low, high)
            return
        if (at := self._at(job_id)) is not None:
            if self._children is None:
                self._on_gpu.solver.narrow(at, low, high)
            return
        for jobs in (*self._waiting, *self._by_cpu):
            mine = jobs["job_id"] == job_id
            if mine.any():
                jobs["low"][mine], jobs["high"][mine] = low, high

    def drop(self, job_id: int) -> np.ndarray:
        """Give a job up; return its record."""
        if self._is_at_cpu(job_id):
            return self._end_at_cpu()
        if (at := self._at(job_id)) is not None:
            if self._children is None:
                self._on_gpu.solver.drop(at)
            return self._answered(np.array([at]))
        kept, gone = [], []
        for jobs in self._waiting:
            kept.append(jobs[jobs["job_id"] != job_id])
            gone.append(jobs[jobs["job_id"] == job_id])
        self._waiting = [jobs for jobs in kept if len(jobs)]
        gone += [job for job in self._by_cpu if job["job_id"] == job_id]
        self._by_cpu = deque(job for job in self._by_cpu if job["job_id"] != job_id)
        return self.unsearched(np.concatenate(gone))

    def stop(self) -> np.ndarray:
        """Give all jobs up; return their records."""
        records = [self._answered(np.flatnonzero(self._open))]
        if self._at_cpu is not None:
            records.append(self._end_at_cpu())
        others = [*self._waiting, *self._by_cpu]
        if others:
            records.append(self.unsearched(np.concatenate(others)))
        self._waiting, self._by_cpu = [], deque()
        return np.concatenate(records)
