"""A search as a source of work: a tree, the questions asked in it, and jobs that answer them."""

import re
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..cluster.protocols import COSTS, TopNode, WorkSource
from ..core.errors import UserError
from ..core.saved import LARGEST, Saved
from ..engines.alphabeta import LINE_LENGTH
from ..engines.pvs.kernels import INFINITY as NO_BOUND
from ..engines.pvs.kernels import NO_MOVE
from ..engines.pvs.work_splitting import last_window
from ..jobs.two_player import SUBTREE_RESULT, TO_THE_END, job_dtype
from . import dispatch, ready_queue, root_export, windows
from .expansion import Grower, index_again
from .job_size import largest_depth_left, new_sizes, rate
from .layout import INFINITY, NONE, SENT, WAITING
from .nodes import NodeArray
from .offload import Offloads
from .policies import POLICIES
from .restored import restored_lines, restored_nodes
from .top import top
from .tree_arrays import TreeArrays

ANY = (-(10**6), 10**6)  # a window that every score of an engine with a table lies in
# Subtrees of so many plies below a root are never too small to be split off: means of a few large jobs say little, and
# groups of workers were idle for most of a search (FFO #45 on 4 groups of 15: 9 times as fast as one worker).
_ALWAYS_SPLIT_PLIES = 8
_MIN_JOBS_IN_AN_OFFLOAD = 2
_RESULTS_AT_A_TIME = 32  # between two estimates of how large jobs are
_QUESTION = re.compile("([0-9]{1,18}) (-?[0-9]{1,19}) (-?[0-9]{1,19})")  # node, low and high of a job at work
_SUMS = COSTS[1:]  # in this order, of jobs of a root


class SearchTree(WorkSource):
    """Shares out the search of a forest by a policy.

    Args:
        grower: of the game and engine.
        states: a root for each.
        depth: plies to search each root; TO_THE_END: the whole game.
        wanted_subtrees: to which the tree is grown, if the policy expands ahead; else 1 says that nothing is shared.
        policy: its name.
        full_width_depth: nodes down to so many plies below the roots all get a score.
        win_bonus: what a win adds to a finished game's score.
        window: (low, high); scores of a root outside it are bounds.
        min_job_seconds: CPU seconds of the smallest job that is worth its messages.
        previous: a SearchTree of the same roots that went less deep.
        snapshot: of an earlier one with these arguments, to go on with.
        sizes: what is known of the sizes of jobs, see ``job_size``.
        by_host: idle ranks join the jobs of their host, and hosts those of others, so that a policy that splits jobs
            hands out one job a host.
    """

    result_dtype = SUBTREE_RESULT
    updates_jobs = True

    def __init__(
        self,
        grower: Grower,
        states: Sequence[tuple[int, ...]],
        depth: int,
        wanted_subtrees: int,
        policy: str = "pool",
        full_width_depth: int = 0,
        win_bonus: int = 0,
        window: tuple[int, int] = ANY,
        min_job_seconds: float = 0.01,
        previous: "SearchTree | None" = None,
        snapshot: dict[str, Any] | None = None,
        sizes: np.ndarray | None = None,
        by_host: bool = False,
    ):
        self._grower, self.policy = grower, POLICIES[policy]
        self._full_width_depth = full_width_depth
        self._window = (-INFINITY, INFINITY) if tuple(window) == ANY else tuple(window)
        self._exact, self._min_job_seconds = depth == TO_THE_END, min_job_seconds
        self._wanted_subtrees = wanted_subtrees
        self._scoring = 0 if self._exact else 1, win_bonus  # plies that a pass costs
        self.roots = len(states)
        self._answered = 0  # roots from the first on
        self._changed = True  # bounds, since ``done`` was computed
        self._is_restored = snapshot is not None
        self._done = False
        self.jobs = 0  # handed out
        self.progress = {}  # job id → its progress in an earlier run, until its result is in
        self._min_split_depth, self._adapted_until = 2, 0  # see ``_adapt_job_size``
        self._offloaded_parts, self.offload_depth = Offloads(self), 0
        self._found = np.empty((64, 6), np.int64)  # see ``job_updates``
        self._begun = {}  # node → {(low, high): progress of that job}, of a snapshot
        self._resumed = deque()  # its nodes, until they are handed out
        self._previous = previous.nodes if previous else None
        self.sizes = previous.sizes if previous else new_sizes() if sizes is None else sizes
        self._totals = np.zeros((self.roots, len(_SUMS)))
        self._lines = {}  # node → line of its latest result
        self._job_dtype = job_dtype(len(states[0]))
        self._shares = not self.policy.expands_ahead and wanted_subtrees > 1
        self.joint = self.by_host = self.spans_hosts = by_host and self.policy.splits and wanted_subtrees > 1
        self._table = np.zeros(0, np.int64)
        nodes = self._root_nodes(states, depth)
        if snapshot is not None:
            plies = nodes.depth_left[: self.roots].tolist()
            nodes = restored_nodes(Saved(snapshot).part("nodes"), grower, states, plies, self._scoring[0])
        self._arrays = TreeArrays(
            nodes,
            all_at_once=self.policy.all_at_once,
            fixed=self.policy.fixed,
            full_width_depth=full_width_depth,
            null_windows=self.policy.null_windows,
            steps=self.policy.steps and grower.steps,
            splits=self.policy.splits and wanted_subtrees > 1,
            exact=self._exact,
        )
        self.nodes, self._control, self._tree = self._arrays.nodes, self._arrays.control, self._arrays.address
        if snapshot is not None:
            self._restore(Saved(snapshot))
        self.make_room()
        self._adapt_job_size()
        if self.policy.expands_ahead:
            self._grow_ahead(snapshot is None)
        for root in range(self.roots):
            windows.ask_root(self._tree, root, *self._window)
        self._ask_pending()

    def _root_nodes(self, states, depth):
        nodes = NodeArray(len(states[0]), 2 * len(states) + 1024)
        for state in states:
            root = nodes.add_root(state, self._grower.moves_left(state) if self._exact else depth)
            final = self._grower.finished(state)
            if final is not None:
                score = int(final + self._scoring[1] * np.sign(final))
                nodes.low[root] = nodes.high[root] = score
                nodes.over[root] = 1
        if self._previous is not None and not self.policy.expands_ahead:
            nodes.previous_iteration_node[: self.roots] = np.arange(self.roots)
        return nodes

    def _grow_ahead(self, fresh):
        nodes, begun = self.nodes, np.array(sorted(self._begun), np.int64)
        nodes.status[begun] = SENT  # so that they are not grown
        waiting = int(np.count_nonzero((nodes.status[: nodes.size] == WAITING) & (nodes.over[: nodes.size] == 0)))
        if fresh or waiting < self._wanted_subtrees:
            # from the first node on: those that must not be grown are skipped
            begin, wanted = waiting + len(begun), self._wanted_subtrees
            self._grower.grow(nodes, 0, begin, wanted, self._full_width_depth, *self._scoring)
        nodes.status[begun] = WAITING
        self.make_room()
        windows.back_up_all(self._tree, nodes.size)

    def make_room(self) -> None:
        """Make every array as large as the node array, with room for one more node's children."""
        self._arrays.update()
        entries = 1 << (2 * self.nodes.capacity - 1).bit_length()
        if not self.policy.fixed and len(self._table) != entries:
            self._table = np.zeros(entries, np.int64)
            index_again(self.nodes.address, self._table, self.nodes.size)

    def _ask_pending(self):
        """Choose the next null window of the nodes that are closing in on their score."""
        nodes = self.nodes
        while self._control.pending_count.item():
            node = int(windows.next_pending(self._tree))
            state = tuple(nodes.state[node])
            low, high = self._grower.known(state)
            if low >= nodes.beta[node]:  # nothing needs to be asked
                nodes.low[node] = low
            nodes.high[node] = min(nodes.high[node], high)
            beta = nodes.null_window_beta[node]
            latest = 0 if beta == -INFINITY else nodes.low[node]
            latest = latest if latest >= beta else nodes.high[node]
            low = max(low, int(nodes.low[node]), int(nodes.alpha[node]))
            high = min(high, int(nodes.beta[node]), int(nodes.high[node]))
            nodes.null_window_beta[node] = self._grower.ask_next(state, low, high, int(latest))
            windows.reset_first_child(self._tree, node)
            windows.improved(self._tree, node)
            windows.pass_on(self._tree, node)

    @property
    def done(self) -> bool:
        """Whether every root's question is answered, and all is searched that the policy searches in any case."""
        if self._changed:
            while self._answered < self.roots and self.is_answered(self._answered):
                self._answered += 1
            self._done = self._answered == self.roots and not (self.policy.fixed and (self.waiting or self.out))
            self._changed = False
            if self._is_restored and not (self._done or self.waiting or self.out):
                raise UserError(
                    "the checkpoint is damaged: by its bounds nothing is left to search, and no score known"
                )
        return self._done

    def is_answered(self, root: int) -> bool:
        """Whether a root's question is answered, and those of its children if they need scores too."""
        is_open = ready_queue.is_asked(self._tree, root)
        return not (is_open or self._full_width_depth and windows.has_open_child(self._tree, root))

    def is_asked(self, node: int) -> bool:
        """Whether a node's question is open."""
        return bool(ready_queue.is_asked(self._tree, node))

    @property
    def out(self) -> int:
        """Jobs that were handed out and have not come back."""
        return len(self.jobs_out) - self._control.free_count.item()

    @property
    def waiting(self) -> int:
        """Ready nodes; some of them may have to be grown, or wait for a transposition."""
        return self._control.queue_size.item()

    @property
    def none(self) -> np.ndarray:
        """No jobs, as ``take`` returns them."""
        return np.zeros(0, self._job_dtype)

    def take(self, count: int, worker: int, budget: int = 0, full_window: bool = False) -> np.ndarray:
        """Return up to ``count`` jobs (an array of job records, perhaps empty) for ``worker``.

        budget: nodes at which each of them must stop, 0 for none; full_window: the worker closes in on scores by
        itself, and offloads parts.
        """
        self._control.full_windows[0] = full_window or self.by_host
        out, n = np.empty((count, self._job_dtype.itemsize // 8), np.int64), 0
        self._arrays.reserve_ids(count)
        while self._resumed and n < count and (node := self._next_begun()) != NONE:
            n = self._hand_out(out, n, node, worker, budget)
        while n < count:
            n = dispatch.take(self._tree, out, n, worker, budget)
            node = self._control.to_expand.item()
            if node == NONE:
                break
            if self._is_begun(node):
                n = self._hand_out(out, n, node, worker, budget)
            else:
                self._grow(node)
        self.jobs += n
        jobs = np.frombuffer(out, self._job_dtype, n) if n else self.none
        if self._begun:
            self._note_progress(jobs["job_id"].tolist())
        return jobs

    def _hand_out(self, out, n, node, worker, budget):
        dispatch.hand_out(self._tree, out, n, node, worker, budget)
        return n + 1

    def _next_begun(self):
        """Take a node that was begun in an earlier run off the queue, NONE if there is none."""
        while self._resumed:
            node = self._resumed.popleft()
            if self.nodes.queued[node] and self._is_begun(node):
                ready_queue.remove(self._tree, node)
                return node
        return NONE

    def _note_progress(self, jobs):
        """Note the progress of jobs in an earlier run."""
        for job in jobs:
            node, low, high = self.question_of(job)
            if node in self._begun:
                progress = self._begun.pop(node).get((low, high))
                if progress is not None:
                    self.progress[job] = progress

    def _is_begun(self, node):
        """Whether a job with a node's question was at work in an earlier run."""
        return node in self._begun and (int(self.nodes.alpha[node]), int(self.nodes.beta[node])) in self._begun[node]

    def _grow(self, node):
        self._changed = True
        self._begun.pop(node, None)  # of another question
        self.make_room()
        nodes = self.nodes
        all_moves = bool(nodes.depth[node] < self._full_width_depth)
        previous = self._previous or nodes
        self._grower.expand(nodes, node, self._scoring, previous, self._table, all_moves)
        windows.on_expanded(self._tree, node)
        self._ask_pending()

    def question_of(self, job: int) -> tuple[int, int, int]:
        """Return the node, low and high of a job that is out."""
        return self.jobs_out[["node", "low", "high"]][job].tolist()

    def finish(self, results: np.ndarray) -> None:
        """Take an array of result records in; a job that was stopped early leaves its node count and a lower bound."""
        self._changed = True
        lines = np.empty((len(results), 3), np.int64)
        workers = self.jobs_out["worker"][results["job_id"]].tolist() if len(self._offloaded_parts) else ()
        kept = dispatch.take_in(self._tree, results, self._totals, self.sizes, lines)
        for k, node, known in lines[:kept].tolist() if kept else ():
            if not (known and node in self._lines):  # no better than was known: the line that made the bound stays
                self._lines[node] = results["line"][k, : int(results["line_length"][k])].tolist()
        for job in results["job_id"].tolist() if self.progress else ():
            self.progress.pop(job, None)
        if len(self._offloaded_parts):
            for worker, job in zip(workers, results["job_id"].tolist(), strict=True):
                self._offloaded_parts.end(worker, (job,))
            self.nodes.cost[0] += self._offloaded_parts.nodes()
        self._adapt_job_size()
        if self._control.pending_count.item():
            self._ask_pending()

    def moved(self, job: int, worker: int) -> None:
        """Note that a job has lost its worker, but another worker has it as well."""
        self.jobs_out["worker"][job] = worker

    @property
    def all_nodes(self) -> int:
        """Nodes so far of jobs that are not out, and grown ones."""
        return int(self.nodes.cost[: self.roots].sum())

    @property
    def finished(self) -> int:
        """Jobs whose complete results are in."""
        return self._control.finished.item()

    def lost(self, worker: int) -> None:
        """Take the jobs of a lost worker in as if it had answered them with nothing."""
        self._offloaded_parts.end(worker)
        jobs = np.flatnonzero((self.jobs_out["node"] != NONE) & (self.jobs_out["worker"] == worker))
        nothing = np.zeros(len(jobs), SUBTREE_RESULT)
        nothing["job_id"], nothing["score"] = jobs, -np.inf
        self.finish(nothing)

    @property
    def offloads(self) -> bool:
        """Whether workers with many slots offload parts of their jobs."""
        return bool(self._control.splits.item()) and self.roots == 1

    @property
    def offloaded(self) -> int:
        """How many parts are offloaded."""
        return len(self._offloaded_parts)

    @property
    def jobs_out(self) -> np.ndarray:
        """The table of the jobs that are out, see ``layout``."""
        return self._arrays.jobs

    def on_offload(self, worker: int, words: np.ndarray) -> None:
        """Take in rows of OFFLOAD from a worker."""
        self._offloaded_parts.take_in(worker, words)
        self._changed = True

    def offload_results(self) -> dict[int, list[tuple[int, int, int]]]:
        """Return the answers to offloaded parts: worker → rows of a part's number and bounds of its score."""
        return self._offloaded_parts.answered()

    def on_split(self, job: int, remainder: int, subtree: np.ndarray) -> None:
        """Take in the subtree (uint8) that a worker split off a job; the worker goes on with the job ``remainder``."""
        levels = subtree.view(np.int64)
        self.nodes.reserve(len(levels))
        last = self._adopt(job, levels)
        dispatch.on_split(self._tree, job, remainder, last, *last_window(levels))
        self._changed = True
        self.progress.pop(job, None)
        self.jobs += 1
        self._ask_pending()

    def on_export(self, job: int, words: np.ndarray) -> list[int]:
        """Take in the root, a job's node, that a sub-master exports; return the ids of the jobs made of it.

        words: int64, as ``export_root`` returns them.
        """
        first_child, exported = int(words[0]), words[1:].copy().view(root_export.EXPORTED)
        moves = exported["move"]
        level = np.array([0, -NO_BOUND, NO_BOUND, -NO_BOUND, -NO_BOUND, NO_BOUND, NO_MOVE, 0, 0, len(moves), *moves])
        self._adopt(job, level)
        job_ids = self._arrays.take_ids(int(np.count_nonzero(exported["alpha"] < exported["beta"])))
        root_export.import_children(self._tree, job, first_child, exported, job_ids)
        self.jobs += len(job_ids)
        self._ask_pending()
        return job_ids.tolist()

    def _adopt(self, job, levels):
        """Give a job's node the tree that its worker had below it; return the node that the search goes on with."""
        self.make_room()
        node, previous = int(self.jobs_out["node"][job]), self._previous or self.nodes
        return self._grower.adopt(self.nodes, node, levels, self._scoring, previous, self._table)

    def export_root(self, root: int, min_depth_left: int) -> tuple[np.ndarray, list[int]] | None:
        """Give up a grown root with more left than ``min_depth_left``; None if none of its children is at work.

        Returns (the exported children as int64, those that go on here as roots); see ``root_export``.
        """
        if not root_export.can_export(self._tree, root, min_depth_left):
            return None
        children = self.nodes.children_of(root)
        exported = np.zeros(len(children), root_export.EXPORTED)
        first_child = int(self.nodes.first_child[root]) - children.start
        root_export.export_root(self._tree, root, exported)
        kept = children.start + np.flatnonzero(exported["alpha"] < exported["beta"])
        return np.concatenate(([first_child], exported.view(np.int64))), kept.tolist()

    def ask(self, root: int, low: int, high: int) -> None:
        """Ask a root something new; nothing, where low >= high."""
        windows.ask_root(self._tree, root, low, high)
        self._ask_pending()

    def change_id(self, job: int) -> None:
        """Give a job another id, as if its worker had split off nothing."""
        node, low, high = self.question_of(job)
        (remainder,) = self._arrays.take_ids(1).tolist()
        self._control.splits_requested[0] += 1
        dispatch.on_split(self._tree, job, remainder, node, low, high)

    def job_updates(self, idle_workers: int) -> list[tuple[int, ...]]:
        """Return what is new of jobs that are out: (worker, job, low, high, remainder, min_depth_left) each.

        low and high are the window that matters; the job is dropped where low >= high. If min_depth_left is not 0, a
        subtree with at least so much left must be split off, and the worker goes on with the job ``remainder``.
        idle_workers: how many have no job, -1 where nothing must be split.
        """
        found, n = [], len(self._found)
        while n == len(self._found):
            self._arrays.reserve_ids(1)
            n = dispatch.collect_updates(self._tree, self._found, idle_workers, self._min_split_depth)
            if n:
                found += self._found[:n].tolist()
        return found

    def _adapt_job_size(self):
        """From time to time, estimate from the results so far how large jobs and subtrees are."""
        if self.finished < self._adapted_until:
            return
        self._adapted_until = self.finished + _RESULTS_AT_A_TIME
        nodes = self._min_job_seconds * rate(self.sizes)
        nearly_all = int(self.nodes.depth_left[: self.roots].max()) - _ALWAYS_SPLIT_PLIES
        self._min_split_depth = max(2, min(largest_depth_left(self.sizes, nodes / 4, self._exact) + 1, nearly_all))
        if self._shares:
            self._control.expand_above[0] = largest_depth_left(self.sizes, nodes, self._exact)
            if self.finished >= _RESULTS_AT_A_TIME:
                deepest = int(self.nodes.depth_left[0]) - 2
                self.offload_depth = max(
                    1, min(largest_depth_left(self.sizes, _MIN_JOBS_IN_AN_OFFLOAD * nodes, self._exact), deepest)
                )

    def totals(self) -> dict[str, np.ndarray]:
        """Return what workers spent on each root's jobs: arrays of shape (roots,) by name (seconds: wall time)."""
        return dict(zip(_SUMS, self._totals.T, strict=True))

    def score(self, node: int) -> float:
        """Return the score of a node for its side to move, from below if it is not known; −inf: nothing is known.

        Beyond the window it is a bound on the same side of it.
        """
        low, high = int(self.nodes.low[node]), int(self.nodes.high[node])
        if low == -INFINITY or high <= self._window[0] and self.nodes.depth[node] == 0:
            return float(high) if high < INFINITY and high <= self._window[0] else -np.inf
        return float(low)

    def line(self, root: int) -> list[int]:
        """Return the best line from a root as move codes: off the array, then from the worker's result."""
        nodes, line, node = self.nodes, [], root
        while True:
            ring = self._ring(node)
            at = next((each for each in ring if nodes.best_child[each] != NONE), NONE)
            if at == NONE and node == root and nodes.child_count[root]:  # all fail low: the move with the best bound
                return [int(nodes.move[max(nodes.children_of(root), key=lambda i: -int(nodes.low[i]))])]
            if at == NONE or len(line) >= LINE_LENGTH:
                break
            if at != node and nodes.state[at].tolist() != nodes.state[node].tolist():
                return line  # a symmetric position's: its moves are others
            node = int(nodes.best_child[at])
            line.append(int(nodes.move[node]))
        return line + self._lines.get(node, [])

    def _ring(self, node):
        ring = [node]
        while (transposition := int(self.nodes.transposition[ring[-1]])) != node:
            ring.append(transposition)
        return ring

    def top(self, most: int) -> list[TopNode]:
        """See ``WorkSource.top``; of the first root."""
        return top(self.nodes, self.jobs_out["worker"], self.policy.fixed, most)

    def children(self, root: int) -> list[tuple[int, float, bool]]:
        """Return (move, score for the side to move at the root, whether it is known) of each child of a grown root."""
        nodes, found = self.nodes, []
        for i in nodes.children_of(root):
            low, high = -nodes.high[i], -nodes.low[i]
            score = high if high <= self._window[0] else low
            found.append((int(nodes.move[i]), float(score), not self.is_asked(i)))
        return found

    def snapshot(self, at_work: Any = ()) -> dict[str, Any]:
        """Return what a SearchTree of the same arguments needs to go on from here: numbers and arrays by name.

        at_work: job id → progress, of jobs that are out, as far as that is known.
        """
        questions = [(self.question_of(job), progress) for job, progress in {**self.progress, **dict(at_work)}.items()]
        for node, known in self._begun.items():
            questions += [((node, low, high), progress) for (low, high), progress in known.items()]
        nodes, kept = self.nodes.snapshot(self.roots)
        number = np.full(self.nodes.size, NONE)
        number[kept] = np.arange(len(kept))
        known_lines = [(number[node], line) for node, line in self._lines.items() if number[node] != NONE]
        lines = np.zeros((len(known_lines), LINE_LENGTH + 2), np.int64)
        for row, (node, line) in zip(lines, known_lines, strict=True):
            row[:2], row[2 : 2 + len(line)] = (node, len(line)), line
        return {
            "nodes": nodes,
            "finished": self.finished,
            "jobs": self.jobs,
            "wanted_subtrees": self._wanted_subtrees,
            "progress": {
                f"{number[node]} {low} {high}": progress
                for (node, low, high), progress in questions
                if number[node] != NONE
            },
            "lines": lines,
            "totals": self._totals.copy(),
            "window": self._window,
        }

    def _restore(self, saved):
        size = self.nodes.size
        # bounds that the children do not bear out would leave a question open that asks nothing
        windows.back_up_all(self._tree, size)
        self._control.finished[0] = self.jobs = saved.integer("finished")
        self._totals += saved.array("totals", np.float64, self._totals.shape)
        if not np.all((self._totals >= 0) & (self._totals < LARGEST)):
            raise saved.damaged("totals")
        # it wanted more than there were nodes only where the game has no more
        self._wanted_subtrees = max(self._wanted_subtrees, min(saved.integer("wanted_subtrees"), size))
        self._lines = restored_lines(saved, "lines", self._grower, self.nodes)
        progress = saved.part("progress")
        for name in progress.names():
            question = _QUESTION.fullmatch(name)
            node, low, high = map(int, question.groups()) if question else (size, 0, 0)
            waits = node < size and self.nodes.status[node] == WAITING and not self.nodes.over[node]
            if not (waits and -INFINITY <= low <= high <= INFINITY):
                raise saved.damaged("progress")
            self._begun.setdefault(node, {})[low, high] = progress.array(name, np.uint8, (None,))
        self._resumed.extend(self._begun)


def warm_up_search_tree(grower: Grower, state: tuple[int, ...], exact: bool) -> None:
    """Load, or compile, all that a SearchTree calls: done in a search, it kept 31 workers waiting for 0.1 s."""
    source = SearchTree(grower, [state], TO_THE_END if exact else 3, 2, "split")
    jobs = source.take(1, 0)
    answers = np.zeros(len(jobs), SUBTREE_RESULT)
    answers["job_id"], answers["score"], answers["line_length"] = jobs["job_id"], -np.inf, 1
    source.finish(answers)
    for job in source.take(1, 0)["job_id"].tolist():
        source.change_id(job)
    source.job_updates(1)
    source.is_answered(0)
