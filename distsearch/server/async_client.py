"""Asks a service from asyncio, at its socket or over HTTP. Standard library alone.

async with AsyncClient("/run/user/1000/distsearch") as client:
    print((await client.search("othello", "f5d6c3", depth=16))["move"])
    async for answer in client.answers("connect4", ["4", "44"], exact=True):
        print(answer["index"], answer["score"])
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
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


class AsyncClient:
    """A service at a path, that of its socket, or at the URL that ``serve --http`` prints; an async context manager.

    Any number of tasks may use it. A task that is cancelled, by ``asyncio.timeout`` for example, has its search
    cancelled. Methods raise ServiceError, and take a ``Board`` where they take the text of a position. Over HTTP each
    request has a connection of its own.
    """

    def __init__(self, address: str):
        self._address, self._http = address, HttpAddress.of(address)
        self._connections: set[_Connection] = set()
        self._shared: _Connection | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        if self._http is None:
            self._shared = await self._connected()
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connections; the service cancels what is still open."""
        self._closed = True
        for connection in list(self._connections):
            await self._end(connection)

    async def search(
        self,
        game: str,
        position: Position | Iterable[Position] = "startpos",
        on_progress: Callable[[dict[str, Any]], object] | None = None,
        **options: Any,
    ) -> Any:
        """Return the answer (dict) to a search of one position; or a list of them for a list of positions.

        on_progress: a function to call with each partial answer (dict), which come as often as ``progress`` says;
        options: other fields of the message, such as depth, board, priority, progress.
        """
        message = search_message(game, position, options)
        reply = Reply("positions" in message)
        reply.on_progress = on_progress
        async with self._asking(message, reply) as changed:
            while not reply.ended:
                await changed()
        return reply.result()

    async def answers(self, game: str, positions: Iterable[Position], **options: Any) -> AsyncIterator[dict[str, Any]]:
        """Yield the answers (dict, ``index`` tells the position) to a search of several positions as they come."""
        reply, told = Reply(several=True), 0
        async with self._asking(search_message(game, list(positions), options), reply) as changed:
            while not reply.ended or told < len(reply.answers):
                while told < len(reply.answers):
                    yield reply.answers[told]
                    told += 1
                if not reply.ended:
                    await changed()
        if reply.error:
            raise reply.error

    async def status(self) -> dict[str, Any]:
        """Return how the service is doing (dict)."""
        return await self._reply_to({"op": "status"})

    async def watch(self, every: float = 0.5, label: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """Yield what all ranks do (dict), every so many seconds, until the caller stops; then the watch is cancelled.

        Snapshots that the caller is too slow for are left out. label: of the searches that count as this client's own,
        which is needed over HTTP. Raises ServiceError, also if the service ends.
        """
        reply = Snapshots()
        async with self._asking(watch_message(every, label), reply) as changed:
            while not reply.ended or reply.answers:
                while reply.answers:
                    yield reply.answers.pop()
                if not reply.ended:
                    await changed()
        reply.result()  # which raises what has ended it

    async def look(self, game: str, position: Position = "startpos", **fields: Any) -> dict[str, Any]:
        """Return the board and the legal moves of a position (dict), without a search.

        fields: others of the message, such as a move to play first.
        """
        return await self._reply_to(look_message(game, position, fields))

    async def _reply_to(self, message):
        reply = Reply()
        async with self._asking(message, reply) as changed:
            while not reply.ended:
                await changed()
        return reply.result()

    @contextlib.asynccontextmanager
    async def _asking(self, message, reply):
        """A context in which a message is asked; yield a function that returns once there is news of the reply."""
        if self._closed or self._http is None and self._shared is None:
            raise ServiceError("closed", "this client is closed" if self._closed else "this client is not open")
        news = asyncio.Event()
        reply.changed = news.set

        async def changed():
            news.clear()
            await news.wait()

        connection = self._shared or await self._connected()
        try:
            await connection.send(connection.exchange.ask(message, reply))
            yield changed
        finally:
            if not reply.ended:
                connection.cancel(reply)
            if connection is not self._shared:
                await self._end(connection)

    async def _connected(self):
        where = self._address if self._http is None else f"{self._http.host}:{self._http.port}"
        try:
            if self._http is None:
                made = _Connection(*await asyncio.open_unix_connection(self._address), SocketExchange())
            else:
                streams = await asyncio.open_connection(self._http.host, self._http.port)
                made = _Connection(*streams, HttpExchange(self._http))
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise ServiceError("unreachable", f"no service at {where}: {why}") from error
        self._connections.add(made)
        return made

    async def _end(self, connection):
        self._connections.discard(connection)
        await connection.close()


class _Connection:
    """Streams, the Exchange over them, and a task that takes in what comes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, exchange: Exchange):
        self._reader, self._writer, self.exchange = reader, writer, exchange
        self._reading = asyncio.create_task(self._read())

    async def _read(self):
        try:
            while data := await self._reader.read(CHUNK):
                self.exchange.feed(data)
        except (OSError, ValueError):  # it is gone, or speaks another language
            pass
        finally:
            self.exchange.end()

    async def send(self, data):
        if self.exchange.failure:
            raise self.exchange.failure
        self._writer.write(data)
        with contextlib.suppress(OSError):  # then reading ends too, perhaps after the reason
            await self._writer.drain()

    def cancel(self, reply):
        if data := self.exchange.cancel(reply):
            self._writer.write(data)

    async def close(self):
        self.exchange.end("this client is closed")
        self._reading.cancel()
        self._writer.close()
        await asyncio.gather(self._reading, return_exceptions=True)
