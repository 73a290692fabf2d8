"""Watchers of a cluster: when workers are asked, when watchers are told, and whose tree they see."""

import time
from types import SimpleNamespace

import pytest

from distsearch.cluster.protocols import TopNode
from distsearch.games import othello
from distsearch.server.request import Refused
from distsearch.server.request_queue import RequestQueue
from distsearch.server.schema import CLUSTER, NODE, RANK, TREE
from distsearch.server.watchers import MOST_NODES, Watcher, Watchers

from .fake_cluster import FakeCluster
from .fake_queue import FakeDesk
from .queue_clients import Asked, VirtualRanks, alone, turn_until

RULES = othello.rules((8, 8))


class Task:
    """A request at work that has a tree of two nodes; ``looked`` counts how often that was looked at."""

    def __init__(self, client, moves=(19,), label=None):
        self.request, self.looked, self._moves = Asked(client=client), 0, moves
        self.request.label = label
        self.searcher = SimpleNamespace(game=othello, rules=RULES)

    def top(self, most):
        self.looked += 1
        nodes = [TopNode(i, i - 1, move, "sent", 3, worker=1) for i, move in enumerate((None, *self._moves))]
        return othello.start(RULES), nodes[:most]


class Watched:
    """Watchers of a fake cluster, in a time of its own."""

    def __init__(self, *tasks, most=32):
        self.cluster, self.now = FakeCluster(), time.monotonic()
        self.watchers = Watchers(self.cluster, {task.request: task for task in tasks}, FakeDesk().status, most)
        self.ended = []

    def add(self, client=1, every=1.0, label=None):
        heard = []
        watcher = Watcher(client, every, heard.append, self._end, label)
        watcher.heard, watcher.due = heard, self.now + every
        self.watchers.add(watcher)
        return watcher

    def _end(self, state, text):
        self.ended.append((state, text))

    def turn(self, seconds=0.0, steps=1):
        for _ in range(steps):
            self.now += seconds / steps
            self.watchers.turn(self.now)


def test_without_watchers_nothing_is_asked():
    watched = Watched()
    watched.turn(100, steps=100)
    assert watched.cluster.asked == 0
    assert watched.watchers.pause(watched.now) == float("inf")


@pytest.mark.parametrize("every", [0.1, 0.5, 3.0])
def test_a_watcher_is_told_as_often_as_it_wants(every):
    watched = Watched()
    watcher = watched.add(every=every)
    watched.turn(100 * every, steps=5000)
    assert 97 <= len(watcher.heard) <= 100
    assert len(watcher.heard) <= watched.cluster.asked <= 101


def test_watchers_share_the_samples():
    watched = Watched(Task(9))
    often, seldom = watched.add(every=0.2), watched.add(every=1.0)
    watched.turn(20, steps=2000)
    assert 95 <= len(often.heard) <= 100
    assert 18 <= len(seldom.heard) <= 20
    assert watched.cluster.asked <= 101
    assert seldom.heard[-1] in often.heard


def test_a_rank_that_does_not_answer_holds_nothing_up():
    watched = Watched()
    watched.cluster.silent = {2}
    watcher = watched.add(every=0.5)
    watched.turn(10, steps=5000)
    assert len(watcher.heard) >= 18
    assert watched.watchers.pause(watched.now) <= 0.5


def test_who_leaves_is_told_nothing():
    watched = Watched()
    watcher = watched.add(every=0.1)
    watched.turn(1, steps=100)
    heard, asked = len(watcher.heard), watched.cluster.asked
    watched.watchers.remove(watcher)
    watched.watchers.remove(watcher)
    watched.turn(1, steps=100)
    assert (len(watcher.heard), watched.cluster.asked) == (heard, asked)


def test_there_are_not_too_many():
    watched = Watched(most=2)
    first = watched.add()
    watched.add()
    with pytest.raises(Refused, match="there are 2 watchers already"):
        watched.add()
    watched.watchers.remove(first)
    watched.add()


def test_the_own_latest_search_goes_before_the_oldest_one():
    tasks = [Task(client, (move,)) for client, move in ((7, 19), (1, 26), (1, 37), (7, 44))]
    watched = Watched(*tasks)
    own, other = watched.add(client=1), watched.add(client=2)
    watched.turn(2.5, steps=100)
    assert (own.heard[0]["tree"]["own"], own.heard[0]["tree"]["nodes"][1]["move"]) == (True, "f5")
    assert (other.heard[0]["tree"]["own"], other.heard[0]["tree"]["nodes"][1]["move"]) == (False, "d3")
    assert [task.looked for task in tasks] == [len(other.heard), 0, len(own.heard), 0]


def test_a_label_tells_the_own_search_of_another_connection():
    tasks = Task(2), Task(3, label="mine"), Task(4, label="yours")
    watched = Watched(*tasks)
    own, other = watched.add(client=1, label="mine"), watched.add(client=1)
    watched.turn(2.5, steps=50)
    trees = own.heard[0]["tree"], other.heard[0]["tree"]
    assert [tree["own"] for tree in trees] == [True, False]
    assert [tree["request"] for tree in trees] == [task.request.number for task in (tasks[1], tasks[0])]


def test_a_message_has_the_fields_of_the_schema():
    watched = Watched(Task(1))
    watcher = watched.add()
    watched.turn(2.5, steps=100)
    message = {"id": 1, "type": "cluster", **watcher.heard[0]}
    assert list(message) == [field.name for field in CLUSTER]
    assert list(message["per_rank"][0]) == [field.name for field in RANK]
    assert list(message["tree"]) == [field.name for field in TREE]
    assert message["tree"]["nodes"][1].keys() == {field.name for field in NODE}


def test_a_mistake_ends_the_watches_alone(capsys):
    task = Task(1)
    watched = Watched(task)
    watched.add()
    watched.add()
    task.top = None
    watched.turn(2.5, steps=100)
    assert watched.ended == [("failed", "TypeError in the service")] * 2
    assert "TypeError" in capsys.readouterr().err


@pytest.fixture(params=[alone, VirtualRanks])
def session(request):
    made = request.param()
    yield made
    made.close()


GAMES = [
    {"game": "othello", "time": 30.0, "policy": "window"},
    {"game": "othello", "time": 30.0},
    {"game": "2048", "layers": 9, "evaluation": "rows", "load_factor": 20},
]


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_a_queue_tells_of_its_searches(session, options):
    queue, heard = RequestQueue(session), []
    asked = Asked("startpos", **options)
    queue.submit(asked)
    queue.watchers.add(Watcher(asked.client, 0.1, heard.append, lambda *end: heard.append(end)))

    def shown():
        return [message for message in heard if message["tree"]]

    turn_until(queue, lambda: len(shown()) > 3 or asked.ends, 40.0)
    assert len(shown()) > 0
    for message in shown():
        nodes = {node["id"]: node for node in message["tree"]["nodes"]}
        assert 1 <= len(nodes) <= MOST_NODES
        assert nodes[0]["parent"] == -1
        assert all(node["parent"] in nodes for node in nodes.values() if node["id"])
        assert message["tree"]["own"]
        assert message["active"] == 1
    lanes = heard[-1]["per_rank"]
    assert [lane["rank"] for lane in lanes] == list(range(session.cluster.ranks))
    for lane in lanes:
        if lane["busy"] is not None:
            assert lane["busy"] + lane["communication"] + lane["idle"] == pytest.approx(1, abs=1e-3)
    assert max(message["nodes_per_second"] for message in heard) > 0
    queue.cancel(asked)
    turn_until(queue, lambda: queue.idle)
    heard.clear()
    turn_until(queue, lambda: heard)
    assert heard[0]["tree"] is None
