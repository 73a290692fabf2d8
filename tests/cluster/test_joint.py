"""Jobs that idle ranks of a host join: slots in shared memory, and workers that see each other there."""

import numpy as np
import pytest

from distsearch.cluster import joint


@pytest.fixture
def words():
    return np.zeros(joint.WORDS, np.int64)


@pytest.fixture
def ranks(words):
    return [joint.Joint(words, slot, 3) for slot in range(3)]


RECORD = np.arange(40, dtype=np.uint8)


def test_an_open_job_is_found_with_its_record_until_it_is_closed(ranks):
    owner, other, _ = ranks
    assert not other.any_open
    assert other.find({7}, 0) is None
    owner.open(7, 3, RECORD)
    assert other.any_open
    job = other.find({7, 1}, 0)
    assert (job.setup, job.run, job.record.tolist()) == (7, 3, RECORD.tolist())
    assert other.lasts(job, 0)
    owner.close()
    assert not other.lasts(job, 0)
    assert other.find({7}, 0) is None


def test_a_job_with_fewer_ranks_at_it_is_found_first(ranks):
    first, second, third = ranks
    first.open(1, 1, RECORD)
    second.open(1, 1, RECORD)
    third.join(third.find({1}, 0))
    found = third.find({1}, 0)
    assert found.slot == 1


def test_a_job_of_a_setup_that_is_not_known_hides_no_other(ranks):
    first, second, third = ranks
    first.open(5, 1, RECORD)
    second.open(1, 1, RECORD)
    assert third.find({1}, 0).slot == 1
    assert third.find({5}, 0).slot == 0
    assert third.find((), 0) is None


@pytest.mark.parametrize("then", ["closed", "another"])
def test_a_job_that_ends_while_it_is_read_is_not_found(then, ranks, monkeypatch):
    owner, other, _ = ranks
    owner.open(1, 1, RECORD)

    def ranks_at(slot):
        owner.close()
        if then == "another":
            owner.open(2, 1, RECORD)
        return 0

    monkeypatch.setattr(other, "_at_it", ranks_at)
    assert other.find({1}, 0) is None


def test_a_rank_that_never_left_is_not_at_the_next_job(ranks):
    """It may have died."""
    owner, other, _ = ranks
    owner.open(1, 1, RECORD)
    other.join(other.find({1}, 0))
    assert owner.joined
    owner.close()
    owner.open(1, 1, RECORD)
    assert not owner.joined


def test_the_job_of_a_rank_that_died_is_left_and_not_found_again(ranks):
    owner, other, third = ranks
    owner.open(1, 1, RECORD)
    job = other.find({1}, 100.0)
    assert other.lasts(job, 100.0 + 0.9 * joint.PATIENCE)
    owner.renew()
    assert other.lasts(job, 100.0 + 1.8 * joint.PATIENCE)
    assert not other.lasts(job, 100.0 + 2.9 * joint.PATIENCE)
    assert other.find({1}, 200.0) is None
    assert third.find({1}, 0.0) is not None  # has not looked before
    assert third.find({1}, joint.PATIENCE) is None
    owner.renew()  # it had only been slow
    assert other.lasts(other.find({1}, 300.0), 300.0)


def test_what_is_spent_on_a_job_is_told_when_it_closes(ranks):
    owner, other, third = ranks
    owner.open(1, 1, RECORD)
    assert not owner.joined
    for guest, nodes in ((other, 100), (third, 20)):
        guest.join(guest.find({1}, 0))
        guest.spend(nodes, 0.5)
    assert owner.joined
    other.leave()
    other.join(other.find({1}, 0))  # again: what it spent before is not lost
    other._own[joint._NODES] = 5  # which an engine writes, by its address
    assert owner.close() == (125, pytest.approx(1.0))
    assert owner.close() == (0, 0.0)


def test_a_job_that_was_searched_to_its_end_is_not_joined_again(ranks):
    owner, other, _ = ranks
    owner.open(1, 1, RECORD)
    job = other.find({1}, 0)
    other.join(job)
    other.leave(done=job)
    assert other.find({1}, 0) is None
    owner.close()
    owner.open(1, 1, RECORD)
    assert other.find({1}, 0) is not None


def test_addresses_are_those_of_the_sequence_number_and_of_the_nodes(ranks):
    owner, other, _ = ranks
    owner.open(1, 1, RECORD)
    job = other.find({1}, 0)
    sequence_at, nodes_at = other.join(job)
    start = owner._slots.ctypes.data
    words = owner._slots.reshape(-1)
    assert words[(sequence_at - start) // 8] == job.sequence
    words[(nodes_at - start) // 8] = 9
    assert owner.spent[0] == 9


def test_a_rank_that_begins_in_a_slot_that_was_left_open_closes_it(words, ranks):
    owner, other, _ = ranks
    owner.open(1, 1, RECORD)
    again = joint.Joint(words, 0, 3)
    assert not again.is_open
    assert not other.any_open
    assert other.find({1}, 0) is None
