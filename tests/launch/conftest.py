"""What the tests that start processes share."""

import pytest

from .running import run


@pytest.fixture(scope="session")
def warm():
    """Kernels for 8×8 and smaller boards are compiled, so that what a test measures is not the compiler."""
    for command in ("search", "perft"):
        done = run(command, "othello", "--depth", "1", timeout=300)
        assert done.status == 0, done.err
