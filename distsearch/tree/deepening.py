"""Iterative deepening as a source of work: one pool after another, each a ply deeper."""

from typing import NamedTuple


class Spent(NamedTuple):
    """What iterations took: boards (grown ones included; of ordering searches), jobs, CPU seconds, table counts."""

    boards: int = 0
    ordering_boards: int = 0
    jobs: int = 0
    cpu: float = 0.0
    table_hits: int = 0
    table_stores: int = 0
    table_replacements: int = 0

    @property
    def all_boards(self):
        return self.boards + self.ordering_boards


class Deepening:
    """Hands out the jobs of pools of growing depth, one pool at a time.

    make_pool(depth, snapshot=None) makes the pool of an iteration, or that of a snapshot; it goes on until ``deepest``
    plies, until no line was cut off by the depth (the score is then the game's), or until the boards of finished jobs
    exceed ``nodes``. An iteration that would exceed them counts for nothing, so the answer depends on the budget and
    not on timing; the first always counts. snapshot: of an earlier Deepening with the same arguments, to go on with.
    """

    def __init__(self, make_pool, deepest, nodes=None, snapshot=None):
        self._make_pool, self._deepest, self._nodes = make_pool, deepest, nodes
        self.spent = self.completed_spent = Spent()  # in all, and up to the last completed iteration
        self.depth = 1  # of the pool at work
        self.done = False
        self.proved = False  # the last completed iteration searched every line to the end of the game
        self.completed = None  # the pool of the last completed iteration
        self.completed_depth = 0
        if snapshot is None:
            self._begin()
        else:
            self._restore(**snapshot)
        self._go_deeper()

    def _restore(self, depth, pool, spent, done, completed):
        self.depth, self.done, self.spent = depth, done, Spent(*spent)
        self.pool = self._make_pool(depth, pool)
        if completed:
            self.completed_depth, self.proved = completed["depth"], completed["proved"]
            self.completed_spent = Spent(*completed["spent"])
            self.completed = self._make_pool(self.completed_depth, completed["pool"])

    @property
    def saved(self):
        return self.pool.saved

    def snapshot(self, at_work=()):
        """Return what a Deepening of the same arguments needs to go on from here; see ``Pool.snapshot``."""
        completed = None
        if self.completed is not None:
            completed = {
                "depth": self.completed_depth, "pool": self.completed.snapshot(), "proved": self.proved,
                "spent": self.completed_spent,
            }  # fmt: skip
        return {
            "depth": self.depth, "pool": self.pool.snapshot(at_work), "spent": self.spent, "done": self.done,
            "completed": completed,
        }  # fmt: skip

    @property
    def result_dtype(self):
        return self.pool.result_dtype

    @property
    def waiting(self):
        return self.pool.waiting

    def _begin(self):
        self.pool = self._make_pool(self.depth)
        grown = int(self.pool.nodes.cost[: self.pool.roots].sum())
        self.spent = self.spent._replace(boards=self.spent.boards + grown)

    def take(self, count, worker):
        """See ``Pool.take``; empty while the last jobs of an iteration are out."""
        limited = self._nodes is not None and self.completed is not None
        return self.pool.take(count, worker, max(1, self._nodes - self.spent.all_boards) if limited else 0)

    def finish(self, results):
        """See ``Pool.finish``; goes on to the next depth when an iteration is complete."""
        self.pool.finish(results)
        before = self.spent._replace(jobs=self.spent.jobs + len(results))
        new = {name: getattr(before, name) + results[name].sum().item() for name in Spent._fields if name != "jobs"}
        self.spent = before._replace(**new)
        exceeded = self._nodes is not None and self.spent.all_boards > self._nodes
        if self.completed is not None and (exceeded or not results["complete"].all()):
            self.done = True  # a job is only incomplete if a budget or the end of the run stopped it
            return
        self._go_deeper()

    def _go_deeper(self):
        while self.pool.done and not self.done:
            self.completed, self.completed_depth, self.completed_spent = self.pool, self.depth, self.spent
            self.proved = not self.pool.totals()["evaluated"].any()
            spent = self._nodes is not None and self.spent.all_boards >= self._nodes
            if self.proved or spent or self.depth >= self._deepest:
                self.done = True
            else:
                self.depth += 1
                self._begin()
