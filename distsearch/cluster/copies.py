"""Jobs of a run that several hosts search together: which ranks have which job, and the answers.

A host without a job gets a copy of a job that another host searches. The first complete answer ends the job: the other
owners must stop. The source gets the best answer once all owners have answered, with the node counts of all. So a known
answer waits until the others look at their mail, or are lost.
"""

from collections.abc import Mapping

import numpy as np

from .protocols import COSTS

_SUMMED = tuple(name for name in COSTS if name != "seconds")


class _Copied:
    """A job that some ranks search."""

    def __init__(self, rank, job):
        self.job = job
        self.ranks = [rank]  # that search it now: the first has the job, the others copies
        self.holder = rank  # the job's worker as the source knows it, which may have answered
        self.answer: np.ndarray | None = None  # the best result so far, with what all ranks took that have answered
        self.copied = self.dropped = False  # several ranks had it; the remaining ones were told to stop

    def __repr__(self):
        return f"<_Copied of job {self.job['job_id']}: ranks {self.ranks}, dropped {self.dropped}>"


class Copies:
    """The jobs of a run by their ids; hosts: the host of each worker by rank."""

    def __init__(self, hosts: Mapping[int, str]):
        self._hosts = hosts
        self._jobs = {}  # job_id → _Copied
        self._shared = 0  # jobs that have been copied
        self.changed = set()  # ids of jobs whose ranks must be told the others

    def assigned(self, rank: int, jobs: np.ndarray) -> None:
        """Note that a worker got jobs (records)."""
        for job in jobs:
            self._jobs[int(job["job_id"])] = _Copied(rank, job.copy())

    def choose(self, rank: int, alone: set[int]) -> np.void | None:
        """Return the record of a job that a worker searches too from now on, whose host has none; None: no job.

        It is the one that the fewest hosts search, of those without a budget. alone: ranks whose job is their only
        one. A host takes part in one such search at a time.
        """
        taken = {self._hosts[each] for copied in self._jobs.values() if len(copied.ranks) > 1 for each in copied.ranks}
        fit = [
            copied
            for copied in self._jobs.values()
            if not (copied.dropped or copied.answer is not None or copied.job["budget"])
            and alone.issuperset(copied.ranks)
            and (len(copied.ranks) > 1 or self._hosts[copied.ranks[0]] not in taken)
            and all(self._hosts[each] != self._hosts[rank] for each in copied.ranks)
        ]
        if not fit:
            return None
        chosen = min(fit, key=lambda copied: len(copied.ranks))
        self._shared += not chosen.copied
        chosen.copied = True
        chosen.ranks.append(rank)
        self.changed.add(int(chosen.job["job_id"]))
        return chosen.job

    def narrow(self, job_id: int, low: int, high: int) -> list[int]:
        """Narrow a job's window, or drop it; return the workers that search it."""
        if job_id not in self._jobs:
            return []
        copied = self._jobs[job_id]
        copied.job["low"], copied.job["high"], copied.dropped = low, high, copied.dropped or low >= high
        return copied.ranks

    def take_in(self, rank: int, results: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Take in a worker's results; return (those that are final, ranks and ids of jobs that must stop)."""
        finished, stop = [], []
        if not self._shared:
            for job_id in results["job_id"].tolist():
                self._jobs.pop(job_id, None)
            return results, stop
        for i, job_id in enumerate(results["job_id"].tolist()):
            copied = self._jobs.get(job_id)
            if copied is None or copied.ranks == [rank] and not copied.copied:
                self._forget(job_id, copied)
                finished.append(results[i : i + 1])
                continue
            record = results[i : i + 1].copy()
            copied.ranks.remove(rank)
            copied.answer = record if copied.answer is None else _together(copied.answer, record)
            finished += self._end(job_id, copied)
            if copied.ranks and record["complete"][0] and not copied.dropped:
                copied.dropped = True
                stop += [(other, job_id) for other in copied.ranks]
        return np.concatenate([results[:0], *finished]), stop

    def lost(self, rank: int) -> tuple[list[np.ndarray], list[tuple[int, int]]]:
        """Take in that a worker is lost; return (results that are final now, (id, worker) of jobs that others have)."""
        finished, kept = [], []
        for job_id, copied in list(self._jobs.items()):
            if rank in copied.ranks:
                copied.ranks.remove(rank)
                self.changed.add(job_id)
            elif copied.holder != rank:
                continue
            if copied.ranks:
                copied.holder = copied.ranks[0]
                kept.append((job_id, copied.holder))
            elif copied.answer is None:
                self._forget(job_id, copied)  # the source has it wait again
            else:
                finished += self._end(job_id, copied)
        return finished, kept

    def _end(self, job_id, copied):
        if copied.ranks:
            self.changed.add(job_id)
            return []
        self._forget(job_id, copied)
        return [copied.answer]

    def _forget(self, job_id, copied):
        self._jobs.pop(job_id, None)
        self.changed.discard(job_id)  # the id may soon be another job's
        self._shared -= copied is not None and copied.copied

    def changed_owners(self) -> list[tuple[int, list[int]]]:
        """Return (id, workers that search it) of the jobs for which this has changed."""
        found = [(job_id, list(self._jobs[job_id].ranks)) for job_id in self.changed if job_id in self._jobs]
        self.changed = set()
        return found


def _together(one, other):
    """Return the better of two results (records, shape (1,)) of a job, with the sums of both."""
    better = (
        other
        if other["complete"][0] > one["complete"][0]
        or (other["complete"][0] == one["complete"][0] and other["score"][0] > one["score"][0])
        else one
    )
    found = better.copy()
    for name in _SUMMED:
        if name in found.dtype.names:
            found[name] = one[name] + other[name]
    return found
