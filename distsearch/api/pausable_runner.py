"""Base of jobs in which a worker searches as a process alone does: by clusters of its own, with itself as the worker.

Such a search is a call that is paused between slices of its work, so that the worker can look at its messages.
"""

import time
from collections.abc import Callable
from typing import Any

from ..cluster.local import InProcessCluster
from ..cluster.protocols import JobRunner
from ..engines.pvs.table import new_shared_table
from ..jobs.two_player import kinds
from .taking_turns import PausableCall

_MIB = 16  # of the table of each cluster
_TURN = 5e-3  # seconds of work between two pauses


class _PausingCluster(InProcessCluster):
    """The cluster of a worker's own, which calls ``pause()`` between slices of work."""

    def __init__(self, pause: Callable[[], None]):
        super().__init__(kinds(new_shared_table(_MIB)))
        self._pause = pause

    def turn(self) -> bool:
        self._pause()
        return super().turn()


class PausableRunner(JobRunner):
    """Does jobs that are calls; a subclass hands the call of a job to ``_call``."""

    def __init__(self):
        self._at_work: Any = None  # the PausableCall of the latest job
        self._resumed = 0.0  # when it was resumed last
        self._stopping = False

    def _cluster(self) -> InProcessCluster:
        """Return a cluster for searches within jobs, with a table of its own."""
        return _PausingCluster(self._pause)

    def _interrupted(self) -> bool:
        """Whether the searches within a job are to end with what they know."""
        return self._stopping

    def _pause(self):
        if time.perf_counter() - self._resumed > _TURN:
            self._at_work.pause()

    def _call(self, function: Callable[[], object]) -> None:
        """Have ``advance`` do a call."""
        self._at_work = PausableCall(function)

    def advance(self, budget: int) -> bool:
        self._resumed = time.perf_counter()
        return self._at_work.resume()

    def _stop(self) -> bool:
        """End the call at work, if there is one, in the middle of a search; return whether it had ended by itself."""
        ended = self._at_work is not None and self._at_work.done
        self._stopping = True
        while self._at_work is not None and not self._at_work.done:
            self.advance(0)
        self._stopping = False
        return ended
