"""Jobs of games against chance that a GPU does, many at a time: see ``cluster.protocols.BatchRunner``.

Such jobs get no updates, so there is no ``narrow`` and no ``drop`` here.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import UserError
from ..engines.batched_play import BatchedPlay
from ..engines.expectimax import Expectimax
from ..engines.self_play import MAX_PLIES
from ..gpu import expectimax_tables
from ..gpu.expectimax import GpuExpectimax
from ..gpu.expectimax_merged import MOST_PLIES
from .chance import EXPECTIMAX_RESULT, GAME_PART, PARTS, expectimax_job, game_job, game_result
from .gpu_runner import GpuRunner
from .setups import evaluated

_SLOTS = 16_384  # games at a rank
_AT_ONCE = 8192  # of them in a launch, at most: while it is under way, the others' moves are played
_FILLED = 0.9  # of a launch, or as games grow some would not fit and have a launch of their own
_FEW = 256  # games that take less time together than by turns
_STAGGERED = 8  # lengths of first parts: games that began together do not end their parts together
_SEARCHES = 1024  # jobs of a search at a rank


def check(setup: dict[str, Any], depth: int | None = None) -> None:
    """Raise UserError unless a GPU does the jobs of a setup, of searches to so many plies."""
    names = {"deepens": "time", "seconds": "time", "nodes": "nodes", "min_probability": "min-probability"}
    names |= {"depth_by_empty": "depth-by-empty"} if setup["kind"] == "game" else {}
    refused = [name for field, name in names.items() if setup.get(field)]
    if refused:
        raise UserError(f"device gpu goes without {' and '.join(refused)}: give depth or layers, or use device cpu")
    if depth is not None and depth > MOST_PLIES:
        raise UserError(f"device gpu searches {MOST_PLIES} plies at most, {MOST_PLIES // 2} layers; use device cpu")
    expectimax_tables.check(*evaluated(setup))


class _OnGpu(GpuRunner):
    """Base of runners that search on a GPU; ``compile`` or ``open`` makes the search."""

    def __init__(self, setup, gpu, fails=None):
        super().__init__(fails)
        self._setup, self._gpu = setup, gpu
        self._game, self._rules, self._chosen = evaluated(setup)
        self._search: Any = None  # a GpuExpectimax

    def compile(self):
        """Compile all that searches need."""
        try:
            self._make_search()
            self._search.compile()
        except UserError as error:
            self.fail(error)

    def open(self, run):
        """Make the search; a run keeps nothing but memory."""
        try:
            self._make_search()
        except UserError as error:
            self.fail(error)

    def _make_search(self):
        if self._search is None:
            how = {"points": self._setup["points"], "uniform_chance": self._setup["uniform_chance"]}
            self._search = GpuExpectimax(self._gpu, self._game, self._rules, self._chosen, **how)


class GpuExpectimaxRunner(_OnGpu):
    """Searches subtrees of games against chance, those of equal depth together."""

    slots = _SEARCHES
    result_dtype = EXPECTIMAX_RESULT

    def __init__(self, setup: dict[str, Any], gpu: Any, fails: Callable[[Exception], None] | None = None):
        super().__init__(setup, gpu, fails)
        self.job_dtype = expectimax_job(self._game.words(self._rules))
        self._waiting = np.zeros(0, self.job_dtype)

    @property
    def nodes(self) -> int:
        """None: a job is done by the call that begins it."""
        return 0

    @property
    def at_work(self) -> int:
        return len(self._waiting)

    def add(self, jobs: np.ndarray) -> None:
        """Take an array of jobs in."""
        self._waiting = np.concatenate([self._waiting, jobs])

    def _advance(self):
        """Search a launch of those that have the depth of the first; return their records."""
        depth = int(self._waiting["depth"][0])
        same_depth = np.flatnonzero(self._waiting["depth"] == depth)[: self._search.at_once(max(depth, 1))]
        jobs = self._waiting[same_depth]
        found = self._search.values(jobs["state"], depth=depth)
        self._waiting = np.delete(self._waiting, same_depth)
        records = np.zeros(len(jobs), self.result_dtype)
        records["job_id"], records["complete"] = jobs["job_id"], True
        records["move"], records["value"] = found.moves, found.values
        records["nodes"] = found.leaves // len(jobs)
        records["nodes"][: found.leaves % len(jobs)] += 1
        records["evaluated"] = records["nodes"]
        return records

    def stop(self) -> np.ndarray:
        """Give all jobs up; return their records."""
        records = np.zeros(len(self._waiting), self.result_dtype)
        records["job_id"], records["value"], records["move"] = self._waiting["job_id"], -np.inf, -1
        self._waiting = self._waiting[:0]
        return records


class _Group(NamedTuple):
    """Games that are searched in one call."""

    rows: np.ndarray  # in ``BatchedPlay``
    states: np.ndarray

    def joined(self, other):
        return _Group(*map(np.concatenate, zip(self, other, strict=True)))


class GpuGamesRunner(_OnGpu):
    """Plays parts of games, see ``self_play``, thousands at a time.

    Games are in groups, which take turns on the GPU: it searches the next move of every game of one group, while the
    CPU plays the moves that were found for another. All jobs at a time are searched to the same depth.
    """

    slots = _SLOTS

    def __init__(self, setup: dict[str, Any], gpu: Any, fails: Callable[[Exception], None] | None = None):
        super().__init__(setup, gpu, fails)
        self._recorded = setup.get("recorded", False)
        words = self._game.words(self._rules)
        self.job_dtype, self.result_dtype = game_job(words), game_result(words, self._recorded)
        engine = Expectimax(self._game, self._rules, self._chosen, uniform_chance=setup["uniform_chance"])
        self._games = BatchedPlay(self._game, self._rules, engine, _SLOTS, GAME_PART if self._recorded else 0)
        self._job_ids = np.zeros(_SLOTS, np.int32)  # of rows
        self._waiting = np.zeros(0, self.job_dtype)
        self._ready, self._at_gpu = deque(), None  # groups to search, and the one that the GPU searches
        self._nodes = 0  # evaluations for the games at work so far

    @property
    def nodes(self) -> int:
        return self._nodes

    def compile(self) -> None:
        super().compile()
        self._games.compile()

    @property
    def at_work(self) -> int:
        """Jobs that have no answer yet."""
        return len(self._waiting) + _SLOTS - self._games.room

    def add(self, jobs: np.ndarray) -> None:
        """Take an array of jobs in."""
        self._depth = int(jobs["depth"][0])
        self._waiting = np.concatenate([self._waiting, jobs])

    def _advance(self):
        """Play a move of every game of a group; return the records of the jobs that are done by that."""
        group, self._at_gpu = self._at_gpu, None
        moves, nodes = (None, 0) if group is None else self._search.found()
        groups = self._groups()
        size = -(-self.at_work // groups)
        if self._ready and not (group and len(group.rows) + len(self._ready[0].rows) <= size):
            self._launch(size)  # the GPU searches it while the moves of the other group are played
        ended = [] if group is None else [self._play(group, moves, nodes, size)]
        while len(self._waiting) and len(self._ready) + (self._at_gpu is not None) < groups:
            ended.append(self._begin(size))
        if self._at_gpu is None and self._ready:
            self._launch(size)
        rows = np.concatenate(ended) if ended else ()
        return self._records(rows) if len(rows) else np.zeros(0, self.result_dtype)

    def _groups(self):
        """Return into how many groups the games are divided: two, or as many as fill a launch each."""
        most = min(_AT_ONCE, math.ceil(_FILLED * self._search.at_once(self._depth)))
        return 1 if self.at_work <= _FEW else max(2, -(-self.at_work // most))

    def _launch(self, size):
        """Have the GPU search the games of the next group, or of several small ones."""
        group = self._ready.popleft()
        while self._ready and len(group.rows) + len(self._ready[0].rows) <= size:
            group = group.joined(self._ready.popleft())
        self._search.begin(group.states, self._depth)
        self._at_gpu = group

    def _play(self, group, moves, nodes, size):
        """Play what was found for a group, and have new games join it; return the rows that have no more moves."""
        rows, states, ended = self._games.step(group.rows, moves, nodes)
        self._nodes += nodes
        group = _Group(rows, states)
        if len(rows) < size and len(self._waiting):
            more, over = self._add_games(size - len(rows))
            group, ended = group.joined(more), np.concatenate([ended, over])
        self._is_ready(group)
        return ended

    def _begin(self, size):
        """Make a group of new games; return the rows that have no more moves."""
        group, ended = self._add_games(size)
        self._is_ready(group)
        return ended

    def _is_ready(self, group):
        if len(group.rows):
            self._ready.append(group)

    def _add_games(self, count):
        """Return (a group of up to so many new games, rows of those that have no more moves)."""
        jobs, self._waiting = self._waiting[:count], self._waiting[count:]
        parts = 1 if self._recorded or self._depth > MAX_PLIES else PARTS[self._depth]  # as on a CPU
        first = (jobs["chance_steps"] == 0) * (jobs["job_id"] % _STAGGERED)
        until = GAME_PART * parts * (_STAGGERED - first) // _STAGGERED
        rows = self._games.add_games(jobs["state"], jobs["seed"], jobs["chance_steps"], until)
        self._job_ids[rows] = jobs["job_id"]
        rows, states, ended = self._games.step(rows)
        return _Group(rows, states), ended

    def _records(self, rows):
        """Return the records of games, and free their rows."""
        records, table = np.zeros(len(rows), self.result_dtype), self._games.table[rows]
        records["job_id"], records["state"] = self._job_ids[rows], table["state"]
        records["complete"] = (table["over"] > 0) | (table["count"] == table["until"])
        records["chance_steps"] = table["chance_steps"]
        for name in ("over", "score", "moves", "nodes"):
            records[name] = table[name]
        if self._recorded:
            records["length"], records["codes"] = table["count"], self._games.codes[rows]
        self._nodes -= int(records["nodes"].sum())
        self._games.remove_games(rows)
        return records

    def stop(self) -> np.ndarray:
        """Give all jobs up; return their records, with the games' states."""
        self._ready, self._at_gpu = deque(), None
        waiting = np.zeros(len(self._waiting), self.result_dtype)
        for field in ("job_id", "chance_steps", "state"):
            waiting[field] = self._waiting[field]
        self._waiting = self._waiting[:0]
        return np.concatenate([waiting, self._records(self._games.rows)])
