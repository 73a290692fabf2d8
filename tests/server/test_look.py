"""What a client is told of a position without a search, against plain rules."""

import random

import pytest

from distsearch import games
from distsearch.core.errors import UserError
from distsearch.server.client import Client, ServiceError
from distsearch.server.limits import DEFAULTS
from distsearch.server.look import look
from distsearch.server.request import Refused

from ..games.sliding_twin import twin_of
from .fake_queue import FakeDesk
from .serving import Serving


def seen(game, **fields):
    return look({"game": game, **fields}, DEFAULTS)


def test_a_game_of_othello_goes_as_its_transcript(seed):
    rng, moves, move, now = random.Random(seed), "", None, seen("othello")
    while not now["over"]:
        if move != "pass":  # which a transcript does not have
            assert now == {**seen("othello", position=moves or "startpos"), "points": 0}
        squares = now["position"].split()
        assert squares == ["".join(map("".join, now["cells"])), now["side"]]
        move = rng.choice(now["moves"])
        now = seen("othello", position=now["position"], move=move)
        moves += move if move != "pass" else ""
    assert (now["side"], now["moves"]) == (None, [])
    discs = [sum(row.count(side) for row in now["cells"]) for side in "XO"]
    assert ("draw" in now["result"]) == (discs[0] == discs[1])
    drawn = [line.split()[1:] for line in now["drawing"].splitlines()[1:9]]
    assert drawn == now["cells"]


def test_connect4_is_won():
    now = seen("connect4", position="121212", move="1")
    assert [row[0] for row in now["cells"]] == ["-", "-", "X", "X", "X", "X"]
    assert (now["over"], now["result"]) == (True, "O loses to the opponent's 4th stone")
    assert seen("connect4", board="4x5")["moves"] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_tiles_slide_and_chance_adds_one(name, seed):
    rng, twin, now = random.Random(seed), twin_of(name, (4, 4)), seen(name, seed=seed)
    for _ in range(60):
        board = tuple(tuple(0 if tile == "." else int(tile) for tile in row) for row in now["cells"])
        assert now["moves"] == [move for move in ("left", "right", "up", "down") if twin.slid(board, move)[0] != board]
        if now["over"]:
            break
        move, drawn = rng.choice(now["moves"]), rng.randrange(1000)
        slid, points = twin.slid(board, move)
        now = seen(name, position=now["position"], move=move, seed=drawn)
        after = [0 if tile == "." else int(tile) for row in now["cells"] for tile in row]
        added = [(was, tile) for was, tile in zip(sum(slid, ()), after, strict=True) if was != tile]
        assert now["points"] == points
        assert [was for was, _ in added] == [0]
        assert added[0][1] in [tile for tile, _ in twin.tiles]
        assert (now["side"], now["result"]) == (None, None)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"game": "othello", "move": "a1"}, "move a1 is not legal here"),
        ({"game": "othello", "move": "z9"}, "z9"),
        ({"game": "chess"}, "chess"),
        ({"game": "othello", "position": "x"}, "position has 1 squares"),
        ({"game": "othello", "board": "99x1"}, "99x1"),
        ({"game": "othello", "rules": {"colour": "red"}}, "no rule colour"),
        ({"game": "2048", "seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_is_refused(fields, words):
    with pytest.raises(UserError, match=words):
        look(fields, DEFAULTS)
    with pytest.raises(Refused, match="more than 4096 characters"):
        seen("othello", position="f5" * 3000)


def test_it_is_told_over_the_socket(tmp_path):
    with Serving(FakeDesk(), tmp_path / "socket") as serving, Client(serving.path, timeout=60) as client:
        expected = seen("othello", position="f5d6c3", move="d3")
        assert client.look("othello", "f5d6c3", move="d3") == {"id": 1, "type": "look", **expected}
        with pytest.raises(ServiceError, match="not legal"):
            client.look("othello", move="a1")


def test_every_game_can_be_looked_at():
    for name in games.names():
        assert seen(name)["moves"]
