"""What a sub-master does with jobs: each is the root of a tree of its own, searched by its workers together.

To its master it is a source of work; to the rank above, a worker whose jobs are narrowed, dropped, and given away. It
gives away by parting with a root (see ``handover``).
"""

import numpy as np

from .. import evaluation
from ..cluster.protocols import SubmasterSource
from ..jobs.setups import rules_of
from ..jobs.two_player import KINDS, SUBTREE_RESULT, job_dtype
from .expansion import Grower
from .job_size import grain, new_sizes
from .nodes import INFINITY
from .ready_queue import is_asked
from .schedule import Schedule, rehearse

_SLOT = 20  # bits of a job's number that are a schedule's own
_NUMBER = (1 << _SLOT) - 1
_SUMMED = (
    "boards",
    "ordering_boards",
    "evaluated",
    "table_hits",
    "table_far_hits",
    "table_stores",
    "table_replacements",
    "seconds",
    "cpu",
)


def sharing(setup):
    """Return a function that makes a Share, given the number of workers, for jobs of a setup; it loads the kernels."""
    game, rules = rules_of(setup)
    grower = Grower(game, rules, KINDS[setup["kind"]](setup).engine)
    exact = setup["kind"] == "solve"
    grower.compile()
    rehearse(grower, game.start(rules).state, exact)
    win = 0 if exact else evaluation.find(game, setup["evaluation"], rules).bound
    dtype = job_dtype(game.words(rules))
    return lambda workers: Share(grower, dtype, win, workers)


class Share(SubmasterSource):
    """Shares out jobs among workers.

    Every job is a root of some Schedule; those whose roots were handed up have several. Its own jobs are numbered by
    (schedule, number there).
    """

    result_dtype = SUBTREE_RESULT
    updates_jobs = True

    def __init__(self, grower, dtype, win, workers):
        self._grower, self.job_dtype, self._win, self._grain = grower, dtype, win, grain(workers)
        self._sizes = new_sizes()
        self._schedules = {}  # slot → Schedule, in the order in which they came
        self._jobs = {}  # number above → (slot, root)
        self._wanted = {}  # number above → what a part of it is to have left
        self._unnamed = {}  # number above of a root that was handed up → its children that go on here
        self._found = dict.fromkeys(_SUMMED, 0)  # what was spent and has not been told

    def begin(self, jobs):
        """Take in an array of job records."""
        for job in jobs:
            slot = next(i for i in range(len(self._schedules) + 1) if i not in self._schedules)
            left = int(job["depth"])
            pool = self._schedules[slot] = Schedule(
                self._grower,
                [tuple(job["state"])],
                left,
                2,
                "split",
                win=self._win,
                window=(int(job["low"]), int(job["high"])),
                grain=self._grain,
                sizes=self._sizes,
            )
            pool.nodes.cut[0] = job["cut"]
            self._jobs[int(job["job_id"])] = slot, 0
            self._found["boards"] += pool.nodes.size - 1

    def update(self, records):
        for number, low, high, _, least in records.tolist():
            if number not in self._jobs:
                continue  # it has been answered, or handed up
            slot, root = self._jobs[number]
            self._schedules[slot].ask(root, *((low, high) if low < high else (0, 0)))
            if low < high and least > 0:
                self._wanted[number] = least

    def assign_ids(self, job, numbers):
        """The children of a root that was handed up have numbers now."""
        self._jobs.update(zip(numbers, self._unnamed.pop(job), strict=True))

    def exports(self):
        """Part with roots of which a part is wanted; return (number, what is told above) of each."""
        found = []
        for number, least in list(self._wanted.items()):
            slot, root = self._jobs[number]
            handed = self._schedules[slot].hand_up(root, least)
            if handed:
                words, kept = handed
                del self._jobs[number], self._wanted[number]
                self._unnamed[number] = [(slot, child) for child in kept]
                found.append((number, words))
        return found

    @property
    def awaits_ids(self):
        return bool(self._unnamed)

    def answers(self, ended=False):
        """Return the records of jobs that are answered or dropped; ended: of all, for their workers have stopped.

        The last one waits for its workers: nothing that was spent is to be left untold.
        """
        records = []
        for number, (slot, root) in list(self._jobs.items()):
            pool = self._schedules[slot]
            if not ended and (is_asked(pool.nodes.columns, root) or len(self._jobs) == 1 and self._out):
                continue
            records.append(self._record(number, pool, root))
            del self._jobs[number]
            self._wanted.pop(number, None)
        if records:
            self._forget(ended)
        return np.concatenate(records) if records else np.zeros(0, SUBTREE_RESULT)

    @property
    def _out(self):
        return any(pool.out for pool in self._schedules.values())

    def _record(self, number, pool, root):
        """Return the result of a job, with all that was spent since the latest one."""
        nodes = pool.nodes
        low, high, alpha, beta = (int(column[root]) for column in (nodes.low, nodes.high, nodes.alpha, nodes.beta))
        record = np.zeros(1, SUBTREE_RESULT)
        complete = alpha < beta and not is_asked(nodes.columns, root)
        score = high if complete and high <= alpha else low
        line = pool.line(root)[: record["line"].shape[1]] if low > -INFINITY else []
        record["job_id"], record["complete"] = number, complete
        record["score"] = score if abs(score) < INFINITY else -np.inf
        record["line_length"], record["line"][0, : len(line)] = len(line), line
        self._count(record, int(nodes.cost[root]))
        return record

    def _count(self, record, boards):
        """Have a record tell of a part of what was spent: its own, and the last one of all that is left."""
        part = min(1.0, boards / max(1, self._found["boards"])) if len(self._jobs) > 1 or self._unnamed else 1.0
        for name in _SUMMED:
            told = self._found[name] if part == 1.0 else record[name].dtype.type(self._found[name] * part)
            record[name] = told
            self._found[name] -= told

    def _forget(self, ended):
        """Let schedules go that have no job any more, and none out."""
        needed = {slot for slot, _ in self._jobs.values()}
        needed.update(slot for kept in self._unnamed.values() for slot, _ in kept)
        for slot, pool in list(self._schedules.items()):
            if slot not in needed and (ended or not pool.out):
                del self._schedules[slot]

    @property
    def waiting(self):
        return sum(pool.waiting for pool in self._schedules.values())

    def take(self, count, worker):
        """See ``Schedule.take``; of the schedule that came first."""
        for slot, pool in self._schedules.items():
            if pool.waiting:
                size = pool.nodes.size
                jobs = pool.take(count, worker)
                self._found["boards"] += pool.nodes.size - size
                if len(jobs):
                    jobs["job_id"] += slot << _SLOT
                    return jobs
        return np.zeros(0, self.job_dtype)

    def finish(self, results):
        """See ``Schedule.finish``."""
        for name in _SUMMED:
            self._found[name] += results[name].sum().item()
        slots = results["job_id"] >> _SLOT
        for slot in set(slots.tolist()):
            own = results[slots == slot]
            own["job_id"] &= _NUMBER
            self._schedules[slot].finish(own)

    def job_updates(self, idle):
        """A root of which a part is wanted above grows by a part split off here."""
        found = []
        wanted = [self._jobs[number][0] for number in self._wanted]
        for slot, pool in self._schedules.items():
            base = slot << _SLOT
            for worker, job, low, high, rest, least in pool.job_updates(idle + wanted.count(slot)):
                found.append((worker, job + base, low, high, rest + base if least else rest, least))
        return found

    def on_split(self, job, rest, part):
        """See ``Schedule.on_split``."""
        self._schedules[job >> _SLOT].on_split(job & _NUMBER, rest & _NUMBER, part)

    def lost(self, worker):
        """See ``Schedule.lost``."""
        for pool in self._schedules.values():
            pool.lost(worker)


SHARES = dict.fromkeys(("solve", "deep"), sharing)
