"""The study of the report on 2584: what it plans, measures at a small size, and makes of figures."""

import json
import math

import pytest

from distsearch.gpu import device
from distsearch.studies import td_update_rate
from distsearch.studies.reports import report, td2584, td2584_tables
from distsearch.studies.reports.study import MeasuredRows, StudySize
from distsearch.testing.emulated_gpu import EmulatedGpu

from .reports import made, row, small, tables

PARTS = {"curve", "play", "decision", "tree", "split", "learning", "collisions", "update", "gpus", "target", "choice"}


def sections(*rows):
    return {each.title: each for each in td2584.STUDY.sections(MeasuredRows(rows), StudySize())}


def test_everything_is_planned():
    for full in (False, True):
        planned = td2584.STUDY.measurements(StudySize(full=full, ranks=64))
        assert {each.point["part"] for each in planned} == PARTS
        assert {each.gpus for each in planned} == {0, 1, 2, 4}
        keys = [json.dumps([each.point, each.repeat]) for each in planned]
        assert len(set(keys)) == len(keys)
        assert {each.point["layers"] for each in planned if each.point["part"] == "curve"} == {0, 1, 2, 3}


def test_one_rank_learns_and_plays(monkeypatch):
    monkeypatch.setitem(td2584._LEARNT, 0, (200, 200))
    monkeypatch.setitem(td2584._PLAYED, 0, (5, 5))
    wanted = small(td2584.STUDY, lambda point: point["part"] in ("curve", "play") and point["layers"] == 0)
    monkeypatch.setattr(report, "_gpus", lambda: 0)
    status, text, complaints = made(wanted)
    assert (status, complaints) == (0, [])
    found = tables(text)
    curve = found["Average score by games learnt from, 0 to 3 layers"]
    assert curve[0] == ["games", "0 layers, CPU"]
    assert [cells[0] for cells in curve[1:]] == [str(n) for n in range(20, 201, 20)]
    assert float(curve[-1][1].replace(",", "")) > float(curve[1][1].replace(",", ""))  # it has learnt
    assert found["Play with 0 to 3 layers"][1][:3] == ["0", "CPU", "5"]
    assert "takes a GPU" in text


def test_an_emulated_gpu_decides_and_learns(monkeypatch):
    monkeypatch.setattr(td2584, "_UPDATED", ((3, 40), (3, 40)))
    monkeypatch.setitem(td2584._CORE_BOARDS, 1, (20, 20))
    for batches in td2584._BATCHES.values():
        monkeypatch.setitem(batches, 1, 4)
    monkeypatch.setattr(device, "Gpu", lambda number=0: EmulatedGpu())
    monkeypatch.setattr(report, "_gpus", lambda: 1)

    def wanted(point):
        normal = point.get("class") == "normal" and point["part"] == "decision" and point["layers"] == 1
        return normal or point["part"] == "update"

    status, text, complaints = made(small(td2584.STUDY, wanted))
    assert (status, complaints) == (0, [])
    found = tables(text)
    methods = found["Naive against multilevel"][1:]
    assert [cells[:3] for cells in methods if "-" not in cells] == [["normal", "1", "one"], ["normal", "1", "many"]]
    ways = [cells[0] for cells in found["Update times of a million steps"][1:]]
    assert ways == ["CPU, one core", "GPU, steps", "GPU, combined", "GPU, games"]


def test_recorded_games_have_their_steps():
    paths = td_update_rate.recorded("2584", 3, 40, 5)
    assert [len(sums) for _, sums in paths] == [40] * 3
    assert [states.shape for states, _ in paths] == [(40, 2)] * 3
    assert all((sums[1:] >= sums[:-1]).all() for _, sums in paths)
    assert paths is td_update_rate.recorded("2584", 3, 40, 5)


def test_speedups_are_beside_theirs():
    at = {"part": "decision", "layers": 3, "class": "normal"}
    gpu = {"on": "GPU", "method": "merged"}
    two_layers = {"part": "gpus", "what": "learning, 2 layers, exchange games", "layers": 2, "games": 900}
    found = sections(
        row({**at, "on": "CPU", "boards": 9}, seconds=6.4e-3),
        row({**at, **gpu, "boards": 1}, seconds=2e-4),
        row({**at, **gpu, "boards": 4000}, seconds=2e-6),
        row({"part": "learning", "layers": 2, "ranks": 1, "games": 20}, moves_per_second=100.0, average=910.0),
        row({"part": "learning", "layers": 2, "ranks": 32, "games": 20}, moves_per_second=1200.0, average=900.0),
        row({"part": "update", "games": 2, "steps": 500, "on": "CPU"}, seconds=0.1),
        row(
            {"part": "update", "games": 2, "steps": 500, "on": "GPU"},
            steps={"kernel": 0.001, "seconds": 0.01},
            combined={"kernel": 0.001, "seconds": 0.005},
        ),
        row({**two_layers, "gpus": 1}, moves_per_second=2000.0, average=90.0),
        row({**two_layers, "gpus": 2}, moves_per_second=3000.0, average=80.0),
    )
    rows = {cells[:2]: cells for cells in found["Board classes, and the GPU's speedup by layers"].rows}
    assert rows["normal", 3][2:] == (*map(pytest.approx, (6400, 200, 32, 32.25)), "0.992×", 2.0, pytest.approx(3200))
    learning = found["CPU game-parallel learning"].rows
    assert learning[1] == (2, 32, 1200.0, 900.0, 12.0, 24, "0.5×")
    updated = {cells[0]: cells for cells in found["Update times of a million steps"].rows}
    assert updated["GPU, steps"][1:] == pytest.approx((2, 500, 1000, 10_000, 95.80634, 10, 12.494, 1e5), rel=1e-4)
    what = "learning, 2 layers, exchange games"
    assert found["Several GPUs"].rows[1] == (what, 2, 3000.0, 80.0, 1.5, 1.949, "75.0%", "97.5%")
    # a game of 1,000 moves takes the core 10 s, a GPU 0.5 s
    assert found["Totals: a game that is learnt from"].rows == [
        (2, "1 core", 20, 100.0, 10.0, 1.0, None),
        (2, "32 cores", 20, 1200.0, pytest.approx(1 / 1.2), 12.0, 24),
        (2, "1 GPU", 900, 2000.0, 0.5, 20.0, pytest.approx(12.31, abs=0.01)),
        (2, "2 GPUs", 900, 3000.0, pytest.approx(1 / 3), 30.0, 24),
    ]


def test_trees_by_workers():
    at = {"part": "tree", "layers": 3, "class": "late", "boards": 2}
    rows = [row({**at, "ranks": ranks}, seconds=seconds, scores=[1.5, 2.0]) for ranks, seconds in ((1, 4.0), (5, 2.0))]
    found = sections(*rows)
    assert found["CPU tree-parallel search"].rows[1] == (
        3,
        "late",
        5,
        4,
        1000.0,
        2.0,
        "50.0%",
        pytest.approx(6.07, abs=0.01),
    )
    assert found["Efficiency of CPU tree-parallel search"].series == {"3 layers, late": [(4, 0.5)]}
    assert td2584_tables.complaints(MeasuredRows(rows)) == []
    rows[1]["result"]["scores"][1] = math.nextafter(2.0, 3.0)
    assert td2584_tables.complaints(MeasuredRows(rows)) == []
    rows[1]["result"]["scores"][1] = 2.001
    (wrong,) = td2584_tables.complaints(MeasuredRows(rows))
    assert wrong == "5 ranks, 3 layers, late, board 1: 2.001, not 2.0"


def held(exhibit, *rows):
    (chosen,) = (each for each in td2584.STUDY.content if each.name == exhibit)
    return [each.held for each in chosen.directions(MeasuredRows(rows))]


def test_directions_of_curves():
    """Averages with standard errors of 10, of 100 games a line."""

    def curve(layers, first, last, on="GPU"):
        lines = [{"games": 100, "average": first, "average_error": 10.0, "maximum": 1, "win_rate": 0}]
        lines.append({**lines[0], "games": 200, "average": last})
        return row({"part": "curve", "layers": layers, "on": on}, curve=lines)

    better = [curve(0, 100, 200), curve(1, 200, 400), curve(2, 300, 600), curve(3, 500, 800)]
    assert held("6.1", *better)[:3] == ["held", "held", "held"]
    assert held("6.1", *better[:3], curve(3, 100, 500))[:3] == ["not held", "held", "not held"]
    assert held("6.1", *better[:2])[:3] == ["open", "not measured", "not measured"]


def learning_curve(*averages, error=1.0, seconds=0.0):
    """Lines of 100 games each, the last of them after so many seconds."""
    line = {"average_error": error, "maximum": 1, "win_rate": 0}
    return [
        {**line, "games": 100 * n, "average": average, "seconds": seconds * n / len(averages)}
        for n, average in enumerate(averages, 1)
    ]


def test_the_faster_way_is_better_at_equal_time():
    def way(on, seconds, *averages, layers=1):
        curve = learning_curve(*averages, seconds=seconds)
        games = curve[-1]["games"]
        return row({"part": "curve", "layers": layers, "on": on}, curve=curve, seconds=seconds, games=games)

    # 400 games in 4 s, and 200 in 8: after 4 s the slow way has learnt from 100
    assert held("6.1", way("GPU", 4.0, 10, 20, 40, 60), way("CPU", 8.0, 20, 90))[3] == "held"
    assert held("6.1", way("GPU", 4.0, 10, 20, 40, 60), way("CPU", 8.0, 80, 90))[3] == "not held"
    assert held("6.1", way("GPU", 4.0, 60), way("CPU", 8.0, 90))[3] == "not measured"  # it has no point by then
    assert held("6.1", way("GPU", 4.0, 60))[3] == "not measured"


def test_directions_of_games_played():
    def played(*scores, on="GPU", won=True):
        at = {"part": "play", "layers": 3, "on": on, "games": len(scores)}
        return row(at, scores=scores, largest=[2584 if won else 987] * len(scores), moves=9, seconds=1.0)

    assert held("play", played(*[70_000, 70_010] * 30, 212_741)) == ["held"] * 3
    assert held("play", played(*[60_000, 60_010] * 30, won=False)) == ["not held", "not held", "open"]
    assert held("play", played(70_000, 60_000, 70_000)) == ["open"] * 3


def test_directions_of_learning_by_ranks_and_gpus():
    """Alike: the interval of the difference lies within 5%."""

    def ranks(number, rate, *averages, layers=2, error=1.0):
        at = {"part": "learning", "layers": layers, "ranks": number}
        curves = [learning_curve(1.0, average, error=error) for average in averages]
        return [row(at, i, curve=curve, moves_per_second=rate, average=1.0) for i, curve in enumerate(curves)]

    one = ranks(1, 10.0, 1000)
    assert held("6.7", *one, *ranks(32, 250.0, 1020)) == ["held", "held"]
    assert held("6.7", *one, *ranks(32, 200.0, 1080)) == ["not held", "not held"]
    assert held("6.7", *one, *ranks(16, 150.0, 1020, error=20.0)) == ["open", "open"]  # 32 may be slower each
    assert held("6.7", *one) == ["not measured", "not measured"]
    three = ranks(1, 10.0, 995, 1000, 1005)
    assert held("6.7", *three, *ranks(16, 90.0, 1000, 1005, 1010)) == ["held", "open"]
    assert held("6.7", *three, *ranks(16, 90.0, 900, 1005, 1110))[0] == "open"

    def gpus(number, rate, average, layers=2):
        what = {"what": f"learning, {layers} layers, exchange games", "layers": layers}
        at = {"part": "gpus", **what, "gpus": number}
        return row(at, curve=learning_curve(1.0, average), moves_per_second=rate, average=1.0)

    several = gpus(1, 150.0, 1000), gpus(2, 280.0, 1010)
    assert held("6.8", *several) == ["held", "held"]
    found = held("totals", *one, *ranks(32, 240.0, 1000), *several)
    assert found == ["held", "held", "not measured", "not measured", "not measured"]
    slow = gpus(1, 120.0, 1000, layers=3), gpus(2, 500.0, 1000, layers=3)
    cores = [*ranks(1, 10.0, 1000, layers=3), *ranks(32, 150.0, 1000, layers=3)]
    assert held("totals", *cores, *slow)[2:] == ["not held", "not held", "held"]  # 12, 50 and 3.3 times
    titles = sections(*one, *several)
    assert titles["Average score by games learnt from, by ranks"].series["2 layers, 1 rank"][1][:2] == (200, 1000)
    name = "2 layers, exchange games, 2 GPUs"
    assert titles["Average score by games learnt from, by GPUs"].series[name][1][:2] == (200, 1010)


def test_directions_of_decisions_and_trees():
    def decision(layers, stage, seconds, **how):
        how = how or {"on": "CPU", "boards": 100}
        return row({"part": "decision", "layers": layers, "class": stage, **how}, seconds=seconds)

    def tree(ranks, seconds, layers=3):
        stages = ("starter", "normal", "late")
        at = {"part": "tree", "layers": layers, "boards": 10, "ranks": ranks}
        return [row({**at, "class": stage}, seconds=seconds, scores=[]) for stage in stages]

    rows = []
    for stage, scale in (("starter", 3.0), ("normal", 2.0), ("late", 1.0)):
        for layers in (1, 2, 3):
            rows.append(decision(layers, stage, (scale * layers) ** layers))
            for method, seconds in (("naive", 5.0 * layers), ("multilevel", 7.5), ("merged", 4.5)):
                rows.append(decision(layers, stage, seconds, on="GPU", method=method, boards=1))
    assert held("6.4", *rows) == ["held", "held"]
    small, large = [*tree(1, 100.0), *tree(5, 50.0)], [*tree(1, 100.0), *tree(9, 50.0), *tree(17, 40.0)]
    assert held("6.3", *small)[2] == "not measured"  # four workers cannot be 6 times as fast
    assert held("6.3", *large) == ["held", "open", "not held"]  # 16 workers are not 32
    many = [*large, *tree(33, 45.0)]
    assert held("6.3", *many)[1] == "open"  # measured once each
    again = [{**each, "repeat": 1} for each in many]
    for each in again:
        each["result"] = {**each["result"], "seconds": 1.001 * each["result"]["seconds"]}
    assert held("6.3", *many, *again)[1] == "held"  # than 16 workers
    faster = [*large, *tree(33, 30.0)]
    assert held("6.3", *faster, *faster)[1] == "not held"
    found = held("6.5", *rows, *large, *tree(5, 20.0, layers=1))
    # to one layer the best tree takes 2 s a board, to three 4 s; the GPU 4.5
    assert found == ["held", "held", "held", "held", "held", "not held"]
