"""A study of several runs in one launch: what a signal leaves, and that nothing else runs during a run."""

import signal
import time

import pytest

from distsearch.studies.results import read

from .running import SOON, TRACEBACK, Job, run, send, wait_for

MANY = "study", "scaling", "othello", "startpos", "--policy", "split", "--depth", "7", "--repeats", "500"
_LOOKS, _SHARE = 30, 0.03  # of a rank that is not needed: looks at its mail a second, and a part of a core

pytestmark = pytest.mark.usefixtures("warm")


def rows(path):
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize("ranks", [pytest.param(0, marks=pytest.mark.full), 3])
def test_sigterm_keeps_what_is_finished_and_the_next_job_goes_on(ranks, tmp_path):
    path = tmp_path / "runs"
    with Job(*MANY, "--output", str(path), ranks=ranks) as job:
        job.wait_for_handlers()
        wait_for(lambda: rows(path) >= 3)
        send(job, ranks, signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    assert TRACEBACK not in done.err
    kept = read([path])
    assert 3 <= len(kept) < 500 * max(ranks, 1)
    assert all(row["result"]["complete"] for row in kept)
    assert "medians of" in done.out
    again = run(*MANY[:-1], "1", "--output", str(path), ranks=ranks)  # of which some are there
    assert again.status == 0
    assert read([path])[: len(kept)] == kept


@pytest.mark.parametrize("ranks", [3])
def test_who_is_not_needed_sleeps(ranks):
    with Job("study", "scaling", "othello", "--ranks", "1", "--depth", "40", ranks=ranks) as job:
        job.wait_for_handlers()
        wait_for(lambda: (cpu := job.cpu())[0] - cpu[1] > 0.5)
        before, naps, began = job.cpu(), job.naps(), time.monotonic()
        time.sleep(1.5)
        after, naps_after, seconds = job.cpu(), job.naps(), time.monotonic() - began
        send(job, ranks, signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    for rank in range(1, ranks):
        assert naps_after[rank] - naps[rank] < _LOOKS * seconds
        assert after[rank] - before[rank] < _SHARE * seconds, (rank, before, after)


def test_a_refusal_ends_every_rank_with_one_line():
    done = run("study", "scaling", "othello", "--ranks", "1,2,4,8", ranks=3)
    assert (done.status, done.out) == (2, "")
    assert [line for line in done.err.splitlines() if line.startswith("distsearch")] == [
        "distsearch: ranks 8 is more than this launch has: 3"
    ]
