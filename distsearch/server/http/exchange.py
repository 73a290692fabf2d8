"""One HTTP request and its response: the body as it comes, the response piece by piece, a client that goes."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.responses import Response

from .limits import status_of
from .link import RefusedError


class ClientGoneError(Exception):
    """The client does not want an answer any more."""


def refusal(failure: RefusedError) -> Response:
    """Return the response that says what is wrong, as the socket's error message does."""
    return Response(
        json.dumps(error_message(failure)), status_of(failure.code), failure.headers, media_type="application/json"
    )


def error_message(failure: RefusedError) -> dict[str, Any]:
    """Return a RefusedError as the socket's message of type ``error``."""
    return {"id": None, "type": "error", "error": {"code": failure.code, "message": failure.message}}


async def body_chunks(request: Any, most: int, patience: float) -> AsyncIterator[bytes]:
    """Yield a body in pieces; raises RefusedError if it has more than ``most`` bytes, or stops for too long."""
    told = request.headers.get("content-length", "")
    received, too_long = 0, RefusedError("too_long", f"the body has more than {most} bytes")
    if told.isdigit() and int(told[:20]) > most:
        raise too_long
    while True:
        try:
            message = await asyncio.wait_for(request.receive(), patience)
        except TimeoutError as error:
            raise RefusedError("too_slow", f"nothing came for {patience:g} seconds", {"Connection": "close"}) from error
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        received += len(message["body"])
        if received > most:
            raise too_long
        yield message["body"]
        if not message["more_body"]:
            return


async def whole_body(request: Any, most: int, patience: float) -> bytes:
    """Return a request's body; it must come within ``patience`` seconds."""
    try:
        async with asyncio.timeout(patience):
            return b"".join([chunk async for chunk in body_chunks(request, most, patience)])
    except TimeoutError as error:
        raise RefusedError(
            "too_slow", f"the body took more than {patience:g} seconds", {"Connection": "close"}
        ) from error


class Output:
    """A response that is written piece by piece. ``started``: whether its status is out."""

    def __init__(self, send: Callable[[Any], Awaitable[None]], media_type: str, headers: dict[str, str] | None = None):
        self._send, self.started = send, False
        self._headers = {"content-type": media_type, "cache-control": "no-store", **(headers or {})}

    async def start(self, status: int = 200) -> None:
        """Send the status, once."""
        if not self.started:
            self.started = True
            headers = [(name.encode(), value.encode()) for name, value in self._headers.items()]
            await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, body: bytes, last: bool = False) -> None:
        """Send some bytes; waits while the client has many to read."""
        await self.start()
        await self._send({"type": "http.response.body", "body": body, "more_body": not last})


async def unless_gone(receive: Callable[[], Awaitable[Any]], work: Awaitable[None]) -> None:
    """Await ``work``; cancel it if the client goes first."""
    task, gone = asyncio.ensure_future(work), asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(receive):
    while (await receive())["type"] != "http.disconnect":
        pass
