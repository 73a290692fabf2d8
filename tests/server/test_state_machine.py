"""Random clients of the service in one process: what each hears, what the service counts, and what is left of them."""

import contextlib
import gc
import itertools
import sys

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from distsearch.cluster.simulated import Faults
from distsearch.server import request_queue
from distsearch.server.limits import DEFAULTS
from distsearch.server.request_queue import RequestQueue

from . import client_lines
from .client_lines import cancels, garbage, lines, long_searches, malformed, questions, searches, watches
from .dialogue import Dialogue
from .queue_clients import Asked, VirtualRanks, finish, turn_until
from .serving import descriptors
from .stepped import Clock, SteppedQueue, SteppedServer, SteppedWire, install
from .test_lines import Client as LinesClient

OF_CLIENT = 2  # requests of a client at work
MOST_WAITING = 4  # requests of all clients
MOST_WATCHERS = 2
MOST_LONG = 4  # of a client, so that its further lines are taken some time
LIMITS = DEFAULTS._replace(
    line=client_lines.LINE, open_requests=6, clients=3, output=1 << 14, patience=0.5, drain=0.5, positions=30
)
ENOUGH = 1000  # turns for a service that ends; it took some 400
PLENTY = 10_000  # turns for all that ends by itself; 30 positions of a client that also has a long search took 1,100
CLOCK, ERRORS = Clock(), []  # of the example at work
picks = st.integers(0, 3)


class Client:
    """A connection and what it must hear; ``rest``: of a Line that is sent in part."""

    def __init__(self, path, world):
        def might_be_full():
            return self.was_deaf or world.might_be_full()  # what it hears was perhaps said long ago

        self.wire, self.dialogue = SteppedWire(path), Dialogue(might_be_full, world.might_be_watched)
        self.rest, self.shut, self.was_deaf = None, False, False

    def say(self, line, cut=None):
        """Send a line, or its first ``cut`` bytes, where it has as many."""
        self.complete()
        if self.dialogue.ending and self.dialogue.clashes(line):
            return
        if cut is None or not cut <= len(line.data) <= LIMITS.line:
            self.rest = line, line.data
            self.complete()
        else:
            self.wire.write(line.data[:cut])
            self.rest = line, line.data[cut:]

    def complete(self):
        """Send what is left of a line."""
        if self.rest:
            line, rest = self.rest
            self.wire.write(rest + b"\n")
            self.dialogue.say(line)
            self.rest = None

    def say_no_more(self):
        """Shut down the sending side, perhaps in the middle of a line, which then ends there."""
        if self.rest:
            line, rest = self.rest
            self.dialogue.say(line if not rest else garbage(line.data[: len(line.data) - len(rest)]))
        self.rest, self.shut = None, True
        self.wire.shut()

    @property
    def has_clashes(self):
        """Whether refusals of lines that wait could not be told from each other at the end of the service."""
        waiting = [*self.dialogue.lines, *([self.rest[0]] if self.rest else ())]
        return any(self.dialogue.clashes(line, waiting[:index]) for index, line in enumerate(waiting))

    @property
    def long(self):
        """How many open searches do not end by themselves, lines that wait included."""
        waiting = [line.asked for line in self.dialogue.lines if line.act == "request"]
        return sum(asked.long and asked.kind == "answer" for asked in (*self.dialogue.searches, *waiting))


class Service(RuleBasedStateMachine):
    """A server and its clients; after each action both take some turns.

    What is drawn depends on nothing that the service does, or hypothesis would take its freedoms for flaky data.
    """

    path = None  # of the socket; the test sets it

    @initialize(deaths=st.dictionaries(st.sampled_from([2, 3]), st.floats(0.0, 0.5), max_size=2))
    def begin(self, deaths):
        """Workers die at these times of the cluster, except for the first one."""
        ERRORS.clear()
        CLOCK.now, self.descriptors = 0.0, descriptors()
        self.session = VirtualRanks(Faults(worker_timeout=0.1, deaths=deaths) if deaths else None)
        self.queue = SteppedQueue(self.session, MOST_WAITING)
        self.queue.watchers._most = MOST_WATCHERS
        self.server = SteppedServer(self.queue, self.path, LIMITS)
        self.clients: list[Client] = []
        self.answered, self.all_heard = 0, True  # positions of clients that have left; whether those are all
        self.gone = self.gone_requests = 0  # connections and requests that the service may not know to be over
        self.watches = self.deafened = self.actions = 0  # so far
        self.connect()

    def might_be_full(self):
        """Whether so many requests may wait."""
        return self.gone_requests + sum(client.dialogue.most_open for client in self.clients) >= MOST_WAITING

    def might_be_watched(self):
        """Whether there may be so many watches."""
        return self.watches > MOST_WATCHERS

    def turn(self, times=1):
        """Let the service and its clients go on."""
        for _ in range(times):
            for client in self.clients:
                client.wire.send()
            self.server.turn()
            assert self.server.stopping or not self.server.over, self.server.error
            for client in list(self.clients):
                for message in client.wire.hear():
                    client.dialogue.hear(message)
                if client.wire.ended:
                    self.part(client)
        assert all("does not read" in str(error) for error in ERRORS), ERRORS
        assert len(ERRORS) <= self.deafened

    def part(self, client):
        """The service has closed a connection."""
        dialogue = client.dialogue
        if dialogue.refused:
            assert len(self.clients) + self.gone > LIMITS.clients
        elif not (client.was_deaf or self.server.killed):
            assert client.shut or self.server.stopping
            dialogue.take_all()
            assert not dialogue.searches
        self.remove(client)

    def remove(self, client):
        """Neither the service nor a client hears more of the other."""
        dialogue = client.dialogue
        client.wire.close()
        self.clients.remove(client)
        self.gone += 1
        self.gone_requests += dialogue.most_open
        self.answered += dialogue.answers
        self.all_heard = self.all_heard and not (dialogue.open or dialogue.lines or client.was_deaf)

    def say(self, pick, said, cut=None):
        """A client sends Lines, except for long searches of which it has enough."""
        speakers = [client for client in self.clients if not (client.shut or self.server.over)]
        for line in said if speakers else ():
            client = speakers[pick % len(speakers)]
            if not (line.asked and line.asked.long) or client.long < MOST_LONG:
                client.say(line, cut if line is said[-1] else None)
                self.watches += bool(line.asked) and line.asked.kind == "cluster"
        self.actions += 1
        self.turn(3)

    @rule(often=st.integers(0, 3))
    def connect(self, often=0):
        """A client more. One that is too many is turned away; that does nothing, so it does not come often."""
        if self.server.over or often and len(self.clients) >= LIMITS.clients:
            return
        client = Client(self.path, self)
        client.dialogue.ending = self.server.stopping
        self.clients.append(client)
        self.turn(2)

    @rule(pick=picks, said=st.lists(lines(), min_size=1, max_size=6), cut=st.none() | st.integers(0, 99))
    def send(self, pick, said, cut):
        """Anything, the last line perhaps in part."""
        self.say(pick, said, cut)

    @rule(pick=picks, said=st.lists(searches() | searches() | long_searches(), min_size=2, max_size=6))
    def send_searches(self, pick, said):
        """Requests alone, so that some wait."""
        self.say(pick, said)

    @rule(pick=picks, said=st.lists(questions() | watches() | malformed(), min_size=1, max_size=3))
    def send_what_does_not_search(self, pick, said):
        """Among searches that are open."""
        self.say(pick, said)

    @rule(pick=picks, which=st.integers(0, 20), said=cancels() | searches())
    def cancel_or_repeat_what_is_open(self, pick, which, said):
        """By its id, which is of this client or of another one."""
        if names := [name for client in self.clients for name in client.dialogue.open]:
            self.say(pick, [said.renamed(names[which % len(names)])])

    @rule(pick=picks, rudely=st.booleans())
    def leave(self, pick, rudely):
        """A client has said all, perhaps in the middle of a line, and reads on, or rudely does not."""
        for client in self.clients[pick : pick + 1]:
            if rudely:
                self.remove(client)
            elif not (client.shut or self.server.over):
                client.say_no_more()
        self.turn(2)

    @rule(pick=picks)
    def stop_reading_or_read_again(self, pick):
        """A client that has stopped finds what was sent meanwhile, if it was not let go."""
        for client in self.clients[pick : pick + 1]:
            client.wire.reads, client.was_deaf = not client.wire.reads, True
            self.deafened += not client.wire.reads
        self.turn(20)

    @rule(seconds=st.sampled_from([0.0, 0.02, 0.2, 1.1]), turns=st.integers(1, 50))
    def wait(self, seconds, turns):
        """Time passes, at first some in which the service cannot do anything."""
        CLOCK.now += seconds
        self.turn(turns)

    @rule()
    def settle(self):
        """All clients read, and what can end has ended: then the service counts what they have open."""
        if self.server.stopping:
            return
        for client in self.clients:
            client.wire.reads = True
            client.complete()
        for _ in range(PLENTY // 10):
            self.turn(10)
            if self.counted() == self.expected():
                break
        open_and_waiting = [(list(client.dialogue.open), list(client.dialogue.lines)) for client in self.clients]
        assert self.counted() == self.expected(), open_and_waiting
        for client in self.clients:
            client.was_deaf = False
        self.gone = self.gone_requests = 0

    def counted(self):
        """What the service counts: clients, requests at work, requests that wait, watches, positions answered."""
        state = self.server.state()
        answered = state["answered"] if self.all_heard else None
        return state["clients"], state["active"], state["queued"], len(self.queue.watchers._watchers), answered

    def expected(self):
        """The same by the model, None where something must still end."""
        by_client = [client.dialogue.settled(LIMITS.open_requests) for client in self.clients]
        for requests in by_client:
            if requests is None:
                return None
            long = sum(asked.long and asked.kind != "cluster" for asked in requests)
            if long < OF_CLIENT and not all(asked.long for asked in requests):
                return None
        searches = [sum(asked.kind != "cluster" for asked in requests) for requests in by_client]
        active = sum(min(OF_CLIENT, number) for number in searches)
        watches = sum(map(len, by_client)) - sum(searches)
        answered = self.answered + sum(client.dialogue.answers for client in self.clients)
        return len(self.clients), active, sum(searches) - active, watches, answered if self.all_heard else None

    @rule(sure=st.integers(0, 3))
    def stop(self, sure):
        """The first signal: the service takes no more requests, and has some time for open ones. A second ends it."""
        if sure < 3 or self.actions < 10 or self.server.over:  # what follows is worth less
            return
        if any(client.has_clashes for client in self.clients):
            return
        self.server.signal()
        for client in self.clients:
            client.dialogue.ending = True
        self.turn()
        assert not self.server.killed or isinstance(self.server.error, KeyboardInterrupt)

    def teardown(self):
        """All clients leave, or have left; the service ends, and nothing is left."""
        if not hasattr(self, "server"):
            return
        try:
            if sys.exc_info()[0] is None:
                self.end()
        finally:
            self.server.kill()
            for client in self.clients:
                client.wire.close()
            self.session.close()

    def end(self):
        """Let all end, and look at what is left."""
        if not self.server.stopping:
            while self.clients:
                self.remove(self.clients[0])
            self.all_heard = False
            self.settle()
            assert self.queue.idle
            assert not self.session.cluster._master.has_runs
            self.server.signal()
        for _ in range(ENOUGH):
            CLOCK.now += 0.005  # of the 2.5 seconds that it may take
            self.turn()
            if self.server.over:
                break
        assert self.server.over
        for client in self.clients:
            client.wire.reads = True
        self.turn()
        assert self.server.killed or (self.server.status, self.server.error, self.queue.idle) == (0, None, True)
        assert not self.path.exists()
        assert not self.clients
        assert descriptors() == self.descriptors
        collect_garbage()
        assert self.server.killed or not self.queue.seen


ENDED = itertools.count(1)  # examples


def collect_garbage():
    """Collect the garbage of an example: the youngest generation, which has all of it while no collection is automatic.

    Now and then all is collected. To do so each time would take longer and longer, since hypothesis keeps something of
    each example.
    """
    gc.collect(2 if next(ENDED) % 100 == 0 else 0)


@pytest.fixture(scope="module", autouse=True)
def kernels():
    """All kernels are loaded, which takes real time, and scores known that answers must have."""
    with contextlib.closing(VirtualRanks()) as session:
        queue = RequestQueue(session)
        for how, texts in [*client_lines.SHORT, (client_lines.LONG, client_lines.LONG_TEXTS[:1])]:
            asked = Asked(*texts, progress=0.01, **how)
            queue.submit(asked)
            if how is client_lines.LONG:
                turn_until(queue, lambda asked=asked: asked.partial, 300.0)
                queue.cancel(asked)
            finish(queue, 300.0)
            if how == client_lines.SHORT[0][0]:
                client_lines.SCORES.update((text, asked.answers[index].score) for index, text in enumerate(texts))
        for how, texts in client_lines.BY_LINES:
            for form in ("plain", "jsonl"):
                LinesClient(queue).lines("\n".join(texts), format=form, **how)


def test_what_each_client_hears_and_what_is_left(tmp_path, monkeypatch, full, seed):
    print(f"seed {seed}")
    monkeypatch.setattr(request_queue, "_OF_CLIENT", OF_CLIENT)
    monkeypatch.setattr(Service, "path", tmp_path / "socket")
    install(monkeypatch, CLOCK, ERRORS)
    size = settings(max_examples=2000 if full else 50, stateful_step_count=50, deadline=None)
    gc.disable()
    try:
        run_state_machine_as_test(Service, settings=size)
    finally:
        gc.enable()
