"""The cluster in virtual time, with jobs of known sizes."""

import random

import pytest

from distsearch.cluster.simulated import NETWORKS, Network, Processors, SimulatedCluster
from distsearch.cluster.worker import SLICE

from .toys import SETUP_TEXT, Clock, Source, kinds

ALONE, BUSY = 1e6, 5e5  # boards a second


def seconds(sizes, workers, **processors):
    """What jobs of so many boards take."""
    cluster = SimulatedCluster(kinds(Clock()), workers, NETWORKS["host"], Processors(ALONE, **processors))
    source = Source(sizes)
    cluster.run(SETUP_TEXT, source, lambda _: False)
    assert source.done
    return cluster.clock()


@pytest.mark.parametrize(
    "sizes, workers, expected",
    [
        ([1_000_000], 1, 2.0),  # a single worker is all of them
        ([1_000_000], 2, 1.0),
        ([1_000_000, 1_000_000], 2, 2.0),
        ([1_000_000, 100_000], 2, 0.2 + 0.9),  # the longer job is faster when the other is done
        ([1_000_000, 1_000_000], 3, 1 / 0.75),  # half-way between the two rates
    ],
)
def test_workers_at_work_slow_each_other_down(sizes, workers, expected):
    assert seconds(sizes, workers, busy_rate=BUSY) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("busy_rate", [None, ALONE])
def test_or_they_do_not(busy_rate):
    assert seconds([1_000_000] * 3, 3, busy_rate=busy_rate) == pytest.approx(1, rel=0.02)


def run_all(seed):
    """Begin sources at random moments and have them done; return (their jobs by worker in order, seconds)."""
    chance = random.Random(seed)
    network = Network(chance.choice((1e-6, 1e-4, 1e-2)), 1e8, jitter=chance.choice((0, 1e-5, 1e-3)))
    processors = Processors(ALONE, BUSY, spread=0.2, jitter=0.1)
    cluster = SimulatedCluster(kinds(Clock()), chance.randint(1, 20), network, processors, seed)
    sources, runs = [], []
    for _ in range(chance.randint(1, 10)):
        sizes = [int(10 ** chance.uniform(0, 5)) for _ in range(chance.choice((0, 1, 5, 100)))]
        source = Source(sizes, more=sizes[:5])
        measured = chance.random() < 0.3
        runs.append(cluster.begin(SETUP_TEXT, source, client=chance.randrange(3), measured=measured))
        sources.append(source)
        for _ in range(int(10 ** chance.uniform(0, 3))):
            cluster.turn()
    while any(map(cluster.is_open, runs)):
        assert cluster.turn(), "everybody waits for everybody"
    for source in sources:
        assert source.done
        assert sorted(source.finished) == sorted(node for _, node in source.taken) == list(range(len(source.taken)))
    return [source.taken for source in sources], cluster.clock()


@pytest.mark.parametrize("part", range(4))
def test_runs_that_begin_at_random_moments_are_all_done(part, full, seed):
    for game in range(50 if full else 5):
        run_all(f"{seed} {part} {game}")


def test_a_simulation_repeats_itself(seed):
    assert run_all(seed) == run_all(seed)


@pytest.mark.parametrize("workers", [1, 4])
def test_a_short_job_of_another_client_takes_about_two_slices(workers):
    cluster = SimulatedCluster(kinds(Clock()), workers, NETWORKS["host"], Processors(ALONE))
    cluster.begin(SETUP_TEXT, Source([10**9] * 50), client=1)
    while cluster.clock() < 0.1:
        cluster.turn()
    for _ in range(20):
        source, began = Source([900]), cluster.clock()
        run = cluster.begin(SETUP_TEXT, source, client=2)
        while cluster.is_open(run):
            cluster.turn()
        assert source.done
        # the master may nap for a millisecond before it looks at the answer
        assert cluster.clock() - began <= 2 * SLICE + 1.2e-3
