"""What scores say in words: by games that are played to their end, and by evaluations of known units."""

import re

import pytest

from distsearch import evaluation, games
from distsearch.api import meaning
from distsearch.api.session import Session
from distsearch.games import connect4, othello
from distsearch.games.interface import END, Position, as_state, step
from distsearch.games.random_play import random_position


@pytest.mark.parametrize("board", ["6x7", "5x5"])
def test_connect4_names_the_stone_that_wins(board, rng):
    """The line of an exact search, played to its end, shows which stone that was."""
    rules = connect4.rules(games.parse_board(board))
    squares = int(rules[connect4.SQUARES])
    with Session(table=1) as session:
        for _ in range(12):
            position = random_position(connect4, rules, range(squares - 16, squares - 4), rng)
            found = session.search("connect4", connect4.text(position, rules), board=board, exact=True)
            at = connect4.parse(found.position, rules)
            side = at.side
            for move in found.pv:
                at = step(connect4, at, rules, connect4.parse_move(move, rules))
            assert connect4.kind(at.state, rules) == END
            stones = squares - connect4.moves_left(at.state, rules)
            if connect4.final(at.state, rules) == 0:
                assert found.meaning == "a draw"
            else:  # the side that moved last has won
                number = stones - stones // 2 if at.side == 1 else stones // 2
                won = "wins with its" if at.side != side else "loses to the opponent's"
                assert re.fullmatch(rf"{won} {number}(st|nd|rd|th) stone", found.meaning), found.position


@pytest.mark.parametrize(
    ("score", "words"), [(12, "wins by 12 discs"), (1, "wins by 1 disc"), (0, "a draw"), (-64, "loses by 64 discs")]
)
def test_othello_names_the_discs(score, words):
    rules = othello.rules()
    assert meaning.of_value(othello, othello.start(rules), rules, score) == words


def test_a_game_without_words_of_its_own_says_who_wins():
    class Plain:
        """A game without ``describe_score``."""

    at = Position(as_state((0,)))
    found = [meaning.of_value(Plain, at, othello.rules(), score) for score in (3, 0, -3)]
    assert found == ["wins", "a draw", "loses"]


@pytest.mark.parametrize(
    ("name", "score", "selective", "words"),
    [
        ("patterns", -352, False, "-3.5 discs expected"),
        ("patterns", 0, True, "+0.0 discs expected"),
        ("patterns", 6412, False, "wins"),
        ("patterns", -6412, True, "loses most likely"),
        ("complex", 12, False, None),
        ("complex", 112, False, "wins"),
        ("discs", 5, False, None),
    ],
)
def test_an_evaluation_in_points_of_the_score_says_what_is_expected(name, score, selective, words):
    rules = othello.rules()
    chosen = evaluation.find(othello, name, rules)
    start = othello.start(rules)
    assert meaning.of_evaluated(othello, start, rules, chosen, score, 9, selective) == words


def test_a_network_says_how_many_points_are_still_to_come():
    with Session(table=1) as session:
        found = session.search("2048", layers=0)
        assert found.meaning == f"{found.score:,.0f} more points expected"
        assert session.search("2048", layers=0, evaluation="rows").meaning is None
        assert "meaning" not in session.search("2048", layers=0, evaluation="rows").to_dict()
        assert session.search("2048", depth=2, algorithm="expectiminimax").meaning is None


def test_what_cannot_be_told_apart_is_said_and_the_middle_goes_first():
    with Session(table=1, book="none") as session:
        found = session.search("connect4", depth=4)
        threat = session.search("connect4", "44551", depth=5)  # 3 or 6 stops three in a row with both ends open
    assert found.meaning.startswith("undecided: no win is forced within 4 plies")
    assert (found.move, found.score, found.proved) == ("4", 0, False)
    assert f"meaning    {found.meaning}" in found.to_text()
    assert threat.meaning.startswith("undecided")
    assert threat.move in ("3", "6")
