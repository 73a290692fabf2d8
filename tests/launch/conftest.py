"""What the tests that start processes share."""

import subprocess

import pytest

from .running import mpirun_is_open_mpi, run


def pytest_runtest_setup(item):
    """Skip, under Open MPI, what would be the same as under MPICH: tests so marked, and those without ``mpirun``.

    Under both run signals, lost and failing ranks, start-up, pipes and idle ranks, in which the libraries differ.
    """
    alone = getattr(item, "callspec", None) and item.callspec.params.get("ranks") == 0
    if (alone or item.get_closest_marker("any_mpi")) and not item.config.option.full and mpirun_is_open_mpi():
        pytest.skip("as under MPICH: it says nothing of the MPI library")


@pytest.fixture(scope="session")
def warm():
    """Kernels for 8×8 and smaller boards are compiled, so that what a test measures is not the compiler."""
    # these need different kernels
    exact = [("search", "--board", "4x4", "--exact"), ("search", "-OX" + "X" * 61 + " X", "--exact")]
    shallow = [("search", "--depth", "1"), ("search", "--time", "0.01"), ("search", "--board", "4x4", "--depth", "1")]
    for asked in (*shallow, *exact, ("perft", "--depth", "1")):
        done = run(asked[0], "othello", *asked[1:], timeout=300)
        assert done.status == 0, done.err


@pytest.fixture(scope="session")
def solving():
    """The same for positions of Connect 4 that are searched to the end."""
    done = run("solve", "connect4", "--board", "4x4", stdin=subprocess.DEVNULL, timeout=300)
    assert done.status == 2  # no position
