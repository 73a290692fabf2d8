"""What all transports offer their users: runs that are begun, watched and halted, one or many at a time."""

import itertools
import time

from .backoff import BackOff
from .events import Ask, Begin, Drop, Halt, Leave, More, Save
from .trace import COMMUNICATION, IDLE, Timeline

_LOOK = 1e-3  # seconds between two looks at a run by whoever watches it, unless there is something to see


class Cluster:
    """Runs sources of work on the workers of a transport, which says in ``turn`` how messages travel.

    Subclasses set ``_master``, ``ranks``, ``workers`` and ``hosts`` (rank of a worker → its host), and pass an event's
    messages on in ``_act(event)``; by ``_act(Lost(rank))`` they say that a worker is lost.
    """

    def __init__(self):
        self._numbers = itertools.count(1)
        self._rest = BackOff()
        self._timeline = None  # of the master in the latest run that was traced

    clock = staticmethod(time.perf_counter)
    groups = 0  # sub-masters
    on_gpu = False  # whether workers may search on a GPU
    joint = False  # whether idle ranks join the jobs of their host, see ``joint``
    host = None  # of the master, where it is a rank of its own and not in one process with a worker
    traced = 0  # events of a timeline that each rank of a measured run keeps, see ``trace``

    def begin(self, setup, source, **how):
        """Begin a run and return its number; ``how`` as ``events.Begin`` has it."""
        number = next(self._numbers)
        self._tell(Begin(number, setup, source, traced=self.traced, **how))
        return number

    def more(self, run):
        """A run's source, which had run dry, has jobs again."""
        self._tell(More(run))

    def halt(self, run):
        """End a run now; it is over when its workers have answered."""
        self._tell(Halt(run))

    def _tell(self, event):
        """Have the master take in what workers will answer soon."""
        self._rest.reset()
        self._act(event)

    def drop(self, setup):
        """Forget a setup; its runs must be over."""
        self._act(Drop(setup))

    def is_open(self, run):
        """Whether a run is not over yet."""
        return self._master.is_open(run)

    def state(self, run):
        """Return the ``master.State`` of an open run."""
        return self._master.state(run)

    @property
    def lost(self):
        """(rank, host) of workers that were taken for lost, in this order; see ``rejoined``."""
        return self._master.lost

    @property
    def rejoined(self):
        """(rank, host) of lost workers that were there after all and work again."""
        return self._master.rejoined

    @property
    def ignored(self):
        """Messages with results of workers that were lost when they came."""
        return self._master.ignored

    @property
    def pause(self):
        """How many seconds to wait for mail before the next turn, after one that brought none."""
        return self._rest.seconds

    def run(self, setup, source, watch, prefetch=2, **how):
        """Have ``source`` done; ``watch(state)`` is called every few milliseconds and returns True to stop early.

        Meanwhile ``current`` is the run's number; how: more of ``events.Begin``. Returns the workers' METRICS_RECORDs
        by rank.
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
            self.halt(run)  # nobody else would, and workers would be at it for as long as they are there
            raise
        if self._timeline:
            self._timeline.switch_to(None, self.clock())
        return self.metrics

    @property
    def master_seconds(self):
        """CPU seconds of the master so far; 0 where it shares its process with the workers."""
        return 0.0

    @property
    def metrics(self):
        """The workers' METRICS_RECORDs by rank, as the measured run that told last has them."""
        return self._master.metrics

    @property
    def traces(self):
        """The timelines by rank (arrays of ``trace.EVENT``), of that run, where it was traced: (host, events).

        That of the master, where it is a rank of its own, tells of messages, with all that it does about them, and of
        idleness.
        """
        found = {0: (self.host, self._timeline.trace.records())} if self._timeline else {}
        return found | {rank: (self.hosts[rank], events) for rank, events in self._master.traces.items()}

    def ask(self, run):
        """Have a measured run that has started tell its ``metrics`` so far; returns when they are in."""
        self._act(Ask(run))
        self._turn_while(self._master.awaits_metrics, run)

    def save(self, run):
        """Return how far the workers' jobs of a run are: node → what a source hands on as ``saved``."""
        self._tell(Save(run))
        self._turn_while(self._master.awaits_saved, run)
        return self._master.saved(run)

    def finish(self, run):
        """Return when a run is over."""
        self._turn_while(self.is_open, run)

    def _turn_while(self, waits, run):
        while waits(run):
            if not self.turn():
                time.sleep(self.pause)

    def turn(self):
        """Pass on a message or do a slice of work; return whether there was any."""
        raise NotImplementedError

    def _act(self, event):
        raise NotImplementedError

    def close(self):
        """Let the workers go, whatever they are at, and wait until they have gone; more than once does no more."""
        self._act(Leave())
