"""News: what is known of dear nodes, for the tables of hosts that have not found it out themselves."""

import numpy as np

from .nodes import GROWN, NONE

BOARDS = 2_000  # below a node, from which on its bounds are news
KEPT = 1024  # news, the latest ones
_MOST = 64  # in a message
_NOTHING = np.empty(0, np.uint8)


class News:
    """Nodes whose bounds have become tighter, in order, and up to where each host has been told.

    hosts: rank of a worker → number of its host. What is told is what is known of a node then, so news that wait may
    become better, not wrong.
    """

    def __init__(self, hosts):
        self._hosts = hosts
        self._ring = np.zeros((KEPT, 2), np.int64)  # node, host that has found it out (NONE: none by itself)
        self._noted = 0
        self._told = dict.fromkeys(hosts.values(), 0)

    def note(self, nodes, array, finder):
        """Take in nodes of a NodeArray of which something new is known by a worker's results.

        What follows for a grown node from several workers' is in no table.
        """
        at = (self._noted + np.arange(len(nodes))) % KEPT
        self._ring[at, 0] = nodes
        self._ring[at, 1] = np.where(array.status[nodes] == GROWN, NONE, self._hosts.get(finder, NONE))
        self._noted += len(nodes)

    def tell(self, worker, array):
        """Return what a worker's host has not been told, as bytes (uint8), see ``search.told``; it then has been."""
        host = self._hosts[worker]
        begin = max(self._told[host], self._noted - KEPT)
        if begin == self._noted:
            return _NOTHING
        end = self._told[host] = min(begin + _MOST, self._noted)
        news = self._ring[np.arange(begin, end) % KEPT]
        nodes = np.unique(news[news[:, 1] != host, 0])
        known = np.column_stack(
            (array.left[nodes], array.low[nodes], array.high[nodes], array.state[nodes].view(np.int64))
        )
        return known.reshape(-1).view(np.uint8)
