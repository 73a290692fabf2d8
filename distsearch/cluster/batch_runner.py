"""What a worker does with a runner that has many jobs at work at a time, as a GPU needs them.

Such a runner says by ``places`` how many, and how many there are, ``at_work``. ``add(jobs)`` gives it more,
``advance()`` does some of each, for 25 ms at most, and returns the records of those that are done. ``has(node)``,
``narrow(node, low, high)`` and ``drop(node)``, which returns its record, steer a job; ``stop()`` returns the records of
all that are left. ``boards`` is the sum over the jobs at work. The records' times are the worker's to fill in.

One that has ``failed`` has returned records of all its jobs, which are not complete; its worker takes another, which
the same maker makes then.

Where a run's source ``lends``, a few large jobs are worked on by others as well: ``lend(count, left)`` says how many
parts of them to have lent out from now on, ``lent()`` returns what is new of those, rows as LENT has them, and
``take_back(rows)`` brings answers, as RETURNED has them.
"""


def is_many(runner):
    """Whether a runner has many jobs at work at a time."""
    return getattr(runner, "places", 1) > 1


class Shares:
    """Shares out the time of jobs that are at work together: by boards, of which every job counts one more."""

    def __init__(self):
        self.seconds = self.cpu = 0.0  # not shared out yet
        self._jobs = 0

    def add(self, jobs):
        self._jobs += jobs

    def spend(self, seconds, cpu):
        self.seconds += seconds
        self.cpu += cpu

    def settle(self, records, left):
        """Give records their times; left: boards of the jobs that are still at work. The last ones get all."""
        parts = records["boards"] + 1.0
        self._jobs -= len(records)
        parts /= max(float(parts.sum()) + left + self._jobs, 1.0)
        records["seconds"], records["cpu"] = parts * self.seconds, parts * self.cpu
        used = float(parts.sum())
        self.seconds -= used * self.seconds
        self.cpu -= used * self.cpu
