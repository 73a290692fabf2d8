"""Messages: between ranks, of the service and its clients, of uploads, and of programs that play Othello."""

import functools
import io
import json
import types

import numpy as np

from distsearch.api.result import Outcome
from distsearch.cluster import messages
from distsearch.cluster.messages import HEADER, Message, MessageType
from distsearch.games.interface import END, legal_moves
from distsearch.programs import gtp, nboard
from distsearch.programs.engine import Engine
from distsearch.server import protocol
from distsearch.server.exchange import HttpAddress, HttpExchange, Reply, ServiceError
from distsearch.server.http import batch
from distsearch.server.limits import Limits
from distsearch.server.look import look

from .. import mutation
from ..target import Target

# --- between ranks ---

_RECORDS = (
    np.dtype(np.int64),
    messages.OPEN_RECORD,
    messages.PROGRESS_RECORD,
    messages.UPDATE_RECORD,
    messages.SPLIT_RECORD,
    messages.METRICS_RECORD,
)


def _read_message(data):
    """A message: it is written as it was read, and its payload is records of one type or it is refused."""
    message = messages.decode(data)
    assert bytes(messages.encode(message)) == data
    if message.type == MessageType.WORKER_LOST:
        messages.to_lost(message)
        return
    records = messages.to_records(message.payload, _RECORDS[message.type % len(_RECORDS)])
    assert bytes(messages.from_records(records)) == bytes(message.payload)


def _message_seeds():
    found = [Message(MessageType.WORKER_LOST, 3, np.array([2, 1], np.int64).tobytes()), messages.failed(1, "why")]
    found = [found[0], Message(MessageType.STOP, 7)]
    for kind in MessageType:
        if kind != MessageType.WORKER_LOST:
            records = np.zeros(2, _RECORDS[kind % len(_RECORDS)])
            found.append(Message(kind, 1, messages.from_records(records)))
    return [bytes(messages.encode(message)) for message in found]


def _of_message(data, rng):
    """Change bytes, and mostly the header's size with them."""
    found = mutation.of_bytes(data, rng)
    if rng.random() < 0.7 and len(found) >= HEADER.size:
        version, kind, run, _ = HEADER.unpack_from(found)
        found = HEADER.pack(version, kind, run, len(found) - HEADER.size) + found[HEADER.size :]
    return found


# --- the service ---

_LIMITS = Limits(line=1 << 15, positions=50, position=300)


def _read_lines(data):
    """Lines of a client: each is refused, or all that it asks for is read."""
    splitter = protocol.Splitter(_LIMITS.line)
    lines = splitter.feed(data[:1000]) + splitter.feed(data[1000:]) + splitter.end()
    refused = 0
    for line in lines[:20]:
        if line and line.strip():
            try:
                _take(line)
            except protocol.Refused as error:
                assert json.loads(protocol.encode(protocol.error(None, error.code, str(error), error.index)))
                refused += 1
            except protocol.UserError:
                refused += 1
    if refused:
        raise protocol.Refused("bad_field", "a line was refused")


def _take(line):
    message = protocol.decode(line)
    name = protocol.identity(message)
    op = protocol.check(message)
    if op in ("search", "lines"):
        query = (protocol.LinesQuery if op == "lines" else protocol.Query)(message, _LIMITS)
        while not query.advance(20):
            pass
    elif op == "look":
        assert json.loads(protocol.encode({"id": name, "type": "look", **look(message, _LIMITS)}))
    elif op == "watch":
        assert protocol.every(message) > 0
        protocol.label(message)


def _service_seeds():
    asked = [
        {"op": "search", "id": 1, "game": "othello", "position": "f5d6c3", "depth": 3, "priority": 2, "label": "a"},
        {"id": "b", "game": "connect4", "positions": ["4453", ""], "exact": True, "progress": 0.5, "window": [-1, 1]},
        {"id": 2, "game": "2048", "position": "startpos", "layers": 1, "seed": 4, "evaluation": "rows:1,2,3,1,1,1"},
        {"id": 3, "game": "2048", "depth": 2, "depth_by_empty": [[2, 5], [5, 3]], "rules": {"spawn": "2:1"}},
        {"op": "lines", "id": 4, "game": "othello", "lines": "f5d6\n\nrubbish\n", "depth": 1, "format": "csv"},
        {"op": "look", "id": 5, "game": "othello", "board": "6x6", "move": "c2"},
        {"op": "look", "id": 6, "game": "2584", "move": "left", "seed": 3},
        {"op": "watch", "id": 7, "every": 0.5, "label": "a"},
        {"op": "cancel", "id": 7},
        {"op": "status"},
    ]
    lines = [json.dumps(message).encode() for message in asked]
    return [*lines, b"\n".join(lines) + b"\n"]


def _read_answers(data):
    """What a client by HTTP is sent, perhaps by another program: an answer, or ServiceError."""
    exchange, reply = HttpExchange(HttpAddress("host", 80, "", "token")), Reply(several=data[:1] == b"s")
    exchange.ask({"op": "search", "id": 1, "game": "othello"}, reply)
    exchange.feed(data[1:300])
    exchange.feed(data[300:])
    exchange.end()
    reply.result()


def _answer_seeds():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
    answers = [{"id": 0, "type": "answer", "index": i, "score": 3, "move": "d3"} for i in (1, 0)]
    done = {"id": 0, "type": "done", "state": "done", "answers": 2}
    lines = [json.dumps(message).encode() for message in (*answers, done)]
    return [b"s" + head + b"\n".join(lines) + b"\n", b"o" + head + b"\n".join(lines[1:])]


def _of_answers(data, rng):
    """Change the head, or a line of the body."""
    head, end, body = data.partition(b"\r\n\r\n")
    if rng.random() < 0.1:
        return mutation.of_bytes(data, rng)
    return head + end + mutation.of_json(body, rng)


def _read_address(data):
    address = HttpAddress.of(data.decode(errors="replace"))
    if address is not None:
        assert address.host
        assert address.request({"op": "watch", "every": 1}).startswith(b"GET ")


def _read_upload(data):
    """An uploaded file: its parts are whole lines in their order, and none is too long for the service."""
    following = 1
    for part in batch.parts_of(io.BytesIO(data), 3):
        assert part.first == following
        assert part.content.endswith(b"\n")
        following += part.content.count(b"\n")
        assert len(json.dumps(part.content.decode(errors="replace"))) <= Limits().line
    assert following >= data.count(b"\n") + 1


# --- programs ---


class _Searcher:
    """Answers with the first legal move."""

    def __init__(self, session):
        self._session = session

    def serves(self, options):
        return True

    def compile_all(self):
        """There is nothing to compile."""

    def under(self, options):
        return self

    def search(self, positions):
        engine = self._session.engine
        for position in positions:
            codes = engine.legal(position)
            move = engine.text(codes[0]) if codes else None
            yield Outcome("othello", "8x8", "", move, 2.0, "discs", moves=[{"move": move, "score": 2}], pv=[move])


class _Session:
    """What an Engine needs of a session; searches take no time."""

    cluster = types.SimpleNamespace(current=None, finish=lambda number: None)

    def __init__(self):
        self.interrupted = lambda: False
        self.engine: Engine

    def searcher(self, options):
        return _Searcher(self)

    def book(self, options):
        return types.SimpleNamespace(outcome=lambda position: None)


def _engine():
    session = _Session()
    session.engine = Engine(session, {"depth": 2}, lambda: False)
    return session.engine


def _lines_of(data):
    return [line.decode(errors="replace") for line in data.split(b"\n")[:60]]


def _talk_nboard(data):
    """A conversation: whatever is said, the position stays one of the game."""
    engine, said = _engine(), []
    program = nboard.NBoard(engine, said.append)
    for line in _lines_of(data):
        nboard.ends_search(line)
        program.take(line)
    _check(engine)
    assert all("\n" not in line or line.startswith("pong") for line in said)


def _talk_gtp(data):
    """The same; each command has one response."""
    engine = _engine()
    program = gtp.Gtp(engine)
    for line in _lines_of(data):
        found = program.answer(line)
        assert found is None or (found[0] in "=?" and found.endswith("\n\n"))
    _check(engine)


def _check(engine):
    over = engine.game.kind(engine.position.state, engine.rules) == END
    assert over != bool(legal_moves(engine.game, engine.position, engine.rules))


_BOARD = b"-" * 27 + b"O*" + b"-" * 6 + b"*O" + b"-" * 27
_GGF = b"(;GM[Othello]TI[15:00]TY[8]BO[8 %s *]B[F5//1.2]W[D6];)" % _BOARD
_NBOARD = b"nboard 2\nset depth 4\nset game %s\nmove C3//0.5\nhint 2\ngo\nanalyze\nping 7\nset contempt 3\nlearn" % _GGF
_GTP = b"1 protocol_version\nboardsize 6\nclear_board\nkomi 0\nplay b d2\ngenmove w\nundo\ntime_settings 60 5 1\n"
_GTP += b"time_left b 30 0\nreg_genmove b\nshowboard\nknown_command play\nfinal_score\nset_game Othello\nlist_commands"
_TOKENS = b"pass", b"black", b"w", b"d3", b"play ", b"genmove ", b"undo\n", b"boardsize ", b"go\n", b"move PA", b"hint "


def _nboard_seeds():
    return [_NBOARD, b"go\ngo\ngo\nhint\nping 1"]


def _gtp_seeds():
    return [_GTP, b"boardsize 4\n" + b"genmove b\ngenmove w\n" * 8 + b"final_score\nplay b pass\nquit"]


_SERVICE = "distsearch.server.protocol", "distsearch.server.look", "distsearch.api.declarations", "distsearch.api.board"
_TALK = functools.partial(mutation.of_bytes, tokens=_TOKENS)

TARGETS = {
    "rank-message": Target(
        _read_message, _message_seeds, ("distsearch.cluster.messages",), _of_message, refusals=(ValueError,)
    ),
    "service-line": Target(
        _read_lines, _service_seeds, (*_SERVICE, "distsearch.api.options", "distsearch.server.lines"), mutation.of_json
    ),
    "service-answer": Target(
        _read_answers, _answer_seeds, ("distsearch.server.exchange",), _of_answers, refusals=(ServiceError,)
    ),
    "service-address": Target(
        _read_address,
        lambda: [b"http://127.0.0.1:8080/#token=abc", b"http://host/a/b#x&token=1", b"/run/socket"],
        ("distsearch.server.exchange:HttpAddress",),
        refusals=(ServiceError,),
    ),
    "upload": Target(
        _read_upload, lambda: [b"4453\n11\n\n7", b"x" * 5000 + b"\n1\n"], ("distsearch.server.http.batch",), refusals=()
    ),
    "nboard": Target(
        _talk_nboard,
        _nboard_seeds,
        ("distsearch.programs.nboard", "distsearch.programs.engine", "distsearch.formats.ggf"),
        _TALK,
        refusals=(),
    ),
    "gtp": Target(_talk_gtp, _gtp_seeds, ("distsearch.programs.gtp", "distsearch.programs.engine"), _TALK, ()),
}
