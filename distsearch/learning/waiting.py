"""Waiting for messages of MPI, asleep."""

from ..cluster.waiting import sleep_until


def wait(request, look=lambda: None):
    """Wait for a request; look(): called in between."""
    sleep_until(lambda: (look(), request.Test())[1])
