"""News between hosts: sent with jobs, to one worker of a host, and taken in by the worker's runner."""

import numpy as np
import pytest

from distsearch.cluster.messages import END, JOBS, KNOWN, OPEN, Message

from .talk import TWO_HOSTS, Talk, summary, workers
from .toys import Runner, Source, jobs_message, open_message, setup_message, toy_worker, work

NOTHING = np.empty(0, np.uint8)


class Teller(Source):
    """A source with news: what a worker is to be told next is ``news_for[worker]``."""

    def __init__(self, *args, wants=True, **how):
        super().__init__(*args, **how)
        self._wants, self.hosts, self.news_for = wants, None, {}

    def spread(self, hosts):
        self.hosts = hosts
        return self._wants

    def news(self, worker):
        return self.news_for.pop(worker, NOTHING)


def bytes_of(text):
    return np.frombuffer(text.encode(), np.uint8)


def known(sent):
    """(receiver, text) of the KNOWN messages among others."""
    return [(out.to, out.message.payload.tobytes().decode()) for out in sent if out.message.type == KNOWN]


def begun(source, hosts=TWO_HOSTS):
    """Return (Talk, what is sent when all are ready)."""
    talk = Talk(hosts)
    talk.begin(source, measured=True, prefetch=1)
    return talk, talk.all_ready()


def test_a_source_is_told_which_worker_is_where():
    source = Teller([1])
    begun(source)
    assert source.hosts == {1: 0, 2: 0, 3: 1, 4: 1, 5: 0}


def test_news_go_before_the_jobs():
    source = Teller([10] * 20)
    source.news_for = {3: bytes_of("news")}
    talk, sent = begun(source)
    assert known(sent) == [(3, "news")]
    assert [kind for kind, to in summary(sent) if to == 3][-3:] == [OPEN, KNOWN, JOBS]
    assert [kind for kind, to in summary(sent) if to == 1][-2:] == [OPEN, JOBS]
    source.news_for = {3: bytes_of("more")}
    nodes = [node for worker, node in source.taken if worker == 3]
    assert summary(talk.answer(3, nodes)) == [(KNOWN, 3), (JOBS, 3)]
    nodes = [node for worker, node in source.taken if worker == 4]
    assert summary(talk.answer(4, nodes)) == [(JOBS, 4)]


def test_without_jobs_nothing_is_told():
    source = Teller([10] * 5)
    talk, _ = begun(source)
    source.news_for = {1: bytes_of("news")}
    assert known(talk.answer(1, [source.taken[0][1]])) == []
    assert source.news_for


@pytest.mark.parametrize("wants", [True, False])
def test_on_one_host_nobody_asks(wants):
    source = Teller([10] * 5, wants=wants)
    source.news_for = {1: bytes_of("news")}
    _, sent = begun(source, workers(3))
    assert source.hosts is None
    assert known(sent) == []


def test_a_source_may_have_none():
    for source in (Teller([10] * 5, wants=False), Source([10] * 5)):
        source.news_for = {1: bytes_of("news")}
        _, sent = begun(source)
        assert known(sent) == []


def test_news_can_be_left_out():
    source = Teller([10] * 5)
    talk = Talk(TWO_HOSTS, news=False)
    talk.begin(source, measured=True)
    talk.all_ready()
    assert source.hosts is None


class Learner(Runner):
    """Notes what it is told, and in which order with its jobs."""

    heard = []

    def begin(self, job):
        super().begin(job)
        self.heard.append(int(job["node"]))

    def learn(self, known):
        self.heard.append(known.tobytes().decode())


def test_a_worker_learns_between_jobs_and_while_one_is_at_work(monkeypatch):
    monkeypatch.setattr(Learner, "heard", [])
    worker, _ = toy_worker(Learner)
    worker.handle(setup_message(1e6))
    worker.handle(open_message(1))
    assert worker.handle(Message(KNOWN, 1, bytes_of("first"))) == []
    worker.handle(jobs_message(1, 10**5))
    worker.work()
    assert worker.handle(Message(KNOWN, 1, bytes_of("second"))) == []
    work(worker)
    assert worker.handle(Message(KNOWN, 1, bytes_of("third"))) == []
    assert Learner.heard == ["first", 0, "second", "third"]
    worker.handle(Message(END, 1))
    assert not worker.has_work
