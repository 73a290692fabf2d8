"""Studies of games: what is planned, what is measured of small ones, and tables worked out by hand."""

import pytest

from distsearch.api.player_settings import parse_settings, player_options
from distsearch.studies.reports import gpu2048_games, haskell2048_games
from distsearch.studies.reports.playing import Entrant, measurements, table_of
from distsearch.studies.reports.study import Exhibit, MeasuredRows, Plan, Study, StudySize

from .reports import made, row, tables


def test_a_small_study_is_played():
    entrants = [Entrant("one", "depth=1,evaluation=free", (2, 9)), Entrant("two", "algorithm=random", (1, 9), "tree")]
    plan = Plan(measurements(entrants), (1, 1))
    games = Exhibit("x", "", "games", (plan,), lambda found, size: [table_of(found, "Games", 64, "note")])
    study = Study("x", "A study", (games,))
    status, text, complaints = made(study)
    assert (status, complaints) == (0, [])
    header, one, two = tables(text)["Games"][-3:] if len(tables(text)["Games"]) > 3 else tables(text)["Games"]
    assert header[:3] == ["player", "games", "highest tile"]
    assert (one[0], one[1], two[0], two[1]) == ("one", "2", "two", "1")
    assert int(one[2].replace(",", "")) >= 64


def test_figures_by_hand():
    tally = {"moves": 400, "searched": 300, "nodes": 9, "plies": 1200, "seconds": 2.0, "slowest": 0.1, "cpu": 1.0}
    tiles = [[[32, [40, 0.2]], [64, [90, 0.5]]], [[32, [50, 0.3]]], [[64, [70, 0.7]], [128, [160, 0.8]]]]
    played = row({"player": "P", "games": 3}, scores=[10, 20, 60], largest=[64, 32, 128], tiles=tiles, **tally)
    table = table_of(MeasuredRows([played]), "T", 64, "")
    assert table.rows == [("P", 3, 128, "66.7%", 30.0, 4.0, pytest.approx(400 / 3), 5.0, pytest.approx(2 / 3), 80, 0.6)]
    assert len(table.columns) == len(table.rows[0])
    assert table_of(MeasuredRows([played]), "T", 256, "").rows[0][-2:] == (None, None)


@pytest.mark.parametrize("module", [gpu2048_games, haskell2048_games])
def test_every_player_of_a_report_has_settings_that_make_sense(module):
    planned = module.STUDY.measurements(StudySize(ranks=3))
    settings = [each.point["settings"] for each in planned]
    assert len(set(settings)) == len(settings) >= 5
    for text in settings:
        options = player_options("2048", None, {}, 0, parse_settings(text))
        assert options.evaluation in ("haskell", "monotonicity+0.1*smoothness+2.7*free", "playout")
    assert {each.ranks for each in planned} == {3}
