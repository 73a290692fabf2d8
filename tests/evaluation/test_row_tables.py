"""Evaluations of sliding tiles by their lines, on boards made by hand."""

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.evaluation import row_tables

LOST_2048 = "2,4,2,4,4,2,4,2,2,4,2,4,4,2,4,2"


def value(name, text, board=None, weights="rows"):
    game = games.find(name)
    rules = game.rules(board)
    found = evaluation.find(game, weights, rules)
    return found.function(game.parse(text, rules).state, rules, found.tables)


def line_2048(codes):
    """The value of one line of 2048, term by term, by the weights of nneonneo/2048-ai."""
    tiles = [code for code in codes if code]
    merges, run = 0, 1
    for a, b in zip(tiles, [*tiles[1:], None], strict=False):  # no pair in an empty line
        if a == b:
            run += 1
        else:
            merges, run = merges + (run if run > 1 else 0), 1
    rises = sum(max(0, b**4 - a**4) for a, b in zip(codes, codes[1:], strict=False))
    falls = sum(max(0, a**4 - b**4) for a, b in zip(codes, codes[1:], strict=False))
    return 270 * codes.count(0) + 700 * merges - 47 * min(rises, falls) - 11 * sum(code**3.5 for code in codes)


def test_rows_of_2048_are_the_sum_of_what_lines_are_worth(rng):
    for _ in range(50):
        tiles = [rng.choice((0, 0, *(2**e for e in range(1, 16)))) for _ in range(16)]
        codes = [tile.bit_length() - 1 if tile else 0 for tile in tiles]
        rows = [codes[4 * i : 4 * i + 4] for i in range(4)]
        columns = [list(column) for column in zip(*rows, strict=True)]
        if 0 in codes:
            expected = sum(map(line_2048, rows + columns))
            found = value("2048", ",".join(map(str, tiles)), weights="rows:270,700,47,4,11,3.5")
            assert found == pytest.approx(expected, abs=8 / 4)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("2,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "2,4,0,0,0,0,0,0,0,0,0,0,0,0,0,0"),  # a merge is near
        ("128,64,32,16,0,0,0,0,0,0,0,0,0,0,0,0", "128,16,64,32,0,0,0,0,0,0,0,0,0,0,0,0"),  # in order
    ],
)
def test_what_is_better(better, worse):
    assert value("2048", better) > value("2048", worse)


@pytest.mark.parametrize(("name", "board"), [("2048", (4, 4)), ("2584", (4, 4)), ("2048", (3, 4)), ("2584", (2, 2))])
def test_symmetric_boards_are_alike(name, board, rng):
    game, (rows, columns) = games.find(name), board
    for _ in range(20):
        cells = np.array([rng.choice(game.VALUES) for _ in range(rows * columns)]).reshape(board)
        found = {
            value(name, ",".join(map(str, turned.ravel())), board)
            for turned in (cells, cells[::-1], cells[:, ::-1], cells[::-1, ::-1])
        }
        assert len(found) == 1
        if rows == columns:
            assert value(name, ",".join(map(str, cells.T.ravel())), board) in found


@pytest.mark.parametrize(
    ("name", "lost", "alive"),
    [
        ("2048", LOST_2048, LOST_2048.replace("2,4,2,4,4", "2,4,4,2,4", 1)),
        ("2584", "1,3,1,3,3,1,3,1,1,3,1,3,3,1,3,1", "1,3,1,3,3,1,3,1,1,3,1,3,3,1,3,2"),
    ],
)
def test_a_lost_board_is_worth_less_than_any_other(name, lost, alive):
    assert_lost(name, lost, alive)


@pytest.mark.parametrize("board", [(2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (4, 2)], ids=str)
def test_so_it_is_on_smaller_boards(board):
    rows, columns = board
    lost = [str(2 << (i + j) % 2) for i in range(rows) for j in range(columns)]
    assert_lost("2048", ",".join(lost), ",".join([lost[1], *lost[1:]]), board)
    assert_lost("2048", ",".join(lost), ",".join(["0", *lost[1:]]), board)


def assert_lost(name, lost, alive, board=None):
    game = games.find(name)
    rules = game.rules(board)
    assert [int(game.kind(game.parse(text, rules).state, rules)) for text in (lost, alive)] == [0, 1]
    assert value(name, lost, board) < value(name, alive, board) + row_tables.LOST / 2
