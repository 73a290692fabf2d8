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
    assert other.find() is None
    owner.open(7, 3, RECORD)
    assert other.any_open
    job = other.find()
    assert (job.setup, job.run, job.record.tolist()) == (7, 3, RECORD.tolist())
    assert other.lasts(job)
    owner.close()
    assert not other.lasts(job)
    assert other.find() is None


def test_a_job_with_fewer_ranks_at_it_is_found_first(ranks):
    first, second, third = ranks
    first.open(1, 1, RECORD)
    second.open(1, 1, RECORD)
    third.join(third.find())
    found = third.find()
    assert found.slot == 1


def test_what_is_spent_on_a_job_is_told_when_it_closes(ranks):
    owner, other, third = ranks
    owner.open(1, 1, RECORD)
    assert not owner.joined
    for guest, boards in ((other, 100), (third, 20)):
        guest.join(guest.find())
        guest.spend(boards, 0.5)
    assert owner.joined
    other.leave()
    other.join(other.find())  # again: what it spent before is not lost
    other._own[joint._BOARDS] = 5  # which an engine writes, by its address
    assert owner.close() == (125, pytest.approx(1.0))
    assert owner.close() == (0, 0.0)


def test_a_job_that_was_searched_to_its_end_is_not_joined_again(ranks):
    owner, other, _ = ranks
    owner.open(1, 1, RECORD)
    job = other.find()
    other.join(job)
    other.leave(done=job)
    assert other.find() is None
    owner.close()
    owner.open(1, 1, RECORD)
    assert other.find() is not None


def test_addresses_are_those_of_the_sequence_number_and_of_the_boards(ranks):
    owner, other, _ = ranks
    owner.open(1, 1, RECORD)
    job = other.find()
    sequence_at, boards_at = other.join(job)
    start = owner._slots.ctypes.data
    words = owner._slots.reshape(-1)
    assert words[(sequence_at - start) // 8] == job.sequence
    words[(boards_at - start) // 8] = 9
    assert owner.spent[0] == 9


def test_a_rank_that_begins_in_a_slot_that_was_left_open_closes_it(words, ranks):
    owner, other, _ = ranks
    owner.open(1, 1, RECORD)
    again = joint.Joint(words, 0, 3)
    assert not again.is_open
    assert not other.any_open
    assert other.find() is None
