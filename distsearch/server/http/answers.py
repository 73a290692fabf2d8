"""What the service says to one line as a response: JSON, lines of JSON, or server-sent events."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from .exchange import Output, error_message, unless_gone
from .limits import HttpLimits, status_of
from .link import Link, Message, RefusedError, linked

_FIRST = 0.25  # seconds within which most refusals come; then a stream begins
_HEARTBEAT = 15.0  # seconds between two signs of life in a stream of events
_STATUS = {"done": 200, "cancelled": 503}  # of an end without an answer, unless it has an error


class Form(NamedTuple):
    """A way to write messages.

    streamed: whether the response begins before the first answer; piece: function (message, whether it is the first
    piece) → bytes; heartbeat: bytes that mean nothing.
    """

    media_type: str
    streamed: bool
    piece: Callable[[Message, bool], bytes]
    heartbeat: bytes = b""


def _json_piece(message, first):
    """``{"answers": [answer, ...], "state": "done"}``."""
    head = b'{"answers": [' if first else b""
    if message.type == "progress":
        return b""
    if message.type == "answer":
        return head + (b"" if first else b", ") + message.line
    rest = {name: message.content[name] for name in ("state", "error") if name in message.content}
    return head + b"], " + json.dumps({"state": "failed", **rest}).encode()[1:]


def _line_piece(message, _):
    return message.line + b"\n"


def _event_piece(message, _):
    return b"event: %s\ndata: %s\n\n" % (message.type.encode(), message.line)


JSON = Form("application/json", False, _json_piece)
LINES = Form("application/x-ndjson", True, _line_piece)
EVENTS = Form("text/event-stream", True, _event_piece, b": still at work\n\n")


def form_of(accept: str) -> Form:
    """Return the Form that a header ``Accept`` asks for: JSON unless it names another one."""
    return next((form for form in (EVENTS, LINES) if form.media_type in accept), JSON)


def _status(end):
    return status_of(end["error"]["code"]) if "error" in end else _STATUS[end["state"]]


class MessagesResponse:
    """An ASGI application that has a line of the socket answered, and writes what comes in a Form."""

    def __init__(self, path: str, line: bytes, form: Form, limits: HttpLimits):
        self._path, self._line, self._form, self._limits = path, line, form, limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await unless_gone(receive, self._answer(Output(send, self._form.media_type)))

    async def _answer(self, output):
        try:
            async with asyncio.timeout(self._limits.seconds), linked(self._path) as link:
                await link.send(self._line)
                await self._pass_on(link, output)
        except TimeoutError:
            await self._fail(output, RefusedError("timed_out", f"it took more than {self._limits.seconds:g} seconds"))
        except RefusedError as failure:
            await self._fail(output, failure)

    async def _pass_on(self, link: Link, output):
        first = True
        while True:
            message = await self._next(link, output)
            if message.type == "error" and not output.started:
                raise RefusedError(**message.content["error"])
            if message.type == "done" and not output.started:
                await output.start(200 if self._form.streamed else _status(message.content))
            last = message.type in ("done", "error")
            if piece := self._form.piece(message, first):
                await output.write(piece, last)
                first = False
            if last:
                return

    async def _next(self, link, output):
        """Return the next message; begin a stream, and show that it lives, while there is none."""
        while self._form.streamed:
            try:
                async with asyncio.timeout(_HEARTBEAT if output.started else _FIRST):
                    return await link.receive()
            except TimeoutError:
                await output.write(self._form.heartbeat)
        return await link.receive()

    async def _fail(self, output, failure):
        if not output.started:
            raise failure
        content = error_message(failure)
        message = Message(json.dumps(content).encode(), content)
        await output.write(self._form.piece(message, False), last=True)
