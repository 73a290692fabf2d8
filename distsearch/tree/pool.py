"""The policy ``pool``: a breadth-first pool of subtrees, each searched once with a full window.

A pool is a source of work for the master: ``take`` hands out job records, of which ``waiting`` are left, ``finish``
takes result records back, and ``done`` says when all are in. It neither sends messages nor reads clocks.
"""

import numpy as np

from ..games.interface import MAX
from .jobs import PERFT_RESULT, SUBTREE_RESULT, TO_THE_END, job_dtype
from .nodes import DONE, EXACT, LOWER, NONE, SENT, UNKNOWN, UPPER, WAITING, NodeArray

ANY = (-(10**6), 10**6)  # a window that every score lies in


class Pool:
    """What the pools of all kinds of job share: growing the array and handing out its waiting nodes."""

    def __init__(self, grower, states, depth, target, forced=0, win=0, window=ANY):
        """Grow a forest with a root for each of ``states`` until ``target`` subtrees wait.

        depth: plies to search each root (TO_THE_END: the whole game); forced: plies that are grown in any case;
        window: (low, high) for exact searches: scores of a root are told apart no further than that.
        """
        self._exact, self._window = depth == TO_THE_END, window
        words = len(states[0])
        self.nodes = NodeArray(words, 2 * len(states) + 1024)
        waiting = 0
        for state in states:
            root = self.nodes.add_root(state, grower.moves_left(state) if self._exact else depth)
            final = grower.finished(state)
            if final is None:
                waiting += 1
            else:
                self._close_root(root, final + (win if final > 0 else -win if final < 0 else 0))
        self.roots = len(states)
        grower.grow(self.nodes, 0, waiting, target, forced, 0 if self._exact else 1, win)
        self._queue = np.flatnonzero(self.nodes.status[: self.nodes.size] == WAITING).astype(np.int32)
        self._next = 0
        self._job_dtype = job_dtype(words)
        self.jobs = len(self._queue)
        self.finished = 0  # jobs whose complete results are in

    def _close_root(self, root, score):
        nodes = self.nodes
        nodes.best[root], nodes.bound[root], nodes.status[root] = score, EXACT, DONE

    @property
    def done(self):
        """Whether every job's complete result is in."""
        return self.finished == self.jobs

    @property
    def waiting(self):
        """Jobs that have not been handed out."""
        return self.jobs - self._next

    def take(self, count, worker, budget=0):
        """Return up to ``count`` jobs (an array of job records, perhaps empty) for ``worker``.

        budget: boards at which each of them is to stop, 0 for none.
        """
        chosen = self._queue[self._next : self._next + count]
        self._next += len(chosen)
        nodes = self.nodes
        nodes.status[chosen] = SENT
        nodes.owner[chosen] = worker
        jobs = np.empty(len(chosen), self._job_dtype)
        jobs["node"] = chosen
        jobs["depth"] = TO_THE_END if self._exact else nodes.left[chosen]
        jobs["budget"] = budget
        low, high = self._window
        maximises = nodes.kind[chosen] == MAX
        jobs["low"], jobs["high"] = np.where(maximises, low, -high), np.where(maximises, high, -low)
        jobs["state"] = nodes.state[chosen]
        return jobs


class SubtreePool(Pool):
    """Subtrees for alpha-beta or minimax; scores are backed up the array."""

    result_dtype = SUBTREE_RESULT

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._answers = np.zeros(self.jobs, self.result_dtype)
        self._answered = 0

    def finish(self, results):
        """Take an array of result records in; a job that was stopped early leaves only its boards."""
        nodes = self.nodes
        at = results["node"]
        nodes.cost[at] += results["boards"]
        entries = np.arange(self._answered, self._answered + len(results))
        self._answers[entries] = results
        self._answered += len(results)
        nodes.answer[at] = entries
        nodes.best[at] = np.where(nodes.kind[at] == MAX, results["score"], -results["score"])
        complete = results["complete"] != 0
        partial = np.where(nodes.kind[at] == MAX, LOWER, UPPER)
        nodes.bound[at] = np.where(complete, EXACT, np.where(np.isfinite(results["score"]), partial, UNKNOWN))
        nodes.status[at[complete]] = DONE
        self.finished += int(complete.sum())
        nodes.back_up(at)

    def totals(self):
        """Return what workers spent on each root's jobs: arrays of shape (roots,) by name (seconds: wall time)."""
        mine = self._answers[: self._answered]
        roots = self.nodes.root[mine["node"]]
        names = "seconds", "cpu", "ordering_boards", "evaluated", "table_hits", "table_stores", "table_replacements"
        return {name: np.bincount(roots, mine[name], self.roots) for name in names}

    def line(self, root):
        """Return the best line from a root as move codes: off the array, then from the worker's result."""
        path = self.nodes.line(root)
        line = self.nodes.move[path[1:]].tolist()
        entry = self.nodes.answer[path[-1]]
        if entry != NONE:
            answer = self._answers[entry]
            line += answer["line"][: answer["line_length"]].tolist()
        return line

    def children(self, root):
        """Return (move, score for the side to move at the root, whether exact) of each child of a grown root."""
        nodes = self.nodes
        span = range(nodes.first[root], nodes.first[root] + nodes.children[root])
        return [(int(nodes.move[i]), float(nodes.best[i]), nodes.status[i] == DONE) for i in span]


class PerftPool(Pool):
    """Subtrees to count; counts are added up for each root."""

    result_dtype = PERFT_RESULT

    def __init__(self, grower, states, depth, target, stays=1):
        super().__init__(grower, states, depth, target)
        self.cpu = 0.0  # seconds of workers
        self.counts = np.zeros((self.roots, depth + 1), np.int64)
        nodes = self.nodes
        for i in range(nodes.size):
            self.counts[nodes.root[i], nodes.depth[i]] += 1
            if nodes.status[i] == DONE and nodes.children[i] == 0:
                self.counts[nodes.root[i], nodes.depth[i] + 1 :] += stays

    def finish(self, results):
        """Take an array of result records in; a count that was stopped early is added as far as it went."""
        nodes = self.nodes
        for result in results:
            node = int(result["node"])
            below = int(nodes.left[node])
            self.counts[nodes.root[node], nodes.depth[node] + 1 :] += result["counts"][1 : below + 1]
            nodes.status[node] = DONE if result["complete"] else SENT
        self.cpu += float(results["cpu"].sum())
        self.finished += int(np.count_nonzero(results["complete"]))
