"""The events that ``Master.handle`` takes in."""

from typing import NamedTuple

from .messages import Message
from .protocols import WorkSource


class Begin(NamedTuple):
    """A new run."""

    run: int  # its number, never used before
    setup: bytes  # for the workers' runners
    source: WorkSource  # where jobs come from
    prefetch: int = 2  # batches of jobs kept at each worker
    batch: float = 1e-3  # seconds of work in a batch of small jobs
    ahead: int = 1  # so many times as many small jobs are kept at each worker
    client: int = 0  # whose run it is: clients share the workers' time
    weight: float = 1.0  # the run's part of its client's share
    measured: bool = False  # time counts from when all workers are ready, and at the end they report where theirs went
    shared: bool = False  # a sub-master's workers search each of its jobs together
    traced: int = 0  # events of a timeline that each rank of a measured run keeps, 0 for no timeline


class Prepare(NamedTuple):
    """Runs of a setup may come."""

    setup: bytes


class Received(NamedTuple):
    """A message has come from a worker."""

    sender: int
    message: Message


class Lost(NamedTuple):
    """A worker has died, or was not heard from for too long."""

    rank: int


class More(NamedTuple):
    """A run's source that had no jobs has jobs again."""

    run: int


class RequestMetrics(NamedTuple):
    """Where does the time of a measured run go?"""

    run: int


class Sample(NamedTuple):
    """What do the timers of all workers say, whatever runs there are? See ``samples``."""


class RequestProgress(NamedTuple):
    """What is the progress of a run's jobs at work?"""

    run: int


class Halt(NamedTuple):
    """The user or a clock ends a run now."""

    run: int


class Drop(NamedTuple):
    """No more runs of this setup will come; none may be open."""

    setup: bytes


class Leave(NamedTuple):
    """No more runs will come, and open runs are given up: workers may go."""

    some_lost: bool = False  # ranks elsewhere are lost
