"""Samples of the workers' timers: which are asked, what is kept, and what workers count."""

import numpy as np

from distsearch.cluster.events import Lost, Received, Sample
from distsearch.cluster.master import Master
from distsearch.cluster.messages import METRICS_RECORD, NO_RUN, Message, MessageType, from_records, to_records
from distsearch.cluster.submaster import ABOVE, Submaster
from distsearch.cluster.worker import SLICE

from .talk import metrics_payload, summary, workers
from .toys import Clock, jobs_message, kinds, open_message, results_of, setup_message, toy_worker

RUN = 7
ASKED = MessageType.METRICS_REQUEST


def answer(master, worker, **fields):
    return master.handle(Received(worker, Message(MessageType.METRICS, NO_RUN, metrics_payload(**fields))))


def test_a_worker_that_has_not_answered_is_not_asked_again():
    master = Master(workers(3))
    assert summary(master.handle(Sample())) == [(ASKED, 1), (ASKED, 2), (ASKED, 3)]
    assert answer(master, 2, wall=5.0) == []
    assert summary(master.handle(Sample())) == [(ASKED, 2)]
    assert not master.samples.complete
    for worker in (1, 2, 3):
        answer(master, worker, wall=worker)
    assert master.samples.complete
    assert {rank: float(record["wall"]) for rank, record in master.samples.latest.items()} == {1: 1, 2: 2, 3: 3}


def test_a_lost_worker_is_expected_to_answer_nothing():
    master = Master(workers(2))
    master.handle(Sample())
    master.handle(Lost(1))
    answer(master, 2)
    assert master.samples.complete
    answer(master, 1)  # of a worker that is slow after all, and is reset first
    assert 1 not in master.samples.latest
    assert summary(master.handle(Sample())) == [(ASKED, 2)]
    assert master.absent_ranks() == {1}


def test_a_sample_is_of_no_run():
    master = Master(workers(1))
    master.handle(Sample())
    answer(master, 1, busy=1.0)
    assert master.metrics == {}
    assert not master.has_runs


def test_a_submaster_answers_for_its_workers():
    group = Submaster({2: "a", 3: "a"}, kinds(Clock()), {})
    assert summary(group.handle(Received(ABOVE, Message(ASKED, NO_RUN)))) == [(ASKED, 2), (ASKED, 3)]
    assert group.handle(Received(3, Message(MessageType.METRICS, NO_RUN, metrics_payload(jobs=30)))) == []
    (up,) = group.handle(Received(2, Message(MessageType.METRICS, NO_RUN, metrics_payload(jobs=20))))
    assert (up.to, up.message.run) == (ABOVE, NO_RUN)
    master = Master({1: "a"}, submasters={1: {2: "a", 3: "a"}})
    master.handle(Sample())
    master.handle(Received(1, up.message))
    assert {rank: int(record["jobs"]) for rank, record in master.samples.latest.items()} == {2: 20, 3: 30}


def test_a_submaster_does_not_wait_for_a_worker_that_compiles():
    group = Submaster({2: "a", 3: "a"}, kinds(Clock()), {})
    asked = Received(ABOVE, Message(ASKED, NO_RUN))
    group.handle(asked)
    group.handle(Received(ABOVE, setup_message(rate=1.0)))
    (preparing,) = group.master.preparing  # one at a time of a host
    (up,) = group.handle(Received(5 - preparing, Message(MessageType.METRICS, NO_RUN, metrics_payload(jobs=30))))
    assert [int(record["rank"]) for record in to_records(up.message.payload, METRICS_RECORD)] == [5 - preparing]


def test_workers_of_lost_submasters_are_lost():
    master = Master({1: "a", 4: "b"}, submasters={1: {2: "a", 3: "a"}, 4: {5: "b", 6: "b"}})
    lost = Message(MessageType.WORKER_LOST, 0, from_records(np.array([6, 1])))
    master.handle(Received(4, lost))
    assert master.absent_ranks() == {6}
    master.handle(Lost(1))
    assert master.absent_ranks() == {1, 2, 3, 6}
    master.handle(Received(4, Message(MessageType.WORKER_LOST, 0, from_records(np.array([6, 0])))))
    assert master.absent_ranks() == {1, 2, 3}


def sample(worker):
    (message,) = worker.handle(Message(ASKED, NO_RUN))
    assert (message.type, message.run) == (MessageType.METRICS, NO_RUN)
    return to_records(message.payload, METRICS_RECORD)[0]


def test_a_worker_counts_its_nodes_and_jobs(rng):
    worker, _ = toy_worker()
    worker.handle(setup_message(1e6))
    worker.handle(open_message(RUN))
    sizes = [rng.randrange(1, 20_000) for _ in range(6)]
    worker.handle(jobs_message(RUN, *sizes))
    before = sample(worker)
    assert (before["nodes"], before["at_work"], before["queued"], before["slots"]) == (0, 0, 6, 1)
    answered = nodes = 0
    while worker.has_work:
        for message in worker.work():
            if message.type == MessageType.RESULTS:
                answered += len(results_of(message))
        now = sample(worker)
        assert now["at_work"] + now["queued"] == 6 - answered
        assert nodes < now["nodes"] <= sum(sizes)
        assert now["busy"] >= SLICE / 2
        nodes = int(now["nodes"])
    assert (nodes, int(now["jobs"])) == (sum(sizes), 6)
