"""Recorded games drawn again: every position as the plain twins have it, and what is wrong with a file."""

import json

import pytest

from distsearch import games

from ..games.replay import path_to, twin
from .asking import ask, assert_refused

PLAYS = {
    "othello": ("othello", "--board", "4x4", "--depth", "2", "--games", "3", "--opponent", "random"),
    "connect4": ("connect4", "--board", "4x4", "--depth", "2", "--games", "2"),
    "2048": ("2048", "--board", "2x2", "--depth", "2", "--games", "2"),
    "2584": ("2584", "--board", "2x3", "--algorithm", "random", "--games", "2"),
}


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """``record(name)``: the path of a record of a game."""

    def of(name):
        path = tmp_path_factory.mktemp("games") / name
        assert ask("play", *PLAYS[name], "--record", path).status == 0
        return path

    return of


def positions(line):
    """Return the texts of all positions of a line of a record, by the twin."""
    plain = twin(line["game"], games.parse_board(line["board"]))
    position, found = plain.start(), []
    for move in path_to(plain, line["start"]) if "start" in line else ():
        position, _ = plain.play(position, move)
    for move in [*line["moves"].split(), None]:
        found.append(plain.text(position))
        if move is not None:
            position, _ = plain.play(position, move)
    return found


@pytest.mark.parametrize("name", PLAYS)
def test_every_position_is_that_of_the_twin(name, record):
    path = record(name)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    shown = ask("replay", path, "--json").results
    expected = [
        {"game": number, "move": at, "played": ["", *line["moves"].split()][at] or None, "position": text}
        for number, line in enumerate(lines, 1)
        for at, text in enumerate(positions(line))
    ]
    assert shown == expected
    assert ask("replay", path, "--json", "--game", "2", "--move", "3").results == [
        each for each in expected if (each["game"], each["move"]) == (2, 3)
    ]


def test_moves_are_told_as_when_the_game_was_watched(tmp_path):
    path, asked = tmp_path / "game", ("play", "othello", "--board", "4x4", "--algorithm", "random")
    watched = ask(*asked, "--watch", "--record", path).out.splitlines()
    replayed = ask("replay", path).out.splitlines()
    assert replayed[0].startswith(f"{path} line 1: othello 4x4, X random, O random, score ")
    assert replayed[1:] == watched[: len(replayed) - 1]
    assert watched[len(replayed) - 1].startswith("othello 4x4  1 game")


def test_one_position_is_drawn_alone(record):
    path = record("2048")
    header, *board = ask("replay", path, "--game", "1", "--move", "0").out.splitlines()
    assert header.startswith(f"{path} line 1: 2048 2x2, ")
    assert board == [". .", ". ."]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda line: {**line, "moves": "a1 " + line["moves"]}, ("line 1", "move 1, a1, is not legal")),
        (lambda line: {**line, "moves": "z9"}, ("line 1", "move 1")),
        (lambda line: {**line, "moves": line["moves"].rsplit(" ", 1)[0]}, ("line 1", "not over")),
        (lambda line: {**line, "score": line["score"] + 1}, ("line 1", "score", "not that of its moves")),
        (lambda line: {**line, "largest": 0}, ("line 1", "no largest tile")),
        (lambda line: {**line, "start": "nowhere"}, ("line 1", "position")),
        (lambda line: {**line, "start": 7}, ("line 1", "start is not a text")),
        (lambda line: {**line, "game": "chess"}, ("line 1", "no game 'chess'")),
        (lambda line: {**line, "board": "99x99"}, ("line 1", "board 99x99")),
        (lambda line: {**line, "empties": "both"}, ("line 1", "empties")),
        (lambda line: {"game": "othello"}, ("line 1", "board is not a text")),
        (lambda line: [], ("line 1", "not a game")),
    ],
)
def test_a_record_that_is_wrong_is_refused(change, words, record, tmp_path):
    path = tmp_path / "wrong"
    line = json.loads(record("othello").read_text().splitlines()[0])
    path.write_text(json.dumps(change(line)))
    assert_refused(ask("replay", path), "wrong", *words)


def test_files_that_hold_no_game_and_games_that_are_not_there(tmp_path, record):
    (tmp_path / "empty").touch()
    (tmp_path / "bytes").write_bytes(b"\xff\x00")
    assert_refused(ask("replay", tmp_path / "empty"), "empty holds no game")
    assert_refused(ask("replay", tmp_path / "bytes"), "bytes line 1 is not JSON")
    assert_refused(ask("replay", tmp_path / "missing"), "cannot read", "missing", "No such file")
    assert_refused(ask("replay", tmp_path), "cannot read")
    assert_refused(ask("replay", "a\0b"), "cannot read")
    path = record("connect4")
    assert_refused(ask("replay", path, "--game", "3"), "game 3", "2 games")
    assert_refused(ask("replay", path, "--game", "1", "--move", "99"), "move 99", "moves")
    assert_refused(ask("replay", path, "--game", "0"), "game 0")
    assert_refused(ask("replay"), "FILE")
