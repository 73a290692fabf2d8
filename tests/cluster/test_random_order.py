"""Master and workers with messages that take any time, and any number of runs that begin, halt and end meanwhile."""

import random
from collections import Counter, defaultdict, deque

import pytest

from distsearch.cluster.events import Begin, Drop, Halt, More, Received
from distsearch.cluster.master import Master
from distsearch.cluster.messages import decode, encode
from distsearch.cluster.submaster import Submaster, blocks

from .toys import BatchRunner, Clock, Runner, Source, Stream, kinds, toy_worker

SETUPS = [b'{"kind": "toy", "rate": %d}' % rate for rate in (10**5, 10**6, 10**7)]


class Network:
    """A master and workers; messages between two of them keep their order, else anything may happen first.

    hosts: of all ranks but the master's; groups: how many of them are sub-masters.
    """

    def __init__(self, hosts, rng, groups=0):
        leaders = blocks(len(hosts) + 1, groups)
        behind = {leader: {rank: hosts[rank] for rank in ranks} for leader, ranks in leaders.items()}
        self.master = Master({rank: hosts[rank] for rank in leaders or hosts}, submasters=behind)
        self.groups = {leader: Submaster(known, kinds(Clock()), {}) for leader, known in behind.items()}
        self._above = {rank: leader for leader, ranks in leaders.items() for rank in ranks}
        ranks = self._above if leaders else hosts
        self.workers = {rank: toy_worker(rng.choice((Runner, BatchRunner)))[0] for rank in ranks}
        self._mail = defaultdict(deque)  # by (sender, receiver)
        self._rng = rng

    def act(self, event):
        """The master takes an event in."""
        for outgoing in self.master.handle(event):
            self._mail[0, outgoing.to].append(encode(outgoing.message))

    def step(self):
        """Let one thing happen that can; return whether there was any."""
        possible = [pair for pair, mail in self._mail.items() if mail]
        possible += [rank for rank, worker in self.workers.items() if worker.has_work]
        if possible:
            self._do(self._rng.choice(possible))
        return bool(possible)

    def steps(self, most=None):
        """Let so many things happen, or all that can."""
        while most != 0 and self.step():
            most = most and most - 1

    def _do(self, what):
        if isinstance(what, int):
            self._answer(what, self.workers[what].work())
            return
        sender, receiver = what
        message = decode(self._mail[what].popleft())
        if receiver in self.groups:
            for outgoing in self.groups[receiver].handle(Received(sender, message)):
                self._mail[receiver, outgoing.to].append(encode(outgoing.message))
        elif receiver:
            self._answer(receiver, self.workers[receiver].handle(message))
        else:
            self.act(Received(sender, message))

    def _answer(self, sender, messages):
        for message in messages:
            self._mail[sender, self._above.get(sender, 0)].append(encode(message))


def random_network(rng):
    ranks = rng.randint(1, 9)
    return Network({rank: rng.choice("abc") for rank in range(1, ranks + 1)}, rng, rng.randint(0, ranks // 2))


def random_sizes(rng, counts):
    return [int(10 ** rng.uniform(0, 5)) for _ in range(rng.choice(counts))]


def random_source(rng):
    """A Source with jobs of all sizes: none, few or many; perhaps with more of them later, or with enough before."""
    sizes = random_sizes(rng, (0, 1, 3, 10, 60))
    more = random_sizes(rng, (0, 0, 1, 20)) if sizes else []
    enough = rng.randint(1, len(sizes)) if sizes and rng.random() < 0.3 else None
    return Source(sizes, more, enough), enough is None


def random_begin(rng, number, source):
    return Begin(
        number,
        rng.choice(SETUPS),
        source,
        prefetch=rng.randint(1, 4),
        client=rng.randrange(3),
        weight=2 ** rng.uniform(-3, 3),
        measured=rng.random() < 0.4,
    )


def check_results(source, all_needed, halted):
    """No result without its job and none twice; all of them, unless the run was cut short."""
    taken = Counter(node for _, node in source.taken)
    answered = Counter(int(record["job_id"]) for record in source.results)
    assert max(taken.values(), default=1) == max(answered.values(), default=1) == 1
    assert answered.keys() <= taken.keys()
    assert halted or source.done
    if all_needed and not halted:
        assert answered == taken
        assert source.waiting == 0
        assert all(record["complete"] for record in source.results)


parts = pytest.mark.parametrize("part", range(5))


def games(part, full, seed):
    """Random numbers for each game of a part."""
    return [random.Random(f"{seed} {part} {game}") for game in range(300 if full else 15)]


@parts
def test_every_run_ends_whatever_the_order_of_messages(part, full, seed):
    for rng in games(part, full, seed):
        network = random_network(rng)
        for number in range(1, 4):
            source, all_needed = random_source(rng)
            halt_after = rng.choice((None, None, rng.randrange(20), rng.randrange(400)))
            begin = random_begin(rng, number, source)
            network.act(begin)
            steps, started = 0, False
            while network.master.is_open(number):
                started = started or network.master.state(number).started
                if steps == halt_after:
                    network.act(Halt(number))
                elif not network.step():
                    raise AssertionError("everybody waits for everybody")
                steps += 1
            check_results(source, all_needed, halt_after is not None)
            if begin.measured:
                found = network.master.metrics
                assert found.keys() == (network.workers.keys() if started else set())
                assert halt_after is not None or started
                assert sum(int(record["jobs"]) for record in found.values()) == len(source.finished)
            while network.step():  # workers that go on making themselves ready
                assert not any(worker.has_work for worker in network.workers.values())


@parts
def test_runs_do_not_get_into_each_others_way(part, full, seed):
    """Many at once, each begun and perhaps halted at any moment, even twice; setups are dropped in between."""
    for rng in games(part, full, seed):
        network = random_network(rng)
        is_open = network.master.is_open
        begun, all_needed, halted, prepared = {}, {}, set(), set()
        for number in range(1, rng.randint(2, 12)):
            source, all_needed[number] = random_source(rng)
            begin = begun[number] = random_begin(rng, number, source)
            network.act(begin)
            network.steps(int(10 ** rng.uniform(0, 2.5)))
            other = rng.randint(1, number)
            if rng.random() < 0.3:
                halted |= {other} if is_open(other) else set()
                network.act(Halt(other))
            prepared.add(begin.setup)
            used = {begin.setup for begin in begun.values() if is_open(begin.run)}
            for setup in sorted(prepared - used)[:1]:
                network.act(Drop(setup))
                prepared.remove(setup)
        network.steps()
        for number, begin in begun.items():
            assert not is_open(number)
            check_results(begin.source, all_needed[number], number in halted)


@parts
def test_jobs_that_come_at_any_moment_are_done(part, full, seed):
    for rng in games(part, full, seed):
        network = random_network(rng)
        streams = {number: Stream() for number in range(1, rng.randint(2, 6))}
        for number, stream in streams.items():
            network.act(random_begin(rng, number, stream))
        given = Counter()
        for _ in range(rng.randrange(60)):
            number = rng.choice(list(streams))
            sizes = random_sizes(rng, (1, 2, 20))
            streams[number].add(*sizes)
            given[number] += len(sizes)
            network.act(More(number))
            network.steps(int(10 ** rng.uniform(0, 2)))
        network.steps()
        for number, stream in streams.items():
            assert sorted(stream.finished) == list(range(given[number]))
            assert network.master.is_open(number)
            stream.close()
            network.act(More(number))
        network.steps()
        assert not any(map(network.master.is_open, streams))
