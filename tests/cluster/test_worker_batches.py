"""A worker whose runner has many jobs at work at a time."""

import numpy as np
import pytest

from distsearch.cluster.messages import Message, MessageType, from_records, update_record
from distsearch.cluster.protocols import BatchRunner
from distsearch.cluster.worker import Worker

from .toys import JOB, RESULT, Clock, jobs_message, open_message, results_of, setup_message, work

RUN, RATE = 7, 1e6
LAUNCH = 0.01  # seconds
STEP = 100  # nodes of each job in a launch


class ManyRunner(BatchRunner):
    """Does ``STEP`` nodes of each job in a launch."""

    job_dtype, result_dtype, slots = JOB, RESULT, 8

    def __init__(self, clock):
        self._clock, self._jobs = clock, {}
        self.narrowed, self.most = [], 0

    def open(self, run):
        assert not self._jobs

    @property
    def at_work(self):
        return len(self._jobs)

    @property
    def nodes(self):
        return sum(done for done, _ in self._jobs.values())

    def add(self, jobs):
        self._jobs.update((int(job["job_id"]), (0, int(job["nodes"]))) for job in jobs)
        self.most = max(self.most, len(self._jobs))

    def advance(self):
        self._clock.spend(LAUNCH)
        self._jobs = {node: (min(done + STEP, size), size) for node, (done, size) in self._jobs.items()}
        return self._ended([node for node, (done, size) in self._jobs.items() if done == size])

    def has(self, node):
        return node in self._jobs

    def narrow(self, node, low, high):
        self.narrowed.append((node, low, high))

    def drop(self, node):
        return self._ended([node])

    def stop(self):
        return self._ended(list(self._jobs))

    def _ended(self, nodes):
        records = np.zeros(len(nodes), RESULT)
        for record, node in zip(records, nodes, strict=True):
            record["job_id"] = node
            record["nodes"], size = self._jobs.pop(node)
            record["complete"] = record["nodes"] == size
        return records


@pytest.fixture
def opened():
    clock, made = Clock(), []

    def make(setup):
        made.append(ManyRunner(clock))
        return made[-1]

    worker = Worker({"toy": make}, clock, clock)
    worker.handle(setup_message(RATE))
    worker.handle(open_message(RUN))
    worker.handle(Message(MessageType.START, RUN))
    return worker, clock, made[0]


def records_of(messages):
    found = [results_of(message) for message in messages if message.type == MessageType.RESULTS]
    return np.concatenate(found) if found else np.zeros(0, RESULT)


def steer(worker, node, low, high):
    return worker.handle(
        Message(MessageType.JOB_UPDATE, RUN, np.frombuffer(update_record(node, low, high, 0, 0), np.uint8))
    )


def test_hosts_that_search_a_job_as_well_are_nothing_to_it(opened):
    worker, _, _ = opened
    worker.handle(jobs_message(RUN, 2 * STEP, 9 * STEP))
    worker.work()
    assert worker.handle(Message(MessageType.HOSTS, RUN, from_records(np.array([0, 0, 1, 3], np.int64)))) == []
    assert worker.peer_messages() == []
    assert records_of(work(worker))["complete"].all()


def test_all_that_fit_are_at_work_at_once_and_answered_as_they_end(opened):
    worker, clock, runner = opened
    sizes = [350, 100, 900, 50, 120, 120, 10, 700, 100, 100, 2000]
    assert worker.handle(jobs_message(RUN, *sizes)) == []
    began = clock.now
    first = records_of(worker.work())
    assert sorted(first["job_id"].tolist()) == [1, 3, 6]
    rest = records_of(work(worker))
    records = np.concatenate([first, rest])
    records.sort(order="job_id")
    assert records["nodes"].tolist() == sizes
    assert records["complete"].all()
    assert runner.most == runner.slots
    assert records["seconds"].sum() == pytest.approx(clock.now - began)
    assert (records["seconds"] > 0).all()
    assert not worker.has_work


def test_one_of_many_is_narrowed_or_dropped(opened):
    worker, _, runner = opened
    worker.handle(jobs_message(RUN, 1000, 1000, 1000))
    worker.work()
    assert steer(worker, 1, -3, 4) == []
    assert runner.narrowed == [(1, -3, 4)]
    (message,) = steer(worker, 2, 0, 0)
    assert results_of(message)[["job_id", "complete", "nodes"]].tolist() == [(2, 0, STEP)]
    assert sorted(records_of(work(worker))["job_id"].tolist()) == [0, 1]
    worker.handle(jobs_message(RUN, 1000))
    worker.work()
    (message,) = steer(worker, 0, 0, 0)
    assert results_of(message)["job_id"].tolist() == [0]
    assert not worker.has_work
    worker.handle(jobs_message(RUN, 10, 10))
    assert len(records_of(work(worker))) == 2


def test_a_stop_answers_for_all(opened):
    worker, clock, _ = opened
    worker.handle(jobs_message(RUN, *[1000] * 12))
    began = clock.now
    worker.work()
    results, stopped = worker.handle(Message(MessageType.STOP, RUN))
    assert stopped.type == MessageType.STOPPED
    records = results_of(results)
    assert sorted(records["job_id"].tolist()) == list(range(8))
    assert records["seconds"].sum() == pytest.approx(clock.now - began)
    assert not worker.has_work


def test_long_ones_tell_of_their_progress(opened):
    worker, _, _ = opened
    worker.handle(jobs_message(RUN, *[10**6] * 3))
    answer = []
    while not answer:
        answer = [message for message in worker.work() if message.type == MessageType.NODE_COUNT]
    nodes = int(np.frombuffer(answer[0].payload, np.int64)[0])
    assert nodes > 0
    assert nodes % (3 * STEP) == 0


def test_a_job_that_waits_is_narrowed_or_dropped_as_well(opened):
    worker, _, runner = opened
    worker.handle(jobs_message(RUN, *[1000] * 10))  # two more than there are slots
    worker.work()
    (message,) = steer(worker, 9, 0, 0)
    assert results_of(message)[["job_id", "nodes"]].tolist() == [(9, 0)]
    assert sorted(records_of(work(worker))["job_id"].tolist()) == list(range(9))


def test_after_a_restart_nothing_is_left(opened):
    worker, _, runner = opened
    worker.handle(jobs_message(RUN, *[1000] * 10))
    worker.work()
    assert [message.type for message in worker.handle(Message(MessageType.RESET, 1))] == [MessageType.RESET_DONE]
    assert (runner.at_work, worker.has_work) == (0, False)


def test_jobs_of_an_earlier_run_begin_again(opened):
    worker, _, _ = opened
    job = np.array([(5, 1000)], JOB)
    payload = np.concatenate((from_records(job), np.ones(40, np.uint8)))
    worker.handle(Message(MessageType.RESTORE_PROGRESS, RUN, payload))
    worker.work()
    assert [len(message.payload) for message in worker.handle(Message(MessageType.PROGRESS_REQUEST, RUN))] == [0]
    assert records_of(work(worker))[["job_id", "nodes"]].tolist() == [(5, 1000)]
