"""The study of the report on 2048 with GPUs: an emulated one decides and plays as a core does."""

import pytest

from distsearch.api.session import Session
from distsearch.gpu import build, device
from distsearch.studies import time_per_move
from distsearch.studies.reports import gpu2048, report
from distsearch.studies.reports.report import MeasuredRows, StudySize
from distsearch.testing.emulated_gpu import EmulatedGpu

from .reports import made, row, small, tables


@pytest.fixture
def emulated(monkeypatch):
    """One GPU that is none."""
    monkeypatch.setattr(device, "Gpu", lambda number=0: EmulatedGpu())
    monkeypatch.setattr(device, "count", lambda: 1)
    monkeypatch.setattr(build, "compiler", lambda: "none")
    monkeypatch.setattr(report, "_gpus", lambda: 1)


def test_times_of_a_move_by_a_core_and_a_gpu(emulated, monkeypatch):
    monkeypatch.setitem(gpu2048._BATCHES, 2, 30)
    monkeypatch.setattr(gpu2048, "_BOARDS_OF", 1)
    status, text, complaints = made(small(gpu2048.STUDY, lambda point: point["part"] == "time" and point["depth"] == 2))
    assert (status, complaints) == (0, [])
    ((depth, *cells),) = tables(text)["Time a move by depth, CPU against GPU"][1:]
    assert depth == "2"
    assert len(cells) == 5
    assert "-" not in cells


def test_games_on_a_gpu_are_those_on_a_core(emulated):
    """Without layers, where no rounding changes a move."""

    class Bench:
        def session(self, ranks, table, device):
            return Session(table=table, device=device)

    asked = "2048", "rows", 1, 3, 7  # in whole quarters
    found = [time_per_move.played(Bench(), *asked, device=device) for device in ("gpu", "cpu")]
    assert [found[0][name] for name in ("scores", "largest")] == [found[1][name] for name in ("scores", "largest")]
    assert found[0]["moves"] == found[1]["moves"] > 100


def test_boards_are_of_their_classes():
    game, rules, _ = time_per_move.rules_of("2048", "free")
    largest = {
        stage: [game.largest(tuple(state), rules) for state in time_per_move.states("2048", "free", 1, 3, stage, 10)]
        for stage in ("starter", "normal", "late")
    }
    assert max(largest["starter"]) <= min(largest["normal"])
    assert max(largest["normal"]) <= min(largest["late"])


def test_tiles_and_scores_by_depth():
    """Shares next to the report's, worked out by hand."""
    point = {"part": "games", "depth": 5, "games": 4, "on": "CPU"}
    played = row(point, scores=[40, 10, 20, 30], largest=[512, 1024, 2048, 1024], moves=80, seconds=4.0)
    sections = {each.title: each for each in gpu2048.STUDY.sections(MeasuredRows([played]), StudySize())}
    ours, theirs = sections["Tiles reached"].rows
    assert ours == (5, "CPU", 4, "100.0%", "100.0%", "75.0%", "25.0%", "0.0%", "0.0%", "0.0%")
    assert theirs[3:] == (None, None, "90.0%", "80.0%", None, None, None)
    assert sections["Score by depth"].rows == [(5, "CPU", 4, 25.0, 30, 40, 20.0, 20.0)]


def test_a_gpu_that_finds_something_else_is_a_complaint():
    wrong = row({"part": "time", "on": "GPU", "depth": 3}, worst_error=1e-3)
    assert gpu2048.STUDY.complaints(MeasuredRows([wrong])) == ["depth 3: a GPU's value is off by 1.0e-03"]


def test_what_is_planned():
    planned = gpu2048.STUDY.measurements(StudySize())
    assert {each.point["depth"] for each in planned} == {2, 3, 4, 5, 6, 7}
    assert {each.gpus for each in planned} == {0, 1}
