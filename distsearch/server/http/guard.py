"""Connections that hold their places: uvicorn ends none that sends no request, or that reads no answer."""

import asyncio
import itertools
import json
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .exchange import error_message
from .limits import HttpLimits
from .link import RefusedError

_SWEEP = 1.0  # seconds between two looks at all connections


class Connections:
    """The open connections. ``protocol`` is the class that uvicorn is to make for each."""

    def __init__(self, limits: HttpLimits):
        self._limits = limits
        self._open: dict[Any, _Guarded] = {}  # by number, in the order in which they came
        self._by_address: dict[Any, _Guarded] = {}
        self._numbers = itertools.count()
        self.patience = limits.patience
        self.ended = 0  # connections that were ended here
        self.protocol = type("Protocol", (_Guarded,), {"connections_open": self})

    def trust(self, address: Any) -> None:
        """The connection of a client at this address (host, port) has the token."""
        if address in self._by_address:
            self._by_address[address].trusted = True

    def add(self, connection: "_Guarded") -> None:
        """Count a connection, in the place of another one if there are too many."""
        connection.number = next(self._numbers)
        self._open[connection.number] = self._by_address[connection.client] = connection
        if len(self._open) > self._limits.connections:
            self._end(self._least())

    def remove(self, connection: "_Guarded") -> None:
        """Forget a connection."""
        self._open.pop(connection.number, None)
        if self._by_address.get(connection.client) is connection:
            del self._by_address[connection.client]

    def _least(self):
        """Return the oldest connection without the token, else the one that is idle for longest, else the newest."""
        untrusted = next((each for each in self._open.values() if not each.trusted), None)
        if untrusted is not None:
            return untrusted
        idle = [(since, each.number) for each in self._open.values() if (since := each.idle_since) is not None]
        return self._open[min(idle)[1]] if idle else next(reversed(self._open.values()))

    def _end(self, connection):
        self.ended += 1
        self.remove(connection)
        connection.transport.abort()

    async def sweep(self) -> None:
        """End, once a second, the connections that stand still. Never returns."""
        while True:
            await asyncio.sleep(_SWEEP)
            now = time.monotonic()
            for connection in list(self._open.values()):
                if connection.stands_still(now, self._limits.patience):
                    self._end(connection)


class _Guarded(H11Protocol):
    """uvicorn's connection, which knows since when it stands still."""

    connections_open: Connections  # of the class that Connections makes
    number = -1
    trusted = False  # whether a request had the token
    _unread, _unread_since = 0, 0.0  # bytes that the client has not read, and since when as many

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.idle_since: float | None = time.monotonic()  # None during a request
        self._began = self.idle_since
        self.connections_open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.connections_open.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self.idle_since = None

    def on_response_complete(self) -> None:
        self.idle_since = time.monotonic()
        super().on_response_complete()
        if not self.cycle.response_complete:  # the next request was there already
            self.idle_since = None

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP in the form of all refusals, and end the connection."""
        body = json.dumps(error_message(RefusedError("bad_request", msg))).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        response = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def stands_still(self, now: float, patience: float) -> bool:
        """Whether it is idle for too long, has no token after that time, or reads nothing of an answer."""
        unread = self.transport.get_write_buffer_size()
        if unread != self._unread or not unread:
            self._unread, self._unread_since = unread, now
        waits_since = min(self._unread_since, now if self.idle_since is None else self.idle_since)
        return now - waits_since > patience or not self.trusted and now - self._began > patience
