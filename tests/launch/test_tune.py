"""Tuning in processes of its own: the same record at any number of ranks, and what Ctrl-C leaves."""

import json
import signal

import pytest

from .running import SOON, TRACEBACK, Job, run, send, wait_for

pytestmark = pytest.mark.any_mpi
TUNE = "tune", "2048", "--board", "3x3", "--depth", "1", "--population", "4", "--seed", "8"
SHORT = *TUNE, "--games", "10", "--generations", "3"


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The record that a single rank makes."""
    path = tmp_path_factory.mktemp("tuning") / "alone"
    done = run(*SHORT, "--record", str(path), timeout=100)
    assert done.status == 0, done.err
    return path.read_text()


@pytest.mark.parametrize(("ranks", "options"), [(2, []), (4, []), (5, ["--submasters", "2"])], ids=str)
def test_the_same_record_at_any_number_of_ranks(ranks, options, alone, tmp_path, full):
    if not full and ranks < 5:
        pytest.skip("with --full")
    path = tmp_path / "record"
    done = run(*SHORT, "--record", str(path), "--json", *options, ranks=ranks, timeout=100)
    assert done.status == 0, done.err
    assert path.read_text() == alone
    assert done.results[0]["evaluation"] == json.loads(alone.splitlines()[-1])["mean_weights"]


@pytest.mark.parametrize("ranks", [0, 3])
def test_ctrl_c_leaves_the_best_so_far(ranks, tmp_path, full):
    if not full and not ranks:
        pytest.skip("with --full")
    path = tmp_path / "record"
    with Job(*TUNE, "--games", "5", "--generations", "100000", "--record", str(path), "--json", ranks=ranks) as job:
        job.wait_for_handlers()
        wait_for(lambda: path.exists() and path.read_text(), 300)  # of a generation, once all has compiled
        send(job, ranks, signal.SIGINT)
        done = job.finish(SOON)
    assert done.status == 130
    assert TRACEBACK not in done.err
    (found,), lines = done.results, path.read_text().splitlines()
    assert (found["complete"], found["generations"]) == (False, len(lines))
    assert found["evaluation"] == json.loads(lines[-1])["mean_weights"]
