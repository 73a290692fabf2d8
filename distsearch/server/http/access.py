"""Which requests are let in: with the token, from the own page, not too often, not too many."""

import asyncio
import hmac
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .limits import HttpLimits
from .link import RefusedError

OPEN = ("/", "/health")  # and what is below /static/: the same for all, so they need no token
_MOST_ADDRESSES = 4096
_LONGEST_WAIT = 1.0  # seconds of a request without the token


class Bucket:
    """Lets ``rate`` requests a second through, after a burst of ``burst``."""

    def __init__(self, rate: float, burst: float):
        self._rate, self._burst, self._left, self._at = rate, burst, burst, time.monotonic()

    def take(self) -> float:
        """Count a request; return the seconds until there is room for it, 0.0 if there is."""
        now = time.monotonic()
        left = min(self._burst, self._left + self._rate * (now - self._at)) - 1
        self._left, self._at = max(left, -self._burst), now
        return max(0.0, -self._left / self._rate)

    def give_back(self) -> None:
        """Uncount a request that was not let through."""
        self._left += 1


class Access:
    """An ASGI application that passes to ``app`` what may be answered, and answers the others by ``refuse``.

    trust: is called with the address (host, port) of a connection that has the token.
    """

    def __init__(self, app: Any, token: str, limits: HttpLimits, refuse: Callable, trust: Callable):
        self._app, self._token, self._limits = app, token.encode(), limits
        self._refuse, self._trust = refuse, trust
        self._strangers = Bucket(limits.strangers, limits.strangers)
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()  # by address, the latest used last
        self._open: Counter[str] = Counter()  # open requests by address
        self.refused: Counter[str] = Counter()  # requests by code

    @property
    def open(self) -> int:
        """The number of open requests that have the token."""
        return self._open.total()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            elsewhere, trusted = _is_of_another_site(scope), self._has_token(scope)
            if elsewhere or not trusted:
                await asyncio.sleep(min(self._strangers.take(), _LONGEST_WAIT))
            if elsewhere:
                raise RefusedError("other_origin", "a page of another site may not ask")
            if scope["path"] in OPEN or scope["path"].startswith("/static/"):
                await self._app(scope, receive, send)
                return
            if not trusted:
                raise RefusedError("unauthorized", "the token is missing or wrong", {"WWW-Authenticate": "Bearer"})
            self._trust(scope["client"])
            self._check_rate(scope["client"][0])
        except RefusedError as failure:
            self.refused[failure.code] += 1
            await self._refuse(failure)(scope, receive, send)
            return
        await self._count(scope, receive, send)

    async def _count(self, scope, receive, send):
        address = scope["client"][0]
        self._open[address] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]

    def _has_token(self, scope):
        given = _header(scope, b"authorization").removeprefix(b"Bearer ")
        if not given and scope["method"] == "GET":  # a browser's address line has no headers
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0].encode()
        return hmac.compare_digest(given, self._token)

    def _check_rate(self, address):
        if self._open[address] >= self._limits.open_requests:
            text = f"{self._limits.open_requests} requests of {address} are open"
            raise RefusedError("too_many_requests", text, {"Retry-After": "1"})
        if self.open >= self._limits.requests:
            raise RefusedError("busy", f"{self._limits.requests} requests are open", {"Retry-After": "1"})
        bucket = self._bucket(address)
        wait = bucket.take()
        if wait:
            bucket.give_back()
            text = f"more than {self._limits.rate:g} requests a second of {address}"
            raise RefusedError("too_many_requests", text, {"Retry-After": str(int(wait) + 1)})

    def _bucket(self, address):
        if address not in self._buckets:
            if len(self._buckets) >= _MOST_ADDRESSES:
                self._buckets.popitem(last=False)
            self._buckets[address] = Bucket(self._limits.rate, 2 * self._limits.rate)
        self._buckets.move_to_end(address)
        return self._buckets[address]


def _is_of_another_site(scope):
    """Whether a page of another site asks: a browser says which page it is."""
    origin = _header(scope, b"origin").decode("latin-1")
    if not origin:
        return False
    try:
        asks = urlsplit(origin).netloc
    except ValueError:
        return True
    return not asks or asks.encode("latin-1").lower() != _header(scope, b"host").lower()


def _header(scope, name):
    """Return a header's value, b"" without it; b"?" if it is there twice."""
    found = [value for key, value in scope["headers"] if key == name]
    return found[0] if len(found) == 1 else b"?" if found else b""
