"""What clients have in common, without I/O: where a service is, requests as bytes, bytes as messages. Cheap to import.

An exchange is what passes over one connection: over a socket any number of requests, over HTTP one.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from ..api.asked import HasPosition, asked
from .limits import DEFAULTS

CHUNK = 1 << 16  # bytes to read at a time
Position = str | HasPosition
_LAST = "error", "done"  # types of the last message about a request
_PATHS = {
    "search": ("POST", "/search"),
    "look": ("POST", "/look"),
    "status": ("GET", "/status"),
    "watch": ("GET", "/watch"),
}


class ServiceError(Exception):
    """What the service, or the way to it, had against a request.

    code: one of the service's error codes, or "unreachable", "closed" (by the service), "cancelled"; message: a line.
    """

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class HttpAddress(NamedTuple):
    """Where a service is over HTTP; path: what precedes its own paths, "" for nothing."""

    host: str
    port: int
    path: str
    token: str

    @classmethod
    def of(cls, text: str) -> "HttpAddress | None":
        """Return the address of ``http://HOST:PORT/#token=TOKEN``, as ``serve --http`` prints it; None for a path."""
        if not text.startswith(("http://", "https://")):
            return None
        try:
            found = urlsplit(text)
            host, port = found.hostname, found.port or 80
        except ValueError as error:
            raise ServiceError("unreachable", f"{text[:80]}: {error}") from error
        if not host or found.scheme != "http":
            raise ServiceError("unreachable", f"{text[:80]} is not http://HOST:PORT/#token=TOKEN")
        token = re.search(r"(?:^|&)token=([^&]*)", found.fragment)
        return cls(host, port, found.path.rstrip("/"), token[1] if token else "")

    def request(self, message: dict[str, Any]) -> bytes:
        """Return the request for a message of the socket. By HTTP 1.0, its response is what comes until the end."""
        fields = {name: value for name, value in message.items() if name not in ("op", "id")}
        (method, path), body = _PATHS[message["op"]], json.dumps(fields).encode()
        query = f"?{urlencode(fields)}" if method == "GET" and fields else ""
        head = [
            f"{method} {self.path}{path}{query} HTTP/1.0",
            f"Host: {self.host}:{self.port}",
            "Accept: application/x-ndjson",
        ]
        head += [f"Authorization: Bearer {self.token}"] if self.token else []
        head += [f"Content-Length: {len(body)}"] if method == "POST" else []
        return "\r\n".join([*head, "", ""]).encode("latin-1", "replace") + (body if method == "POST" else b"")


class Reply:
    """What comes of a request. several: of a search, whether it has a list of positions; None: it is no search.

    answers: messages so far; ended: nothing more will come; error: why it failed, or None. ``changed()`` is called when
    any of it has changed, ``on_progress(message)`` with partial answers.
    """

    def __init__(self, several: bool | None = None):
        self.several, self.answers, self.ended = several, list[dict[str, Any]](), False
        self._indexed = several is not None  # whether messages say which position they are about
        self.error: ServiceError | None = None
        self.changed: Callable[[], object] = _nothing
        self.on_progress: Callable[[dict[str, Any]], object] | None = None

    def take(self, message: dict[str, Any]) -> None:
        """Take a message about this request in."""
        kind = message["type"]
        if self._indexed and kind not in _LAST and not isinstance(message["index"], int):
            raise ValueError("an answer to no position")
        if kind == "progress":
            if self.on_progress:
                self.on_progress(message)
            return
        if kind in _LAST:
            error = _failure(message)
            if error is None and self.several is False and not self.answers:
                raise ValueError("the end without an answer")
            self.ended, self.error = True, error
        else:
            self.answers.append(message)
            self.ended = self.several is None
        self.changed()

    def fail(self, error: ServiceError) -> None:
        """Nothing more comes, and not all is there."""
        if not self.ended:
            self.ended, self.error = True, error
            self.changed()

    def result(self) -> Any:
        """Return the answer, or the list of them in the order of the positions, once ended; raises ServiceError."""
        if self.error:
            raise self.error
        return sorted(self.answers, key=lambda answer: answer["index"]) if self.several else self.answers[0]


class Snapshots(Reply):
    """What comes of a watch: ``answers`` has the latest message, if it was not taken away."""

    def __init__(self):
        super().__init__(several=True)
        self._indexed = False

    def take(self, message: dict[str, Any]) -> None:
        """Take a message about the watch in."""
        self.answers.clear()
        super().take(message)


class Exchange(ABC):
    """What passes over one connection. ``failure``: why no more does, None while it does."""

    def __init__(self):
        self.failure: ServiceError | None = None
        self._rest = bytearray()

    @abstractmethod
    def ask(self, message: dict[str, Any], reply: Reply) -> bytes:
        """Return what to send for a message without id; ``reply`` takes what comes of it."""

    @abstractmethod
    def cancel(self, reply: Reply) -> bytes:
        """Return what to send so that a search ends; where there is nothing to send, it has ended."""

    @abstractmethod
    def _take(self, message):
        """Take in a message of the service."""

    def feed(self, data: bytes) -> None:
        """Take in what came."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._rest += line
            self._line()
        self._rest += rest

    def _line(self):
        line, self._rest = bytes(self._rest), bytearray()
        if line.strip():
            self._take(json.loads(line))

    def end(self, why: str = "the service has closed the connection") -> None:
        """Take in that nothing more comes."""
        self.failure = self.failure or ServiceError("closed", why)


class SocketExchange(Exchange):
    """Lines of JSON, for any number of requests at a time."""

    def __init__(self):
        super().__init__()
        self._ids = count(1)
        self._replies: dict[int, Reply] = {}  # that have not ended, by id

    def ask(self, message: dict[str, Any], reply: Reply) -> bytes:
        name = next(self._ids)
        line = _line_of({**message, "id": name})
        self._replies[name] = reply
        return line

    def cancel(self, reply: Reply) -> bytes:
        name = next((name for name, each in self._replies.items() if each is reply), None)
        return b"" if name is None else _line_of({"op": "cancel", "id": name})

    def forget(self, reply: Reply) -> None:
        """Take no more messages in for a reply."""
        self._replies = {name: each for name, each in self._replies.items() if each is not reply}

    def _take(self, message):
        name = message.get("id")
        if name is None:  # about the connection
            self.failure = ServiceError(**message["error"])
        elif reply := self._replies.get(name):
            reply.take(message)
            if reply.ended:
                del self._replies[name]

    def end(self, why: str = "the service has closed the connection") -> None:
        super().end(why)
        assert self.failure is not None
        replies, self._replies = self._replies, {}
        for reply in replies.values():
            reply.fail(self.failure)


class HttpExchange(Exchange):
    """One request, and the response to it."""

    def __init__(self, address: HttpAddress):
        super().__init__()
        self._address, self._reply, self._head = address, Reply(), bytearray()
        self._in_body = False

    def ask(self, message: dict[str, Any], reply: Reply) -> bytes:
        self._reply = reply
        _line_of(message)  # which must be one of the socket's
        return self._address.request(message)

    def cancel(self, reply: Reply) -> bytes:
        reply.fail(ServiceError("cancelled", "the search was cancelled"))
        return b""

    def feed(self, data: bytes) -> None:
        if not self._in_body:
            self._head += data
            head, end, data = bytes(self._head).partition(b"\r\n\r\n")
            if not end:
                return
            self._in_body = True
            if not head.startswith(b"HTTP/1."):
                self._refuse()
        super().feed(data)

    def _line(self):
        try:
            super()._line()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._refuse()

    def _refuse(self):
        where = f"http://{self._address.host}:{self._address.port}{self._address.path}"
        self._reply.fail(ServiceError("unreachable", f"what answers at {where} is no service of distsearch"))

    def _take(self, message):
        if not self._reply.ended:
            self._reply.take(message)

    def end(self, why: str = "the service has closed the connection") -> None:
        if self._in_body:
            self._line()  # the last one has no line break
        super().end(why)
        assert self.failure is not None
        self._reply.fail(self.failure)


def search_message(game: str, position: Position | Iterable[Position], options: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a search; position: one, or several. Raises ServiceError and UserError."""
    for own in options.keys() & {"op", "id"}:
        raise ServiceError("bad_field", f"{own} is for the client to choose")
    several = not isinstance(position, str | HasPosition)
    texts, more = [], dict[str, Any]()
    for each in position if several else (position,):
        text, of_board = asked(game, each, {**options, **more})
        texts.append(text)
        more |= of_board
    where = {"positions": texts} if several else {"position": texts[0]}
    return {"op": "search", "game": game, **where, **options, **_said(more)}


def watch_message(every: float, label: str | None) -> dict[str, Any]:
    """Return the message of a watch."""
    return {"op": "watch", "every": every, **({} if label is None else {"label": label})}


def look_message(game: str, position: Position, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the message that asks for the board and the moves of a position."""
    text, more = asked(game, position, fields)
    return {"op": "look", "game": game, "position": text, **fields, **_said(more)}


def _said(of_board):
    """Return what a message says of a Board: not that it has the game's usual rules."""
    return {name: value for name, value in of_board.items() if value}


def _line_of(message):
    data = json.dumps(message, allow_nan=False).encode()
    if len(data) > DEFAULTS.line:
        raise ServiceError("too_long", f"the request has more than {DEFAULTS.line} bytes")
    return data + b"\n"


def _failure(message):
    """Return what is wrong with a request according to its last message, or None."""
    if "error" in message:
        return ServiceError(**message["error"])
    return ServiceError("cancelled", "the search was cancelled") if message["state"] == "cancelled" else None


def _nothing() -> None:
    """Stands for a listener."""
