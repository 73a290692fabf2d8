"""What owners of one job on several hosts tell one another, and how worker and master bring them together."""

from itertools import pairwise

import numpy as np
import pytest

from distsearch.cluster import exchange, joint
from distsearch.cluster.exchange import Exchange
from distsearch.cluster.messages import (
    OPEN_RECORD,
    UPDATE_RECORD,
    Message,
    MessageType,
    from_records,
    to_records,
    update_record,
)
from distsearch.cluster.worker import Worker

from .talk import TWO_HOSTS, Talk, summary
from .test_joint_search import Joinable
from .toys import JOB, RESULT, Clock, Runner, Source, jobs_message, kinds, open_message, setup_message, toy_worker, work

RUN, NODE = 7, 0
LARGE = 100_000  # nodes of a job, of a million a second
RANKS = (3, 5, 8)  # owners by host


def pairs(*rows):
    return np.array(rows, np.uint64).reshape(-1, 2)


class Recorder:
    """Stands in for a runner: what it has to tell, and what it has been told."""

    def __init__(self):
        self.entries, self.marks, self.ordered = [], [], np.zeros(0, np.uint64)
        self.taken, self.elsewhere, self.orders_taken = [], [], []

    def export_updates(self, since):
        since = min(since[0], len(self.entries))
        until = min(since + 2, len(self.entries))
        orders, self.ordered = self.ordered, self.ordered[:0]
        return pairs(*self.entries[since:until]), orders, pairs(*self.marks), (until, 0)

    def import_updates(self, entries, orders):
        self.taken += entries.tolist()
        self.orders_taken += orders.tolist()

    def set_remote_marks(self, marks, hosts, host):
        self.elsewhere.append((marks.tolist(), hosts, host))


# --- an exchange ---


def made(host=0, now=0.0, ranks=RANKS):
    return Exchange(RUN, NODE, host, ranks, now)


def opened(message):
    """(node, host, entries, marks) of UPDATE."""
    node, host, _, _, entries, orders, *words = to_records(message.payload, np.uint64).tolist()
    del words[2 * entries : 2 * entries + orders]
    rows = [words[i : i + 2] for i in range(0, len(words), 2)]
    return node, host, rows[:entries], rows[entries:]


def news_of(host, entries=(), marks=(), run=RUN, node=NODE):
    """A message that another host's owner sends."""
    runner = Recorder()
    sender = Exchange(run, node, host, RANKS, 0.0)
    sender.messages(runner, 0.0)
    runner.entries, runner.marks = list(entries), list(marks)
    return sender.messages(runner, 1.0)[0].message


def test_all_others_are_told_the_same():
    runner, exchanged = Recorder(), made(host=1)
    exchanged.messages(runner, 0.0)
    runner.entries, runner.marks = [(1, 2), (3, 4)], [(5, 6)]
    sent = exchanged.messages(runner, 1.0)
    assert [(out.to, out.message.type, out.message.run) for out in sent] == [
        (3, MessageType.TT_UPDATE, RUN),
        (8, MessageType.TT_UPDATE, RUN),
    ]
    assert [opened(out.message) for out in sent] == [(NODE, 1, [[1, 2], [3, 4]], [[5, 6]])] * 2


def test_each_entry_is_told_once_and_none_that_was_found_before():
    runner, exchanged, recorded = Recorder(), made(), []
    runner.entries = [(0, i) for i in range(100)]
    for now in range(10):
        recorded += opened(exchanged.messages(runner, now)[0].message)[2]
        runner.entries.append((1, now))
    assert recorded == [[1, now] for now in range(9)]


def test_what_is_found_faster_than_told_comes_later():
    runner, exchanged, recorded = Recorder(), made(), []
    exchanged.messages(runner, 0)
    runner.entries = [(0, i) for i in range(5)]
    for now in range(1, 5):
        recorded.append(opened(exchanged.messages(runner, now)[0].message)[2])
    assert [len(each) for each in recorded] == [2, 2, 1, 0]
    assert sum(recorded, []) == [[0, i] for i in range(5)]


def test_there_is_time_between_two_messages():
    exchanged, sent = made(now=1.0), []
    for step in range(700):
        now = 1.0 + step * exchanged.every / 100
        if exchanged.messages(Recorder(), now):
            sent.append(now)
    assert 6 <= len(sent) <= 7
    assert min(np.diff(sent)) > 0.999 * exchanged.every


def test_messages_to_many_hosts_are_less_frequent():
    every = [made(ranks=range(hosts)).every for hosts in (2, 3, 20, 40)]
    assert every[0] == every[1] == exchange.EVERY
    assert every[1] < every[2] < every[3]


def test_the_engine_knows_at_once_that_it_is_not_alone():
    runner, exchanged = Recorder(), made(host=2)
    exchanged.apply(runner)
    assert (runner.taken, runner.elsewhere) == ([], [([], 3, 2)])
    exchanged.apply(runner)  # nothing is new
    assert len(runner.elsewhere) == 1


def test_entries_wait_for_the_engine_and_marks_are_the_newest_of_each_host():
    runner, exchanged = Recorder(), made(host=1)
    exchanged.apply(runner)
    exchanged.take_in(news_of(0, [(1, 1)], [(7, 1)]))
    exchanged.take_in(news_of(2, [(2, 2)], [(8, 1), (9, 2)]))
    exchanged.take_in(news_of(0, [(3, 3), (4, 4)], [(6, 5)]))
    exchanged.apply(runner)
    assert runner.taken == [[1, 1], [2, 2], [3, 3], [4, 4]]
    marks, hosts, host = runner.elsewhere[-1]
    assert (sorted(marks), hosts, host) == ([[6, 5], [8, 1], [9, 2]], 3, 1)
    exchanged.take_in(news_of(2))
    exchanged.apply(runner)
    assert runner.elsewhere[-1] == ([[6, 5]], 3, 1)
    assert len(runner.taken) == 4
    assert len(runner.elsewhere) == 3


@pytest.mark.parametrize(
    "message",
    [
        news_of(0, [(1, 1)], [(2, 2)], run=RUN + 1),
        news_of(0, [(1, 1)], [(2, 2)], node=NODE + 1),
        news_of(1, [(1, 1)], [(2, 2)]),
    ],
    ids=["run", "job_id", "host"],
)
def test_strangers_are_not_listened_to(message):
    runner, exchanged = Recorder(), made(host=1)
    exchanged.apply(runner)
    exchanged.take_in(message)
    exchanged.apply(runner)
    assert (runner.taken, len(runner.elsewhere)) == ([], 1)


def test_a_host_that_is_not_among_them_is_not_listened_to():
    runner, exchanged = Recorder(), made(host=1, ranks=RANKS[:2])
    exchanged.apply(runner)
    exchanged.take_in(news_of(2, [(1, 1)], [(2, 2)]))
    exchanged.apply(runner)
    assert (runner.taken, len(runner.elsewhere)) == ([], 1)


def test_after_it_the_host_is_alone():
    runner = Recorder()
    made().end(runner)
    assert runner.elsewhere == [([], 0, 0)]


# --- the worker ---


def test_a_host_that_sees_nothing_is_sent_little():
    """After some messages one in a while, and more and more rarely; once it acknowledges, every message again."""
    one, other, runner = made(host=0, ranks=(3, 5)), made(host=1, ranks=(3, 5)), Recorder()
    tick = 1.01 * exchange.EVERY
    moments = [step * tick for step in range(1, 25_001)]  # ten seconds
    sent = [(now, out.message) for now in moments for out in one.messages(runner, now)]
    waits = [later - earlier for (earlier, _), (later, _) in pairwise(sent)]
    assert waits[:7] == pytest.approx([tick] * 7)
    assert waits[7:] == pytest.approx([0.02 * 2**more for more in range(8)], abs=2 * tick)
    other.take_in(sent[-1][1])
    one.take_in(other.messages(runner, 11.0)[0].message)
    later = [out for step in range(1, 6) for out in one.messages(runner, 11.0 + step * tick)]
    assert len(later) == 5


def test_a_host_that_acknowledges_nothing_but_is_heard_is_sent_fifty_a_second():
    one, other, runner = made(host=0, ranks=(3, 5)), made(host=1, ranks=(3, 5)), Recorder()
    tick = 1.01 * exchange.EVERY
    sent = []
    for now in [step * tick for step in range(1, 2_501)]:  # a second
        sent += one.messages(runner, now)
        one.take_in(other.messages(runner, now)[0].message)
        other._sent_at[0] = -1.0  # it has got nothing, and says what it has found
        other._unanswered[0] = 0
    assert 8 + 48 <= len(sent) <= 8 + 51


def test_a_host_that_answers_misses_nothing():
    one, other, runner = made(host=0, ranks=(3, 5)), made(host=1, ranks=(3, 5)), Recorder()
    for step in range(1, 101):
        now = 1.01 * step * exchange.EVERY
        (sent,), (answer,) = one.messages(runner, now), other.messages(runner, now)
        other.take_in(sent.message)
        one.take_in(answer.message)


class Sharing(Joinable):
    """Its jobs may be searched by other hosts as well; notes what it is told, and tells an entry a slice."""

    made = []
    spans_hosts = True

    def __init__(self, *args):
        super().__init__(*args)
        self.recorded, self.slices = Recorder(), 0
        for name in ("import_updates", "set_remote_marks", "export_updates"):
            setattr(self, name, getattr(self.recorded, name))
        self.made.append(self)

    def advance(self, budget):
        self.recorded.entries.append((len(self.recorded.entries), self.job_id))
        return super().advance(budget)


class Bare(Runner):
    """Its jobs are searched by one rank each."""


@pytest.fixture
def worker(monkeypatch):
    """A Worker that knows the run, whose ranks can join each other."""
    monkeypatch.setattr(Sharing, "made", [])
    clock = Clock()
    words = np.zeros(joint.WORDS, np.int64)
    one = Worker(kinds(clock, Sharing), clock, clock, joint=joint.Joint(words, 0, 2), shared_slice=1e-4)
    one.handle(setup_message(1e6))
    one.handle(Message(MessageType.START, RUN))
    one.handle(Message(MessageType.OPEN, RUN, from_records(np.array([(1, 0, 1.0, 1)], OPEN_RECORD))))
    return one


def hosts_message(node=NODE, host=1, ranks=RANKS, run=RUN):
    return Message(MessageType.HOSTS, run, from_records(np.array([node, host, *ranks], np.int64)))


def steer_message(node, low, high):
    return Message(MessageType.JOB_UPDATE, RUN, to_records(update_record(node, low, high, 0, 0), np.uint8))


def recorded():
    """What the runner that is at work, or was, has been told."""
    return Sharing.made[0].recorded


def test_a_job_at_work_is_searched_together_from_the_next_slice_on(worker):
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    assert worker.peer_messages() == []
    assert worker.handle(hosts_message()) == []
    assert recorded().elsewhere == []
    worker.work()
    assert Sharing.made[0].is_shared
    assert recorded().elsewhere == [([], 3, 1)]
    assert summary(worker.peer_messages()) == [(MessageType.TT_UPDATE, 3), (MessageType.TT_UPDATE, 8)]
    assert worker.peer_messages() == []  # it is too soon


def test_it_takes_in_and_tells_at_every_slice(worker):
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    worker.handle(hosts_message())
    found = []
    for i in range(1, 13):
        assert worker.handle(news_of(0, [(i, i)], [(i, 1)])) == []
        worker.work()
        assert recorded().taken[-1] == [i, i]
        assert recorded().elsewhere[-1] == ([[i, 1]], 3, 1)
        found += [opened(out.message) for out in worker.peer_messages() if out.to == 8]
    assert {(node, host) for node, host, _, _ in found} == {(NODE, 1)}
    assert sum(len(entries) for _, _, entries, _ in found) >= 2


def test_slices_are_short_while_others_search_the_same(worker):
    clock = worker._clock
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    worker.handle(hosts_message())
    worker.work()
    began = clock()
    worker.work()
    assert clock() - began < 2 * exchange.EVERY


def test_a_queued_job_is_searched_together_once_it_is_begun(worker):
    worker.handle(jobs_message(RUN, LARGE))
    worker.handle(hosts_message())
    assert worker.peer_messages() == []
    worker.work()
    worker.work()
    assert recorded().elsewhere == [([], 3, 1)]
    assert len(worker.peer_messages()) == 2


@pytest.mark.parametrize("then", ["never there", "done", "dropped", "dropped in the queue", "stopped"])
def test_a_job_that_is_not_there_has_no_exchange(worker, then):
    """What is new comes too late, or the answer has just been sent."""
    worker.handle(jobs_message(RUN, *([LARGE] if then != "done" else [100])))
    if then == "done":
        work(worker)
    elif then == "stopped":
        worker.work()
        worker.handle(Message(MessageType.STOP, RUN))
    elif then != "never there":
        if then == "dropped":
            worker.work()
        worker.handle(steer_message(0, 0, 0))
    assert worker.handle(hosts_message(node=1 if then == "never there" else 0)) == []
    worker.handle(news_of(0, [(1, 1)]))
    if then == "never there":
        worker.work()
    assert worker.peer_messages() == []
    assert all(runner.recorded.elsewhere == runner.recorded.taken == [] for runner in Sharing.made)


def end_by(worker, how):
    """The job at work ends; return what the worker answers at last."""
    match how:
        case "done":
            return work(worker)
        case "dropped":
            return worker.handle(steer_message(NODE, 0, 0))
        case "stopped":
            return worker.handle(Message(MessageType.STOP, RUN))
    return worker.handle(hosts_message(ranks=RANKS[:1], host=0))


@pytest.mark.parametrize("how", ["done", "dropped", "stopped", "left alone"])
def test_it_ends_with_the_job_or_without_other_owners(worker, how):
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    worker.handle(hosts_message())
    worker.work()
    answers = end_by(worker, how)
    assert (MessageType.RESULTS in [message.type for message in answers]) == (how != "left alone")
    assert recorded().elsewhere[-1] == ([], 0, 0)
    ended = len(recorded().elsewhere)
    assert worker.handle(news_of(0, [(1, 1)], [(2, 2)])) == []
    if how == "left alone":
        worker.work()
    assert worker.peer_messages() == []
    assert len(recorded().elsewhere) == ended
    assert recorded().taken == []


def test_the_next_job_is_searched_alone(worker):
    worker.handle(jobs_message(RUN, LARGE, LARGE))
    worker.work()
    worker.handle(hosts_message())
    work(worker)
    assert [each[1:] for each in recorded().elsewhere] == [(3, 1), (0, 0)]
    assert not Sharing.made[0].is_shared


def test_what_ranks_cannot_share_each_searches_for_itself(worker, monkeypatch):
    monkeypatch.setattr(Sharing, "can_be_shared", False)
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    worker.handle(hosts_message())
    worker.handle(news_of(0, [(1, 1)]))
    while worker.has_work:
        worker.work()
        assert worker.peer_messages() == []
    assert recorded().taken == []
    assert all(hosts == 0 for _, hosts, _ in recorded().elsewhere)


def test_a_runner_that_knows_of_no_hosts_is_left_alone():
    one, _ = toy_worker(Bare)
    one.handle(setup_message(1e6))
    one.handle(open_message(RUN))
    one.handle(jobs_message(RUN, LARGE))
    one.work()
    assert one.handle(hosts_message()) == []
    assert one.handle(news_of(0, [(1, 1)])) == []
    one.work()
    assert one.peer_messages() == []
    assert [message.type for message in work(one)] == [MessageType.RESULTS]


def test_other_hosts_may_come_and_go(worker):
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    for host, ranks in ((0, (3, 5)), (0, RANKS), (1, (9, 3, 5))):
        worker.handle(hosts_message(host=host, ranks=ranks))
        worker.work()
        assert recorded().elsewhere[-1] == ([], len(ranks), host)
        assert [out.to for out in worker.peer_messages()] == [rank for i, rank in enumerate(ranks) if i != host]


def test_what_comes_before_or_after_all_else_is_ignored(worker):
    """Messages of different senders may pass each other."""
    assert worker.handle(news_of(0, run=99)) == []
    assert worker.handle(news_of(0)) == []
    worker.handle(jobs_message(RUN, LARGE))
    assert worker.handle(news_of(0, [(1, 1)])) == []
    work(worker)
    worker.handle(Message(MessageType.END, RUN))
    assert worker.handle(news_of(0, [(1, 1)])) == []
    assert recorded().taken == []


def test_several_runs_are_each_searched_with_their_hosts(worker):
    record = np.array([(1, 1, 1.0, 1)], OPEN_RECORD)
    worker.handle(Message(MessageType.OPEN, RUN + 1, from_records(record)))
    for run in (RUN, RUN + 1):
        worker.handle(jobs_message(run, LARGE))
    for _ in range(4):
        worker.work()
    worker.handle(hosts_message())
    worker.handle(hosts_message(run=RUN + 1, host=0, ranks=(1, 2)))
    for _ in range(4):
        worker.work()
    assert sorted((out.to, out.message.run) for out in worker.peer_messages()) == [(2, RUN + 1), (3, RUN), (8, RUN)]


# --- the master ---


COPIED = np.dtype([*JOB.descr, ("low", np.int32), ("high", np.int32), ("budget", np.int64)])
SCORED = np.dtype([*RESULT.descr, ("score", np.float64)])


class Spanning(Source):
    """Several hosts may search one of its jobs, which workers of a host search together."""

    joint = by_host = spans_hosts = True
    result_dtype = SCORED

    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        self.moves = []

    def take(self, count, worker):
        plain = super().take(count, worker)
        jobs = np.zeros(len(plain), COPIED)
        for name in JOB.names:
            jobs[name] = plain[name]
        return jobs

    def moved(self, node, worker):
        self.moves.append((node, worker))
        self._out[node] = worker


def begun(sizes, hosts=TWO_HOSTS, source=Spanning, **how):
    """Return (Talk, the source, what is sent when all are ready)."""
    talk, made_of = Talk(hosts), source(sizes, **how)
    talk.begin(made_of, measured=True, prefetch=1)
    return talk, made_of, talk.all_ready()


def answer(talk, worker, job_ids, nodes=1, complete=1):
    """A worker tells of jobs; returns what the master sends."""
    records = np.zeros(len(job_ids), SCORED)
    records["job_id"], records["complete"], records["nodes"], records["seconds"] = job_ids, complete, nodes, 1.0
    return talk.say(worker, MessageType.RESULTS, from_records(records))


def jobs(sent, dtype=COPIED):
    """(receiver, nodes) of the JOBS messages among others."""
    given = [(out.to, to_records(out.message.payload, dtype)) for out in sent if out.message.type == MessageType.JOBS]
    return [(to, records["job_id"].tolist()) for to, records in given]


def hosts_messages(sent):
    """worker → (node, its number, owners) of HOSTS."""
    words = {
        out.to: to_records(out.message.payload, np.int64).tolist()
        for out in sent
        if out.message.type == MessageType.HOSTS
    }
    return {rank: (each[0], each[1], each[2:]) for rank, each in words.items()}


def dropped(sent):
    """(worker, node) of jobs that are not wanted any more."""
    steered = [
        (out.to, to_records(out.message.payload, UPDATE_RECORD))
        for out in sent
        if out.message.type == MessageType.JOB_UPDATE
    ]
    assert all((records["low"] >= records["high"]).all() for _, records in steered)
    return [(to, node) for to, records in steered for node in records["job_id"].tolist()]


def test_an_idle_host_gets_a_copy_and_both_owners_know():
    talk, source, sent = begun([10])
    assert jobs(sent) == [(1, [0]), (3, [0])]
    assert hosts_messages(sent) == {1: (0, 0, [1, 3]), 3: (0, 1, [1, 3])}
    kinds_of = [kind for kind, to in summary(sent) if to == 3]
    assert kinds_of[-3:] == [MessageType.OPEN, MessageType.JOBS, MessageType.HOSTS]
    assert source.taken == [(1, 0)]


@pytest.mark.parametrize("first", [1, 3])
def test_the_first_result_stops_the_other_and_the_run_ends(first):
    talk, source, _ = begun([10])
    other = 4 - first
    sent = answer(talk, first, [0])
    assert dropped(sent) == [(other, 0)]
    assert source.finished == []
    assert hosts_messages(sent) == {other: (0, 0, [other])}
    sent = answer(talk, other, [0])
    assert source.finished == [0]
    assert len(source.results) == 1
    assert MessageType.END in {kind for kind, _ in summary(sent)}
    talk.metrics()


def test_a_host_whose_own_job_is_done_helps_with_the_other_one():
    talk, source, sent = begun([10, 10])
    assert jobs(sent) == [(1, [0]), (3, [1])]
    assert hosts_messages(sent) == {}
    sent = answer(talk, 1, [0])
    assert len(jobs(sent)) == 1
    (rank, nodes) = jobs(sent)[0]
    assert (TWO_HOSTS[rank], nodes) == ("a", [1])
    assert hosts_messages(sent) == {3: (1, 0, [3, rank]), rank: (1, 1, [3, rank])}


def test_new_jobs_come_before_copies():
    talk, _, _ = begun([10, 10], more=[10, 10])
    ((copier, _),) = jobs(answer(talk, 1, [0]))
    sent = answer(talk, 3, [1])
    assert (jobs(sent), dropped(sent)) == ([], [(copier, 1)])
    sent = answer(talk, copier, [1], complete=0)
    assert [nodes for _, nodes in jobs(sent)] == [[2], [3]]
    assert {TWO_HOSTS[to] for to, _ in jobs(sent)} == {"a", "b"}
    assert hosts_messages(sent) == {}


@pytest.mark.parametrize("lost", [1, 3])
def test_a_lost_workers_job_goes_on_at_the_other_host(lost):
    talk, source, _ = begun([10])
    other = 4 - lost
    sent = talk.lose(lost)
    assert source.moves == [(0, other)]
    assert source.taken == [(1, 0)]  # and was not handed out again
    (helper,) = [to for to, _ in jobs(sent)]
    assert TWO_HOSTS[helper] == TWO_HOSTS[lost]
    assert hosts_messages(sent) == {other: (0, 0, [other, helper]), helper: (0, 1, [other, helper])}
    answer(talk, other, [0])
    answer(talk, helper, [0])
    assert source.finished == [0]
    assert len(source.results) == 1


def test_a_job_that_all_have_lost_waits_again():
    talk, source, _ = begun([10], hosts={1: "a", 2: "a", 3: "b"})
    assert jobs(talk.lose(3)) == []
    assert jobs(talk.lose(1)) == [(2, [0])]
    assert source.taken == [(1, 0), (2, 0)]
    answer(talk, 2, [0])
    assert source.finished == [0]


def test_one_after_another_comes_in_for_the_lost():
    talk, source, _ = begun([10], hosts={1: "a", 3: "b", 4: "b", 5: "b"})
    for lost in (3, 4, 1):
        talk.lose(lost)
    assert source.moves == [(0, 1), (0, 1), (0, 5)]
    assert source.taken == [(1, 0)]


def test_an_owner_that_has_answered_is_lost_while_the_others_stop():
    """The source believes that it still has the job."""
    talk, source, _ = begun([10])
    answer(talk, 1, [0], nodes=5)
    talk.lose(1)
    assert source.taken == [(1, 0)]
    assert source.moves == [(0, 3)]
    answer(talk, 3, [0], nodes=2, complete=0)
    assert source.finished == [0]
    assert source.results[0]["nodes"] == 7


def test_an_owner_lost_after_the_first_answer_is_not_waited_for():
    talk, source, _ = begun([10])
    answer(talk, 1, [0])
    sent = talk.lose(3)
    assert source.finished == [0]
    assert MessageType.END in {kind for kind, _ in summary(sent)}


def test_a_run_that_is_halted_waits_for_both():
    talk, source, _ = begun([10])
    assert summary(talk.halt()) == [(MessageType.STOP, 1), (MessageType.STOP, 3)]
    talk.stopped([1])
    assert talk.is_open
    assert MessageType.END in {kind for kind, _ in summary(talk.stopped([3]))}


@pytest.mark.parametrize("order", [(1, 3), (3, 1)])
def test_what_one_has_found_of_a_halted_run_counts_though_the_other_had_not_begun(order):
    talk, source, _ = begun([10])
    talk.halt()
    for rank in order:
        if rank == 1:
            answer(talk, 1, [0], nodes=5, complete=0)
        talk.stopped([rank])
    assert [record["nodes"] for record in source.results] == [5]


class OfOneHost(Spanning):
    spans_hosts = False


class NotJoint(Spanning):
    joint = False


@pytest.mark.parametrize(
    ("source", "hosts"),
    [(Source, TWO_HOSTS), (OfOneHost, TWO_HOSTS), (NotJoint, TWO_HOSTS), (Spanning, dict.fromkeys(TWO_HOSTS, "a"))],
    ids=["plain", "of one host", "not joint", "one host"],
)
def test_otherwise_there_are_no_copies(source, hosts):
    _, _, sent = begun([10], hosts, source)
    assert [kind for kind, _ in summary(sent)].count(MessageType.JOBS) == 1
    assert hosts_messages(sent) == {}


def test_every_job_is_finished_once_whatever_is_lost(full, rng):
    for _ in range(300 if full else 30):
        a_run_at_random(rng)


def a_run_at_random(rng):
    hosts = {rank: rng.choice("abcd") for rank in range(1, rng.randint(3, 9))}
    talk, source, sent = begun([10] * rng.randint(1, 12), hosts, more=[10] * rng.randint(1, 4))
    at, gone = {rank: [] for rank in hosts}, set()
    while True:
        for to, nodes in jobs(sent):
            at[to] += nodes
        for to, (node, number, owners) in hosts_messages(sent).items():
            assert owners[number] == to
            assert all(node in at[owner] for owner in owners)
            assert len({hosts[owner] for owner in owners}) == len(owners)
        for to, node in dropped(sent):
            assert node in at[to]
        if MessageType.END in {kind for kind, _ in summary(sent)}:
            break
        rank = rng.choice([rank for rank in hosts if at[rank] and rank not in gone])
        if rng.random() < 0.2 and len(gone) < len(hosts) - 1:
            gone.add(rank)
            at[rank] = []
            sent = talk.lose(rank)
        else:
            nodes, at[rank] = at[rank][:1], at[rank][1:]
            sent = answer(talk, rank, nodes)
    assert sorted(source.finished) == list(range(len(source._sizes)))
    assert not any(at.values())
