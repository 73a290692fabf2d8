"""The jobs of a sub-master: each is the root of a tree, which its workers search together.

The sub-master's own ``Master`` takes it as a source of work. To the rank above it is a worker, whose jobs are narrowed,
dropped, and split by exporting a root (see ``root_export``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import evaluation
from ..cluster.protocols import COSTS, SubmasterSource
from ..engines.alphabeta import LINE_LENGTH
from ..jobs.setups import rules_of
from ..jobs.two_player import KINDS, SUBTREE_RESULT, job_dtype
from .expansion import Grower
from .job_size import min_job_seconds, new_sizes
from .layout import INFINITY
from .search_tree import SearchTree, warm_up_search_tree

_TREE_SHIFT = 20  # bits of a job id that belong to its tree; the others are the tree's slot
_ID_IN_TREE = (1 << _TREE_SHIFT) - 1


def make_submaster_trees(setup: dict[str, Any]) -> Callable[[int], SubmasterSource]:
    """Load the kernels for jobs of a setup; return a function that makes SubmasterTrees for a number of workers."""
    game, rules = rules_of(setup)
    grower = Grower(game, rules, KINDS[setup["kind"]](setup).engine)
    exact = setup["kind"] == "solve"
    grower.compile()
    warm_up_search_tree(grower, game.start(rules).state, exact)
    win_bonus = 0 if exact else evaluation.find(game, setup["evaluation"], rules).bound
    dtype = job_dtype(game.words(rules))
    return lambda workers: SubmasterTrees(grower, dtype, win_bonus, workers)


class SubmasterTrees(SubmasterSource):
    """Shares jobs among workers.

    Every job is a root of some SearchTree; the tree of an exported root has several. The id of a job that it hands out
    is made of the tree's slot and the id in the tree.
    """

    result_dtype = SUBTREE_RESULT
    updates_jobs = True

    def __init__(self, grower: Grower, dtype: np.dtype, win_bonus: int, workers: int):
        self._grower, self.job_dtype, self._win_bonus = grower, dtype, win_bonus
        self._sizes, self._min_job_seconds = new_sizes(), min_job_seconds(workers)
        self._trees = {}  # slot → SearchTree, in the order in which they came
        # by the ids of jobs at the master above:
        self._jobs = {}  # → (slot, root)
        self._wanted = {}  # → the depth left that a subtree split off it must have
        self._without_ids = {}  # of an exported root → its children that go on here
        self._spent = dict.fromkeys(COSTS, 0)  # and not reported yet

    def begin(self, jobs: np.ndarray) -> None:
        """Take in an array of job records."""
        for job in jobs:
            slot = next(i for i in range(len(self._trees) + 1) if i not in self._trees)
            depth_left = int(job["depth"])
            tree = self._trees[slot] = SearchTree(
                self._grower,
                [tuple(job["state"])],
                depth_left,
                2,
                "split",
                win_bonus=self._win_bonus,
                window=(int(job["low"]), int(job["high"])),
                min_job_seconds=self._min_job_seconds,
                sizes=self._sizes,
            )
            tree.nodes.expected_cut_node[0] = job["expected_cut_node"]
            self._jobs[int(job["job_id"])] = slot, 0
            self._spent["nodes"] += tree.nodes.size - 1

    def update(self, records: np.ndarray) -> None:
        for job_id, low, high, _, min_depth_left in records.tolist():
            if job_id not in self._jobs:
                continue  # it has been answered, or exported
            slot, root = self._jobs[job_id]
            self._trees[slot].ask(root, *((low, high) if low < high else (0, 0)))
            if low < high and min_depth_left > 0:
                self._wanted[job_id] = min_depth_left

    def assign_ids(self, job: int, job_ids: list[int]) -> None:
        """Take in the ids of an exported root's children."""
        self._jobs.update(zip(job_ids, self._without_ids.pop(job), strict=True))

    def exports(self) -> list[tuple[int, np.ndarray]]:
        """Export roots that the master above wants split; return (job id, what it gets) of each."""
        found = []
        for job_id, min_depth_left in list(self._wanted.items()):
            slot, root = self._jobs[job_id]
            exported = self._trees[slot].export_root(root, min_depth_left)
            if exported:
                words, kept = exported
                del self._jobs[job_id], self._wanted[job_id]
                self._without_ids[job_id] = [(slot, child) for child in kept]
                found.append((job_id, words))
        return found

    @property
    def awaits_ids(self) -> bool:
        return bool(self._without_ids)

    def answers(self, ended: bool = False) -> np.ndarray:
        """Return the records of jobs that are answered or dropped; ended: of all, for their workers have stopped.

        The last one waits for its workers, so that all that was spent is reported.
        """
        records = []
        for job_id, (slot, root) in list(self._jobs.items()):
            tree = self._trees[slot]
            if not ended and (tree.is_asked(root) or len(self._jobs) == 1 and self._out):
                continue
            records.append(self._record(job_id, tree, root))
            del self._jobs[job_id]
            self._wanted.pop(job_id, None)
        if records:
            self._forget(ended)
        return np.concatenate(records) if records else np.zeros(0, SUBTREE_RESULT)

    @property
    def _out(self):
        return any(tree.out for tree in self._trees.values())

    def _record(self, job_id, tree, root):
        """Return the result of a job, with its share of what was spent since the latest one."""
        nodes = tree.nodes
        low, high, alpha, beta = (int(column[root]) for column in (nodes.low, nodes.high, nodes.alpha, nodes.beta))
        record = np.zeros(1, SUBTREE_RESULT)
        complete = alpha < beta and not tree.is_asked(root)
        score = high if complete and high <= alpha else low
        line = tree.line(root)[:LINE_LENGTH] if low > -INFINITY else []
        record["job_id"], record["complete"] = job_id, complete
        record["score"] = score if abs(score) < INFINITY else -np.inf
        record["line_length"], record["line"][0, : len(line)] = len(line), line
        self._count(record, int(nodes.cost[root]))
        return record

    def _count(self, record, nodes):
        """Report a share of what was spent in a record: the job's, and in that of the last job all that remains."""
        share = min(1.0, nodes / max(1, self._spent["nodes"])) if len(self._jobs) > 1 or self._without_ids else 1.0
        for name in COSTS:
            spent = self._spent[name] if share == 1.0 else record[name].dtype.type(self._spent[name] * share)
            record[name] = spent
            self._spent[name] -= spent

    def _forget(self, ended):
        """Delete trees that have no job left, and none out."""
        needed = {slot for slot, _ in self._jobs.values()}
        needed.update(slot for kept in self._without_ids.values() for slot, _ in kept)
        for slot, tree in list(self._trees.items()):
            if slot not in needed and (ended or not tree.out):
                del self._trees[slot]

    @property
    def waiting(self) -> int:
        return sum(tree.waiting for tree in self._trees.values())

    def take(self, count: int, worker: int) -> np.ndarray:
        """See ``SearchTree.take``; the tree that came first goes first."""
        for slot, tree in self._trees.items():
            if tree.waiting:
                size = tree.nodes.size
                jobs = tree.take(count, worker)
                self._spent["nodes"] += tree.nodes.size - size
                if len(jobs):
                    jobs["job_id"] += slot << _TREE_SHIFT
                    return jobs
        return np.zeros(0, self.job_dtype)

    def finish(self, results: np.ndarray) -> None:
        """See ``SearchTree.finish``."""
        for name in COSTS:
            self._spent[name] += results[name].sum().item()
        slots = results["job_id"] >> _TREE_SHIFT
        for slot in set(slots.tolist()):
            own = results[slots == slot]
            own["job_id"] &= _ID_IN_TREE
            self._trees[slot].finish(own)

    def job_updates(self, idle_workers: int) -> list[tuple]:
        """See ``SearchTree.job_updates``; a root to be exported counts as an idle worker: a split makes it grow."""
        found = []
        wanted = [self._jobs[job_id][0] for job_id in self._wanted]
        for slot, tree in self._trees.items():
            base = slot << _TREE_SHIFT
            for worker, job, low, high, remainder, least in tree.job_updates(idle_workers + wanted.count(slot)):
                found.append((worker, job + base, low, high, remainder + base if least else remainder, least))
        return found

    def on_split(self, job: int, remainder: int, subtree: np.ndarray) -> None:
        """See ``SearchTree.on_split``."""
        self._trees[job >> _TREE_SHIFT].on_split(job & _ID_IN_TREE, remainder & _ID_IN_TREE, subtree)

    def lost(self, worker: int) -> None:
        """See ``SearchTree.lost``."""
        for tree in self._trees.values():
            tree.lost(worker)


SHARES: dict[str, Callable] = dict.fromkeys(("solve", "deep"), make_submaster_trees)
