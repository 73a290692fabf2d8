"""What Prometheus reads at ``/metrics``: the service's status, and the requests over HTTP."""

import time
from collections.abc import Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_COUNTS = ("answered", "nodes")  # of the status: numbers that only grow
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60)


class Metrics:
    """An ASGI application around ``app`` that counts its requests by path, and tells of them and of the service.

    state: (name, type, meaning) of the fields of a status message; paths: those that are told apart.
    """

    def __init__(self, app: Any, state: Iterable[tuple[str, str, str]], paths: Iterable[str]):
        self._app, self._paths = app, frozenset(paths)
        self._registry = CollectorRegistry()
        own = {"registry": self._registry, "namespace": "distsearch"}
        self._requests = Counter("http_requests", "requests over HTTP", ["path", "status"], **own)
        self._seconds = Histogram("http_seconds", "from a request to its end", ["path"], buckets=_SECONDS, **own)
        self._open = Gauge("http_open_requests", "requests over HTTP at work", **own)
        numbers = [(name, meaning) for name, kind, meaning in state if kind in ("integer", "number")]
        self._state = {name: Gauge(name, meaning, **own) for name, meaning in numbers if name not in _COUNTS}
        self._counts = {name: Counter(name, meaning, **own) for name, meaning in numbers if name in _COUNTS}
        self._before: dict[str, float] = dict.fromkeys(self._counts, 0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        began, status = time.perf_counter(), "none"

        async def watched(message):
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        with self._open.track_inprogress():
            try:
                await self._app(scope, receive, watched)
            finally:
                self._requests.labels(path, status).inc()
                self._seconds.labels(path).observe(time.perf_counter() - began)

    def text(self, state: dict[str, Any]) -> bytes:
        """Return the metrics as Prometheus reads them; state: a status message."""
        for name, gauge in self._state.items():
            if name in state:
                gauge.set(state[name])
        for name, counter in self._counts.items():
            counter.inc(max(0, state[name] - self._before[name]))
            self._before[name] = state[name]
        return generate_latest(self._registry)
