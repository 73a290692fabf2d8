"""Ranks without work leave the cores to others."""

import time

import pytest

from .running import Job

_WINDOW = 3.0  # seconds


@pytest.mark.usefixtures("warm")
def test_idle_ranks_do_not_spin():
    # a load factor so low that the root is the only job
    with Job("search", "othello", "--depth", "30", "--load-factor", "0.3", ranks=4) as job:
        job.wait_for_handlers()
        job.wait_for_work(2.0)  # more than any of them needs to get ready
        before = job.cpu()
        time.sleep(_WINDOW)
        used = sorted(now - before[rank] for rank, now in job.cpu().items())
    assert len(used) == 4
    assert used[-1] > 0.1 * _WINDOW, f"nobody searches: {used}"
    assert used[-2] < 0.1 * _WINDOW, f"somebody spins: {used}"
