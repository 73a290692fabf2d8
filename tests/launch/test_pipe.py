"""The reader of stdout may go: the program ends without a word."""

import os
import signal
import subprocess
import sys
import time

import pytest

from .running import PATIENCE, SOON, TRACEBACK, Job, run, wait_for

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


@pytest.mark.parametrize("arguments", ["--help", "--version", "search --help", "study --help"])
def test_help_and_version_say_so_where_stdout_is_full(arguments):
    with open("/dev/full", "w") as full_disk:
        done = run(*arguments.split(), stdout=full_disk)
    assert (done.status, done.err) == (2, "distsearch: cannot write the result: No space left on device\n")


def test_a_pipe_without_a_writer_ends_at_the_first_signal(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with Job("solve", "connect4", "--depth", "3", "--positions", str(tmp_path / "pipe")) as job:
        job.wait_for_handlers()
        job.signal(signal.SIGTERM)
        assert job.finish(SOON).status == 143


def test_a_line_without_an_end_ends_at_the_first_signal():
    with Job("solve", "connect4", "--depth", "3", "--positions", "/dev/zero") as job:
        job.wait_for_handlers()
        time.sleep(0.5)  # it is reading
        job.signal(signal.SIGTERM)
        assert job.finish(SOON).status == 143


def test_a_pipe_may_get_its_writer_later(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with Job("solve", "connect4", "--plain", "--depth", "3", "--positions", str(tmp_path / "pipe")) as job:
        job.wait_for_handlers()
        (tmp_path / "pipe").write_text("4\n44\n")
        done = job.finish(PATIENCE)
    assert (done.status, len(done.out.splitlines())) == (0, 2)
