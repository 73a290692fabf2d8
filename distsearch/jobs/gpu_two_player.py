"""Jobs of games of two players that a GPU does, many at a time: see ``cluster.protocols.BatchRunner``."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import UserError
from ..games.interface import Position, as_state, legal_moves
from ..gpu import to_depth
from . import offloaded
from .gpu_runner import GpuRunner
from .gpu_solvers import NO_MOVE, Connect4ToEnd, OthelloToEnd, ToDepth
from .setups import evaluated, rules_of
from .two_player import BRIEF_RESULT, SUBTREE_RESULT, job_dtype

KINDS = "solve", "deep"
_SLOTS = 8192  # jobs at a rank: a batch at work, and one that waits for it
_CPU_BOARDS = 50_000  # between two launches, of jobs that are the CPU's
_COUNTS = {"nodes": "nodes", "table_hits": "hits", "table_stores": "stores"}  # field of a record → count of a solver
_LAUNCH, _SHORT_LAUNCH = 0.015, 0.001  # seconds
_ALONE = (
    8  # launches of a batch before parts of it are offloaded: earlier, that cost 5 to 20% and won nothing (an H200)
)
_TO_END = {"connect4": Connect4ToEnd, "othello": OthelloToEnd}


def check(setup: dict[str, Any]) -> None:
    """Raise UserError unless a GPU does the jobs of a setup of KINDS."""
    if setup["kind"] == "deep":
        if setup.get("selective"):
            raise UserError("device gpu leaves no line out: give selective 1, or use device cpu")
        if setup.get("repeatable"):
            raise UserError("device gpu goes without nodes: give depth or time, or use device cpu")
        to_depth.check(*evaluated(setup))
    elif setup["game"] not in _TO_END:
        raise UserError(f"device gpu solves {' and '.join(_TO_END)} to the end, not {setup['game']}: use device cpu")


class GpuTwoPlayerRunner(GpuRunner):
    """Searches positions to the end or to a depth, those of a batch at once.

    rank_gpu: of ``gpu_kinds.on_gpu``; plain: makes the runner of positions that do not fit the GPU.
    """

    slots = _SLOTS

    def __init__(self, setup: dict[str, Any], rank_gpu: Any, plain: Callable[[dict], Any]):
        super().__init__(rank_gpu.fails)
        self._game, self._rules = rules_of(setup)
        self._plain = plain(setup)
        self._setup, self._rank_gpu = setup, rank_gpu
        self._on_gpu: Any = None  # one of ``gpu_solvers``
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
            make = ToDepth if self._setup["kind"] == "deep" else _TO_END[self._setup["game"]]
            self._on_gpu = make(self._rank_gpu.gpu, self._setup)
        except UserError as error:
            self.fail(error)

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
        fits = self._on_gpu.fits(jobs)
        self._by_cpu.extend(jobs[i : i + 1] for i in np.flatnonzero(~fits))
        if fits.any():
            self._waiting.append(jobs[fits])

    def _advance(self):
        """Do a launch, and a little of the CPU's jobs; return the records of the jobs that are done."""
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
        self._ask(jobs["state"], jobs["depth"], jobs["low"], jobs["high"])

    def _ask(self, states, depths, low, high):
        self._counted = dict.fromkeys(_COUNTS, 0)
        if self._on_gpu.offloads:
            self._offloaded_rows += [self._row(number) for number in self._on_gpu.solver.offloaded]
        self._on_gpu.begin(states, depths, low, high)

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
        found, counted = self._on_gpu.found(), self._on_gpu.counts
        counts = {name: counted[there] for name, there in _COUNTS.items()}
        for name, count in counts.items():
            self._spare[name] += count - self._counted[name]
        self._counted = counts
        if self._children is not None:
            self._on_gpu.solver.seconds = _LAUNCH
            return self._replies(found)
        complete = found.complete & self._open
        if not (self._brief or self._on_gpu.tells_moves):  # of one that is at most ``low`` no move is asked for
            complete &= (found.moves != NO_MOVE) | (found.scores <= self._jobs["low"])
        solved = np.flatnonzero(complete)
        records = self._answered(solved, found.scores[solved], None if self._brief else found.moves[solved])
        if done and self._open.any():
            self._scores = found.scores
            self._ask_for_replies()
        return records

    @property
    def _none(self):
        return np.zeros(0, self.result_dtype)

    def _ask_for_replies(self):
        """Search for moves of the solved positions that leave the other side no more than the score."""
        children, parents, moves, values = [], [], [], []
        for i in np.flatnonzero(self._open):
            position, depth = Position(as_state(self._jobs["state"][i]), 0), int(self._jobs["depth"][i]) - 1
            for move in legal_moves(self._game, position, self._rules):
                children.append(as_state(self._game.play(position.state, self._rules, int(move))[0]))
                parents.append(i)
                moves.append(move)
                values.append(self._on_gpu.value(children[-1], depth))
        searched = np.array([value is None for value in values], bool)
        known = np.array([0 if value is None else value for value in values], np.int32)
        self._children = np.array(parents, np.int64), np.array(moves, np.int16), searched, known
        states = np.array(children, np.uint64).reshape(-1, 2)[searched]
        parents = self._children[0][searched]
        low = -self._scores[parents]
        self._ask(states, self._jobs["depth"][parents] - 1, low, low + 1)
        if self._on_gpu.offloads:  # most of them are known, so short launches are enough
            self._on_gpu.solver.seconds = _SHORT_LAUNCH

    def _replies(self, found):
        """Return the records of positions with a known best move, or without moves."""
        parents, moves, searched, known = self._children
        scores, complete = known.copy(), ~searched
        scores[searched], complete[searched] = found.scores, found.complete
        best = np.full(len(self._jobs), NO_MOVE, np.int16)
        good = complete & (scores <= -self._scores[parents])
        best[parents[good][::-1]] = moves[good][::-1]  # the first of several
        waits = np.zeros(len(self._jobs), bool)
        waits[parents[~complete]] = True
        solved = np.flatnonzero(self._open & ((best != NO_MOVE) | ~waits))
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
            records["line_length"] = moves != NO_MOVE
            records["line"][:, 0] = np.where(moves != NO_MOVE, moves, 0)
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
