"""What all transports offer their users: runs that are begun, watched and halted, one or many at a time."""

import itertools
import time
from collections.abc import Callable

import numpy as np

from .backoff import BackOff
from .events import Begin, Drop, Halt, Leave, More, RequestMetrics, RequestProgress, Sample
from .master import Master
from .master_run import State
from .protocols import WorkSource
from .samples import Samples
from .trace import COMMUNICATION, IDLE, Timeline

_LOOK = 1e-3  # seconds between two calls of ``watch``, unless there is something to see


class Cluster:
    """Runs sources of work on the workers of a transport, which moves messages in ``turn``.

    Subclasses set the attributes below, and send the messages that follow from an event in ``_act(event)``. A worker
    that they find lost is an event ``Lost(rank)``.
    """

    _master: Master
    ranks: int
    workers: int
    hosts: dict[int, str]  # rank of a worker → its host

    def __init__(self):
        self._numbers = itertools.count(1)
        self._rest = BackOff()
        self._timeline = None  # of the master in the latest run that was traced

    clock = staticmethod(time.perf_counter)
    submasters = 0  # sub-masters
    on_gpu = False  # whether workers may search on a GPU
    all_on_gpu = False  # whether all of them do
    cards = 0  # different GPUs that they have
    joint = False  # whether idle ranks join the jobs of their host, see ``joint``
    host: str | None = None  # of the master, where it is a rank of its own and not in one process with a worker
    # Readable once a worker has sent something, until ``awoken``: a hint that ends a sleep, as a large message may be
    # on its way still. None: there is no such descriptor.
    descriptor: int | None = None
    traced = 0  # events of a timeline that each rank of a measured run keeps, see ``trace``

    def begin(self, setup: bytes, source: WorkSource, **how) -> int:
        """Begin a run and return its number; how: more of ``events.Begin``."""
        number = next(self._numbers)
        self._tell(Begin(number, setup, source, traced=self.traced, **how))
        return number

    def more(self, run: int) -> None:
        """Say that a run's source that had no jobs has jobs again."""
        self._tell(More(run))

    def halt(self, run: int) -> None:
        """End a run now; it is over when its workers have answered."""
        self._tell(Halt(run))

    def _tell(self, event):
        """Have the master take in an event that workers will answer soon."""
        self._rest.reset()
        self._act(event)

    def drop(self, setup: bytes) -> None:
        """Forget a setup; its runs must be over."""
        self._act(Drop(setup))

    def is_open(self, run: int) -> bool:
        """Whether a run is not over yet."""
        return self._master.is_open(run)

    def failure(self, run: int) -> str | None:
        """Return why a run was ended by a worker that could do none of its jobs, once; else None. See ``Worker``."""
        return self._master.failures.pop(run, None)

    def state(self, run: int) -> State:
        """Return the State of an open run."""
        return self._master.state(run)

    def busy_workers(self, run: int) -> int | None:
        """Return how many workers search for an open run; None where sub-masters alone know.

        Ranks that may join a job of their host count as well.
        """
        return None if self.submasters else self._master.busy_workers(run)

    @property
    def lost(self) -> list[tuple[int, str]]:
        """(rank, host) of workers that were declared lost, in this order; see ``rejoined``."""
        return self._master.lost

    @property
    def rejoined(self) -> list[tuple[int, str]]:
        """(rank, host) of lost workers that were there after all and work again."""
        return self._master.rejoined

    @property
    def absent(self) -> set[int]:
        """Ranks that are lost and have not rejoined, the workers of lost sub-masters included."""
        return self._master.absent_ranks()

    @property
    def preparing(self) -> set[int]:
        """Ranks that load or compile kernels, or sub-masters of such."""
        return self._master.preparing

    @property
    def ignored(self) -> int:
        """Messages with results of workers that were lost when they came."""
        return self._master.ignored

    @property
    def pause(self) -> float:
        """How many seconds to wait for mail before the next turn, after one that brought none."""
        return self._rest.seconds

    def run(
        self, setup: bytes, source: WorkSource, watch: Callable[[State], bool], prefetch: int = 2, **how
    ) -> dict[int, np.ndarray]:
        """Have ``source`` done; ``watch(state)`` is called every few milliseconds and returns True to stop early.

        Meanwhile ``current`` is the run's number; how: more of ``events.Begin``. Returns the workers' METRICS_RECORDs
        by rank. Raises RuntimeError where a guarded worker failed at it, see ``failure``.
        """
        run = self.current = self.begin(setup, source, prefetch=prefetch, measured=True, **how)
        halted, seen, looked, self._timeline = False, None, 0.0, None
        try:
            while self.is_open(run):
                state, now, kind = self.state(run), self.clock(), COMMUNICATION
                if self.traced and self._timeline is None and state.started and self.host is not None:
                    self._timeline = Timeline(self.traced)
                if not halted and (state is not seen or now - looked >= _LOOK):  # each costs as much as a message
                    seen, looked = state, now
                    halted = watch(state)
                    if halted:
                        self.halt(run)
                elif not self.turn():
                    time.sleep(self.pause)
                    kind = IDLE
                if self._timeline:
                    self._timeline.switch_to(kind, now)
        except BaseException:
            self.halt(run)  # or the workers would search on
            raise
        if self._timeline:
            self._timeline.switch_to(None, self.clock())
        if failure := self.failure(run):
            raise RuntimeError(failure)
        return self.metrics

    def awoken(self) -> None:
        """Forget what has made ``descriptor`` readable, before the next ``turn``."""

    @property
    def master_seconds(self) -> float:
        """CPU seconds of the master so far; 0 where it shares its process with the workers."""
        return 0.0

    @property
    def metrics(self) -> dict[int, np.ndarray]:
        """The workers' METRICS_RECORDs by rank, of the measured run that reported last."""
        return self._master.metrics

    @property
    def traces(self) -> dict[int, tuple[str | None, np.ndarray]]:
        """The timelines of that run by rank, if it was traced: (host, array of ``trace.EVENT``).

        The master's, where it is a rank of its own, has slices of messages, with all work on them, and of idleness.
        """
        found = {0: (self.host, self._timeline.trace.records())} if self._timeline else {}
        return found | {rank: (self.hosts[rank], events) for rank, events in self._master.traces.items()}

    def request_metrics(self, run: int) -> None:
        """Update ``metrics`` for a measured run that has started; returns when they are in."""
        self._act(RequestMetrics(run))
        self._turn_while(self._master.awaits_metrics, run)

    def sample(self) -> None:
        """Ask all workers what their timers say; does not wait for it, ``samples`` has it as it comes."""
        self._act(Sample())

    @property
    def samples(self) -> Samples:
        """What workers answered to ``sample``."""
        return self._master.samples

    def request_progress(self, run: int) -> dict[int, np.ndarray]:
        """Return the progress of the workers' jobs of a run: job id → payload of PROGRESS."""
        self.ask_progress(run)
        self._turn_while(self.awaits_progress, run)
        return self.progress(run)

    def ask_progress(self, run: int) -> None:
        """The same without waiting: ``progress`` has it once ``awaits_progress`` is over."""
        self._tell(RequestProgress(run))

    def awaits_progress(self, run: int) -> bool:
        """Whether a worker was asked and has not answered, in a run that is open."""
        return self._master.awaits_progress(run)

    def progress(self, run: int) -> dict[int, np.ndarray]:
        """Return what has come since the workers were asked: job id → payload of PROGRESS, of jobs that are out."""
        return self._master.progress(run)

    def finish(self, run: int) -> None:
        """Return when a run is over."""
        self._turn_while(self.is_open, run)

    def _turn_while(self, waits, run):
        while waits(run):
            if not self.turn():
                time.sleep(self.pause)

    def turn(self) -> bool:
        """Pass on a message or do a slice of work; return whether there was any."""
        raise NotImplementedError

    def _act(self, event):
        raise NotImplementedError

    def close(self) -> None:
        """Have the workers leave, whatever they do, and wait for it; a second call does nothing."""
        self._act(Leave())
