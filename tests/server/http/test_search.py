"""Searches over HTTP: the forms of an answer, refusals, clients that go, how it ends."""

import json
import socket
import time

import pytest

from ..fake_queue import FakeDesk
from ..serving import small
from .asking import OverHttp, events, messages, wait_until

pytest.importorskip("uvicorn", reason="the extra http is not installed")

ANSWER = {"id": 0, "type": "answer", "index": 0, "move": "d3", "score": 1}
DONE = {"id": 0, "type": "done", "state": "done", "answers": 1}


def test_an_answer_is_one_object(client):
    status, body = client.search(position="44", depth=3)
    found = json.loads(body)
    assert (status, found["state"], len(found["answers"])) == (200, "done", 1)
    assert found["answers"][0].items() >= ANSWER.items()


def test_answers_are_lines_as_on_the_socket(client):
    status, body = client.search("application/x-ndjson", positions=["4", "44"], progress=1)
    assert status == 200
    said = messages(body)
    assert [message["type"] for message in said] == ["progress", "answer"] * 2 + ["done"]
    assert said[-1] == {**DONE, "answers": 2}


def test_answers_are_events(client):
    status, body = client.search("text/event-stream", position="44", progress=1)
    assert status == 200
    found = events(body)
    assert [name for name, _ in found] == ["progress", "answer", "done"]
    assert all(message["type"] == name for name, message in found)


def test_several_answers_are_one_object(client):
    found = json.loads(client.search(positions=["4"] * 30, progress=1)[1])
    assert [answer["index"] for answer in found["answers"]] == list(range(30))


def test_a_search_by_its_address(served, client):
    served.serving.queue.submitted.clear()
    query = "game=connect4&positions=4&positions=44&depth=3&priority=2&time=1.5&all_moves=true&rules={}"
    status, body, _ = client.get(f"/search?{query}", Accept="application/x-ndjson")
    assert [message["type"] for message in messages(body)] == ["answer", "answer", "done"]
    (request,) = served.serving.queue.submitted
    assert (request.options.depth, request.options.time, request.options.all_moves, request.priority) == (
        3,
        1.5,
        True,
        2,
    )
    assert len(request.positions) == 2


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("", 400, "bad_json"),
        (" \n", 400, "bad_json"),
        ("{", 400, "bad_json"),
        ("[]", 400, "not_object"),
        ("{}", 400, "bad_field"),
        ('{"game": "connect4", "depth": "9"}', 400, "bad_field"),
        ('{"game": "connect4", "depht": 9}', 400, "unknown_field"),
        ('{"game": "connect4", "id": 1}', 400, "bad_json"),  # it would be there twice
        ('{"op": "cancel"}', 400, "bad_json"),
        ('{"game": "connect4"}\n{"op": "status"}', 400, "bad_json"),
        ('{"game": "connect4", "position": "' + "4" * 5000 + '"}', 400, "bad_field"),
        (json.dumps({"game": "connect4", "positions": ["4"] * 10_001}), 413, "too_many_positions"),
        ('{"game": "' + "x" * (1 << 20) + '"}', 413, "too_long"),
        (b"\xff{}", 400, "bad_json"),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_what_is_wrong_has_a_status_and_a_code(client, body, status, code, accept):
    assert client.code("POST", "/search", body, Accept=accept) == (status, code)


def test_a_body_may_be_pretty(client):
    assert client.ask("POST", "/search", '\r\n{\n "game":\n "connect4"\r\n}\n')[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "/nothing", (404, "not_found")),
        ("GET", "/static/../app.py", (404, "not_found")),
        ("GET", "/static/%2e%2e/app.py", (404, "not_found")),
        ("DELETE", "/search", (405, "wrong_method")),
        ("GET", "/batch", (405, "wrong_method")),
        ("GET", "/search?game=connect4&game=othello", (400, "bad_field")),
        ("GET", "/search?game=connect4&id=1", (400, "unknown_field")),
        ("GET", "/search?game=connect4&depth=x", (400, "bad_field")),
        ("GET", "/search?game=othello&rules=%7B%22empties%22:1%7D", (400, "bad_field")),
        ("GET", "/search?game=othello&rules=" + "[" * 9000, (400, "bad_field")),
        ("GET", "/search?game=connect4&time=nan", (400, "bad_json")),
        ("GET", "/search?game=connect4&depth=1&exact=maybe", (400, "bad_field")),
    ],
)
def test_paths_and_parameters_that_are_wrong(client, method, path, answer):
    assert client.code(method, path) == answer


def test_the_other_paths(client):
    status, body, _ = client.get("/status")
    assert (status, json.loads(body)["type"]) == (200, "status")
    status, body, _ = client.get("/health")
    assert (status, json.loads(body)) == (200, {"state": "serving"})
    status, body, _ = client.get("/openapi.json")
    assert (status, json.loads(body)["openapi"]) == (200, "3.1.0")
    for path in ("/", "/docs"):
        status, body, headers = client.get(path)
        assert (status, headers.get_content_type()) == (200, "text/html")
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert b"http://" not in body and b"https://" not in body  # nothing of another host


def test_metrics(client):
    client.search(position="44")
    text = client.get("/metrics")[1].decode()
    assert 'distsearch_http_requests_total{path="/search",status="200"}' in text
    assert "\ndistsearch_ranks 1.0" in text
    assert "# TYPE distsearch_answered_total counter" in text


def test_a_stream_begins_before_its_first_answer(tmp_path):
    queue = FakeDesk(held=True)
    with OverHttp(queue, tmp_path) as service, service.client() as client:
        headers = {"Authorization": f"Bearer {service.token}", "Accept": "text/event-stream"}
        client.request("POST", "/search", '{"game": "connect4"}', headers)
        response = client.getresponse()
        assert response.status == 200
        queue.held = False
        assert [name for name, _ in events(response.read())] == ["answer", "done"]


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_client_that_goes_wants_no_answer(tmp_path, accept):
    queue = FakeDesk(held=True)
    with OverHttp(queue, tmp_path) as service:
        with service.client() as client:
            headers = {"Authorization": f"Bearer {service.token}", "Accept": accept}
            client.request("POST", "/search", '{"game": "connect4"}', headers)
            wait_until(lambda: queue.requests)
        wait_until(lambda: queue.cancelled)


def test_the_queue_may_be_full(tmp_path):
    with OverHttp(FakeDesk(held=True, full=0), tmp_path) as service, service.client() as client:
        assert client.code("POST", "/search", '{"game": "connect4"}') == (429, "queue_full")


def test_a_request_takes_no_longer_than_allowed(tmp_path):
    queue = FakeDesk(held=True)
    with OverHttp(queue, tmp_path, seconds=0.6) as service, service.client() as client:
        assert client.code("POST", "/search", '{"game": "connect4"}') == (504, "timed_out")
        status, body = client.search("text/event-stream")
        assert (status, events(body)[-1][1]["error"]["code"]) == (200, "timed_out")
        wait_until(lambda: len(queue.cancelled) == 2)


def test_the_end_lets_open_requests_be_answered(tmp_path):
    queue = FakeDesk(held=True)
    with OverHttp(queue, tmp_path) as service, service.client() as client, service.client() as late:
        client.request("POST", "/search", '{"game": "connect4"}', {"Authorization": f"Bearer {service.token}"})
        wait_until(lambda: queue.requests)
        service.serving.stop()
        time.sleep(0.3)
        assert late.code("POST", "/search", '{"game": "connect4"}') == (503, "shutting_down")
        queue.held = False
        assert json.loads(client.getresponse().read())["state"] == "done"
        service.serving.join()
        service.gateway.close()
        with pytest.raises(OSError):
            socket.create_connection((client.host, client.port)).close()


def test_the_end_cancels_what_takes_longer(tmp_path):
    queue = FakeDesk(held=True)
    with OverHttp(queue, tmp_path, small(drain=0.3)) as service, service.client() as client:
        client.request("POST", "/search", '{"game": "connect4"}', {"Authorization": f"Bearer {service.token}"})
        wait_until(lambda: queue.requests)
        service.serving.stop()
        response = client.getresponse()
        assert (response.status, json.loads(response.read())) == (503, {"answers": [], "state": "cancelled"})
