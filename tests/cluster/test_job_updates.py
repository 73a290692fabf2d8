"""Updates of jobs at work: told to workers by JOB_UPDATE, answered by SPLIT where a subtree is split off."""

import numpy as np
import pytest

from distsearch.cluster.events import RequestProgress
from distsearch.cluster.messages import (
    PROGRESS_RECORD,
    SPLIT_RECORD,
    UPDATE_RECORD,
    Message,
    MessageType,
    from_records,
    to_records,
)

from . import toys
from .talk import jobs, started, summary

RUN = 1
LONG = 100_000  # nodes: a tenth of a second
DROPPED = 0, 0  # a window
NO_REST = -1, 0
JOB = np.dtype([("job_id", np.int32), ("nodes", np.int64), ("low", np.int32), ("high", np.int32)])


def steered(runner):
    """That kind of Runner, one that can be steered: it gives half of what is left, if that is ``least`` nodes."""

    class Steered(runner):
        job_dtype = JOB
        narrowed = []  # (node, low, high): the window that each job began with, and those that it got at work

        def begin(self, job):
            super().begin(job.copy())
            self.narrowed.append((self.job_id, int(job["low"]), int(job["high"])))

        def narrow(self, low, high):
            self.narrowed.append((self.job_id, low, high))

        def split_off(self, remainder, least):
            half = (int(self._job["nodes"]) - self.nodes) // 2
            if half < least or self.nodes < LONG // 4:
                return None
            self._job["job_id"], self._job["nodes"] = remainder, self._job["nodes"] - half
            self.job_id = remainder
            return np.array([half], np.int64).view(np.uint8)

    return Steered


@pytest.fixture(params=[toys.Runner, toys.BatchRunner])
def kind(request):
    return steered(request.param)


def at_work(kind, *sizes):
    """A Worker that has begun the first of these jobs, in the window from −9 to 9."""
    worker, _ = toys.toy_worker(kind)
    worker.handle(toys.setup_message(1e6))
    worker.handle(toys.open_message(RUN))
    records = np.zeros(len(sizes), JOB)
    records["job_id"], records["nodes"], records["low"], records["high"] = range(len(sizes)), sizes, -9, 9
    assert worker.handle(Message(MessageType.JOBS, RUN, from_records(records))) == []
    assert worker.work() == []
    return worker


def steer(*records):
    """JOB_UPDATE of (job id, low, high, remainder, min_depth_left) each."""
    return Message(MessageType.JOB_UPDATE, RUN, from_records(np.array(list(records), UPDATE_RECORD)))


def answers(messages):
    """(node, complete, nodes) of the results among messages."""
    results = [toys.results_of(message) for message in messages if message.type == MessageType.RESULTS]
    return [(int(r["job_id"]), int(r["complete"]), int(r["nodes"])) for records in results for r in records]


def splits(messages):
    """(job id, remainder, nodes of the subtree) of each SPLIT among messages."""
    found, size = [], SPLIT_RECORD.itemsize
    for message in messages:
        if message.type == MessageType.SPLIT:
            record = to_records(message.payload[:size], SPLIT_RECORD)[0]
            part = to_records(message.payload[size:].copy(), np.int64)
            found.append((int(record["job_id"]), int(record["remainder"]), int(part[0])))
    return found


# --- workers ---


def test_a_queued_job_that_is_dropped_is_answered_as_unsearched(kind):
    worker = at_work(kind, LONG, 10, 20, 30)
    assert answers(worker.handle(steer((2, *DROPPED, *NO_REST)))) == [(2, 0, 0)]
    assert answers(toys.work(worker)) == [(0, 1, LONG), (1, 1, 10), (3, 1, 30)]


def test_all_that_are_queued_may_be_dropped_at_once(kind):
    worker = at_work(kind, LONG, 10, 20)
    sent = worker.handle(steer((1, *DROPPED, *NO_REST), (2, *DROPPED, *NO_REST)))
    assert answers(sent) == [(1, 0, 0), (2, 0, 0)]
    assert answers(toys.work(worker)) == [(0, 1, LONG)]


def test_one_at_work_that_is_dropped_is_answered_as_far_as_it_is(kind):
    worker = at_work(kind, LONG, 10)
    ((node, complete, nodes),) = answers(worker.handle(steer((0, *DROPPED, *NO_REST))))
    assert (node, complete) == (0, 0)
    assert 0 < nodes < LONG
    assert answers(toys.work(worker)) == [(1, 1, 10)]


@pytest.mark.parametrize("sizes", [(LONG,), (LONG, 10)], ids=["alone", "with others"])
def test_nothing_is_left_to_do_when_all_is_dropped(sizes, kind):
    worker = at_work(kind, *sizes)
    sent = worker.handle(steer(*((node, *DROPPED, *NO_REST) for node in range(len(sizes)))))
    assert [node for node, _, _ in answers(sent)] == list(range(len(sizes)))
    assert not worker.has_work
    records = np.array([(7, 10, -9, 9)], JOB)
    worker.handle(Message(MessageType.JOBS, RUN, from_records(records)))
    assert answers(toys.work(worker)) == [(7, 1, 10)]


def test_a_job_that_is_not_there_any_more_is_passed_over(kind):
    worker = at_work(kind, LONG)
    assert worker.handle(steer((5, *DROPPED, *NO_REST), (6, -1, 1, *NO_REST), (7, -1, 1, 8, 1))) == []
    assert [message.type for message in toys.work(worker)] == [MessageType.RESULTS]
    assert worker.handle(steer((0, *DROPPED, *NO_REST))) == []
    assert not worker.has_work


def test_windows_become_narrower(kind):
    worker = at_work(kind, LONG, 10, 20)
    kind.narrowed.clear()
    assert worker.handle(steer((0, -3, 9, *NO_REST), (2, -9, 4, *NO_REST))) == []
    toys.work(worker)
    assert kind.narrowed == [(0, -3, 9), (1, -9, 9), (2, -9, 4)]


def test_a_part_is_given_away_as_soon_as_there_is_one(kind):
    worker = at_work(kind, LONG)
    assert worker.handle(steer((0, -9, 9, 5, 1))) == []
    sent = worker.work()
    assert splits(sent) == []  # nothing to give yet
    sent += toys.work(worker)
    ((node, rest, part),) = splits(sent)
    assert (node, rest) == (0, 5)
    assert [message.type for message in sent] == [MessageType.SPLIT, MessageType.RESULTS]
    assert answers(sent) == [(5, 1, LONG - part)]


def test_what_is_left_may_be_given_away_again(kind):
    worker = at_work(kind, LONG)
    worker.handle(steer((0, -9, 9, 5, 1)))
    sent = []
    while not splits(sent):
        sent += worker.work()
    assert worker.handle(steer((0, *DROPPED, *NO_REST))) == []  # it has another number now
    worker.handle(steer((5, -9, 9, 0, 1)))
    sent += toys.work(worker)
    assert [each[:2] for each in splits(sent)] == [(0, 5), (5, 0)]
    assert answers(sent) == [(0, 1, LONG - sum(part for _, _, part in splits(sent)))]


def test_no_part_is_given_that_is_too_small(kind):
    worker = at_work(kind, LONG)
    worker.handle(steer((0, -9, 9, 5, LONG)))
    sent = toys.work(worker)
    assert splits(sent) == []
    assert answers(sent) == [(0, 1, LONG)]


def test_a_part_of_a_queued_job_is_given_when_it_is_at_work(kind):
    worker = at_work(kind, LONG, LONG)
    worker.handle(steer((1, -9, 9, 5, 1)))
    sent = toys.work(worker)
    assert [each[:2] for each in splits(sent)] == [(1, 5)]
    assert [node for node, _, _ in answers(sent)] == [0, 5]


@pytest.mark.parametrize("end", ["done", "dropped", "dropped from the queue"])
def test_a_wish_dies_with_its_job(end, kind):
    """A job that has the number later is another one."""
    worker = at_work(kind, LONG, LONG)
    number = 1 if end == "dropped from the queue" else 0
    worker.handle(steer((number, -9, 9, 5, LONG if end == "done" else 1)))
    if end != "done":
        assert len(answers(worker.handle(steer((number, *DROPPED, *NO_REST))))) == 1
    sent = toys.work(worker)
    worker.handle(Message(MessageType.JOBS, RUN, from_records(np.array([(number, 4 * LONG, -9, 9)], JOB))))
    sent += toys.work(worker)
    assert splits(sent) == []
    assert answers(sent)[-1] == (number, 1, 4 * LONG)


# --- the master ---


class Steering(toys.Source):
    """A Source with ``new`` updates, which are returned once; what is split off is one more job."""

    updates_jobs = True

    def __init__(self, sizes):
        super().__init__(sizes)
        self.new, self.given = [], []

    def job_updates(self, idle):
        found, self.new = self.new, []
        return found

    def on_split(self, node, rest, part):
        self.given.append((node, rest, part.tobytes()))
        self._add([1])
        self._enough = len(self._sizes)


def steers(sent):
    """(receiver, records) of the JOB_UPDATE messages among others."""
    told = [outgoing for outgoing in sent if outgoing.message.type == MessageType.JOB_UPDATE]
    return [(each.to, to_records(each.message.payload, UPDATE_RECORD).tolist()) for each in told]


def given(node, rest, part=b""):
    record = np.array([(node, rest)], SPLIT_RECORD)
    return np.concatenate((from_records(record), np.frombuffer(part, np.uint8)))


def test_wishes_are_told_in_one_message_to_each_worker():
    source = Steering([1] * 6)
    talk, sent = started(3, source)
    assert steers(sent) == []
    source.new = [(1, 0, 0, 0, -1, 0), (3, 2, -1, 1, 9, 4), (1, 3, -5, 5, -1, 0)]
    sent = talk.answer(2, [1])
    assert sorted(steers(sent)) == [(1, [(0, 0, 0, -1, 0), (3, -5, 5, -1, 0)]), (3, [(2, -1, 1, 9, 4)])]
    assert {outgoing.message.run for outgoing in sent} == {talk.run}
    assert steers(talk.answer(1, [0])) == []


def test_wishes_come_after_the_jobs_that_they_are_about():
    source = Steering([1] * 9)
    talk, _ = started(3, source)
    source.new = [(2, 7, 0, 0, -1, 0)]
    kinds = [kind for kind, to in summary(talk.answer(2, [1])) if to == 2]
    assert kinds == [MessageType.JOBS, MessageType.JOB_UPDATE]


def test_nothing_is_wished_of_a_run_that_is_over():
    source = Steering([1] * 3)
    talk, _ = started(3, source)
    source.new = [(2, 1, 0, 0, -1, 0)]
    assert summary(talk.halt()) == [(MessageType.STOP, worker) for worker in (1, 2, 3)]
    assert talk.answer(1, [0]) == []


def test_others_get_jobs_of_what_was_given_away():
    source = Steering([1])
    talk, sent = started(3, source)
    assert jobs(sent) == [(1, [0])]
    sent = talk.say(1, MessageType.SPLIT, given(0, 5, b"part"))
    assert source.given == [(0, 5, b"part")]
    assert [nodes for _, nodes in jobs(sent)] == [[1]]
    assert {worker for worker, _ in jobs(sent)} <= {2, 3}


def test_a_job_counts_as_one_when_a_part_of_it_was_given_away():
    source = Steering([1])
    talk, _ = started(2, source)
    talk.say(1, MessageType.SPLIT, given(0, 5))
    talk.say(1, MessageType.RESULTS, toys.results_payload([5]))
    assert not source.done
    sent = talk.say(2, MessageType.RESULTS, toys.results_payload([1]))
    assert source.done
    assert MessageType.STOP not in dict(summary(sent))


def test_what_was_saved_of_a_job_that_is_no_more_is_forgotten():
    source = Steering([1] * 2)
    talk, _ = started(2, source)
    talk.master.handle(RequestProgress(talk.run))
    for worker, node in ((1, 0), (2, 1)):
        talk.say(worker, MessageType.PROGRESS, from_records(np.array([(node, 1.0, 1.0)], PROGRESS_RECORD)))
    assert set(talk.master.progress(talk.run)) == {0, 1}
    talk.say(1, MessageType.SPLIT, given(0, 5))
    assert set(talk.master.progress(talk.run)) == {1}


def test_late_parts_of_a_run_that_is_over_are_ignored():
    source = Steering([1])
    talk, _ = started(1, source)
    talk.answer(1, [0])
    talk.metrics()
    assert talk.say(1, MessageType.SPLIT, given(0, 5)) == []
    assert source.given == []
