"""What one client asks and is told: lines in, messages out, requests to the queue in between. No I/O."""

import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from ..core.errors import UserError, print_traceback
from . import protocol
from .limits import Limits
from .lines import LinesRequest
from .look import look
from .request import Refused, Request
from .request_log import RequestLog
from .watchers import Watcher

_POSITIONS_A_STEP = 5  # a long transcript takes a millisecond to read


class ClientSession:
    """A client's open requests, and the words for what becomes of them.

    client: hashable, differs from that of any other connection; queue: a RequestQueue; state: function that returns the
    fields of a status message; send: function that takes a message (dict) for the client; limits: ``limits.Limits``;
    log: is told of every request, None: there is none.
    """

    def __init__(
        self,
        client: Hashable,
        queue: Any,
        state: Callable[[], dict[str, Any]],
        send: Callable[[dict[str, Any]], None],
        limits: Limits,
        log: RequestLog | None = None,
    ):
        self._client, self._queue, self._state, self._send, self._limits = client, queue, state, send, limits
        self._log = log
        self._open: dict[Any, Request] = {}  # by id
        self._watches: dict[Any, Watcher] = {}  # by id
        self._query: protocol.Query | protocol.LinesQuery | None = None  # whose positions are being read
        self._began = 0.0  # when it came
        self._shut = False

    @property
    def open(self) -> int:
        """The number of open requests; watches, which do not end, apart."""
        return len(self._open) + (self._query is not None)

    @property
    def reading(self) -> bool:
        """Whether ``read_more`` must be called before the next line is taken."""
        return self._query is not None

    @property
    def held(self) -> bool:
        """Whether ``read_more`` does nothing yet: other processes compile what reads the lines."""
        asked = None if self._shut else self._query  # a service that ends refuses it instead
        return isinstance(asked, protocol.LinesQuery) and not self._queue.can_read_lines(asked.options.game)

    def take(self, line: bytes | None) -> None:
        """Answer a line (bytes), or what was too long for one (None)."""
        message = {}
        try:
            if line is None:
                raise Refused("too_long", f"the line has more than {self._limits.line} bytes")
            if line.strip():
                message = protocol.decode(line)
                act = {"search": self._search, "lines": self._search, "look": self._look, "watch": self._watch}
                act |= {"cancel": self._cancel, "status": self._tell}
                act[protocol.check(message)](message)
        except Exception as error:
            self._refuse(protocol.identity(message), error)

    def read_more(self) -> None:
        """Read a few more positions of the latest request; after the last one it goes to the queue."""
        query = self._query
        if query is None or self.held:
            return
        try:
            if self._shut:
                raise Refused("shutting_down", "the service ends")
            if query.advance(_POSITIONS_A_STEP):
                self._query = None
                self._submit(query)
        except Exception as error:
            self._query = None
            self._refuse(query.id, error)

    def shut(self) -> None:
        """Take no more searches, and end what does not end by itself."""
        self._shut = True
        self._end_watches()

    def cancel_all(self) -> None:
        """Have every open request end."""
        self._query = None
        self._end_watches()
        for request in list(self._open.values()):
            self._queue.cancel(request)

    def _refuse(self, name, error):
        index = None
        if isinstance(error, Refused):
            code, text, index = error.code, str(error), error.index
        elif isinstance(error, UserError):
            code, text = "bad_field", str(error)
        else:  # a mistake of ours: one request must not take the others along
            print_traceback(error)
            code, text = "internal", f"{type(error).__name__} in the service"
        if self._log is not None:
            self._log.add("refused", client=self._client, id=name, code=code, reason=text)
        self._send(protocol.error(name, code, text, index))

    def _search(self, message):
        if self._shut:
            raise Refused("shutting_down", "the service ends")
        self._check_free(message["id"])
        self._began = time.monotonic()
        asked = protocol.LinesQuery if message.get("op") == "lines" else protocol.Query
        self._query = asked(message, self._limits)
        self.read_more()

    def _check_free(self, name):
        if name in self._open or name in self._watches:
            raise Refused("duplicate_id", f"request {name!r} is still open")

    def _watch(self, message):
        if self._shut:
            raise Refused("shutting_down", "the service ends")
        self._check_free(message["id"])
        name = message["id"]

        def tell(fields):
            self._send(protocol.cluster(name, fields))

        every, label = protocol.every(message), protocol.label(message)
        watcher = Watcher(self._client, every, tell, partial(self._end_watch, name), label)
        self._queue.watchers.add(watcher)
        self._watches[name] = watcher

    def _end_watch(self, name, state="cancelled", text=""):
        watcher = self._watches.pop(name)
        self._queue.watchers.remove(watcher)
        self._send(protocol.done(name, state, watcher.told, text))

    def _end_watches(self):
        for name in list(self._watches):
            self._end_watch(name)

    def _submit(self, query):
        if isinstance(query, protocol.LinesQuery):
            counted = _ToldLines(query, self._send, self._began)
            request = LinesRequest(self._client, query.options, query.chunk, query.form, query.priority, query.label)
            request.on_text = counted.text
        else:
            counted = _Counted(query, self._send, self._began)
            request = Request(self._client, query.options, query.positions, query.priority, query.progress, query.label)
            request.on_answer, request.on_progress = counted.answer, counted.progress
        request.on_end = partial(self._end, counted, request)
        self._open[query.id] = request
        if not len(request.positions):  # bad lines, blank ones and comments
            request.on_end("done", "")
            return
        try:
            self._queue.submit(request)
        except Exception:
            self._open.pop(query.id, None)
            raise

    def _end(self, counted, request, state, text):
        del self._open[counted.name]
        if isinstance(request, LinesRequest) and state == "done":
            request.tell_rest()
        self._send(protocol.done(counted.name, state, counted.answers, text))
        if self._log is not None:
            self._log.add(
                "search",
                client=self._client,
                id=counted.name,
                game=request.options.game,
                limit=_limit(request.options),
                positions=len(request.positions),
                answers=counted.answers,
                state=state,
                reason=text or None,
                nodes=request.nodes,
                seconds=time.monotonic() - counted.began,
            )

    def _cancel(self, message):
        if message["id"] in self._watches:
            self._end_watch(message["id"])
            return
        if message["id"] not in self._open:
            raise Refused("unknown_id", f"no open request {message['id']!r}")
        self._queue.cancel(self._open[message["id"]])

    def _look(self, message):
        self._send({"id": message["id"], "type": "look", **look(message, self._limits)})

    def _tell(self, message):
        named = {"id": message["id"]} if "id" in message else {}
        self._send({**named, "type": "status", **self._state()})


class _Counted:
    """Sends what is found for a request, and counts the answers."""

    def __init__(self, query, send, began):
        self.name, self._texts, self._send, self.answers = query.id, query.texts, send, 0
        self.began = began

    def answer(self, index, outcome):
        self.answers += 1
        self._send(protocol.answer(self.name, index, outcome.as_asked(self._texts[index])))

    def progress(self, index, outcome):
        self._send(protocol.progress(self.name, index, outcome.as_asked(self._texts[index])))


class _ToldLines:
    """The same for a request for lines."""

    def __init__(self, query, send, began):
        self.name, self._head, self._send, self.began, self.answers = query.id, query.form.head, send, began, 0

    def text(self, text, answers):
        self.answers += answers
        self._send(protocol.lines(self.name, self._head, text, answers))


def _limit(options):
    """Return what ends a search, as one word: ``exact``, ``depth:9``."""
    given = {name: getattr(options, name) for name in ("exact", "depth", "time", "nodes")}
    return ",".join(name if value is True else f"{name}:{value:g}" for name, value in given.items() if value) or None
