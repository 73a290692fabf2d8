"""Lines of positions by the service: what ``solve`` prints for them, in their order, whatever the lines are."""

import csv
import io
import json

import pytest

from distsearch.api.book import WITHOUT
from distsearch.api.book_maker import make
from distsearch.api.compiling import NotCompiledError, Recipe
from distsearch.api.options import Options
from distsearch.api.session import Session
from distsearch.server import request_queue, running_lines
from distsearch.server.client_session import ClientSession
from distsearch.server.limits import DEFAULTS
from distsearch.server.request_queue import RequestQueue

from ..api.solving import late_lines
from ..cli.asking import ask
from .queue_clients import VirtualRanks, alone, finish, turn_until

ODD = ["", "% a comment", "nonsense", "  \t", "9", "4" * 5000, "4444444", "ä"]


class Client:
    """A client of a queue: ``lines(...)`` sends a request and returns (the text of all answers, its done)."""

    def __init__(self, queue):
        self.told = []
        self.queue = queue
        self.session = ClientSession(1, queue, dict, self.told.append, DEFAULTS)

    def send(self, **fields):
        """Send a request as a line."""
        self.session.take(json.dumps({"op": "lines", "id": 1, "game": "connect4", **fields}).encode())
        self.read()

    def read(self):
        """Read all of a request, once what reads lines is compiled."""
        while self.session.reading:
            turn_until(self.queue, lambda: not self.session.held, 120.0)
            self.session.read_more()

    def lines(self, text, **fields):
        """Send a request for lines and wait for its end."""
        self.told.clear()
        self.send(lines=text, **fields)
        turn_until(self.queue, lambda: self.told and self.told[-1]["type"] != "lines", 60.0)
        *parts, last = self.told
        assert {part["type"] for part in parts} <= {"lines"}
        assert sum(part["answers"] for part in parts) == last.get("answers", 0)
        return "".join(part["text"] for part in parts), last


@pytest.fixture(params=[alone, VirtualRanks], scope="module")
def queue(request):
    session = request.param()
    yield RequestQueue(session)
    session.close()


@pytest.fixture
def client(queue):
    return Client(queue)


def solved(folder, content, *options, game="connect4"):
    """What ``solve`` prints for a file, as text."""
    (folder / "lines").write_bytes(content.encode())
    return ask("solve", game, "--positions", folder / "lines", "--book", "none", *options).out


ASKED = [  # fields of the request, options of ``solve``, lines
    ({"exact": True}, ["--exact"], None),
    ({"depth": 3}, ["--depth", "3"], None),
    ({"game": "othello", "board": "4x4", "exact": True}, ["--board", "4x4"], ["startpos", "d3", "f5", "d3d2"]),
    ({"game": "othello", "board": "4x4", "nodes": 10**6}, ["--board", "4x4", "--nodes", "1000000"], ["d3", "startpos"]),
    (
        {"game": "2048", "depth": 1, "evaluation": "rows"},
        ["--depth", "1", "--evaluation", "rows"],
        ["2,0,0,0,0,0,0,0,0,0,4,0,0,0,0,0", "2,4", "2 4 8 16 0 2 4 32 0 0 2 64 0 0 0 128 ; x"],
    ),
    ({"game": "2584", "depth": 1, "evaluation": "rows"}, ["--depth", "1", "--evaluation", "rows"], ["1" + ",0" * 15]),
]


@pytest.mark.parametrize(("fields", "options", "lines"), ASKED, ids=lambda each: str(each)[:40])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_plain_answers_are_those_of_solve(client, tmp_path, rng, fields, options, lines, line_break):
    asked = lines or [*late_lines(rng, 50)[0], *ODD, *late_lines(rng, 20)[0]]
    content = line_break.join(asked)  # and no line break at the end
    text, last = client.lines(content, format="plain", **fields)
    found = [line for line in text.splitlines() if not line.startswith("%")]
    expected = solved(tmp_path, content, "--plain", *options, game=fields.get("game", "connect4"))
    assert found == expected.splitlines()
    assert last["state"] == "done"


def test_bad_lines_have_their_places(client, rng):
    lines, scores = late_lines(rng, 3 * len(ODD))
    asked = [line for pair in zip(lines, ODD * 3, strict=True) for line in pair]
    good = {2 * number + 1: score for number, score in enumerate(scores)}
    text, _ = client.lines("\n".join(asked), format="csv", exact=True, first=101)
    names = client.told[0]["head"].rstrip("\n").split(",")
    assert names == ["line", "position", "move", "score", "bound", "complete", "error"]
    rows = [dict(zip(names, row, strict=True)) for row in csv.reader(io.StringIO(text))]
    numbers = [int(row["line"]) - 100 for row in rows]
    assert numbers == sorted(numbers)
    assert {n: int(row["score"]) for n, row in zip(numbers, rows, strict=True) if n in good} == good
    wrong = {asked[n - 1][:200] for n, row in zip(numbers, rows, strict=True) if row["error"]}
    assert wrong == {"nonsense", "9", "4" * 200, "4444444", "ä"}
    text, _ = client.lines("\n".join(asked), format="jsonl", exact=True)
    found = [json.loads(line) for line in text.splitlines()]
    assert [each["line"] for each in found] == numbers
    assert {each["line"]: each["score"] for each in found if each["line"] in good} == good


def test_json_is_that_of_a_search(client, rng):
    lines, _ = late_lines(rng, 10)
    text, _ = client.lines("\n".join(lines), exact=True)
    found = [json.loads(line) for line in text.splitlines()]
    client.told.clear()
    client.session.take(json.dumps({"id": 2, "game": "connect4", "positions": lines, "exact": True}).encode())
    client.read()
    turn_until(client.queue, lambda: client.told and client.told[-1]["type"] == "done")
    alone = sorted(client.told[:-1], key=lambda answer: answer["index"])
    for answer, single in zip(found, alone, strict=True):
        assert answer.keys() - {"line"} == single.keys() - {"id", "type", "index"}
        same = "position", "score", "meaning", "asked", "proved", "depth", "unit", "bound"
        assert [answer.get(name) for name in same] == [single.get(name) for name in same]


def test_fields_are_chosen(client, rng):
    lines, scores = late_lines(rng, 5)
    text, _ = client.lines("\n".join(lines), fields="score,line", exact=True)
    assert [json.loads(row) for row in text.splitlines()] == [
        {"score": score, "line": number} for number, score in enumerate(scores, 1)
    ]
    text, _ = client.lines("\n".join(["x", *lines]), fields="score", format="csv", exact=True)
    assert text.splitlines()[1:] == [f"{score}," for score in scores]
    assert client.told[0]["head"] == "score,error\n"


def test_answers_are_told_bit_by_bit(client, rng, monkeypatch):
    monkeypatch.setattr(running_lines, "_ROWS", 7)
    lines, scores = late_lines(rng, 60)
    text, _ = client.lines("\n".join(lines), format="plain", exact=True)
    assert text.splitlines() == [f"{line} {score}" for line, score in zip(lines, scores, strict=True)]
    assert max(part["answers"] for part in client.told[:-1]) == 7


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"lines": "4\n" * 10_001}, "too_many_positions"),
        ({"lines": "4", "format": "xml"}, "bad_field"),
        ({"lines": "4", "fields": "moves,scores"}, "bad_field"),
        ({"lines": "4", "fields": "score", "format": "plain"}, "bad_field"),
        ({"lines": "4", "progress": 1}, "unknown_field"),
        ({"lines": "4", "first": 0}, "bad_field"),
        ({"lines": "4", "first": 10**18}, "bad_field"),
        ({"lines": "4", "positions": ["4"]}, "unknown_field"),
        ({"lines": ["4"]}, "bad_field"),
        ({"lines": "4", "game": "chess"}, "bad_field"),
        ({}, "bad_field"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_refusals(client, fields, code):
    client.send(**fields)
    assert [(told["type"], told["error"]["code"]) for told in client.told] == [("error", code)]
    assert client.session.open == 0


@pytest.mark.parametrize("text", ["", "\n\n% a comment\n", "nonsense"])
def test_lines_without_a_position_need_no_search(client, text):
    found, last = client.lines(text, format="plain")
    assert (last["state"], last["answers"]) == ("done", 0)
    assert found.startswith("% line 1") if text == "nonsense" else found == ""


def test_a_cancelled_request_ends(client):
    client.send(lines="startpos\n" * 100, game="othello", exact=True)
    client.queue.turn()
    client.session.take(b'{"op": "cancel", "id": 1}')
    turn_until(client.queue, lambda: client.told)
    assert [(told["type"], told.get("state")) for told in client.told] == [("done", "cancelled")]
    finish(client.queue)


def test_a_book_answers(tmp_path):
    with Session(book=WITHOUT) as session:
        make(session, Options("connect4", (4, 4), exact=True), str(tmp_path / "book.npz"), 3)
    with Session(book=str(tmp_path / "book.npz")) as session:
        client = Client(RequestQueue(session))
        lines = ["startpos", "1", "12", "1212121", "123", "44"] * 10
        text, _ = client.lines("\n".join(lines), board="4x4", exact=True, fields="score,book")
        found = [json.loads(row) for row in text.splitlines()]
        plain, _ = client.lines("\n".join(lines), board="4x4", exact=True, format="plain")
    with Session(book=WITHOUT) as session:
        scores = session.scores("connect4", lines, board="4x4").tolist()
    assert [each["score"] for each in found] == scores == [float(row.split()[-1]) for row in plain.splitlines()]
    assert {each["book"] for each in found} == {None, found[0]["book"]}


def test_lines_wait_for_what_reads_them(monkeypatch):
    compile_for, asked = request_queue.compile_for, []

    def not_yet(name, progress):
        asked.append(name)
        if len(asked) == 1:
            raise NotCompiledError(Recipe("distsearch.server.lines:parts_of", {"name": name}))
        compile_for(name, progress)

    monkeypatch.setattr(request_queue, "compile_for", not_yet)
    with alone() as session:
        queue = RequestQueue(session)
        client = Client(queue)
        client.session.take(json.dumps({"op": "lines", "id": 1, "game": "connect4", "lines": "4", "depth": 1}).encode())
        client.session.read_more()
        assert client.session.reading and client.session.held and not client.told
        turn_until(queue, lambda: not client.session.held, 120.0)
        assert asked == ["connect4"] * 2
        client.session.read_more()
        finish(queue)
        queue.close()
    assert [message["type"] for message in client.told] == ["lines", "done"]
