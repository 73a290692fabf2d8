"""The master as a state machine, spoken to by hand, with toy jobs: one run at a time."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from distsearch.cluster.events import Drop, Leave
from distsearch.cluster.master import Master
from distsearch.cluster.messages import OPEN_RECORD, MessageType, from_records, to_records

from .talk import TWO_HOSTS, Talk, jobs, metrics_payload, started, summary, workers
from .toys import SETUP_TEXT, Source, results_payload

measured_or_not = pytest.mark.parametrize("measured", [False, True], ids=["unmeasured", "measured"])


def to_all(kind, ranks):
    return [(kind, rank) for rank in ranks]


# --- making ready ---


@measured_or_not
def test_one_worker_of_each_host_makes_itself_ready_first(measured):
    talk = Talk(TWO_HOSTS)
    sent = talk.begin(Source([1] * 9), measured=measured)
    assert sorted(summary(sent)) == [(MessageType.SETUP, 1), (MessageType.SETUP, 3)]
    assert all(outgoing.message.payload.tobytes() == SETUP_TEXT for outgoing in sent)
    assert summary(talk.ready(3))[0] == (MessageType.SETUP, 4)
    assert sorted(summary(talk.ready(1)))[:2] == [(MessageType.SETUP, 2), (MessageType.SETUP, 5)]


def test_a_measured_run_starts_when_all_are_ready():
    talk = Talk(TWO_HOSTS)
    source = Source([1] * 9)
    talk.begin(source, measured=True)
    for worker in (3, 1, 4, 5):
        assert not jobs(talk.ready(worker))
        assert not talk.state.started
    assert source.taken == []
    sent = talk.ready(2)
    assert talk.state.started
    assert summary(sent)[:5] == to_all(MessageType.START, TWO_HOSTS)
    assert {worker for worker, _ in jobs(sent)} == set(TWO_HOSTS)


def test_any_other_run_starts_with_the_first_that_is_ready():
    talk = Talk(TWO_HOSTS)
    talk.begin(Source([1] * 90))
    assert not talk.state.started
    for worker in (3, 1, 4, 5, 2):
        sent = talk.ready(worker)
        assert talk.state.started
        assert {each for each, _ in jobs(sent)} == {worker}
        assert MessageType.START not in dict(summary(sent))


@measured_or_not
def test_a_setup_is_sent_once(measured):
    talk, _ = started(3, Source([]))
    talk.metrics()
    sent = talk.begin(Source([1] * 9), measured=measured)
    assert MessageType.SETUP not in dict(summary(sent))
    assert {worker for worker, _ in jobs(sent)} == {1, 2, 3}


def test_a_worker_hears_whose_run_it_is_before_the_first_jobs():
    talk = Talk(workers(2))
    source = Source([1] * 20)
    talk.begin(source, client=7, weight=2.5)
    sent = talk.ready(1)
    assert summary(sent) == [
        (MessageType.SETUP, 2),
        (MessageType.OPEN, 1),
        (MessageType.JOBS, 1),
        (MessageType.JOBS, 1),
    ]
    assert {outgoing.message.run for outgoing in sent[1:]} == {talk.run}
    record = to_records(sent[1].message.payload, OPEN_RECORD)[0]
    assert (record["setup"], record["client"], record["weight"]) == (1, 7, 2.5)
    assert summary(talk.answer(1, [0])) == [(MessageType.JOBS, 1)]
    assert summary(talk.ready(2)) == [(MessageType.OPEN, 2), (MessageType.JOBS, 2), (MessageType.JOBS, 2)]


# --- handing out ---


def test_everybody_has_a_job_before_anybody_has_two():
    _, sent = started(4, Source([1] * 100), prefetch=3)
    receivers = [worker for worker, _ in jobs(sent)]
    assert receivers == [1, 2, 3, 4] * 3


@pytest.mark.parametrize("prefetch", [1, 2, 5])
def test_no_more_than_prefetch_large_jobs_are_at_a_worker(prefetch, rng):
    source = Source([1] * 200)
    talk, sent = started(3, source, prefetch=prefetch)
    out = defaultdict(list)
    while not source.done:
        for worker, nodes in jobs(sent):
            out[worker] += nodes
        assert max(map(len, out.values())) <= prefetch
        worker = rng.choice([worker for worker in out if out[worker]])
        sent = talk.answer(worker, [out[worker].pop(0)], seconds=0.5)


@pytest.mark.parametrize(("seconds", "batch"), [(1e-3, 1), (1e-4, 10), (1e-5, 100), (0.0, 1000)])
def test_small_jobs_travel_together(seconds, batch, rng):
    source = Source([1] * 200_000)
    talk, sent = started(2, source)
    out = defaultdict(list)
    for exchange in range(50):
        for worker, nodes in jobs(sent):
            assert exchange == 0 or len(nodes) == pytest.approx(batch, rel=0.1)
            out[worker] += nodes
        assert max(map(len, out.values())) <= 2.1 * batch
        worker = rng.choice((1, 2))
        done, out[worker] = out[worker], []
        sent = talk.answer(worker, done, seconds)


AHEAD = {"batch": 4e-3, "ahead": 12}  # as streams of positions have it


def test_the_first_answers_bring_no_large_batches(rng):
    talk, sent = started(5, Source([1] * 1000), **AHEAD)
    out = defaultdict(list)
    for answered in range(100):
        for worker, nodes in jobs(sent):
            out[worker] += nodes
        # easy jobs are answered first, and tell nothing of those that are at work
        assert max(map(len, out.values())) <= max(2, answered // 5)
        worker = rng.choice((1, 2))
        sent = talk.answer(worker, [out[worker].pop(0)], seconds=1e-5)


def test_easy_jobs_travel_in_large_batches_where_many_are_ahead():
    source = Source([1] * 100_000)
    talk, sent = started(2, source, **AHEAD)
    out, messages = defaultdict(list), 0
    while not source.done:
        for worker, nodes in jobs(sent):
            out[worker].append(nodes)
        messages += 1
        worker = max(out, key=lambda worker: len(out[worker]))
        sent = talk.answer(worker, out[worker].pop(0), seconds=1e-6)
    assert messages < 300


def test_the_last_long_jobs_are_handed_out_one_at_a_time(rng):
    source = Source([1] * 60)
    talk, sent = started(5, source, **AHEAD)
    out = defaultdict(list)
    while not source.done:
        for worker, nodes in jobs(sent):
            out[worker] += nodes
        assert len(out[max(out, key=lambda worker: len(out[worker]))]) <= 2
        if source.waiting < 10:
            assert max(map(len, out.values())) <= 1
            assert all(map(len, out.values())) or not source.waiting
        worker = rng.choice([worker for worker in out if len(out[worker]) == max(map(len, out.values()))])
        sent = talk.answer(worker, [out[worker].pop(0)], seconds=0.1)


@pytest.mark.parametrize("count", [1, 3, 5, 6, 9])
def test_few_jobs_are_shared_out(count):
    source = Source([1] * count)
    _, sent = started(5, source, prefetch=4)
    shares = Counter(worker for worker, _ in source.taken)
    # with fewer left than workers, the worker that is ready first gets the next one
    assert sorted(shares.values()) == [1] * min(count, 5)
    assert all(len(nodes) == 1 for _, nodes in jobs(sent))


def test_a_worker_that_got_none_gets_the_next_job():
    source = Source([1, 1], more=[1] * 8)
    talk, sent = started(4, source)
    assert [worker for worker, _ in jobs(sent)] == [1, 2]
    assert not jobs(talk.answer(1, [0]))
    sent = talk.answer(2, [1])
    assert {worker for worker, _ in jobs(sent)} == {1, 2, 3, 4}


def test_results_reach_the_source():
    source = Source([1] * 6)
    talk, sent = started(2, source)
    assert jobs(sent) == [(1, [0]), (2, [1]), (1, [2]), (2, [3])]
    talk.answer(2, [1, 3])
    talk.answer(1, [0])
    assert source.finished == [1, 3, 0]


def test_progress_is_of_the_jobs_at_work():
    talk, _ = started(2, Source([1] * 6))
    assert talk.progress(1, 1000) == []
    talk.progress(2, 500)
    talk.progress(1, 2000)
    assert talk.state.nodes_at_work == 2500
    talk.answer(1, [0])
    assert talk.state.nodes_at_work == 500


# --- the end ---


def test_a_run_ends_with_the_last_result():
    talk = Talk(workers(3))
    talk.begin(Source([1, 1]))
    talk.all_ready()
    assert talk.answer(1, [0]) == []
    sent = talk.answer(2, [1])
    assert summary(sent) == to_all(MessageType.END, [1, 2])  # the third worker has not heard of it
    assert not talk.is_open


def test_a_measured_run_ends_when_all_have_said_where_their_time_went():
    talk, _ = started(3, Source([1, 1]))
    assert talk.answer(1, [0]) == []
    sent = talk.answer(2, [1])
    assert summary(sent) == [*to_all(MessageType.END, [1, 2]), *to_all(MessageType.METRICS_REQUEST, [1, 2, 3])]
    talk.metrics()
    assert {worker: float(record["wall"]) for worker, record in talk.master.metrics.items()} == {1: 1, 2: 2, 3: 3}


def test_a_source_that_has_enough_stops_the_others():
    talk, _ = started(3, Source([1] * 10, enough=1))
    sent = talk.answer(2, [1])
    assert summary(sent) == to_all(MessageType.STOP, [1, 2, 3])
    assert talk.answer(3, [2]) == []
    assert summary(talk.stopped([1, 2, 3])) == [
        *to_all(MessageType.END, [1, 2, 3]),
        *to_all(MessageType.METRICS_REQUEST, [1, 2, 3]),
    ]
    talk.metrics()


def test_a_source_may_be_done_before_anybody_is_ready():
    talk = Talk(TWO_HOSTS)
    assert sorted(summary(talk.begin(Source([])))) == [(MessageType.SETUP, 1), (MessageType.SETUP, 3)]
    assert not talk.is_open
    assert summary(talk.ready(1)) == [(MessageType.SETUP, 2), (MessageType.SETUP, 5)]


def test_a_measured_run_waits_for_all_even_where_nothing_is_to_be_done():
    talk = Talk(TWO_HOSTS)
    talk.begin(Source([]), measured=True)
    for worker in (1, 3, 4, 5):
        talk.ready(worker)
        assert not talk.state.started
    assert summary(talk.ready(2)) == [
        *to_all(MessageType.START, TWO_HOSTS),
        *to_all(MessageType.METRICS_REQUEST, TWO_HOSTS),
    ]
    talk.metrics()
    assert set(talk.master.metrics) == set(TWO_HOSTS)


@pytest.mark.parametrize(
    ("measured", "ready"),
    [(False, []), (True, []), (True, [1, 3, 4])],
    ids=["unmeasured", "measured", "measured, some are ready"],
)
def test_a_run_halted_before_it_started_ends_at_once(measured, ready):
    talk = Talk(TWO_HOSTS)
    source = Source([1] * 5)
    talk.begin(source, measured=measured)
    for worker in ready:
        talk.ready(worker)
    assert not talk.state.started
    assert talk.halt() == []
    assert not talk.is_open
    assert talk.master.metrics == {}
    assert source.taken == []


def test_what_a_halted_run_asked_for_goes_on_being_prepared():
    talk = Talk(TWO_HOSTS)
    talk.begin(Source([1] * 5), measured=True)
    talk.ready(1)
    talk.halt()
    assert summary(talk.ready(3)) == [(MessageType.SETUP, 4)]
    for worker in (2, 4, 5):
        assert talk.ready(worker) == []
    assert jobs(talk.begin(Source([1] * 5), measured=True))


def test_halt_stops_those_at_work():
    talk, _ = started(3, Source([1, 1]))
    assert summary(talk.halt()) == to_all(MessageType.STOP, [1, 2])
    assert talk.answer(1, [0]) == []
    assert talk.stopped([2]) == []
    assert summary(talk.stopped([1])) == [
        *to_all(MessageType.END, [1, 2]),
        *to_all(MessageType.METRICS_REQUEST, [1, 2, 3]),
    ]


def test_a_halted_run_hands_out_nothing():
    source = Source([1] * 50)
    talk, _ = started(2, source)
    talk.halt()
    taken = len(source.taken)
    assert talk.answer(1, [0]) == talk.more() == []
    assert len(source.taken) == taken
    assert source.finished == [0]  # what was done is not lost


def test_halt_twice_and_after_the_end_is_harmless():
    talk, _ = started(2, Source([1] * 5))
    assert summary(talk.halt()) == to_all(MessageType.STOP, [1, 2])
    assert talk.halt() == []
    talk.stopped([1, 2])
    assert talk.halt() == []
    talk.metrics()
    assert talk.halt() == []
    assert not talk.is_open
    assert jobs(talk.begin(Source([1] * 2), measured=True))


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (MessageType.RESULTS, results_payload([0])),
        (MessageType.NODE_COUNT, from_records(np.array([9], np.int64))),
        (MessageType.STOPPED, None),
        (MessageType.METRICS, metrics_payload()),
    ],
    ids=["results", "progress", "stopped", "metrics"],
)
def test_late_messages_of_a_run_that_is_over_are_ignored(kind, payload):
    talk, _ = started(2, Source([1] * 5))
    talk.halt()
    talk.stopped([1, 2])
    talk.metrics()
    source = Source([1] * 5)
    talk.begin(source, measured=True)
    taken = list(source.taken)
    assert talk.say(1, kind, payload, run=talk.run - 1) == []
    assert source.taken == taken
    assert source.results == []
    assert talk.state.nodes_at_work == 0
    talk.halt()
    talk.stopped([1, 2])
    assert talk.is_open  # no metrics are in
    talk.metrics()


# --- setups and workers that are needed no more ---


def test_all_that_were_told_of_a_setup_forget_it():
    talk = Talk(TWO_HOSTS)
    talk.begin(Source([]))
    talk.ready(1)
    sent = talk.master.handle(Drop(SETUP_TEXT))
    assert sorted(summary(sent)) == to_all(MessageType.FORGET, [1, 2, 3, 5])  # 4 was to hear of it from 3
    assert {outgoing.message.run for outgoing in sent} == {1}


def test_a_setup_of_no_run_may_be_dropped():
    talk = Talk(TWO_HOSTS)
    assert talk.master.handle(Drop(SETUP_TEXT)) == []


def test_ready_for_a_dropped_setup_has_no_answer():
    talk = Talk(TWO_HOSTS)
    talk.begin(Source([]))
    talk.master.handle(Drop(SETUP_TEXT))
    assert talk.ready(3) == talk.ready(1) == []


def test_a_dropped_setup_may_come_again():
    talk = Talk(workers(2))
    talk.begin(Source([]))
    talk.all_ready()
    talk.master.handle(Drop(SETUP_TEXT))
    sent = talk.begin(Source([1] * 4))
    assert [(outgoing.message.type, outgoing.to, outgoing.message.run) for outgoing in sent] == [
        (MessageType.SETUP, 1, 2)
    ]
    assert talk.say(2, MessageType.READY, run=1) == []  # of the old one
    assert {worker for worker, _ in jobs(talk.ready(1, setup=2))} == {1}


def test_workers_are_let_go():
    talk = Talk(workers(3))
    assert summary(talk.master.handle(Leave())) == to_all(MessageType.QUIT, [1, 2, 3])


def test_an_unknown_event_is_refused():
    with pytest.raises(TypeError):
        Master(workers(1)).handle("hello")
