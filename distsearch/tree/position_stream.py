"""A stream of positions as a source of work: a job each, and those that prove hard are grown into subtrees.

Positions come and answers leave while others are at work, so that a million of them need room for those in flight only.
"""

from collections import deque

import numpy as np

from ..cluster.protocols import WorkSource
from ..jobs.two_player import BRIEF_RESULT, SUBTREE_RESULT, TO_THE_END, copied, job_dtype
from .schedule import ANY

_FREE, _WAITING, _OUT, _DONE = range(4)  # what a place holds: OUT is a position that was handed out or grown
_FIRST_TRY = 2_000_000  # boards, a fifth of a second: what no easy position needs
_NEXT_TRY = 4  # times as many boards
_LOOK = 1 << 10  # places looked at in one go for answers
_NOBODY = -1
_COSTS = (
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

# A position in a snapshot: its number, whether it is answered, its answer or else what was spent on it so far, and the
# boards of its next try.
_KEPT = np.dtype([("number", np.int64), ("answered", np.bool_), ("record", SUBTREE_RESULT), ("budget", np.int64)])


class _Hard:
    """A position that its first try did not answer.

    spent: a record of what its tries took, and of the most that any of them knew; pool: what it was grown into.
    """

    def __init__(self):
        self.pool = None
        self.spent = _nothing()
        self.budget = 0  # boards of the next try

    def add_try(self, record):
        """Take in the record of a try that was stopped; a later one may have come less far."""
        _add(record, self.spent)
        if record["score"] > self.spent["score"]:
            _copy(record, self.spent)

    def found(self):
        """Return the record of what all tries and the pool took, and of what is known, from below if not all."""
        pool, record = self.pool, _nothing()
        if pool is not None:
            for name, values in pool.totals().items():
                record[name] = values[0]
            line = pool.line(0)[: record["line"].shape[0]]
            record["score"], record["line_length"] = pool.score(0), len(line)
            record["line"][: len(line)] = line
            record["boards"], record["complete"] = pool.nodes.cost[0], pool.done
        if not record["complete"] and record["score"] <= self.spent["score"]:
            _copy(self.spent, record)
        _add(self.spent, record)
        return record


class Stream(WorkSource):
    """Hands out positions of a stream as jobs, in order, and keeps their answers until somebody collects them.

    words: of a state; depth: plies, or TO_THE_END; workers: how many there are; make_pool(state, window, shared,
    snapshot=None): a Schedule of one position, large enough to be shared by all workers or not, or that of a
    snapshot; window: as ``Schedule`` has it; every: grow every position at once (for the scores of all its moves);
    brief: nobody wants lines (the workers' setup says so too); capacity: positions in flight, a power of two;
    first_try: boards after which a position is hard, 0 for never; snapshot: of an earlier Stream whose positions come
    again, from the first that was not collected on: what it knew of them is known; spans_hosts: whether several hosts
    may search the same job.

    A hard position is grown into subtrees as soon as the others that wait would not keep the workers busy for as long
    as it may take; before, it is tried again as one job with more boards, since a subtree that knows nothing of its
    brothers' scores searches several times as many.
    """

    updates_jobs = True

    def __init__(
        self,
        words,
        depth,
        workers,
        make_pool,
        window=ANY,
        every=False,
        brief=False,
        capacity=1 << 16,
        first_try=_FIRST_TRY,
        snapshot=None,
        spans_hosts=False,
    ):
        self._depth, self._workers, self._make_pool, self._window = depth, workers, make_pool, window
        self._every = every
        self.result_dtype = BRIEF_RESULT if brief else SUBTREE_RESULT
        self._first_try = first_try if workers > 1 else 0
        self._mask = capacity - 1
        self._states = np.zeros((capacity, words), np.uint64)
        self._answers = np.zeros(capacity, SUBTREE_RESULT)
        self._status = np.zeros(capacity, np.int8)
        self._holders = np.full(capacity, _NOBODY)  # workers that have a place's position as a job
        self._job_dtype = job_dtype(words)
        self._begin = self._next = self._end = 0  # numbers: not collected from here, not handed out, not here yet
        self.answered = 0  # positions, collected or not
        self._collected = 0  # by ``collect_any``
        self._again = deque()  # numbers of hard positions that wait for another try
        self._hard = {}  # number → _Hard
        self._growing = {}  # numbers of the pools at work, in the order in which they were grown
        self._sent = {}  # job's node → (number, job of its pool, worker)
        self._names = {}  # (number, job of its pool) → job's node
        self._rests = {}  # job's node → what its rest is to be called, where a part of it is asked for
        self._updates = []  # as ``job_updates`` is to return them
        self.joint = workers > 1  # ranks of a host search together what is left in the end
        self.spans_hosts = spans_hosts and self.joint
        self._pool_jobs = 0  # jobs of pools that were handed out so far
        self._pools_turn = True
        self._tries, self._seconds = 0, 0.0  # of positions, answered or not
        self.grown = {}  # number → pool, of answered positions that were grown; for whoever collects to take away
        self.closed = False  # no more positions will come
        self.halted = False  # what comes back unanswered is not to be tried again
        self.boards = 0  # of results so far
        self.progress = {}  # job's node → how far the job was in an earlier run, until its result is in
        # number → (its entry of a snapshot, its pool's snapshot or None, its job's progress or None), until it comes
        self._known = {}
        if snapshot is not None:
            pools, saved = snapshot["pools"], snapshot["saved"]
            self._known = {
                int(kept["number"]): (kept, pools.get(str(kept["number"])), saved.get(str(kept["number"])))
                for kept in snapshot["kept"]
            }

    @property
    def free(self):
        """Positions that there is room for."""
        return self._mask + 1 - (self._end - self._begin)

    @property
    def in_flight(self):
        """Positions that are not answered."""
        return self._end - self.answered

    @property
    def waiting(self):
        """Jobs that have not been handed out, as far as they are known."""
        return self._end - self._next + len(self._again) + self._waiting_in_pools

    @property
    def _waiting_in_pools(self):
        return sum(self._hard[number].pool.waiting for number in self._growing)

    @property
    def done(self):
        """Whether every position is answered and no more will come."""
        return self.closed and self.answered == self._end

    def add(self, states):
        """Take positions in, an array of shape (n, words), n ≤ ``free``; they are numbered as they come, from 0."""
        at = self._places(self._end, len(states))
        self._states[at] = states
        self._status[at] = _WAITING
        begin, self._end = self._end, self._end + len(states)
        if self._known:
            for number in range(begin, self._end):
                if number in self._known:
                    self._recall(number, *self._known.pop(number))
            self._pass_over()

    def _places(self, number, count):
        return np.arange(number, number + count) & self._mask

    def _pass_over(self):
        """Have the next position be one that was not handed out: what a snapshot knew never is."""
        while self._next < self._end and self._status[self._next & self._mask] != _WAITING:
            self._next += 1

    def _recall(self, number, kept, pool, progress):
        """Have a position stand as it stood in a snapshot."""
        place = number & self._mask
        self._status[place] = _OUT
        if pool is not None:
            state, shared = tuple(self._states[place]), pool["target"] > 1
            pool = self._make_pool(state, tuple(pool["window"]), shared, snapshot=pool)
        if kept["answered"]:
            self._answers[place], self._status[place] = kept["record"], _DONE
            self._answers["job_id"][place] = place
            self.answered += 1
            if pool:
                self.grown[number] = pool
            return
        hard = self._hard[number] = _Hard()
        hard.spent, hard.pool, hard.budget = kept["record"].copy(), pool, int(kept["budget"])
        if pool:
            self._enter(number, hard)
        else:
            self._again.append(number)
            if progress is not None:
                self.progress[place] = progress

    def snapshot(self, at_work=()):
        """Return what is known of positions that were not collected, numbered from the first of them.

        at_work: a job's node → how far it is, of jobs that are out, as far as that is known.
        """
        begin, numbers = self._begin, np.arange(self._begin, self._end)
        answered = numbers[self._status[numbers & self._mask] == _DONE]
        alone, in_pools = self._progress(dict(at_work))
        rest = [(number, False, hard.spent, hard.budget) for number, hard in self._hard.items()]
        rest += [(number, False, _nothing(), self._first_try) for number in alone if number not in self._hard]
        rest += [entry for entry, _, _ in self._known.values()]
        kept = np.zeros(len(answered) + len(rest), _KEPT)
        first = kept[: len(answered)]
        first["number"], first["answered"], first["record"] = answered, True, self._answers[answered & self._mask]
        for i, entry in enumerate(rest, len(answered)):
            kept[i] = entry
        kept["number"] -= begin
        pools = {number: hard.pool for number, hard in self._hard.items() if hard.pool} | self.grown
        pools = {number: pool.snapshot(in_pools.get(number, ())) for number, pool in pools.items()}
        pools |= {number: pool for number, (_, pool, _) in self._known.items() if pool}
        alone |= {number: progress for number, (_, _, progress) in self._known.items() if progress is not None}
        return {
            "kept": kept,
            "pools": {str(number - begin): pool for number, pool in pools.items()},
            "saved": {str(number - begin): progress for number, progress in alone.items()},
        }

    def _progress(self, at_work):
        """Return how far jobs are: of positions, by number, and of subtrees, by number and node of its pool."""
        alone, in_pools = {}, {}
        for name, progress in {**self.progress, **at_work}.items():
            if name < 0:
                number, job, _ = self._sent[name]
                in_pools.setdefault(number, {})[job] = progress
            else:
                alone[self._number(name)] = progress
        return alone, in_pools

    def take(self, count, worker):
        """Return up to ``count`` jobs for ``worker``: of positions, and of hard ones' subtrees, in turn."""
        jobs = self._some(count, worker)
        while not len(jobs) and self.waiting:  # a tree whose growing told its score has no jobs
            jobs = self._some(count, worker)
        return jobs

    def _some(self, count, worker):
        self._pools_turn = not self._pools_turn
        while self._every and not self._waiting_in_pools and self._next < self._end:
            self._grow(self._next, -np.inf, shared=self.in_flight <= self._workers)
            self._pass_over()
        positions = len(self._again) + (0 if self._every else self._end - self._next)
        if self._waiting_in_pools and (self._pools_turn or not positions):
            return self._take_subtrees(count, worker)
        if self._again:
            number = self._again.popleft()
            return self._jobs(np.array([number]), self._hard[number].budget, worker)
        count = min(count, positions)
        numbers = np.arange(self._next, self._next + count)
        numbers = numbers[self._status[numbers & self._mask] == _WAITING]
        self._next += count
        self._pass_over()
        return self._jobs(numbers, self._first_try, worker)

    def _jobs(self, numbers, budget, worker):
        at = numbers & self._mask
        self._status[at], self._holders[at] = _OUT, worker
        jobs = np.zeros(len(numbers), self._job_dtype)
        jobs["job_id"], jobs["depth"], jobs["budget"] = at, self._depth, budget
        jobs["low"], jobs["high"] = self._window
        jobs["state"] = self._states[at]
        return jobs

    def _take_subtrees(self, count, worker):
        number = next(number for number in self._growing if self._hard[number].pool.waiting)
        pool = self._hard[number].pool
        jobs = pool.take(count, worker)
        for i, job in enumerate(jobs["job_id"].tolist()):
            name = self._name(number, job, worker)
            if job in pool.progress:
                self.progress[name] = pool.progress[job]
            jobs["job_id"][i] = name
        self._note_updates(number, pool)
        if pool.done:  # what it was grown by told
            self._finish_pool(number, self._hard[number])
        return jobs

    def _name(self, number, job, worker):
        """Return a name for a job of a pool."""
        self._pool_jobs += 1
        name = -(self._pool_jobs & 0x3FFFFFFF) - 1  # places are not negative
        self._sent[name], self._names[number, job] = (number, job, worker), name
        return name

    def _note_updates(self, number, pool, idle=None):
        idle = idle if idle is not None else -1 if self.spans_hosts else 0
        for worker, job, low, high, rest, least in pool.job_updates(idle):
            name = self._names[number, job]
            if least:
                self._rests[name] = self._name(number, rest, worker)
            self._updates.append((worker, name, low, high, self._rests.get(name, 0), least))

    def on_split(self, name, rest, part):
        """See ``Schedule.on_split``."""
        self.progress.pop(name, None)
        number, job, _ = self._sent.pop(name)
        del self._names[number, job]
        hard, name = self._hard.get(number), self._rests.pop(name)
        _, rest, worker = self._sent[name]
        if hard is None:  # that it is not wanted was told of the name that it had before
            self._updates.append((worker, name, 0, 0, 0, 0))
            return
        hard.pool.on_split(job, rest, part)
        self._note_updates(number, hard.pool)
        if hard.pool.done:
            self._finish_pool(number, hard)

    def job_updates(self, idle):
        """See ``Schedule.job_updates``."""
        for number in self._growing:
            self._note_updates(number, self._hard[number].pool, idle)
        found, self._updates = self._updates, []
        return found

    def finish(self, results):
        """Take an array of result records in."""
        self.boards += int(results["boards"].sum())
        for node in results["job_id"].tolist() if self.progress else ():
            self.progress.pop(node, None)
        subtrees = results["job_id"] < 0
        if subtrees.any():
            for record in self._whole(results[subtrees]):
                self._finish_subtree(record)
            results = results[~subtrees]
        self._holders[results["job_id"]] = _NOBODY
        self._tries += len(results)
        self._seconds += float(results["seconds"].sum())
        complete = results["complete"] != 0
        if not complete.all():
            for record in self._whole(results[~complete]):
                self._finish_try(record)
            results = results[complete]
        self._keep(results)

    def _whole(self, records):
        return records if self.result_dtype == SUBTREE_RESULT else copied(records, SUBTREE_RESULT)

    def _keep(self, results):
        """Keep answers, with what earlier tries took, until somebody collects them."""
        at = results["job_id"]
        if self.result_dtype == SUBTREE_RESULT:
            self._answers[at] = results
        else:
            for name in BRIEF_RESULT.names:
                self._answers[name][at] = results[name]
        if self._hard:
            for place in at[np.isin(at, [number & self._mask for number in self._hard])]:
                _add(self._hard.pop(self._number(place)).spent, self._answers[place])
        self._status[at] = _DONE
        self.answered += len(at)

    def _number(self, place):
        return self._begin + ((int(place) - self._begin) & self._mask)

    def _finish_try(self, record):
        number = self._number(record["job_id"])
        hard = self._hard.setdefault(number, _Hard())
        hard.add_try(record)
        if self.halted:
            return
        others = self._end - self._next
        ahead = self._seconds / self._tries * others / self._workers
        if ahead < _NEXT_TRY * float(hard.spent["seconds"]):
            self._grow(number, float(hard.spent["score"]))
        else:
            hard.budget = int(record["boards"]) * _NEXT_TRY
            self._again.append(number)

    def _grow(self, number, at_least, shared=True):
        """Grow a position into subtrees; ``at_least``: its score is not below that."""
        low, high = self._window
        hard = self._hard.setdefault(number, _Hard())
        if self._depth == TO_THE_END and np.isfinite(at_least):
            low = max(low, int(at_least) - 1)  # what the window's end itself is worth is not told apart
        self._status[number & self._mask] = _OUT
        hard.pool = self._make_pool(tuple(self._states[number & self._mask]), (low, high), shared)
        self._enter(number, hard)

    def _enter(self, number, hard):
        """Have the jobs of a grown position handed out, or its answer collected if there are none."""
        if hard.pool.done:
            self._finish_pool(number, hard)
        else:
            self._growing[number] = True

    def _finish_subtree(self, record):
        name = int(record["job_id"])
        number, job = self._end_job(name)
        hard = self._hard.get(number)
        if hard is None:  # it is answered without this one
            return
        record = record.reshape(1).copy()
        record["job_id"] = job
        hard.pool.finish(record)
        self._note_updates(number, hard.pool)
        if hard.pool.done:
            self._finish_pool(number, hard)

    def _end_job(self, name):
        """Forget the name of a pool's job, and that of its rest if it has ended without one; return (number, job)."""
        number, job, _ = self._sent.pop(name)
        del self._names[number, job]
        if name in self._rests:
            other, rest, _ = self._sent.pop(self._rests.pop(name))
            del self._names[other, rest]
        return number, job

    def moved(self, name, worker):
        """See ``Schedule.moved``."""
        if name < 0:
            number, job, _ = self._sent[name]
            self._sent[name] = number, job, worker
            if number in self._hard:  # else it is answered
                self._hard[number].pool.moved(job, worker)
        else:
            self._holders[name] = worker

    def lost(self, worker):
        """See ``Schedule.lost``."""
        self._updates = [wish for wish in self._updates if wish[0] != worker]
        for place in np.flatnonzero(self._holders == worker):
            self._holders[place] = _NOBODY
            self._try_again(self._number(place))
        rests = set(self._rests.values())
        for name in [name for name, (*_, holder) in self._sent.items() if holder == worker and name not in rests]:
            self.progress.pop(name, None)
            self._end_job(name)
        for number in list(self._growing):
            hard = self._hard[number]
            hard.pool.lost(worker)
            self._note_updates(number, hard.pool)
            if hard.pool.done:
                self._finish_pool(number, hard)

    def _try_again(self, number):
        """Have a position that was lost be handed out anew."""
        if number not in self._hard:
            self._hard[number] = _Hard()
            self._hard[number].budget = self._first_try
        self._again.append(number)

    def _finish_pool(self, number, hard):
        place = number & self._mask
        self._answers[place], self._status[place] = hard.found(), _DONE
        self.grown[number] = hard.pool
        del self._hard[number]
        self._growing.pop(number, None)
        self.answered += 1

    def collect(self):
        """Return (number of the first, records) of the answers that are next in order, and forget them.

        The records are good until the stream takes in positions or results again.
        """
        begin, number = self._begin & self._mask, self._begin
        status = self._status[begin : begin + self._end - number]  # up to the end of the ring, at most
        count = 0
        while count < len(status):
            waiting = status[count : count + _LOOK] != _DONE
            first = int(waiting.argmax())
            if waiting[first]:
                count += first
                break
            count += len(waiting)
        status[:count] = _FREE
        self._begin += count
        return number, self._answers[begin : begin + count]

    def collect_any(self):
        """Yield (number, record) of the answers that were not collected yet, in whatever order they came.

        For streams that are whole: places are not used again. ``collect`` and this exclude each other.
        """
        if self._collected == self.answered:
            return
        for place in np.flatnonzero(self._status == _DONE).tolist():
            self._status[place] = _FREE
            self._collected += 1
            yield place, self._answers[place]

    def pool(self, number):
        """Return the pool that an unanswered position was grown into, or None."""
        hard = self._hard.get(number)
        return hard and hard.pool

    def rest(self):
        """Yield (number, record) of what a halt left behind, in order; a score of −inf where nothing is known."""
        for number in range(self._begin, self._end):
            place, hard = number & self._mask, self._hard.get(number)
            if self._status[place] == _DONE:
                yield number, self._answers[place]
            elif hard is None:
                yield number, _nothing()
            else:
                if hard.pool:
                    self.grown[number] = hard.pool
                yield number, hard.found()
        self._begin = self._end


def _nothing():
    """Return the record of a position of which nothing is known."""
    record = np.zeros((), SUBTREE_RESULT)
    record["score"] = -np.inf
    return record


def _copy(known, record):
    """Have a record say what is known of a position in another one."""
    for name in ("score", "line", "line_length"):
        record[name] = known[name]


def _add(spent, record):
    """Add what was spent on a position by one record to another."""
    for name in _COSTS:
        record[name] += spent[name]
