"""``watch`` of a real service: what it says of ranks at work, of idle ones and of one that is killed."""

import itertools
import os
import signal

import pytest

from distsearch.server.client import Client

from .serving import Service

RANKS = 3
MIDGAME = "---------XXXXX---OOOOOOO---XOX----OXXX----X--X--------X--------- X"  # no book has it
LATE = 100  # messages


@pytest.fixture(scope="module")
def service():
    with Service(RANKS) as service:
        yield service


@pytest.fixture
def client(service):
    with Client(service.path, timeout=60) as client:
        yield client


def until(messages, true):
    """Return the first message that is as wanted."""
    found = None
    for message in itertools.islice(messages, LATE):
        found = message
        if true(message):
            return message
    raise AssertionError(found)


def workers(message):
    return [lane for lane in message["per_rank"] if lane["role"] == "worker"]


def test_idle_ranks_are_idle(client):
    message = until(client.watch(), lambda message: all((lane["idle"] or 0) > 0.8 for lane in message["per_rank"]))
    assert [(lane["rank"], lane["role"], lane["state"]) for lane in message["per_rank"]] == [
        (0, "master", "ready"),
        (1, "worker", "ready"),
        (2, "worker", "ready"),
    ]
    assert {lane["host"] for lane in message["per_rank"]} == {os.uname().nodename}
    assert message["tree"] is None


@pytest.mark.parametrize("policy", ["split", "window"])
def test_ranks_at_work_are_busy_and_their_nodes_are_those_of_the_answer(client, policy):
    watched = client.watch(every=0.25)
    next(watched)
    pending = client.submit("othello", MIDGAME, time=4.0, policy=policy)
    heard = []
    while client.status()["active"]:
        heard.append(next(watched))
    answer = pending.result()
    at_work = [message for message in heard if message["active"]]
    assert max(min(lane["busy"] or 0 for lane in workers(message)) for message in at_work) > 0.3
    for message in heard:
        for lane in message["per_rank"]:
            if lane["busy"] is not None:
                assert lane["busy"] + lane["communication"] + lane["idle"] == pytest.approx(1, abs=1e-3)
    counted = sum(message["nodes_per_second"] * message["seconds"] for message in heard)
    assert 0.3 * answer["nodes"] < counted < 1.7 * answer["nodes"]  # a sample is missed where a rank is late
    trees = [message["tree"] for message in heard if message["tree"]]
    assert trees
    assert all(tree["own"] and tree["game"] == "othello" for tree in trees)
    assert {node["worker"] for tree in trees for node in tree["nodes"]} - {None} <= {1, 2}
    if policy == "window":
        assert max(len(tree["nodes"]) for tree in trees) > 2


def test_others_see_the_search_too(service, client):
    with Client(service.path, timeout=60) as other:
        pending = other.submit("othello", MIDGAME, time=3.0, policy="brothers")
        tree = until(client.watch(every=0.1), lambda message: message["tree"])["tree"]
        assert (tree["own"], tree["game"]) == (False, "othello")
        pending.cancel()


def test_a_killed_rank_is_lost():
    with Service(RANKS, survives=True) as service, Client(service.path, timeout=60) as client:
        watched = client.watch(every=0.1)
        next(watched)
        os.kill(service.pids[2], signal.SIGKILL)
        message = until(watched, lambda message: workers(message)[1]["state"] == "lost")
        assert workers(message)[0]["state"] == "ready"
        assert client.search("connect4", "4453222", depth=6)["complete"]
        assert workers(next(watched))[1]["busy"] is None
