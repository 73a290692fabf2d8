"""The simulated transport: the real master and the real workers in virtual time.

Work is really done, slice by slice, but takes the time that its nodes would take at each virtual worker's own rate.
Messages take a latency and time for their bytes, and keep their order between two ranks. The master takes its
calibrated time for each message, one after another. Idle ranks sleep as in ``backoff``. Workers may die, or be so slow
that they are declared lost (``Faults``). Everything random comes from one seed, so a run repeats itself exactly.
"""

import heapq
import random
from collections import deque
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np

from . import joint
from .backoff import wake_up
from .cluster import Cluster
from .events import Lost, Received
from .liveness import LAST_WAITS, Liveness
from .master import Master
from .messages import Message, MessageType, Outgoing, decode, encode
from .submaster import Submaster, blocks
from .worker import Worker

_MASTER = 0


class Network(NamedTuple):
    """The cost of messages."""

    latency: float  # seconds
    bandwidth: float  # bytes a second
    # a rank's own time to send or to receive a message: what MPI's calls, and Python around them, add to a message of
    # the master's, see ``Processors``
    handling: float = 3e-6
    jitter: float = 0.0  # mean of a random extra delay (exponential)


class Processors(NamedTuple):
    """How fast the virtual processors are; ``message`` was measured by ``benchmarks/master_cost.py``."""

    rate: float  # nodes a second of a worker while the others rest
    busy_rate: float | None = None  # the same while all work: cores share caches, memory, power; None: no slower
    job: float = 30e-6  # seconds of a worker for a job, without its nodes
    message: float = 16e-6  # seconds of the master for a message, without its handling
    spread: float = 0.0  # standard deviation of the workers' rates, relative to their mean
    jitter: float = 0.0  # the same of the duration of each slice


class Faults(NamedTuple):
    """What goes wrong; dictionaries are by rank."""

    worker_timeout: float  # seconds of silence after which a worker is declared lost
    deaths: dict = {}  # time of its death in seconds; messages that it sent before arrive
    slow: dict = {}  # how many times slower it is
    late: dict = {}  # probability that a message from or to it is late
    delay: float = 0.0  # mean delay of these (exponential), in seconds


_NO_FAULTS = Faults(worker_timeout=inf)
# Seconds of a slice of a job that several ranks search. Real ranks see each other's results at once; with slices of
# 2 ms they would see them too late or too early. It is about as long as real ranks take between two looks at the shared
# table: with 30 µs FFO #47 took 15 workers 1.56 times the nodes of one, and with 14 µs 1.79; real ones took 1.91.
_SHARED_SLICE = 14e-6
_LOOKS = 6  # for lost workers, in the time of a timeout

# One way between two ranks of one host, measured: shared memory, and TCP through the loopback device.
NETWORKS = {"host": Network(2e-6, 2e9), "tcp": Network(9e-6, 1e9)}


class _Clock:
    """A rank's own time in seconds."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class _TimedRunner:
    """A runner whose jobs and nodes take a worker's virtual time."""

    def __init__(self, runner, clock, job, duration):
        self._runner, self._clock, self._job, self._duration = runner, clock, job, duration
        self.batches = False  # a batch has no time for each of its jobs

    def __getattr__(self, name):
        return getattr(self._runner, name)

    def begin(self, job):
        self._clock.now += self._job
        self._runner.begin(job)

    def join(self, *question):
        self._clock.now += self._job
        self._runner.join(*question)

    def advance(self, budget):
        before = self._took
        done = self._runner.advance(budget)
        self._clock.now += self._duration(self._took - before)
        return done

    @property
    def _took(self):
        return self._runner.nodes + self._runner.waited


class _VirtualWorker:
    """A worker with a clock of its own and mail that arrives in time."""

    def __init__(self, kinds, processors, seed, rate, slowness, dies, shared):
        """rate: returns the nodes a second of a worker of mean speed now; dies: when, perhaps never (inf).

        shared: its host's Joint, seen by this worker.
        """
        chance = random.Random(seed)
        speed = max(0.1, chance.gauss(1, processors.spread)) / slowness
        self.dies = dies

        def duration(nodes):
            return nodes / (rate() * speed) * max(0.1, chance.gauss(1, processors.jitter))

        def timed(kind) -> Callable[[dict], Any]:
            return lambda setup: _TimedRunner(kind(setup), self.clock, processors.job, duration)

        self.clock = _Clock()
        kinds = {name: timed(kind) for name, kind in kinds.items()}
        self.worker = Worker(kinds, self.clock, self.clock, shared, _SHARED_SLICE)
        self.joint = shared
        self.mail = deque()  # (arrival, Message, bytes)
        self.next_look: float | None = None  # None: asleep until mail comes
        self.idle_since = 0.0


class _VirtualMaster:
    """A rank that has workers, and takes its own time for each message, one after another."""

    def __init__(self, machine, ranks, faults, last=1):
        """machine: a Master or a Submaster; ranks: of its workers; last: see ``Liveness``."""
        self.machine = machine
        self.master = machine if isinstance(machine, Master) else machine.master
        # it takes no virtual time to compile
        self.liveness = Liveness(faults.worker_timeout, ranks, compiles=faults.worker_timeout, last=last)
        self.watches = False  # a look for lost workers is planned
        self.free = 0.0  # when it has done what it has begun
        self.idle_since = 0.0  # since when its sleeps grow longer: reports of progress do not end them
        self.busy = 0.0  # seconds


class SimulatedCluster(Cluster):
    """Runs sources of work on ``workers`` virtual workers.

    ``clock()`` is the virtual time, ``master_busy`` the seconds of it in which the master worked.

    Args:
        kinds: as for a Worker, or a list of them for as many hosts, which get blocks of the workers.
        workers: how many.
        network, processors: their costs.
        seed: of all random numbers.
        faults: None where nothing goes wrong.
        submasters: of them, each with a block of the workers, which rank before them, 0 for none.
        shares: as for a ``Submaster``.
    """

    def __init__(
        self,
        kinds: Any,
        workers: int,
        network: Network,
        processors: Processors,
        seed: int = 0,
        faults: Faults | None = None,
        submasters: int = 0,
        shares: Mapping[str, Callable] | None = None,
    ):
        super().__init__()
        self.workers, self.submasters, self.ranks = workers, submasters, workers + submasters + 1
        self._network, self._processors = network, processors
        self._chance, self._faults = random.Random(seed), faults or _NO_FAULTS
        by_host = kinds if isinstance(kinds, list) else [kinds]
        leaders, hosts, self._above = _ranks(workers, submasters, len(by_host))
        self._mates = {}  # host → ranks of its workers
        for rank in self._above:
            if rank not in leaders:
                self._mates.setdefault(hosts[rank], []).append(rank)
        shared = _joints(self._mates)
        self.joint = not submasters and None not in shared.values()
        self._workers = {
            rank: _VirtualWorker(
                by_host[hosts[rank]],
                processors,
                seed=self._chance.random(),
                rate=self._rate,
                slowness=self._faults.slow.get(rank, 1),
                dies=self._faults.deaths.get(rank, inf),
                shared=shared[rank],
            )
            for rank in self._above
            if rank not in leaders
        }
        self._host_of = hosts
        self._at_work = set()  # ranks
        self._masters = {}  # rank → _VirtualMaster
        names = self.hosts = {rank: f"virtual{host}" for rank, host in hosts.items()}
        behind = {leader: {rank: names[rank] for rank in ranks} for leader, ranks in leaders.items()}
        self._master = Master({rank: names[rank] for rank in leaders or self._workers}, behind)
        self._masters[_MASTER] = _VirtualMaster(self._master, leaders or self._workers, self._faults, LAST_WAITS)
        for leader, known in behind.items():
            machine = Submaster(known, by_host[hosts[leader]], shares)
            self._masters[leader] = _VirtualMaster(machine, known, self._faults)
        self._now = 0.0
        self._events = []  # heap of (time, order, function, arguments)
        self._ordered = 0
        self._arrivals = {}  # (from, to) → when the latest message between them arrives

    def clock(self) -> float:
        """Return the virtual time in seconds."""
        return self._now

    @property
    def master_busy(self) -> float:
        """Seconds of the virtual time in which the master worked."""
        return self._masters[_MASTER].busy

    @property
    def master_seconds(self) -> float:
        return self.master_busy

    @property
    def master_share(self) -> float:
        """The part of the time, as far as it is planned, in which the master works."""
        return self.master_busy / max(self._now, self._masters[_MASTER].free, 1e-12)

    def turn(self) -> bool:
        """Go on to the next event; return whether there was any."""
        if not self._events:
            return False
        self._now, _, function, arguments = heapq.heappop(self._events)
        function(*arguments)
        return True

    def _rate(self):
        """Return a worker's nodes a second: linear in the others at work, from ``rate`` to ``busy_rate``."""
        alone, busy = self._processors.rate, self._processors.busy_rate
        if busy is None:
            return alone
        others = (len(self._at_work) - 1) / (self.workers - 1) if self.workers > 1 else 1.0
        return alone * (1 - others) + busy * others  # with rates far apart, alone + (busy - alone) may be 0

    def _at(self, time, function, *arguments):
        self._ordered += 1
        heapq.heappush(self._events, (time, self._ordered, function, arguments))

    def _arrival(self, sent, sender, to, size):
        """Return when a message sent at ``sent`` arrives; never before an earlier one of the same two ranks."""
        network, faults = self._network, self._faults
        extra = self._chance.expovariate(1 / network.jitter) if network.jitter else 0.0
        late = faults.late.get(max(sender, to))
        if late and self._chance.random() < late:
            extra += self._chance.expovariate(1 / faults.delay)
        when = sent + network.latency + size / network.bandwidth + extra
        when = max(when, self._arrivals.get((sender, to), 0.0))
        self._arrivals[sender, to] = when
        return when

    def _act(self, event):
        self._take_in(_MASTER, event)

    def _take_in(self, rank, event):
        """Have a master take an event in, when it is free and awake, and send the messages that follow."""
        virtual = self._masters[rank]
        began = max(self._now, virtual.free)
        if virtual.free < self._now:
            began = wake_up(virtual.idle_since, self._now)
        now = began + self._processors.message + self._network.handling * isinstance(event, Received)
        now = virtual.free = self._send(rank, now, virtual.machine.handle(event))
        if not (isinstance(event, Received) and event.message.type == MessageType.NODE_COUNT):
            virtual.idle_since = now
        virtual.busy += now - began
        if self._faults.worker_timeout < inf and not virtual.watches and self._master.has_runs:
            virtual.watches = True
            self._at(self._now, self._watch, rank)

    def _send(self, rank, now, outgoing):
        """Have a master send messages from ``now`` on; return when it has."""
        for to, message in outgoing:
            buffer = encode(message)
            now += self._network.handling
            self._at(self._arrival(now, rank, to, len(buffer)), self._deliver, rank, to, buffer)
        return now

    def _watch(self, rank):
        """Have a master look for lost workers, and plan the next look as long as there are runs."""
        virtual = self._masters[rank]
        if self._now >= self._faults.deaths.get(rank, inf) or virtual.machine.has_no_workers:
            return
        virtual.watches = self._master.has_runs
        if virtual.watches:
            self._at(self._now + self._faults.worker_timeout / _LOOKS, self._watch, rank)
        for lost in virtual.liveness.silent(self._now, virtual.master.preparing):
            virtual.liveness.lost(lost)
            self._take_in(rank, Lost(lost))
        if due := virtual.liveness.due(self._now):
            pings = [Outgoing(to, Message(MessageType.PING, 0)) for to in due]
            virtual.free = self._send(rank, max(self._now, virtual.free), pings)

    def _deliver(self, sender, rank, buffer):
        """Bring a rank a message; a worker that sleeps will see it at its next look."""
        if rank in self._masters:
            self._receive(rank, sender, buffer)
            return
        virtual = self._workers[rank]
        if self._now >= virtual.dies:
            return
        virtual.mail.append((decode(buffer), len(buffer)))
        if virtual.next_look is None:
            virtual.next_look = wake_up(virtual.idle_since, self._now)
            self._at(virtual.next_look, self._look, rank)

    def _look(self, rank):
        """Have a worker look at its mail, then do a slice of work, or go to sleep."""
        virtual = self._workers[rank]
        worker, clock = virtual.worker, virtual.clock
        if self._now >= virtual.dies:
            self._at_work.discard(rank)
            return
        if not worker.has_work:
            worker.timers.waited(max(virtual.idle_since, worker.timers.started), self._now)
        clock.now = self._now
        while virtual.mail:
            message, size = virtual.mail.popleft()
            self._send_answers(rank, worker.handle(message), size)
        if worker.has_work:
            self._at_work.add(rank)
            was_open = virtual.joint is not None and virtual.joint.is_open
            self._send_answers(rank, worker.work(), None)
            self._send_to_peers(rank)
            if not was_open and virtual.joint is not None and virtual.joint.is_open:
                self._at(clock.now, self._wake_mates, rank)
        elif worker.can_join:
            self._at_work.add(rank)
            worker.join()
        virtual.idle_since = clock.now
        goes_on = worker.has_work or worker.can_join
        virtual.next_look = clock.now if goes_on else None
        # until then the worker is at work
        self._at(clock.now, self._look if goes_on else self._at_work.discard, rank)

    def _wake_mates(self, rank):
        """Have the sleeping ranks of a host see at their next look that a rank has opened its job."""
        for mate in self._mates[self._host_of[rank]]:
            virtual = self._workers[mate]
            if virtual.next_look is None and virtual.worker.can_join:
                virtual.next_look = wake_up(virtual.idle_since, self._now)
                self._at(virtual.next_look, self._look, mate)

    def _send_answers(self, rank, answers, received):
        """Send a worker's answers; ``received``: the bytes of the message that they answer, or None."""
        virtual = self._workers[rank]
        sizes = [received] if received is not None else []
        for answer in answers:
            buffer = encode(answer)
            sizes.append(len(buffer))
            virtual.clock.now += self._network.handling
            if virtual.clock.now >= virtual.dies:
                break
            when = self._arrival(virtual.clock.now, rank, self._above[rank], len(buffer))
            self._at(when, self._receive, self._above[rank], rank, buffer)
        if received is not None:
            virtual.clock.now += self._network.handling
        timers = virtual.worker.timers
        now = virtual.clock.now
        timers.communicated(now - len(sizes) * self._network.handling, now)
        timers.messages += len(sizes)
        timers.bytes += sum(sizes)

    def _send_to_peers(self, rank):
        """Send a worker's messages to those of other hosts."""
        virtual = self._workers[rank]
        began = virtual.clock.now
        for to, message in virtual.worker.peer_messages():
            buffer = encode(message)
            virtual.clock.now += self._network.handling
            if virtual.clock.now >= virtual.dies:
                break
            self._at(self._arrival(virtual.clock.now, rank, to, len(buffer)), self._deliver, rank, to, buffer)
            virtual.worker.timers.messages += 1
            virtual.worker.timers.bytes += len(buffer)
        virtual.worker.timers.communicated(began, virtual.clock.now)

    def _receive(self, rank, sender, buffer):
        """Bring a master a message."""
        virtual = self._masters[rank]
        if self._now >= self._faults.deaths.get(rank, inf) or virtual.machine.has_no_workers:
            return
        message = decode(buffer)
        if message.type == MessageType.RESET_DONE:
            virtual.liveness.rejoined(sender, self._now)
        virtual.liveness.heard(sender, self._now)
        self._take_in(rank, Received(sender, message))


def _joints(mates):
    """Return {rank: its host's Joint}, None where a host has too many ranks; mates: host → ranks."""
    found = {}
    for ranks in mates.values():
        words = np.zeros(joint.WORDS, np.int64) if len(ranks) <= joint.SLOTS else None
        for slot, rank in enumerate(ranks):
            found[rank] = None if words is None else joint.Joint(words, slot, len(ranks))
    return found


def _ranks(workers, submasters, hosts):
    """Return ({sub-master: its workers}, {rank: host}, {rank: the rank above it}); of sub-masters there may be none."""
    if not submasters:
        ranks = range(1, workers + 1)
        return {}, {0: 0, **{rank: (rank - 1) * hosts // workers for rank in ranks}}, dict.fromkeys(ranks, _MASTER)
    leaders, host, above = blocks(workers + submasters + 1, submasters), {0: 0}, {}
    for i, (leader, ranks) in enumerate(leaders.items()):
        for rank in (leader, *ranks):
            host[rank], above[rank] = i * hosts // submasters, leader
        above[leader] = _MASTER
    return leaders, host, above
