"""A queue that searches nothing: it answers each position after some turns."""

import time
from collections import deque

from distsearch.api.result import Outcome
from distsearch.server.request import Refused
from distsearch.server.watchers import Watchers

from .fake_cluster import FakeCluster


def outcome(move="d3", **fields):
    """An Outcome as a search might end with."""
    return Outcome("othello", "8x8", "startpos", move, 1, "discs", **fields)


class FakeDesk:
    """Answers a position of the oldest request every ``turns`` turns; held: none at all; full: refuses more.

    ``partial``: so many partial answers to the oldest request are to come with the next turn.
    """

    def __init__(self, turns=1, held=False, full=10**9):
        self.turns, self.held, self.full = turns, held, full
        self.requests, self.cancelled, self.submitted, self.calls = deque(), [], [], 0
        self._given, self._left = {}, turns
        self.found, self.partial, self.reading = outcome(), 0, True
        self.asked = []  # by name, games whose lines a client wants read
        self.cluster = FakeCluster()
        self.watchers = Watchers(self.cluster, {}, self.status)

    descriptor = None

    def submit(self, request):
        if len(self.requests) >= self.full:
            raise Refused("queue_full", "no room")
        self.submitted.append(request)
        self.requests.append(request)
        self._given[request] = 0

    def can_read_lines(self, name):
        self.asked.append(name)
        return self.reading

    def cancel(self, request):
        self.cancelled.append(request)

    def turn(self):
        self.calls += 1
        self.cluster.now = time.monotonic()
        self.watchers.turn(self.cluster.now)
        stopped = [request for request in self.requests if request in self.cancelled]
        for request in stopped:
            self._end(request, "cancelled")
        for _ in range(self.partial):
            self.requests[0].on_progress(0, self.found)
        self.partial = 0
        if not self.requests or self.held:
            return bool(stopped)
        self._left -= 1
        if self._left <= 0:
            self._left = self.turns
            self._answer(self.requests[0])
        return True

    def _answer(self, request):
        index = self._given[request]
        if request.progress is not None:
            request.on_progress(index, self.found)
        request.on_answer(index, self.found)
        self._given[request] += 1
        if self._given[request] == len(request.positions):
            self._end(request, "done")

    def _end(self, request, state):
        self.requests.remove(request)
        del self._given[request]
        request.on_end(state, "")

    def pause(self):
        return 0.0 if self.requests and not self.held else min(1.0, self.watchers.pause(time.monotonic()))

    def status(self):
        return {
            "state": "serving",
            "ranks": 1,
            "workers": 1,
            "active": len(self.requests),
            "queued": 0,
            "answered": 0,
            "nodes": 0,
            "boards_per_second": 0.0,
            "uptime_seconds": time.process_time(),
            "games": ["othello"],
            "table_mib": 64,
        }

    @property
    def idle(self):
        return not self.requests
