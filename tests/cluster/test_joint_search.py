"""Jobs that ranks of a host join: when the worker at work opens them."""

import numpy as np
import pytest

from distsearch.cluster import joint
from distsearch.cluster.messages import OPEN_RECORD, Message, MessageType, from_records
from distsearch.cluster.worker import Worker

from .toys import Clock, Runner, jobs_message, kinds, setup_message

RUN = 7
LARGE = 100_000  # nodes of a job, of a million a second: some fifty slices


class Joinable(Runner):
    """Any of its jobs may be joined; a rank that joins one searches it a little at a time."""

    can_join = True
    can_be_shared = True
    is_shared = False

    def share(self, shared):
        self.is_shared = shared

    def job_now(self):
        return np.array([self._job], self.job_dtype)

    def join(self, run, job, sequence, sequence_at, nodes_at):
        self.begin(job)


class Failing(Joinable):
    """As a guest it fails, once it has begun."""

    guest = False

    def join(self, *asked):
        super().join(*asked)
        self.guest = True

    def advance(self, budget):
        if self.guest:
            raise ZeroDivisionError
        return super().advance(budget)


class Refusing(Joinable):
    """As a guest it cannot even begin."""

    def join(self, *asked):
        raise ZeroDivisionError


def make_host(runner=Joinable, **how):
    """Two workers of a host: [(Worker, its Joint, its Clock)]."""
    words, made = np.zeros(joint.WORDS, np.int64), []
    for slot in range(2):
        clock, shared = Clock(), joint.Joint(words, slot, 2)
        worker = Worker(kinds(clock, runner), clock, clock, joint=shared, shared_slice=1e-5, **how)
        worker.handle(setup_message(1e6))
        worker.handle(Message(MessageType.START, RUN))
        open_run(worker, RUN)
        made.append((worker, shared, clock))
    return made


def open_run(worker, run):
    record = np.array([(1, 0, 1.0, 1)], OPEN_RECORD)
    worker.handle(Message(MessageType.OPEN, run, from_records(record)))


@pytest.fixture
def host():
    return make_host()


def work_until(worker, ready):
    for _ in range(100_000):
        if ready():
            return
        worker.work()
    raise AssertionError("it never was")


def test_a_job_is_opened_once_it_has_lasted_for_a_slice(host):
    (worker, shared, clock), (other, *_) = host
    worker.handle(jobs_message(RUN, LARGE))
    assert not shared.is_open and not other.can_join
    began = clock()
    worker.work()
    assert clock() - began > 1e-3
    assert shared.is_open and other.can_join


@pytest.mark.parametrize("joined", [False, True])
def test_after_a_job_that_was_joined_the_next_is_opened_at_once(host, joined):
    (worker, shared, clock), (other, *_) = host
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    if joined:
        other.join()
    work_until(worker, lambda: not worker.has_work)
    assert not shared.is_open
    worker.handle(jobs_message(RUN, LARGE))
    opened, inner = [], shared.open
    shared.open = lambda *given: (opened.append(clock()), inner(*given))
    began = clock()
    worker.work()
    assert len(opened) == 1
    assert (opened[0] - began < 1e-4) == joined
    assert (clock() - began < 1e-3) == joined  # and it looks after a short slice what others have found


@pytest.mark.parametrize("runner", [Failing, Refusing])
def test_a_guest_that_fails_costs_no_run(runner, capsys):
    (worker, shared, _), (other, *_) = make_host(runner, guarded=True)
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    assert other.can_join
    assert other.join() == []
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert not shared.joined and not other.can_join
    open_run(other, RUN + 1)
    assert other.handle(jobs_message(RUN + 1, 5)) == []
    assert [message.type for message in other.work()] == [MessageType.RESULTS]
    work_until(worker, lambda: not worker.has_work)
    worker.handle(jobs_message(RUN, LARGE))
    worker.work()
    assert other.can_join  # the next one may do
