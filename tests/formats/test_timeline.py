"""Files of timelines: what Perfetto reads."""

import json
from collections import defaultdict

import numpy as np
import pytest

from distsearch import games
from distsearch.cluster.trace import COMMUNICATION, IDLE, NARROWED, SPLIT, WORK, Trace
from distsearch.core.errors import UserError
from distsearch.formats import timeline
from distsearch.jobs.two_player import SUBTREE_RESULT, job_dtype


@pytest.fixture
def traces():
    """rank → (host, events) of two hosts whose clocks differ; rank 0, master, has but messages and idleness."""
    found = {}
    for rank, begin in ((1, 100.0), (2, 100.0), (3, 7.0)):
        trace = Trace()
        trace.slice(COMMUNICATION, begin, begin + 0.5)
        trace.slice(WORK, begin + 0.5, begin + 2.5, 4)
        trace.slice(IDLE, begin + 2.5, begin + 3)
        trace.instant(SPLIT, begin + 1, 5)
        trace.instant(NARROWED, begin + 1, 5, -2, 3)
        job, result = np.zeros((), job_dtype(2)), np.zeros((), SUBTREE_RESULT)
        job["low"], job["high"], result["score"] = -(10**6), 10**6, -np.inf
        job["state"] = games.find("connect4").start(games.find("connect4").rules()).state
        trace.job(job, result, begin + 0.5, begin + 2)
        found[rank] = {1: "one", 2: "one", 3: "two"}[rank], trace.records()
    master = Trace()
    master.slice(COMMUNICATION, 99.5, 101.0)
    master.slice(IDLE, 101.0, 103.0)
    return {**found, 0: ("one", master.records())}


def test_a_file_has_every_rank_in_the_process_of_its_host(traces, tmp_path):
    game, path = games.find("connect4"), tmp_path / "trace.json"
    timeline.write(str(path), traces, timeline.texts_of(game, game.rules()))
    events = json.loads(path.read_text())["traceEvents"]
    names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e["args"]}
    ranks = {(1, 0): "rank 0, master", (1, 1): "rank 1", (1, 2): "rank 2", (2, 3): "rank 3"}
    assert names == {(1, None): "one", (2, None): "two", **ranks}
    took = defaultdict(float)
    for event in events:
        if event["ph"] == "X":
            assert 0 <= event["ts"] <= 3.5e6
            took[event["tid"], event["name"]] += event["dur"] / 1e6
    assert took == {
        (0, "messages"): 1.5,
        (0, "idle"): 2.0,
        **{(rank, name): t for rank in (1, 2, 3) for name, t in (("work", 2), ("messages", 0.5), ("idle", 0.5))},
    }
    (job, *_) = [event for event in events if event["ph"] == "b"]
    assert (job["name"], job["args"]["window"], job["args"]["score"]) == ("startpos", [None, None], None)
    assert job["args"]["outcome"] == "stopped"
    ends = [event for event in events if event["ph"] == "e"]
    assert [(e["id"], e["ts"]) for e in ends if e["tid"] == 1] == [(job["id"], 2.5e6)]
    assert [e["args"] for e in events if e["ph"] == "i"][:2] == [{"job": 5}, {"job": 5, "window": [-2, 3]}]
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


@pytest.mark.parametrize("path", ["/dev/null", "no/such/folder/trace"])
def test_where_no_file_can_be_made_is_said_at_once(path):
    with pytest.raises(UserError, match=r"^(cannot write the trace to|trace) "):
        timeline.check(path)
