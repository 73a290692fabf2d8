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

    def __init__(self, grower, states, depth, target, forced=0, win=0, window=ANY, snapshot=None):
        """Grow a forest with a root for each of ``states`` until ``target`` subtrees wait.

        depth: plies to search each root (TO_THE_END: the whole game); forced: plies that are grown in any case;
        window: (low, high) for exact searches: scores of a root are told apart no further than that; snapshot: of an
        earlier pool with these arguments, to go on with; it is grown further if its own target was lower.
        """
        self._exact, self._window, self._target = depth == TO_THE_END, window, target
        self.roots, self.finished = len(states), 0  # jobs whose complete results are in
        self.saved = {}  # node → how far its job was in an earlier run, until its result is in
        if snapshot is None:
            self._plant(grower, states, depth, win)
        else:
            self.nodes, self.finished = NodeArray.restored(snapshot["nodes"]), snapshot["finished"]
            self.saved = {int(node): progress for node, progress in snapshot["saved"].items()}
            self._target = max(target, snapshot["target"])
        begun = np.array(sorted(self.saved), np.int32)
        self.nodes.status[begun] = SENT  # not to be grown
        if snapshot is None or target > snapshot["target"]:
            # from the first node on: those that are not to be grown are passed over
            grower.grow(self.nodes, 0, len(self._waiting_nodes()), target, forced, 0 if self._exact else 1, win)
        self._queue = np.concatenate((begun, self._waiting_nodes()))
        self._next = 0
        self._job_dtype = job_dtype(len(states[0]))
        self.jobs = self.finished + len(self._queue)

    def _plant(self, grower, states, depth, win):
        self.nodes = NodeArray(len(states[0]), 2 * len(states) + 1024)
        for state in states:
            root = self.nodes.add_root(state, grower.moves_left(state) if self._exact else depth)
            final = grower.finished(state)
            if final is not None:
                self._close_root(root, final + (win if final > 0 else -win if final < 0 else 0))

    def _close_root(self, root, score):
        nodes = self.nodes
        nodes.best[root], nodes.bound[root], nodes.status[root] = score, EXACT, DONE

    def _waiting_nodes(self):
        return np.flatnonzero(self.nodes.status[: self.nodes.size] == WAITING).astype(np.int32)

    def snapshot(self, at_work=()):
        """Return what a pool of the same arguments needs to go on from here: numbers and arrays by name.

        at_work: node → how far its job is, of jobs that are out, as far as that is known.
        """
        saved = {str(node): progress for node, progress in {**self.saved, **dict(at_work)}.items()}
        return {"nodes": self.nodes.snapshot(), "finished": self.finished, "target": self._target, "saved": saved}

    def _forget(self, nodes):
        """Results of these nodes are in."""
        for node in nodes.tolist() if self.saved else ():
            self.saved.pop(node, None)

    @property
    def done(self):
        """Whether every job's complete result is in."""
        return self.finished == self.jobs

    @property
    def waiting(self):
        """Jobs that have not been handed out."""
        return len(self._queue) - self._next

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

    def __init__(self, *args, snapshot=None, **options):
        super().__init__(*args, snapshot=snapshot, **options)
        earlier = np.zeros(0, self.result_dtype) if snapshot is None else snapshot["answers"]
        self._answers = np.concatenate((earlier, np.zeros(len(self._queue), self.result_dtype)))
        self._answered = len(earlier)

    def snapshot(self, at_work=()):
        """See ``Pool.snapshot``."""
        answers = self._answers[: self._answered].copy()
        return {**super().snapshot(at_work), "answers": answers, "window": self._window}

    def finish(self, results):
        """Take an array of result records in; a job that was stopped early leaves only its boards."""
        nodes = self.nodes
        at = results["node"]
        self._forget(at)
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

    def __init__(self, grower, states, depth, target, stays=1, snapshot=None):
        super().__init__(grower, states, depth, target, snapshot=snapshot)
        if snapshot is None:
            self.cpu, counted = 0.0, 0  # seconds of workers; nodes
            self.counts = np.zeros((self.roots, depth + 1), np.int64)
        else:
            self.cpu, counted = snapshot["cpu"], len(snapshot["nodes"]["parent"])
            self.counts = snapshot["counts"].copy()
        nodes = self.nodes
        for i in range(counted, nodes.size):
            self.counts[nodes.root[i], nodes.depth[i]] += 1
            if nodes.status[i] == DONE and nodes.children[i] == 0:
                self.counts[nodes.root[i], nodes.depth[i] + 1 :] += stays

    def snapshot(self, at_work=()):
        """See ``Pool.snapshot``."""
        return {**super().snapshot(at_work), "cpu": self.cpu, "counts": self.counts.copy()}

    def finish(self, results):
        """Take an array of result records in; a count that was stopped early is added as far as it went."""
        nodes = self.nodes
        self._forget(results["node"])
        for result in results:
            node = int(result["node"])
            below = int(nodes.left[node])
            self.counts[nodes.root[node], nodes.depth[node] + 1 :] += result["counts"][1 : below + 1]
            nodes.status[node] = DONE if result["complete"] else SENT
        self.cpu += float(results["cpu"].sum())
        self.finished += int(np.count_nonzero(results["complete"]))
