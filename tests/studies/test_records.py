"""The study of records: small boards solved and written, Othello on 4x4, and what is wrong with two scores."""

import pytest

from distsearch.core import archive
from distsearch.learning.optimal_play import KIND
from distsearch.studies.records import othello_boards, small_boards
from distsearch.studies.records.study import STUDY
from distsearch.studies.reports.study import MeasuredRows

from .reports import made, row, small, tables


def wanted(point):
    board = point["board"], point["game"]
    return board in (("2x2", "2048"), ("4x4", "othello"), ("4x4", "connect4"), ("4x6", "connect4"))


def test_small_games_are_solved():
    status, text, complaints = made(small(STUDY, wanted))
    assert (status, complaints) == (0, [])
    found = tables(text)
    others = found["2048 and 2584 on small boards"][1:]
    assert [(cells[0], cells[1], cells[2], cells[4]) for cells in others] == [
        ("2048", "2x2", "points", "-"),
        ("2048", "2x2", "tile 16", "-"),
        ("2048", "2x2", "tile 32", "about 8%"),
    ]
    assert others[0][3] == "66.9641"
    winners = found["Connect 4: who wins on boards of rows × columns"]
    assert winners[1] == ["4", "draw", "-", "2nd 1", "-", "-"]
    runs = found["Connect 4: how these boards were solved"][1:]
    assert [cells[:2] for cells in runs] == [["4x4", "0"], ["4x6", "-1"]]
    othello = found["Othello on small boards"][1:]
    assert len(othello) == 6
    assert len({(cells[2], cells[3]) for cells in othello if cells[1] != "parallel"}) == 2  # a score for each rule


def test_tables_are_written(tmp_path):
    given = {"name": "2048", "board": (2, 2), "target": 0, "seed": 1, "path": str(tmp_path / "table.npz")}
    figures = small_boards.solved(None, **given)
    header, arrays = archive.load(given["path"], KIND)
    assert header["game"] == "2048" and len(arrays["values"]) == figures["positions"]
    assert figures["low"] < figures["mean"] < figures["high"]


def test_what_was_stopped_is_no_figure():
    assert small_boards.solved(None, "2048", (2, 2), 0, 1, interrupted=lambda: True) == {}


@pytest.mark.parametrize("mirrored", [-4, -5])
def test_another_score_of_the_mirrored_start_is_told(mirrored):
    which = {"record": "othello", "board": "6x6", "empties": "winner"}
    rows = [row({**which, "start": "crossed"}, score=-4), row({**which, "start": "crossed, mirrored"}, score=mirrored)]
    assert len(othello_boards.complaints(MeasuredRows(rows))) == (mirrored != -4)
