"""Lines that a client of the service may send, at random, each with what the model must know of it."""

import json

from hypothesis import strategies as st

from .dialogue import Asked, Line
from .test_protocol import BROKEN, WRONG

LINE = 4096  # bytes that the service takes
IDS = st.sampled_from([1, 2, 3, 4, "1", "two", "3", -(10**18)])
FOUR = {"game": "connect4", "board": "4x4"}
FOUR_TEXTS = ("1122", "11223434", "12341234", "1123", "4433", "42424", "2113", "3")
OTHELLO_TEXTS = ("b1", "b1a1", "b1a1a2")
TILES = ("2,4,8,16,0,4,8,2,0,2,4,8,0,0,2,4", "2" + ",0" * 15, "4" + ",0" * 14 + ",2")
BAD_TEXTS = "nonsense", "9", "4444444"
SHORT = [  # fields of searches that end by themselves, and positions for them
    ({**FOUR, "exact": True}, FOUR_TEXTS),
    ({**FOUR, "depth": 3}, FOUR_TEXTS),
    ({**FOUR, "time": 0.01}, FOUR_TEXTS),
    ({**FOUR, "nodes": 200}, FOUR_TEXTS),
    ({"game": "othello", "board": "4x4", "depth": 4}, OTHELLO_TEXTS),
    ({"game": "2048", "depth": 1, "evaluation": "rows"}, TILES),
    ({"game": "2048", "algorithm": "averaged", "depth": 1, "runs": 2, "evaluation": "rows"}, TILES),
]
LONG = {"game": "othello", "exact": True}  # takes years
LONG_TEXTS = "f5", "f5d6", "f5d6c3"
DOOMED = {"game": "othello", "board": "4x4", "evaluation": "patterns", "depth": 3}
BY_LINES = [SHORT[0], SHORT[1], SHORT[5]]
SCORES: dict[str, float] = {}  # exact ones of FOUR_TEXTS, once they are known

priorities = st.none() | st.integers(-10, 10)
progresses = st.sampled_from([None, None, 0.01, 0.1])


def line(act, fields, **known):
    """A Line of a message's fields, of which those that are None are left out."""
    message = {name: value for name, value in fields.items() if value is not None}
    return Line(json.dumps(message).encode(), act, fields.get("id"), **known)


@st.composite
def searches(draw, name=IDS):
    """A search that ends by itself."""
    how, texts = draw(st.sampled_from(SHORT))
    asked = draw(st.lists(st.sampled_from(texts), min_size=1, max_size=draw(st.sampled_from([1, 3, 30]))))
    where = {"position": asked[0]} if len(asked) == 1 and draw(st.booleans()) else {"positions": asked}
    progress = draw(progresses)
    fields = {"id": draw(name), **how, **where, "priority": draw(priorities), "progress": progress}
    scores = SCORES if "exact" in how else {}
    known = Asked(texts=tuple(asked), good=tuple(range(len(asked))), scores=scores, progress=progress is not None)
    return line("request", fields, asked=known)


@st.composite
def long_searches(draw, name=IDS):
    """A search that must be cancelled."""
    text, progress = draw(st.sampled_from(LONG_TEXTS)), draw(progresses)
    fields = {"op": draw(st.sampled_from([None, "search"])), "id": draw(name), **LONG, "position": text}
    known = Asked(texts=(text,), good=(0,), progress=progress is not None, long=True)
    return line("request", {**fields, "priority": draw(priorities), "progress": progress}, asked=known)


@st.composite
def doomed_searches(draw):
    """A search that fails once it begins, by the client's mistake."""
    return line("request", {"id": draw(IDS), **DOOMED}, asked=Asked(texts=("startpos",), good=(0,), fails=True))


@st.composite
def requests_for_lines(draw):
    """Some lines of positions, also bad ones."""
    how, texts = draw(st.sampled_from(BY_LINES))
    asked = draw(st.lists(st.sampled_from(texts + BAD_TEXTS[:1]), min_size=1, max_size=12))
    form = draw(st.sampled_from([None, "plain", "jsonl"]))
    fields = {"op": "lines", "id": draw(IDS), **how, "lines": "\n".join(asked), "format": form}
    good = tuple(index for index, text in enumerate(asked) if text not in BAD_TEXTS)
    return line("request", fields, asked=Asked("lines", tuple(asked), good, plain=form == "plain"))


@st.composite
def watches(draw):
    """A watch of the cluster."""
    fields = {"op": "watch", "id": draw(IDS), "every": draw(st.sampled_from([None, 0.1, 0.1]))}
    return line("request", fields, asked=Asked("cluster", long=True))


@st.composite
def questions(draw):
    """What is answered at once: a status, or a look."""
    if draw(st.booleans()):
        return line("reply", {"op": "status", "id": draw(st.none() | IDS)}, reply="status")
    text = draw(st.sampled_from(FOUR_TEXTS))
    return line("reply", {"op": "look", "id": draw(IDS), **FOUR, "position": text}, reply="look")


def cancels(name=IDS):
    """A cancel of a request, of whatever client."""
    return name.map(lambda name: line("cancel", {"op": "cancel", "id": name}))


def _refused(fields, code):
    """The Line of a message that is refused."""
    name = fields.get("id")
    named = type(name) is int or isinstance(name, str) and len(name) <= 200
    # an id that is taken, or the end of the service, may come before what else is wrong with a search
    codes = frozenset({code, "duplicate_id", "shutting_down"})
    return Line(json.dumps(fields).encode(), "error", name if named else None, codes=codes)


WRONG_LINES = [
    *(Line(data, "error", codes=frozenset({code})) for data, code in BROKEN if data),
    *(_refused({"id": 1, "game": "connect4", **fields}, code) for fields, code, _ in WRONG),
    _refused({"op": "look", "id": 2, **FOUR, "position": "9"}, "bad_field"),
    _refused({"id": 2, **FOUR, "positions": ["1122"] * 7 + ["9"]}, "bad_field"),
    _refused({"op": "cancel"}, "bad_field"),
]
WRONG_LINES = [each for each in WRONG_LINES if len(each.data) <= LINE]
TOO_LONG = Line(b"x" * (LINE + 1), "error", codes=frozenset({"too_long"}))
BLANK = [Line(data, "blank") for data in (b"", b"  \t", b"\r")]
NO_OBJECTS = "bad_json", "not_object", "bad_field", "unknown_op", "unknown_field"


def garbage(data):
    """The Line of any bytes without a line break that are no sound message."""
    return Line(data, "error", codes=frozenset(NO_OBJECTS)) if data.strip() else Line(data, "blank")


def malformed():
    """What is no sound message, or nothing."""
    some_bytes = st.binary(max_size=12).map(lambda data: garbage(data.replace(b"\n", b"")))
    return st.sampled_from([*WRONG_LINES, TOO_LONG, *BLANK]) | some_bytes


def lines():
    """Any of them."""
    sound = searches(), searches(), long_searches(), requests_for_lines(), doomed_searches(), watches()
    return st.one_of(*sound, questions(), cancels(), malformed())
