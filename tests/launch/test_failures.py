"""An exception on one rank ends the whole job at once, and its traceback is seen."""

from pathlib import Path

import pytest

from .running import TRACEBACK, run

# the ranks of three that come through each stage of failing.py
STAGES = {
    "start-up": (0, 1, 2),
    "job": (1, 2),
    "job, held launcher": (1, 2),
    "back-up": (0,),
    "shutdown of the master": (0,),
    "shutdown of a worker": (1, 2),
}
FAILING = Path(__file__).with_name("failing.py")
JOB = "search", "othello", "--board", "6x6", "--depth", "8", "--load-factor", "4"  # a pool: work for both workers


@pytest.fixture(scope="module")
def limit(warm):
    """Seconds that a failing job may take: 5, or more where even a sound one takes long, on a machine that is busy."""
    return max(5, 3 * run(*JOB, ranks=3).seconds)


@pytest.mark.parametrize(("stage", "rank"), [(stage, rank) for stage, ranks in STAGES.items() for rank in ranks])
def test_an_exception_on_one_rank_ends_the_job(stage, rank, limit, full):
    if not full and rank != STAGES[stage][-1]:
        pytest.skip("one rank a stage is the sample; the others run with --full")
    done = run(stage, str(rank), *JOB, ranks=3, program=[FAILING])
    assert done.status == 1
    assert f"rank {rank} of 3 failed" in done.err
    assert f"RuntimeError: planted in {stage}" in done.err
    assert done.seconds < limit


def test_what_one_worker_cannot_do_ends_the_job_with_a_line(limit):
    done = run("refusal of a worker", "2", *JOB, ranks=3, program=[FAILING])
    assert done.status != 0
    assert "distsearch: rank 2: planted in refusal of a worker" in done.err
    assert TRACEBACK not in done.err
    assert done.seconds < limit


@pytest.mark.parametrize("few", ["0", "1", "0,1,2"])
def test_ranks_without_memory_for_the_table_say_so_in_a_line(few):
    program = [str(Path(__file__).with_name("limited.py")), "2500", few]
    done = run("search", "connect4", "--exact", "--table", "3000", program=program, ranks=3)
    ours = [line for line in done.err.splitlines() if line.startswith("distsearch: ")]
    assert len(ours) == 1, done.err
    assert "Cannot allocate memory" in ours[0]
    assert TRACEBACK not in done.err
    assert done.status != 0
