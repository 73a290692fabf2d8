"""What the MPI tests share. They run under ``mpirun``, the same tests in the same order on every rank.

A rank that fails an assertion leaves the test, and the others wait for it for ever at their next collective call. So a
test collects what each rank found, and asserts once, on all ranks, by ``agree``. Nothing helps a rank that raises in
the middle of a conversation: there the time limit of ``scripts/test`` ends the run.
"""

from functools import partial
from pathlib import Path

import pytest


def gather_outcomes(comm, ok, message=""):
    """Fail on every rank of ``comm`` if ``ok`` is false on any, naming the ranks and their messages.

    Collective: each rank of ``comm`` has to call it, with its own ``ok`` and ``message``.
    """
    __tracebackhide__ = True  # show the line of the test
    outcomes = comm.allgather(None if ok else str(message) or "failed")
    failures = [f"rank {rank}: {text}" for rank, text in enumerate(outcomes) if text is not None]
    if failures:
        pytest.fail("\n".join(failures))


@pytest.fixture
def comm():
    """Each test has a communicator of its own, so that a message that was not received cannot reach the next test."""
    from mpi4py import MPI  # importing it starts MPI, which a plain run that only collects does not need

    duplicate = MPI.COMM_WORLD.Dup()
    yield duplicate
    duplicate.Free()


@pytest.fixture
def agree(comm):
    """``agree(ok, message)``: ``gather_outcomes`` on the test's communicator."""
    return partial(gather_outcomes, comm)


@pytest.hookimpl(tryfirst=True)  # before pytest-mpi looks at the marks
def pytest_collection_modifyitems(items):
    """Mark every test of this folder, so that without ``--with-mpi`` it is skipped with a reason."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.mpi)
