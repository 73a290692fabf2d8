"""The runner of jobs of Othello and Connect 4, to the end or to a depth, on a GPU."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import UserError
from ..gpu import to_depth
from ..gpu.solver import NO_MOVE
from . import offloaded
from .gpu_lines import Lines, Replies
from .gpu_runner import GpuRunner
from .gpu_solvers import Connect4ToEnd, OthelloToEnd, ToDepth
from .setups import evaluated, rules_of
from .two_player import BRIEF_RESULT, SUBTREE_RESULT, job_dtype

KINDS = "solve", "deep"
_CPU_BOARDS = 50_000  # between two launches, of jobs that are the CPU's
_COUNTS = {"nodes": "nodes", "table_hits": "hits", "table_stores": "stores"}  # field of a record → count of a solver
_LAUNCH, _SHORT_LAUNCH = 0.015, 0.001  # seconds
_WITH_LINES = 16  # jobs of a batch, at most, whose lines go on behind the best move
_LINE_SECONDS, _LINE_SHARE = 0.05, 0.05  # for the lines of a batch: so long, or a share of what their scores took
# launches of a batch before parts of it are offloaded: earlier, that cost 5 to 20% and won nothing (an H200)
_ALONE = 8
_TO_END = {"connect4": Connect4ToEnd, "othello": OthelloToEnd}


def does_parts(setup: dict[str, Any]) -> bool:
    """Return whether a GPU does parts of one search: not of Othello to the end, whose middle games are the cores'."""
    return setup["kind"] != "solve" or setup["game"] != "othello"


def check(setup: dict[str, Any]) -> None:
    """Raise UserError unless a GPU does the jobs of a setup of KINDS."""
    if setup["kind"] == "deep":
        if setup.get("selective"):
            raise UserError(
                "device gpu leaves no line out, as selective does and time alone on 8x8: give selective 1, or use "
                "device cpu"
            )
        if setup.get("repeatable"):
            raise UserError("device gpu goes without nodes: give depth or time, or use device cpu")
        to_depth.check(*evaluated(setup))
    elif setup["game"] not in _TO_END:
        raise UserError(f"device gpu solves {' and '.join(_TO_END)} to the end, not {setup['game']}: use device cpu")


class GpuTwoPlayerRunner(GpuRunner):
    """Searches positions to the end or to a depth, those of a batch at once.

    rank_gpu: of ``gpu_kinds.on_gpu``; plain: makes the runner of positions that do not fit the GPU.
    """

    def __init__(self, setup: dict[str, Any], rank_gpu: Any, plain: Callable[[dict], Any]):
        super().__init__(rank_gpu.fails)
        self._game, self._rules = rules_of(setup)
        self._plain = plain(setup)
        self._setup, self._rank_gpu = setup, rank_gpu
        self._on_gpu: Any = None  # one of ``gpu_solvers``
        self._make = ToDepth if setup["kind"] == "deep" else _TO_END[setup["game"]]
        self.slots = self._make.slots
        self._brief = setup.get("brief", False)
        self.result_dtype = BRIEF_RESULT if self._brief else SUBTREE_RESULT
        self.job_dtype = job_dtype(self._game.words(self._rules))
        self.name = f"gpu_{self._plain.name}"
        self._waiting, self._by_cpu, self._at_cpu = [], deque(), None
        # ids and states of positions that went back to the source in this run; records of such
        self._handed_back, self._returned, self._run = set(), [], None
        self._jobs = np.zeros(0, self.job_dtype)  # the batch at work
        self._open = np.zeros(0, bool)  # those of it that have no answer yet
        self._is_solved = np.zeros(0, bool)  # those of them that only wait for their lines
        self._scores, self._moves = np.zeros(0, np.int32), np.zeros(0, np.int16)
        self._replies: Any = None  # Replies of those whose score is known without a move
        self._lines: Any = None  # Lines of a batch of few jobs, once their scores are known
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
        if run != self._run:  # a run is opened again when the rank comes back to it
            self._run, self._handed_back = run, set()
        self._requested, self._answers, self._offloaded_rows = None, {}, []

    def _make_solver(self):
        if self._on_gpu is not None:
            return
        try:
            if self._rank_gpu.gpu is None:
                raise UserError("it has failed before")
            self._on_gpu = self._make(self._rank_gpu.gpu, self._setup)
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
        waiting = sum(map(len, self._waiting)) + len(self._by_cpu) + (self._at_cpu is not None) + len(self._returned)
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
        hands_back = self._rank_gpu.hands_back and self._on_gpu.hands_back
        for i in np.flatnonzero(~fits):
            key = int(jobs["job_id"][i]), jobs["state"][i].tobytes()
            # subtrees have no positive id, and a position that comes again has no other rank
            if not hands_back or key[0] < 0 or key in self._handed_back:
                self._by_cpu.append(jobs[i : i + 1])
            else:
                self._handed_back.add(key)
                self._returned.append(self.unsearched(jobs[i : i + 1]))
        if fits.any():
            self._waiting.append(jobs[fits])

    def _advance(self):
        """Do a launch, and a little of the CPU's jobs; return the records of the jobs that are done."""
        records, self._returned = self._returned, []
        if not self._open.any() and self._waiting:
            self._begin(np.concatenate(self._waiting))
        elif self._waiting and self._can_be_joined:
            self._add()
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
        self._replies = None
        self._lines, self._began = None, time.perf_counter()
        self._scores, self._moves = np.zeros(len(jobs), np.int32), np.full(len(jobs), NO_MOVE, np.int16)
        self._is_solved = np.zeros(len(jobs), bool)
        self._launches, self._on_gpu.solver.seconds = 0, _LAUNCH
        self._ask(jobs["state"], jobs["depth"], jobs["low"], jobs["high"])

    @property
    def _can_be_joined(self):
        """Whether jobs may join the batch at work: not one so small that its jobs get whole lines."""
        large = self._brief or len(self._jobs) > _WITH_LINES
        return large and self._lines is None and self._replies is None and self._on_gpu.room > 0

    def _add(self):
        """Have as many jobs as there is room for join the batch at work."""
        jobs = np.concatenate(self._waiting)
        jobs, left = np.split(jobs, [self._on_gpu.room])
        self._waiting = [left] if len(left) else []
        self._on_gpu.add(jobs["state"], jobs["low"], jobs["high"])
        self._jobs, none = np.concatenate([self._jobs, jobs]), np.zeros(len(jobs), bool)
        self._open, self._is_solved = np.concatenate([self._open, ~none]), np.concatenate([self._is_solved, none])
        self._scores = np.concatenate([self._scores, np.zeros(len(jobs), np.int32)])
        self._moves = np.concatenate([self._moves, np.full(len(jobs), NO_MOVE, np.int16)])

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
        alone = self._launches < _ALONE or self._replies is not None or self._lines is not None
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
        done = self._on_gpu.advance()
        self._launches += 1
        found, counted = self._on_gpu.found(), self._on_gpu.counts
        counts = {name: counted[there] for name, there in _COUNTS.items()}
        for name, count in counts.items():
            self._spare[name] += count - self._counted[name]
        self._counted = counts
        if not done and self._lines is None and self._replies is None:
            self._on_gpu.go_ahead()
        if self._lines is not None:
            return self._go_on_with_lines(found)
        if self._replies is not None:
            self._on_gpu.solver.seconds = _LAUNCH
            return self._take_replies(found)
        complete = found.complete & self._open & ~self._is_solved
        if not (self._brief or self._on_gpu.tells_moves):  # of one that is at most ``low`` no move is asked for
            complete &= (found.moves != NO_MOVE) | (found.scores <= self._jobs["low"])
        solved = np.flatnonzero(complete)
        records = self._solved(solved, found.scores[solved], found.moves[solved])
        if done and (self._open & ~self._is_solved).any():
            self._scores = np.where(self._is_solved, self._scores, found.scores)
            self._ask_for_replies()
        return records

    def _solved(self, at, scores, moves):
        """Return the records of jobs that are solved; those of a few jobs when their lines are known as well."""
        if self._brief:
            return self._answered(at, scores)
        if len(self._jobs) > (1 if self._setup.get("part") else _WITH_LINES):
            return self._answered(at, scores, [[move] if move != NO_MOVE else [] for move in moves.tolist()])
        self._scores[at], self._moves[at], self._is_solved[at] = scores, moves, True
        if (self._open & ~self._is_solved).any() or not self._open.any():
            return self._none
        at = np.flatnonzero(self._open)
        seconds = max(_LINE_SECONDS, _LINE_SHARE * (time.perf_counter() - self._began))
        asked = self._jobs["state"][at], self._jobs["depth"][at], self._scores[at], self._moves[at]
        self._lines, self._lines_of = Lines(self._game, self._rules, self._on_gpu, *asked, seconds), at
        return self._ask_for_lines()

    def _ask_for_lines(self):
        """Go on with the lines; return the records of their jobs if there is nothing to go on with."""
        if self._lines.goes_on:
            self._ask(*self._lines.question())
            self._on_gpu.solver.seconds = _SHORT_LAUNCH
            return self._none
        return self._given_up(np.flatnonzero(self._open))

    def _given_up(self, at):
        """Return the records of jobs that are searched no further: those that are solved with what is known."""
        solved = self._is_solved[at]
        known = at[solved]
        return np.concatenate(
            [self._answered(at[~solved]), self._answered(known, self._scores[known], [*map(self._line, known)])]
        )

    def _line(self, i):
        if self._lines is not None:
            return self._lines.lines[int(np.searchsorted(self._lines_of, i))]
        return [] if self._moves[i] == NO_MOVE else [int(self._moves[i])]

    def _go_on_with_lines(self, found):
        return self._ask_for_lines() if self._lines.take(found) or not self._lines.goes_on else self._none

    @property
    def _none(self):
        return np.zeros(0, self.result_dtype)

    def _ask_for_replies(self):
        """Search for the moves of positions whose score is known without one."""
        at = self._replies_to = np.flatnonzero(self._open & ~self._is_solved)
        jobs = self._jobs[at]
        self._replies = Replies(self._game, self._rules, self._on_gpu, jobs["state"], jobs["depth"], self._scores[at])
        self._ask(*self._replies.question)
        if self._on_gpu.offloads:  # most of them are known, so short launches are enough
            self._on_gpu.solver.seconds = _SHORT_LAUNCH

    def _take_replies(self, found):
        """Return the records of positions with a known best move, or without moves."""
        best, waits = self._replies.best(found)
        at = self._replies_to
        solved = self._open[at] & ~self._is_solved[at] & ~waits
        return self._solved(at[solved], self._scores[at[solved]], best[solved])

    def _answered(self, at, scores=None, lines=()):
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
        for record, line in zip(records, lines, strict=False):
            record["line_length"] = len(line)
            record["line"][: len(line)] = line
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
            self._jobs["low"][at], self._jobs["high"][at] = low, high
            if self._replies is None and self._lines is None:
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
            if self._replies is None and self._lines is None:
                self._on_gpu.solver.drop(at)
            return self._given_up(np.array([at]))
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
        records = [self._given_up(np.flatnonzero(self._open)), *self._returned]
        self._returned = []
        if self._at_cpu is not None:
            records.append(self._end_at_cpu())
        others = [*self._waiting, *self._by_cpu]
        if others:
            records.append(self.unsearched(np.concatenate(others)))
        self._waiting, self._by_cpu = [], deque()
        return np.concatenate(records)
