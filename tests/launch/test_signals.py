"""Ctrl-C and SIGTERM: the best result so far, marked as incomplete, and the exit status that shells expect."""

import os
import signal
import subprocess
import time
from itertools import product
from pathlib import Path

import pytest

from .running import SOON, TRACEBACK, Job, mpirun_is_open_mpi, run, send, wait_for

SEARCHES = {"depth": ["--depth", "30"], "exact": ["--exact"], "time": ["--time", "60", "--book", "none"]}
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
MOMENTS = "start", "later"
CASES = list(product((0, 3), SEARCHES, SIGNALS, MOMENTS))
SAMPLE = {
    (0, "depth", "SIGINT", "start"),
    (0, "time", "SIGTERM", "later"),
    (3, "depth", "SIGTERM", "start"),
    (3, "exact", "SIGINT", "later"),
}
FIRST_MOVES = {"d3", "c4", "f5", "e6"}
PLANTED = Path(__file__).with_name("planted.py")

pytestmark = pytest.mark.usefixtures("warm")


@pytest.mark.parametrize(("ranks", "search", "name", "moment"), CASES)
def test_a_search_ends_with_its_best_so_far(ranks, search, name, moment, full):
    if not full and (ranks, search, name, moment) not in SAMPLE:
        pytest.skip("4 of the 24 combinations are the sample; the others run with --full")
    with Job("search", "othello", *SEARCHES[search], "--json", ranks=ranks) as job:
        job.wait_for_handlers()
        if moment == "later":
            job.wait_for_work(1.2)  # of which loading kernels takes about a half
        send(job, ranks, SIGNALS[name])
        done = job.finish(SOON)
    assert done.status == 128 + SIGNALS[name]
    (found,) = done.results
    assert found["complete"] is False
    assert found["proved"] is False
    assert found["move"] in FIRST_MOVES
    assert found["pv"][0] == found["move"]
    assert isinstance(found["score"], int)
    assert found["depth"] >= 1
    assert TRACEBACK not in done.err


@pytest.mark.parametrize("submasters", [0, 1], ids=["", "below a sub-master"])
def test_a_signal_to_one_worker_ends_the_search_as_one_to_rank_0_does(submasters):
    rank = 2
    with Job("search", "othello", "--depth", "30", "--submasters", str(submasters), "--json", ranks=3) as job:
        job.wait_for_handlers()
        job.wait_for_work(1.2)
        os.kill(job.ranks()[rank], signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    (found,) = done.results
    assert found["complete"] is False
    assert found["move"] in FIRST_MOVES
    assert f"distsearch: rank {rank} got SIGTERM: the job ends" in done.err
    assert TRACEBACK not in done.err


def test_a_job_that_goes_on_without_workers_goes_on_when_one_gets_a_signal():
    how = [] if mpirun_is_open_mpi() else ["--worker-timeout", "5"]
    with Job("search", "othello", "--time", "4", "--book", "none", *how, ranks=3, survives=True) as job:
        job.wait_for_handlers()
        job.wait_for_work(0.2)
        os.kill(job.ranks()[2], signal.SIGTERM)
        done = job.finish()
    assert done.status == 0
    assert "distsearch: rank 2 got SIGTERM: the job goes on" in done.err


def test_a_signal_to_all_ranks_ends_such_a_job_without_a_word_of_going_on():
    how = [] if mpirun_is_open_mpi() else ["--worker-timeout", "5"]
    with Job("search", "othello", "--depth", "30", *how, ranks=3, survives=True) as job:
        job.wait_for_handlers()
        job.wait_for_work(0.2)
        job.signal_all(signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    assert "goes on" not in done.err
    assert "stopped early" in done.out


SIGNALLED = """
import os, signal, sys
from distsearch.cli import main
def signalled(function):
    def call(*arguments):
        os.kill(os.getpid(), signal.SIGUSR1)
        return function(*arguments)
    return call
main.command_of, main.mpi_runtime.leave = signalled(main.command_of), signalled(main.mpi_runtime.leave)
sys.exit(main.main())
"""


def test_a_signal_to_save_ends_no_process_that_begins_or_ends():
    done = run("perft", "othello", "--board", "6x6", "--depth", "5", "--json", program=("-c", SIGNALLED))
    assert done.status == 0, done.err
    assert done.results[0]["nodes"] > 0


def test_a_program_of_which_a_worker_gets_a_signal_ends():
    with Job("gtp", ranks=3, stdin=subprocess.PIPE) as job:
        job.wait_for_handlers()
        job.say("name")
        job.hear()
        os.kill(job.ranks()[2], signal.SIGTERM)
        wait_for(lambda: job.over)
        done = job.finish(SOON)
    assert done.status == 143
    assert TRACEBACK not in done.err


@pytest.mark.any_mpi
def test_text_says_that_the_search_was_stopped():
    with Job("search", "othello", "--depth", "30") as job:
        job.wait_for_handlers()
        job.signal(signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    assert "stopped early" in done.out
    assert done.err == ""


@pytest.mark.any_mpi
@pytest.mark.parametrize("limit", [["--exact"], SEARCHES["time"]], ids=["exact", "time"])
def test_solve_ends_soon_however_many_positions_are_left(limit, tmp_path):
    positions = tmp_path / "positions.txt"
    positions.write_text("startpos\n" * 100)
    with Job("solve", "othello", "--positions", str(positions), *limit, "--json") as job:
        job.wait_for_handlers()
        job.wait_for_work(1.0)
        job.signal(signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    assert not any(found["complete"] for found in done.results)


@pytest.mark.any_mpi
def test_waiting_for_positions_can_be_interrupted():
    """As when a user forgets the file and presses Ctrl-C."""
    with Job("solve", "othello", "--positions", "-", stdin=subprocess.PIPE) as job:
        job.wait_for_handlers()
        time.sleep(0.5)
        job.signal(signal.SIGINT)
        wait_for(lambda: not job.left, SOON)
        done = job.finish()
    assert done.status == 130
    assert done.out == ""
    assert TRACEBACK not in done.err


@pytest.mark.any_mpi
def test_perft_says_that_its_counts_are_not_complete():
    with Job("perft", "othello", "--depth", "16", "--json") as job:
        job.wait_for_handlers()
        job.wait_for_work(1.0)
        job.signal(signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    assert [count["complete"] for count in done.results] == [False]


@pytest.mark.parametrize("rank", [0, pytest.param(1, marks=pytest.mark.full), 2])
def test_ctrl_c_at_one_rank_as_it_starts_leaves_nobody_waiting(rank):
    arguments = ["search", "othello", "--board", "6x6", "--depth", "6"]
    done = run("interrupt", str(rank), *arguments, ranks=3, program=[PLANTED])
    assert TRACEBACK not in done.err


@pytest.mark.parametrize("ranks", [0, 3])
@pytest.mark.parametrize("name", SIGNALS)
def test_a_second_signal_ends_what_does_not_listen(ranks, name, full):
    if not full and name == "SIGINT":
        pytest.skip("SIGTERM is the sample, as the harder one: mpirun kills its ranks itself at a second Ctrl-C")
    with Job("stick", "0", "search", "othello", "--depth", "6", "--json", ranks=ranks, program=[PLANTED]) as job:
        job.wait_for_handlers()
        time.sleep(1.0)  # kernels are loaded by then
        send(job, ranks, SIGNALS[name])
        time.sleep(1.5)
        send(job, ranks, SIGNALS[name])
        done = job.finish(SOON)
        wait_for(lambda: not job.left, SOON)
    assert not done.results
    if not ranks or name == "SIGTERM":  # at a second Ctrl-C MPICH's mpirun kills its ranks, and returns 0 at times
        assert done.status != 0
    assert TRACEBACK not in done.err
