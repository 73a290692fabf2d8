"""Ranks without work leave the cores to others."""

import time

import pytest

from .running import Job

_WINDOW = 5.0  # seconds
# What an idle rank may take of a core. It takes 0.4 to 0.8%, and more where others wear out the caches.
_WORKER, _MASTER = 0.03, 0.04
_LOOKS = 220  # a second, at the mail: one every 5 ms and some for what else may put a process to sleep


@pytest.mark.usefixtures("warm")
def test_idle_ranks_cost_next_to_nothing():
    # a load factor so low that the root is the only job
    with Job("search", "othello", "--depth", "30", "--load-factor", "0.3", ranks=4) as job:
        job.wait_for_handlers()
        job.wait_for_work(2.0)  # more than any of them needs to get ready
        time.sleep(1.5)  # until their naps are at the longest
        cpu, naps, began = job.cpu(), job.naps(), time.monotonic()
        time.sleep(_WINDOW)
        window = time.monotonic() - began
        cpu = {rank: (now - cpu[rank]) / window for rank, now in job.cpu().items()}
        naps = {rank: (now - naps[rank]) / window for rank, now in job.naps().items()}
    print("share of a core:", cpu, "naps a second:", naps)
    assert cpu.keys() == {0, 1, 2, 3}
    busy = max(cpu, key=cpu.get)
    assert busy > 0 and cpu[busy] > 0.1, f"no worker searches: {cpu}"
    for rank in cpu.keys() - {busy}:
        assert cpu[rank] <= (_WORKER if rank else _MASTER), f"rank {rank} spins: {cpu}"
        assert naps[rank] <= _LOOKS, f"rank {rank} looks too often: {naps}"
