"""Iterative deepening as a source of work: one SearchTree after another, each a ply deeper."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..cluster.protocols import TABLE_COUNTS, TopNode, WorkSource
from ..core.saved import LARGEST, Saved
from .search_tree import SearchTree

# What iterations took: nodes (grown ones included), jobs, and sums over results.
_SUMMED = "ordering_nodes", "cpu", *TABLE_COUNTS
_SPENT = "nodes", "ordering_nodes", "jobs", "cpu", *TABLE_COUNTS


def _spent(saved):
    return dict(zip(_SPENT, saved.numbers("spent", len(_SPENT)), strict=True))


class Deepening(WorkSource):
    """Hands out the jobs of trees of growing depth, one tree at a time.

    make_pool(depth, previous=None, snapshot=None) makes the SearchTree of an iteration, given that of the previous one,
    or that of a snapshot. It begins with depth ``first``, goes ``step`` plies deeper each time, and on until
    ``deepest`` plies, until no line was cut off by the depth (the score is then the game's), or until the nodes of
    finished jobs exceed ``nodes``. An iteration that would exceed them counts for nothing, so the answer depends on the
    budget and not on timing; the first always counts. snapshot: of an earlier Deepening with the same arguments, to go
    on with.
    """

    result_dtype = SearchTree.result_dtype
    updates_jobs = True

    def __init__(
        self,
        make_pool: Callable[..., SearchTree],
        deepest: float,
        nodes: int | None = None,
        first: int = 1,
        step: int = 1,
        snapshot: dict[str, Any] | None = None,
    ):
        self._make_pool, self._deepest, self._step = make_pool, deepest, step
        self._nodes = math.inf if nodes is None else nodes
        self._done = False
        self.spent = self.completed_spent = dict.fromkeys(_SPENT, 0)  # in all, and up to the last completed iteration
        self.depth = first  # of the tree at work
        self.proved = False  # the last completed iteration searched every line to the end of the game
        self.completed = None  # the tree of the last completed iteration
        self.completed_depth = 0
        if snapshot is None:
            self._begin()
        else:
            self._restore(Saved(snapshot))
        self.joint = self.by_host = self.spans_hosts = self.pool.by_host
        self._go_deeper()

    def _restore(self, saved):
        self.depth = saved.integer("depth", 1, int(min(self._deepest, LARGEST)))
        self._done, self.spent = saved.flag("done"), _spent(saved)
        self.pool = self._make_pool(self.depth, snapshot=saved.entries("pool"))
        if not saved.is_none("completed"):
            completed = saved.part("completed")
            self.completed_depth, self.proved = completed.integer("depth", 1, self.depth), completed.flag("proved")
            self.completed_spent = _spent(completed)
            self.completed = self._make_pool(self.completed_depth, snapshot=completed.entries("pool"))
        self._earlier = self.spent["nodes"] - self.pool.all_nodes

    @property
    def done(self) -> bool:
        """Whether nothing more is needed."""
        return self._done

    @property
    def all_nodes(self) -> int:
        """Nodes so far, those of ordering searches too."""
        return int(self.spent["nodes"] + self.spent["ordering_nodes"])

    @property
    def progress(self) -> dict:
        return self.pool.progress

    def snapshot(self, at_work: Any = ()) -> dict[str, Any]:
        """Return what a Deepening of the same arguments needs to go on from here; see ``SearchTree.snapshot``."""
        completed = None
        if self.completed is not None:
            completed = {
                "depth": self.completed_depth,
                "pool": self.completed.snapshot(),
                "proved": self.proved,
                "spent": tuple(self.completed_spent.values()),
            }
        return {
            "depth": self.depth,
            "pool": self.pool.snapshot(at_work),
            "spent": tuple(self.spent.values()),
            "done": self.done,
            "completed": completed,
        }

    @property
    def waiting(self) -> int:
        return self.pool.waiting

    def top(self, most: int) -> list[TopNode]:
        """See ``WorkSource.top``; of the tree at work."""
        return self.pool.top(most)

    def job_updates(self, idle_workers: int) -> Iterable:
        return self.pool.job_updates(idle_workers)

    def on_split(self, job: int, remainder: int, subtree: np.ndarray) -> None:
        self.pool.on_split(job, remainder, subtree)

    def on_export(self, job: int, words: np.ndarray) -> list[int]:
        return self.pool.on_export(job, words)

    def moved(self, job: int, worker: int) -> None:
        self.pool.moved(job, worker)

    def _begin(self):
        self.pool = self._make_pool(self.depth, previous=self.completed)
        self._earlier = self.spent["nodes"]  # of iterations before
        self._spend()

    def _spend(self, **more):
        self.spent = self.spent | {"nodes": self._earlier + self.pool.all_nodes} | more

    def take(self, count: int, worker: int) -> np.ndarray:
        """See ``SearchTree.take``; empty while the last jobs of an iteration are out."""
        if self.done or self.pool.done:
            return self.pool.none
        limited = self._nodes < math.inf and self.completed is not None
        jobs = self.pool.take(count, worker, int(max(1, self._nodes - self.all_nodes)) if limited else 0)
        if self.pool.done and not self.pool.out:  # growing it was enough
            self._spend()
            self._go_deeper()
            return self.take(count, worker)
        return jobs

    def finish(self, results: np.ndarray) -> None:
        """See ``SearchTree.finish``; goes on to the next depth when an iteration is complete."""
        self.pool.finish(results)
        sums = {name: self.spent[name] + results[name].sum().item() for name in _SUMMED}
        self._spend(jobs=self.spent["jobs"] + len(results), **sums)
        limited = self._nodes < math.inf and self.completed is not None
        if limited and (self.all_nodes > self._nodes or not results["complete"].all()):
            self._done = True  # the budget is used up
            return
        self._go_deeper()

    def lost(self, worker: int) -> None:
        """See ``SearchTree.lost``; goes on to the next depth if no other jobs were out."""
        self.pool.lost(worker)
        self._go_deeper()

    def _go_deeper(self):
        while self.pool.done and not self.pool.out and not self.done:
            self.completed, self.completed_depth, self.completed_spent = self.pool, self.depth, self.spent
            self.proved = not self.pool.totals()["evaluated"].any()
            spent = self.all_nodes >= self._nodes
            if self.proved or spent or self.depth >= self._deepest:
                self._done = True
            else:
                self.depth = min(self.depth + self._step, self._deepest)
                self._begin()
