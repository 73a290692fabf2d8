"""Asks a service (``distsearch serve --socket PATH``) from Python. Standard library alone: it starts at once.

    with Client("/run/user/1000/distsearch") as client:
        print(client.search("othello", "f5d6c3", depth=16)["move"])

docs/service.md lists what a search may be given and what an answer holds.
"""

import json
import select
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Self

from .limits import DEFAULTS

_CHUNK = 1 << 16  # bytes


class ServiceError(Exception):
    """What the service, or the way to it, had against a request.

    code: one of the service's error codes, or "unreachable", "closed" (by the service), "cancelled"; message: a line.
    """

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class Client:
    """A connection to the service at a path (str); a context manager. For one thread at a time.

    timeout: seconds that a method waits unless it is told otherwise, None for as long as it takes; then it raises
    TimeoutError, and may be called again. Methods raise ServiceError.
    """

    def __init__(self, path: str, timeout: float | None = None):
        self._timeout, self._ids = timeout, count(1)
        self._pending: dict[int, Pending] = {}  # requests that are not done, by id
        self._replies: dict[int, Any] = {}  # to what has only one, by id; None until it is there
        self._rest = bytearray()
        self._failure: ServiceError | None = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(timeout)
            self._socket.connect(path)
        except TimeoutError:
            self._socket.close()
            raise
        except OSError as error:
            self._socket.close()
            raise ServiceError("unreachable", f"no service at {path}: {error.strerror or error}") from error
        self._socket.setblocking(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the service cancels what is still open."""
        self._socket.close()

    def search(self, game: str, position: str | Iterable[str] = "startpos", **options: Any) -> Any:
        """Return the answer (dict) to a search of one position; or a list of them for a list of positions."""
        return self.submit(game, position, **options).result()

    def submit(self, game: str, position: str | Iterable[str] = "startpos", **options: Any) -> "Pending":
        """Ask for a search without waiting for it; return a Pending.

        position: text, or a list of texts; options: other fields of the message, such as depth, board, priority.
        """
        for own in options.keys() & {"op", "id"}:
            raise ServiceError("bad_field", f"{own} is for the client to choose")
        several = not isinstance(position, str)
        asked: dict[str, Any] = {"positions": list(position)} if several else {"position": position}
        name = next(self._ids)
        pending = Pending(self, name, several)
        self._pending[name] = pending
        try:
            self._send({"op": "search", "id": name, "game": game, **asked, **options})
        except BaseException:  # it cannot be written as JSON, for instance
            del self._pending[name]
            raise
        return pending

    def status(self) -> dict[str, Any]:
        """Return how the service is doing (dict)."""
        return self._ask({"op": "status"})

    def look(self, game: str, position: str = "startpos", **fields: Any) -> dict[str, Any]:
        """Return the board and the legal moves of a position (dict), without a search.

        fields: others of the message, such as a move to play first.
        """
        return self._ask({"op": "look", "game": game, "position": position, **fields})

    def _ask(self, message):
        name = next(self._ids)
        self._replies[name] = None
        try:
            self._send({**message, "id": name})
            self._wait(lambda: self._replies[name] is not None, self._timeout)
        finally:
            reply = self._replies.pop(name)
        if "error" in reply:
            raise ServiceError(**reply["error"])
        return reply

    def _send(self, message):
        """Send a message; what arrives meanwhile is taken in, for the service may wait for that."""
        data = json.dumps(message, allow_nan=False).encode()
        if len(data) > DEFAULTS.line:
            raise ServiceError("too_long", f"the request has more than {DEFAULTS.line} bytes")
        data, sent, end = memoryview(data + b"\n"), 0, _end(self._timeout)
        while sent < len(data):
            try:
                ready = self._poll(select.POLLIN | select.POLLOUT, end)
            except TimeoutError as error:
                if sent:  # whatever came next would be taken for the rest of this
                    self._failure = ServiceError("closed", "the service stopped reading in the middle of a request")
                    raise self._failure from error
                raise
            if ready & ~select.POLLOUT:
                self._receive()
            if ready & select.POLLOUT:
                sent += self._transmit(data[sent:])

    def _transmit(self, data):
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self._receive()  # perhaps it said why
            raise self._failure or ServiceError("closed", "the service has closed the connection") from error

    def _wait(self, known, timeout):
        """Take messages in until ``known()``."""
        end = _end(timeout)
        while not known():
            self._poll(select.POLLIN, end)
            self._receive()

    def _poll(self, events, end):
        """Return the events of the connection; raises TimeoutError at ``end``."""
        if self._failure:
            raise self._failure
        if self._socket.fileno() < 0:
            raise ServiceError("closed", "this client is closed")
        poll = select.poll()
        poll.register(self._socket, events)
        left = None if end is None else max(0.0, 1000 * (end - time.monotonic()))
        ready = poll.poll(left)
        if not ready:
            raise TimeoutError("the service takes longer")
        return ready[0][1]

    def _receive(self):
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._failure = self._failure or ServiceError("closed", "the service has closed the connection")
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._take(json.loads(self._rest + line))
            self._rest.clear()
        self._rest += rest

    def _take(self, message):
        name, kind = message.get("id"), message["type"]
        if name in self._replies:
            self._replies[name] = message
        elif name in self._pending:
            self._pending[name]._take(message)
            if kind in ("done", "error"):
                del self._pending[name]
        elif name is None:  # about the connection
            self._failure = ServiceError(**message["error"])


class Pending:
    """A search that was asked for.

    progress: None, or a function to call with each partial answer (dict) while a method of the client waits. How often
    they come is what ``submit`` was told by an option of that name.
    """

    def __init__(self, client: Client, name: int, several: bool):
        self._client, self._name, self._several = client, name, several
        self._answers: list[dict[str, Any]] = []
        self._error: ServiceError | None = None
        self._ended = False
        self.progress: Callable[[dict[str, Any]], object] | None = None

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the answer (dict), or for the list of them in the order of the positions.

        timeout: seconds, or None for the client's. Raises ServiceError if the search was refused, failed or cancelled;
        ``answers`` has what was found before. Raises TimeoutError.
        """
        self._client._wait(lambda: self._ended, self._client._timeout if timeout is None else timeout)
        if self._error:
            raise self._error
        return sorted(self._answers, key=lambda answer: answer["index"]) if self._several else self._answers[0]

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield the answers (dict, ``index`` tells the position) as they come.

        Ends quietly if the search was cancelled; raises ServiceError if it was refused or failed. Raises TimeoutError
        if the next one takes longer than the client's timeout.
        """
        for index in count():
            self._client._wait(partial(self._more_than, index), self._client._timeout)
            if index == len(self._answers):
                break
            yield self._answers[index]
        if self._error and self._error.code != "cancelled":
            raise self._error

    def _more_than(self, answers):
        return self._ended or len(self._answers) > answers

    def cancel(self) -> None:
        """Ask the service to end the search; does not wait for that, and is too late where it is done."""
        if not self._ended:
            self._client._send({"op": "cancel", "id": self._name})

    def _take(self, message):
        kind = message["type"]
        if kind == "answer":
            self._answers.append(message)
        elif kind == "progress" and self.progress:
            self.progress(message)
        elif kind in ("done", "error"):
            self._ended, self._error = True, _failure(message)


def _failure(message):
    """Return what is wrong with a search according to its last message, or None."""
    if "error" in message:
        return ServiceError(**message["error"])
    return ServiceError("cancelled", "the search was cancelled") if message["state"] == "cancelled" else None


def _end(timeout):
    return None if timeout is None else time.monotonic() + timeout
