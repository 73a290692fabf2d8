"""The paths of the service over HTTP, as an ASGI application."""

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ..request_log import RequestLog
from .access import Access
from .answers import EVENTS, JSON, MessagesResponse, form_of
from .batch import FORMATS, BatchResponse
from .docs_page import page
from .exchange import ClientGoneError, refusal, whole_body
from .guard import Connections
from .limits import HTTP_DEFAULTS, HTTP_ERRORS, HttpLimits
from .link import RefusedError, reply_of
from .metrics import Metrics

STATIC = Path(__file__).with_name("static")  # what stands at / and below /static/
_STATE_WITHIN = 5.0  # seconds for the service to tell its state
_LOOK_WITHIN = 60.0  # seconds for it to tell about a position: it may load the game first
_HEALTH_LASTS = 1.0  # seconds for which an answer about its health holds
_NO_OTHER_HOST = "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
_HEADERS = {
    "content-security-policy": _NO_OTHER_HOST,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_ONE_SNAPSHOT = b'{"op": "watch", "id": 0, "every": 0.1}'
_OF_WATCH = {"every": "number", "label": "text"}
_UPLOADS = 8  # files at a time, which lie on the disk


class Settings(NamedTuple):
    """What rank 0 tells the process that serves HTTP.

    path: of the service's socket; document: of OpenAPI; kinds: the type of each field of a search; state: (name, type,
    meaning) of each field of a status message.
    """

    path: str
    token: str
    document: dict[str, Any]
    kinds: dict[str, str]
    state: list[tuple[str, str, str]]
    limits: HttpLimits = HTTP_DEFAULTS


class Api:
    """The functions behind the paths, which ``routes`` has. uvicorn is to serve ``application`` on ``connections``.

    log: is told of every request, None: there is none.
    """

    def __init__(self, settings: Settings, log: RequestLog | None = None):
        self._settings, self._limits = settings, settings.limits
        self._document = json.dumps(settings.document).encode()
        self._page = page(settings.document)
        self._health, self._health_until, self._health_asked = b"", 0.0, asyncio.Lock()
        self._uploads = asyncio.Semaphore(_UPLOADS)
        self.connections = Connections(settings.limits)
        self.routes = [
            Route("/", self._index),
            Route("/health", self._tell_health),
            Route("/search", self._search, methods=["GET", "POST"]),
            Route("/look", self._look, methods=["POST"]),
            Route("/batch", self._batch, methods=["POST"]),
            Route("/status", self._status),
            Route("/cluster", self._cluster),
            Route("/watch", self._watch),
            Route("/metrics", self._tell_metrics),
            Route("/docs", self._docs),
            Route("/openapi.json", self._openapi),
        ]
        handlers: Any = {RefusedError: _on_failure, HTTPException: _on_exception, ClientGoneError: _on_gone}
        handlers[Exception] = _on_mistake
        routes = [*self.routes, Mount("/static", StaticFiles(directory=STATIC))]
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False
        access = Access(app, settings.token, settings.limits, refusal, self.connections.trust)
        self._metrics = Metrics(access, settings.state, [route.path for route in self.routes])
        app = self._metrics if log is None else _logged(self._metrics, log, settings.token)
        self.application = _with_headers(app)

    async def _index(self, _: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def _docs(self, _: Request) -> Response:
        return HTMLResponse(self._page)

    async def _openapi(self, _: Request) -> Response:
        return Response(self._document, media_type="application/json")

    async def _status(self, _: Request) -> Response:
        return Response((await self._state()).line, media_type="application/json")

    async def _tell_metrics(self, _: Request) -> Response:
        text = self._metrics.text((await self._state()).content)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _tell_health(self, _: Request) -> Response:
        async with self._health_asked:  # once for all that ask, for they need no token
            if time.monotonic() >= self._health_until:
                self._health_until = time.monotonic() + _HEALTH_LASTS
                self._health = b""
                self._health = json.dumps({"state": (await self._state()).content["state"]}).encode()
        if not self._health:
            raise RefusedError("unreachable", "the service does not answer")
        return Response(self._health, media_type="application/json")

    async def _state(self):
        return await reply_of(self._settings.path, b'{"op": "status"}', _STATE_WITHIN)

    async def _look(self, request: Request) -> Response:
        line = _as_line(await whole_body(request, self._limits.body, self._limits.patience), b"look")
        found = await reply_of(self._settings.path, line, _LOOK_WITHIN)
        return Response(found.line, media_type="application/json")

    async def _search(self, request: Request) -> Any:
        if request.method == "POST":
            body = await whole_body(request, self._limits.body, self._limits.patience)
            line = _as_line(body, b"search")
        else:
            line = json.dumps({"id": 0, **self._fields(request, self._settings.kinds)}).encode()
        return MessagesResponse(self._settings.path, line, form_of(request.headers.get("accept", "")), self._limits)

    async def _watch(self, request: Request) -> Any:
        line = json.dumps({"op": "watch", "id": 0, **self._fields(request, _OF_WATCH)}).encode()
        form = form_of(request.headers.get("accept", ""))
        return MessagesResponse(self._settings.path, line, EVENTS if form is JSON else form, self._limits)

    async def _cluster(self, _: Request) -> Response:
        found = await reply_of(self._settings.path, _ONE_SNAPSHOT, _STATE_WITHIN)
        return Response(found.line, media_type="application/json")

    async def _batch(self, request: Request) -> Any:
        fields = self._fields(request, self._settings.kinds, without=("position", "positions", "progress"))
        asked = fields.pop("format", "jsonl")
        if asked not in FORMATS:
            raise RefusedError("bad_field", f"format is not {' or '.join(FORMATS)}")
        if self._uploads.locked():
            raise RefusedError("busy", f"{_UPLOADS} files are at work", {"Retry-After": "10"})
        return BatchResponse(self._settings.path, fields, asked, self._limits, self._uploads)

    def _fields(self, request, kinds: Mapping[str, str], without: Iterable[str] = ()):
        """Return the fields of a message that a request's query has; the service checks them."""
        found: dict[str, Any] = {}
        for name, text in request.query_params.multi_items():
            if name == "token" and request.method == "GET":
                continue
            if name in without or name in ("op", "id"):
                raise RefusedError("unknown_field", f"{request.url.path} has no parameter '{name}'")
            if kinds.get(name) == "texts":
                found.setdefault(name, []).append(text)
            elif name in found:
                raise RefusedError("bad_field", f"{name[:40]} is there twice")
            else:
                found[name] = _value(kinds.get(name), text)
        return found


def _value(kind, text):
    """Return a parameter's value as JSON has it; the text itself if it is none, which the service then refuses."""
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return float(text)
        if kind == "window":
            return [int(part) for part in text.split(",")]
        if kind in ("rules", "pairs"):
            return json.loads(text)
    except (ValueError, RecursionError):
        return text
    return {"true": True, "false": False}.get(text, text) if kind == "boolean" else text


def _as_line(body, op):
    """Return the socket's line for the fields of a request (bytes) without ``op`` and ``id``."""
    body = body.replace(b"\n", b" ").replace(b"\r", b" ").strip()
    if not body:
        raise RefusedError("bad_json", "the body is empty")
    if not body.startswith(b"{"):
        return body
    more = body[1:].lstrip()
    return b'{"op": "%s", "id": 0%s%s' % (op, b"" if more.startswith(b"}") else b", ", more)


def _on_failure(_: Request, failure: RefusedError) -> Response:
    return refusal(failure)


def _on_exception(_: Request, error: HTTPException) -> Response:
    code = "wrong_method" if error.status_code == 405 else "not_found"
    return refusal(RefusedError(code, HTTP_ERRORS[code][1], dict(error.headers or {})))


def _on_mistake(_: Request, error: Exception) -> Response:
    return refusal(RefusedError("internal", f"{type(error).__name__} in the service"))


async def _on_gone(_: Request, __: ClientGoneError) -> Any:
    async def say_nothing(scope, receive, send):
        """The response to a client that has gone."""

    return say_nothing


def _with_headers(app):
    """Return an ASGI application with headers for browsers in every response."""
    more = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]

    async def with_headers(scope, receive, send):
        async def sent(message):
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await app(scope, receive, sent)

    return with_headers


def _logged(app, log, token):
    """Return an ASGI application that adds a line to a ``RequestLog`` for each request, without query and token."""

    async def logged(scope, receive, send):
        began, status, size = time.monotonic(), None, 0

        async def sent(message):
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b""))
            await send(message)

        try:
            await app(scope, receive, sent)
        finally:
            host, port = scope["client"]
            log.add(
                "http",
                client=f"{host}:{port}",
                method=scope["method"],
                path=scope["path"].replace(token, "TOKEN"),
                status=status or "none",
                bytes=size,
                seconds=time.monotonic() - began,
            )

    return logged
