"""Files of weights."""

import json

import pytest

from distsearch import evaluation, games
from distsearch.core.errors import UserError
from distsearch.formats.weights_file import named

WEIGHTS = {"free": 270, "merges": 700.5, "order": 47, "order_power": 4, "sum": 11, "sum_power": 3.5}


def written(tmp_path, content):
    path = tmp_path / "weights.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return str(path)


def test_a_name_stays_what_it_is():
    assert [named(text, "2048") for text in ("rows", "rows:1,2", "")] == ["rows", "rows:1,2", ""]


@pytest.mark.parametrize("more", [{}, {"game": "2048", "seed": 4}], ids=str)
def test_weights_become_a_name(more, tmp_path):
    assert named(written(tmp_path, {"weights": WEIGHTS, **more}), "2048") == "rows:270,700.5,47,4,11,3.5"


def test_weights_of_a_sum_become_its_name(tmp_path):
    weights = {"monotonicity": 1, "smoothness": 1e-5, "free": 1000000}
    name = named(written(tmp_path, {"weights": weights}), "2048")
    assert name == "1*monotonicity+1e-05*smoothness+1000000*free"
    game = games.find("2048")
    assert evaluation.weights(game, name).by_name() == weights


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        ([], "has no weights"),
        ({}, "has no weights"),
        ({"weights": [1, 2, 3, 4, 5, 6]}, "has no weights"),
        ({"weights": WEIGHTS, "game": "2584"}, "for 2584, not for 2048"),
        ({"weights": {**WEIGHTS, "snake": 1}}, "and no others"),
        ({"weights": {"order": 1, "snake": 1}}, "and no others"),
        ({"weights": {}}, "and no others"),
        ({"weights": {"free": 2e9, "snake": 1}}, "above 0"),
        ({"weights": dict.fromkeys(list(WEIGHTS)[:5], 1)}, "and no others"),
        *(({"weights": {**WEIGHTS, "sum": wrong}}, "sum is not a number") for wrong in ("1", None, True, [1], 1e301)),
        (b'{"weights": ' + json.dumps({**WEIGHTS, "sum": float("nan")}).encode() + b"}", "sum is not a number"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_refused(content, message, tmp_path):
    path = written(tmp_path, content)
    with pytest.raises(UserError, match=message) as refused:
        named(path, "2048")
    assert "weights.json" in str(refused.value)
