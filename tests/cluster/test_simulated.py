"""The cluster in virtual time, with jobs of known sizes."""

import pytest

from distsearch.cluster.simulated import NETWORKS, Processors, SimulatedCluster

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
