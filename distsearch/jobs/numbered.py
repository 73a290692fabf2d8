"""Base of work sources whose jobs are numbers: which of them wait, and which worker has which of the others."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..cluster.protocols import TopNode, WorkSource, breadth_first
from ..games.interface import MAX_MOVES
from .setups import rules_of

_MIN_DEPTH_LEFT = 4  # plies of a subtree that is worth growing
SUMMED = "nodes", "evaluated", "cpu"  # fields of every search's results that a pool adds up


class NumberedJobs(WorkSource):
    """Jobs by number, which is ``job_id`` in their records and results; a subclass fills in the other fields.

    job_dtype: of records. ``jobs`` is how many were handed out, and neither lost nor given up. ``nodes``,
    ``evaluated``, ``cpu`` (seconds of the workers), ``table_hits``, ``table_far_hits``, ``table_stores`` and
    ``table_replacements`` are sums over all results so far; those that a subclass does not add up stay 0.
    """

    nodes = evaluated = table_hits = table_far_hits = table_stores = table_replacements = 0
    cpu = 0.0

    def __init__(self, job_dtype: np.dtype, numbers: Iterable[int] = ()):
        self._job_dtype = job_dtype
        self._queue = deque(numbers)
        self._holders = {}  # number of a job that is out → its worker
        self.jobs = 0

    def _fill(self, job, number):
        """Write the other fields of a job's record."""
        raise NotImplementedError

    @property
    def waiting(self) -> int:
        """Jobs that have not been handed out."""
        return len(self._queue)

    def take(self, count: int, worker: int) -> np.ndarray:
        """Return up to ``count`` jobs (an array of job records, perhaps empty) for ``worker``."""
        chosen = [self._queue.popleft() for _ in range(min(count, len(self._queue)))]
        return self._handed(chosen, worker)

    def _handed(self, numbers: Sequence[int], worker: int) -> np.ndarray:
        """Return the records of jobs that a worker has from now on."""
        self._holders.update(dict.fromkeys(numbers, worker))
        self.jobs += len(numbers)
        jobs: np.ndarray = np.zeros(len(numbers), self._job_dtype)
        for job, number in zip(jobs, numbers, strict=True):
            job["job_id"] = number
            self._fill(job, number)
        return jobs

    def lost(self, worker: int) -> None:
        """Put the jobs of a lost worker first in the queue."""
        numbers = [number for number, holder in self._holders.items() if holder == worker]
        for number in numbers:
            del self._holders[number]
        self._queue.extendleft(reversed(numbers))
        self.jobs -= len(numbers)

    def _back(self, results):
        """Yield (number, result) of an array of result records, whose jobs are out no longer."""
        for result in results:
            number = int(result["job_id"])
            del self._holders[number]
            yield number, result

    def _undone(self, number):
        """Put a job that was given up first in the queue: its worker goes on without its GPU, or the run is over."""
        self._queue.appendleft(number)
        self.jobs -= 1

    def _add_up(self, results, names):
        """Add the fields of these names of all results to the attributes of the same names."""
        for name in names:
            setattr(self, name, getattr(self, name) + results[name].sum().item())


class GrownTree(NumberedJobs):
    """The tree of a game against chance, grown breadth-first; its leaves are jobs.

    setup: of the runners, of which game, board and options are needed (see ``rules_of``); job_dtype: of a number of
    words. A node is an index into columns, lists that a subclass has.
    """

    resolved = False  # a deeper search may find another value
    finished = 0  # jobs that are done

    def __init__(self, setup: dict[str, Any], job_dtype: Callable[[int], np.dtype]):
        self._game: Any
        self._game, self._rules = rules_of(setup)
        self._out, self._chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
        self.states, self.parent, self.depth_left, self.move, self.children = [], [], [], [], []
        super().__init__(job_dtype(self._game.words(self._rules)))

    def _append(self, **columns):
        """Add a node, without children so far; return it."""
        for name, value in columns.items():
            getattr(self, name).append(value)
        self.children.append([])
        return len(self.parent) - 1

    def _can_grow(self, node, min_depth_left):
        """Whether a node is no leaf and has so many plies left."""
        raise NotImplementedError

    def _grow(self, node):
        """Make the children of a node; return them."""
        raise NotImplementedError

    def _grown(self, wanted_subtrees, all_moves):
        """Grow the tree to so many subtrees, at least the root's if ``all_moves``; return their nodes, in order."""
        waiting, at = [0], 0
        while at < len(waiting) and (len(waiting) < wanted_subtrees or all_moves and waiting[at] == 0):
            node = waiting[at]
            if self._can_grow(node, 1 if all_moves and node == 0 else _MIN_DEPTH_LEFT):
                waiting[at : at + 1] = []
                waiting += self._grow(node)
            else:
                at += 1
        return waiting

    @property
    def tree_nodes(self) -> int:
        """Nodes that the master has."""
        return len(self.parent)

    def _known_of(self, node):
        """Return (low, high, whether nothing more is asked) of a node; bounds are infinite or nan where unknown."""
        raise NotImplementedError

    def top(self, most: int) -> list[TopNode]:
        """See ``WorkSource.top``."""
        return [self._top_node(node) for node in breadth_first(self.children.__getitem__, most)]

    def _top_node(self, node):
        *bounds, closed = self._known_of(node)
        low, high = (bound if math.isfinite(bound) else None for bound in bounds)
        worker = self._holders.get(node)
        status = "done" if closed else "grown" if self.children[node] else "waiting" if worker is None else "sent"
        move = self.move[node] if self.move[node] >= 0 else None
        parent, depth_left = self.parent[node], self.depth_left[node]
        return TopNode(node, parent, move, status, depth_left, worker, low=low, high=high)
