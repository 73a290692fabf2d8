"""How far jobs are: told by workers, gathered by the master, and handed on to whatever worker comes later."""

import numpy as np
import pytest

from distsearch.cluster.events import RequestProgress
from distsearch.cluster.local import InProcessCluster
from distsearch.cluster.messages import PROGRESS_RECORD, Message, MessageType, from_records, to_records

from .talk import jobs, started, summary
from .toys import (
    JOB,
    SETUP_TEXT,
    BatchRunner,
    Processor,
    Runner,
    Source,
    jobs_message,
    kinds,
    open_message,
    results_of,
    setup_message,
    toy_worker,
    work,
)

RATE = 1e6
RUN = 1
SIZE = 100_000  # nodes: a tenth of a second


def saving(runner):
    """That kind of Runner, one that can tell how far it is."""

    class Saving(runner):
        def save(self):
            return b"" if self._job["nodes"] > SIZE else b"%d" % self.nodes

        def restore(self, job, content):
            self.begin(job)
            self.nodes = int(content)

    return Saving


def at_work(runner, *sizes):
    """Return (Worker, its Clock) that has begun the first of these jobs."""
    worker, clock = toy_worker(saving(runner))
    worker.handle(setup_message(RATE))
    worker.handle(open_message(RUN))
    if sizes:
        worker.handle(jobs_message(RUN, *sizes))
        worker.work()
    return worker, clock


def saved(node, seconds=1.0, content=b"5"):
    record = np.array([(node, seconds, seconds)], PROGRESS_RECORD)
    return np.concatenate((from_records(record), np.frombuffer(content, np.uint8)))


runners = pytest.mark.parametrize("runner", [Runner, BatchRunner])


# --- workers ---


@runners
def test_another_worker_goes_on_where_one_was(runner):
    worker, clock = at_work(runner, SIZE, SIZE)
    for _ in range(9):
        worker.work()
    (answer,) = worker.handle(Message(MessageType.PROGRESS_REQUEST, RUN))
    assert (answer.type, answer.run) == (MessageType.PROGRESS, RUN)
    record = to_records(answer.payload[: PROGRESS_RECORD.itemsize], PROGRESS_RECORD)[0]
    nodes = int(answer.payload[PROGRESS_RECORD.itemsize :].tobytes())
    assert record["job_id"] == 0
    assert record["cpu"] == pytest.approx(nodes / RATE)
    assert 0 < nodes < SIZE

    other, clock = at_work(runner)
    job = np.zeros(1, JOB)
    job["job_id"], job["nodes"] = 77, SIZE
    other.handle(Message(MessageType.RESTORE_PROGRESS, RUN, np.concatenate((from_records(job), answer.payload))))
    other.handle(jobs_message(RUN, 5, 5))
    results = np.concatenate([results_of(message) for message in work(other) if message.type == MessageType.RESULTS])
    assert results["job_id"].tolist() == [77, 0, 1]
    assert results["nodes"].tolist() == [SIZE, 5, 5]
    assert results["cpu"][0] == pytest.approx(SIZE / RATE)
    assert clock.now == pytest.approx((SIZE - nodes + 10) / RATE)


@runners
@pytest.mark.parametrize("sizes", [(), (1,), (SIZE + 1,)], ids=["no job", "done", "cannot tell"])
def test_a_worker_may_have_nothing_to_tell(runner, sizes):
    worker, _ = at_work(runner, *sizes)
    (answer,) = worker.handle(Message(MessageType.PROGRESS_REQUEST, RUN))
    assert (answer.type, len(answer.payload)) == (MessageType.PROGRESS, 0)


def test_what_was_queued_is_forgotten_at_a_stop():
    worker, _ = at_work(Runner)
    job = np.zeros(1, JOB)
    job["nodes"] = 10
    worker.handle(Message(MessageType.RESTORE_PROGRESS, RUN, np.concatenate((from_records(job), saved(0)))))
    assert [message.type for message in worker.handle(Message(MessageType.STOP, RUN))] == [MessageType.STOPPED]
    worker.handle(jobs_message(RUN, 10))
    assert results_of(work(worker)[0])["nodes"].tolist() == [10]


# --- the master ---


def test_workers_with_jobs_report_progress():
    talk, _ = started(3, Source([1, 1]))
    asked = talk.master.handle(RequestProgress(talk.run))
    assert sorted(summary(asked)) == [(MessageType.PROGRESS_REQUEST, 1), (MessageType.PROGRESS_REQUEST, 2)]
    assert talk.master.awaits_progress(talk.run)
    assert talk.say(1, MessageType.PROGRESS, saved(0)) == []
    assert talk.master.awaits_progress(talk.run)
    talk.say(2, MessageType.PROGRESS)
    assert not talk.master.awaits_progress(talk.run)
    assert {node: payload.tolist() for node, payload in talk.master.progress(talk.run).items()} == {
        0: saved(0).tolist()
    }


def test_what_was_told_of_a_job_is_void_when_its_result_is_in():
    talk, _ = started(2, Source([1, 1, 1]))
    talk.master.handle(RequestProgress(talk.run))
    talk.say(1, MessageType.PROGRESS, saved(0))
    talk.answer(1, [0])
    talk.say(2, MessageType.PROGRESS, saved(1))
    assert list(talk.master.progress(talk.run)) == [1]


def test_a_run_that_is_over_is_not_asked():
    talk, _ = started(1, Source([1]))
    talk.answer(1, [0])
    assert talk.master.handle(RequestProgress(talk.run)) == []
    talk.metrics()
    assert talk.master.handle(RequestProgress(talk.run)) == []
    assert not talk.master.awaits_progress(talk.run)
    assert talk.master.progress(talk.run) == {}


def test_jobs_that_were_begun_are_handed_out_as_such():
    source = Source([1] * 4)
    source.progress = {1: saved(1), 3: saved(3)}
    _, sent = started(4, source)
    given = [outgoing.message for outgoing in sent if outgoing.message.type == MessageType.RESTORE_PROGRESS]
    assert [to_records(message.payload[: JOB.itemsize], JOB)["job_id"][0] for message in given] == [1, 3]
    assert all(len(message.payload) == JOB.itemsize + len(saved(1)) for message in given)
    assert sorted(node for _, nodes in jobs(sent) for node in nodes) == [0, 2]
    assert not any(outgoing.message.type == MessageType.JOBS for outgoing in sent if outgoing.to in {2, 4})


# --- together ---


@runners
def test_a_run_goes_on_in_another_cluster(runner):
    first, kind = Source([SIZE]), saving(runner)
    cluster = InProcessCluster(kinds(Processor(), kind))
    run = cluster.begin(SETUP_TEXT, first, measured=True)
    assert cluster.request_progress(run) == {}
    for _ in range(10):
        cluster.turn()
    answer = cluster.request_progress(run)
    assert list(answer) == [0]
    nodes = int(answer[0][PROGRESS_RECORD.itemsize :].tobytes())
    assert 0 < nodes < SIZE

    second, begun = Source([SIZE]), []
    second.progress = answer
    kind.advance = lambda self, budget: begun.append(self.nodes) or runner.advance(self, budget)
    InProcessCluster(kinds(Processor(), kind)).run(SETUP_TEXT, second, lambda state: False)
    assert [record["nodes"] for record in second.results] == [SIZE]
    assert begun[0] == nodes
