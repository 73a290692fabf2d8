"""What ranks log to stderr: nothing unless asked, and with ``--log-level debug`` the life of every job."""

import re

import pytest

from .running import run

SEARCH = ("search", "othello", "--board", "4x4", "--depth", "5", "--policy", "pool", "--load-factor", "8")
pytestmark = pytest.mark.usefixtures("warm")


def logged(*options, ranks=2):
    """The lines that ranks log; the search itself says nothing on stderr."""
    done = run(*SEARCH, *options, ranks=ranks)
    assert done.status == 0, done.err
    return done.err.splitlines()


@pytest.mark.parametrize("ranks", [0, 2])
def test_nothing_is_logged_unless_asked(ranks):
    assert logged(ranks=ranks) == []


def test_the_life_of_every_job_is_logged():
    lines = logged("--log-level", "debug")
    assert all(re.match(r"\d\d:\d\d:\d\d\.\d{3} rank [01] \w+ distsearch\.\w+: ", line) for line in lines), lines
    master = "\n".join(line for line in lines if "distsearch.master" in line and "rank 0" in line)
    worker = "\n".join(line for line in lines if "distsearch.worker" in line and "rank 1" in line)
    assert "run 1 of setup 1 begins" in master
    assert "run 1 is over" in master
    out = jobs(r"gets jobs \[(.*)\]", master)
    assert out
    assert jobs(r"has done jobs \[(.*)\]", master) == out
    ended = jobs(r"jobs \[(.*)\] have ended", worker) + jobs(r"job (\d+) is done", worker)
    assert sorted(ended) == out


def test_a_higher_level_leaves_jobs_out():
    lines = logged("--log-level", "info", ranks=0)
    assert any("run 1 is over" in line for line in lines)
    assert not any("DEBUG" in line for line in lines)


def jobs(pattern, text):
    """The job numbers that lines of a log name, in order of the numbers."""
    return sorted(int(number) for found in re.findall(pattern, text) for number in found.split(", "))
