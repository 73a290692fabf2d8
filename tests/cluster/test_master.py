"""The master as a state machine, with toy jobs: first by hand, then with workers and messages in random order."""

import itertools
import random
from collections import Counter, defaultdict, deque

import numpy as np
import pytest

from distsearch.cluster.master import Begin, Halt, Leave, Master, Received
from distsearch.cluster.messages import (
    END,
    JOBS,
    METRICS,
    METRICS_RECORD,
    PROGRESS,
    QUIT,
    READY,
    RESULTS,
    SETUP,
    START,
    STOP,
    STOPPED,
    Message,
    decode,
    encode,
    from_records,
)

from .toys import SETUP_TEXT, Source, jobs_of, results_payload, toy_worker

TWO_HOSTS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "a"}


class Talk:
    """One master, spoken to by hand."""

    def __init__(self, hosts):
        self.master = Master(hosts)
        self._hosts = hosts
        self.run = 0

    def begin(self, source, prefetch=2):
        self.run += 1
        return self.master.handle(Begin(SETUP_TEXT, source, prefetch))

    def say(self, worker, kind, payload=None, run=None):
        """A message from a worker; returns what the master sends."""
        message = Message(kind, run or self.run) if payload is None else Message(kind, run or self.run, payload)
        return self.master.handle(Received(worker, message))

    def answer(self, worker, nodes, seconds=1.0):
        return self.say(worker, RESULTS, results_payload(nodes, seconds))

    def all_ready(self):
        """Let all workers be ready, leaders first; return what the master sends at last."""
        sent = []
        for worker in self._hosts:
            sent = self.say(worker, READY)
        return sent


def workers(count):
    return dict.fromkeys(range(1, count + 1), "here")


def summary(sent):
    """(type, receiver) of messages."""
    return [(outgoing.message.type, outgoing.to) for outgoing in sent]


def jobs(sent):
    """(receiver, nodes) of the JOBS messages among others."""
    return [(outgoing.to, jobs_of(outgoing.message)) for outgoing in sent if outgoing.message.type == JOBS]


def started(count, source, prefetch=2):
    """Return (Talk, first messages) of a run whose workers are all ready."""
    talk = Talk(workers(count))
    talk.begin(source, prefetch)
    return talk, talk.all_ready()


def payload_of(record_type, **fields):
    record = np.zeros(1, record_type)
    for name, value in fields.items():
        record[name] = value
    return from_records(record)


# --- opening ---


def test_one_worker_of_each_host_opens_first():
    talk = Talk(TWO_HOSTS)
    sent = talk.begin(Source([1] * 9))
    assert sorted(summary(sent)) == [(SETUP, 1), (SETUP, 3)]
    assert all(outgoing.message.payload.tobytes() == SETUP_TEXT for outgoing in sent)
    assert summary(talk.say(3, READY)) == [(SETUP, 4)]
    assert sorted(summary(talk.say(1, READY))) == [(SETUP, 2), (SETUP, 5)]


def test_jobs_go_out_when_all_are_ready():
    talk = Talk(TWO_HOSTS)
    source = Source([1] * 9)
    talk.begin(source)
    for worker in (3, 1, 4, 5):
        assert not jobs(talk.say(worker, READY))
        assert not talk.master.state.started
    assert source.taken == []
    sent = talk.say(2, READY)
    assert talk.master.state.started
    assert summary(sent)[:5] == [(START, worker) for worker in TWO_HOSTS]
    assert {worker for worker, _ in jobs(sent)} == set(TWO_HOSTS)


# --- handing out ---


def test_everybody_has_a_job_before_anybody_has_two():
    _, sent = started(4, Source([1] * 100), prefetch=3)
    receivers = [worker for worker, _ in jobs(sent)]
    assert receivers == [1, 2, 3, 4] * 3


@pytest.mark.parametrize("prefetch", [1, 2, 5])
def test_no_more_than_prefetch_large_jobs_are_at_a_worker(prefetch, rng):
    source = Source([1] * 200)
    talk, sent = started(3, source, prefetch)
    out = defaultdict(list)
    while not source.done:
        for worker, nodes in jobs(sent):
            out[worker] += nodes
        assert max(map(len, out.values())) <= prefetch
        worker = rng.choice([worker for worker in out if out[worker]])
        sent = talk.answer(worker, [out[worker].pop(0)], seconds=0.5)


@pytest.mark.parametrize(("seconds", "batch"), [(1e-3, 1), (1e-4, 10), (1e-5, 100), (0.0, 1000)])
def test_small_jobs_travel_together(seconds, batch, rng):
    source = Source([1] * 200_000)
    talk, sent = started(2, source)
    out = defaultdict(list)
    for exchange in range(50):
        for worker, nodes in jobs(sent):
            assert exchange == 0 or len(nodes) == pytest.approx(batch, rel=0.1)
            out[worker] += nodes
        assert max(map(len, out.values())) <= 2.1 * batch
        worker = rng.choice((1, 2))
        done, out[worker] = out[worker], []
        sent = talk.answer(worker, done, seconds)


@pytest.mark.parametrize("count", [1, 3, 5, 6, 9])
def test_few_jobs_are_shared_out(count):
    source = Source([1] * count)
    _, sent = started(5, source, prefetch=4)
    shares = Counter(worker for worker, _ in source.taken)
    # with fewer left than workers, who is ready first is to have the next one
    assert sorted(shares.values()) == [1] * min(count, 5)
    assert all(len(nodes) == 1 for _, nodes in jobs(sent))


def test_who_went_without_gets_the_next_job():
    source = Source([1, 1], more=[1] * 8)
    talk, sent = started(4, source)
    assert [worker for worker, _ in jobs(sent)] == [1, 2]
    assert not jobs(talk.answer(1, [0]))
    sent = talk.answer(2, [1])
    assert {worker for worker, _ in jobs(sent)} == {1, 2, 3, 4}


def test_results_reach_the_source():
    source = Source([1] * 6)
    talk, sent = started(2, source)
    assert jobs(sent) == [(1, [0]), (2, [1]), (1, [2]), (2, [3])]
    talk.answer(2, [1, 3])
    talk.answer(1, [0])
    assert source.finished == [1, 3, 0]


def test_progress_is_of_the_jobs_at_work():
    talk, _ = started(2, Source([1] * 6))
    assert talk.say(1, PROGRESS, from_records(np.array([1000], np.int64))) == []
    talk.say(2, PROGRESS, from_records(np.array([500], np.int64)))
    talk.say(1, PROGRESS, from_records(np.array([2000], np.int64)))
    assert talk.master.state.boards_at_work == 2500
    talk.answer(1, [0])
    assert talk.master.state.boards_at_work == 500


# --- the end ---


def wind_up(talk, stopping):
    """Answer for workers that were told to stop, and for all at the end; return whether the run is over then."""
    sent = []
    for worker in stopping:
        sent = talk.say(worker, STOPPED)
    for worker in [outgoing.to for outgoing in sent if outgoing.message.type == END]:
        assert talk.master.running
        assert talk.say(worker, METRICS, payload_of(METRICS_RECORD, wall=worker)) == []
    return not talk.master.running


def test_a_run_ends_with_the_last_result():
    source = Source([1, 1])
    talk, _ = started(3, source)
    assert talk.answer(1, [0]) == []
    sent = talk.answer(2, [1])
    assert summary(sent) == [(END, 1), (END, 2), (END, 3)]
    for worker in (1, 2, 3):
        assert talk.master.running
        talk.say(worker, METRICS, payload_of(METRICS_RECORD, wall=worker))
    assert not talk.master.running
    assert {worker: float(record["wall"]) for worker, record in talk.master.metrics.items()} == {1: 1, 2: 2, 3: 3}


def test_a_source_that_has_enough_stops_the_others():
    source = Source([1] * 10, enough=1)
    talk, _ = started(3, source)
    sent = talk.answer(2, [1])
    assert summary(sent) == [(STOP, 1), (STOP, 2), (STOP, 3)]
    assert wind_up(talk, [1, 2, 3])
    assert set(talk.master.metrics) == {1, 2, 3}


def test_a_source_may_be_done_before_anybody_is_ready():
    talk = Talk(TWO_HOSTS)
    talk.begin(Source([]))
    assert talk.master.running
    assert talk.say(1, READY) == []
    sent = talk.say(3, READY)
    assert summary(sent) == [(END, 1), (END, 3)]  # nobody else was opened
    for worker in (1, 3):
        talk.say(worker, METRICS, payload_of(METRICS_RECORD))
    assert not talk.master.running
    assert set(talk.master.metrics) == {1, 3}
    assert not talk.master.state.started


def test_halt_before_anybody_is_ready():
    talk = Talk(TWO_HOSTS)
    talk.begin(Source([1] * 5))
    assert talk.master.handle(Halt()) == []
    assert talk.say(3, READY) == []
    assert summary(talk.say(1, READY)) == [(END, 1), (END, 3)]


def test_halt_while_some_are_ready():
    talk = Talk(TWO_HOSTS)
    source = Source([1] * 5)
    talk.begin(source)
    for worker in (1, 3, 4):
        talk.say(worker, READY)
    assert talk.master.handle(Halt()) == []
    assert talk.say(5, READY) == []
    assert summary(talk.say(2, READY)) == [(END, worker) for worker in TWO_HOSTS]
    assert source.taken == []


def test_halt_stops_those_at_work():
    talk, _ = started(3, Source([1, 1]))
    assert summary(talk.master.handle(Halt())) == [(STOP, 1), (STOP, 2)]
    assert talk.answer(1, [0]) == []
    assert talk.say(2, STOPPED) == []
    assert summary(talk.say(1, STOPPED)) == [(END, 1), (END, 2), (END, 3)]


def test_halt_twice_and_after_the_end_is_harmless():
    talk, _ = started(2, Source([1] * 5))
    assert summary(talk.master.handle(Halt())) == [(STOP, 1), (STOP, 2)]
    assert talk.master.handle(Halt()) == []
    assert wind_up(talk, [1, 2])
    assert talk.master.handle(Halt()) == []
    assert not talk.master.running
    source = Source([1] * 2)
    talk.begin(source)
    assert jobs(talk.all_ready())


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (READY, None),
        (RESULTS, results_payload([0])),
        (PROGRESS, from_records(np.array([9], np.int64))),
        (STOPPED, None),
        (METRICS, payload_of(METRICS_RECORD)),
    ],
    ids=["ready", "results", "progress", "stopped", "metrics"],
)
def test_late_messages_of_an_old_run_are_ignored(kind, payload):
    talk, _ = started(2, Source([1] * 5))
    talk.master.handle(Halt())
    assert wind_up(talk, [1, 2])
    source = Source([1] * 5)
    talk.begin(source)
    talk.all_ready()
    taken = list(source.taken)
    assert talk.say(1, kind, payload, run=talk.run - 1) == []
    assert source.taken == taken
    assert source.results == []
    assert talk.master.metrics == {}
    assert talk.master.state.boards_at_work == 0


def test_workers_are_let_go():
    talk = Talk(workers(3))
    assert summary(talk.master.handle(Leave())) == [(QUIT, 1), (QUIT, 2), (QUIT, 3)]


def test_an_unknown_event_is_refused():
    with pytest.raises(TypeError):
        Master(workers(1)).handle("hello")


# --- with workers, and messages that take any time ---


class Network:
    """A master and workers; messages between two of them keep their order, else anything may happen first."""

    def __init__(self, hosts, rng):
        self.master = Master(hosts)
        self.workers = {rank: toy_worker()[0] for rank in hosts}
        self._mail = defaultdict(deque)  # by (sender, receiver)
        self._rng = rng

    def run(self, source, prefetch, halt_after):
        """Have a source done; Halt comes after so many steps."""
        self._post(0, self.master.handle(Begin(SETUP_TEXT, source, prefetch)))
        for step in itertools.count():
            if step == halt_after:
                self._post(0, self.master.handle(Halt()))
            if not self.master.running:
                return
            possible = [pair for pair, mail in self._mail.items() if mail]
            possible += [rank for rank, worker in self.workers.items() if worker.has_work]
            assert possible, "everybody waits for everybody"
            self._do(self._rng.choice(possible))

    def _do(self, what):
        if isinstance(what, int):
            self._answer(what, self.workers[what].work())
            return
        sender, receiver = what
        message = decode(self._mail[what].popleft())
        if receiver:
            self._answer(receiver, self.workers[receiver].handle(message))
        else:
            self._post(0, self.master.handle(Received(sender, message)))

    def _answer(self, sender, messages):
        for message in messages:
            self._mail[sender, 0].append(encode(message))

    def _post(self, sender, sent):
        for outgoing in sent:
            self._mail[sender, outgoing.to].append(encode(outgoing.message))

    @property
    def silent(self):
        """Whether no message is on its way and nobody works."""
        return not any(self._mail.values()) and not any(worker.has_work for worker in self.workers.values())


def random_source(rng):
    """A Source with jobs of all sizes: none, few or many; perhaps with more of them later, or with enough before."""
    sizes = [int(10 ** rng.uniform(0, 5)) for _ in range(rng.choice((0, 1, 3, 10, 60)))]
    more = [int(10 ** rng.uniform(0, 5)) for _ in range(rng.choice((0, 0, 1, 20)))] if sizes else []
    enough = rng.randint(1, len(sizes)) if sizes and rng.random() < 0.3 else None
    return Source(sizes, more, enough), enough is None


def check_results(source, all_needed, halted):
    """No result without its job and none twice; all of them, unless the run was cut short."""
    taken = Counter(node for _, node in source.taken)
    answered = Counter(int(record["node"]) for record in source.results)
    assert max(taken.values(), default=1) == max(answered.values(), default=1) == 1
    assert answered.keys() <= taken.keys()
    if halted is None or source.done:
        assert source.done
    if all_needed and halted is None:
        assert answered == taken
        assert source.waiting == 0
        assert all(record["complete"] for record in source.results)


@pytest.mark.parametrize("part", range(5))
def test_every_run_ends_whatever_the_order_of_messages(part, full, seed):
    for game in range(400 if full else 20):
        rng = random.Random(f"{seed} {part} {game}")
        hosts = {rank: rng.choice("abc") for rank in range(1, rng.randint(1, 7) + 1)}
        network = Network(hosts, rng)
        for _ in range(3):
            source, all_needed = random_source(rng)
            halt_after = rng.choice((None, None, rng.randrange(20), rng.randrange(400)))
            network.run(source, rng.randint(1, 4), halt_after)
            check_results(source, all_needed, halt_after)
            assert network.silent
            assert network.master.metrics.keys() <= hosts.keys()
            if halt_after is None and source.taken:
                assert network.master.metrics.keys() == hosts.keys()
