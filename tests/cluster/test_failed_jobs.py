"""Jobs whose runner raises an exception: of a guarded worker it ends the run, of any other one the worker."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from distsearch.cluster.local import InProcessCluster
from distsearch.cluster.messages import Message, MessageType
from distsearch.cluster.submaster import ABOVE
from distsearch.cluster.worker import Worker
from distsearch.core.errors import UserError

from .talk import started, summary
from .test_submaster import Talk as SubmasterTalk
from .toys import (
    RESULT,
    SETUP_TEXT,
    BatchRunner,
    Clock,
    Runner,
    Source,
    jobs_message,
    kinds,
    open_message,
    setup_message,
)

BAD = 13  # nodes of a job that nothing can be done about
FAILURE = "ZeroDivisionError: thirteen"
PAYLOAD = np.frombuffer(FAILURE.encode(), np.uint8)


class Failing(Runner):
    def advance(self, budget):
        if self._job["nodes"] == BAD:
            raise ZeroDivisionError("thirteen")
        return super().advance(budget)


class FailingBatches(Failing, BatchRunner):
    pass


class Uncompiled(Runner):
    def compile(self):
        raise UserError("no such file")


def worker_of(runner, guarded=True):
    clock = Clock()
    worker = Worker(kinds(clock, runner), clock, clock, guarded=guarded)
    worker.handle(setup_message(1e6))
    for run in (1, 2):
        worker.handle(open_message(run))
    return worker


def told(messages):
    return [(message.type, message.run, bytes(message.payload).decode()) for message in messages]


@pytest.mark.parametrize("runner", [Failing, FailingBatches])
def test_a_guarded_worker_says_so_and_goes_on(runner, capsys):
    worker = worker_of(runner)
    worker.handle(jobs_message(1, 5, BAD, 7))
    assert told(worker.work()) == [(MessageType.FAILED, 1, FAILURE)]
    assert not worker.has_work
    assert "Traceback" in capsys.readouterr().err
    worker.handle(jobs_message(2, 5, 7))
    assert [message.type for message in worker.work()] == [MessageType.RESULTS]
    assert [message.type for message in worker.handle(Message(MessageType.STOP, 1))] == [MessageType.STOPPED]
    worker.handle(Message(MessageType.END, 1))


def test_any_other_worker_raises_it():
    worker = worker_of(Failing, guarded=False)
    worker.handle(jobs_message(1, BAD))
    with pytest.raises(ZeroDivisionError):
        worker.work()
    with pytest.raises(UserError):
        worker_of(Uncompiled, guarded=False)


def test_where_nothing_can_be_compiled_every_job_fails(capsys):
    worker = worker_of(Uncompiled)
    for run in (1, 2):
        assert told(worker.handle(jobs_message(run, 5))) == [(MessageType.FAILED, run, "no such file")]
    assert not worker.has_work
    assert capsys.readouterr().err == ""


def test_the_master_ends_the_run_and_keeps_the_reason():
    talk, _ = started(2, Source([5] * 4))
    assert summary(talk.say(1, MessageType.FAILED, PAYLOAD)) == [(MessageType.STOP, 1), (MessageType.STOP, 2)]
    assert talk.say(2, MessageType.FAILED, np.frombuffer(b"late", np.uint8)) == []
    talk.stopped((1, 2))
    assert talk.master.failures == {talk.run: FAILURE}


def test_a_submaster_passes_it_on():
    talk = SubmasterTalk()
    talk.begin(2)
    out = talk.say(3, MessageType.FAILED, PAYLOAD)
    assert told(each.message for each in out if each.to == ABOVE) == [(MessageType.FAILED, 1, FAILURE)]
    assert summary(out)[-1] == (MessageType.FAILED, ABOVE)
    assert talk.above(MessageType.STOP) == []
    talk.say(2, MessageType.STOPPED)
    assert (MessageType.STOPPED, ABOVE) in summary(talk.say(3, MessageType.STOPPED))


def broken(setup):
    raise ZeroDivisionError("thirteen")


def no_source(setup):
    return SimpleNamespace(result_dtype=RESULT)  # and nothing else that a source needs


@pytest.mark.parametrize("make", [broken, no_source])
def test_a_guarded_submaster_without_a_source_fails_its_runs_alone(make, capsys):
    talk = SubmasterTalk({"toy": make}, guarded=True)
    assert (MessageType.READY, ABOVE) in summary(talk.ready)
    for run in (1, 2):
        ((kind, number, why),) = told(each.message for each in talk.begin(1, run))
        assert (kind, number) == (MessageType.FAILED, run)
        assert (why == FAILURE) == (make is broken)
        assert summary(talk.above(MessageType.STOP, run=run)) == [(MessageType.STOPPED, ABOVE)]
        assert talk.above(MessageType.END, run=run) == []
    assert "Traceback" in capsys.readouterr().err
    with pytest.raises((ZeroDivisionError, AttributeError)):
        SubmasterTalk({"toy": make}).begin(1)


@pytest.mark.parametrize("runner", [Failing, Uncompiled])
def test_a_run_of_one_process_fails_alone(runner, capsys):
    cluster = InProcessCluster(kinds(Clock(), runner), guarded=True)
    failing, other = (cluster.begin(SETUP_TEXT, Source(sizes)) for sizes in ([5, BAD, 7], [5, 7]))
    while cluster.is_open(failing) or cluster.is_open(other):
        cluster.turn()
    failures = [cluster.failure(run) for run in (failing, other)]
    expected = [FAILURE, None] if runner is Failing else ["no such file"] * 2
    assert failures == expected
    assert cluster.failure(failing) is None
    with pytest.raises(RuntimeError, match=expected[0]):
        cluster.run(SETUP_TEXT, Source([5, BAD]), lambda _: False)
    cluster.close()


def test_nothing_is_guarded_that_did_not_ask_for_it():
    with pytest.raises(ZeroDivisionError):
        InProcessCluster({"toy": partial(Failing, Clock(), {1e6})}).run(SETUP_TEXT, Source([BAD]), lambda _: False)
