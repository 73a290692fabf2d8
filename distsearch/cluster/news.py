"""News: what workers have found, until the other hosts have been told."""

from collections import deque

import numpy as np

_KEPT = 256  # findings of one message each; a host that asks for no jobs for so long goes without the oldest
_MOST = 2  # of them in a message, which MPI then takes at once
_NOTHING = np.empty(0, np.uint8)


class News:
    """Findings in the order in which they came, and up to where each host has been told.

    hosts: the host of each worker by rank. What a host has found is in its own table, which its workers share.
    """

    def __init__(self, hosts):
        self._hosts = hosts
        self._waiting = {host: deque(maxlen=_KEPT) for host in hosts.values()}

    def add(self, worker, found):
        """Take in what a worker has found (uint8)."""
        for host, waiting in self._waiting.items():
            if host != self._hosts[worker]:
                waiting.append(found)

    def tell(self, worker):
        """Return what the host of a worker has not been told of what others have found (uint8); it then has been."""
        waiting = self._waiting[self._hosts[worker]]
        if not waiting:
            return _NOTHING
        return np.concatenate([waiting.popleft() for _ in range(min(len(waiting), _MOST))])
