"""Clients that watch the cluster: one snapshot is made for all of them, as often as the most eager one wants it.

Workers are asked for their timers, and the snapshot is made when all have answered or a little later: nothing here
waits. Without watchers no rank is asked anything.
"""

import time
from collections.abc import Callable, Hashable
from typing import Any

from ..core.errors import print_traceback
from .limits import DEFAULTS
from .load import Load
from .request import Refused, Request

MOST_NODES = 60  # of the tree
_PATIENCE = 0.05  # seconds for workers to answer: one that compiles does not


class Watcher:
    """A client that watches.

    client, label: as in ``Request``; every: seconds between two snapshots; ``tell(fields)`` is called with each, and
    ``on_end(state, text)`` as in ``Request``, where no more will come.
    """

    def __init__(
        self,
        client: Hashable,
        every: float,
        tell: Callable[[dict[str, Any]], None],
        on_end: Callable[[str, str], None],
        label: str | None = None,
    ):
        self.label = label
        self.client, self.every, self.tell, self.on_end = client, every, tell, on_end
        self.due = time.monotonic() + every
        self.told = 0  # snapshots


class Watchers:
    """The watchers of a cluster.

    tasks: request → ``running_request`` of those at work, the longest at work first; status: function that returns what
    the queue does.
    """

    def __init__(
        self,
        cluster: Any,
        tasks: dict[Request, Any],
        status: Callable[[], dict[str, Any]],
        most: int = DEFAULTS.watchers,
    ):
        self._cluster, self._tasks, self._status, self._most = cluster, tasks, status, most
        self._watchers: list[Watcher] = []
        self._load = Load(cluster)
        self._begun = False  # the load counts from a sample
        self._due = 0.0  # of the next sample
        self._asked: float | None = None  # since when workers are asked

    def add(self, watcher: Watcher) -> None:
        """Tell a watcher from now on; the first snapshot comes after ``every`` seconds. Raises Refused."""
        if len(self._watchers) >= self._most:
            raise Refused("too_many_watchers", f"there are {self._most} watchers already")
        self._watchers.append(watcher)
        self._due = min(self._due, watcher.due)

    def remove(self, watcher: Watcher) -> None:
        """Tell a watcher nothing more; more than once does no more."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)
        if not self._watchers:
            self._begun, self._due, self._asked = False, 0.0, None

    def turn(self, now: float) -> None:
        """Ask workers, or tell watchers, if it is time to; now: of ``time.monotonic``."""
        if not self._watchers:
            return
        if self._asked is None and now >= self._due:
            self._asked = now
            self._cluster.sample()
        elif self._asked is not None and (self._cluster.samples.complete or now >= self._asked + _PATIENCE):
            every = min(watcher.every for watcher in self._watchers)
            self._due, self._asked = max(self._asked + every, now + every / 2), None
            self._take_in(now, every)

    def pause(self, now: float) -> float:
        """Return how many seconds one may wait for clients before the next turn."""
        if not self._watchers:
            return float("inf")
        return max(0.0, self._due - now) if self._asked is None else self._cluster.pause

    def _take_in(self, now, every):
        try:
            if self._begun:
                self._tell([watcher for watcher in self._watchers if watcher.due <= now + every / 2], now)
            else:
                self._begun = True
                self._load.restart()
        except Exception as error:  # a mistake of ours: the searches go on
            print_traceback(error)
            for watcher in list(self._watchers):
                self.remove(watcher)
                watcher.on_end("failed", f"{type(error).__name__} in the service")

    def _tell(self, watchers, now):
        status, load, trees = self._status(), self._load.next(), {}
        shared = {**{name: status[name] for name in ("state", "active", "queued")}, **load}
        for watcher in watchers:
            watcher.due = max(watcher.due, now) + watcher.every
            request, own = self._request_for(watcher)
            if request is not None and request not in trees:
                trees[request] = _tree(request, self._tasks[request])
            tree = trees.get(request)
            watcher.told += 1
            watcher.tell({**shared, "tree": tree and {"own": own, **tree}})

    def _request_for(self, watcher):
        """Return (the request whose tree a watcher sees or None, whether it is its own)."""

        def is_own(request):
            return request.client == watcher.client or watcher.label is not None and request.label == watcher.label

        own = next((request for request in reversed(self._tasks) if is_own(request)), None)
        return (own, True) if own else (next(iter(self._tasks), None), False)


def _tree(request, task):
    """Return the top of the tree of a request at work, None where it has none."""
    position, nodes = task.top(MOST_NODES)
    if not nodes:
        return None
    game, rules = task.searcher.game, task.searcher.rules

    def shown(node):
        return {**node._asdict(), "move": None if node.move is None else game.move_text(node.move, rules)}

    of = {"request": request.number, "game": game.NAME, "position": game.text(position, rules)}
    return {**of, "nodes": [shown(node) for node in nodes]}
