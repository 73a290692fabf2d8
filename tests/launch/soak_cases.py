"""What the clients of a soak ask, and what they must hear: searches with their scores, and lines that make no sense."""

import json
from typing import NamedTuple

from distsearch.games import connect4, othello
from distsearch.games.interface import legal_moves
from distsearch.games.random_play import random_positions

_WINDOW = -1, 1


class Variant(NamedTuple):
    """Options for a search.

    fields: of the message, all but its position; expected: a function that takes the number of a text and an answer
    (dict) and returns what is wrong with it, or None.
    """

    fields: dict
    expected: object


class Family(NamedTuple):
    """Positions as texts, and the variants that each of them is asked under."""

    texts: list
    variants: list


def families(session, rng, count):
    """Return Families of ``count`` positions each; what they must score is what ``session`` says, one rank alone."""
    return [
        _family(
            session,
            connect4,
            random_positions(connect4, connect4.rules(), range(22, 34), count, rng),
            [{"exact": True}, {"exact": True, "all_moves": True}, {"exact": True, "window": list(_WINDOW)}],
        ),
        _family(
            session,
            connect4,
            random_positions(connect4, connect4.rules(), range(8, 20), count, rng),
            [{"depth": 5}, {"depth": 8}, {"nodes": 3000}, {"time": 0.02}],
        ),
        _family(
            session,
            othello,
            random_positions(othello, othello.rules(), range(50, 53), count, rng),
            [{"exact": True}, {"exact": True, "empties": "none"}, {"nodes": 5000}],
        ),
        _family(
            session,
            othello,
            random_positions(othello, othello.rules(), range(10, 40), count, rng),
            [
                {"depth": 4},
                {"depth": 4, "evaluation": "static"},
                {"depth": 5, "evaluation": "static"},
                {"depth": 3, "ordering": "static", "all_moves": True},
                {"time": 0.03, "evaluation": "static"},
            ],
        ),
    ]


def _family(session, game, positions, options):
    texts = [game.text(position, game.rules()) for position in positions]
    legal = [{game.move_text(m, game.rules()) for m in legal_moves(game, each, game.rules())} for each in positions]
    variants = [
        Variant({"game": game.NAME, **each}, _expected(session, game.NAME, texts, legal, each)) for each in options
    ]
    return Family(texts, variants)


def _expected(session, game, texts, legal, options):
    if "time" in options:
        return lambda number, answer: _unlike(answer, complete=True) or _not_among(legal[number], answer)
    if "nodes" in options:
        return _Repeats()
    limits = {name: value for name, value in options.items() if name not in ("window", "all_moves")}
    outcomes = [session.search(game, text, all_moves=True, **limits) for text in texts]

    def wrong(number, answer):
        outcome = outcomes[number]
        best = {each["move"] for each in outcome.moves if each["score"] == outcome.score}
        score, bound = _cut(outcome.score) if "window" in options else (outcome.score, "exact")
        return (
            _unlike(answer, score=score, bound=bound, complete=True, unit=outcome.unit)
            or "exact" in options
            and _unlike(answer, proved=bound == "exact")
            or options.get("all_moves")
            and _unlike(answer, moves=outcome.moves)
            or _not_among(best if bound == "exact" else legal[number], answer)
        )

    return wrong


class _Repeats:
    """A search of so many nodes repeats itself: the first answer is what the others must be."""

    def __init__(self):
        self._first = {}

    def __call__(self, number, answer):
        names = "score", "move", "depth", "nodes", "proved", "complete"
        first = self._first.setdefault(number, {name: answer[name] for name in names})
        return _unlike(answer, **first)


def _cut(score):
    low, high = _WINDOW
    return (low, "upper") if score <= low else (high, "lower") if score >= high else (score, "exact")


def _unlike(answer, **expected):
    for name, value in expected.items():
        if answer.get(name) != value:
            return f"{name} is {answer.get(name)}, not {value}"
    return None


def _not_among(moves, answer):
    return None if answer["move"] in moves else f"move is {answer['move']}, not of {sorted(moves)}"


def malformed(rng):
    """Return (line, id, code): bytes that make no sense, and the error that must answer them."""
    asked = {"id": "bad", "game": "connect4"}
    told = [
        ({**asked, "colour": 1}, "unknown_field"),
        ({**asked, "depth": "9"}, "bad_field"),
        ({**asked, "depth": 0}, "bad_field"),
        ({**asked, "game": "draughts"}, "bad_field"),
        ({**asked, "position": "1111111"}, "bad_field"),
        ({**asked, "positions": []}, "bad_field"),
        ({**asked, "exact": True, "depth": 3}, "bad_field"),
        ({**asked, "priority": 11}, "bad_field"),
        ({**asked, "position": "4" * 5000}, "bad_field"),
        ({**asked, "board": "63x32"}, "bad_field"),
        ({**asked, "positions": ["4"] * 10_001}, "too_many_positions"),
        ({"id": "bad", "op": "dance"}, "unknown_op"),
        ({"op": "cancel", "id": "bad"}, "unknown_id"),
        ({"op": "cancel", "id": "bad", "game": "x"}, "unknown_field"),
        ({"id": "bad"}, "bad_field"),
    ]
    untold = [
        (b'{"id": "bad", "game": ', "bad_json"),
        (b"\xff\xfe{}", "bad_json"),
        (b'["id"]', "not_object"),
        (b"7", "not_object"),
        (b'{"id": "bad", "id": "bad"}', "bad_json"),
        (b'{"id": NaN}', "bad_json"),
        (b'{"id": ' + b"7" * 5000 + b"}", "bad_json"),
        (b"[" * 100_000, "bad_json"),
        (b"\0" * 100, "bad_json"),
        (b'{"id": "bad", "game": "\\ud800"}', "bad_json"),
        (b"x" * (1 << 21), "too_long"),
        (b"!" + rng.randbytes(200).replace(b"\n", b"?"), "bad_json"),
    ]
    if rng.random() < len(told) / (len(told) + len(untold)):
        message, code = rng.choice(told)
        return json.dumps(message).encode(), "bad", code
    line, code = rng.choice(untold)
    return line, None, code
