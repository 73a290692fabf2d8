"""The worker as a state machine, with a clock that only jobs move: many runs at once, of several clients."""

import pickle
import random
from functools import partial

import numpy as np
import pytest

from distsearch.cluster.messages import Message, MessageType, to_records
from distsearch.cluster.worker import SLICE, Worker

from .toys import BatchRunner, Clock, Runner, jobs_message, open_message, results_of, setup_message, toy_worker, work

RATE = 1e6
LONG = 10**9  # nodes
runners = pytest.mark.parametrize("runner", [Runner, BatchRunner])


def opened(*runs, runner=Runner):
    """Return (Worker, its Clock) with runs open; each: (number, client, weight)."""
    worker, clock = toy_worker(runner)
    worker.handle(setup_message(RATE))
    for number, client, weight in runs:
        worker.handle(open_message(number, client=client, weight=weight))
    return worker, clock


def give(worker, run, *sizes):
    assert worker.handle(jobs_message(run, *sizes)) == []


def records_of(messages, run):
    """The result records of a run among messages."""
    arrays = [results_of(message) for message in messages if (message.type, message.run) == (MessageType.RESULTS, run)]
    return np.concatenate(arrays) if arrays else np.zeros(0)


def boards_of(worker, *runs):
    """Stop runs; return the nodes of each one's job at work."""
    return [int(records_of(worker.handle(Message(MessageType.STOP, run)), run)["nodes"].sum()) for run in runs]


def settled(worker):
    """Work until slices are as long as they should be."""
    for _ in range(5):
        worker.work()


# --- whose turn it is ---


@runners
@pytest.mark.parametrize("busy", [1, 5])
def test_a_short_job_is_done_while_long_ones_of_another_client_are_at_work(busy, runner):
    worker, clock = opened(*[(run, 1, 1.0) for run in range(1, busy + 1)], (100, 2, 1.0), runner=runner)
    for run in range(1, busy + 1):
        give(worker, run, LONG, LONG)
    settled(worker)
    for _ in range(50):
        began = clock.now
        give(worker, 100, 900)  # 0.9 ms
        while not len(records_of(worker.work(), 100)):
            pass
        assert clock.now - began <= 2 * SLICE + 1e-9


@runners
def test_clients_share_alike_however_many_runs_they_have(runner):
    worker, _ = opened((1, 7, 1.0), *[(run, 8, 1.0) for run in range(2, 7)], runner=runner)
    for run in range(1, 7):
        give(worker, run, LONG)
    for _ in range(1000):
        worker.work()
    first, *others = boards_of(worker, *range(1, 7))
    assert first == pytest.approx(sum(others), rel=0.02)
    assert others == pytest.approx([first / 5] * 5, rel=0.05)


def test_runs_of_a_client_share_by_weight():
    worker, _ = opened((1, 7, 1.0), (2, 7, 4.0), (3, 8, 100.0))  # weights are a client's own affair
    for run in (1, 2, 3):
        give(worker, run, LONG)
    for _ in range(1000):
        worker.work()
    light, heavy, other = boards_of(worker, 1, 2, 3)
    assert heavy == pytest.approx(4 * light, rel=0.02)
    assert other == pytest.approx(light + heavy, rel=0.02)


@runners
@pytest.mark.parametrize("size", [500, 1900, 2000, 2100, 3000, 40_000])
def test_a_stream_of_short_jobs_takes_no_more_than_its_share(size, runner):
    """Each comes when the one before is done, so that its client leaves and comes again."""
    worker, clock = opened((1, 1, 1.0), (2, 2, 1.0), runner=runner)
    give(worker, 1, LONG)
    settled(worker)
    began, done, busy = clock.now, 0, False
    for _ in range(1000):
        if not busy:
            give(worker, 2, size)
        answered = len(records_of(worker.work(), 2))
        done += answered
        busy = not answered
    assert done * size / RATE <= 0.5 * (clock.now - began) + SLICE


def test_a_finished_run_is_answered_before_the_turns_of_others():
    worker, clock = opened((1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0))
    give(worker, 1, LONG)
    settled(worker)
    give(worker, 2, 100)
    give(worker, 3, 200)
    for run, seconds in ((3, 200 / RATE), (2, 100 / RATE)):
        began = clock.now
        sent = worker.work()
        assert len(records_of(sent, run)) == len(sent) == 1
        assert clock.now - began == pytest.approx(seconds)


# --- jobs ---


@runners
def test_two_jobs_of_one_setup_are_at_work_at_a_time(runner):
    worker, _ = opened((1, 1, 1.0), (2, 2, 1.0), runner=runner)
    give(worker, 1, 30_000, 50)
    give(worker, 2, 40_000, 60)
    sent = work(worker)
    for run, nodes in ((1, [30_000, 50]), (2, [40_000, 60])):
        records = records_of(sent, run)
        assert records["job_id"].tolist() == [0, 1]
        assert records["nodes"].tolist() == nodes
        assert records["complete"].all()


def test_there_are_as_many_runners_as_jobs_were_at_work_at_a_time():
    made = []

    class Counted(Runner):
        def __init__(self, *args):
            made.append(self)
            super().__init__(*args)

    clock = Clock()
    worker = Worker({"toy": partial(Counted, clock, set())}, clock, clock)
    worker.handle(setup_message(RATE))
    for run in range(1, 10):
        worker.handle(open_message(run, client=run))
        give(worker, run, *[10] * 5)
    work(worker)
    assert len(made) == 1
    for _ in range(3):
        for run in (1, 2, 3):
            give(worker, run, 100_000, 5)
        work(worker)
        assert len(made) == 3


def sent_of_two_jobs(nodes):
    worker, _ = opened((1, 1, 1.0), (2, 2, 1.0))
    give(worker, 1, nodes)
    give(worker, 2, nodes)
    return work(worker)


def test_a_job_tells_its_own_cpu_time_and_the_wall_time_since_it_began():
    sent = sent_of_two_jobs(100_000)
    for run in (1, 2):
        (record,) = records_of(sent, run)
        assert record["cpu"] == pytest.approx(0.1)
        assert record["seconds"] == pytest.approx(0.2, abs=3 * SLICE)


def test_every_long_job_reports_once_a_second():
    sent = sent_of_two_jobs(2_000_000)
    for run in (1, 2):
        nodes = [
            to_records(each.payload, np.int64)[0]
            for each in sent
            if (each.type, each.run) == (MessageType.NODE_COUNT, run)
        ]
        assert nodes == pytest.approx([500_000, 1_000_000, 1_500_000], rel=0.02)


# --- stopping and forgetting ---


@runners
def test_a_stop_is_of_one_run_only(runner):
    worker, _ = opened((1, 1, 1.0), (2, 1, 1.0), (3, 2, 1.0), runner=runner)
    for run in (1, 2, 3):
        give(worker, run, 50_000, 70_000)
    settled(worker)
    sent = worker.handle(Message(MessageType.STOP, 2))
    assert [(message.type, message.run) for message in sent] == [(MessageType.RESULTS, 2), (MessageType.STOPPED, 2)]
    assert worker.handle(Message(MessageType.END, 2)) == []
    sent = work(worker)
    assert not len(records_of(sent, 2))
    for run in (1, 3):
        assert records_of(sent, run)["nodes"].tolist() == [50_000, 70_000]


@runners
def test_a_stopped_run_may_wait_for_its_turn_or_have_no_work(runner):
    worker, _ = opened((1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), runner=runner)
    give(worker, 1, LONG)
    settled(worker)
    give(worker, 2, 10)
    for run in (2, 3):
        (sent,) = worker.handle(Message(MessageType.STOP, run))
        assert (sent.type, sent.run) == (MessageType.STOPPED, run)
    assert worker.has_work
    assert boards_of(worker, 1)[0] > 0
    assert not worker.has_work


def test_one_setup_is_forgotten_while_another_one_is_at_work():
    worker, _ = opened((1, 1, 1.0))
    worker.handle(setup_message(RATE / 10, 2))
    worker.handle(open_message(2, setup=2))
    give(worker, 1, 50_000)
    give(worker, 2, 10)
    sent = [message for _ in range(5) for message in worker.work()]
    assert len(records_of(sent, 2)) == 1
    worker.handle(Message(MessageType.END, 2))
    assert worker.handle(Message(MessageType.FORGET, 2)) == []
    assert len(records_of(work(worker), 1)) == 1


@runners
def test_nothing_is_left_of_runs_and_setups_that_are_over(runner):
    worker, clock = toy_worker(runner)
    sizes = set()
    for setup in range(1, 60):
        worker.handle(setup_message(RATE, setup))
        for run, client in ((1, 1), (2, 1), (3, 2)):
            worker.handle(open_message(100 * setup + run, setup, client))
            give(worker, 100 * setup + run, 50_000, 10)
        settled(worker)
        worker.handle(Message(MessageType.STOP, 100 * setup + 3))
        work(worker)
        for run in (1, 2, 3):
            worker.handle(Message(MessageType.END, 100 * setup + run))
        worker.handle(Message(MessageType.FORGET, setup))
        worker.slice, clock.now = (0.0, 0.0), 0.0
        sizes.add(len(pickle.dumps(worker.__dict__ | {"timers": None})))
    assert len(sizes) == 1


def test_after_many_runs_at_once_a_few_runners_are_kept():
    clock, compiled, made = Clock(), set(), []

    def make(setup):
        made.append(Runner(clock, compiled, setup))
        return made[-1]

    worker, runs = Worker({"toy": make}, clock, clock), range(1, 21)
    worker.handle(setup_message(RATE))
    for count in (20, 36):
        for run in runs:
            worker.handle(open_message(run, client=run))
            give(worker, run, LONG)
        for _ in range(2 * len(runs)):
            worker.work()
        assert all(boards_of(worker, *runs))
        for run in runs:
            worker.handle(Message(MessageType.END, run))
        assert len(made) == count


@runners
def test_every_job_of_every_run_is_done_once_and_in_order(runner, full, seed):
    for game in range(200 if full else 20):
        rng = random.Random(f"{seed} {game}")
        runs = [(run, rng.randrange(3), 2 ** rng.uniform(-3, 3)) for run in range(1, rng.randint(2, 9))]
        worker, _ = opened(*runs, runner=runner)
        given, sent = {run: [] for run, _, _ in runs}, []
        for _ in range(rng.randrange(60)):
            if rng.random() < 0.6:
                sizes = [int(10 ** rng.uniform(0, 4.5)) for _ in range(rng.randint(1, 30))]
                run = rng.choice(runs)[0]
                give(worker, run, *sizes)
                given[run] += sizes
            elif worker.has_work:
                sent += worker.work()
        sent += work(worker)
        for run, sizes in given.items():
            records = records_of(sent, run)
            assert [int(record["nodes"]) for record in records] == sizes
            assert all(record["complete"] for record in records)
        assert worker.timers.jobs == sum(map(len, given.values()))
