"""Files of positions over HTTP: in order, with the numbers of their lines, whatever the lines are."""

import csv
import io
import json

import pytest

from distsearch.server.limits import DEFAULTS

from ..fake_queue import FakeDesk, outcome
from ..serving import small
from .asking import OverHttp, messages, wait_until

pytest.importorskip("uvicorn", reason="the extra http is not installed")
batch = pytest.importorskip("distsearch.server.http.batch", reason="the extra http is not installed")


def test_answers_come_in_order(served, client):
    served.serving.queue.submitted.clear()
    text = "\n".join(["4", "44", "445"] * 400)
    status, body, headers = client.ask("POST", "/batch?game=connect4&depth=3", text)
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="answers.jsonl"'
    assert [found["line"] for found in messages(body)] == list(range(1, 1201))
    assert {found["move"] for found in messages(body)} == {"d3"}
    assert sum(len(request.positions) for request in served.serving.queue.submitted) == 1200
    assert {request.options.depth for request in served.serving.queue.submitted} == {3}


def test_blank_lines_count_and_bad_lines_are_told(client):
    text = "4\n\n  \n44\r\nnonsense\n9\n" + "4" * 100_000 + "\n\xff\n445"
    found = messages(client.ask("POST", "/batch?game=connect4", text.encode("latin-1"))[1])
    assert [each["line"] for each in found] == [1, 4, 5, 6, 7, 8, 9]
    assert ["error" in each for each in found] == [False, False, True, True, True, True, False]
    assert {each["error"]["code"] for each in found if "error" in each} == {"bad_field"}


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_plain_scores(client, ending):
    text = f"4 -1\n% a comment\r\n\r\nnonsense\n44 ; the second{ending}"
    status, body, headers = client.ask("POST", "/batch?game=connect4&format=plain", text)
    assert (status, headers.get_content_type()) == (200, "text/plain")
    first, error, second = body.decode().splitlines()
    assert (first, second) == ("4 1", "44 1")
    assert error.startswith("% line 4: ")


def test_chosen_fields(client):
    body = client.ask("POST", "/batch?game=connect4&format=csv&fields=line,score", "4\nx\n44")[1].decode()
    assert body.splitlines()[0] == "line,score,error"
    assert [row.split(",")[:2] for row in body.splitlines()[1:]] == [["1", "1"], ["2", ""], ["3", "1"]]
    found = messages(client.ask("POST", "/batch?game=connect4&fields=line,score", "4\n44")[1])
    assert found == [{"line": 1, "score": 1}, {"line": 2, "score": 1}]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_parts_have_every_line_once(size, monkeypatch, rng):
    monkeypatch.setattr(batch, "_PART_BYTES", size)
    monkeypatch.setattr(batch, "_LONGEST", 20)
    lines = ["".join(rng.choices("12345", k=rng.randrange(40))) for _ in range(60)]
    for ending in ("", "\n"):
        content = ("\n".join(lines) + ending).encode()
        number, found = 1, []
        for part in batch.parts_of(io.BytesIO(content), 5):
            assert part.first == number
            assert 1 <= part.content.count(b"\n") <= 5
            number += part.content.count(b"\n")
            found += part.content.decode().splitlines()
        for line, expected in zip(found, content.decode().splitlines(), strict=True):
            assert line == expected or len(expected) > 20 and line[:20] == expected[:20] and len(line) > 20 - 1


def test_a_client_that_goes_takes_its_search_along(tmp_path):
    queue = FakeDesk(held=True)
    with OverHttp(queue, tmp_path) as service:
        with service.client() as client:
            token = {"Authorization": f"Bearer {service.token}"}
            client.request("POST", "/batch?game=connect4&depth=3", "4\n" * 50_000, token)
            wait_until(lambda: len(queue.requests) == 4)
        wait_until(lambda: not queue.requests)
        assert len(queue.cancelled) == 4
        with service.client() as client:  # an upload that stops in its middle
            client.putrequest("POST", "/batch?game=connect4&depth=3")
            client.putheader("Authorization", f"Bearer {service.token}")
            client.putheader("Content-Length", "1000")
            client.endheaders(b"4\n44\n")
        with service.client() as client:
            assert client.get("/status")[0] == 200
        assert not queue.requests


def test_a_table(client):
    status, body, headers = client.ask("POST", "/batch?game=connect4&format=csv", "4\nnonsense\n44")
    assert (status, headers.get_content_type()) == (200, "text/csv")
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    assert [(row["line"], row["move"], bool(row["error"])) for row in rows] == [
        ("1", "d3", False),
        ("2", "", True),
        ("3", "d3", False),
    ]


@pytest.mark.parametrize(
    ("query", "body", "refusal"),
    [
        ("game=connect4", "", (400, "bad_field")),
        ("game=connect4", "\n \n", (400, "bad_field")),
        ("game=nothing", "4", (400, "bad_field")),
        ("game=connect4&depth=x", "4", (400, "bad_field")),
        ("game=connect4&time=nan", "4", (400, "bad_json")),
        ("game=connect4&position=4", "4", (400, "unknown_field")),
        ("game=connect4&format=xml", "4", (400, "bad_field")),
    ],
)
def test_what_is_wrong_with_a_batch(client, query, body, refusal):
    assert client.code("POST", f"/batch?{query}", body) == refusal


def test_only_bad_lines(client):
    found = messages(client.ask("POST", "/batch?game=connect4", "x\n" * 300)[1])
    assert [each["line"] for each in found if each["error"]] == list(range(1, 301))


def test_a_batch_without_the_end_of_its_service(tmp_path):
    queue = FakeDesk(held=True)
    with OverHttp(queue, tmp_path, small(drain=0.2)) as service, service.client() as client:
        client.request("POST", "/batch?game=connect4", "4\n" * 10, {"Authorization": f"Bearer {service.token}"})
        wait_until(lambda: queue.requests)
        service.serving.stop()
        response = client.getresponse()
        assert (response.status, json.loads(response.read())["error"]["code"]) == (503, "shutting_down")


def test_a_large_file_takes_little_memory(tmp_path, full):
    queue, lines = FakeDesk(), 200_000 if full else 20_000
    queue.found = outcome(pv=["d3"] * 20)
    with OverHttp(queue, tmp_path) as service, service.client() as client:
        before = resident(service.pid)
        client.timeout = 600
        client.request("POST", "/batch?game=connect4", "4\n" * lines, {"Authorization": f"Bearer {service.token}"})
        response, count, most = client.getresponse(), 0, 0
        while chunk := response.read1(1 << 16):
            count += chunk.count(b"\n")
            most = max(most, resident(service.pid))
        assert count == lines
        assert most - before < 30  # MiB


def resident(pid):
    """MiB of memory that are a process's own."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024


def test_parts_fit_into_messages_whatever_their_characters(rng):
    lines = [rng.choice(["4\x01", "\x02" * 60, "ä" * 50, "445"]) * rng.randrange(1, 9) for _ in range(9000)]
    content = "".join(f"{line}\n" for line in lines).encode()
    parts = list(batch.parts_of(io.BytesIO(content), 8192))
    assert b"".join(part.content for part in parts) == content
    assert max(len(json.dumps(part.content.decode(errors="replace"))) for part in parts) < DEFAULTS.line - 1000
    first = 1
    for part in parts:
        assert part.first == first
        first += part.content.count(b"\n")


def test_a_line_that_fits_into_no_message_is_cut_off():
    content = b"4\n" + b"\x01" * 250_000 + b"\n44\n"
    parts = list(batch.parts_of(io.BytesIO(content), 8192))
    lines = b"".join(part.content for part in parts).split(b"\n")
    assert (lines[0], lines[2:], set(lines[1])) == (b"4", [b"44", b""], {1})
    assert DEFAULTS.position < len(lines[1]) < 250_000
    assert [part.first for part in parts] == sorted(part.first for part in parts)
