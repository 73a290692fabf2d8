"""A connection to the service's socket, in asyncio: lines there, messages back."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

_LONGEST = 1 << 24  # bytes of a line of the service's


class RefusedError(Exception):
    """A request is not answered. code: of ``schema.ERRORS`` or ``limits.HTTP_ERRORS``; message: a line."""

    def __init__(self, code: str, message: str, headers: dict[str, str] | None = None):
        super().__init__(message)
        self.code, self.message, self.headers = code, message, headers or {}


class Message(NamedTuple):
    """A message of the service: its line without the line break, and its content."""

    line: bytes
    content: dict[str, Any]

    @property
    def type(self) -> str:
        """``answer``, ``progress``, ``done``, ``look``, ``cluster``, ``error`` or ``status``."""
        return self.content["type"]


class Link:
    """What one HTTP request says to the service. Made by ``linked``."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer

    async def send(self, line: bytes) -> None:
        """Send a line (without its line break)."""
        self._writer.write(line + b"\n")
        try:
            await self._writer.drain()
        except OSError as error:
            raise RefusedError("unreachable", "the service has ended") from error

    async def receive(self) -> Message:
        """Return the next message; raises RefusedError at the end, and for an error about the connection."""
        try:
            line = await self._reader.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise RefusedError("unreachable", "the service has ended")
        message = Message(line[:-1], json.loads(line))
        if message.type == "error" and message.content["id"] is None and message.content["error"]["code"] in _OF_LINK:
            raise RefusedError(**message.content["error"])
        return message


_OF_LINK = ("too_many_clients",)


@asynccontextmanager
async def linked(path: str) -> AsyncIterator[Link]:
    """A context with a Link to the socket at ``path``; its end cancels what is open. Raises RefusedError."""
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=_LONGEST)
    except OSError as error:
        raise RefusedError("unreachable", "the service does not answer") from error
    try:
        yield Link(reader, writer)
    finally:
        writer.close()


async def reply_of(path: str, line: bytes, timeout: float) -> Message:
    """Return the first reply to a line; raises RefusedError, also after ``timeout`` seconds."""
    try:
        async with asyncio.timeout(timeout), linked(path) as link:
            await link.send(line)
            message = await link.receive()
            if message.type == "error":
                raise RefusedError(**message.content["error"])
            return message
    except TimeoutError as error:
        raise RefusedError("unreachable", "the service does not answer") from error
