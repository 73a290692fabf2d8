"""The cluster of one rank."""

import pytest

from distsearch.cluster.local import LocalCluster
from distsearch.games import othello
from distsearch.games.interface import Position
from distsearch.service.options import Options
from distsearch.service.search import Searcher
from distsearch.tree.jobs import KINDS

from ..search.positions import engine, rules, search, unfinished_states
from .toys import SETUP_TEXT, Processor, Source, kinds


def never(_):
    """A watch that lets a run go on."""
    return False


@pytest.fixture
def cluster():
    made = LocalCluster(kinds(Processor()))
    yield made
    made.close()


@pytest.mark.parametrize("sizes", [[], [1], [50_000], [10] * 300, [10, 30_000, 3]], ids=len)
def test_every_job_is_done_once(cluster, sizes):
    source = Source(sizes)
    metrics = cluster.run(SETUP_TEXT, source, never)
    assert sorted(source.finished) == list(range(len(sizes)))
    assert all(record["complete"] for record in source.results)
    assert list(metrics) == [1]
    assert metrics[1]["jobs"] == len(sizes)


def test_one_run_follows_another(cluster):
    for sizes in ([10] * 5, [20_000], [], [7]):
        source = Source(sizes, more=[20] * len(sizes))
        metrics = cluster.run(SETUP_TEXT, source, never)
        assert source.done
        assert metrics[1]["jobs"] == 2 * len(sizes)


@pytest.mark.parametrize("looks", [0, 1, 5])
def test_whoever_watches_may_end_it(cluster, looks):
    seen = []

    def watch(state):
        seen.append(state)
        return len(seen) > looks

    source = Source([10**12] * 3)
    metrics = cluster.run(SETUP_TEXT, source, watch)
    assert len(seen) == looks + 1
    assert not source.done
    assert source.finished == []
    assert len(source.results) <= 1
    assert metrics[1]["jobs"] == 0
    again = Source([5])
    cluster.run(SETUP_TEXT, again, never)
    assert again.done


def test_who_watches_sees_the_run_begin(cluster):
    started = []
    cluster.run(SETUP_TEXT, Source([10**4] * 3), lambda state: started.append(state.started))
    assert started[-1]


def test_a_worker_spends_its_time_somewhere():
    cluster = LocalCluster(KINDS)
    options = Options("othello", board=(8, 8), depth=13, evaluation="static")
    state = othello.start(rules((8, 8))).state
    (outcome,) = Searcher(options, cluster).search([Position(state)])
    cluster.close()
    assert sum(outcome.time_share.values()) == pytest.approx(1, abs=0.05)
    assert outcome.time_share["busy"] > 0.8


def test_a_search_gives_the_score_of_the_engine(rng):
    board, depth = (6, 6), 5
    cluster = LocalCluster(KINDS)
    states = unfinished_states(rng, board, 3)
    options = Options("othello", board=board, depth=depth, evaluation="static", load_factor=10)
    outcomes = list(Searcher(options, cluster).search([Position(state) for state in states]))
    cluster.close()
    for state, outcome in zip(states, outcomes, strict=True):
        if not outcome.proved:
            assert outcome.score == search(engine(board), state, depth).score
