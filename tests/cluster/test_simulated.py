"""The cluster in virtual time, with jobs of known sizes."""

import random

import pytest

from distsearch.cluster.master import EveryWorkerLostError
from distsearch.cluster.simulated import NETWORKS, Faults, Network, Processors, SimulatedCluster
from distsearch.cluster.worker import SLICE

from .toys import SETUP_TEXT, Clock, Source, kinds

ALONE, BUSY = 1e6, 5e5  # nodes a second


def seconds(sizes, workers, **processors):
    """What jobs of so many nodes take."""
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


def faulty(workers, **faults):
    """A cluster where a worker is lost after half a second of silence."""
    return SimulatedCluster(
        kinds(Clock()), workers, NETWORKS["host"], Processors(ALONE), faults=Faults(worker_timeout=0.5, **faults)
    )


def test_a_dead_worker_is_missed_after_the_deadline():
    cluster, source = faulty(2, deaths={1: 1.0}), Source([3_000_000] * 2)
    noticed = []

    def watch(_):
        if cluster.lost and not noticed:
            noticed.append(cluster.clock())

    metrics = cluster.run(SETUP_TEXT, source, watch)
    assert 1.25 < noticed[0] < 1.6  # it was heard from when it was asked last
    assert cluster.lost == [(1, "virtual0")]
    assert cluster.rejoined == []
    assert source.finished == [1, 0]
    assert cluster.clock() == pytest.approx(6, rel=0.02)
    assert set(metrics) == {2}


def test_what_a_worker_sent_before_it_died_counts():
    cluster, source = faulty(2, deaths={1: 0.15}), Source([100_000, 1_000_000])
    cluster.run(SETUP_TEXT, source, lambda _: False)
    assert source.taken == [(1, 0), (2, 1)]
    assert cluster.lost == [(1, "virtual0")]


def test_a_worker_that_is_too_slow_is_taken_for_lost_and_comes_back():
    cluster, source = faulty(2, slow={1: 1000}), Source([2_000_000] * 3)
    cluster.run(SETUP_TEXT, source, lambda _: False)  # 1000 nodes, its first slice, take a second
    assert cluster.lost[0] == cluster.rejoined[0] == (1, "virtual0")
    assert sorted(source.finished) == [0, 1, 2]
    assert source.done


def test_late_messages_do_no_harm():
    cluster, source = faulty(3, late={1: 0.5, 2: 0.5}, delay=1.0), Source([50_000] * 300)
    cluster.run(SETUP_TEXT, source, lambda _: False)
    assert sorted(source.finished) == list(range(300))
    assert cluster.ignored > 0
    assert cluster.rejoined


def test_when_all_are_dead_the_run_ends_with_an_error():
    cluster, source = faulty(3, deaths={1: 0.1, 2: 0.2, 3: 0.3}), Source([10**9] * 3)
    with pytest.raises(EveryWorkerLostError):
        cluster.run(SETUP_TEXT, source, lambda _: False)
    assert len(cluster.lost) == 3
    assert not cluster.is_open(cluster.current)


def test_no_worker_is_lost_while_there_are_no_runs():
    cluster = faulty(2, deaths={1: 0.0})
    assert not cluster.turn()
    assert cluster.clock() == 0


def test_a_machine_without_faults_repeats_what_it_did_before(seed):
    times = []
    for faults in (None, Faults(worker_timeout=1e9)):
        processors = Processors(ALONE, BUSY, spread=0.2, jitter=0.1)
        cluster = SimulatedCluster(kinds(Clock()), 5, NETWORKS["tcp"], processors, seed, faults)
        cluster.run(SETUP_TEXT, Source([10_000] * 50), lambda _: False)
        times.append(cluster.clock())
    assert times[0] == times[1]


@pytest.mark.parametrize("slow", [4, 100])
def test_the_last_worker_is_waited_for_though_it_is_slow(slow):
    """With slices of about half a deadline; a hundred times that is more than ten deadlines."""
    deadline = 2 * SLICE
    faults = Faults(deadline, deaths={1: 1e-6}, slow={2: slow}, late={}, delay=0.0)
    cluster = SimulatedCluster(kinds(Clock()), 2, NETWORKS["host"], Processors(ALONE), faults=faults)
    source = Source([100_000] * 3)
    if slow < 10:
        cluster.run(SETUP_TEXT, source, lambda _: False)
        assert source.done
        assert [rank for rank, _ in cluster.lost] == [1]
    else:
        with pytest.raises(EveryWorkerLostError):
            cluster.run(SETUP_TEXT, source, lambda _: False)
