"""The worker as a state machine, with toy jobs and a clock that only they move: one run after another."""

from functools import partial

import numpy as np
import pytest

from distsearch.cluster.messages import LARGEST, METRICS_RECORD, Message, MessageType, to_records
from distsearch.cluster.worker import SLICE, Worker

from .toys import (
    SETUP_TEXT,
    BatchRunner,
    Clock,
    Runner,
    jobs_message,
    open_message,
    results_of,
    setup_message,
    toy_worker,
    work,
)

RUN = 7


@pytest.fixture(params=[Runner, BatchRunner])
def opened(request):
    """``opened(rate)``: a (Worker, its Clock), ready for jobs of RUN; with jobs one by one, or in batches."""

    def make(rate=1e6):
        worker, clock = toy_worker(request.param)
        worker.handle(setup_message(rate))
        worker.handle(Message(MessageType.START, RUN))
        worker.handle(open_message(RUN))
        return worker, clock

    return make


def give(worker, *sizes, run=RUN):
    assert worker.handle(jobs_message(run, *sizes)) == []


def metrics(worker):
    (message,) = worker.handle(Message(MessageType.METRICS_REQUEST, RUN))
    assert (message.type, message.run) == (MessageType.METRICS, RUN)
    return to_records(message.payload, METRICS_RECORD)[0]


def types(messages):
    return [message.type for message in messages]


# --- a run ---


def test_a_setup_is_answered_when_it_is_compiled():
    worker, _ = toy_worker()
    (answer,) = worker.handle(Message(MessageType.SETUP, 3, np.frombuffer(SETUP_TEXT, np.uint8)))
    assert (answer.type, answer.run) == (MessageType.READY, 3)
    assert not worker.has_work


def test_jobs_are_done_in_order(opened):
    worker, _ = opened()
    give(worker, 5000, 1, 7000)
    give(worker, 20)
    assert worker.has_work
    sent = work(worker)
    assert {(message.type, message.run) for message in sent} == {(MessageType.RESULTS, RUN)}
    records = np.concatenate([results_of(message) for message in sent])
    assert records["job_id"].tolist() == [0, 1, 2, 0]
    assert records["nodes"].tolist() == [5000, 1, 7000, 20]
    assert records["complete"].all()


def test_a_job_tells_what_it_took(opened):
    worker, clock = opened(rate=1e6)
    clock.spend(5)
    give(worker, 300_000)
    (message,) = work(worker)
    record = results_of(message)[0]
    assert record["seconds"] == pytest.approx(0.3)
    assert record["cpu"] == pytest.approx(0.3)


def test_small_jobs_are_answered_together(opened):
    worker, _ = opened(rate=1e6)
    give(worker, *[10] * 1000)  # 10 ms in all
    sent = work(worker)
    assert sum(len(results_of(message)) for message in sent) == 1000
    # a message for each slice of 2 ms, or as many as its bytes need that MPI takes at once
    full = [message for message in sent if len(message.payload) + results_of(message).itemsize > LARGEST]
    assert all(len(message.payload) <= LARGEST for message in sent)
    assert 4 <= len(sent) - len(full) <= 6


def counting(made):
    """A kind of job whose runners note in ``made`` when they are made and when they are compiled."""

    class Counted(Runner):
        def __init__(self, setup):
            made.append("made")
            super().__init__(Clock(), set(), setup)

        def compile(self):
            made.append("compiled")
            super().compile()

    return {"toy": Counted}


def test_a_runner_is_kept_for_the_next_run_of_its_setup():
    made = []
    worker = Worker(counting(made))
    for setup, rate in ((1, 1e6), (2, 1e5)):
        assert types(worker.handle(setup_message(rate, setup))) == [MessageType.READY]
    assert made == ["made", "compiled"] * 2
    for run in range(1, 7):
        worker.handle(open_message(run, setup=1 + run % 2))
        give(worker, 100, 100_000, 100, run=run)
        work(worker)
        worker.handle(Message(MessageType.END, run))
    assert made == ["made", "compiled"] * 2


def test_a_runner_is_told_the_number_of_each_run_before_its_jobs():
    heard = []

    class Listening(Runner):
        def open(self, run):
            heard.append((self._rate, "run", run))

        def begin(self, job):
            heard.append((self._rate, "job", int(job["job_id"])))
            super().begin(job)

    clock = Clock()
    worker = Worker({"toy": partial(Listening, clock, set())}, clock, clock)
    rates = {1: 1e6, 2: 1e5}
    for setup, rate in rates.items():
        worker.handle(setup_message(rate, setup))
    runs = (1, 1), (2, 1), (3, 2), (300, 1)
    for run, setup in runs:
        worker.handle(open_message(run, setup))
        give(worker, 10, 20, run=run)
        work(worker)
    assert heard == [(rates[setup], *what) for run, setup in runs for what in (("run", run), ("job", 0), ("job", 1))]


def test_a_run_may_be_silent_for_a_while(opened):
    worker, _ = opened()
    for _ in range(3):
        give(worker, 10)
        assert types(work(worker)) == [MessageType.RESULTS]
        assert not worker.has_work
    assert worker.handle(Message(MessageType.END, RUN)) == []


def test_what_is_forgotten_may_be_prepared_again():
    made = []
    worker = Worker(counting(made))
    worker.handle(setup_message(1e6, 1))
    assert worker.handle(Message(MessageType.FORGET, 1)) == []
    assert types(worker.handle(setup_message(1e6, 2))) == [MessageType.READY]
    worker.handle(open_message(RUN, setup=2))
    give(worker, 10)
    assert types(work(worker)) == [MessageType.RESULTS]
    assert made == ["made", "compiled"] * 2


# --- slices ---


def slices_of(worker, clock):
    """Work until nothing is left; return what every slice took."""
    slices = []
    while worker.has_work:
        began = clock.now
        worker.work()
        slices.append(clock.now - began)
    return slices


@pytest.mark.parametrize("rate", [1e5, 1e6, 1e8])
def test_slices_last_about_as_long_as_they_should(rate, opened):
    worker, clock = opened(rate)
    give(worker, *[int(rate / 5)] * 5)
    slices = slices_of(worker, clock)
    assert max(slices[1:]) <= 2 * SLICE + 1e-9  # before the first, the rate is not known
    assert sorted(slices)[len(slices) // 2] >= SLICE / 2


def test_a_long_job_takes_one_slice_at_a_time_on_a_processor_of_changing_speed(opened, rng):
    worker, clock = opened(rate=1e6)
    give(worker, 10_000_000)
    slices = []
    for _ in range(500):
        clock.slowness = rng.uniform(0.9, 1.1)
        began = clock.now
        worker.work()
        slices.append(clock.now - began)
    assert max(slices[5:]) <= 1.3 * SLICE


def test_slices_shorten_when_nodes_take_longer(opened):
    worker, clock = opened(rate=1e8)
    give(worker, 10**8)
    work(worker)
    clock.slowness = 100
    give(worker, *[50_000] * 20)  # each job is less than a slice was, and now takes 50 ms
    assert max(slices_of(worker, clock)[1:]) <= 2 * SLICE + 1e-9


def test_a_slower_setup_does_not_begin_with_the_slices_of_a_faster_one(opened):
    worker, clock = opened(rate=1e9)
    give(worker, 10**9)
    work(worker)
    worker.handle(setup_message(1e5, 2))
    worker.handle(open_message(RUN + 1, setup=2))
    give(worker, 10**6, run=RUN + 1)
    assert slices_of(worker, clock)[0] <= 0.05


def test_a_long_job_reports_once_a_second(opened):
    worker, clock = opened(rate=1e6)
    give(worker, 4_500_000)
    sent = work(worker)
    assert types(sent) == [MessageType.NODE_COUNT] * 4 + [MessageType.RESULTS]
    nodes = [int(to_records(message.payload, np.int64)[0]) for message in sent[:-1]]
    assert nodes == pytest.approx([1_000_000, 2_000_000, 3_000_000, 4_000_000], rel=0.02)


# --- stopping ---


def test_a_stop_sends_what_the_job_at_work_knows(opened):
    worker, _ = opened(rate=1e6)
    give(worker, 10, 1_000_000, 20)
    sent = worker.work() + worker.handle(Message(MessageType.STOP, RUN))
    assert types(sent) == [MessageType.RESULTS, MessageType.RESULTS, MessageType.STOPPED]
    done, partial = (results_of(message)[0] for message in sent[:2])
    assert (done["job_id"], done["complete"]) == (0, 1)
    assert (partial["job_id"], partial["complete"]) == (1, 0)
    assert 0 < partial["nodes"] < 1_000_000
    assert not worker.has_work


def test_a_stop_before_the_first_slice_drops_all_jobs(opened):
    worker, _ = opened()
    give(worker, 10, 20)
    assert types(worker.handle(Message(MessageType.STOP, RUN))) == [MessageType.STOPPED]
    assert not worker.has_work


def test_a_stop_without_work_is_answered(opened):
    worker, _ = opened()
    assert types(worker.handle(Message(MessageType.STOP, RUN))) == [MessageType.STOPPED]


@pytest.mark.parametrize("run", [0, RUN, RUN + 5])
def test_it_leaves_when_told_to(run, opened):
    worker, _ = opened()
    assert not worker.has_left
    assert worker.handle(Message(MessageType.QUIT, run)) == []
    assert worker.has_left


# --- timers ---


def test_timers_tell_where_the_time_went():
    worker, clock = toy_worker()
    worker.handle(setup_message(1e6))
    worker.handle(open_message(RUN))
    clock.spend(100)  # until all others are ready
    worker.handle(Message(MessageType.START, RUN))
    give(worker, 500_000, 300_000)
    clock.spend(2)
    work(worker)
    worker.timers.idle += 2
    worker.timers.communication += 0.25
    clock.spend(0.25)
    found = metrics(worker)
    assert found["wall"] == pytest.approx(3.05)
    assert found["busy"] == pytest.approx(0.8)
    assert found["cpu"] == pytest.approx(0.8)
    assert (found["idle"], found["communication"], found["jobs"]) == (2, 0.25, 2)


def test_it_tells_when_its_last_slice_began_and_ended(opened):
    worker, clock = opened()
    give(worker, 1_000_000)
    for _ in range(3):
        clock.spend(1)
        began = clock()
        worker.work()
        assert worker.slice == (began, clock())


def test_a_stopped_job_is_not_counted_as_done(opened):
    worker, _ = opened()
    give(worker, 10, 1_000_000)
    worker.work()
    worker.handle(Message(MessageType.STOP, RUN))
    assert metrics(worker)["jobs"] == 1


def test_timers_begin_anew_when_they_are_told_to(opened):
    worker, _ = opened()
    give(worker, 1_000_000)
    work(worker)
    worker.handle(Message(MessageType.START, RUN))
    found = metrics(worker)
    assert (found["wall"], found["busy"], found["cpu"], found["jobs"]) == (0, 0, 0, 0)


@pytest.mark.parametrize("message", [open_message(RUN + 1), setup_message(1e5, 2), Message(MessageType.END, RUN)])
def test_timers_go_on_whatever_else_comes(message, opened):
    worker, clock = opened()
    give(worker, 1_000_000)
    work(worker)
    worker.handle(message)
    clock.spend(1)
    found = metrics(worker)
    assert (found["wall"], found["busy"], found["jobs"]) == (pytest.approx(2), pytest.approx(1), 1)
