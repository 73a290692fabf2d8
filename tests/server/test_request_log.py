"""The log of requests: one line each, whatever clients send, and nothing waits for its reader."""

import contextlib
import json
import os
import re
import time

import pytest

from distsearch.server import request_log
from distsearch.server.request_log import RequestLog

from .fake_queue import FakeDesk
from .serving import Serving, Wire, ask, wait_until

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d "
_WORD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')


@pytest.fixture
def pipe():
    """(descriptor to read, descriptor to write)."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def fields(line):
    """Return (kind, values by name) of a line, as a program reads it."""
    assert re.match(TIME, line), line
    return line.split()[1], {name: json.loads(v) if v[0] == '"' else v for name, v in _WORD.findall(line)}


def lines(pipe, count):
    """The next lines that are written."""
    with open(pipe[0], encoding="ascii", closefd=False) as file:
        return [file.readline().rstrip("\n") for _ in range(count)]


@pytest.mark.parametrize(
    "text", ["plain", "two words", "a\nb", "\x1b[31mred", "\x7f", "ü\u202e", 'a"b\\', "", "a=b", "\u2028"], ids=ascii
)
def test_a_text_is_one_word_that_can_be_read_back(pipe, text):
    RequestLog(pipe[1]).add("search", id=text, nodes=5)
    (line,) = lines(pipe, 1)
    assert line.isprintable()
    assert fields(line) == ("search", {"id": text, "nodes": "5"})


def test_a_long_text_is_cut(pipe):
    RequestLog(pipe[1]).add("search", id="\x1b" * 10**6)
    (line,) = lines(pipe, 1)
    assert len(line) < 4096  # or a pipe would mix it with lines of others
    assert fields(line)[1]["id"] == "\x1b" * 120 + "..."


def test_nobody_waits_for_the_reader(pipe, monkeypatch):
    monkeypatch.setattr(request_log, "_FAREWELL", 0.05)
    log, began = RequestLog(pipe[1]), time.monotonic()
    for number in range(20_000):  # a pipe takes less
        log.add("search", number=number)
    log.close()
    assert time.monotonic() - began < 5
    added, due = 20_000, 0  # the number of the line that comes next
    with open(pipe[0], encoding="ascii", closefd=False) as file:
        while due < 20_000:
            log.add("search", number=added)
            added += 1
            found = fields(file.readline())[1]
            if "left_out" in found:
                due += int(found["left_out"])
            else:
                assert int(found["number"]) == due
                due += 1
    os.set_blocking(pipe[0], False)
    while log._thread.is_alive():  # or it would write to whatever gets this descriptor next
        with contextlib.suppress(BlockingIOError):
            os.read(pipe[0], 1 << 16)
        log.close()


def test_a_closed_stderr_is_no_trouble():
    reading, writing = os.pipe()
    os.close(reading)
    log = RequestLog(writing)
    for _ in range(3):
        log.add("search", id=1)
    log.close()
    assert not log._thread.is_alive()
    os.close(writing)


def test_requests_of_a_service(pipe, tmp_path):
    with Serving(FakeDesk(turns=2), tmp_path / "socket", log=RequestLog(pipe[1])) as serving:
        with Wire(serving.path) as wire, Wire(serving.path) as other:
            ask(wire, "one\x1b", positions=["4", "44"], depth=3)
            assert [wire.hear()["type"] for _ in range(3)] == ["answer", "answer", "done"]
            ask(other, 7, depth="x")
            assert other.hear()["type"] == "error"
            serving.queue.held = True
            ask(other, 8, exact=True)
            wait_until(lambda: len(serving.queue.requests) == 1)
        wait_until(lambda: not serving.queue.requests)
    (kind, done), (refused, bad), (_, left) = map(fields, lines(pipe, 3))
    assert (kind, refused) == ("search", "refused")
    assert done.pop("seconds")
    assert done.pop("client") != bad["client"] == left["client"]
    asked = {"id": "one\x1b", "game": "connect4", "limit": "depth:3", "positions": "2"}
    assert done == {**asked, "answers": "2", "state": "done", "nodes": "0"}
    assert (bad["id"], bad["code"], bad["reason"]) == ("7", "bad_field", "depth is not an integer")
    assert (left["id"], left["limit"], left["state"], left["answers"]) == ("8", "exact", "cancelled", "0")
