"""News between hosts: found by workers, kept by the master, and sent with jobs to one worker of every other host."""

import numpy as np
import pytest

from distsearch.cluster import news, worker
from distsearch.cluster.messages import END, FOUND, JOBS, KNOWN, OPEN, OPEN_RECORD, Message, from_records, to_records
from distsearch.cluster.news import News

from .talk import TWO_HOSTS, Talk, summary, workers
from .toys import Runner, Source, jobs_message, setup_message, toy_worker, work

DEAR = 1000  # boards


def bytes_of(text):
    return np.frombuffer(text.encode(), np.uint8)


def text_of(payload):
    return payload.tobytes().decode()


# --- what waits for whom ---


@pytest.fixture
def heard():
    """(News of three hosts, ``told(worker)``: what the worker's host is told next)."""
    kept = News({1: "a", 2: "a", 3: "b", 4: "c"})
    return kept, lambda rank: text_of(kept.tell(rank))


def test_every_other_host_is_told_once(heard):
    kept, told = heard
    kept.add(3, bytes_of("x"))
    assert (told(1), told(2), told(4)) == ("x", "", "x")
    kept.add(4, bytes_of("y"))
    assert (told(2), told(1), told(3), told(4)) == ("y", "", "y", "")


def test_no_host_is_told_what_it_found(heard):
    kept, told = heard
    kept.add(1, bytes_of("x"))
    assert (told(1), told(2), told(3)) == ("", "", "x")


def test_messages_are_small_and_the_oldest_are_forgotten(heard):
    kept, told = heard
    for i in range(news._KEPT + 10):
        kept.add(3, bytes_of(chr(100 + i)))
    for i in range(10, news._KEPT + 10, news._MOST):
        assert told(1) == "".join(chr(100 + j) for j in range(i, i + news._MOST))
    assert told(1) == ""


# --- the master ---


class Teller(Source):
    """A source whose dear findings are told."""

    dear = DEAR


def begun(source, hosts=TWO_HOSTS, **how):
    """Return (Talk, what is sent when all are ready)."""
    talk = Talk(hosts, **how)
    talk.begin(source, measured=True, prefetch=1)
    return talk, talk.all_ready()


def dear(sent):
    """What workers are told is dear."""
    return {int(to_records(out.message.payload, OPEN_RECORD)["dear"][0]) for out in sent if out.message.type == OPEN}


def answer(talk, source, rank):
    """The worker's latest job is done; return what the master sends, and what is KNOWN by it."""
    sent = talk.answer(rank, [[node for to, node in source.taken if to == rank][-1]])
    return summary(sent), [text_of(out.message.payload) for out in sent if out.message.type == KNOWN]


def test_findings_go_with_the_next_jobs_to_one_worker_of_another_host():
    source = Teller([10] * 30)
    talk, sent = begun(source)
    assert dear(sent) == {DEAR}
    assert talk.say(3, FOUND, bytes_of("found")) == []
    assert answer(talk, source, 4) == ([(JOBS, 4)], [])
    assert answer(talk, source, 1) == ([(KNOWN, 1), (JOBS, 1)], ["found"])
    assert answer(talk, source, 2) == ([(JOBS, 2)], [])


def test_without_jobs_nothing_is_told():
    source = Teller([10] * 5)
    talk, _ = begun(source)
    talk.say(3, FOUND, bytes_of("found"))
    assert answer(talk, source, 1) == ([], [])


def test_a_new_worker_is_told_after_it_knows_the_run():
    source = Teller([10] * 30)
    talk = Talk(TWO_HOSTS)
    talk.begin(source, prefetch=1)
    talk.ready(1)
    talk.say(1, FOUND, bytes_of("found"))
    assert [kind for kind, to in summary(talk.ready(3)) if to == 3] == [OPEN, KNOWN, JOBS]


@pytest.mark.parametrize(
    ("source", "how"),
    [(Source, {}), (Teller, {"hosts": workers(5)}), (Teller, {"news": False})],
    ids=["nothing is dear", "one host", "left out"],
)
def test_else_nothing_is_asked_for(source, how):
    _, sent = begun(source([10] * 30), **how)
    assert dear(sent) == {0}


def test_findings_of_a_run_that_is_over_are_ignored():
    talk, _ = begun(Teller([10]))
    assert talk.say(3, FOUND, bytes_of("found"), run=99) == []


# --- the worker ---


class Learner(Runner):
    """Finds a byte in every slice; notes what it is told, between its jobs."""

    def __init__(self, *args):
        super().__init__(*args)
        self.heard, self.dear = [], None
        self.made.append(self)

    made = []

    def begin(self, job):
        super().begin(job)
        self.heard.append(int(job["node"]))

    def tell(self, boards):
        self.dear = boards

    def found(self):
        return bytes_of("x")

    def learn(self, known):
        self.heard.append(text_of(known))


def learner(monkeypatch, dear=DEAR):
    monkeypatch.setattr(Learner, "made", [])
    made, _ = toy_worker(Learner)
    made.handle(setup_message(1e6))
    made.handle(Message(OPEN, 1, from_records(np.array([(1, 0, 1.0, dear, 0)], OPEN_RECORD))))
    return made


def test_a_worker_learns_before_jobs_and_while_one_is_at_work(monkeypatch):
    made = learner(monkeypatch)
    assert made.handle(Message(KNOWN, 1, bytes_of("first"))) == []
    made.handle(jobs_message(1, 10**5))
    made.work()
    assert made.handle(Message(KNOWN, 1, bytes_of("second"))) == []
    work(made)
    assert made.handle(Message(KNOWN, 1, bytes_of("third"))) == []
    assert [runner.heard for runner in Learner.made] == [["first", 0, "second", "third"]]
    made.handle(Message(END, 1))
    assert not made.has_work


def test_it_tells_what_it_finds_some_at_a_time(monkeypatch):
    """What one job leaves goes with what the next ones find."""
    monkeypatch.setattr(worker, "_FINDINGS", 4)
    made = learner(monkeypatch)
    made.handle(jobs_message(1, *[10**4] * 4))
    slices = []
    while made.has_work:
        slices.append([text_of(message.payload) for message in made.work() if message.type == FOUND])
    assert Learner.made[0].dear == DEAR
    assert len(slices) >= 8
    assert [told for told in slices if told] == [["xxxx"]] * (len(slices) // 4)


def test_it_tells_nothing_that_nobody_wants(monkeypatch):
    monkeypatch.setattr(worker, "_FINDINGS", 1)
    made = learner(monkeypatch, dear=0)
    made.handle(jobs_message(1, 10**5))
    assert FOUND not in {message.type for message in work(made)}
    assert Learner.made[0].dear == 0
