"""Timelines on the command line."""

import json

import pytest

from .asking import START, ask, assert_refused

COMMANDS = [
    ("search", "othello", START, "--board", "4x4", "--exact"),
    ("search", "2048", "--board", "3x3", "--depth", "4"),
    ("solve", "connect4", "--positions", "-"),
    ("perft", "othello", "--board", "4x4", "--depth", "5"),
    ("play", "2048", "--board", "2x2", "--games", "20", "--depth", "1"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_timeline_adds_up_to_the_times_of_the_answer(command, tmp_path):
    path = tmp_path / "trace.json"
    lines = b"4453222\n44532226\n"
    answer = ask(*command, "--trace", path, "--json", stdin=lines if "-" in command else b"")
    assert answer.status == 0, answer.err
    events = json.loads(path.read_text())["traceEvents"]
    spent = [event for event in events if event["ph"] == "X"]
    took = {name: sum(e["dur"] for e in spent if e["name"] == name) for name in ("work", "messages")}
    if command[0] == "search":
        (worker,) = answer.results[0]["per_worker"]
        for name, timer in (("work", "busy"), ("messages", "communication")):
            assert took[name] == pytest.approx(worker[timer] * 1e6, rel=0.02, abs=50)
    slices = sorted((e["ts"], e["ts"] + e["dur"]) for e in spent)
    assert all(end <= begin + 1 for (_, end), (begin, _) in zip(slices, slices[1:], strict=False))
    assert sum(e["args"]["jobs"] for e in spent if e["name"] == "work") >= 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--trace", "/dev/null"), "trace /dev/null is not a file"),
        (("--trace", "no/such/folder/file"), "cannot write the trace to no/such/folder/file"),
    ],
)
def test_what_cannot_be_traced(options, said):
    assert_refused(ask("search", "othello", START, "--board", "4x4", "--exact", *options), said)
