"""The service's messages, one JSON object a line: cut, read, checked and written. No I/O; ``fields`` has the tables.

Whatever a client sends ends in a checked message, or in ``Refused``, whose code and text are for that client, or in a
plain UserError for what a field says, which is ``bad_field``.
"""

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..api.applicability import SAMPLED
from ..api.applicability import check as check_applicability
from ..api.chance import begun
from ..api.declarations import suggestion
from ..api.options import checked_seed, resolve
from ..core.errors import UserError
from ..formats.position_lines import LINE_BREAK
from ..formats.positions import LineScanner
from ..formats.weights_file import named
from ..games.interface import read_position
from .lines import form_of
from .request import Refused
from .schema import ERRORS, REQUESTS

_DIGITS = 20  # of a number; formatting or converting longer ones takes long, or fails
_ID_LENGTH = 200
_LEAST_PROGRESS = 0.01  # seconds
_FAILURES = {"failed": "internal", "refused": "bad_field"}  # codes by how a request ends
_LEAST_EVERY = 0.1  # seconds between two snapshots of a watch
_USUAL_EVERY = 0.5
_LABEL_LENGTH = 200
_MOST_LINES = 10**15  # of a file
# the others are options
_OUR_OWN = {"op", "id", "game", "position", "positions", "priority", "progress", "label"}
_OUR_OWN |= {"lines", "first", "format", "fields"}


class Splitter:
    """Cuts a stream of bytes into lines. Of a line that is longer than ``longest`` nothing is kept."""

    def __init__(self, longest):
        self._longest, self._rest, self._skipping = longest, bytearray(), False

    def feed(self, data):
        """Return the lines (bytes) that end within ``data``; None stands for one that is too long."""
        *ends, rest = data.split(b"\n")
        lines = []
        for end in ends:
            self._keep(end, lines)
            if not self._skipping:
                lines.append(bytes(self._rest))
            self._rest, self._skipping = bytearray(), False
        self._keep(rest, lines)
        return lines

    def end(self):
        """Return the last line as ``feed`` does: the stream may end without a line break."""
        last, self._rest = bytes(self._rest), bytearray()
        return [last] if last else []

    def _keep(self, piece, lines):
        if self._skipping:
            return
        if len(self._rest) + len(piece) > self._longest:
            self._rest, self._skipping = bytearray(), True
            lines.append(None)
        else:
            self._rest += piece


def decode(line):
    """Return the object (dict) in a line (bytes); raises Refused with bad_json or not_object."""
    try:
        text = line.decode()
        message = json.loads(
            text, object_pairs_hook=_once, parse_constant=_constant, parse_int=_integer, parse_float=_float
        )
        if "\\u" in text:
            json.dumps(message, ensure_ascii=False).encode()  # fails for half a surrogate pair, which is no text
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise Refused("bad_json", f"not UTF-8: {error.reason}") from error
    except json.JSONDecodeError as error:
        raise Refused("bad_json", f"not JSON: {error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise Refused("bad_json", "nested too deeply") from error
    if not isinstance(message, dict):
        raise Refused("not_object", "not a JSON object")
    return message


def _once(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        seen = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise Refused("bad_json", f"field '{twice[:40]}' is there twice")
    return found


def _constant(text):
    raise Refused("bad_json", f"{text} is not a number in JSON")


def _integer(text):
    if len(text) > _DIGITS:
        raise Refused("bad_json", f"number {text[:_DIGITS]}... has more than {_DIGITS} digits")
    return int(text)


def _float(text):
    value = float(text)
    if not math.isfinite(value):
        raise Refused("bad_json", f"number {text[:40]} is too large")
    return value


class _Type(NamedTuple):
    accepts: Callable  # value -> bool
    words: str


def _is_integer(value):
    return type(value) is int  # true and false are of a subtype


def _is_number(value):
    return type(value) in (int, float)


def _is_text(value):
    return isinstance(value, str)


def _is_id(value):
    return _is_integer(value) or _is_text(value) and len(value) <= _ID_LENGTH


def _is_pair(value):
    return isinstance(value, list) and len(value) == 2 and all(map(_is_integer, value))


TYPES = {
    "text": _Type(_is_text, "a string"),
    "integer": _Type(_is_integer, "an integer"),
    "number": _Type(_is_number, "a number"),
    "boolean": _Type(lambda value: isinstance(value, bool), "true or false"),
    "id": _Type(_is_id, f"an integer or a string of at most {_ID_LENGTH} characters"),
    "texts": _Type(lambda value: isinstance(value, list) and all(map(_is_text, value)), "a list of strings"),
    "rules": _Type(lambda value: isinstance(value, dict) and all(map(_is_text, value.values())), "texts by name"),
    "window": _Type(_is_pair, "a list of two integers"),
    "pairs": _Type(lambda value: isinstance(value, list) and all(map(_is_pair, value)), "a list of pairs of integers"),
}


def identity(message):
    """Return the id of a message as decoded, or None if it has none that can be used."""
    found = message.get("id")
    return found if _is_id(found) else None


def check(message):
    """Return the op of a message that has the fields of that op, of their types; raises Refused."""
    op = message.get("op", "search")
    if not _is_text(op):
        raise Refused("bad_field", "op is not a string")
    if op not in REQUESTS:
        raise Refused("unknown_op", f"op '{op[:40]}' is not {', '.join(REQUESTS)}")
    known = {field.name: field for field in REQUESTS[op]}
    for name, value in message.items():
        if name not in known:
            raise Refused("unknown_field", f"{op} has no field '{name[:40]}'{suggestion(name, list(known))}")
        accepts, words = TYPES[known[name].type]
        if not accepts(value):
            raise Refused("bad_field", f"{name} is not {words}")
    for field in known.values():
        if field.required and field.name not in message:
            raise Refused("bad_field", f"{field.name} is missing")
    return op


class _Asked:
    """What a client asks for; position: a text that stands for its positions. Creating one raises Refused or UserError.

    id, options, priority, progress, label are as ``Request`` has them.
    """

    def __init__(self, message, limits, position):
        self.id, self.priority, self.progress = message["id"], message.get("priority", 0), message.get("progress")
        if not -10 <= self.priority <= 10:
            raise Refused("bad_field", f"priority {self.priority} is not from -10 to 10")
        if self.progress is not None and self.progress < _LEAST_PROGRESS:
            raise Refused("bad_field", f"progress {self.progress:g} is not {_LEAST_PROGRESS} seconds or more")
        self.label = label(message)
        given = {name: _with_tuples(value) for name, value in message.items() if name not in _OUR_OWN}
        for name in ("load_factor", "par_depth"):
            if given.get(name, 0) > (most := getattr(limits, name)):
                raise Refused("bad_field", f"{name} {given[name]:g} is more than {most}")
        if "evaluation" in given:
            given["evaluation"] = named(given["evaluation"], message["game"])
        self._seed = checked_seed(given.get("seed", 0))
        if given.get("algorithm") not in SAMPLED:
            given.pop("seed", None)
        self.options, self._game, self._rules = resolve(message["game"], **given)
        check_applicability(self.options, {"search": True, "seed_of_start": message.get("seed"), "position": position})


class Query(_Asked):
    """A search as a client asks for it: ``texts`` and, once ``advance`` has returned True, ``positions``."""

    def __init__(self, message, limits):
        self.texts, self.positions = _texts(message, limits), []
        super().__init__(message, limits, "startpos" if "startpos" in self.texts else self.texts[0])

    def advance(self, count):
        """Read up to ``count`` more positions; return whether those were all. Raises Refused."""
        done = len(self.positions)
        for index, text in enumerate(self.texts[done : done + count], done):
            try:
                position = read_position(self._game, text, self._rules)
                self.positions.append(begun(self._game, text, position, self._rules, self._seed))
            except UserError as error:
                where = f"position {index}: " if len(self.texts) > 1 else ""
                raise Refused("bad_field", f"{where}{error}", index) from error
        return len(self.positions) == len(self.texts)


class LinesQuery(_Asked):
    """Lines of positions as a client asks for their answers: ``form`` and, once ``advance`` is True, ``chunk``.

    ``advance`` compiles what reads lines of the game, if that was not done before.
    """

    def __init__(self, message, limits):
        first = message.get("first", 1)
        if not 1 <= first <= _MOST_LINES:
            raise Refused("bad_field", f"first {first} is not a number from 1 to {_MOST_LINES}")
        content = np.frombuffer(bytearray(message["lines"].encode(errors="replace")), np.uint8)
        if len(content) == 0 or content[-1] != LINE_BREAK:
            content = np.append(content, np.uint8(LINE_BREAK))
        count = int(np.count_nonzero(content == LINE_BREAK))
        if count > limits.positions:
            raise Refused("too_many_positions", f"{count} lines; at most {limits.positions} go into a request")
        super().__init__(message, limits, "")
        self.form = form_of(message.get("format", "jsonl"), message.get("fields"))
        self._unread, self._longest = (first, content, count), limits.position
        self._scanner = LineScanner(self._game, self._rules)
        self.chunk: Any = None  # a Chunk, once the lines have been scanned

    def advance(self, count):
        """Read up to ``count`` more lines that take long; return whether those were all."""
        if self._unread:
            self._scan(*self._unread)
            self._unread = ()
        return self._scanner.parse(self.chunk, count)

    def _scan(self, first, content, count):
        self.chunk, _ = self._scanner.scan(first, content, 0, len(content), count)
        for index in np.flatnonzero(self.chunk.ends - self.chunk.begins > self._longest).tolist():
            self.chunk.refuse(index, f"it has more than {self._longest} characters")


def _with_tuples(value: Any) -> Any:
    """Return a value of JSON with tuples in the place of lists, as options have them."""
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


def _texts(message, limits):
    if "positions" not in message:
        texts = [message.get("position", "startpos")]
    elif "position" in message:
        raise Refused("bad_field", "position and positions exclude each other")
    else:
        texts = message["positions"]
    if not texts:
        raise Refused("bad_field", "positions is empty")
    if len(texts) > limits.positions:
        raise Refused("too_many_positions", f"{len(texts)} positions; at most {limits.positions} go into a request")
    for index, text in enumerate(texts):
        if len(text) > limits.position:
            raise Refused("bad_field", f"position {index} has more than {limits.position} characters", index)
    return texts


def answer(name, index, outcome):
    """Return the answer to a request's position as a message; ``name`` is the request's id."""
    return {"id": name, "type": "answer", "index": index, **outcome.to_dict()}


def every(message):
    """Return the seconds between two snapshots of a message of op ``watch``; raises Refused."""
    asked = message.get("every", _USUAL_EVERY)
    if asked < _LEAST_EVERY:
        raise Refused("bad_field", f"every {asked:g} is not {_LEAST_EVERY} seconds or more")
    return asked


def label(message):
    """Return the label of a message, None if it has none; raises Refused."""
    asked = message.get("label")
    if asked is not None and len(asked) > _LABEL_LENGTH:
        raise Refused("bad_field", f"label has more than {_LABEL_LENGTH} characters")
    return asked


def cluster(name, fields):
    """Return a snapshot of the cluster as a message."""
    return {"id": name, "type": "cluster", **fields}


def lines(name, head, text, answers):
    """Return some answers to a request for lines, as text (bytes), as a message; head: the first line of a file."""
    first = {"head": head.decode()} if head else {}
    return {"id": name, "type": "lines", "answers": answers, **first, "text": text.decode()}


def progress(name, index, outcome):
    """Return what is known so far as a message."""
    return {"id": name, "type": "progress", "index": index, **outcome.to_dict(), "complete": False}


def done(name, state, answers, text):
    """Return the end of a request as a message; text: why it failed, or was refused: that is the client's mistake."""
    if state not in _FAILURES:
        return {"id": name, "type": "done", "state": state, "answers": answers}
    failure = _reason(_FAILURES[state], text)
    return {"id": name, "type": "done", "state": "failed", "answers": answers, "error": failure}


def error(name, code, text, index=None):
    """Return a refusal as a message; ``name`` is the id of what is refused, or None."""
    where = {} if index is None else {"index": index}
    return {"id": name, "type": "error", **where, "error": _reason(code, text)}


def _reason(code, text):
    assert code in ERRORS, code
    return {"code": code, "message": str(UserError(text))}  # which makes one line of it


def encode(message):
    """Return a message as a line (bytes). JSON has no NaN and no infinity: null stands for them."""
    try:
        text = json.dumps(message, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(message))
    return text.encode() + b"\n"


def _finite(value):
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
