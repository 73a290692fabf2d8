"""Files of positions: uploaded whole, searched in parts, answered line by line in the order of the file."""

import asyncio
import csv
import io
import json
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from typing import IO, Any

from starlette.requests import Request

from .exchange import Output, body_chunks, unless_gone
from .limits import HttpLimits
from .link import Link, RefusedError, linked

_PART_LINES, _PART_BYTES = 250, 1 << 17  # of a request to the service
_AHEAD = 4  # requests to the service at a time: as many as it works at for a client
_IN_MEMORY = 1 << 20  # bytes of a file that are not written to disk
_LONGEST = 4097  # bytes of a line that are passed on, one more than the service takes
_COLUMNS = ("line", "position", "move", "score", "bound", "complete", "error")


def _as_line(found):
    return json.dumps(found)


def _as_row(found):
    text = io.StringIO()
    shown = {**found, "error": found["error"]["message"]} if "error" in found else found
    csv.DictWriter(text, _COLUMNS, extrasaction="ignore", lineterminator="").writerow(shown)
    return text.getvalue()


# format → (media type, what stands first, function that writes an answer)
FORMATS: dict[str, tuple[str, bytes, Callable[[dict[str, Any]], str]]] = {
    "jsonl": ("application/x-ndjson", b"", _as_line),
    "csv": ("text/csv; charset=utf-8", ",".join(_COLUMNS).encode() + b"\n", _as_row),
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


def positions_of(file: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of each line that is not blank; numbers begin with 1. A long line is cut off."""
    number, whole = 0, True
    while piece := file.readline(_LONGEST):
        number, begins, whole = number + whole, whole, piece.endswith(b"\n")
        text = piece.decode("utf-8", "replace").strip()
        if begins and text:
            yield number, text


class _Part:
    """Lines that are one request to the service, and what is known of each."""

    def __init__(self, lines):
        self.lines = lines
        self.found: list[dict[str, Any] | None] = [None] * len(lines)
        self._asked = list(range(len(lines)))  # indices of the lines that the latest request has

    @property
    def texts(self):
        return [self.lines[index][1] for index in self._asked]

    def take(self, index, found):
        """Keep what is known of the position at an index of the latest request."""
        line = self._asked[index]
        self.found[line] = {"line": self.lines[line][0], **found}

    def drop(self, index, error):
        """Keep an error of a position, without which the others are asked for again."""
        self.take(index, {"position": self.texts[index], "error": error})
        del self._asked[index]


class BatchResponse:
    """An ASGI application that has a file of positions searched.

    fields: of the search, without its positions; format: a name of FORMATS; uploads: a place for the file, taken while
    it is needed.
    """

    def __init__(self, path: str, fields: dict[str, Any], format: str, limits: HttpLimits, uploads: asyncio.Semaphore):
        self._path, self._fields, self._limits, self._uploads = path, fields, limits, uploads
        self._media_type, self._head, self._written = FORMATS[format]
        self._name = f"answers.{format}"
        self._lines: Iterator[tuple[int, str]] = iter(())
        self._next_line: tuple[int, str] | None = None
        self._parts: deque[_Part] = deque()  # those that are not written yet
        self._open: dict[int, _Part] = {}  # by id of the request
        self._requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        output = Output(send, self._media_type, {"content-disposition": f'attachment; filename="{self._name}"'})
        async with self._uploads:
            with await uploaded(Request(scope, receive), self._limits) as file:
                self._lines = positions_of(file)
                self._next_line = next(self._lines, None)
                await unless_gone(receive, self._answer(output))

    async def _answer(self, output):
        try:
            if self._next_line is None:
                raise RefusedError("bad_field", "the file has no positions")
            async with asyncio.timeout(self._limits.seconds), linked(self._path) as link:
                await self._search(link, output)
        except TimeoutError:
            await self._fail(output, RefusedError("timed_out", f"it took more than {self._limits.seconds:g} seconds"))
        except RefusedError as failure:
            await self._fail(output, failure)

    async def _search(self, link: Link, output):
        await self._send_parts(link)
        while self._open:
            message = await link.receive()
            await self._take(link, message)
            if message.type != "answer":
                await self._write(output)
                await self._send_parts(link)
        await output.write(b"", last=True)

    async def _send_parts(self, link):
        while self._next_line is not None and len(self._parts) < _AHEAD:
            part = _Part(self._take_lines())
            self._parts.append(part)
            await self._send(link, part)

    async def _send(self, link, part):
        self._requests += 1
        self._open[self._requests] = part
        await link.send(json.dumps({"id": self._requests, **self._fields, "positions": part.texts}).encode())

    def _take_lines(self):
        lines, size = [], 0
        while self._next_line is not None and len(lines) < _PART_LINES and size < _PART_BYTES:
            lines.append(self._next_line)
            size += len(self._next_line[1])
            self._next_line = next(self._lines, None)
        return lines

    async def _take(self, link, message):
        content = message.content
        if content["id"] is None:  # the line was not JSON as the service takes it: a number is too long, for instance
            raise RefusedError(**content["error"])
        part = self._open[content["id"]]
        if message.type == "answer":
            part.take(
                content["index"], {name: content[name] for name in content if name not in ("id", "type", "index")}
            )
            return
        del self._open[content["id"]]
        if message.type == "error" and "index" in content:  # the others are asked for again without it
            part.drop(content["index"], content["error"])
            if part.texts:
                await self._send(link, part)
        elif message.type == "error" or content["state"] == "failed":
            raise RefusedError(**content["error"])
        elif content["state"] == "cancelled":
            raise RefusedError("shutting_down", "the service ends")

    async def _write(self, output):
        """Write the parts that are known, up to the first that is not."""
        while self._parts and self._parts[0] not in self._open.values():
            if not output.started and self._head:
                await output.write(self._head)
            part = self._parts.popleft()
            await output.write("".join(f"{self._written(found)}\n" for found in part.found if found).encode())

    async def _fail(self, output, failure):
        if not output.started:
            raise failure
        found = {"error": {"code": failure.code, "message": failure.message}}
        await output.write(f"{self._written(found)}\n".encode(), last=True)
