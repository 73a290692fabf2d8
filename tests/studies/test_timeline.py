"""Timelines read again are what was written, and bad ones are told from good ones."""

import json

import numpy as np
import pytest

from distsearch import games
from distsearch.cluster.trace import COMMUNICATION, DONE, IDLE, JOB, NARROWED, SPLIT, STOPPED, WORK, Trace
from distsearch.core.errors import UserError
from distsearch.formats import timeline
from distsearch.studies.figures import timeline as tracks_of

KINDS = {WORK: "work", COMMUNICATION: "messages", IDLE: "idle"}


def random_trace(rng, began):
    trace = Trace(400)
    now = began
    for _ in range(rng.randint(1, 900)):
        length = rng.choice([1e-5, 1e-3, 0.1]) * rng.uniform(0.5, 2)
        trace.slice(rng.choice(list(KINDS)), now, now + length, 1)
        if rng.random() < 0.1:
            trace.instant(rng.choice([SPLIT, NARROWED]), now, 1, -1, 1)
        if rng.random() < 0.3:
            job, result = np.zeros((), [("job_id", "i4")]), np.zeros((), [("complete", "i1")])
            result["complete"] = rng.random() < 0.5
            trace.job(job, result, now - rng.uniform(0, 0.5) * (now - began), now)
        now += length
    return trace.records()


def test_what_is_read_is_what_was_written(rng, tmp_path):
    traces = {rank: ("one" if rank < 3 else "two", random_trace(rng, 1000.0 * (rank > 2))) for rank in range(5)}
    game = games.find("connect4")
    timeline.write(str(tmp_path / "t"), traces, timeline.texts_of(game, game.rules()))
    tracks = tracks_of.read(str(tmp_path / "t"))
    assert [(track.rank, track.host) for track in tracks] == [(r, "one" if r < 3 else "two") for r in range(5)]
    assert [track.name for track in tracks[:2]] == ["rank 0, master", "rank 1"]
    for track in tracks:
        host, events = traces[track.rank]
        begin = min(each["began"].min() for at, each in traces.values() if at == host)

        def spans(chosen, begin=begin):
            return np.column_stack((chosen["began"], chosen["ended"])) - begin

        for kind, name in KINDS.items():
            assert track.slices[name] == pytest.approx(spans(events[events["kind"] == kind]), abs=2e-7)
            assert track.spent(name) == pytest.approx(np.diff(spans(events[events["kind"] == kind])).sum(), abs=1e-4)
        jobs = events[events["kind"] == JOB]
        assert track.jobs == pytest.approx(spans(jobs), abs=2e-7)
        assert (track.stopped == (jobs["outcome"] == STOPPED)).all()
        assert (~track.stopped == (jobs["outcome"] == DONE)).all()
        for kind, name in ((SPLIT, "splits"), (NARROWED, "narrowed")):
            assert getattr(track, name) == pytest.approx(spans(events[events["kind"] == kind])[:, 0], abs=2e-7)


def test_shares_are_what_a_fine_clock_counts(rng):
    cuts = sorted(rng.uniform(0, 10) for _ in range(2 * rng.randint(1, 60)))
    spans, edges = np.array(cuts).reshape(-1, 2), np.sort([rng.uniform(-1, 11) for _ in range(12)])
    found = tracks_of.shares(spans, edges)
    for i, (low, high) in enumerate(zip(edges, edges[1:], strict=False)):
        inside = sum(max(0.0, min(end, high) - max(begin, low)) for begin, end in spans)
        assert found[i] == pytest.approx(inside / (high - low), abs=1e-9)
    assert (tracks_of.shares(np.empty((0, 2)), edges) == 0).all()


def event(**more):
    return {"ph": "X", "ts": 0, "dur": 1, "pid": 1, "tid": 1, "name": "work", **more}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        "7",
        '{"traceEvents": 1}',
        '{"traceEvents": [1]}',
        '{"traceEvents": []}',
        "[" * 10**5,
        *(
            json.dumps({"traceEvents": [event(**more)]})
            for more in (
                {"ph": "e"},
                {"ts": "x"},
                {"dur": float("nan")},
                {"name": "other"},
                {"tid": None},
                {"tid": float("inf")},
                {"ph": "b"},
                {"ph": "M", "name": "process_name"},
            )
        ),
    ],
    ids=lambda content: content[:50],
)
def test_what_is_no_timeline_is_said_in_a_line(content, tmp_path):
    (tmp_path / "t").write_text(content)
    with pytest.raises(UserError, match=r"timeline"):
        tracks_of.read(str(tmp_path / "t"))
    with pytest.raises(UserError, match=r"^cannot read the timeline"):
        tracks_of.read(str(tmp_path / "none"))
