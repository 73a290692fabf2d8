"""Ranks that learn together: waiting for messages and for other ranks, asleep; what all agree on; shares of games."""

from ..cluster.backoff import sleep_until
from ..core.errors import UserError
from .regression import joined


def wait(request, look=lambda: None):
    """Wait for a request; look(): called in between."""
    sleep_until(lambda: (look(), request.Test())[1])


def agreed(comm, do):
    """Return what ``do()`` returns on this rank of ``comm`` (None: this process alone).

    All ranks call it, and a UserError on any of them is one on every rank, so none waits for a rank that gave up.
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


class RankGroup:
    """The ranks of ``comm`` (None: this process): each plays its share of games, the first one learns from them all."""

    def __init__(self, comm):
        self._comm, self.rank, self.size = comm, *((0, 1) if comm is None else (comm.rank, comm.size))

    def share(self, games):
        """Return how many of so many games this rank plays."""
        return games // self.size + (self.rank < games % self.size)

    def gathered(self, found):
        """Return the Samples of all ranks on the first one, None on the others."""
        if self.rank > 0:
            self._send(found, 0)
            return None
        return joined([found, *(self._received(rank) for rank in range(1, self.size))])

    def told(self, network):
        """Return the first rank's Network on every rank."""
        if self.rank > 0:
            return self._received(0)
        for rank in range(1, self.size):
            self._send(network, rank)
        return network

    # a blocking call would keep a core busy until the other rank is there as well

    def _send(self, what, rank):
        wait(self._comm.isend(what, rank))

    def _received(self, rank):
        sleep_until(lambda: self._comm.Iprobe(rank))
        return self._comm.recv(source=rank)
