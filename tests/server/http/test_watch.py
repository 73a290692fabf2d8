"""The cluster over HTTP: one snapshot, and streams of them."""

import asyncio
import http.client
import json
from urllib.parse import urlsplit

import pytest

from distsearch.server.async_client import AsyncClient
from distsearch.server.client import Client, ServiceError
from distsearch.server.limits import DEFAULTS

from ..fake_queue import FakeDesk
from .asking import OverHttp, events, messages, wait_until

pytest.importorskip("uvicorn", reason="the extra http is not installed")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with OverHttp(FakeDesk(), tmp_path_factory.mktemp("http")) as service:
        yield service


class Stream:
    """A GET whose answer is read line by line while the context lasts."""

    def __init__(self, service, path, accept=None, token=True):
        where = urlsplit(service.gateway.url)
        self._connection = http.client.HTTPConnection(where.hostname, where.port, timeout=30)
        headers = {"Authorization": f"Bearer {service.token}"} if token else {}
        self._connection.request("GET", path, headers=headers | ({"Accept": accept} if accept else {}))
        self.response = self._connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.close()

    def lines(self, count):
        return b"".join(self.response.readline() for _ in range(count))


def watched_by(service):
    return len(service.serving.queue.watchers._watchers)


def test_one_snapshot(service):
    with service.client() as client:
        status, body, headers = client.get("/cluster")
        message = json.loads(body)
        assert (status, headers["Content-Type"], message["type"]) == (200, "application/json", "cluster")
        assert [lane["rank"] for lane in message["per_rank"]] == [0, 1, 2]
    wait_until(lambda: not watched_by(service))


@pytest.mark.parametrize("accept", [None, "text/event-stream", "text/html"])
def test_events(service, accept):
    with Stream(service, "/watch?every=0.1", accept) as stream:
        assert stream.response.headers["Content-Type"] == "text/event-stream"
        found = [(event, message["type"]) for event, message in events(stream.lines(6))]
        assert found == [("cluster", "cluster")] * 2
    wait_until(lambda: not watched_by(service))


def test_lines(service):
    with Stream(service, f"/watch?every=0.1&token={service.token}", "application/x-ndjson", token=False) as stream:
        assert [message["type"] for message in messages(stream.lines(3))] == ["cluster"] * 3
    wait_until(lambda: not watched_by(service))


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("every=0.01", "bad_field"),
        ("every=often", "bad_field"),
        ("every=nan", "bad_json"),
        ("every=1e999", "bad_json"),
        ("every=1&every=2", "bad_field"),
        ("op=search", "unknown_field"),
        ("often=1", "unknown_field"),
    ],
)
def test_refusals(service, query, code):
    with service.client() as client:
        assert client.code("GET", f"/watch?{query}") == (400, code)


@pytest.mark.parametrize("path", ["/watch", "/cluster"])
def test_the_token_is_needed(service, path):
    with service.client(None) as client:
        assert client.code("GET", path) == (401, "unauthorized")


def test_there_are_not_too_many(tmp_path):
    with OverHttp(FakeDesk(), tmp_path) as service, service.client() as client:
        streams = [Stream(service, "/watch?every=5") for _ in range(DEFAULTS.watchers)]
        assert client.code("GET", "/watch") == (503, "too_many_watchers")
        assert client.code("GET", "/cluster") == (503, "too_many_watchers")
        for stream in streams:
            stream.__exit__()
        wait_until(lambda: not watched_by(service))


def test_it_ends_after_the_seconds_of_a_request(tmp_path):
    with OverHttp(FakeDesk(), tmp_path, seconds=1.0) as service, Stream(service, "/watch?every=0.1") as stream:
        *snapshots, last = events(stream.response.read())
        assert len(snapshots) >= 3
        assert (last[0], last[1]["error"]["code"]) == ("error", "timed_out")


def test_the_client_library_watches(service):
    with Client(service.gateway.url_with_token, timeout=20) as client:
        watched = client.watch(every=0.1)
        assert [next(watched)["type"] for _ in range(2)] == ["cluster"] * 2
        watched.close()
        wait_until(lambda: not watched_by(service))
        with pytest.raises(ServiceError, match=r"^bad_field: every 0 is not"):
            next(client.watch(every=0.0))


@pytest.mark.parametrize("over_http", [False, True])
def test_the_asyncio_client_watches(service, over_http):
    async def watch():
        found = []
        async with AsyncClient(service.gateway.url_with_token if over_http else service.serving.path) as client:
            async for message in client.watch(every=0.1):
                found.append(message["type"])
                if len(found) == 3:
                    break
        return found

    assert asyncio.run(watch()) == ["cluster"] * 3
    wait_until(lambda: not watched_by(service))
