"""The cluster of one rank."""

import pytest

from distsearch.api.options import Options
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster.local import InProcessCluster
from distsearch.games import othello
from distsearch.games.interface import Position
from distsearch.jobs.two_player import KINDS

from ..engines.positions import engine, rules, search, unfinished_states
from .toys import SETUP_TEXT, BatchRunner, Processor, Runner, Source, Stream, kinds


def never(_):
    """A watch that lets a run go on."""
    return False


@pytest.fixture(params=[Runner, BatchRunner])
def cluster(request):
    made = InProcessCluster(kinds(Processor(), request.param))
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


@pytest.mark.parametrize("looks", [1, 5])
def test_the_caller_may_end_a_run(cluster, looks):
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


def test_a_run_halted_before_it_started_took_no_time(cluster):
    source = Source([10**12] * 3)
    assert cluster.run(SETUP_TEXT, source, lambda state: True) == {}
    assert source.taken == []
    again = Source([5])
    assert cluster.run(SETUP_TEXT, again, never)[1]["jobs"] == 1
    other = SETUP_TEXT + b" "  # which the worker is not ready for
    assert cluster.run(other, source, lambda state: True) == {}  # no metrics of the run before


def turn_until(cluster, condition):
    while not condition():
        assert cluster.turn(), "nothing is left to do"


def test_a_short_job_of_another_client_does_not_wait_for_a_long_one(cluster):
    long, short = Source([10**12]), Source([10])
    first = cluster.begin(SETUP_TEXT, long, client=1)
    for _ in range(5):
        cluster.turn()
    second = cluster.begin(SETUP_TEXT, short, client=2)
    for _ in range(3):  # the slice at work, its own, and the message that ends it
        cluster.turn()
    assert short.done
    assert not cluster.is_open(second)
    assert cluster.is_open(first)
    cluster.halt(first)
    cluster.halt(first)
    turn_until(cluster, lambda: not cluster.is_open(first))
    assert not cluster.turn()
    assert len(long.results) == 1


def test_many_runs_at_once(cluster, rng):
    sources = [Source([rng.randrange(3000) for _ in range(rng.randrange(30))]) for _ in range(20)]
    runs = [cluster.begin(SETUP_TEXT, source, client=rng.randrange(4)) for source in sources]
    turn_until(cluster, lambda: not any(map(cluster.is_open, runs)))
    assert all(sorted(source.finished) == list(range(len(source.taken))) and source.done for source in sources)
    cluster.drop(SETUP_TEXT)
    again = Source([7])
    cluster.run(SETUP_TEXT, again, never)
    assert again.done


def test_a_source_may_go_on_as_long_as_it_likes(cluster):
    stream = Stream()
    run = cluster.begin(SETUP_TEXT, stream)
    for count in range(1, 6):
        stream.add(10, 20)
        cluster.more(run)
        turn_until(cluster, lambda count=count: len(stream.finished) == 2 * count)
        while cluster.turn():
            pass
        assert cluster.is_open(run)
    stream.close()
    cluster.more(run)
    assert not cluster.is_open(run)
    cluster.more(run)


def test_a_measured_run_tells_what_it_took_so_far(cluster):
    source = Source([10, 10, 10**12])
    run = cluster.begin(SETUP_TEXT, source, measured=True)
    turn_until(cluster, lambda: len(source.finished) == 2)
    cluster.request_metrics(run)
    assert cluster.metrics[1]["jobs"] == 2
    cluster.halt(run)
    turn_until(cluster, lambda: not cluster.is_open(run))


def test_the_caller_sees_the_run_begin(cluster):
    started = []
    cluster.run(SETUP_TEXT, Source([10**4] * 3), lambda state: started.append(state.started))
    assert started[-1]


def test_a_worker_spends_its_time_somewhere():
    cluster, r = InProcessCluster(KINDS), rules((8, 8))
    searcher = TwoPlayerSearcher(Options("othello", board=(8, 8), depth=15, evaluation="static"), cluster)
    shares = []
    for moves in ("f5d6", "f5f6", "f5f4"):  # of which the table knows nothing yet
        (outcome,) = searcher.search([othello.parse(moves, r)])
        shares.append(outcome.time_share)
    cluster.close()
    # when another process has the core between two readings of the clock, that time is in no timer: one run has to do
    assert any(abs(1 - sum(share.values())) <= 0.05 and share["busy"] > 0.8 for share in shares), shares


def test_a_search_gives_the_score_of_the_engine(rng):
    board, depth = (6, 6), 5
    cluster = InProcessCluster(KINDS)
    states = unfinished_states(rng, board, 3)
    options = Options("othello", board=board, depth=depth, evaluation="static", load_factor=10)
    outcomes = list(TwoPlayerSearcher(options, cluster).search([Position(state) for state in states]))
    cluster.close()
    for state, outcome in zip(states, outcomes, strict=True):
        if not outcome.proved:
            assert outcome.score == search(engine(board), state, depth).score
