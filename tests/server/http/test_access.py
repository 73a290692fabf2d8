"""A client without the token, from elsewhere, too fast or too slow: it gets nothing, and the others do not wait."""

import contextlib
import json
import socket
import time

import pytest

from ..fake_queue import FakeDesk
from .asking import OverHttp, messages, wait_until

pytest.importorskip("uvicorn", reason="the extra http is not installed")
SEARCH = '{"game": "connect4"}'


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service that answers at once, and refuses fast."""
    with OverHttp(FakeDesk(), tmp_path_factory.mktemp("http"), strangers=1e6, patience=3, connections=20) as service:
        yield service


def connected(service):
    """Return a plain socket to a service."""
    with service.client() as client:
        return contextlib.closing(socket.create_connection((client.host, client.port), timeout=20))


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/search"), ("GET", "/search?game=connect4"), ("POST", "/batch?game=connect4"), ("GET", "/status")]
    + [("GET", "/metrics"), ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/nothing"), ("PUT", "/search")],
)
@pytest.mark.parametrize("token", [None, "", "wrong", "é"])
def test_without_the_token_nothing_is_answered(served, method, path, token):
    served.serving.queue.submitted.clear()
    with served.client(None) as client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}".encode()}
        assert client.code(method, path, SEARCH, **headers) == (401, "unauthorized")
    assert not served.serving.queue.submitted


def test_a_token_that_is_nearly_right(served):
    for token in (served.token[:-1], f"{served.token}x", served.token.swapcase(), f"{served.token} "[:-2]):
        with served.client(token) as client:
            assert client.code("GET", "/status") == (401, "unauthorized")


def test_a_token_in_the_address_is_for_get(served):
    with served.client(None) as client:
        assert client.get(f"/status?token={served.token}")[0] == 200
        assert client.get(f"/search?game=connect4&token={served.token}")[0] == 200
        assert client.code("POST", f"/search?token={served.token}", SEARCH) == (401, "unauthorized")
        assert client.code("GET", f"/status?token={served.token}x") == (401, "unauthorized")


def test_pages_and_health_need_no_token(served):
    with served.client(None) as client:
        for path in ("/", "/static/token.js", "/health"):
            status, body, _ = client.get(path)
            assert status == 200
            assert served.token.encode() not in body


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://localhost.evil.example", "http://[::1"])
@pytest.mark.parametrize("path", ["/search", "/", "/health"])
def test_pages_of_other_sites_get_nothing(served, origin, path):
    with served.client() as client:
        status, body, headers = client.ask("POST", path, SEARCH, Origin=origin)
        assert (status, json.loads(body)["error"]["code"]) == (403, "other_origin")
        assert "access-control-allow-origin" not in headers


def test_the_own_page_may_ask(served):
    with served.client() as client:
        assert client.ask("POST", "/search", SEARCH, Origin=served.gateway.url.rstrip("/"))[0] == 200
        # through a tunnel from another port
        headers = {"Host": "localhost:9000", "Origin": "http://localhost:9000"}
        assert client.ask("POST", "/search", SEARCH, **headers)[0] == 200


def test_many_wrong_tokens_wait(tmp_path):
    with OverHttp(FakeDesk(), tmp_path, strangers=20) as service, service.client("wrong") as client:
        began = time.monotonic()
        for _ in range(40):
            assert client.code("GET", "/status") == (401, "unauthorized")
        assert time.monotonic() - began > 0.9
        with service.client() as other:  # which does not wait for them
            assert other.search()[0] == 200


def test_the_rate_is_limited(tmp_path):
    with OverHttp(FakeDesk(), tmp_path, rate=1) as service, service.client() as client:
        found = [client.ask("POST", "/search", SEARCH) for _ in range(30)]
        statuses = [status for status, _, _ in found]
        assert set(statuses) == {200, 429}
        refused = next(headers for status, _, headers in found if status == 429)
        assert refused["Retry-After"] == "1"
        wait_until(lambda: client.search()[0] == 200)


@pytest.mark.parametrize(
    ("limit", "refusal"), [("open_requests", (429, "too_many_requests")), ("requests", (503, "busy"))]
)
def test_open_requests_are_limited(tmp_path, limit, refusal):
    queue = FakeDesk(held=True)
    with OverHttp(queue, tmp_path, **{limit: 3}) as service, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(service.client()) for _ in range(4)]
        for client in clients[:3]:
            client.request("POST", "/search", SEARCH, {"Authorization": f"Bearer {service.token}"})
        wait_until(lambda: len(queue.requests) == 3)
        assert clients[3].code("POST", "/search", SEARCH) == refusal
        queue.held = False
        assert [json.loads(client.getresponse().read())["state"] for client in clients[:3]] == ["done"] * 3
        wait_until(lambda: clients[3].search()[0] == 200)


def test_what_is_too_long_is_refused_before_it_is_read(served):
    with connected(served) as plain:
        head = f"POST /batch?game=connect4 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\n"
        plain.sendall(f"{head}Content-Length: {1 << 40}\r\n\r\n".encode())
        assert b" 413 " in plain.recv(1 << 12)


@pytest.mark.parametrize(
    "said", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"POST /search HTTP/1.1\r\nHost: x\r\n"]
)
def test_a_connection_without_a_request_is_ended(served, said):
    with connected(served) as plain:
        plain.sendall(said)
        began = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            assert plain.recv(1) == b""
        assert time.monotonic() - began < 12


def test_a_body_that_does_not_come_is_refused(served):
    with connected(served) as plain:
        head = f"POST /search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\nContent-Length: 10\r\n\r\n"
        plain.sendall(head.encode() + b"{")
        assert b" 408 " in plain.recv(1 << 12)


def test_an_endless_body_without_the_token_is_ended(served):
    with connected(served) as plain:
        plain.sendall(b"POST /batch HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        end = time.monotonic() + 10
        with pytest.raises(OSError):
            while time.monotonic() < end:
                plain.sendall(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
                time.sleep(0.01)


def test_a_client_that_reads_nothing_is_ended(tmp_path):
    queue = FakeDesk()
    queue.found.pv = ["d3"] * 3000  # 20 kB
    with OverHttp(queue, tmp_path, patience=1.0) as service, connected(service) as plain:
        body = json.dumps({"game": "connect4", "positions": ["4"] * 400})
        head = (
            f"POST /search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\nContent-Length: {len(body)}"
        )
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        wait_until(lambda: queue.submitted)
        with service.client() as other:
            wait_until(lambda: b"distsearch_http_open_requests 1.0" in other.get("/metrics")[1])
            wait_until(lambda: json.loads(other.get("/status")[1])["clients"] == 1)  # the one that asks


def test_connections_without_the_token_make_room(served):
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(served.client())
        assert client.search()[0] == 200
        idle = [stack.enter_context(connected(served)) for _ in range(60)]
        for _ in range(3):
            assert client.search()[0] == 200
        with served.client() as other:
            assert other.search()[0] == 200
        with contextlib.suppress(ConnectionResetError):
            assert idle[0].recv(1) == b""


def test_what_is_not_http_is_refused(served):
    with connected(served) as plain:
        plain.sendall(b"nonsense\r\n\r\n")
        with plain.makefile("rb") as file:
            head, _, body = file.read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["code"] == "bad_request"


def test_a_flood_of_nonsense_hurts_nobody(served, rng):
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(served.client())
        for _ in range(200):
            with connected(served) as plain:
                line = bytearray(f"POST /search HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{SEARCH}".encode())
                for _ in range(rng.randrange(1, 6)):
                    where = rng.randrange(len(line))
                    line[where : where + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
                with contextlib.suppress(OSError):
                    plain.sendall(line)
        assert client.search("application/x-ndjson")[0] == 200
        assert messages(client.search("application/x-ndjson")[1])[-1]["state"] == "done"
