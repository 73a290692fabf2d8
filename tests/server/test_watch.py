"""The op ``watch`` over a socket, of a server whose queue searches nothing."""

import pytest

from distsearch.server.client import Client, ServiceError
from distsearch.server.limits import DEFAULTS
from distsearch.server.schema import CLUSTER

from .fake_queue import FakeDesk
from .serving import Serving, Wire, ask, code, long_outcome, wait_until


@pytest.fixture
def path(tmp_path):
    return tmp_path / "socket"


def watch(wire, name=1, **fields):
    wire.say(op="watch", id=name, **{"every": 0.1, **fields})


def test_it_goes_on_until_it_is_cancelled(path):
    with Serving(FakeDesk(), path) as serving, Wire(path) as wire:
        watch(wire, "w")
        heard = [wire.hear() for _ in range(3)]
        wire.say(op="cancel", id="w")
        rest = [wire.hear()]
        while rest[-1]["type"] == "cluster":
            rest.append(wire.hear())
        assert rest[-1] == {"id": "w", "type": "done", "state": "cancelled", "answers": 3 + len(rest) - 1}
        asked = serving.queue.cluster.asked
        watch(wire, "w", every=5)  # the id is free again
        ask(wire)
        assert wire.hear()["type"] == "answer"
    for message in heard:
        assert list(message) == [field.name for field in CLUSTER]
        assert (message["id"], message["type"], len(message["per_rank"])) == ("w", "cluster", 3)
    assert asked >= 3


def test_searches_go_on_beside_it(path):
    with Serving(FakeDesk(), path), Wire(path) as wire:
        watch(wire, "w")
        for number in range(5):
            ask(wire, number)
            while (message := wire.hear())["type"] != "done":
                assert message["type"] in ("answer", "cluster")
            assert message["id"] == number


@pytest.mark.parametrize(
    ("fields", "wrong", "text"),
    [
        ({"every": 0.05}, "bad_field", "every 0.05 is not 0.1 seconds or more"),
        ({"every": -1}, "bad_field", "every -1 is not 0.1 seconds or more"),
        ({"every": "1"}, "bad_field", "every is not a number"),
        ({"often": 1}, "unknown_field", "watch has no field 'often'"),
    ],
)
def test_refusals(path, fields, wrong, text):
    with Serving(FakeDesk(), path) as serving, Wire(path) as wire:
        watch(wire, **fields)
        message = wire.hear()
        assert (code(message), message["error"]["message"]) == (wrong, text)
        assert serving.queue.cluster.asked == 0


def test_an_id_is_used_once_at_a_time(path):
    with Serving(FakeDesk(held=True), path), Wire(path) as wire:
        watch(wire, 1, every=100)
        watch(wire, 1)
        assert code(wire.hear()) == "duplicate_id"
        ask(wire, 1)
        assert code(wire.hear()) == "duplicate_id"
        ask(wire, 2)
        watch(wire, 2)
        assert code(wire.hear()) == "duplicate_id"


def test_a_client_that_leaves_watches_no_more(path):
    with Serving(FakeDesk(), path) as serving:
        with Wire(path) as wire:
            watch(wire)
            assert wire.hear()["type"] == "cluster"
        wait_until(lambda: not serving.queue.watchers._watchers)


def test_too_many_watchers(path):
    with Serving(FakeDesk(), path) as serving, Wire(path) as wire:
        for name in range(DEFAULTS.watchers + 1):
            watch(wire, name, every=100)
        assert code(wire.hear()) == "too_many_watchers"
        wire.say(op="cancel", id=0)
        assert wire.hear() == {"id": 0, "type": "done", "state": "cancelled", "answers": 0}
        watch(wire, 0, every=100)
        wait_until(lambda: len(serving.queue.watchers._watchers) == DEFAULTS.watchers)


def test_it_ends_with_the_service(path):
    with Serving(FakeDesk(), path) as serving, Wire(path) as wire:
        watch(wire, every=100)
        ask(wire, "a")
        assert [wire.hear()["type"] for _ in range(2)] == ["answer", "done"]
        serving.stop()
        assert wire.hear_all() == [{"id": 1, "type": "done", "state": "cancelled", "answers": 0}]


def test_it_does_not_keep_a_client_that_says_no_more(path):
    with Serving(FakeDesk(), path), Wire(path) as wire:
        watch(wire)
        assert wire.hear()["type"] == "cluster"
        wire.socket.shutdown(1)
        assert {message["type"] for message in wire.hear_all()} <= {"cluster"}


def test_a_client_that_reads_slowly_is_told_less(path):
    queue = FakeDesk()
    queue.found = long_outcome()
    with Serving(queue, path) as serving, Wire(path) as wire:
        watch(wire)
        ask(wire, "a", positions=["4"] * 100)  # two megabytes
        wait_until(lambda: serving.queue.cluster.asked >= 8)
        heard = [wire.hear()]
        while heard[-1]["type"] != "done":
            heard.append(wire.hear())
        assert sum(message["type"] == "answer" for message in heard) == 100
        assert sum(message["type"] == "cluster" for message in heard) < 8


def test_the_client_library_watches(path):
    with Serving(FakeDesk(), path) as serving, Client(str(path), timeout=20) as client:
        watched = client.watch(every=0.1)
        first = next(watched)
        assert client.search("connect4", "44", depth=3)["move"] == "d3"
        assert next(watched)["per_rank"] == first["per_rank"]
        watched.close()
        wait_until(lambda: not serving.queue.watchers._watchers)
        assert client.status()["state"] == "serving"
        with pytest.raises(ServiceError, match=r"^bad_field: every 0 is not"):
            next(client.watch(every=0))


def test_the_client_library_is_told_of_the_end(path):
    with Serving(FakeDesk(), path) as serving, Client(str(path), timeout=20) as client:
        watched = client.watch(every=0.1)
        next(watched)
        serving.stop()
        with pytest.raises(ServiceError, match=r"^(cancelled|closed): "):
            list(watched)
