"""Workers that are lost, and those that were only slow: what becomes of their jobs, and of what was awaited of them."""

import random

import pytest

from distsearch.cluster.events import Drop, Halt, Leave, Lost, RequestMetrics, RequestProgress
from distsearch.cluster.master import EveryWorkerLostError
from distsearch.cluster.messages import Message, MessageType, encode

from . import toys
from .talk import TWO_HOSTS, Talk, jobs, metrics_payload, started, summary, workers
from .test_random_order import Network, random_begin, random_sizes

OTHER = b'{"kind": "toy", "rate": 1e5}'


def rejoined(talk, worker, epoch=1, setup=1):
    """A lost worker sends something, begins anew and is ready; return what it is sent then."""
    talk.say(worker, MessageType.PONG, run=0)
    talk.restarted(worker, epoch)
    return talk.ready(worker, setup)


# --- jobs ---


def test_the_jobs_of_a_lost_worker_go_to_others():
    source = toys.Source([1] * 5)
    talk, sent = started(2, source, prefetch=2)
    assert jobs(sent) == [(1, [0]), (2, [1]), (1, [2]), (2, [3])]
    assert jobs(talk.lose(2)) == []  # the other one has enough to do
    assert jobs(talk.answer(1, [0])) == [(1, [1])]
    assert jobs(talk.answer(1, [2])) == [(1, [3])]
    assert jobs(talk.answer(1, [1])) == [(1, [4])]
    assert summary(talk.answer(1, [3, 4])) == [(MessageType.END, 1), (MessageType.METRICS_REQUEST, 1)]


def test_jobs_go_at_once_to_workers_without_any():
    talk, sent = started(2, toys.Source([1]))
    assert jobs(sent) == [(1, [0])]
    assert jobs(talk.lose(1)) == [(2, [0])]


def test_a_loss_of_a_worker_without_jobs_changes_nothing():
    talk, _ = started(2, toys.Source([1]))
    assert talk.lose(2) == []
    assert summary(talk.answer(1, [0])) == [(MessageType.END, 1), (MessageType.METRICS_REQUEST, 1)]


def test_a_worker_is_lost_once():
    talk, _ = started(3, toys.Source([1] * 3))
    talk.lose(1)
    assert talk.lose(1) == []
    assert talk.master.lost == [(1, "here")]


def test_nodes_at_work_are_no_more():
    talk, _ = started(2, toys.Source([1] * 2))
    talk.progress(1, 100)
    talk.progress(2, 30)
    talk.lose(1)
    assert talk.state.nodes_at_work == 30


def test_a_lost_worker_asks_for_nothing():
    source = toys.Source([1] * 2)
    source.wished = [(1, 0, 0, 0, 0, 0)]
    source.updates_jobs = True
    source.job_updates = lambda idle: [wish for wish in source.wished if wish[0] not in lost]
    lost = set()
    talk, sent = started(2, source)
    assert (MessageType.JOB_UPDATE, 1) in summary(sent)
    lost.add(1)
    assert MessageType.JOB_UPDATE not in dict(summary(talk.lose(1)))


# --- what is awaited ---


def test_a_measured_run_begins_without_a_worker_that_was_not_ready():
    talk = Talk(workers(3))
    talk.begin(toys.Source([1] * 9), measured=True)
    talk.ready(1)
    talk.ready(2)
    assert not talk.state.started
    sent = talk.lose(3)
    assert [kind for kind, _ in summary(sent)][:2] == [MessageType.START, MessageType.START]
    assert {worker for worker, _ in jobs(sent)} == {1, 2}


def test_a_halt_does_not_wait_for_a_lost_worker():
    talk, _ = started(2, toys.Source([1] * 9))
    assert summary(talk.halt()) == [(MessageType.STOP, 1), (MessageType.STOP, 2)]
    assert talk.stopped([1]) == []
    assert summary(talk.lose(2)) == [(MessageType.END, 1), (MessageType.METRICS_REQUEST, 1)]
    talk.say(1, MessageType.METRICS, metrics_payload(wall=1.0))
    assert not talk.is_open
    assert set(talk.master.metrics) == {1}


def test_metrics_of_a_lost_worker_are_not_awaited():
    talk, _ = started(2, toys.Source([1]))
    talk.answer(1, [0])
    talk.say(1, MessageType.METRICS, metrics_payload(wall=1.0))
    assert talk.is_open
    assert talk.lose(2) == []
    assert not talk.is_open
    assert set(talk.master.metrics) == {1}


def test_metrics_that_were_told_before_a_loss_are_missing_at_the_end():
    talk, _ = started(2, toys.Source([1] * 9))
    talk.master.handle(RequestMetrics(talk.run))
    talk.say(2, MessageType.METRICS, metrics_payload(wall=2.0))
    talk.lose(2)
    assert talk.master.awaits_metrics(talk.run)
    talk.say(1, MessageType.METRICS, metrics_payload(wall=1.0))
    assert not talk.master.awaits_metrics(talk.run)
    assert set(talk.master.metrics) == {1}


def test_a_lost_worker_does_not_tell_how_far_it_is():
    talk, _ = started(2, toys.Source([1] * 9))
    assert summary(talk.master.handle(RequestProgress(talk.run))) == [
        (MessageType.PROGRESS_REQUEST, 1),
        (MessageType.PROGRESS_REQUEST, 2),
    ]
    talk.say(1, MessageType.PROGRESS)
    assert talk.master.awaits_progress(talk.run)
    talk.lose(2)
    assert not talk.master.awaits_progress(talk.run)
    assert talk.master.progress(talk.run) == {}


# --- setups ---


def test_another_of_its_host_compiles_where_the_first_is_lost():
    talk = Talk(TWO_HOSTS)
    assert summary(talk.begin(toys.Source([1] * 9))) == [(MessageType.SETUP, 1), (MessageType.SETUP, 3)]
    assert talk.master.preparing == {1, 3}
    sent = talk.lose(1)
    assert summary(sent) == [(MessageType.SETUP, 2)]
    assert sent[0].message.payload.tobytes() == toys.SETUP_TEXT
    assert talk.lose(3)[0].to == 4
    assert summary(talk.ready(2))[0] == (MessageType.SETUP, 5)
    assert talk.master.preparing == {4, 5}


def test_no_other_worker_prepares_while_one_loads():
    talk = Talk(workers(3))
    talk.begin(toys.Source([1] * 9))
    talk.ready(1)
    assert [kind for kind, _ in summary(talk.lose(2))] == []
    assert talk.master.preparing == {3}


def test_the_last_worker_of_a_host_is_not_replaced():
    talk = Talk({1: "a", 2: "b"})
    talk.begin(toys.Source([1] * 9))
    assert talk.lose(1) == []
    assert {worker for worker, _ in jobs(talk.ready(2))} == {2}


# --- the last one ---


@pytest.mark.parametrize("measured", [False, True])
def test_without_any_worker_a_run_cannot_go_on(measured):
    talk = Talk(workers(2))
    talk.begin(toys.Source([1] * 9), measured=measured)
    talk.all_ready()
    talk.lose(1)
    with pytest.raises(EveryWorkerLostError, match="every worker is lost"):
        talk.lose(2)
    assert talk.halt() == []
    assert not talk.is_open
    with pytest.raises(EveryWorkerLostError):
        talk.begin(toys.Source([1]))


def test_without_any_worker_what_is_over_ends():
    talk, _ = started(1, toys.Source([1] * 9))
    talk.halt()
    assert talk.lose(1) == []
    assert not talk.is_open


def test_the_last_loss_is_no_error_without_runs():
    talk, _ = started(1, toys.Source([]))
    talk.metrics()
    assert talk.lose(1) == []


# --- those that were only slow ---


@pytest.mark.parametrize(
    "kind",
    [
        MessageType.READY,
        MessageType.RESULTS,
        MessageType.STOPPED,
        MessageType.PROGRESS,
        MessageType.METRICS,
        MessageType.PONG,
        MessageType.RESET_DONE,
    ],
)
def test_the_first_message_of_a_lost_worker_has_it_begin_anew_and_the_next_are_ignored(kind):
    source = toys.Source([1] * 9)
    talk, _ = started(2, source)
    talk.lose(1)
    first = talk.say(1, kind, toys.results_payload([0]))
    assert summary(first) == [(MessageType.RESET, 1)]
    for late in (kind, MessageType.RESULTS):
        assert talk.say(1, late, toys.results_payload([0]), run=7 if late == MessageType.RESET_DONE else None) == []
    assert source.results == []
    assert talk.master.rejoined == []
    assert talk.master.ignored == (3 if kind == MessageType.RESULTS else 1)


def test_a_worker_that_is_back_is_started_and_gets_jobs():
    source = toys.Source([1] * 9)
    talk, _ = started(2, source, prefetch=1)
    talk.lose(1)
    talk.say(1, MessageType.PONG, run=0)
    assert summary(talk.restarted(1)) == [(MessageType.SETUP, 1)]
    assert talk.master.preparing == {1}
    sent = talk.ready(1)
    assert summary(sent) == [(MessageType.START, 1), (MessageType.OPEN, 1), (MessageType.JOBS, 1)]
    assert jobs(sent) == [(1, [0])]
    assert talk.master.rejoined == [(1, "here")]
    talk.answer(1, [0])
    assert source.finished == [0]
    talk.halt()
    talk.stopped([1, 2])
    talk.metrics()
    assert set(talk.master.metrics) == {1, 2}


def test_every_life_has_its_number():
    talk, _ = started(3, toys.Source([1] * 9))
    for epoch in (1, 2, 3):
        talk.lose(1)
        assert [(each.message.type, each.message.run) for each in talk.say(1, MessageType.PONG, run=0)] == [
            (MessageType.RESET, epoch)
        ]
        assert talk.restarted(1, epoch + 1) == []
        assert talk.restarted(1, epoch) != []
        talk.ready(1)
    assert talk.restarted(1, epoch) == []


def test_a_job_goes_to_one_that_was_never_lost():
    talk, sent = started(3, toys.Source([1]), prefetch=1)
    assert jobs(sent) == [(1, [0])]
    assert jobs(talk.lose(1)) == [(2, [0])]
    rejoined(talk, 1)
    assert jobs(talk.lose(2)) == [(3, [0])]


def test_a_worker_that_rejoins_in_vain_is_given_up():
    talk, _ = started(2, toys.Source([1] * 9))
    for epoch in (1, 2, 3, 4):
        talk.lose(1)
        rejoined(talk, 1, epoch)
    talk.answer(1, [0])  # which counts from the beginning
    for epoch in (5, 6, 7, 8, 9):
        talk.lose(1)
        rejoined(talk, 1, epoch)
    talk.lose(1)
    assert talk.say(1, MessageType.PONG, run=0) == []


def test_pauses_without_work_are_no_fault():
    talk, _ = started(2, toys.Source([1]))  # the other one has the only job
    for epoch in range(1, 20):
        talk.lose(2)
        rejoined(talk, 2, epoch)
    assert len(talk.master.rejoined) == 19


def test_a_rejoined_worker_forgets_and_gets_setups():
    talk, _ = started(2, toys.Source([]))
    talk.metrics()
    talk.lose(1)
    assert summary(talk.master.handle(Drop(toys.SETUP_TEXT))) == [(MessageType.FORGET, 2)]
    assert summary(talk.begin(toys.Source([1] * 9), setup=OTHER)) == [(MessageType.SETUP, 2)]
    talk.say(1, MessageType.PONG, run=0)
    sent = talk.restarted(1)
    assert [(each.message.type, each.message.run) for each in sent] == [(MessageType.FORGET, 1), (MessageType.SETUP, 2)]


def test_a_run_that_is_not_measured_uses_rejoined_workers():
    talk = Talk(workers(2))
    talk.begin(toys.Stream())
    talk.all_ready()
    talk.lose(2)
    assert rejoined(talk, 2) == []


def test_lost_workers_are_told_to_leave_too():
    talk, _ = started(3, toys.Source([1] * 9))
    talk.lose(1)
    assert sorted(summary(talk.master.handle(Leave()))) == [
        (MessageType.QUIT, 1),
        (MessageType.QUIT, 2),
        (MessageType.QUIT, 3),
    ]


# --- the worker ---


def test_a_worker_says_that_it_is_there():
    worker, _ = toys.toy_worker()
    assert [message.type for message in worker.handle(Message(MessageType.PING, 0))] == [MessageType.PONG]


def test_a_worker_that_begins_anew_forgets_all_but_its_setups():
    worker, _ = toys.toy_worker()
    worker.handle(toys.setup_message(1e6))
    for run in (1, 2):
        worker.handle(toys.open_message(run, client=run))
        worker.handle(toys.jobs_message(run, 10, 10**7))
        worker.work()
    (answer,) = worker.handle(Message(MessageType.RESET, 5))
    assert (answer.type, answer.run) == (MessageType.RESET_DONE, 5)
    assert not worker.has_work
    assert worker.timers.busy == 0
    setups = dict(worker._setups)
    assert [message.type for message in worker.handle(toys.setup_message(1e6))] == [MessageType.READY]
    assert worker._setups == setups
    worker.handle(toys.open_message(1))
    worker.handle(toys.jobs_message(1, 10))
    (message,) = toys.work(worker)
    assert toys.results_of(message)["nodes"].tolist() == [10]


# --- any order ---


class Faulty(Network):
    """Workers that die, and that are taken for lost although they live; one at least is always there."""

    def __init__(self, hosts, rng):
        super().__init__(hosts, rng)
        self._hosts = hosts

    @property
    def here(self):
        """Ranks of the workers that are not lost."""
        lost, back = self.master.lost, self.master.rejoined
        return [rank for rank, host in self._hosts.items() if lost.count((rank, host)) == back.count((rank, host))]

    def act(self, event):
        super().act(event)
        for (_, receiver), mail in self._mail.items():
            if receiver and receiver not in self.workers:
                mail.clear()

    def lose(self):
        """Have a worker die, or be taken for lost; the master asks those that are lost whether they are there."""
        rank = self._rng.choice(self.here)
        if len(self.here) == 1:
            return
        if self._rng.random() < 0.3:
            del self.workers[rank]
        self.act(Lost(rank))
        for each in self.workers:
            self._mail[0, each].append(encode(Message(MessageType.PING, 0)))


def random_faulty(rng):
    return Faulty({rank: rng.choice("abc") for rank in range(1, rng.randint(2, 7) + 1)}, rng)


@pytest.mark.parametrize("part", range(5))
def test_every_run_ends_whatever_is_lost_when(part, full, seed):
    for game in range(300 if full else 30):
        rng = random.Random(f"{seed} {part} {game}")
        network = random_faulty(rng)
        how_often = rng.choice((0.3, 0.03, 0.003))
        sources = {}
        for number in range(1, rng.randint(2, 5)):
            sizes = random_sizes(rng, (0, 1, 3, 10, 60))
            sources[number] = toys.Source(sizes, random_sizes(rng, (0, 0, 20)) if sizes else [])
            network.act(random_begin(rng, number, sources[number]))
            network.steps(int(10 ** rng.uniform(0, 2)))
        halted, losses = set(), 0
        while any(map(network.master.is_open, sources)):
            if rng.random() < how_often and losses < 100:  # then they are left in peace, so that it ends
                network.lose()
                losses += 1
            if rng.random() < 0.005:
                halted.add(rng.choice(list(sources)))
                network.act(Halt(max(halted)))
            if rng.random() < 0.01:
                network.act(rng.choice((RequestMetrics, RequestProgress))(rng.choice(list(sources))))
            assert network.step() or not any(map(network.master.is_open, sources)), "everybody waits for everybody"
        network.steps()
        for number, source in sources.items():
            answered = sorted(int(record["job_id"]) for record in source.results)
            assert len(set(answered)) == len(answered)
            if number not in halted:
                assert source.done
                assert answered == sorted({node for _, node in source.taken})
                assert all(record["complete"] for record in source.results)
        for rank in network.here:
            assert not network.workers[rank]._runs
