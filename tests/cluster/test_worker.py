"""The worker as a state machine, with toy jobs and a clock that only they move."""

import json
from functools import partial

import numpy as np
import pytest

from distsearch.cluster.messages import (
    END,
    JOBS,
    METRICS,
    METRICS_RECORD,
    PROGRESS,
    QUIT,
    READY,
    RESULTS,
    SETUP,
    START,
    STOP,
    STOPPED,
    Message,
    to_records,
)
from distsearch.cluster.worker import SLICE, Worker

from .toys import SETUP_TEXT, Clock, Runner, jobs_payload, results_of, toy_worker

RUN = 7


def setup(rate, run=RUN):
    """A SETUP message for runners of so many boards a second."""
    return Message(SETUP, run, np.frombuffer(json.dumps({"kind": "toy", "rate": rate}).encode(), np.uint8))


def opened(rate=1e6):
    """Return (Worker, its Clock), ready for jobs."""
    worker, clock = toy_worker()
    worker.handle(setup(rate))
    worker.handle(Message(START, RUN))
    return worker, clock


def give(worker, *sizes):
    assert worker.handle(Message(JOBS, RUN, jobs_payload(*sizes))) == []


def work(worker):
    """Work until nothing is left; return all messages."""
    sent = []
    while worker.has_work:
        sent += worker.work()
    return sent


def metrics(worker):
    (message,) = worker.handle(Message(END, RUN))
    assert (message.type, message.run) == (METRICS, RUN)
    return to_records(message.payload, METRICS_RECORD)[0]


def types(messages):
    return [message.type for message in messages]


# --- a run ---


def test_a_setup_is_answered_when_it_is_compiled():
    worker, _ = toy_worker()
    (answer,) = worker.handle(Message(SETUP, RUN, np.frombuffer(SETUP_TEXT, np.uint8)))
    assert (answer.type, answer.run) == (READY, RUN)
    assert not worker.has_work


def test_jobs_are_done_in_order():
    worker, _ = opened()
    give(worker, 5000, 1, 7000)
    give(worker, 20)
    assert worker.has_work
    sent = work(worker)
    assert {(message.type, message.run) for message in sent} == {(RESULTS, RUN)}
    records = np.concatenate([results_of(message) for message in sent])
    assert records["node"].tolist() == [0, 1, 2, 0]
    assert records["boards"].tolist() == [5000, 1, 7000, 20]
    assert records["complete"].all()


def test_a_job_tells_what_it_took():
    worker, clock = opened(rate=1e6)
    clock.spend(5)
    give(worker, 300_000)
    (message,) = work(worker)
    record = results_of(message)[0]
    assert record["seconds"] == pytest.approx(0.3)
    assert record["cpu"] == pytest.approx(0.3)


def test_small_jobs_are_answered_together():
    worker, _ = opened(rate=1e6)
    give(worker, *[10] * 1000)  # 10 ms in all
    sent = work(worker)
    assert 4 <= len(sent) <= 6
    assert sum(len(results_of(message)) for message in sent) == 1000


def test_a_runner_is_kept_for_the_next_run_of_its_setup():
    made = []

    class Counted:
        def __init__(self, setup):
            made.append(setup["name"])

        def compile(self):
            made.append("compiled")

        def open(self, run):
            """A new run begins."""

    worker = Worker({"counted": Counted})
    for run, name in enumerate("abab", 1):
        text = json.dumps({"kind": "counted", "name": name}).encode()
        assert types(worker.handle(Message(SETUP, run, np.frombuffer(text, np.uint8)))) == [READY]
    assert made == ["a", "compiled", "b", "compiled"]


def test_a_runner_is_told_the_number_of_each_run_before_its_jobs():
    heard = []

    class Listening(Runner):
        def open(self, run):
            assert self.compiled
            heard.append((self._rate, "run", run))

        def begin(self, job):
            heard.append((self._rate, "job", int(job["node"])))
            super().begin(job)

    clock = Clock()
    worker = Worker({"toy": partial(Listening, clock)}, clock, clock)
    runs = (1, 1e6), (2, 1e6), (3, 1e5), (300, 1e6)
    for run, rate in runs:
        worker.handle(setup(rate, run))
        worker.handle(Message(START, run))
        worker.handle(Message(JOBS, run, jobs_payload(10, 20)))
        work(worker)
    assert heard == [(rate, *what) for run, rate in runs for what in (("run", run), ("job", 0), ("job", 1))]


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
def test_slices_last_about_as_long_as_they_should(rate):
    worker, clock = opened(rate)
    give(worker, *[int(rate / 5)] * 5)
    slices = slices_of(worker, clock)
    assert max(slices[1:]) <= 2 * SLICE + 1e-9  # before the first, the rate is not known
    assert sorted(slices)[len(slices) // 2] >= SLICE / 2


def test_slices_shorten_when_boards_take_longer():
    worker, clock = opened(rate=1e8)
    give(worker, 10**8)
    work(worker)
    clock.slowness = 100
    give(worker, *[50_000] * 20)  # each job is less than a slice was, and now takes 50 ms
    assert max(slices_of(worker, clock)[1:]) <= 2 * SLICE + 1e-9


def test_a_slower_setup_does_not_begin_with_the_slices_of_a_faster_one():
    worker, clock = opened(rate=1e9)
    give(worker, 10**9)
    work(worker)
    worker.handle(setup(1e5, RUN + 1))
    worker.handle(Message(JOBS, RUN + 1, jobs_payload(10**6)))
    assert slices_of(worker, clock)[0] <= 0.05


def test_a_long_job_reports_once_a_second():
    worker, clock = opened(rate=1e6)
    give(worker, 4_500_000)
    sent = work(worker)
    assert types(sent) == [PROGRESS] * 4 + [RESULTS]
    boards = [int(to_records(message.payload, np.int64)[0]) for message in sent[:-1]]
    assert boards == pytest.approx([1_000_000, 2_000_000, 3_000_000, 4_000_000], rel=0.02)


# --- stopping ---


def test_a_stop_sends_what_the_job_at_work_knows():
    worker, _ = opened(rate=1e6)
    give(worker, 10, 1_000_000, 20)
    sent = worker.work() + worker.handle(Message(STOP, RUN))
    assert types(sent) == [RESULTS, RESULTS, STOPPED]
    done, partial = (results_of(message)[0] for message in sent[:2])
    assert (done["node"], done["complete"]) == (0, 1)
    assert (partial["node"], partial["complete"]) == (1, 0)
    assert 0 < partial["boards"] < 1_000_000
    assert not worker.has_work


def test_a_stop_before_the_first_slice_drops_all_jobs():
    worker, _ = opened()
    give(worker, 10, 20)
    assert types(worker.handle(Message(STOP, RUN))) == [STOPPED]
    assert not worker.has_work


def test_a_stop_without_work_is_answered():
    worker, _ = opened()
    assert types(worker.handle(Message(STOP, RUN))) == [STOPPED]


@pytest.mark.parametrize("old", [JOBS, STOP, END, START])
def test_messages_of_another_run_are_ignored(old):
    worker, _ = opened()
    give(worker, 1_000_000)
    worker.work()
    before = vars(worker.timers).copy()
    for run in (RUN - 1, RUN + 1):
        assert worker.handle(Message(old, run, jobs_payload(5))) == []
    assert vars(worker.timers) == before
    assert worker.has_work
    assert results_of(work(worker)[-1])["node"].tolist() == [0]


def test_a_new_setup_forgets_the_run_before():
    worker, _ = opened()
    give(worker, 1_000_000, 5)
    worker.work()
    assert types(worker.handle(setup(1e6, RUN + 1))) == [READY]
    assert not worker.has_work


@pytest.mark.parametrize("run", [0, RUN, RUN + 5])
def test_it_leaves_when_told_to(run):
    worker, _ = opened()
    assert not worker.left
    assert worker.handle(Message(QUIT, run)) == []
    assert worker.left


# --- timers ---


def test_timers_tell_where_the_time_went():
    worker, clock = toy_worker()
    worker.handle(setup(1e6))
    clock.spend(100)  # until all others are ready
    worker.handle(Message(START, RUN))
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


def test_it_tells_when_its_last_slice_began_and_ended():
    worker, clock = opened()
    give(worker, 1_000_000)
    for _ in range(3):
        clock.spend(1)
        began = clock()
        worker.work()
        assert worker.slice == (began, clock())


def test_a_stopped_job_is_not_counted_as_done():
    worker, _ = opened()
    give(worker, 10, 1_000_000)
    worker.work()
    worker.handle(Message(STOP, RUN))
    assert metrics(worker)["jobs"] == 1


def test_timers_begin_anew_with_every_run():
    worker, _ = opened()
    give(worker, 1_000_000)
    work(worker)
    worker.handle(setup(1e6, RUN + 1))
    worker.handle(Message(START, RUN + 1))
    (message,) = worker.handle(Message(END, RUN + 1))
    found = to_records(message.payload, METRICS_RECORD)[0]
    assert (found["wall"], found["busy"], found["jobs"]) == (0, 0, 0)
