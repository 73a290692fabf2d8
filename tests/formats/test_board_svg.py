"""Boards as SVG: well-formed, every piece where the board has it, scores on their squares."""

import xml.etree.ElementTree as ElementTree

import pytest

from distsearch import Board
from distsearch.formats.board_svg import STYLES, board_svg
from distsearch.formats.drawing import place_of

SPACE = "{http://www.w3.org/2000/svg}"
CELLS = [["X", "-", "O"], ["-", "X", "-"]]


def parsed(text):
    return ElementTree.fromstring(text)


def test_pieces_scores_and_names():
    svg = parsed(board_svg(CELLS, STYLES["othello"], 'a "title"', "abc", "12", {(0, 1): "+3", (1, 0): "<1"}, (0, 1)))
    assert svg.get("aria-label") == 'a "title"'
    circles = [(float(each.get("cx")), float(each.get("cy"))) for each in svg.iter(f"{SPACE}circle")]
    assert circles == [(40, 40), (120, 40), (80, 80)]
    texts = {each.text: (float(each.get("x")), float(each.get("y"))) for each in svg.iter(f"{SPACE}text")}
    assert texts == {
        "a": (40, 10),
        "b": (80, 10),
        "c": (120, 10),
        "1": (10, 40),
        "2": (10, 80),
        "+3": (80, 40),
        "<1": (40, 80),
    }
    marked = [each for each in svg.iter(f"{SPACE}rect") if each.get("fill") == "#ffe14d"]
    assert [(each.get("x"), each.get("y")) for each in marked] == [("60", "20")]


def test_names_have_the_colour_of_the_text_around_it():
    svg = parsed(Board("othello")._repr_html_())
    assert {each.get("fill") for each in svg.iter(f"{SPACE}text")} == {"currentColor"}


@pytest.mark.parametrize("value", [1, 2, 3, 4, 1024, 2048, 131072])
def test_every_tile_has_a_number(value):
    svg = parsed(board_svg([[".", str(value)]], STYLES["2048"], "board"))
    assert [each.text for each in svg.iter(f"{SPACE}text")] == [str(value)]


def test_where_a_move_puts_a_piece():
    cells = Board("connect4", "4453").cells
    assert place_of("connect4", "4", cells) == (3, 3)
    assert place_of("connect4", "1", cells) == (5, 0)
    assert place_of("connect4", "4", Board("connect4", "444444").cells) is None
    assert place_of("othello", "h1", []) == (0, 7)
    assert place_of("othello", "pass", []) is None
    assert place_of("2048", "left", []) is None
