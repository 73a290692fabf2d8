"""A worker whose runner does small jobs in one go."""

import numpy as np
import pytest

from distsearch.cluster.messages import Message, MessageType
from distsearch.cluster.worker import SLICE, Worker

from .toys import BatchRunner, Clock, Runner, jobs_message, open_message, results_of, setup_message, work

RUN, RATE = 7, 1e6


class Overhead(BatchRunner):
    """One whose calls take time as well, which no board accounts for; it notes them."""

    calls = ()

    def batch(self, jobs, budget):
        self._clock.spend(1e-4)
        records = super().batch(jobs, budget)
        self.calls.append((len(jobs), len(records)))
        return records


@pytest.fixture
def opened():
    """(Worker, its Clock, (jobs, records) of each call of ``batch``), ready for jobs of RUN."""
    calls, clock, compiled = [], Clock(), set()

    def make(setup):
        runner = Overhead(clock, compiled, setup)
        runner.calls = calls
        return runner

    worker = Worker({"toy": make}, clock, clock)
    worker.handle(setup_message(RATE))
    worker.handle(open_message(RUN))
    worker.handle(Message(MessageType.START, RUN))
    return worker, clock, calls


def give(worker, *sizes):
    assert worker.handle(jobs_message(RUN, *sizes)) == []


def records_of(messages):
    return np.concatenate([results_of(message) for message in messages if message.type == MessageType.RESULTS])


def test_small_jobs_are_done_in_one_go(opened):
    worker, _, calls = opened
    give(worker, *[10] * 50)
    give(worker, *[10] * 40)
    (message,) = worker.work()
    assert calls == [(50, 50), (40, 40)]
    assert results_of(message)["job_id"].tolist() == [*range(50), *range(40)]


def test_a_job_that_a_slice_is_too_short_for_goes_on_in_the_next(opened):
    worker, _, calls = opened
    give(worker, 10, 20, 50_000, 30, 40)
    records = records_of(work(worker))
    assert records["nodes"].tolist() == [10, 20, 50_000, 30, 40]
    assert records["complete"].all()
    assert calls == [(5, 2), (2, 2)]


@pytest.mark.parametrize("sizes", [[10] * 90, [1, 900, 3], [0, 0, 0], [300_000], [5, 300_000, 0, 40_000, 7]], ids=str)
def test_the_time_of_all_jobs_is_the_time_that_work_took(sizes, opened):
    worker, clock, _ = opened
    clock.spend(3)
    give(worker, *sizes)
    began = clock.now
    records = records_of(work(worker))
    for name in ("seconds", "cpu"):
        assert (records[name] > 0).all()
        assert records[name].sum() == pytest.approx(clock.now - began)
    nodes = records["nodes"] + 1
    small = nodes <= 10
    assert records["seconds"][small].sum() <= 0.01
    assert worker.timers.jobs == len(sizes)
    assert worker.timers.busy == pytest.approx(clock.now - began)


def test_time_is_shared_out_by_nodes(opened):
    worker, _, _ = opened
    give(worker, 9, 99, 399)
    seconds = records_of(work(worker))["seconds"]
    assert seconds[1:] / seconds[0] == pytest.approx([10, 40])


def test_a_stop_in_the_middle_sends_what_is_known_and_drops_the_rest(opened):
    worker, _, _ = opened
    give(worker, 10, 1_000_000, 20)
    give(worker, 30)
    sent = worker.work() + worker.handle(Message(MessageType.STOP, RUN))
    assert [message.type for message in sent] == [MessageType.RESULTS, MessageType.RESULTS, MessageType.STOPPED]
    records = records_of(sent)
    assert records["complete"].tolist() == [1, 0]
    assert records["job_id"].tolist() == [0, 1]
    assert 0 < records["nodes"][1] < 1_000_000
    assert not worker.has_work
    assert worker.timers.jobs == 1


def test_slices_are_as_long_as_with_jobs_one_by_one(opened):
    worker, clock, _ = opened
    give(worker, *[100] * 2000)
    slices = []
    while worker.has_work:
        began = clock.now
        worker.work()
        slices.append(clock.now - began)
    assert max(slices) <= 2 * SLICE
    assert len(slices) <= 0.2 / SLICE + 10


def test_what_comes_back_is_the_same_with_and_without(rng):
    sizes = [int(10 ** rng.uniform(0, 5)) for _ in range(100)]
    found = []
    for kind in (Runner, BatchRunner):
        clock = Clock()
        worker = Worker({"toy": lambda setup, kind=kind, clock=clock: kind(clock, {RATE}, setup)}, clock, clock)
        worker.handle(setup_message(RATE))
        worker.handle(open_message(RUN))
        for first in range(0, 100, 7):
            give(worker, *sizes[first : first + 7])
        found.append(records_of(work(worker)))
    for name in ("job_id", "nodes", "complete"):
        assert found[0][name].tolist() == found[1][name].tolist()
    assert found[0]["cpu"].sum() == pytest.approx(found[1]["cpu"].sum())
