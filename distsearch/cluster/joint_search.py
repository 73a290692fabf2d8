"""Both sides of a job that ranks of a host search together: that of its owner, and that of an idle rank that joins it.

They meet in shared memory, see ``joint``.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .exchange import NOTHING
from .joint import Joint, Open
from .messages import from_records
from .trace import Timers
from .worker_state import FIRST_BUDGET, Setup, WorkerRun, next_budget


class Owner:
    """Lets idle ranks of the host join the job at work of one run at a time, and sets the length of its slices.

    joint: needed only for runs that are ``joint``; slice_length, shared_slice: seconds of a slice of a job that this
    rank searches alone, or together with others.
    """

    def __init__(self, joint: Joint | None, slice_length: float, shared_slice: float):
        self._joint: Any = joint
        self._slice_length, self._shared_slice = slice_length, shared_slice
        self._opened: WorkerRun | None = None  # whose job at work other ranks can join

    def open(self, run: WorkerRun) -> None:
        """Let other ranks join the job at work, if it is a large one, and share what is found with those that do."""
        if self._opened is not None and self._opened is not run:
            self.close(self._opened)
        if run.job is None or not run.runner.can_be_shared:
            return
        if self._opened is None:
            self._opened = run
            self._joint.open(run.setup.key, run.number, from_records(run.runner.job_now()))
        if self._joint.joined or run.was_joined:
            self.share(run)

    def share(self, run: WorkerRun) -> None:
        """Search the job at work together with other ranks, from the next slice on."""
        if not run.runner.is_shared:
            if run.exchange is None and run.setup.spans_hosts:  # an owner that is gone may have left others' marks
                run.runner.set_remote_marks(NOTHING, 0, 0)
            run.runner.share(True)
            run.budget = max(100, int(run.budget * self.length_of(run) / self._slice_length))

    def length_of(self, run: WorkerRun) -> float:
        """Return the seconds of a slice of a run."""
        if not run.setup.can_join or not run.runner.is_shared:
            return self._slice_length
        return min(self._shared_slice, run.exchange.every) if run.exchange else self._shared_slice

    def renew(self) -> None:
        """Tell the ranks that have joined the open job, if there is one, that this one is still at work."""
        if self._opened:
            self._joint.renew()

    def nodes_of_others(self, run: WorkerRun) -> int:
        """Return how many nodes other ranks have searched of a run's job at work."""
        return run.joined[0] + (self._joint.spent[0] if self._opened is run else 0)

    def close(self, run: WorkerRun) -> None:
        """Stop the ranks that have joined a run's job at work, and note what they have spent."""
        if self._opened is run:
            nodes, cpu = self._joint.close()
            run.joined = run.joined[0] + nodes, run.joined[1] + cpu
            self._opened = None


class Guest:
    """Searches jobs that other ranks of the host have open; their owners answer them.

    Args:
        setups: number → Setup, those that the rank knows now.
        clock, cpu_clock: return seconds.
        slice_length: CPU seconds of a slice.
    """

    def __init__(
        self,
        joint: Joint,
        setups: Mapping[int, Setup],
        clock: Callable[[], float],
        cpu_clock: Callable[[], float],
        slice_length: float,
    ):
        self._joint, self._setups = joint, setups
        self._clock, self._cpu_clock, self._slice_length = clock, cpu_clock, slice_length
        self._job: Open | None = None  # which is searched now
        self._setup: Any = None  # its Setup
        self._runner: Any = None  # its runner, once it has begun
        self._budget, self._cpu = FIRST_BUDGET, 0.0

    @property
    def is_at_work(self) -> bool:
        """Whether a job is searched."""
        return self._job is not None

    @property
    def can_work(self) -> bool:
        """Whether a job is searched or there is one to join."""
        return self.is_at_work or self._joint.any_open and self._find() is not None

    def _find(self):
        known = {setup.key: setup for setup in self._setups.values() if setup.can_join and not setup.failure}
        job = self._joint.find(known, self._clock())
        return (job, known[job.setup]) if job else None

    def work(self, now: float, timers: Timers) -> bool:
        """Do a slice of the job, or of one to join, from the moment ``now`` on; return whether there was any.

        ``timers`` count its nodes and CPU seconds.
        """
        cpu_began = self._cpu_clock()
        if self._job is not None and not self._joint.lasts(self._job, now):
            self.leave()  # its owner has reported what it took
        if self._job is None:
            found = self._find()
            if found is None:
                return False
            self._job, self._setup = found
            self._budget, self._cpu = FIRST_BUDGET, 0.0
            self._runner = self._setup.guest(self._job, self._joint.join(self._job))
        job, runner = self._job, self._runner
        before = runner.nodes
        done = runner.advance(self._budget)
        cpu = self._cpu_clock() - cpu_began
        timers.nodes += runner.nodes - before
        self._budget = next_budget(self._budget, runner.nodes - before, cpu, self._slice_length)
        self._cpu += cpu
        self._joint.spend(runner.nodes, self._cpu)
        if done or not self._joint.lasts(job, now):
            self.leave(done)
        timers.cpu += self._cpu_clock() - cpu_began
        return True

    def leave(self, done: bool = False) -> None:
        """Search the job no more; done: nor again, as it came to its end."""
        self._joint.leave(self._job if done else None)
        runner, self._job, self._runner = self._runner, None, None
        if runner is not None:
            runner.share(False)
            self._setup.give_back(runner)

    def fail(self) -> None:
        """Give the job up after an exception of its runner, which may be in any state."""
        self._joint.leave(self._job)
        self._job = self._runner = None
