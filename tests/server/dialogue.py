"""What one client of the service must hear: a model that follows the messages of its connection.

Most lines get one message, in the order of the lines. A search that is taken and a cancel that finds its request get
none. As a server's messages to a client are sent in the order of what happens, each message says which lines were
taken before it: those without a message of their own that stand before the line that explains it.
"""

import json
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

LINE_ERROR = "% line {}: "


@dataclass
class Asked:
    """A request as the model knows it: ``kind`` is ``answer``, ``lines`` or ``cluster``, by what it is told.

    texts: of its positions, or lines; good: indices of those that have an answer; score: of each, where it is known;
    long: it does not end by itself; fails: nothing comes but its failure.
    """

    kind: str = "answer"
    texts: tuple[str, ...] = ()
    good: tuple[int, ...] = ()
    scores: dict[str, float] = field(default_factory=dict)
    progress: bool = False
    long: bool = False
    fails: bool = False
    plain: bool = False


@dataclass(repr=False)
class Line:
    """A line that a client sends, without its line break, and what it asks for.

    act: ``reply`` for what is answered at once by a message of that type, ``error`` for what is refused whatever
    happens, with one of ``codes``, ``request``, ``cancel``, ``blank``; name: the id that a reply has.
    """

    data: bytes
    act: str
    name: Any = None
    reply: str = ""
    codes: frozenset[str] = frozenset()
    asked: Asked | None = None
    late: bool = False  # it was sent when the service had begun to end
    perhaps: bool = False  # a cancel that may have been taken while its request was ending

    def renamed(self, name):
        """Return the same with another id."""
        message = {**json.loads(self.data), "id": name}
        return replace(self, data=json.dumps(message).encode(), name=name)

    def _repr_pretty_(self, printer, cycle):  # by which hypothesis shows it
        printer.text(repr(self))

    def __repr__(self):
        return f"{self.act} {self.data[:300]!r}"


class Open:
    """A request that was taken."""

    def __init__(self, asked):
        self.asked, self.cancelled, self.heard, self._rows = asked, False, set(), []

    def hear(self, message, ending):
        """Take a message in; return how many answers it has."""
        assert not (self.cancelled and message["type"] != "done"), f"{message} after the cancel was taken"
        return getattr(self, "_" + message["type"])(message, ending)

    def _answer(self, message, ending):
        index, asked = message["index"], self.asked
        assert asked.kind == "answer" and not asked.long and not asked.fails
        assert index in asked.good and index not in self.heard
        text = asked.texts[index]
        assert message.get("asked", message["position"]) == text
        assert text not in asked.scores or message["score"] == asked.scores[text]
        assert message["complete"]
        self.heard.add(index)
        return 1

    def _progress(self, message, ending):
        assert self.asked.progress and not message["complete"]
        assert message["index"] < len(self.asked.texts) and message["index"] not in self.heard
        return 0

    def _cluster(self, message, ending):
        assert self.asked.kind == "cluster"
        self.heard.add(len(self.heard))
        return 0

    def _lines(self, message, ending):
        assert self.asked.kind == "lines"
        self._rows += message["text"].splitlines()
        assert message["text"].endswith("\n")
        for row in self._rows[len(self.heard) :]:
            self._hear_row(len(self.heard), row)
            self.heard.add(len(self.heard))
        return message["answers"]

    def _hear_row(self, index, row):
        """Take in what answers the line of this index of those that are not blank."""
        text = self.asked.texts[index]
        if not self.asked.plain:
            found = json.loads(row)
            assert found["line"] == index + 1
            assert ("error" in found) == (index not in self.asked.good)
        elif index in self.asked.good:
            assert row.startswith(f"{text} ")
        else:
            assert row.startswith(LINE_ERROR.format(index + 1))

    def _done(self, message, ending):
        """Take its end in. A watch that falls behind is told less than was made."""
        asked, state = self.asked, message["state"]
        if state == "failed":
            assert asked.fails and message["error"]["code"] == "bad_field", message
        elif state == "cancelled":
            assert self.cancelled or ending, message
        else:
            assert state == "done"
            assert not (self.cancelled or asked.long or asked.fails or asked.kind == "cluster"), message
            assert len(self.heard) == len(asked.texts if asked.kind == "lines" else asked.good), message
        if asked.kind == "answer":
            assert message["answers"] == len(self.heard), message
        elif state == "done":
            assert message["answers"] == len(asked.good), message
        return 0


class Dialogue:
    """The client's side of a connection.

    ``might_be_full()``, ``might_be_watched()``: whether so much may be open."""

    def __init__(self, might_be_full, might_be_watched):
        self._might_be_full, self._might_be_watched = might_be_full, might_be_watched
        self.lines, self.open, self.ending, self.answers = deque[Line](), dict[Any, Open](), False, 0
        self.refused = False  # there were too many clients

    def say(self, line):
        """A line is sent."""
        self.lines.append(replace(line, late=self.ending))

    def hear(self, message):
        """Take a message in; fails if it cannot be one."""
        name, kind = message.get("id"), message["type"]
        if kind == "error" and message["error"]["code"] == "too_many_clients":
            assert name is None and not self.open
            self.refused = True
        elif kind in ("error", "status", "look"):
            self._hear_reply(name, message)
        else:
            self._hear_about(name, message)

    def _hear_reply(self, name, message):
        while True:
            assert self.lines, f"no line explains {message}"
            line = self.lines.popleft()
            if self._explains(line, name, message):
                break
            self._take(line, message)
        if message["type"] == "status":
            counted = sum(not each.cancelled for each in self.open.values() if each.asked.kind != "cluster")
            assert message["active"] + message["queued"] >= counted, message

    def _explains(self, line, name, message):
        """Whether a message is the reply to a line that is taken now."""
        if name != line.name or type(name) is not type(line.name):
            return False
        if message["type"] != "error":
            return line.act == "reply" and message["type"] == line.reply
        code = message["error"]["code"]
        if line.act == "cancel":
            return code == "unknown_id" and name not in self.open
        return self._may_refuse(line, code) if line.act == "request" else line.act == "error" and code in line.codes

    def _may_refuse(self, line, code):
        """Whether a sound request may be refused now."""
        watch = line.asked.kind == "cluster"
        reasons = {
            "shutting_down": self.ending,
            "duplicate_id": line.name in self.open,
            "queue_full": not watch and bool(self.open) and self._might_be_full(),
            "too_many_watchers": watch and self._might_be_watched(),
        }
        return reasons.get(code, False)

    def _take(self, line, cause):
        """A line was taken, and no message came of it."""
        where = f"{line} has no reply before {cause}"
        if line.act == "request":
            assert line.name not in self.open and not line.late, where
            self.open[line.name] = Open(line.asked)
        elif line.act == "cancel":
            assert line.name in self.open or line.perhaps, where
            if line.name in self.open:
                self.open[line.name].cancelled = True
        else:
            assert line.act == "blank", where

    def _hear_about(self, name, message):
        cancelled = message.get("state") == "cancelled"
        while self.lines and (name not in self.open or cancelled and not self.open[name].cancelled):
            if self.ending and name in self.open:
                break  # the service has cancelled it, perhaps
            self._take(self.lines.popleft(), message)
        assert name in self.open, f"no open request explains {message}"
        self.answers += self.open[name].hear(message, self.ending)
        if message["type"] == "done":
            del self.open[name]
            if cancelled:
                self._excuse_cancels(name)

    def _excuse_cancels(self, name):
        """A request was cancelled: further cancels, sent before its id came again, may have found it still open."""
        for line in self.lines:
            if line.name == name and line.act == "request":
                break
            line.perhaps = line.perhaps or line.act == "cancel" and line.name == name

    def clashes(self, line, before=None):
        """Whether a service that ends might refuse a line by the id of one that waits before it, taken or not."""
        waiting = self.lines if before is None else before
        refused = line.act in ("request", "error")
        return refused and any(each.act == "request" and each.name == line.name for each in waiting)

    def take_all(self):
        """All lines were taken, and all messages heard."""
        while self.lines:
            self._take(self.lines.popleft(), "the end")

    def settled(self, most):
        """Return the requests that are open once lines that get no message are taken, None where a message must come.

        most: searches that may be open, after which lines wait.
        """
        found = {name: each.asked for name, each in self.open.items()}
        if any(each.cancelled for each in self.open.values()):
            return None
        for line in self.lines:
            if sum(asked.kind != "cluster" for asked in found.values()) >= most:
                break
            if line.act == "request" and line.name not in found:
                found[line.name] = line.asked
            elif line.act != "blank" and not line.perhaps:
                return None
        return list(found.values())

    @property
    def searches(self):
        """The open requests but for watches."""
        return [each.asked for each in self.open.values() if each.asked.kind != "cluster"]

    @property
    def most_open(self):
        """How many requests may be open."""
        return len(self.open) + sum(line.act == "request" for line in self.lines)
