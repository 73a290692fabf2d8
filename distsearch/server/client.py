"""Asks a service from Python, at its socket or over HTTP. Standard library alone: it starts at once.

    with Client("/run/user/1000/distsearch") as client:
        print(client.search("othello", "f5d6c3", depth=16)["move"])

docs/service.md lists what a search may be given and what an answer holds. ``async_client`` does the same in asyncio.
"""

import contextlib
import select
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from types import TracebackType
from typing import Any, Self

from .exchange import (
    CHUNK,
    Exchange,
    HttpAddress,
    HttpExchange,
    Position,
    Reply,
    ServiceError,
    Snapshots,
    SocketExchange,
    look_message,
    search_message,
    watch_message,
)


class Client:
    """A service at a path, that of its socket, or at the URL that ``serve --http`` prints; a context manager.

    For one thread at a time. timeout: seconds that a method waits unless it is told otherwise, None for as long as it
    takes; then it raises TimeoutError, and may be called again. Methods raise ServiceError, and take a ``Board`` where
    they take the text of a position. Over HTTP each request has a connection of its own.
    """

    def __init__(self, address: str, timeout: float | None = None):
        self._timeout, self._http = timeout, HttpAddress.of(address)
        self._open: list[_Connection] = []
        self._closed = False
        if self._http is None:
            self._open.append(_Connection.at_path(address, timeout))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the service cancels what is still open."""
        self._closed = True
        while self._open:
            self._open.pop().close()

    def search(self, game: str, position: Position | Iterable[Position] = "startpos", **options: Any) -> Any:
        """Return the answer (dict) to a search of one position; or a list of them for a list of positions.

        Where waiting for it ends, by TimeoutError or a Ctrl-C, the search is cancelled.
        """
        pending = self.submit(game, position, **options)
        try:
            return pending.result()
        except (TimeoutError, KeyboardInterrupt):
            with contextlib.suppress(ServiceError, TimeoutError):
                pending.cancel()
            raise

    def submit(self, game: str, position: Position | Iterable[Position] = "startpos", **options: Any) -> "Pending":
        """Ask for a search without waiting for it; return a Pending.

        position: text or Board, or a list of them; options: other fields of the message, such as depth, board,
        priority.
        """
        message = search_message(game, position, options)
        reply = Reply("positions" in message)
        return Pending(self, self._ask(message, reply), reply)

    def status(self) -> dict[str, Any]:
        """Return how the service is doing (dict)."""
        return self._reply_to({"op": "status"})

    def watch(self, every: float = 0.5, label: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield what all ranks do (dict), every so many seconds, until the caller stops; then the watch is cancelled.

        Snapshots that the caller is too slow for are left out. label: of the searches that count as this client's own,
        which is needed over HTTP. Raises ServiceError, also if the service ends.
        """
        reply = Snapshots()
        connection = self._ask(watch_message(every, label), reply)
        try:
            while True:
                self._wait(lambda: reply.ended or bool(reply.answers), self._timeout)
                if not reply.answers:
                    break
                yield reply.answers.pop()
        finally:
            if not reply.ended:
                self._cancel(connection, reply)
        reply.result()  # which raises what has ended it

    def look(self, game: str, position: Position = "startpos", **fields: Any) -> dict[str, Any]:
        """Return the board and the legal moves of a position (dict), without a search.

        fields: others of the message, such as a move to play first.
        """
        return self._reply_to(look_message(game, position, fields))

    def _reply_to(self, message):
        reply = Reply()
        connection = self._ask(message, reply)
        try:
            self._wait(lambda: reply.ended, self._timeout)
        except BaseException:
            self._give_up(connection, reply)
            raise
        return reply.result()

    def _ask(self, message, reply) -> "_Connection":
        """Send a message; return the connection over which ``reply`` comes."""
        if self._closed:
            raise ServiceError("closed", "this client is closed")
        if self._http is not None:
            connection = _Connection.over_http(self._http, self._timeout)
            self._open.append(connection)
        else:
            connection = self._open[0]
        try:
            connection.send(connection.exchange.ask(message, reply), _end(self._timeout))
        except BaseException:  # it cannot be written as JSON, for instance
            if not reply.ended:  # else a refusal came before all was sent
                self._give_up(connection, reply)
                raise
        return connection

    def _give_up(self, connection, reply):
        """Expect nothing more of a request."""
        if isinstance(connection.exchange, SocketExchange):
            connection.exchange.forget(reply)
        elif connection in self._open:
            self._open.remove(connection)
            connection.close()

    def _wait(self, known: Callable[[], bool], timeout: float | None) -> None:
        """Take messages in until ``known()``."""
        end = _end(timeout)
        while not known():
            if not self._open:
                raise ServiceError("closed", "this client is closed")
            for connection in _ready(self._open, end):
                connection.receive()
            if self._http is not None:  # what has ended needs no connection
                for connection in [each for each in self._open if each.exchange.failure]:
                    self._open.remove(connection)
                    connection.close()
            elif (failure := self._open[0].exchange.failure) and not known():
                raise failure

    def _cancel(self, connection, reply):
        if data := connection.exchange.cancel(reply):
            connection.send(data, _end(self._timeout))
        elif self._http is not None:
            self._give_up(connection, reply)


class Pending:
    """A search that was asked for.

    progress: None, or a function to call with each partial answer (dict) while a method of the client waits. How often
    they come is what ``submit`` was told by an option of that name.
    """

    def __init__(self, client: Client, connection: "_Connection", reply: Reply):
        self._client, self._connection, self._reply = client, connection, reply

    @property
    def progress(self) -> Callable[[dict[str, Any]], object] | None:
        return self._reply.on_progress

    @progress.setter
    def progress(self, function: Callable[[dict[str, Any]], object] | None) -> None:
        self._reply.on_progress = function

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the answer (dict), or for the list of them in the order of the positions.

        timeout: seconds, or None for the client's. Raises ServiceError if the search was refused, failed or cancelled;
        ``answers`` has what was found before. Raises TimeoutError.
        """
        self._client._wait(lambda: self._reply.ended, self._client._timeout if timeout is None else timeout)
        return self._reply.result()

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield the answers (dict, ``index`` tells the position) as they come.

        Ends quietly if the search was cancelled; raises ServiceError if it was refused or failed. Raises TimeoutError
        if the next one takes longer than the client's timeout.
        """
        reply = self._reply
        for index in count():
            self._client._wait(lambda more=index: reply.ended or len(reply.answers) > more, self._client._timeout)
            if index == len(reply.answers):
                break
            yield reply.answers[index]
        if reply.error and reply.error.code != "cancelled":
            raise reply.error

    def cancel(self) -> None:
        """Ask the service to end the search; does not wait for that, and is too late where it is done."""
        if not self._reply.ended:
            self._client._cancel(self._connection, self._reply)


class _Connection:
    """A socket that never blocks, and the Exchange over it."""

    def __init__(self, connected: socket.socket, exchange: Exchange):
        self._socket, self.exchange = connected, exchange
        connected.setblocking(False)

    @classmethod
    def at_path(cls, path, timeout):
        connecting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connecting.settimeout(timeout)
            connecting.connect(path)
        except TimeoutError:
            connecting.close()
            raise
        except OSError as error:
            connecting.close()
            raise ServiceError("unreachable", f"no service at {path}: {error.strerror or error}") from error
        return cls(connecting, SocketExchange())

    @classmethod
    def over_http(cls, address, timeout):
        try:
            return cls(socket.create_connection((address.host, address.port), timeout), HttpExchange(address))
        except TimeoutError:
            raise
        except (OSError, UnicodeError) as error:
            where = f"{address.host}:{address.port}"
            why = getattr(error, "strerror", None) or error
            raise ServiceError("unreachable", f"no service at {where}: {why}") from error

    def close(self):
        self._socket.close()
        self.exchange.end("this client is closed")

    def fileno(self):
        return self._socket.fileno()

    def send(self, data, end):
        """Send bytes by a time; what arrives meanwhile is taken in, for the service may wait for that."""
        data, sent, exchange = memoryview(data), 0, self.exchange
        while sent < len(data):
            if exchange.failure:
                raise exchange.failure
            try:
                ready = _events(self, select.POLLIN | select.POLLOUT, end)
            except TimeoutError as error:
                if sent:  # whatever came next would be taken for the rest of this
                    exchange.failure = ServiceError("closed", "the service stopped reading in the middle of a request")
                    raise exchange.failure from error
                raise
            if ready & ~select.POLLOUT:
                self.receive()
            if ready & select.POLLOUT and not exchange.failure:
                sent += self._transmit(data[sent:])

    def _transmit(self, data):
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self.receive()  # perhaps it said why
            raise self.exchange.failure or ServiceError("closed", "the service has closed the connection") from error

    def receive(self):
        """Take in what is there."""
        try:
            data = self._socket.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.exchange.feed(data)
        else:
            self.exchange.end()


def _ready(connections, end):
    """Return the connections that have something to read; raises TimeoutError at ``end``."""
    poll = select.poll()
    by_number = {connection.fileno(): connection for connection in connections}
    for number in by_number:
        poll.register(number, select.POLLIN)
    found = poll.poll(_left(end))
    if not found:
        raise TimeoutError("the service takes longer")
    return [by_number[number] for number, _ in found]


def _events(connection, wanted, end):
    """Return the events of a connection; raises TimeoutError at ``end``."""
    poll = select.poll()
    poll.register(connection, wanted)
    ready = poll.poll(_left(end))
    if not ready:
        raise TimeoutError("the service takes longer")
    return ready[0][1]


def _end(timeout):
    return None if timeout is None else time.monotonic() + timeout


def _left(end):
    """Return the milliseconds until a time."""
    return None if end is None else max(0.0, 1000 * (end - time.monotonic()))
