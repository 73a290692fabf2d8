"""Ranks without work leave the cores to others."""

import contextlib
import subprocess
import sys
import time

import pytest

from .running import Job, cpu_seconds

_WINDOW = 5.0  # seconds
_WINDOWS = 8  # each rank must be quiet in one of them; a rank that spins is quiet in none
# What an idle rank may take of a core, beyond what a process takes that only sleeps and wakes as often: that is 0.3%,
# but 1 to 2% on virtual machines that make waking up dear. The master hears of progress as well.
_WORKER, _MASTER = 0.0075, 0.015
_SLEEPER = "sleeper"  # its name among the ranks
_SLEEPS = "import select\nwhile True:\n    select.poll().poll(5)"
_LOOKS = 220  # a second, at the mail: one every 5 ms and some for what else may put a process to sleep


@contextlib.contextmanager
def sleeper():
    """A process that looks up every 5 ms, as an idle rank does."""
    process = subprocess.Popen([sys.executable, "-c", _SLEEPS])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def measured(job, sleeping):
    """Return two dicts by rank, over a window of time: the share of a core that it took, and its naps a second.

    sleeping: the process of the sleeper, whose share is among them.
    """

    def look():
        return {**job.cpu(), _SLEEPER: cpu_seconds(sleeping.pid)}, job.naps()

    before, began = look(), time.monotonic()
    time.sleep(_WINDOW)
    window = time.monotonic() - began
    cpu, naps = (
        {rank: (now - then[rank]) / window for rank, now in after.items()}
        for then, after in zip(before, look(), strict=True)
    )
    assert sleeping.poll() is None, "the sleeper has ended, so its share says nothing"
    print("share of a core:", cpu, "naps a second:", naps)
    return cpu, naps


def quiet(cpu, naps):
    """Return the set of the ranks that take no more than they may, and look no more often."""
    assert naps.keys() == {0, 1, 2, 3}
    busy = max(naps, key=cpu.get)
    assert busy > 0 and cpu[busy] > 0.1, f"no worker searches: {cpu}"
    own = {rank: cpu[rank] - cpu[_SLEEPER] for rank in naps.keys() - {busy}}
    return {rank for rank in own if own[rank] <= (_WORKER if rank else _MASTER) and naps[rank] <= _LOOKS}


@pytest.mark.usefixtures("warm")
def test_idle_ranks_cost_next_to_nothing():
    # a load factor so low that the root is the only job
    with Job("search", "othello", "--depth", "30", "--load-factor", "0.3", ranks=4) as job, sleeper() as sleeping:
        job.wait_for_handlers()
        job.wait_for_work(2.0)  # more than any of them needs to get ready
        time.sleep(1.5)  # until their naps are at the longest
        never_quiet = {0, 1, 2, 3}
        for _ in range(_WINDOWS):
            never_quiet -= quiet(*measured(job, sleeping))
            if len(never_quiet) == 1:  # the one that searches
                break
        assert len(never_quiet) <= 1, f"never quiet: {never_quiet}"
