"""Tasks and the clock: when time counts, when partial answers come, and what nodes are counted."""

import pytest

from distsearch.cluster.master import State
from distsearch.server.running_request import Deepenings, Positions

from .queue_clients import EASY, SCORES, Asked, alone


class Ranks:
    """A cluster whose runs stand still until they are told to go on: they are the session's, one at a time."""

    def __init__(self, cluster):
        self._cluster, self.halted, self.begun, self.ready = cluster, 0, 0, False

    def begin(self, setup, source, **how):
        self.begun += 1
        return self._cluster.begin(setup, source, **how)

    def halt(self, run):
        self.halted += 1
        self._cluster.halt(run)

    def is_open(self, run):
        return self._cluster.is_open(run)

    def failure(self, run):
        return self._cluster.failure(run)

    def state(self, run):
        return State(self.ready, self._cluster.state(run).nodes_at_work)

    def work(self, true):
        """Let the workers go on until something is true."""
        while not true():
            assert self._cluster.turn()


@pytest.fixture
def session():
    with alone() as made:
        yield made


@pytest.fixture
def ranks(session):
    return Ranks(session.cluster)


def task(session, ranks, asked):
    searcher = session.searcher(asked.options)
    return (Deepenings if searcher.deepening else Positions)(ranks, searcher, asked)


def test_time_counts_from_when_a_worker_is_ready(session, ranks):
    asked = Asked("startpos", game="othello", time=5.0)
    deepenings = task(session, ranks, asked)
    ranks.work(lambda: deepenings._source.completed)
    for now in (100.0, 200.0, 300.0):  # a kernel is being compiled
        deepenings.turn(now)
    ranks.ready = True
    deepenings.turn(304.9)
    assert ranks.halted == 0
    deepenings.turn(305.1)
    assert ranks.halted == 1
    deepenings.turn(305.2)
    assert ranks.halted == 1
    ranks.work(lambda: not deepenings._open)
    deepenings.turn(305.3)
    assert deepenings.over
    assert asked.answers[0].complete
    assert asked.answers[0].seconds == pytest.approx(5.3)


def test_the_shortest_time_is_enough_for_an_answer(session, ranks):
    """And rank 0, which has others to see to, need not find one."""
    asked = Asked("startpos", game="othello", time=1e-9)
    deepenings = task(session, ranks, asked)
    ranks.ready = True
    deepenings.turn(1e9)
    assert ranks.halted == 0
    ranks.work(lambda: deepenings._source.completed)
    deepenings.turn(1e9 + 1)
    ranks.work(lambda: not deepenings._open)
    deepenings.turn(1e9 + 2)
    assert deepenings.over
    assert asked.answers[0].complete
    assert asked.answers[0].move is not None


def test_positions_of_a_deepening_search_are_taken_one_after_another(session, ranks):
    asked = Asked(*EASY, nodes=400)
    deepenings, nodes = task(session, ranks, asked), [0]
    ranks.ready = True
    for done in (1, 2):
        assert ranks.begun == done
        ranks.work(lambda: not deepenings._open)
        deepenings.turn(1e9)
        nodes.append(deepenings.nodes)
        assert deepenings.answered == done
    assert deepenings.over
    assert nodes == sorted(nodes)
    assert nodes[-1] >= sum(outcome.nodes for outcome in asked.answers.values())


@pytest.mark.parametrize("options", [{"time": 60.0}, {"exact": True}], ids=str)
def test_partial_answers_come_at_their_interval(session, ranks, options):
    asked = Asked("startpos", game="othello", progress=0.5, **options)
    running = task(session, ranks, asked)
    ranks.ready = True
    began = running._next_progress
    for steps, told in ((-0.1, 0), (0.1, 1), (0.2, 1), (0.55, 1), (0.7, 2)):
        running.turn(began + steps)
        assert len(asked.partial) == told
    assert not any(outcome.complete for outcome in asked.partial)
    running.cancel()
    running.turn(began + 100)
    assert len(asked.partial) == 2


@pytest.mark.parametrize("options", [{"exact": True}, {"nodes": 400}], ids=str)
def test_what_came_before_a_cancel_is_not_told_after_it(session, ranks, options):
    asked = Asked(*EASY, **options)
    running = task(session, ranks, asked)
    ranks.ready = True
    ranks.work(lambda: not running._open)
    running.cancel()
    running.turn(1e9)
    assert running.over
    assert running.state == "cancelled"
    assert asked.answers == {}


def test_the_first_reason_to_end_is_the_one_that_is_told(session, ranks):
    running = task(session, ranks, Asked(*EASY, exact=True))
    running.cancel()
    running.fail("too late")
    assert (running.state, running.failure, ranks.halted) == ("cancelled", "", 1)


def test_answers_are_told_as_they_come(session, ranks):
    asked = Asked(*EASY, "startpos", exact=True)  # the last one takes minutes
    positions = task(session, ranks, asked)
    ranks.work(lambda: positions._stream.answered >= 2)
    positions.turn(1e9)
    while positions.more:  # a turn tells but a few milliseconds long
        positions.turn(1e9)
    assert {index: outcome.score for index, outcome in asked.answers.items()} == dict(enumerate(SCORES))
    assert not positions.over
    positions.cancel()
    ranks.work(lambda: not positions._open)
    positions.turn(1e9)
    assert positions.over
