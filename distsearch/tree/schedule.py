"""A search as a source of work: a tree, the questions asked in it, and jobs that answer them."""

from collections import deque

import numpy as np

from ..cluster.protocols import WorkSource
from ..engines.alphabeta import LINE_LENGTH
from ..engines.pvs.kernels import INFINITY as NO_BOUND
from ..engines.pvs.kernels import NO_MOVE
from ..engines.pvs.work_splitting import last_window
from ..games.interface import MAX_MOVES
from ..jobs.two_player import SUBTREE_RESULT, TO_THE_END, job_dtype
from . import dispatch, layout, ready_queue, root_export, windows
from .expansion import index_again
from .job_size import most_left, new_sizes, rate
from .layout import (
    ASKED_FOR,
    CONTROL_SIZE,
    FINISHED,
    FREE,
    FREES,
    JOB_HIGH,
    JOB_LOW,
    JOB_NODE,
    JOB_ROWS,
    JOB_WORKER,
    POSING,
    REST,
    SHARED,
    TO_GROW,
    WAIT,
    WHOLE,
)
from .nodes import COST, INFINITY, NONE, SENT, WAITING, NodeArray
from .offload import Loans
from .policies import POLICIES

ANY = (-(10**6), 10**6)  # a window that every score of an engine with a table lies in
# Parts of this many plies below a root are never too small to be asked for: means of a few large jobs say little, and
# groups of workers went without for most of a search (FFO #45 on 4 groups of 15: 9 times as fast as one worker).
_DEEPEST_PART = 8
_GRAINS_OF_A_LOAN = 2
_RESULTS_AT_A_TIME = 32  # by which a policy learns how large parts are
_SUMS = (
    "seconds",
    "cpu",
    "ordering_boards",
    "evaluated",
    "table_hits",
    "table_far_hits",
    "table_stores",
    "table_replacements",
)


class Schedule(WorkSource):
    """Shares out the search of a forest by a policy.

    grower: of the game and engine; states: a root for each; depth: plies to search each root (TO_THE_END: the whole
    game); target: subtrees that the tree is grown to where the policy grows ahead; elsewhere 1 says that nothing is
    to be shared out; policy: its name; forced: plies below the roots whose nodes are all scored; win: what a win adds
    to a finished game's score; window: (low, high): scores of a root are told apart no further than that; grain: CPU
    seconds of a job that is not worth sharing out; by_host: idle ranks join the jobs of their host, and hosts those of
    others, so that a policy that gives parts of jobs away hands out one job a host; before: a Schedule of the same
    roots that went less deep; snapshot: of an earlier one with these arguments, to go on with.
    """

    result_dtype = SUBTREE_RESULT
    updates_jobs = True

    def __init__(
        self,
        grower,
        states,
        depth,
        target,
        policy="pool",
        forced=0,
        win=0,
        window=ANY,
        grain=0.01,
        before=None,
        snapshot=None,
        sizes=None,
        by_host=False,
    ):
        self._grower, self.policy, self._win, self._forced = grower, POLICIES[policy], win, forced
        self._window = (-INFINITY, INFINITY) if tuple(window) == ANY else tuple(window)
        self._exact, self._target, self._grain = depth == TO_THE_END, target, grain
        self._pass_plies = 0 if self._exact else 1
        self.roots = len(states)
        self._answered = 0  # roots from the first on
        self._changed = True  # bounds, since ``done`` was worked out
        self._done = False
        self.jobs = 0  # handed out
        self.progress = {}  # a job's number → how far it was in an earlier run, until its result is in
        self._least, self._learnt_until = 2, 0  # see ``_learn``
        self._loans, self.offload_depth = Loans(), 0
        self._found = np.empty((64, 6), np.int64)  # see ``job_updates``
        self._begun = {}  # node → {(low, high): how far that job was}, of a snapshot
        self._resumed = deque()  # its nodes, until they are handed out
        self._before = before.nodes if before else None
        self.sizes = before.sizes if before else new_sizes() if sizes is None else sizes
        self._totals = np.zeros((self.roots, len(_SUMS)))
        self._lines = {}  # node → line of its latest result
        self._job_dtype = job_dtype(len(states[0]))
        self._control = np.zeros(CONTROL_SIZE, np.int64)
        self._shares = not self.policy.grows_ahead and target > 1
        self.joint = self.by_host = self.spans_hosts = by_host and self.policy.gives and target > 1
        decisions = {
            layout.ALL_AT_ONCE: self.policy.all_at_once,
            layout.FIXED: self.policy.fixed,
            layout.FORCED: forced,
            layout.SCOUTS: self.policy.scouts,
            layout.STEPS: self.policy.steps and grower.steps,
            layout.GIVES: self.policy.gives and target > 1,
            layout.SHARED: INFINITY,
            layout.EXACT: self._exact,
        }
        for i, decision in decisions.items():
            self._control[i] = decision
        self._jobs = np.zeros((JOB_ROWS, 0), np.int64)
        self._table = np.zeros(0, np.int64)
        if snapshot is None:
            self._plant(states, depth)
        else:
            self._replant(snapshot)
        self.make_room()
        self._learn()
        if self.policy.grows_ahead:
            self._grow_ahead(snapshot is None)
        for root in range(self.roots):
            windows.ask_root(*self._arrays, root, *self._window)
        self._go_on()

    def _plant(self, states, depth):
        self.nodes = NodeArray(len(states[0]), 2 * len(states) + 1024)
        for state in states:
            root = self.nodes.add_root(state, self._grower.moves_left(state) if self._exact else depth)
            final = self._grower.finished(state)
            if final is not None:
                score = final + (self._win if final > 0 else -self._win if final < 0 else 0)
                self.nodes.low[root] = self.nodes.high[root] = score
                self.nodes.over[root] = 1
        if self._before is not None and not self.policy.grows_ahead:
            self.nodes.hint[: self.roots] = np.arange(self.roots)

    def _grow_ahead(self, fresh):
        nodes, begun = self.nodes, np.array(sorted(self._begun), np.int64)
        nodes.status[begun] = SENT  # not to be grown
        waiting = int(np.count_nonzero((nodes.status[: nodes.size] == WAITING) & (nodes.over[: nodes.size] == 0)))
        if fresh or waiting < self._target:
            # from the first node on: those that are not to be grown are passed over
            self._grower.grow(nodes, 0, waiting + len(begun), self._target, self._forced, self._pass_plies, self._win)
        nodes.status[begun] = WAITING
        self.make_room()
        windows.settle_all(nodes.columns, nodes.size)

    def make_room(self):
        """Have every array as large as the node array is, with room for one more node's children."""
        nodes = self.nodes
        nodes.reserve(MAX_MOVES)
        size = nodes.capacity
        if not hasattr(self, "_room") or self._room.shape[1] != size:
            heap, self._room = np.zeros(size, np.int64), np.zeros((3, size), np.int64)
            if hasattr(self, "_heap"):
                heap[: len(self._heap)] = self._heap
            self._heap = heap
            if not self.policy.fixed:
                self._table = np.zeros(1 << (2 * size - 1).bit_length(), np.int64)
                index_again(nodes.columns, self._table, nodes.size)

    @property
    def _arrays(self):
        return self.nodes.columns, self._control, self._heap, self._jobs, self._room

    def _go_on(self):
        """Choose the next null window of the nodes that are closing in on their score."""
        nodes, control = self.nodes, self._control
        while control[POSING]:
            node = int(windows.posed(nodes.columns, control, self._room))
            state = tuple(nodes.state[node])
            low, high = self._grower.known(state)
            if low >= nodes.beta[node]:  # nothing needs to be asked
                nodes.low[node] = low
            nodes.high[node] = min(nodes.high[node], high)
            latest = 0 if nodes.asked[node] == -INFINITY else nodes.low[node]
            latest = latest if latest >= nodes.asked[node] else nodes.high[node]
            low = max(low, int(nodes.low[node]), int(nodes.alpha[node]))
            high = min(high, int(nodes.beta[node]), int(nodes.high[node]))
            nodes.asked[node] = self._grower.ask_next(state, low, high, int(latest))
            windows.choose_eldest(nodes.columns, node)
            windows.improved(*self._arrays, node)
            windows.pass_on(*self._arrays, node)

    @property
    def done(self):
        """Whether every root's score is known as well as was asked, and all is searched that is to be in any case."""
        if self._changed:
            while self._answered < self.roots and self.is_answered(self._answered):
                self._answered += 1
            self._done = self._answered == self.roots and not (self.policy.fixed and (self.waiting or self.out))
            self._changed = False
        return self._done

    def is_answered(self, root):
        """Whether a root's score is known as well as was asked, and its children's if they are asked for too."""
        columns = self.nodes.columns
        return not (ready_queue.is_asked(columns, root) or self._forced and windows.has_open_child(columns, root))

    @property
    def out(self):
        """Jobs that were handed out and have not come back."""
        return self._jobs.shape[1] - self._control.item(FREES)

    @property
    def waiting(self):
        """Jobs that can be handed out now, as far as they are known."""
        return self._control.item(WAIT)

    @property
    def none(self):
        """No jobs, as ``take`` returns them."""
        return np.zeros(0, self._job_dtype)

    def take(self, count, worker, budget=0, whole=False):
        """Return up to ``count`` jobs (an array of job records, perhaps empty) for ``worker``.

        budget: boards at which each of them is to stop, 0 for none; whole: the worker closes in on scores by itself,
        and lends parts out.
        """
        self._control[WHOLE] = whole or self.by_host
        out, n = np.empty((count, self._job_dtype.itemsize // 8), np.int64), 0
        self._number(count)
        while self._resumed and n < count and (node := self._next_begun()) != NONE:
            n = self._hand_out(out, n, node, worker, budget)
        while n < count:
            n = dispatch.take(*self._arrays[:4], self.nodes.state, out, n, worker, budget)
            node = self._control.item(TO_GROW)
            if node == NONE:
                break
            if self._is_begun(node):
                n = self._hand_out(out, n, node, worker, budget)
            else:
                self._grow(node)
        self.jobs += n
        jobs = np.frombuffer(out, self._job_dtype, n) if n else self.none
        if self._begun:
            self._recall(jobs["job_id"].tolist())
        return jobs

    def _hand_out(self, out, n, node, worker, budget):
        dispatch.hand_out(self.nodes.columns, self._control, self._jobs, self.nodes.state, out, n, node, worker, budget)
        return n + 1

    def _next_begun(self):
        """Take a node off the queue that was begun in an earlier run, NONE if there is none."""
        while self._resumed:
            node = self._resumed.popleft()
            if self.nodes.queued[node] and self._is_begun(node):
                ready_queue.unready(self.nodes.columns, self._control, self._heap, node)
                return node
        return NONE

    def _recall(self, jobs):
        """Note how far jobs were in an earlier run."""
        for job in jobs:
            node, low, high = self._jobs[[JOB_NODE, JOB_LOW, JOB_HIGH], job].tolist()
            if node in self._begun:
                progress = self._begun.pop(node).get((low, high))
                if progress is not None:
                    self.progress[job] = progress

    def _is_begun(self, node):
        """Whether a job with a node's question was at work in an earlier run."""
        return node in self._begun and (int(self.nodes.alpha[node]), int(self.nodes.beta[node])) in self._begun[node]

    def _grow(self, node):
        self._changed = True
        self.make_room()
        nodes = self.nodes
        every = nodes.depth[node] < self._forced
        before = self._before or nodes
        self._grower.expand(nodes, node, self._pass_plies, self._win, before, self._table, every)
        windows.grown(*self._arrays, node)
        self._go_on()

    def _number(self, count):
        """Have as many numbers for jobs as that, and some for what may be asked for."""
        more = count + 16 - self._control.item(FREES)
        if more > 0:
            known = self._jobs.shape[1]
            fresh = np.zeros((JOB_ROWS, max(more, 64, known)), np.int64)
            fresh[[JOB_NODE, REST]] = NONE
            self._jobs = np.concatenate((self._jobs, fresh), axis=1)
            free, size = int(self._control[FREES]), fresh.shape[1]
            self._jobs[FREE, free : free + size] = np.arange(known + size - 1, known - 1, -1)
            self._control[FREES] += size

    def finish(self, results):
        """Take an array of result records in; a job that was stopped early leaves its boards and a lower bound."""
        self._changed = True
        lines = np.empty((len(results), 3), np.int64)
        workers = self._jobs[JOB_WORKER, results["job_id"]].tolist() if len(self._loans) else ()
        kept = dispatch.take_in(*self._arrays, results, self._totals, self.sizes, lines)
        for k, node, known in lines[:kept].tolist() if kept else ():
            if not (known and node in self._lines):  # no better than was known: the line that made the bound stays
                self._lines[node] = results["line"][k, : int(results["line_length"][k])].tolist()
        for job in results["job_id"].tolist() if self.progress else ():
            self.progress.pop(job, None)
        if len(self._loans):
            self._end_loans(workers, results["job_id"].tolist())
        self._learn()
        if self._control.item(POSING):
            self._go_on()

    def moved(self, job, worker):
        """A job has lost its worker, but another one has it."""
        self._jobs[JOB_WORKER, job] = worker

    @property
    def finished(self):
        """Jobs whose complete results are in."""
        return self._control.item(FINISHED)

    def lost(self, worker):
        """A worker is gone: its jobs are as if it had answered them with nothing."""
        self._loans.end(self, worker)
        jobs = np.flatnonzero((self._jobs[JOB_NODE] != NONE) & (self._jobs[JOB_WORKER] == worker))
        nothing = np.zeros(len(jobs), SUBTREE_RESULT)
        nothing["job_id"], nothing["score"] = jobs, -np.inf
        self.finish(nothing)

    @property
    def offloads(self):
        """Whether workers that have many places are to lend parts of their jobs out."""
        return bool(self._control[layout.GIVES]) and self.roots == 1

    @property
    def offloaded(self):
        """How many parts are lent out."""
        return len(self._loans)

    @property
    def jobs_out(self):
        """The rows of the jobs that are out, see ``control``."""
        return self._jobs

    def on_offload(self, worker, words):
        """Take in what a worker tells of the parts of its jobs that it lends out, see ``loans``."""
        self._loans.take_in(self, worker, words)
        self._changed = True

    def offload_results(self):
        """Return what has been found out about those: worker → rows of a part's number, and its score's bounds."""
        return self._loans.answered(self)

    def _end_loans(self, workers, jobs):
        """Some workers have done some jobs."""
        for worker, job in zip(workers, jobs, strict=True):
            self._loans.end(self, worker, (job,))
        self.nodes.columns[COST, 0] += self._loans.boards(self)

    def on_split(self, job, rest, part):
        """Take in the part of its tree that a job's worker gave away (uint8); it goes on with the rest as a job."""
        levels, nodes, jobs = part.view(np.int64), self.nodes, self._jobs
        nodes.reserve(len(levels))
        self.make_room()
        window = last_window(levels)
        last = self._grower.adopt(
            nodes, int(jobs[JOB_NODE, job]), levels, self._pass_plies, self._win, self._before or nodes, self._table
        )
        dispatch.adopted(*self._arrays, job, rest, last, *window)
        self._changed = True
        self.progress.pop(job, None)
        self.jobs += 1
        self._go_on()

    def on_export(self, job, words):
        """Take in the root that a sub-master handed up, a job's node; return the numbers of the jobs made of it.

        words: int64, as ``hand_up`` returns them.
        """
        eldest, told, nodes = int(words[0]), words[1:].reshape(-1, root_export.TOLD), self.nodes
        nodes.reserve(MAX_MOVES)
        self.make_room()
        moves = told[:, root_export.MOVE_]
        level = np.array([0, -NO_BOUND, NO_BOUND, -NO_BOUND, -NO_BOUND, NO_BOUND, NO_MOVE, 0, 0, len(moves), *moves])
        node, before = int(self._jobs[JOB_NODE, job]), self._before or nodes
        self._grower.adopt(nodes, node, level, self._pass_plies, self._win, before, self._table)
        numbers = self._numbers(np.count_nonzero(told[:, root_export.ALPHA_] < told[:, root_export.BETA_]))
        root_export.take_over(*self._arrays, job, eldest, told, numbers)
        self.jobs += len(numbers)
        self._go_on()
        return numbers

    def _numbers(self, count):
        """Return as many numbers for jobs."""
        self._number(count)
        self._control[FREES] -= count
        free = int(self._control[FREES])
        return self._jobs[FREE, free : free + count].copy()

    def hand_up(self, root, least):
        """Part with a root that was grown and has at least so much left; None if none of its children is at work.

        Returns (what is told of them as int64, those that go on here as roots); see ``handover``.
        """
        columns = self.nodes.columns
        if not root_export.can_hand_up(columns, root, least):
            return None
        first, count = int(self.nodes.first[root]), int(self.nodes.children[root])
        told = np.empty((count, root_export.TOLD), np.int64)
        eldest = int(self.nodes.eldest[root]) - first
        root_export.hand_up(*self._arrays, root, told)
        kept = first + np.flatnonzero(told[:, root_export.ALPHA_] < told[:, root_export.BETA_])
        return np.concatenate(([eldest], told.reshape(-1))), kept.tolist()

    def ask(self, root, low, high):
        """Ask a root something else than before; nothing, where low >= high."""
        windows.ask_root(*self._arrays, root, low, high)
        self._go_on()

    def rename(self, job):
        """Have a job go on by another number, as if its worker had given nothing away."""
        node, low, high = self._jobs[[JOB_NODE, JOB_LOW, JOB_HIGH], job].tolist()
        self._control[FREES] -= 1
        self._control[ASKED_FOR] += 1
        dispatch.adopted(*self._arrays, job, int(self._jobs[FREE, self._control[FREES]]), node, low, high)

    def job_updates(self, idle):
        """Return what is new of jobs that are out: (worker, job, low, high, rest, least) each.

        A job is not wanted any more where low >= high; low and high are the window that matters. If ``least`` is not
        0, a part of it with at least so much left is wanted, and the worker's search then is the job ``rest``; idle:
        workers that have no job, -1 where no parts are wanted.
        """
        found, n = [], len(self._found)
        while n == len(self._found):
            self._number(1)
            n = dispatch.steer(*self._arrays[:4], self._found, idle, self._least)
            if n:
                found += self._found[:n].tolist()
        return found

    def _learn(self):
        """From time to time: what the results so far say of how large jobs and parts are."""
        if self.finished < self._learnt_until:
            return
        self._learnt_until = self.finished + _RESULTS_AT_A_TIME
        boards = self._grain * rate(self.sizes)
        nearly_all = int(self.nodes.left[: self.roots].max()) - _DEEPEST_PART
        self._least = max(2, min(most_left(self.sizes, boards / 4, self._exact) + 1, nearly_all))
        if self._shares:
            self._control[SHARED] = most_left(self.sizes, boards, self._exact)
            if self.finished >= _RESULTS_AT_A_TIME:
                deepest = int(self.nodes.left[0]) - 2
                self.offload_depth = max(
                    1, min(most_left(self.sizes, _GRAINS_OF_A_LOAN * boards, self._exact), deepest)
                )

    def totals(self):
        """Return what workers spent on each root's jobs: arrays of shape (roots,) by name (seconds: wall time)."""
        return dict(zip(_SUMS, self._totals.T, strict=True))

    def score(self, node):
        """Return the score of a node for its side to move, from below if it is not known; −inf: nothing is known.

        Beyond the window it is a bound on the same side of it.
        """
        low, high = int(self.nodes.low[node]), int(self.nodes.high[node])
        if low == -INFINITY or high <= self._window[0] and self.nodes.depth[node] == 0:
            return float(high) if high < INFINITY and high <= self._window[0] else -np.inf
        return float(low)

    def line(self, root):
        """Return the best line from a root as move codes: off the array, then from the worker's result."""
        nodes, line, node = self.nodes, [], root
        while True:
            ring = self._ring(node)
            at = next((twin for twin in ring if nodes.best_child[twin] != NONE), NONE)
            if at == NONE and node == root and nodes.children[root]:  # none is better than was asked: the likeliest
                span = range(nodes.first[root], nodes.first[root] + nodes.children[root])
                return [int(nodes.move[max(span, key=lambda i: -int(nodes.low[i]))])]
            if at == NONE or len(line) >= LINE_LENGTH:
                break
            if at != node and nodes.state[at].tolist() != nodes.state[node].tolist():
                return line  # a symmetric position's: its moves are others
            node = int(nodes.best_child[at])
            line.append(int(nodes.move[node]))
        return line + self._lines.get(node, [])

    def _ring(self, node):
        ring = [node]
        while (twin := int(self.nodes.twin[ring[-1]])) != node:
            ring.append(twin)
        return ring

    def children(self, root):
        """Return (move, score for the side to move at the root, whether it is known) of each child of a grown root."""
        nodes = self.nodes
        span = range(nodes.first[root], nodes.first[root] + nodes.children[root])
        found = []
        for i in span:
            low, high = -nodes.high[i], -nodes.low[i]
            score = high if high <= self._window[0] else low
            found.append((int(nodes.move[i]), float(score), not ready_queue.is_asked(nodes.columns, i)))
        return found

    def snapshot(self, at_work=()):
        """Return what a Schedule of the same arguments needs to go on from here: numbers and arrays by name.

        at_work: a job's number → how far it is, of jobs that are out, as far as that is known.
        """
        saved = {}
        for job, progress in {**self.progress, **dict(at_work)}.items():
            node, low, high = self._jobs[[JOB_NODE, JOB_LOW, JOB_HIGH], job].tolist()
            saved[f"{node} {low} {high}"] = progress
        for node, known in self._begun.items():
            saved.update({f"{node} {low} {high}": progress for (low, high), progress in known.items()})
        lines = np.zeros((len(self._lines), LINE_LENGTH + 2), np.int64)
        for row, (node, line) in zip(lines, self._lines.items(), strict=True):
            row[:2], row[2 : 2 + len(line)] = (node, len(line)), line
        return {
            "nodes": self.nodes.snapshot(),
            "finished": self.finished,
            "jobs": self.jobs,
            "target": self._target,
            "saved": saved,
            "lines": lines,
            "totals": self._totals.copy(),
            "window": self._window,
        }

    def _replant(self, snapshot):
        self.nodes = NodeArray.restored(snapshot["nodes"])
        self.nodes.hint[:] = NONE  # they were of an array that is not here
        windows.ask_nothing(self.nodes.columns, self.nodes.size)
        self._control[FINISHED] = self.jobs = snapshot["finished"]
        self._totals += snapshot["totals"]
        self._target = max(self._target, snapshot["target"])
        for row in snapshot["lines"].tolist():
            self._lines[row[0]] = row[2 : 2 + row[1]]
        for name, progress in snapshot["saved"].items():
            node, low, high = map(int, name.split())
            self._begun.setdefault(node, {})[low, high] = progress
        self._resumed.extend(self._begun)


def rehearse(grower, state, exact):
    """Load, or compile, whatever a schedule calls: done in a search, it kept 31 workers waiting for 0.1 s."""
    source = Schedule(grower, [state], TO_THE_END if exact else 3, 2, "split")
    jobs = source.take(1, 0)
    answers = np.zeros(len(jobs), SUBTREE_RESULT)
    answers["job_id"], answers["score"], answers["line_length"] = jobs["job_id"], -np.inf, 1
    source.finish(answers)
    for job in source.take(1, 0)["job_id"].tolist():
        source.rename(job)
    source.job_updates(1)
    source.is_answered(0)
