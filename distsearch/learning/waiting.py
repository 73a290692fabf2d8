"""Waiting for messages of MPI and for other ranks, asleep."""

from ..cluster.backoff import sleep_until
from ..core.errors import UserError


def wait(request, look=lambda: None):
    """Wait for a request; look(): called in between."""
    sleep_until(lambda: (look(), request.Test())[1])


def agreed(comm, do):
    """Return what ``do()`` returns on this rank of ``comm`` (None: this process alone).

    All ranks call it, and a UserError on any of them is one on every rank: nobody waits for who gave up.
    """
    found, error = None, None
    try:
        found = do()
    except UserError as refused:
        error = str(refused)
    errors = [error]
    if comm is not None:
        wait(comm.Ibarrier())  # reading a large file takes seconds, and what follows would spin
        errors = comm.allgather(error)
    if failed := [each for each in errors if each is not None]:
        raise UserError(failed[0])
    return found
