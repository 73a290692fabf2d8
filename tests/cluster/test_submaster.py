"""A sub-master that is spoken to by hand: what it tells rank 0, and what its workers."""

import numpy as np
import pytest

from distsearch.cluster.events import Lost, Received
from distsearch.cluster.messages import OPEN_RECORD, Message, MessageType, from_records, to_lost
from distsearch.cluster.submaster import ABOVE, Submaster, blocks

from .talk import jobs, metrics_payload, summary
from .toys import JOB, SETUP_TEXT, Clock, kinds, results_of, results_payload


@pytest.mark.parametrize(("size", "groups"), [(3, 1), (5, 2), (6, 2), (64, 2), (100, 7), (4097, 64)])
def test_blocks_have_every_rank_but_the_first_once_and_a_worker_each(size, groups):
    found = blocks(size, groups)
    assert sorted(rank for leader, ranks in found.items() for rank in (leader, *ranks)) == list(range(1, size))
    assert len(found) == groups
    assert all(ranks and ranks[0] == leader + 1 for leader, ranks in found.items())


def test_blocks_are_hosts_where_these_have_as_many_ranks():
    assert list(blocks(4 * 16, 4)) == [1, 16, 32, 48]
    assert blocks(8, 0) == {}


class Talk:
    """A group of two workers, ranks 2 and 3, which have made themselves ready for a setup."""

    def __init__(self, made=None, guarded=False):
        self.group = Submaster({2: "a", 3: "a"}, made or kinds(Clock()), {}, guarded)
        self.above(MessageType.SETUP, np.frombuffer(SETUP_TEXT, np.uint8))
        self.say(2, MessageType.READY)
        self.ready = self.say(3, MessageType.READY)

    def above(self, kind, payload=None, run=1):
        return self.say(ABOVE, kind, payload, run)

    def say(self, sender, kind, payload=None, run=1):
        message = Message(kind, run) if payload is None else Message(kind, run, payload)
        return self.group.handle(Received(sender, message))

    def begin(self, count, run=1):
        """A run with so many jobs; returns what they lead to."""
        self.above(MessageType.OPEN, from_records(np.array([(1, 0, 1.0, 0)], OPEN_RECORD)), run)
        records = np.zeros(count, JOB)
        records["job_id"], records["nodes"] = np.arange(count), 10
        return self.above(MessageType.JOBS, from_records(records), run)


def test_it_is_ready_when_all_of_its_workers_are():
    assert summary(Talk().ready) == [(MessageType.READY, ABOVE)]


def test_jobs_go_to_its_workers_and_their_results_up():
    talk = Talk()
    assert {to for to, _ in jobs(talk.begin(2))} == {2, 3}
    out = talk.say(2, MessageType.RESULTS, results_payload([0]))
    (up,) = [outgoing for outgoing in out if outgoing.to == ABOVE]
    assert up.message.type == MessageType.RESULTS
    assert results_of(up.message)["job_id"].tolist() == [0]


def test_a_stopped_run_is_answered_for_when_its_workers_have():
    talk = Talk()
    talk.begin(2)
    assert summary(talk.above(MessageType.STOP)) == [(MessageType.STOP, 2), (MessageType.STOP, 3)]
    assert not [outgoing for outgoing in talk.say(2, MessageType.STOPPED) if outgoing.to == ABOVE]
    assert (MessageType.STOPPED, ABOVE) in summary(talk.say(3, MessageType.STOPPED))


def test_timers_of_all_of_its_workers_go_up_together_and_once_for_each_question():
    talk = Talk()
    assert summary(talk.above(MessageType.START)) == [(MessageType.START, 2), (MessageType.START, 3)]
    for _ in range(2):
        assert summary(talk.above(MessageType.METRICS_REQUEST)) == [
            (MessageType.METRICS_REQUEST, 2),
            (MessageType.METRICS_REQUEST, 3),
        ]
    assert (
        talk.say(2, MessageType.METRICS, metrics_payload(wall=2))
        == talk.say(2, MessageType.METRICS, metrics_payload(wall=2))
        == []
    )
    for _ in range(2):
        assert summary(talk.say(3, MessageType.METRICS, metrics_payload(wall=3))) == [(MessageType.METRICS, ABOVE)]


def test_timers_of_a_lost_worker_are_not_awaited():
    talk = Talk()
    talk.above(MessageType.METRICS_REQUEST)
    talk.say(2, MessageType.METRICS, metrics_payload(wall=2))
    assert (MessageType.METRICS, ABOVE) in summary(talk.group.handle(Lost(3)))


def test_a_lost_worker_is_told_of_and_the_other_has_its_jobs():
    talk = Talk()
    talk.begin(2)
    out = talk.group.handle(Lost(3))
    (answer,) = [outgoing.message for outgoing in out if outgoing.to == ABOVE]
    assert answer.type == MessageType.WORKER_LOST
    assert to_lost(answer) == (3, True)
    assert not talk.group.has_left
    assert jobs(out) == [(2, [1])]  # next to the one that it searches
    assert jobs(talk.say(2, MessageType.RESULTS, results_payload([0]))) == []


def test_a_run_may_begin_by_what_was_ready_before_it_was_asked_anew():
    talk = Talk()
    setup = np.frombuffer(SETUP_TEXT, np.uint8)
    talk.group.handle(Lost(3))
    talk.say(3, MessageType.PONG)
    talk.say(3, MessageType.RESET_DONE)  # and is not ready yet
    assert MessageType.READY not in [kind for kind, _ in summary(talk.above(MessageType.SETUP, setup))]
    assert jobs(talk.begin(1)) == [(2, [0])]  # rank 0 had an earlier READY meanwhile
    assert (MessageType.READY, ABOVE) in summary(talk.say(3, MessageType.READY))


def test_without_workers_it_leaves():
    talk = Talk()
    talk.begin(2)
    talk.group.handle(Lost(2))
    assert talk.group.handle(Lost(3)) == []
    assert talk.group.has_left
    assert talk.group.has_no_workers


def test_it_is_there_and_leaves_with_its_workers():
    talk = Talk()
    assert summary(talk.above(MessageType.PING)) == [(MessageType.PONG, ABOVE)]
    assert summary(talk.above(MessageType.QUIT, run=0)) == [(MessageType.QUIT, 2), (MessageType.QUIT, 3)]
    assert talk.group.has_left
    assert not talk.group.has_no_workers
