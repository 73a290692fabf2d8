"""Lines cut, read, checked and written: what is accepted, and what every other line is answered."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch.api.options import DEFAULT_SECONDS
from distsearch.core.errors import UserError
from distsearch.games import g2048
from distsearch.server import protocol
from distsearch.server.limits import DEFAULTS
from distsearch.server.protocol import Query, Splitter, check, decode, encode, identity
from distsearch.server.request import Refused
from distsearch.server.schema import ANSWER, CANCEL, ERRORS, REQUESTS, SEARCH, STATUS

from .fake_queue import outcome
from .serving import strict


def refusal(line):
    """What is wrong with a line (bytes) of a search: its code and text."""
    with pytest.raises(UserError) as refused:
        read(line)
    code = getattr(refused.value, "code", "bad_field")
    assert code in ERRORS
    return code, str(refused.value)


def read(line):
    """The Query in a line (bytes), with its positions."""
    message = decode(line)
    assert check(message) == "search"
    query = Query(message, DEFAULTS)
    while not query.advance(2):
        pass
    return query


def search(**fields):
    """A line that asks for a search."""
    return json.dumps({"id": 1, "game": "connect4", **fields}).encode()


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_are_cut_the_same_wherever_the_pieces_end(lines, data):
    stream, longest = b"".join(line + b"\n" for line in lines), 8
    splitter, found = Splitter(longest), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == [line if len(line) <= longest else None for line in lines]
    assert splitter.end() == []


def test_a_last_line_needs_no_line_break():
    splitter = Splitter(8)
    assert splitter.feed(b"a\nbc") == [b"a"]
    assert splitter.end() == [b"bc"]
    assert splitter.end() == []


def test_too_long_a_line_is_told_at_once_and_once():
    splitter = Splitter(8)
    assert splitter.feed(b"123456789") == [None]
    assert splitter.feed(b"x" * 100) == []
    assert splitter.end() == []
    assert splitter.feed(b"\n12345678\n") == [b"12345678"]


BROKEN = [
    (b"{", "bad_json"),
    (b"", "bad_json"),
    (b"\xff{}", "bad_json"),
    (b"\xef\xbb\xbf{}", "bad_json"),
    (b"\xed\xa0\x80", "bad_json"),
    (b'{"id": "\\ud800"}', "bad_json"),
    (b'{"\\udc00": 1}', "bad_json"),
    (b'{"id": 1, "id": 2}', "bad_json"),
    (b'{"a": {"b": 1, "b": 1}}', "bad_json"),
    (b'{"time": NaN}', "bad_json"),
    (b'{"time": -Infinity}', "bad_json"),
    (b'{"time": 1e999}', "bad_json"),
    (b'{"id": ' + b"9" * 21 + b"}", "bad_json"),
    (b'{"id": ' + b"9" * 500_000 + b"}", "bad_json"),
    (b"[" * 500_000, "bad_json"),
    (b'{"a":' * 100_000, "bad_json"),
    (b"{} {}", "bad_json"),
    (b'{"a": "\x00"}', "bad_json"),
    (b"{'id': 1}", "bad_json"),
    (b"[]", "not_object"),
    (b"null", "not_object"),
    (b'"text"', "not_object"),
    (b"17", "not_object"),
    (b"true", "not_object"),
]


@pytest.mark.parametrize(("line", "code"), BROKEN, ids=lambda value: str(value)[:30])
def test_what_is_no_object_is_refused(line, code):
    assert refusal(line)[0] == code


def test_the_whole_of_unicode_but_halves_of_pairs_is_text():
    assert decode(b'{"id": "\\ud83d\\ude00"}') == {"id": "\U0001f600"}
    assert decode('{"id": "é😀"}'.encode()) == {"id": "é😀"}


WRONG = [  # fields, code, and what the message has to name
    ({"op": "quit"}, "unknown_op", "op 'quit' is not search, lines, look, watch, cancel, status"),
    ({"op": 3}, "bad_field", "op is not a string"),
    ({"komi": 7}, "unknown_field", "search has no field 'komi'"),
    ({"rules": {"empties": 3}}, "bad_field", "rules is not texts by name"),
    ({"rules": "empties"}, "bad_field", "rules is not texts by name"),
    ({"depht": 3}, "unknown_field", "search has no field 'depht'; did you mean depth?"),
    ({"prefetch": 2}, "unknown_field", "'prefetch'"),
    ({"id": None}, "bad_field", "id is not"),
    ({"id": True}, "bad_field", "id is not"),
    ({"id": 1.0}, "bad_field", "id is not"),
    ({"id": "x" * 201}, "bad_field", "id is not"),
    ({"game": 4}, "bad_field", "game is not a string"),
    ({"game": "chess"}, "bad_field", "no game 'chess'"),
    ({"game": "2048", "exact": True}, "bad_field", "exact is for games of two players"),
    ({"game": "2048", "nodes": 9}, "bad_field", "2048 goes without nodes"),
    ({"game": "2048", "seed": -1}, "bad_field", "seed -1"),
    ({"seed": 1}, "bad_field", "seed goes with startpos of a game against chance"),
    ({"depth": 3, "layers": 1}, "bad_field", "layers is for games against chance"),
    ({"game": "2048", "depth": 1, "depth_by_empty": [[1, 2, 3]]}, "bad_field", "a list of pairs of integers"),
    ({"game": "2048", "depth": 9, "algorithm": "minimax", "par_depth": 5}, "bad_field", "par_depth 5 is more than 4"),
    ({"game": "2048", "evaluation": "/nowhere/a.json"}, "bad_field", "cannot read /nowhere/a.json"),
    ({"depth": True}, "bad_field", "depth is not an integer"),
    ({"depth": 3.0}, "bad_field", "depth is not an integer"),
    ({"depth": "3"}, "bad_field", "depth is not an integer"),
    ({"depth": 0}, "bad_field", "depth 0"),
    ({"time": False}, "bad_field", "time is not a number"),
    ({"time": -1}, "bad_field", "time -1"),
    ({"nodes": 10**19}, "bad_field", "nodes"),
    ({"exact": 1}, "bad_field", "exact is not true or false"),
    ({"exact": True, "depth": 3}, "bad_field", "exact goes without"),
    ({"window": [-1, 1]}, "bad_field", "window goes with"),
    ({"window": [1], "exact": True}, "bad_field", "window is not a list of two integers"),
    ({"window": [1, -1], "exact": True}, "bad_field", "the lower one first"),
    ({"board": "6"}, "bad_field", "rows x columns"),
    ({"board": [6, 7]}, "bad_field", "board is not a string"),
    ({"empties": "none"}, "bad_field", "empties is for othello, not for connect4"),
    ({"load_factor": 0}, "bad_field", "load-factor"),
    ({"load_factor": 1001}, "bad_field", "load_factor 1001 is more than 1000"),
    ({"algorithm": "best"}, "bad_field", "algorithm 'best'"),
    ({"priority": 11}, "bad_field", "priority 11"),
    ({"priority": 0.5}, "bad_field", "priority is not an integer"),
    ({"progress": 0}, "bad_field", "progress 0"),
    ({"progress": True}, "bad_field", "progress is not a number"),
    ({"position": ["4"]}, "bad_field", "position is not a string"),
    ({"position": "9"}, "bad_field", "move '9'"),
    ({"position": "4" * 5000}, "bad_field", "4096 characters"),
    ({"position": "4", "positions": ["4"]}, "bad_field", "exclude each other"),
    ({"positions": "4"}, "bad_field", "positions is not a list of strings"),
    ({"positions": ["4", 4]}, "bad_field", "positions is not a list of strings"),
    ({"positions": []}, "bad_field", "positions is empty"),
    ({"positions": ["4", "44", "4444444"]}, "bad_field", "position 2: "),
    ({"positions": [""] * 10_001}, "too_many_positions", "10001 positions; at most 10000"),
]


@pytest.mark.parametrize(("fields", "code", "named"), WRONG, ids=lambda value: str(value)[:40])
def test_what_makes_no_sense_is_refused_by_name(fields, code, named):
    found, text = refusal(search(**fields))
    assert found == code
    assert named in text
    assert len(text) < 300


@pytest.mark.parametrize("field", [field.name for field in SEARCH if field.required])
def test_what_is_needed_is_missed(field):
    message = {"id": 1, "game": "connect4"}
    del message[field]
    assert refusal(json.dumps(message).encode()) == ("bad_field", f"{field} is missing")


def test_a_search_as_asked():
    query = read(search(id="a", positions=["4", "44"], depth=3, load_factor=2, priority=-10, progress=0.5))
    assert (query.id, query.priority, query.progress) == ("a", -10, 0.5)
    assert (query.options.game, query.options.depth, query.options.load_factor) == ("connect4", 3, 2)
    assert [position.side for position in query.positions] == [1, 0]


def test_a_search_of_few_words_is_one_of_the_command_line():
    query = read(search())
    assert (query.options.time, query.options.board, len(query.positions)) == (DEFAULT_SECONDS, (6, 7), 1)
    assert (query.priority, query.progress) == (0, None)
    assert read(search(exact=True, window=[-1, 1])).options.window == (-1, 1)
    assert read(search(exact=True)).options.time is None
    assert read(json.dumps({"id": 1, "game": "othello", "empties": "none"}).encode()).options.rules == {
        "empties": "none"
    }


def test_a_search_against_chance_as_asked():
    tiles = ",".join("2" * 16)
    asked = {"id": 1, "game": "2048", "positions": ["startpos", tiles], "seed": 5, "depth": 3, "spawn": "2:1"}
    query, same = (read(json.dumps({**asked, **more}).encode()) for more in ({}, {"depth_by_empty": [[3, 5], [6, 4]]}))
    assert (query.options.rules, query.options.seed) == ({"spawn": "2:1"}, None)
    assert [sum(map(int, g2048.text(each, g2048.rules()).split(","))) for each in query.positions] == [4, 32]
    assert query.positions == same.positions
    assert same.options.depth_by_empty == ((3, 5), (6, 4))
    sampled = read(json.dumps({"id": 1, "game": "2048", "position": tiles, "algorithm": "ida", "seed": 5}).encode())
    assert sampled.options.seed == 5


def test_positions_are_read_a_few_at_a_time():
    query = Query(decode(search(positions=["4"] * 5)), DEFAULTS)
    assert [query.advance(2) for _ in range(3)] == [False, False, True]
    assert len(query.positions) == 5


def test_every_option_of_a_search_can_be_given():
    texts = {"text": "?", "integer": 1, "number": 1, "boolean": True, "id": 1, "texts": ["?"], "window": [0, 1]}
    texts |= {"rules": {"empties": "none"}, "pairs": [[1, 2]]}
    assert {field.type for table in REQUESTS.values() for field in table} <= protocol.TYPES.keys()
    for table in (SEARCH, CANCEL, STATUS):
        op = {SEARCH: "search", CANCEL: "cancel", STATUS: "status"}[table]
        assert check({**{field.name: texts[field.type] for field in table}, "op": op}) == op


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ({}, None),
        ({"id": 3}, 3),
        ({"id": "3"}, "3"),
        ({"id": True}, None),
        ({"id": [3]}, None),
        ({"id": "x" * 999}, None),
    ],
    ids=str,
)
def test_a_refused_message_is_named_if_it_can_be(message, name):
    assert identity(message) == name


def test_an_answer_has_the_fields_of_the_reference():
    known = {"selective": 0.9, "rank_cut": 0.9, "meaning": "wins by 1 disc", "book": "book.npz", "asked": "f5d6"}
    known |= {"runs": 4, "width": 3, "goals": 1, "seed": 0, "chance_to_move": True, "pruning": "none", "par_depth": 2}
    known |= {"jobs_used": 1, "jobs_wasted": 0, "jobs_cut": 0, "gpu_seconds": 0.5}
    found = protocol.answer(7, 2, outcome(moves=[{"move": "d3", "score": 1}], **known))
    assert list(found)[:3] == ["id", "type", "index"]
    assert found.keys() == {field.name for field in ANSWER}
    assert protocol.progress(7, 2, outcome())["complete"] is False


def test_json_has_no_nan():
    found = outcome(seconds=math.inf, per_worker=[{"busy": math.nan}])
    line = encode(protocol.answer(1, 0, found))
    assert line.count(b"\n") == 1
    assert strict(line)["seconds"] is None
    assert strict(line)["per_worker"] == [{"busy": None}]
    assert strict(line)["score"] == 1


def test_texts_of_errors_are_one_line():
    assert protocol.error(None, "internal", "a\nb\x00")["error"]["message"] == "a b?"
    assert "error" not in protocol.done(1, "cancelled", 0, "")
    assert protocol.done(1, "failed", 0, "no memory")["error"] == {"code": "internal", "message": "no memory"}
    refused = protocol.done(1, "refused", 0, "no such weights")
    assert (refused["state"], refused["error"]["code"]) == ("failed", "bad_field")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda x: st.lists(x) | st.dictionaries(st.text(max_size=5), x),
    max_leaves=4,
)


@given(
    st.dictionaries(st.sampled_from([field.name for field in SEARCH]) | st.text(), JSON),
    st.fixed_dictionaries({}, optional={"id": st.just(1), "game": st.sampled_from(["connect4", "othello"])}),
)
def test_anything_is_read_or_refused(message, sound):
    line = json.dumps({**message, **sound}).encode()
    try:
        message = decode(line)
        if check(message) == "search":
            Query(message, DEFAULTS).advance(1)
    except UserError as refused:
        encode(protocol.error(identity(message), getattr(refused, "code", "bad_field"), str(refused)))


@given(st.binary())
def test_any_bytes_are_read_or_refused(line):
    try:
        assert isinstance(decode(line), dict)
    except Refused as refused:
        assert refused.code in ("bad_json", "not_object")
