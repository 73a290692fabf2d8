"""Answers in notebooks and for rich."""

import re

import pytest

from distsearch.api.result import Outcome
from distsearch.api.session import Session


@pytest.fixture(scope="module")
def session():
    with Session(table=1, book="none") as session:
        yield session


def test_an_answer_has_the_board_with_scores_on_the_squares(session):
    found = session.search("othello", board="4x4", exact=True, all_moves=True)
    html = found._repr_html_()
    assert html.count("<circle") == 4
    shown = re.findall(r">([+-]\d+)</text>", html)
    assert sorted(map(int, shown)) == sorted(each["score"] for each in found.moves)
    for text in (found.move, "-10 discs", found.meaning, " ".join(found.pv)):
        assert text in html
    assert html.count("#ffe14d") == 1


def test_an_answer_without_other_moves_has_that_of_the_best(session):
    found = session.search("connect4", "4453222", exact=True)
    html = found._repr_html_()
    assert html.count("<circle") == 7
    assert re.findall(r">(\+10)</text>", html) == ["+10"]


def test_against_chance(session):
    found = session.search("2048", "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128", evaluation="rows", depth=3, all_moves=True)
    html = found._repr_html_()
    assert ">128</text>" in html
    assert all(each["move"] in html for each in found.moves)


@pytest.mark.parametrize("score", [None, 3.5])
def test_an_answer_that_knows_little(score):
    found = Outcome("othello", "8x8", "f5d6", "c3" if score else None, score, "discs", complete=False)
    assert "stopped" in found._repr_html_()


def test_rich_shows_it_in_short(session):
    found = session.search("othello", board="4x4", exact=True)
    facts = dict(found.__rich_repr__())
    assert facts["game"] == "othello 4x4"
    assert (facts["best_move"], facts["score"]) == (found.move, "-10 discs")
    rich = pytest.importorskip("rich.pretty", reason="the extra watch is not installed")
    assert rich.pretty_repr(found).startswith("Outcome(")


def test_text_that_html_would_take_for_markup():
    found = Outcome("othello", "8x8", "startpos", "f5", 0, "discs", meaning="<b>draw</b>")
    assert "<b>" not in found._repr_html_()
