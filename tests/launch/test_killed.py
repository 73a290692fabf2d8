"""Jobs whose processes are all killed at a random moment, and resumed with another number of ranks."""

import os
import signal
import time
from pathlib import Path

import pytest

from distsearch.games import connect4
from distsearch.games.random_play import random_positions

from .running import SOON, TRACEBACK, Job, mpirun_is_open_mpi, run, send, wait_for

_EVERY = {"DISTSEARCH_CHECKPOINT_SECONDS": "0.3"}
_RANKS = [2, 1, 4, 3]
_AT_ONCE = 0.5  # seconds, of rank 0's CPU time: others may have the cores
pytestmark = pytest.mark.usefixtures("warm", "solving")


@pytest.fixture
def positions(rng, tmp_path):
    """A file of positions that take two workers a second or two, a bad line among them."""
    return write_positions(tmp_path / "positions.txt", 250, rng)


def write_positions(path, count, rng):
    """Write so many positions to a file, one of them a bad line; return its name. Two workers solve 500 a second."""
    rules = connect4.rules()
    lines = [connect4.text(each, rules) for each in random_positions(connect4, rules, range(16, 17), count, rng)]
    lines[rng.randrange(len(lines))] = "nonsense"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def started(arguments, ranks):
    return Job(*arguments, ranks=ranks if ranks > 1 else 0, environment=_EVERY)


def goes_on(arguments, checkpoint, rng, kills):
    """Kill a job so many times, each run of it with other ranks; return what the last run leaves."""
    ranks = 3
    for _ in range(kills):
        with started([*arguments, "--checkpoint", checkpoint, "--resume"], ranks) as job:
            wait_for(lambda job=job, ranks=ranks: job.over or len(job.ranks()) == ranks)
            time.sleep(rng.uniform(0.0, 2.0))  # it may be loading, at work or at its end
        wait_for(lambda job=job: not job.left)
        ranks = rng.choice(_RANKS)
    with started([*arguments, "--checkpoint", checkpoint, "--resume"], ranks) as job:
        return job.finish(100)


@pytest.mark.any_mpi
def test_a_stream_that_was_killed_goes_on_to_the_same_output(positions, rng, tmp_path, full):
    arguments = ["solve", "connect4", "--positions", positions, "--plain"]
    whole = run(*arguments, timeout=100)
    assert len(whole.out.splitlines()) == 249
    for i in range(7 if full else 1):
        done = goes_on(arguments, str(tmp_path / f"file{i}"), rng, kills=3 if full else 2)
        assert (done.status, done.out) == (whole.status, whole.out)
        assert TRACEBACK not in done.err


PLAIN = ["search", "othello", "--board", "6x6", "--depth", "15", "--ordering", "static", "--load-factor", "100"]
EXACT = ["search", "connect4", "44444432", "--exact", "--book", "none"]
PERFT = ["perft", "othello", "--board", "6x6", "--depth", "12"]


@pytest.mark.any_mpi
@pytest.mark.parametrize(
    "arguments",
    [EXACT, pytest.param(PLAIN, marks=pytest.mark.full), pytest.param(PERFT, marks=pytest.mark.full)],
    ids=lambda arguments: arguments[0] + arguments[1],
)
def test_a_search_that_was_killed_goes_on_to_the_same_answer(arguments, rng, tmp_path, full):
    (whole,) = run(*arguments, "--json", timeout=100).results
    for i in range(5 if full else 1):
        (found,) = goes_on([*arguments, "--json"], str(tmp_path / f"file{i}"), rng, kills=3 if full else 2).results
        for name in ("score", "proved", "complete", "depth", "counts"):
            assert found.get(name) == whole.get(name), name


def test_a_state_is_there_at_the_end_and_at_once_if_a_signal_asks_for_it(rng, tmp_path):
    path, positions = tmp_path / "file", write_positions(tmp_path / "positions.txt", 2000, rng)
    with Job("solve", "connect4", "--positions", positions, "--checkpoint", str(path), ranks=3) as job:
        job.wait_for_handlers()
        job.wait_for_search(0.05)
        assert not path.exists()  # an interval is a minute
        for _ in range(2):
            before = job.cpu()[0]
            job.signal_all(signal.SIGUSR1)
            wait_for(path.exists)
            assert job.cpu()[0] - before <= _AT_ONCE
            os.unlink(path)
        done = job.finish(100)
    assert done.status == 1
    assert path.exists()


@pytest.mark.skipif(mpirun_is_open_mpi(), reason="only MPICH's ranks share files of these names")
def test_killed_ranks_leave_nothing_in_shared_memory():
    def shared(process):
        """The files that MPICH's ranks share, as one of them has them mapped."""
        lines = Path(f"/proc/{process}/maps").read_text().splitlines()
        return {line.split(maxsplit=5)[5] for line in lines if "/dev/shm/mpich_shm_" in line}

    with Job("search", "othello", "--depth", "30", ranks=3) as job:
        wait_for(lambda: len(job.ranks()) == 3)
        processes = job.ranks().values()
        wait_for(lambda: all(shared(process) for process in processes))
        # they are unlinked as soon as all have them, so that nothing can leave them there
        wait_for(lambda: all(name.endswith(" (deleted)") for process in processes for name in shared(process)))


def test_sigusr1_is_for_nobody_without_a_checkpoint():
    with Job("search", "othello", "--depth", "30", "--json", ranks=3) as job:
        job.wait_for_handlers()
        job.signal_all(signal.SIGUSR1)
        job.wait_for_search(0.2)
        send(job, 3, signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    assert done.results[0]["nodes"] > 0
