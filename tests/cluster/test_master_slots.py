"""A master of workers one of which has many jobs at work at a time, as a GPU has."""

import heapq

import numpy as np
import pytest

from distsearch.cluster.messages import MessageType, from_records, to_records

from .talk import Talk, jobs, workers
from .toys import RESULT, Source

GPU, SLOTS = 1, 64


def ready(talk, worker):
    return talk.say(worker, MessageType.READY, from_records(np.array([SLOTS] * (worker == GPU), np.int64)), 1)


def done_by_all(count, workers_count, seconds, gpu_seconds):
    """Have ``count`` jobs done, each of which takes a worker so many seconds; return (seconds, jobs by rank, most).

    The GPU takes all that it has at once and answers for them together, the others one after another.
    """
    source = Source([1] * count)
    talk = Talk(workers(workers_count))
    talk.begin(source, measured=True)
    now, free, done = (
        0.0,
        dict.fromkeys(range(1, workers_count + 1), 0.0),
        dict.fromkeys(range(1, workers_count + 1), 0),
    )
    events, most = [], 0

    def take_in(sent):
        nonlocal most
        for rank, nodes in jobs(sent):
            if rank == GPU:
                most = max(most, len(nodes))
                free[rank] = max(free[rank], now) + gpu_seconds * len(nodes)
                heapq.heappush(events, (free[rank], rank, nodes))
                continue
            for node in nodes:
                free[rank] = max(free[rank], now) + seconds
                heapq.heappush(events, (free[rank], rank, [node]))

    for rank in free:
        take_in(ready(talk, rank))
    while events:
        now, rank, nodes = heapq.heappop(events)
        done[rank] += len(nodes)
        take_in(talk.answer(rank, nodes, gpu_seconds if rank == GPU else seconds))
    assert sorted(source.finished) == list(range(count))
    return now, done, most


@pytest.mark.parametrize("faster", [0.2, 1, 5, 50, 1000])
@pytest.mark.parametrize("workers_count", [2, 5])
def test_work_is_shared_out_by_what_each_does_a_second(workers_count, faster):
    seconds, count = 0.01, 4000
    took, done, most = done_by_all(count, workers_count, seconds, seconds / faster)
    ideal = count * seconds / (workers_count - 1 + faster)
    assert took <= 1.15 * ideal + 4 * seconds + SLOTS * seconds / faster
    assert most == SLOTS
    assert sum(done.values()) == count


def test_a_gpu_alone_has_as_many_jobs_as_it_has_slots():
    talk = Talk(workers(1))
    talk.begin(Source([1] * 1000), measured=True)
    ((rank, nodes), *more) = jobs(ready(talk, GPU))
    assert (rank, len(nodes)) == (GPU, SLOTS)
    assert sum(len(each) for _, each in more) <= SLOTS  # one batch ahead


class Again(Source):
    """Hands jobs out again that come back undone."""

    def finish(self, records):
        super().finish(records)
        self._waiting += records["job_id"][records["complete"] == 0].tolist()


def test_jobs_that_a_failed_gpu_gives_back_say_nothing_of_the_others_pace():
    """They come back at once, so a worker without a GPU would be thought fast, and get many jobs in a message."""
    talk = Talk(workers(2))
    talk.begin(Again([1] * 3000), measured=True, batch=1.0)
    sent = ready(talk, GPU) + ready(talk, 2)
    given_up = np.zeros(SLOTS, RESULT)
    given_up["job_id"] = next(nodes for rank, nodes in jobs(sent) if rank == GPU)
    first = next(nodes for rank, nodes in jobs(sent) if rank == 2)
    talk.ready(GPU)  # it goes on without slots
    talk.say(GPU, MessageType.RESULTS, from_records(given_up))
    sent = talk.answer(2, first[:1], 4.0)
    assert [len(nodes) for rank, nodes in jobs(sent) if rank == 2] == [1]


def test_the_last_jobs_are_left_to_those_without():
    talk = Talk(workers(4))
    talk.begin(Source([1] * 4), measured=True)
    for worker in range(1, 4):
        ready(talk, worker)
    handed = jobs(talk.ready(4))
    assert sorted((rank, len(nodes)) for rank, nodes in handed) == [(1, 1), (2, 1), (3, 1), (4, 1)]


class Offloading(Source):
    """A source with offloaded parts of its jobs."""

    offloads, offload_depth = True, 9

    def __init__(self, jobs):
        super().__init__(jobs)
        self.rows, self.answers = [], {}

    def take(self, count, worker, full_window=False):
        assert full_window == (worker == GPU)
        return super().take(count, worker)

    def on_offload(self, worker, words):
        self.rows.append((worker, words.tolist()))

    def offload_results(self):
        found, self.answers = self.answers, {}
        return found


def test_a_worker_with_many_slots_comes_first_and_offloads():
    source = Offloading([1])
    talk = Talk(workers(4))
    talk.begin(source, measured=True)
    sent = [each for rank in (2, 3, 4, 1) for each in ready(talk, rank)]
    assert [rank for rank, _ in jobs(sent)] == [GPU]
    requests = [
        (each.to, to_records(each.message.payload, np.int64).tolist())
        for each in sent
        if each.message.type == MessageType.OFFLOAD_REQUEST
    ]
    assert requests == [(GPU, [6, 9])]  # two for each of the others
    assert not [
        each
        for each in talk.say(GPU, MessageType.OFFLOAD, from_records(np.arange(7)))
        if each.message.type == MessageType.OFFLOAD_REQUEST
    ]
    assert source.rows == [(GPU, list(range(7)))]
    source.answers, source.offload_depth = {GPU: [(5, -1, 3)]}, 8
    sent = talk.say(GPU, MessageType.OFFLOAD, from_records(np.arange(7)))
    assert {(each.to, each.message.type): to_records(each.message.payload, np.int64).tolist() for each in sent} == {
        (GPU, MessageType.OFFLOAD_RESULT): [5, -1, 3],
        (GPU, MessageType.OFFLOAD_REQUEST): [6, 8],
    }


class Choosy(Source):
    """A source of which a worker gets nothing, as one that has handed its jobs back."""

    choosy = GPU

    @property
    def reserved(self):
        return self.waiting

    def take(self, count, worker):
        return super().take(count if worker != self.choosy else 0, worker)


def test_a_worker_that_gets_none_of_the_jobs_does_not_keep_others_from_them():
    source = Choosy([1] * 3)
    talk = Talk(workers(3))
    talk.begin(source, measured=True)
    sent = [each for rank in (1, 2, 3) for each in jobs(ready(talk, rank))]
    while sent:
        rank, nodes = sent.pop()
        assert rank != GPU
        sent += jobs(talk.answer(rank, nodes))
    assert sorted(source.finished) == [0, 1, 2]


def test_a_source_knows_who_was_lost_before_its_run():
    lost = []
    source = Source([1] * 3)
    source.lost = lost.append
    talk = Talk(workers(3))
    talk.begin(Source([1] * 3), measured=True)
    for rank in 1, 2, 3:
        ready(talk, rank)
    talk.lose(2)
    talk.begin(source, measured=True)
    assert lost == [2]
