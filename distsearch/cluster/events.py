"""What happens to a master: the events that ``Master.handle`` takes in."""

from typing import NamedTuple

from .messages import Message


class Begin(NamedTuple):
    """Event: a new run.

    run: its number, never used before; setup: bytes for the workers' runners; source: where jobs come from; prefetch:
    batches of jobs kept at each worker; batch: seconds of work in a batch of small jobs, of which ``ahead`` times as
    many are kept; client: for whom, and weight: how much of the client's share, where several runs want the workers;
    measured: time counts from when all workers are ready, and at the end they say where theirs went; shared: a
    sub-master's workers search each of its jobs together; traced: events of a timeline that each rank of a measured run
    keeps, 0 for no timeline.
    """

    run: int
    setup: bytes
    source: object
    prefetch: int = 2
    batch: float = 1e-3
    ahead: int = 1
    client: int = 0
    weight: float = 1.0
    measured: bool = False
    shared: bool = False
    traced: int = 0


class Prepare(NamedTuple):
    """Event: a setup of which runs may come."""

    setup: bytes


class Received(NamedTuple):
    """Event: a message has come from a worker."""

    sender: int
    message: Message


class Lost(NamedTuple):
    """Event: a worker is not there any more, or was not heard from for too long."""

    rank: int


class More(NamedTuple):
    """Event: a run's source, which had run dry, has jobs again."""

    run: int


class Ask(NamedTuple):
    """Event: where does the time of a measured run go?"""

    run: int


class Save(NamedTuple):
    """Event: how far are the jobs at work of a run?"""

    run: int


class Halt(NamedTuple):
    """Event: the user or a clock wants a run to end now."""

    run: int


class Drop(NamedTuple):
    """Event: no more runs of this setup, if there were any; none may be open."""

    setup: bytes


class Leave(NamedTuple):
    """Event: no more runs, and those that are open are given up; workers may go. parts: ranks elsewhere are lost."""

    parts: bool = False
