"""What all transports offer their users, as far as no transport is needed for it."""

import pytest

from distsearch.cluster import backoff
from distsearch.cluster.local import InProcessCluster

from .toys import SETUP_TEXT, Processor, Sleeper, Source, Stream, kinds

SHORTEST, LONGEST = 50e-6, 5e-3  # seconds


@pytest.fixture
def idle(monkeypatch):
    """``idle(cluster)``: nothing happens for a minute."""
    time = Sleeper()
    monkeypatch.setattr(backoff, "time", time)

    def wait(cluster):
        while cluster.turn():
            pass
        time.now += 60
        assert cluster.pause == LONGEST

    return wait


def test_after_a_request_the_next_look_is_soon(idle):
    cluster = InProcessCluster(kinds(Processor()))
    stream = Stream()
    idle(cluster)
    run = cluster.begin(SETUP_TEXT, stream)
    assert cluster.pause == SHORTEST
    idle(cluster)
    stream.add(10)
    cluster.more(run)
    assert cluster.pause == SHORTEST
    idle(cluster)
    cluster.halt(run)
    assert cluster.pause == SHORTEST


def test_runs_have_numbers_of_their_own():
    cluster = InProcessCluster(kinds(Processor()))
    runs = [cluster.begin(SETUP_TEXT, Source([10])) for _ in range(5)]
    while cluster.turn():
        pass
    assert len({*runs, cluster.begin(SETUP_TEXT, Source([10]))}) == 6


def test_a_run_whose_watcher_fails_is_not_left_behind():
    cluster = InProcessCluster(kinds(Processor()))

    def watch(state):
        if state.started:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cluster.run(SETUP_TEXT, Source([10**9]), watch)
    for _ in range(10):
        cluster.turn()
    assert not cluster.is_open(cluster.current)
    assert not cluster.turn()
