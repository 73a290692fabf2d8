"""Games in GGF: what is read of them, and what is refused."""

import pytest

from distsearch.core.errors import UserError
from distsearch.formats import ggf

BOARD = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"
START = "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27 + " X"


def game(more="", board=BOARD, name="Othello"):
    return f"(;GM[{name}]PC[GGS/os]DT[2003.12.15_13:24:03.MST]PB[a b]PW[c;d]RB[1.5]BO[{board}]{more};)"


def test_a_game_is_read():
    found = ggf.parse(game("TI[15:00//02:00]RE[-4.00]B[F5//1.2]W[d6/-0.5/3]B[PA]"))
    assert found == (8, START, [(0, "F5", 1.2), (1, "d6", 3.0), (0, "PA", 0.0)], (900.0, 900.0))


def test_white_space_between_properties_does_not_matter():
    assert ggf.parse(f"  {game(' B[F5] W[D6] ')}  ").moves == [(0, "F5", 0.0), (1, "D6", 0.0)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("15:00", 900), ("1:00:00", 3600), ("45", 45), (":30", 30), ("5:00/0:10/2:00", 300), ("00:00", 0)],
)
def test_times(text, seconds):
    assert ggf.parse(game(f"TI[{text}]")).seconds == (seconds, seconds)
    assert ggf.parse(game(f"TB[{text}]")).seconds == (seconds, None)
    assert ggf.parse(game(f"TI[1:00]TW[{text}]")).seconds == (60, seconds)


def test_the_board_says_whose_turn_it_is_and_how_large_it_is():
    found = ggf.parse(game(board="4 ---- -O*- -*O- ---- O"))
    assert found[:2] == (4, "-----OX--XO----- O")
    assert ggf.parse(game(board="4 -----O*--*O-----*")).start == "-----OX--XO----- X"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "GGF"),
        ("(;)", "Othello"),
        ("GM[Othello]", "GGF"),
        (game()[:-2], "GGF"),
        (game(name="Amazons"), "Amazons"),
        ("(;GM[Othello];)", "board"),
        (game("B(F5)"), "property"),
        (game("b[F5]"), "property"),
        (game("B[F5"), "property"),
        (game("B[]"), "move"),
        (game("B[F5 D6]"), "move"),
        (game("B[F5/1/soon]"), "seconds"),
        (game("TI[later]"), "time"),
        (game("TI[1:2:3:4]"), "time"),
        (game(board="8 *"), "board"),
        (game(board="x ---- *"), "board"),
        (game(board="4 ---- -O*- -*O- ---- -"), "board"),
        (game(board="4 ---- -OX- -*O- ---- *"), "'X'"),
        (game(board="0 *"), "board"),
    ],
)
def test_what_is_no_game_is_refused(text, word):
    with pytest.raises(UserError, match=word):
        ggf.parse(text)
