"""Files of positions: uploaded whole, searched in parts, answered in the order of the file.

What travels to the service and back is text with many lines in a message, and this process does not look at its lines.
"""

import asyncio
import json
import tempfile
from collections import deque
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from starlette.requests import Request

from ..limits import DEFAULTS
from .exchange import Output, body_chunks, unless_gone
from .limits import HttpLimits
from .link import Link, RefusedError, linked

# Of a request to the service, which takes 10,000 lines, and as many bytes of JSON as _MOST_ESCAPED and some fields.
_PART_LINES, _PART_BYTES, _MOST_ESCAPED = 8192, 260_000, DEFAULTS.line - (1 << 16)
_SLOW_LINES = 250  # where an answer takes long, or has many fields
_AHEAD = 4  # requests to the service at a time: as many as it works at for a client
_IN_MEMORY = 1 << 20  # bytes of a file that are not written to disk
_LONGEST = DEFAULTS.position + 1  # bytes of a line that are passed on, one more than the service takes
_QUICK = "exact", "depth", "layers"  # limits of searches of which many may be quick
FORMATS = {  # → media type
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "plain": "text/plain; charset=utf-8",
}


async def uploaded(request: Request, limits: HttpLimits) -> IO[bytes]:
    """Return a temporary file with a request's body."""
    file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
    try:
        async for chunk in body_chunks(request, limits.upload, limits.patience):
            file.write(chunk)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


class Part(NamedTuple):
    """Lines in a row, each with its line break; first: the number of the first one, from 1."""

    first: int
    content: bytes


def parts_of(file: IO[bytes], most: int) -> Iterator[Part]:
    """Yield the lines of a file in Parts of ``most`` lines and about _PART_BYTES at most. A long line is cut off."""
    first, rest = 1, b""
    while (block := file.read(_PART_BYTES)) or rest:
        text = rest + (block or b"\n")
        end = text.rfind(b"\n") + 1
        rest = text[end:][:_LONGEST]
        breaks = np.flatnonzero(np.frombuffer(text[:end], np.uint8) == ord("\n")) + 1
        begin = 0
        for at in range(0, len(breaks), most):
            here = breaks[at : at + most]
            yield from _fitting(Part(first, text[begin : here[-1]]))
            first, begin = first + len(here), int(here[-1])


def _fitting(part):
    """Yield a part, or smaller ones where characters that JSON escapes make it too long for the service."""
    if 6 * len(part.content) <= _MOST_ESCAPED or len(json.dumps(_text(part.content))) <= _MOST_ESCAPED:
        yield part
        return
    middle = part.content.find(b"\n", len(part.content) // 2) + 1
    middle = middle if middle < len(part.content) else part.content.rfind(b"\n", 0, -1) + 1
    if middle == 0:  # a single line, of which the service wants to see no more than that it is too long
        yield Part(part.first, part.content[:_LONGEST] + b"\n")
        return
    yield from _fitting(Part(part.first, part.content[:middle]))
    yield from _fitting(Part(part.first + part.content.count(b"\n", 0, middle), part.content[middle:]))


def _text(content):
    return content.decode(errors="replace")


class BatchResponse:
    """An ASGI application that has a file of positions searched.

    fields: of the search, without its positions; format: a name of FORMATS; uploads: a place for the file, taken while
    it is needed.
    """

    def __init__(self, path: str, fields: dict[str, Any], format: str, limits: HttpLimits, uploads: asyncio.Semaphore):
        self._path, self._limits, self._uploads = path, limits, uploads
        self._fields, self._format = {**fields, "op": "lines", "format": format}, format
        whole = format == "jsonl" and "fields" not in fields
        slow = whole or "all_moves" in fields or "time" in fields or not any(name in fields for name in _QUICK)
        self._most = _SLOW_LINES if slow else _PART_LINES
        self._parts: Iterator[Part] = iter(())
        self._open: deque[int] = deque()  # ids of requests that are not answered yet, in the order of the file
        self._texts: dict[int, list[str]] = {}  # by id: answers that wait for earlier ones
        self._done: set[int] = set()  # ids of those that are complete
        self._requests = 0
        self._head = ""  # the first line of CSV

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        ending = "txt" if self._format == "plain" else self._format
        name = {"content-disposition": f'attachment; filename="answers.{ending}"'}
        output = Output(send, FORMATS[self._format], name)
        async with self._uploads:
            with await uploaded(Request(scope, receive), self._limits) as file:
                self._parts = parts_of(file, self._most)
                await unless_gone(receive, self._answer(output))

    async def _answer(self, output):
        try:
            async with asyncio.timeout(self._limits.seconds), linked(self._path) as link:
                await self._search(link, output)
        except TimeoutError:
            await self._fail(output, RefusedError("timed_out", f"it took more than {self._limits.seconds:g} seconds"))
        except RefusedError as failure:
            await self._fail(output, failure)

    async def _search(self, link: Link, output):
        await self._send_parts(link)
        while self._open:
            await self._take(await link.receive(), output)
            await self._send_parts(link)
        if not output.started:
            raise RefusedError("bad_field", "the file has no positions")
        await output.write(b"", last=True)

    async def _send_parts(self, link):
        while len(self._open) < _AHEAD and (part := next(self._parts, None)) is not None:
            self._requests += 1
            self._open.append(self._requests)
            self._texts[self._requests] = []
            asked = {"id": self._requests, **self._fields, "first": part.first}
            await link.send(json.dumps({**asked, "lines": _text(part.content)}).encode())

    async def _take(self, message, output):
        content = message.content
        if message.type == "error" or content.get("state") == "failed":
            raise RefusedError(**content["error"])
        if content.get("state") == "cancelled":
            raise RefusedError("shutting_down", "the service ends")
        if message.type == "done":
            self._done.add(content["id"])
        else:
            self._texts[content["id"]].append(content["text"])
            self._head = content.get("head", "")
        while self._open:
            first = self._open[0]
            if text := "".join(self._texts[first]):
                await self._write(output, text)
                self._texts[first] = []
            if first not in self._done:
                return
            self._done.discard(first)
            del self._texts[self._open.popleft()]

    async def _write(self, output, text):
        if not output.started and self._format == "csv":
            await output.write(self._head.encode())
        await output.write(text.encode())

    async def _fail(self, output, failure):
        if not output.started:
            raise failure
        await output.write(f"{self._failure(failure)}\n".encode(), last=True)

    def _failure(self, failure):
        """Return the last line where no more answers follow."""
        if self._format == "jsonl":
            return json.dumps({"error": {"code": failure.code, "message": failure.message}})
        if self._format == "plain":
            return f"% failed: {failure.message}"
        quoted = failure.message.replace('"', '""')
        return f'{"," * self._head.count(",")}"{quoted}"'
