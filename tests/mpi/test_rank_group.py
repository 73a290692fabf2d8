"""What the ranks that learn say to one another: errors that are everybody's, samples and what is learnt from them."""

import time

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.learning.rank_group import RankGroup, agreed
from distsearch.learning.regression import Samples

pytestmark = pytest.mark.mpi(min_size=2)
LATE = 0.4  # seconds


def refused(comm, do):
    try:
        agreed(comm, do)
    except UserError as error:
        return str(error)
    return None


@pytest.mark.parametrize("chosen", ["first", "last", "all"])
def test_what_one_rank_refuses_all_refuse(chosen, comm, agree):
    """A rank that waits for a late one sleeps."""
    last = comm.size - 1
    refusing = {"first": [0], "last": [last], "all": range(comm.size)}[chosen]

    def do():
        time.sleep(LATE * (comm.rank == last))
        if comm.rank in refusing:
            raise UserError(f"not for {comm.rank}")

    before = time.process_time()
    said, used = refused(comm, do), time.process_time() - before
    agree(said == f"not for {refusing[0]}", said)
    agree(used < LATE / 2, used)


def test_without_a_refusal_each_rank_has_its_own(comm, agree):
    agree(agreed(comm, lambda: comm.rank) == comm.rank)


def test_samples_and_networks_arrive_while_the_others_sleep(comm, agree):
    """Of a size that MPI passes on only when both are there."""
    group, n = RankGroup(comm), 100_000
    own = Samples(np.full((n, 2), comm.rank, np.uint64), np.arange(n, dtype=np.float32))
    time.sleep(LATE * (group.rank == 0))
    before = time.process_time()
    found = group.gathered(own)
    used = time.process_time() - before
    agree(used < LATE / 2, used)
    if group.rank == 0:
        agree(np.array_equal(found.states[:, 0], np.repeat(np.arange(comm.size), n)))
        time.sleep(LATE)
    else:
        agree(found is None)
    before = time.process_time()
    told = group.told(own if group.rank == 0 else None)
    used = time.process_time() - before
    agree(not told.states.any() and np.array_equal(told.scores, own.scores))
    agree(used < LATE / 2, used)
