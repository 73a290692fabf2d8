"""The study of the report on 2048 with GPUs: an emulated one decides and plays as a core does."""

import numpy as np
import pytest

from distsearch.api.session import Session
from distsearch.gpu import build, device
from distsearch.studies import time_per_move
from distsearch.studies.reports import gpu2048, report
from distsearch.studies.reports.study import MeasuredRows, StudySize
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
    status, text, complaints = made(small(gpu2048.STUDY, lambda point: point["part"] == "time" and point["depth"] == 2))
    assert (status, complaints) == (0, [])
    ((depth, *cells),) = tables(text)["Time a move by depth, CPU against GPU"][1:]
    assert depth == "2"
    assert len(cells) == 6
    assert cells[5] == "-"  # no games were played
    assert "-" not in cells[:5]


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
        stage: [game.largest(tuple(state), rules) for state in time_per_move.states("2048", "free", 3, stage, 10)]
        for stage in ("starter", "normal", "late")
    }
    means = [sum(largest[stage]) for stage in ("starter", "normal", "late")]
    assert means == sorted(means)
    assert means[0] < means[2]
    for stage in largest:
        states = time_per_move.states("2048", "free", 3, stage, 100)
        assert len(np.unique(states, axis=0)) == 100, stage
        assert (time_per_move.states("2048", "free", 3, stage, 65) == states[:65]).all()


def test_tiles_and_scores_by_depth():
    """Shares next to the report's, worked out by hand."""
    point = {"part": "games", "depth": 5, "games": 4, "on": "CPU"}
    played = row(point, scores=[40, 10, 20, 30], largest=[512, 1024, 2048, 1024], moves=80, seconds=4.0)
    sections = {each.title: each for each in gpu2048.STUDY.sections(MeasuredRows([played]), StudySize())}
    ours, theirs = sections["Tiles reached"].rows
    shares = ["100.0%", "100.0%", "75.0%", "25.0%", "0.0%", "0.0%", "0.0%"]
    assert ours[:3] == (5, "CPU", 4)
    assert [cell.split()[0] for cell in ours[3:]] == shares
    assert ours[5] == "75.0% (30 to 95%)"  # Wilson's, of 3 in 4
    assert theirs[3:] == (None, None, "90%", "80%", "1%", None, None)
    ((*at, average, low, high, median, best, moves, rate),) = sections["Score by depth"].rows
    assert (*at, average, median, best, moves, rate) == (5, "CPU", 4, 25.0, 30, 40, 20.0, 20.0)
    half = 3.1824 * 12.9099 / 2  # Student's, of three degrees of freedom
    assert (low, high) == pytest.approx((25 - half, 25 + half), rel=1e-2)


def test_directions_of_scores_and_tiles():
    """Depth 6 was best in the report; here it is by what is played."""

    def games(depth, scores, largest=2048, on="CPU"):
        point = {"part": "games", "depth": depth, "games": len(scores), "on": on}
        return row(point, scores=scores, largest=[largest] * len(scores), moves=9, seconds=1.0)

    def stated(*rows):
        return [each.held for exhibit in gpu2048.STUDY.content for each in exhibit.directions(MeasuredRows(rows))]

    low, high = [10, 11, 12, 10, 12], [20, 21, 22, 20, 22]
    assert stated(games(5, low), games(6, high))[2:] == ["open", "open", "open", "not measured", "held"]
    assert stated(games(5, high), games(6, low))[-1] == "not held"
    assert stated(games(5, low), games(6, [9, 10, 12, 11, 12]))[-1] == "open"
    few = games(6, 60 * [1], largest=512)
    assert stated(few)[2:6] == ["not held", "not held", "open", "not measured"]  # 4096 in 1%: not ruled out
    many = [games(6, 200 * [1], largest=4096, on=on) for on in ("CPU", "GPU")]
    assert stated(*many)[2:6] == ["held"] * 4
    assert stated(few, games(6, 60 * [1], largest=4096, on="GPU"))[5] == "not held"
    times = [row({"part": "time", "on": on, "depth": d, "boards": 1}, seconds=s)
             for on, d, s in (("CPU", 2, 1), ("GPU", 2, 2), ("CPU", 7, 9), ("GPU", 7, 3))]  # fmt: skip
    fig6 = gpu2048.STUDY.content[0].directions(MeasuredRows(times))
    assert [each.held for each in fig6] == ["held", "held"]
    assert "from depth 7 on" in fig6[0].ours


def test_a_gpu_that_finds_something_else_is_a_complaint():
    wrong = row({"part": "time", "on": "GPU", "depth": 3}, worst_error=1e-3)
    assert gpu2048.STUDY.complaints(MeasuredRows([wrong])) == ["depth 3: a GPU's value is off by 1.0e-03"]


def test_what_is_planned():
    planned = gpu2048.STUDY.measurements(StudySize())
    assert {each.point["depth"] for each in planned} == {2, 3, 4, 5, 6, 7}
    assert {each.gpus for each in planned} == {0, 1}
