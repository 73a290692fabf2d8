"""News: which nodes' bounds are told to which hosts, and how often."""

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.tree import asking, schedule
from distsearch.tree.deepening import Deepening
from distsearch.tree.jobs import SUBTREE_RESULT, TO_THE_END
from distsearch.tree.news import _MOST, KEPT, News
from distsearch.tree.nodes import GROWN, INFINITY, NodeArray
from distsearch.tree.schedule import Schedule

from ..search.positions import rules, unfinished_states
from .driving import grower

HOSTS = {1: 0, 2: 0, 3: 1, 4: 2}
DEAR = 1000  # boards


def rows(told, words):
    """What was told, as rows of [left, low, high, words of the state]."""
    return told.view(np.int64).reshape(-1, 3 + words).tolist()


def array_of(count):
    """A NodeArray of so many nodes; node i has i left and is worth from i to 2i."""
    nodes = NodeArray(2)
    for i in range(count):
        nodes.add_root((i, 100 + i), i)
        nodes.low[i], nodes.high[i] = i, 2 * i
    return nodes


@pytest.fixture
def news():
    """(News, what it is of, ``told(worker)``: the nodes that a worker is told of now)."""
    nodes, kept = array_of(2 * KEPT), News(HOSTS)

    def told(worker):
        found = rows(kept.tell(worker, nodes), 2)
        assert found == [[i, i, 2 * i, i, 100 + i] for i, *_ in found]
        return [i for i, *_ in found]

    return kept, nodes, told


def test_each_host_is_told_once(news):
    kept, nodes, told = news
    kept.note(np.array([5, 7]), nodes, finder=3)
    assert told(1) == [5, 7]
    assert told(2) == []  # of the same host, which shares its table
    assert told(4) == [5, 7]
    kept.note(np.array([9]), nodes, finder=3)
    assert (told(2), told(4), told(1)) == ([9], [9], [])


def test_no_host_is_told_what_it_found(news):
    kept, nodes, told = news
    kept.note(np.array([5]), nodes, finder=1)
    kept.note(np.array([6]), nodes, finder=3)
    assert (told(2), told(3), told(4)) == ([6], [5], [5, 6])


def test_what_follows_from_several_is_news_to_all(news):
    kept, nodes, told = news
    nodes.status[5] = GROWN
    kept.note(np.array([5, 6]), nodes, finder=1)
    assert (told(1), told(3)) == ([5], [5, 6])


def test_what_is_known_now_is_told(news):
    kept, nodes, _ = news
    kept.note(np.array([5]), nodes, finder=1)
    nodes.low[5] = 8
    kept.note(np.array([5]), nodes, finder=1)
    assert rows(kept.tell(3, nodes), 2) == [[5, 8, 10, 5, 105]]


def test_messages_are_small_and_old_news_are_forgotten(news):
    kept, nodes, told = news
    kept.note(np.arange(KEPT), nodes, finder=1)
    kept.note(np.arange(KEPT, KEPT + 10), nodes, finder=1)
    for begin in range(10, KEPT + 10, _MOST):
        assert told(3) == list(range(begin, min(begin + _MOST, KEPT + 10)))
    assert told(3) == []


# --- what a schedule makes news ---


@pytest.fixture
def source(rng, monkeypatch):
    """``source(depth, policy)``: a Schedule of a random position whose nodes of DEAR boards and more are news."""
    monkeypatch.setattr(schedule, "BOARDS", DEAR)

    def make(depth=TO_THE_END, policy="brothers"):
        state = unfinished_states(rng, (6, 6), 1, most_empties=16)[0]
        return Schedule(grower((6, 6)), [state], depth, 4, policy, win=0 if depth == TO_THE_END else 100, forced=1)

    return make


def results(jobs, boards, score=2, evaluated=0):
    found = np.zeros(len(jobs), SUBTREE_RESULT)
    found["node"], found["complete"], found["score"] = jobs["node"], 1, score
    found["boards"], found["evaluated"] = boards, evaluated
    return found


def answered(made, boards, worker=1, **how):
    """Have a job of a worker answered; return the state."""
    jobs = made.take(1, worker)
    made.finish(results(jobs, boards, **how))
    return [int(word) for word in jobs["state"][0].view(np.int64)]


def told(made, worker):
    """The states that a worker is told of."""
    return [row[3:] for row in rows(made.news(worker), len(made.nodes.state[0]))]


def test_what_took_many_boards_is_news(source):
    made = source()
    assert made.spread(HOSTS)
    cheap, dear = answered(made, DEAR - 1), answered(made, DEAR)
    found = told(made, 3)
    assert dear in found
    assert cheap not in found
    assert dear not in told(made, 1)  # who found it
    assert told(made, 2) == told(made, 3) == []


def test_a_grown_node_is_news_to_all(source):
    made = source()
    made.spread(HOSTS)
    while not made.done:
        answered(made, DEAR)
    root = made.nodes.state[0].view(np.int64).tolist()
    assert root in told(made, 1)
    assert root in told(made, 3)


def test_nothing_is_listed_where_nobody_wants_it(source):
    made = source()
    assert made._control[schedule.HOT] == INFINITY
    while not made.done:
        answered(made, DEAR)
    assert made._control[schedule.NEWS] == 0


def test_a_fixed_policy_has_none(source):
    assert not source(policy="pool").spread(HOSTS)


def test_a_listed_node_stays_when_the_arrays_grow(source):
    made = source()
    made.spread(HOSTS)
    jobs = made.take(1, 1)
    made.nodes.cost[:] = DEAR
    made.nodes.low[0] = -36
    asking.improved(*made._arrays, 0)
    made.nodes.reserve(made.nodes.capacity)
    made._make_room()
    made.finish(results(jobs, 1))
    assert made.nodes.state[0].view(np.int64).tolist() in told(made, 3)


def test_of_a_depth_only_once_it_has_cut_off_a_line(source):
    """Until then the score may be the game's own, which news would hide."""
    made = source(depth=5)
    made.spread(HOSTS)
    answered(made, DEAR, evaluated=0)
    assert told(made, 3) == []
    dear = answered(made, DEAR, evaluated=1)
    assert dear in told(made, 3)


def test_a_deepening_spreads_each_of_its_schedules(source, rng):
    state = othello.start(rules((6, 6))).state

    def make(depth, before=None, snapshot=None):
        return Schedule(grower((6, 6)), [state], depth, 4, "brothers", win=100, before=before)

    made = Deepening(make, 4, first=2)
    assert made.spread(HOSTS)
    deepest = 0
    while not made.done:
        jobs = made.take(1, 1)
        made.finish(results(jobs, DEAR, evaluated=1))
        told = rows(made.news(3), len(state))
        deepest = max([deepest, *(left for left, *_ in told)])
        assert all(left <= made.depth for left, *_ in told)
    assert deepest >= 3
