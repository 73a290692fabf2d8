"""A stream of positions as a source of work: a job each; hard ones are grown into subtrees.

Positions come and answers leave while others are at work, so a million of them need room only for those in flight.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..cluster.protocols import COSTS, WorkSource
from ..core.saved import LARGEST, Saved
from ..engines.alphabeta import LINE_LENGTH
from ..jobs.two_player import BRIEF_RESULT, SUBTREE_RESULT, TO_THE_END, copied, job_dtype
from .layout import INFINITY
from .search_tree import ANY, SearchTree

_FREE, _WAITING, _OUT, _DONE = range(4)  # what a slot holds: OUT is a position that was handed out or grown
_FIRST_TRY = 2_000_000  # nodes, a fifth of a second: what no easy position needs
_NEXT_TRY = 4  # times as many nodes
_COLLECTED_AT_ONCE = 1 << 10  # slots searched for answers at a time
_NO_WORKER = -1

# A position in a snapshot: its number, whether it is answered, its answer or else what was spent on it so far, and the
# nodes of its next try.
_SAVED_POSITION = np.dtype(
    [("number", np.int64), ("answered", np.bool_), ("record", SUBTREE_RESULT), ("budget", np.int64)]
)


class _Hard:
    """A position that its first try did not answer."""

    def __init__(self):
        self.pool: SearchTree | None = None  # the SearchTree into which it was grown
        self.spent = _nothing()  # a record of what all tries took, and of the best bound that any of them found
        self.budget = 0  # nodes of the next try

    def add_try(self, record):
        """Take in the record of a try that was stopped; a later one may know less."""
        _add(record, self.spent)
        if record["score"] > self.spent["score"]:
            _copy(record, self.spent)

    def found(self):
        """Return the record of what all tries and the pool took, and of the score or its lower bound."""
        pool, record = self.pool, _nothing()
        if pool is not None:
            for name, values in pool.totals().items():
                record[name] = values[0]
            line = pool.line(0)[:LINE_LENGTH]
            record["score"], record["line_length"] = pool.score(0), len(line)
            record["line"][: len(line)] = line
            record["nodes"], record["complete"] = pool.nodes.cost[0], pool.done
        if not record["complete"] and record["score"] <= self.spent["score"]:
            _copy(self.spent, record)
        _add(self.spent, record)
        return record


class Stream(WorkSource):
    """Hands out positions of a stream as jobs, in order, and keeps their answers until the caller collects them.

    A hard position is grown into subtrees as soon as the others that wait would not keep the workers busy for as long
    as it may take. Before, it is tried again as one job with a larger budget, since a subtree that knows nothing of its
    siblings' scores searches several times as many nodes.

    Args:
        words: of a state.
        depth: plies, or TO_THE_END.
        workers: how many there are.
        make_pool: (state, window, shared, snapshot=None) -> a SearchTree of one position, large enough for all workers
            if ``shared``, or that of a snapshot.
        window: as in ``SearchTree``.
        all_moves: grow every position at once, for the scores of all its moves.
        brief: without lines (the workers' setup says so too).
        capacity: positions in flight, a power of two.
        first_try: nodes after which a position is hard, 0 for never.
        snapshot: of an earlier Stream whose positions come again, from the first that was not collected.
        legal_part: (state, line) -> the moves of a line of the snapshot that are legal.
        spans_hosts: whether several hosts may search the same job.
    """

    updates_jobs = True

    def __init__(
        self,
        words: int,
        depth: int,
        workers: int,
        make_pool: Callable[..., SearchTree],
        window: tuple[int, int] = ANY,
        all_moves: bool = False,
        brief: bool = False,
        capacity: int = 1 << 16,
        first_try: int = _FIRST_TRY,
        snapshot: dict[str, Any] | None = None,
        legal_part: Callable[[tuple, list[int]], list[int]] = lambda state, line: line,
        spans_hosts: bool = False,
    ):
        self._depth, self._workers, self._make_pool, self._window = depth, workers, make_pool, window
        self._all_moves, self._legal_part = all_moves, legal_part
        self.result_dtype = BRIEF_RESULT if brief else SUBTREE_RESULT
        self._first_try = first_try if workers > 1 else 0
        self._mask = capacity - 1
        self._states = np.zeros((capacity, words), np.uint64)
        self._answers = np.zeros(capacity, SUBTREE_RESULT)
        self._status = np.zeros(capacity, np.int8)
        self._holders = np.full(capacity, _NO_WORKER)  # workers that have a slot's position as a job
        self._job_dtype = job_dtype(words)
        self._begin = self._next = self._end = 0  # numbers: not collected from here, not handed out, not here yet
        self.answered = 0  # positions, collected or not
        self._collected = 0  # by ``collect_any``
        self._retries = deque()  # numbers of hard positions that wait for another try
        self._handed_back = deque()  # numbers of positions that came back untried, as those too large for a GPU
        self._choosy, self._lost = set(), set()  # workers that have handed some back, and lost ones
        self._hard = {}  # number → _Hard
        self._pools_at_work = {}  # numbers of the pools at work, in the order in which they were grown
        self._subtree_jobs = {}  # job id → (number, id in its pool, worker)
        self._ids = {}  # (number, id in its pool) → job id
        self._remainders = {}  # job id → the id of its remainder, where a split is requested
        self._updates = []  # that ``job_updates`` will return
        self.joint = workers > 1  # ranks of a host search together what is left in the end
        self.spans_hosts = spans_hosts and self.joint
        self._pool_jobs = 0  # jobs of pools that were handed out so far
        self._pools_turn = True
        self._tries, self._seconds = 0, 0.0  # of positions, answered or not
        self.grown = {}  # number → pool, of answered positions that were grown; the caller takes them away
        self.closed = False  # no more positions will come
        self.halted = False  # unanswered positions are not tried again
        self.nodes = 0  # of results so far
        self.progress = {}  # job id → its progress in an earlier run, until its result is in
        # number → (its entry of a snapshot, its pool's snapshot or None, its job's progress or None), until it comes
        self._known = {}
        if snapshot is not None:
            self._read(Saved(snapshot))

    def _read(self, saved):
        """Take in what ``snapshot`` gave, as far as can be without the positions."""
        pools, progress = saved.part("pools"), saved.part("progress")
        positions = saved.array("positions", _SAVED_POSITION, (None,))
        records, numbers = positions["record"], positions["number"]
        counts = [positions["budget"], *(records[name] for name in COSTS)]
        fits = np.all((numbers >= 0) & (numbers <= self._mask)) and len(np.unique(numbers)) == len(numbers)
        fits = fits and all(np.all((each >= 0) & (each < LARGEST)) for each in counts)
        fits = fits and np.all(np.isfinite(records["score"]) | (records["score"] == -np.inf) & ~positions["answered"])
        if not (fits and np.all((records["line_length"] >= 0) & (records["line_length"] <= LINE_LENGTH))):
            raise saved.damaged("positions")
        for entry in positions:
            name = str(entry["number"])
            pool = None if pools.is_none(name) else pools.entries(name)
            job = None if progress.is_none(name) else progress.array(name, np.uint8, (None,))
            self._known[int(entry["number"])] = entry, pool, job

    @property
    def free(self) -> int:
        """Positions that there is room for."""
        return self._mask + 1 - (self._end - self._begin)

    @property
    def in_flight(self) -> int:
        """Positions that are not answered."""
        return self._end - self.answered

    @property
    def waiting(self) -> int:
        """Jobs that can be handed out now, as far as they are known."""
        return self._end - self._next + len(self._retries) + self.reserved + self._waiting_in_pools

    @property
    def reserved(self) -> int:
        """Positions that were handed back: they go to workers that have handed none back."""
        return len(self._handed_back)

    @property
    def _waiting_in_pools(self):
        return sum(self._hard[number].pool.waiting for number in self._pools_at_work)

    @property
    def done(self) -> bool:
        """Whether every position is answered and no more will come."""
        return self.closed and self.answered == self._end

    def add(self, states: np.ndarray, known: np.ndarray | None = None) -> None:
        """Take positions in, an array of shape (n, words), n ≤ ``free``; they are numbered in their order, from 0.

        known: a SUBTREE_RESULT for each, complete where it is answered already; None: none is.
        """
        at = self._slots(self._end, len(states))
        self._states[at] = states
        self._status[at] = _WAITING
        begin, self._end = self._end, self._end + len(states)
        if self._known:
            for number in range(begin, self._end):
                if number in self._known:
                    self._restore_position(number, *self._known.pop(number))
        if known is not None:
            answered = (known["complete"] != 0) & (self._status[at] == _WAITING)
            records = known[answered]
            records["job_id"] = at[answered]
            self._keep(records)
        self._pass_over()

    def _slots(self, number, count):
        return np.arange(number, number + count) & self._mask

    def _pass_over(self):
        """Skip positions that are not handed out: those of a snapshot, and those that were known."""
        while self._next < self._end and self._status[self._next & self._mask] != _WAITING:
            self._next += 1

    def _restore_position(self, number, saved, pool, progress):
        """Restore a position from a snapshot."""
        slot = number & self._mask
        self._status[slot] = _OUT
        saved = saved.copy()
        record, state = saved["record"], tuple(self._states[slot])
        record["line_length"] = len(self._legal_part(state, record["line"][: record["line_length"]].tolist()))
        if pool is not None:
            known = Saved(pool)
            window = known.integers("window", 2, -INFINITY, INFINITY)
            pool = self._make_pool(state, window, known.integer("wanted_subtrees") > 1, snapshot=pool)
        if saved["answered"]:
            self._answers[slot], self._status[slot] = saved["record"], _DONE
            self._answers["job_id"][slot] = slot
            self.answered += 1
            if pool:
                self.grown[number] = pool
            return
        hard = self._hard[number] = _Hard()
        hard.spent, hard.pool, hard.budget = saved["record"].copy(), pool, int(saved["budget"])
        if pool:
            self._enter(number, hard)
        else:
            self._retries.append(number)
            if progress is not None:
                self.progress[slot] = progress

    def snapshot(self, at_work: Any = ()) -> dict[str, Any]:
        """Return what is known of positions that were not collected, numbered from the first of them.

        at_work: job id → progress, of jobs that are out, as far as that is known.
        """
        begin, numbers = self._begin, np.arange(self._begin, self._end)
        answered = numbers[self._status[numbers & self._mask] == _DONE]
        alone, in_pools = self._progress(dict(at_work))
        others = [(number, False, hard.spent, hard.budget) for number, hard in self._hard.items()]
        others += [(number, False, _nothing(), self._first_try) for number in alone if number not in self._hard]
        others += [entry for entry, _, _ in self._known.values()]
        positions = np.zeros(len(answered) + len(others), _SAVED_POSITION)
        first = positions[: len(answered)]
        first["number"], first["answered"], first["record"] = answered, True, self._answers[answered & self._mask]
        for i, entry in enumerate(others, len(answered)):
            positions[i] = entry
        positions["number"] -= begin
        pools = {number: hard.pool for number, hard in self._hard.items() if hard.pool} | self.grown
        pools = {number: pool.snapshot(in_pools.get(number, ())) for number, pool in pools.items()}
        pools |= {number: pool for number, (_, pool, _) in self._known.items() if pool}
        alone |= {number: progress for number, (_, _, progress) in self._known.items() if progress is not None}
        return {
            "positions": positions,
            "pools": {str(number - begin): pool for number, pool in pools.items()},
            "progress": {str(number - begin): progress for number, progress in alone.items()},
        }

    def _progress(self, at_work):
        """Return the progress of jobs: of positions, by number, and of subtrees, by number and id in its pool."""
        alone, in_pools = {}, {}
        for job_id, progress in {**self.progress, **at_work}.items():
            if job_id < 0:
                number, job, _ = self._subtree_jobs[job_id]
                in_pools.setdefault(number, {})[job] = progress
            else:
                alone[self._number_of(job_id)] = progress
        return alone, in_pools

    def take(self, count: int, worker: int) -> np.ndarray:
        """Return up to ``count`` jobs for ``worker``: of positions, and of hard ones' subtrees, in turn."""
        self._lost.discard(worker)
        if self._handed_back and (worker not in self._choosy or len(self._choosy | self._lost) >= self._workers):
            number = self._handed_back.popleft()
            budget = self._hard[number].budget if number in self._hard else self._first_try
            return self._jobs(np.array([number]), budget, worker)
        jobs = self._some(count, worker)
        while not len(jobs) and self.waiting > self.reserved:  # a tree whose score was found by growing it has no jobs
            jobs = self._some(count, worker)
        return jobs

    def _some(self, count, worker):
        self._pools_turn = not self._pools_turn
        while self._all_moves and not self._waiting_in_pools and self._next < self._end:
            self._grow(self._next, -np.inf, shared=self.in_flight <= self._workers)
            self._pass_over()
        positions = len(self._retries) + (0 if self._all_moves else self._end - self._next)
        if self._waiting_in_pools and (self._pools_turn or not positions):
            return self._take_subtrees(count, worker)
        if self._retries:
            number = self._retries.popleft()
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
        number = next(number for number in self._pools_at_work if self._hard[number].pool.waiting)
        pool = self._hard[number].pool
        jobs = pool.take(count, worker)
        for i, job in enumerate(jobs["job_id"].tolist()):
            job_id = self._new_id(number, job, worker)
            if job in pool.progress:
                self.progress[job_id] = pool.progress[job]
            jobs["job_id"][i] = job_id
        self._note_updates(number, pool)
        if pool.done:  # growing it was enough
            self._finish_pool(number, self._hard[number])
        return jobs

    def _new_id(self, number, job, worker):
        """Return an id for a job of a pool."""
        self._pool_jobs += 1
        job_id = -(self._pool_jobs & 0x3FFFFFFF) - 1  # slots are not negative
        self._subtree_jobs[job_id], self._ids[number, job] = (number, job, worker), job_id
        return job_id

    def _note_updates(self, number, pool, idle_workers=None):
        idle_workers = idle_workers if idle_workers is not None else -1 if self.spans_hosts else 0
        for worker, job, low, high, remainder, min_depth_left in pool.job_updates(idle_workers):
            job_id = self._ids[number, job]
            if min_depth_left:
                self._remainders[job_id] = self._new_id(number, remainder, worker)
            self._updates.append((worker, job_id, low, high, self._remainders.get(job_id, 0), min_depth_left))

    def on_split(self, job_id: int, remainder: int, subtree: np.ndarray) -> None:
        """See ``SearchTree.on_split``."""
        self.progress.pop(job_id, None)
        number, job, _ = self._subtree_jobs.pop(job_id)
        del self._ids[number, job]
        hard, job_id = self._hard.get(number), self._remainders.pop(job_id)
        _, remainder, worker = self._subtree_jobs[job_id]
        if hard is None:  # the worker was told to drop the id that the job had before
            self._updates.append((worker, job_id, 0, 0, 0, 0))
            return
        hard.pool.on_split(job, remainder, subtree)
        self._note_updates(number, hard.pool)
        if hard.pool.done:
            self._finish_pool(number, hard)

    def job_updates(self, idle_workers: int) -> list[tuple]:
        """See ``SearchTree.job_updates``."""
        for number in self._pools_at_work:
            self._note_updates(number, self._hard[number].pool, idle_workers)
        found, self._updates = self._updates, []
        return found

    def finish(self, results: np.ndarray) -> None:
        """Take an array of result records in."""
        self.nodes += int(results["nodes"].sum())
        for job_id in results["job_id"].tolist() if self.progress else ():
            self.progress.pop(job_id, None)
        subtrees = results["job_id"] < 0
        if subtrees.any():
            for record in self._as_full_records(results[subtrees]):
                self._finish_subtree(record)
            results = results[~subtrees]
        results = self._without_handed_back(results)
        self._holders[results["job_id"]] = _NO_WORKER
        self._tries += len(results)
        self._seconds += float(results["seconds"].sum())
        complete = results["complete"] != 0
        if not complete.all():
            for record in self._as_full_records(results[~complete]):
                self._finish_try(record)
            results = results[complete]
        self._keep(results)

    def _without_handed_back(self, results):
        """Have positions that came back untried wait for other workers; return the rest of the records."""
        untried = (results["complete"] == 0) & (results["nodes"] == 0)
        if self.halted or not untried.any():
            return results
        at = results["job_id"][untried]
        self._choosy.update(self._holders[at].tolist())
        self._holders[at] = _NO_WORKER
        self._handed_back.extend(map(self._number_of, at))
        return results[~untried]

    def _as_full_records(self, records):
        return records if self.result_dtype == SUBTREE_RESULT else copied(records, SUBTREE_RESULT)

    def _keep(self, results):
        """Keep answers, with what earlier tries took, until the caller collects them."""
        at = results["job_id"]
        if self.result_dtype == SUBTREE_RESULT:
            self._answers[at] = results
        else:
            for name in BRIEF_RESULT.names or ():
                self._answers[name][at] = results[name]
        if self._hard:
            for slot in at[np.isin(at, [number & self._mask for number in self._hard])]:
                _add(self._hard.pop(self._number_of(slot)).spent, self._answers[slot])
        self._status[at] = _DONE
        self.answered += len(at)

    def _number_of(self, slot):
        return self._begin + ((int(slot) - self._begin) & self._mask)

    def _finish_try(self, record):
        number = self._number_of(record["job_id"])
        hard = self._hard.setdefault(number, _Hard())
        hard.add_try(record)
        if self.halted:
            return
        others = self._end - self._next
        ahead = self._seconds / self._tries * others / self._workers
        if ahead < _NEXT_TRY * float(hard.spent["seconds"]):
            self._grow(number, float(hard.spent["score"]))
        else:
            hard.budget = int(record["nodes"]) * _NEXT_TRY
            self._retries.append(number)

    def _grow(self, number, at_least, shared=True):
        """Grow a position into subtrees; ``at_least``: its score is not below that."""
        low, high = self._window
        hard = self._hard.setdefault(number, _Hard())
        if self._depth == TO_THE_END and np.isfinite(at_least):
            low = max(low, int(at_least) - 1)  # a score at the window's end is only a bound
        self._status[number & self._mask] = _OUT
        hard.pool = self._make_pool(tuple(self._states[number & self._mask]), (low, high), shared)
        self._enter(number, hard)

    def _enter(self, number, hard):
        """Begin to hand out the jobs of a grown position, or take in its answer if there are none."""
        if hard.pool.done:
            self._finish_pool(number, hard)
        else:
            self._pools_at_work[number] = True

    def _finish_subtree(self, record):
        job_id = int(record["job_id"])
        number, job = self._end_subtree_job(job_id)
        hard = self._hard.get(number)
        if hard is None:  # it is answered without this one
            return
        record = record.reshape(1).copy()
        record["job_id"] = job
        hard.pool.finish(record)
        self._note_updates(number, hard.pool)
        if hard.pool.done:
            self._finish_pool(number, hard)

    def _end_subtree_job(self, job_id):
        """Forget the id of a pool's job, and that of its remainder; return (number, id in its pool)."""
        number, job, _ = self._subtree_jobs.pop(job_id)
        del self._ids[number, job]
        if job_id in self._remainders:
            other, remainder, _ = self._subtree_jobs.pop(self._remainders.pop(job_id))
            del self._ids[other, remainder]
        return number, job

    def moved(self, job_id: int, worker: int) -> None:
        """See ``SearchTree.moved``."""
        if job_id < 0:
            number, job, _ = self._subtree_jobs[job_id]
            self._subtree_jobs[job_id] = number, job, worker
            if number in self._hard:  # else it is answered
                self._hard[number].pool.moved(job, worker)
        else:
            self._holders[job_id] = worker

    def takes_any(self, worker: int) -> None:
        """See ``WorkSource.takes_any``."""
        self._choosy.discard(worker)

    def lost(self, worker: int) -> None:
        """See ``SearchTree.lost``."""
        self._lost.add(worker)
        self._updates = [update for update in self._updates if update[0] != worker]
        for slot in np.flatnonzero(self._holders == worker):
            self._holders[slot] = _NO_WORKER
            self._try_again(self._number_of(slot))
        remainders = set(self._remainders.values())
        lost = [job_id for job_id, (*_, holder) in self._subtree_jobs.items() if holder == worker]
        for job_id in (each for each in lost if each not in remainders):
            self.progress.pop(job_id, None)
            self._end_subtree_job(job_id)
        for number in list(self._pools_at_work):
            hard = self._hard[number]
            hard.pool.lost(worker)
            self._note_updates(number, hard.pool)
            if hard.pool.done:
                self._finish_pool(number, hard)

    def _try_again(self, number):
        """Have a lost position wait again."""
        if number not in self._hard:
            self._hard[number] = _Hard()
            self._hard[number].budget = self._first_try
        self._retries.append(number)

    def _finish_pool(self, number, hard):
        slot = number & self._mask
        self._answers[slot], self._status[slot] = hard.found(), _DONE
        self.grown[number] = hard.pool
        del self._hard[number]
        self._pools_at_work.pop(number, None)
        self.answered += 1

    def collect(self) -> tuple[int, np.ndarray]:
        """Return (number of the first, records) of the answers that are next in order, and forget them.

        The records are good until the stream takes in positions or results again.
        """
        begin, number = self._begin & self._mask, self._begin
        status = self._status[begin : begin + self._end - number]  # up to the end of the ring, at most
        count = 0
        while count < len(status):
            waiting = status[count : count + _COLLECTED_AT_ONCE] != _DONE
            first = int(waiting.argmax())
            if waiting[first]:
                count += first
                break
            count += len(waiting)
        status[:count] = _FREE
        self._begin += count
        return number, self._answers[begin : begin + count]

    def collect_any(self) -> Iterator[tuple[int, Any]]:
        """Yield (number, record) of the answers that were not collected yet, in any order.

        For streams whose positions all fit: slots are not used again. ``collect`` and this exclude each other.
        """
        if self._collected == self.answered:
            return
        for slot in np.flatnonzero(self._status == _DONE).tolist():
            self._status[slot] = _FREE
            self._collected += 1
            yield slot, self._answers[slot]

    @property
    def grown_number(self) -> int | None:
        """Number of the position whose subtrees are handed out first, None where none has been grown."""
        return next(iter(self._pools_at_work), None)

    def pool(self, number: int) -> SearchTree | None:
        """Return the pool that an unanswered position was grown into, or None."""
        hard = self._hard.get(number)
        return hard and hard.pool

    def unanswered(self) -> Iterator[tuple[int, Any]]:
        """Yield (number, record) of what a halt left over, in order; a score of −inf where nothing is known."""
        for number in range(self._begin, self._end):
            slot, hard = number & self._mask, self._hard.get(number)
            if self._status[slot] == _DONE:
                yield number, self._answers[slot]
            elif hard is None:
                yield number, _nothing()
            else:
                if hard.pool:
                    self.grown[number] = hard.pool
                yield number, hard.found()
        self._begin = self._end


def _nothing():
    """Return the record of a position without any result."""
    record = np.zeros((), SUBTREE_RESULT)
    record["score"] = -np.inf
    return record


def _copy(known, record):
    """Copy the score and line of a position to another record."""
    for name in ("score", "line", "line_length"):
        record[name] = known[name]


def _add(spent, record):
    """Add what was spent on a position by one record to another."""
    for name in COSTS:
        record[name] += spent[name]
