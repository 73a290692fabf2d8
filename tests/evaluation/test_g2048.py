"""The reports' evaluations of 2048 boards, on boards made by hand."""

import pytest

from distsearch import evaluation, games

GAME = games.find("2048")
EMPTY = ",".join("0" * 16)
STAIRS = "8,4,2,0,4,2,0,0,2,0,0,0,0,0,0,2"
MIXED = "2,2,4,8,0,0,0,0,2,0,2,4,4,4,8,0"


def value(name, text, board=None):
    rules = GAME.rules(board)
    found = evaluation.find(GAME, name, rules)
    return found.function(GAME.parse(text, rules).state, rules, found.tables)


@pytest.mark.parametrize(("text", "expected"), [(STAIRS, 43.03327974844231), (MIXED, 22.183385567036588)])
def test_haskell_by_published_values(text, expected):
    assert value("haskell", text) == pytest.approx(expected, rel=1e-14)


def test_haskell_of_an_empty_board():
    assert value("haskell", EMPTY) == pytest.approx(24 + 0.15 * (12 * 11 // 2) * 2 + 1.2 * 16)


def test_haskell_rewards_2048_and_no_more():
    with_2048, with_4096 = (value("haskell", EMPTY.replace("0", tile, 1)) for tile in ("2048", "4096"))
    assert with_2048 > 9998.0 * 99999999 > with_4096


@pytest.mark.parametrize(("text", "expected"), [(EMPTY, 16), (STAIRS, 9), (MIXED, 6)])
def test_free_counts_empty_cells(text, expected):
    assert value("free", text) == expected


def test_free_knows_the_board():
    assert value("free", "0,2,0,0", (2, 2)) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (EMPTY, 0),
        ("2,8,0,0," + EMPTY[8:], -2),  # 1 and 3
        ("2,8,2,0,4,0,0,0," + EMPTY[16:], -2 - 2 - 1),
        ("2,0,8,0," + EMPTY[8:], 0),  # not neighbours
        (MIXED, -(0 + 1 + 1) - (1) - (0 + 1) - (1 + 2)),
    ],
)
def test_smoothness_counts_differences_of_neighbours(text, expected):
    assert value("smoothness", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (EMPTY, 0),
        ("16,8,4,2," + EMPTY[8:], 0),
        ("2,4,8,16," + EMPTY[8:], 0),
        ("4,2,8,0," + EMPTY[8:], -2),  # it falls by 1 and 3, and rises by 2
    ],
)
def test_monotonicity_counts_the_less_of_rise_and_fall(text, expected):
    assert value("monotonicity", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (EMPTY, 0),
        ("2048,1024,512,256,16,32,64,128,8,4,2,0,0,0,0,0", 0),
        ("0,0,0,0,0,2,4,8,128,64,32,16,256,512,1024,2048", 0),  # the same from the opposite corner
        ("2048,16,8,0,1024,32,4,0,512,64,2,0,256,128,0,0", 0),  # and along columns
        ("2,4,0,0," + EMPTY[8:], -1),  # from the left of the row; any other way it rises by more
        ("0,0,0,0,0,2,0,0,0,0,0,0,0,0,0,0", -1),
    ],
)
def test_snake_counts_rises_along_the_best_s(text, expected):
    assert value("snake", text) == expected
