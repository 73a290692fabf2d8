"""Records of training as curves."""

import json
from pathlib import Path

import pytest

from distsearch.core.errors import UserError
from distsearch.studies.figures import curves

RECORD = Path(__file__).parents[2] / "docs" / "learning" / "2048.jsonl"


def line(games, average, kind="learning", **more):
    return json.dumps({"kind": kind, "games": games, "average": average, **more}) + "\n"


def test_a_record_is_drawn_as_it_was_written():
    lines = curves.read(str(RECORD))
    averages, wins = curves.panels({"a/2048.jsonl": lines})
    assert [each.label for each in averages.lines] == ["2048", "2048, without learning"]
    for panel, name in ((averages, "average"), (wins, "win_rate")):
        for each, kind in zip(panel.lines, ("learning", "evaluation"), strict=True):
            told = [(row["games"], row[name]) for row in lines if row["kind"] == kind]
            assert [(point.x, point.y) for point in each.points] == told
    learning, evaluation = averages.lines
    assert all(point.low == point.y == point.high for point in learning.points)
    errors = [row["average_error"] for row in lines if row["kind"] == "evaluation"]
    student = 1.962341  # of 1,000 games
    assert [point.high - point.low for point in evaluation.points] == pytest.approx(
        [2 * student * each for each in errors], rel=1e-5
    )


@pytest.mark.parametrize(("evaluated", "half"), [(2, 12.7062), (1, 0), (None, 0), ("many", 0)])
def test_the_interval_of_few_games_is_wide(evaluated, half):
    played = {"kind": "evaluation", "games": 5, "average": 100.0, "average_error": 1.0, "evaluated": evaluated}
    (averages,) = curves.panels({"x": [played]})
    ((point,),) = (each.points for each in averages.lines)
    assert (point.low, point.high) == pytest.approx((100 - half, 100 + half), abs=1e-3)


def test_records_of_one_name_go_by_their_paths(tmp_path):
    (tmp_path / "record").write_text(line(1000, 5.5) + line(2000, 7.5))
    found = curves.read(str(tmp_path / "record"))
    (averages,) = curves.panels({"a/x.jsonl": found, "b/x.jsonl": found[:1]})
    assert [(each.label, len(each.points)) for each in averages.lines] == [("a/x.jsonl", 2), ("b/x.jsonl", 1)]


@pytest.mark.parametrize("torn", ["", '{"kind": "learn', "\n\n"])
def test_a_torn_last_line_is_left_out(tmp_path, torn):
    (tmp_path / "record").write_text(line(1000, 5) + torn)
    assert [each["games"] for each in curves.read(str(tmp_path / "record"))] == [1000]


@pytest.mark.parametrize(
    "bad",
    [
        '{"kind": "learn\n',
        "{}\n",
        line(1, None),
        line("x", 1),
        line(1, 2, kind="other"),
        "7\n",
        "[" * 9999 + "\n",
        line(1, 10**400),
    ],
)
def test_what_is_no_line_is_told_by_its_number(tmp_path, bad):
    (tmp_path / "record").write_text(line(1000, 5) + bad + line(2000, 5))
    with pytest.raises(UserError, match=r"record: line 2 is no line of a record of training$"):
        curves.read(str(tmp_path / "record"))
