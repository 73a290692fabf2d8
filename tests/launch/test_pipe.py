"""The reader of stdout may go: the program ends without a word."""

import os
import subprocess
import sys

import pytest

from .running import TRACEBACK, Job, run, wait_for

_LINES = 3000  # of results; more than a pipe holds
pytestmark = pytest.mark.usefixtures("warm")


@pytest.fixture
def closed():
    """The writing end of a pipe without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.fixture
def positions(tmp_path):
    """A file of many positions, so that the reader goes in the middle of the results."""
    file = tmp_path / "positions.txt"
    file.write_text("startpos\n" * _LINES)
    return str(file)


@pytest.mark.any_mpi
@pytest.mark.parametrize(
    "arguments",
    [
        ["perft", "othello", "--depth", "3"],
        ["search", "othello", "--depth", "2", "--json"],
        ["info"],
        ["--help"],
        ["search", "--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_a_closed_pipe_ends_quietly(arguments, closed):
    done = run(*arguments, stdout=closed)
    assert (done.status, done.err) == (0, "")


@pytest.mark.any_mpi
def test_a_full_disk_is_told_without_a_traceback():
    with open("/dev/full", "w") as full_disk:
        done = run("search", "othello", "--depth", "1", stdout=full_disk)
    assert done.status != 0
    assert len(done.err.splitlines()) == 1
    assert "No space left on device" in done.err


@pytest.mark.any_mpi
def test_stderr_may_be_closed():
    """As for a daemon, or behind ``2>&-`` in a shell; Python has no ``sys.stderr`` then."""
    command = ["sh", "-c", '"$0" -m distsearch search othello --depth 1 2>&-', sys.executable]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=30, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("othello 8x8\n")


@pytest.mark.any_mpi
def test_head_ends_it_quietly(positions):
    with Job("solve", "othello", "--positions", positions, "--depth", "1") as job:
        job.head(1)
        done = job.finish()
    assert (done.status, done.err) == (0, "")


def test_head_ends_it_quietly_under_mpirun(positions):
    """The status is mpirun's own there: it owns the pipe, and dies of SIGPIPE (MPICH) or aborts (Open MPI)."""
    with Job("solve", "othello", "--positions", positions, "--depth", "1", ranks=2) as job:
        job.head(1)
        done = job.finish()
        wait_for(lambda: not job.left, 5)
    assert TRACEBACK not in done.err
    assert "distsearch" not in done.err
