"""Timelines: what a rank did when, in bounded memory, and what of it comes to the master."""

import numpy as np
import pytest

from distsearch.cluster.messages import Message, MessageType, from_records, to_records
from distsearch.cluster.trace import COMMUNICATION, EVENT, IDLE, JOB, SPLIT, WORK, Timeline, Trace

from .toys import jobs_message, open_message, setup_message, toy_worker, work

JOB_RECORD = np.dtype([("job_id", "i4"), ("low", "i4"), ("high", "i4"), ("state", "u8", 2)])
RESULT = np.dtype([("complete", "i1"), ("nodes", "i8"), ("score", "f8")])
KINDS = WORK, COMMUNICATION, IDLE


def sums(events):
    lengths = events["ended"] - events["began"]
    return [lengths[events["kind"] == kind].sum() for kind in KINDS]


def assert_in_order(events):
    slices = events[events["kind"] <= IDLE]
    assert (slices["began"][1:] >= slices["ended"][:-1] - 1e-9).all()


@pytest.mark.parametrize("most", [64, 512])
def test_sums_and_jobs_are_kept_however_much_happens(most, rng):
    trace, now, took, jobs = Trace(most), 5.0, [0.0] * 3, 0
    for i in range(20_000):
        kind = KINDS[i % 3] if rng.random() < 0.9 else rng.choice(KINDS)
        length = rng.choice([1e-6, 1e-4, 1e-4, 1e-2]) * rng.uniform(0.5, 2)
        jobs += 3 * (kind == WORK)
        trace.slice(kind, now, now + length, 3 if kind == WORK else 0)
        now += length
        took[kind] += length
        if rng.random() < 0.05:
            trace.instant(SPLIT, now, i)
        if kind == WORK and rng.random() < 0.3:
            trace.job(np.zeros((), JOB_RECORD), np.zeros((), RESULT), now - length, now)
    events = trace.records()
    assert len(events) <= most
    assert sums(events) == pytest.approx(took)
    assert events["jobs"].sum() == jobs
    assert_in_order(events)
    assert events["ended"].max() == pytest.approx(now)
    assert {SPLIT} <= set(events["kind"].tolist())


def test_what_goes_on_is_one_slice_but_every_slice_of_work_is_told():
    trace = Trace()
    for i in range(100):
        trace.slice(IDLE, float(i), i + 1.0)
    trace.slice(WORK, 100.0, 101.0, 1)
    trace.slice(WORK, 101.0, 102.0, 2)
    trace.slice(WORK, 102.0, 102.0, 2)  # nothing
    for began in (105.0, 104.0):  # what was between them is told later
        trace.slice(COMMUNICATION, began, began + 0.5)
    events = trace.records()
    found = events[["kind", "began", "ended", "jobs"]].tolist()
    assert found == [
        (IDLE, 0, 100, 0),
        (WORK, 100, 101, 1),
        (WORK, 101, 102, 2),
        (COMMUNICATION, 104, 104.5, 0),
        (COMMUNICATION, 105, 105.5, 0),
    ]


def test_a_diary_has_no_gap():
    diary = Timeline(64)
    kinds = COMMUNICATION, COMMUNICATION, IDLE, COMMUNICATION, IDLE, IDLE, None
    for kind, now in zip(kinds, (5.0, 6.0, 6.5, 8.0, 8.0, 9.0, 9.5), strict=True):
        diary.switch_to(kind, now)
    found = diary.trace.records()[["kind", "began", "ended"]].tolist()
    assert found == [(COMMUNICATION, 5, 6.5), (IDLE, 6.5, 9.5)]


def test_a_job_is_told_with_all_that_its_record_has():
    trace = Trace()
    job, result = np.zeros((), JOB_RECORD), np.zeros((), RESULT)
    job["job_id"], job["low"], job["high"], job["state"] = 7, -3, 5, (11, 12)
    result["complete"], result["nodes"], result["score"] = 1, 1000, -2
    trace.job(job, result, 1.0, 2.0)
    (event,) = trace.records()
    assert event["kind"] == JOB
    assert event[["job_id", "low", "high", "nodes", "score", "words"]].item() == (7, -3, 5, 1000, -2, 2)
    assert event["state"][:2].tolist() == [11, 12]


def test_a_worker_that_has_no_job_yet_keeps_its_timeline_while_it_is_asked():
    worker, _ = toy_worker()
    worker.handle(setup_message(1e6))
    worker.handle(Message(MessageType.START, 7, from_records(np.array([256], np.int64))))
    assert [message.type for message in worker.handle(Message(MessageType.METRICS_REQUEST, 7))] == [MessageType.METRICS]
    assert worker.timers.trace


@pytest.mark.parametrize("traced", [0, 256])
def test_a_worker_tells_its_timeline_once_the_run_is_over(traced):
    worker, clock = toy_worker()
    worker.handle(setup_message(1e6))
    worker.handle(open_message(7))
    worker.handle(Message(MessageType.START, 7, from_records(np.array([traced][:traced], np.int64))))
    began = clock.now
    worker.handle(jobs_message(7, 5000, 100, 9000))
    work(worker)
    (answer,) = worker.handle(Message(MessageType.METRICS_REQUEST, 7))
    assert answer.type == MessageType.METRICS
    worker.handle(Message(MessageType.END, 7))
    messages = worker.handle(Message(MessageType.METRICS_REQUEST, 7, from_records(np.ones(1, np.int64))))
    assert [message.type for message in messages] == ([MessageType.TIMELINE] if traced else []) + [MessageType.METRICS]
    if traced:
        events = to_records(messages[0].payload, EVENT)
        assert sums(events)[0] == pytest.approx(clock.now - began)
        spans = events[events["kind"] == JOB]
        assert sorted(spans["nodes"].tolist()) == [100, 5000, 9000]
        assert spans["ended"].max() == clock.now
