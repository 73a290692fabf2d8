"""Jobs of a run that several hosts search together: who has which, and what has come of them.

A host without a job gets a copy of one that another host is at. The first complete answer ends the job: the others are
told to stop. The source gets the best answer once all have told, with the boards of all. So an answer that is known
waits for the others to look at their mail, or to be taken for lost.
"""

import numpy as np

_SUMMED = (
    "boards",
    "ordering_boards",
    "evaluated",
    "table_hits",
    "table_far_hits",
    "table_stores",
    "table_replacements",
    "cpu",
)


class _Copied:
    """A job; ``ranks``: who is at it now. The first was given it, the others copies."""

    def __init__(self, rank, job):
        self.job, self.ranks = job, [rank]
        self.holder = rank  # the rank that the source takes to be at it, though that may have told
        self.answer = None  # a result record, the best so far, with what all took that have told
        self.copied = self.dropped = False  # several had it; those that are left were told to stop


class Copies:
    """The jobs of a run by their node; hosts: the host of each worker by rank."""

    def __init__(self, hosts):
        self._hosts = hosts
        self._jobs = {}  # node → _Copied
        self._shared = 0  # jobs that have been copied
        self.changed = set()  # nodes of jobs whose ranks are to be told who they are

    def assigned(self, rank, jobs):
        """A worker was given jobs (records)."""
        for job in jobs:
            self._jobs[int(job["job_id"])] = _Copied(rank, job.copy())

    def choose(self, rank, alone):
        """Return the record of a job for a worker whose host has none, None if there is none; it then is at it.

        Of those without a limit of boards the one that the fewest hosts are at. alone: ranks whose job is their only
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

    def narrow(self, node, low, high):
        """A job matters in a narrower window, or not at all; return the workers that are at it."""
        if node not in self._jobs:
            return []
        copied = self._jobs[node]
        copied.job["low"], copied.job["high"], copied.dropped = low, high, copied.dropped or low >= high
        return copied.ranks

    def take_in(self, rank, results):
        """Take in a worker's results; return (those that are whole now, ranks and nodes of jobs that are to stop)."""
        whole, stop = [], []
        if not self._shared:
            for node in results["job_id"].tolist():
                self._jobs.pop(node, None)
            return results, stop
        for i, node in enumerate(results["job_id"].tolist()):
            copied = self._jobs.get(node)
            if copied is None or copied.ranks == [rank] and not copied.copied:
                self._forget(node, copied)
                whole.append(results[i : i + 1])
                continue
            record = results[i : i + 1].copy()
            copied.ranks.remove(rank)
            copied.answer = record if copied.answer is None else _together(copied.answer, record)
            whole += self._end(node, copied)
            if copied.ranks and record["complete"][0] and not copied.dropped:
                copied.dropped = True
                stop += [(other, node) for other in copied.ranks]
        return np.concatenate([results[:0], *whole]), stop

    def lost(self, rank):
        """A worker is gone; return (results that are whole now, (node, worker) of its jobs that others have)."""
        whole, kept = [], []
        for node, copied in list(self._jobs.items()):
            if rank in copied.ranks:
                copied.ranks.remove(rank)
                self.changed.add(node)
            elif copied.holder != rank:
                continue
            if copied.ranks:
                copied.holder = copied.ranks[0]
                kept.append((node, copied.holder))
            elif copied.answer is None:
                self._forget(node, copied)  # the source has it wait again
            else:
                whole += self._end(node, copied)
        return whole, kept

    def _end(self, node, copied):
        if copied.ranks:
            self.changed.add(node)
            return []
        self._forget(node, copied)
        return [copied.answer]

    def _forget(self, node, copied):
        self._jobs.pop(node, None)
        self._shared -= copied is not None and copied.copied

    def told(self):
        """Return (node, workers that are at it) of the jobs for which this has changed."""
        found = [(node, list(self._jobs[node].ranks)) for node in self.changed if node in self._jobs]
        self.changed = set()
        return found


def _together(one, other):
    """Return the better of two results (records, shape (1,)) of a job, with what both took."""
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
