"""The client library against a server whose queue searches nothing."""

import json
import socket
import subprocess
import sys
import threading

import pytest

from distsearch.server.client import Client, ServiceError
from distsearch.server.limits import DEFAULTS

from .fake_queue import FakeDesk
from .serving import Serving


@pytest.fixture
def queue():
    """What the service has at its other end."""
    return FakeDesk()


@pytest.fixture
def path(tmp_path, queue):
    """Where a service listens."""
    with Serving(queue, tmp_path / "socket") as serving:
        yield serving.path


def refused(code):
    """A context in which a ServiceError of this code is raised."""
    return pytest.raises(ServiceError, match=f"^{code}: ")


def test_it_loads_nothing_heavy():
    heavy = "numba", "numpy", "mpi4py", "distsearch.games", "distsearch.core.jit"
    program = f"import sys, distsearch.server.client; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_a_search(path, queue):
    with Client(path) as client:
        answer = client.search("connect4", "44", depth=3, priority=5)
        assert (answer["move"], answer["index"], answer["type"]) == ("d3", 0, "answer")
        assert client.search("connect4")["move"] == "d3"
    first, second = queue.submitted
    assert (first.options.depth, first.priority) == (3, 5)
    assert (second.options.depth, second.positions[0].side) == (None, 0)


def test_several_positions(path):
    with Client(path) as client:
        answers = client.search("connect4", ["4", "44", "445"])
        assert [answer["index"] for answer in answers] == [0, 1, 2]
        pending = client.submit("connect4", ("4", "44"))
        assert [answer["index"] for answer in pending.answers()] == [0, 1]
        assert len(pending.result()) == 2
        assert len(client.search("connect4", ["4"])) == 1


def test_searches_that_overlap(path):
    with Client(path) as client:
        searches = [client.submit("connect4", ["4"] * n) for n in range(1, 30)]
        assert client.status()["clients"] == 1
        for n, pending in reversed(list(enumerate(searches, 1))):
            assert len(pending.result()) == n


def test_many_searches_before_the_first_look(path):
    with Client(path, timeout=30) as client:
        searches = [client.submit("connect4", "4") for _ in range(3 * DEFAULTS.open_requests)]
        assert all(pending.result()["move"] == "d3" for pending in searches)


def test_partial_answers(path):
    with Client(path) as client:
        pending, seen = client.submit("connect4", "4", progress=0.5), []
        pending.progress = seen.append
        pending.result()
        assert [(message["type"], message["complete"]) for message in seen] == [("progress", False)]


def test_refusals(path):
    with Client(path) as client:
        with refused("bad_field") as error:
            client.search("chess")
        assert error.value.code == "bad_field"
        assert error.value.message.startswith("no game 'chess'")
        with refused("unknown_field"):
            client.search("othello", komi=7)
        with refused("bad_field"):
            list(client.submit("othello", [""], depth=0).answers())
        with refused("too_long"):
            client.search("othello", ["startpos" * 100] * 2000)
        with pytest.raises(ValueError, match="JSON"):
            client.search("othello", time=float("nan"))
        assert client.search("othello")["move"] == "d3"


def test_a_search_can_be_cancelled(path, queue):
    queue.held = True
    with Client(path) as client:
        pending, other = client.submit("connect4"), client.submit("connect4")
        pending.cancel()
        with refused("cancelled"):
            pending.result()
        assert list(pending.answers()) == []
        pending.cancel()
        queue.held = False
        assert other.result()["move"] == "d3"
        other.cancel()
        assert client.search("connect4")["move"] == "d3"


def test_too_late_to_cancel(path):
    with Client(path) as client:
        pending = client.submit("connect4")
        while client.status()["active"] > 0:
            pass
        pending.cancel()  # whether or not this side knows that it is done
        assert pending.result()["move"] == "d3"
        assert client.search("connect4")["move"] == "d3"


def test_waiting_may_end(path, queue):
    queue.held = True
    with Client(path, timeout=0.05) as client:
        pending = client.submit("connect4")
        for wait in (pending.result, lambda: pending.result(0.01), lambda: next(pending.answers())):
            with pytest.raises(TimeoutError):
                wait()
        queue.held = False
        assert pending.result(10)["move"] == "d3"


def test_nobody_there(tmp_path):
    with refused("unreachable"):
        Client(str(tmp_path / "nothing"))
    with refused("unreachable"):
        Client(str(tmp_path / ("x" * 200)))


def test_the_service_ends(tmp_path):
    queue = FakeDesk(held=True)
    limits = DEFAULTS._replace(drain=0.1)
    with Serving(queue, tmp_path / "socket", limits) as serving, Client(serving.path) as client:
        pending = client.submit("connect4")
        assert client.status()["active"] == 1
        serving.stop()
        with refused("cancelled"):
            pending.result()
        serving.join()
        with refused("closed"):
            client.status()
        with refused("closed"):
            client.search("connect4")


def test_too_many_clients(tmp_path):
    limits = DEFAULTS._replace(clients=2)
    with Serving(FakeDesk(), tmp_path / "socket", limits) as serving, Client(serving.path) as first:
        while first.status()["clients"] > 1:  # the one that looked whether the service is there
            pass
        with Client(serving.path) as second, Client(serving.path) as third:
            assert second.status()["clients"] == 2
            with refused("too_many_clients"):
                third.status()


def test_a_closed_client_says_so(path):
    client = Client(path)
    client.close()
    with refused("closed"):
        client.status()


def test_a_service_that_stops_reading(tmp_path):
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        with Client(path, timeout=0.1) as client:
            with refused("closed"):
                client.submit("connect4", ["4" * 40] * 20_000)  # more than the kernel keeps
            with refused("closed"):
                client.status()


def test_messages_in_pieces(tmp_path):
    path = str(tmp_path / "socket")
    reply = json.dumps({"id": 1, "type": "status", "note": "é" * 1000}).encode() + b"\n"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        with Client(path, timeout=10) as client:
            service, _ = listener.accept()

            def dribble():
                for at in range(0, len(reply), 100):
                    service.sendall(reply[at : at + 100])

            thread = threading.Thread(target=dribble)
            thread.start()
            assert client.status()["note"] == "é" * 1000
            thread.join()
            service.close()


@pytest.mark.parametrize("name", ["op", "id"])
def test_what_names_a_message_is_the_clients_own(path, name):
    with Client(path, timeout=5) as client, refused("bad_field"):
        client.search("connect4", **{name: "mine"})


def test_what_is_no_json_leaves_nothing_behind(path):
    with Client(path) as client:
        with pytest.raises((TypeError, ValueError)):
            client.submit("connect4", time=float("nan"))
        assert not client._open[0].exchange._replies
        assert client.search("connect4")["index"] == 0
