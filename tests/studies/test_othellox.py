"""The OthelloX report's study: what it counts, and what its tables make of that."""

import json
from itertools import accumulate

import pytest

from distsearch.studies.reports import othellox
from distsearch.studies.reports.study import MeasuredRows, StudySize

from ..cli.asking import ask, assert_refused
from .reports import made, row, small, tables

PERFT_6X6 = 4, 12, 56, 244  # leaf positions by depth
TREE = {"board": "8x8", "depth": 10}


@pytest.fixture(scope="module")
def study():
    """(status, text, complaints, rows) of the study to depths that take no time, on one rank."""
    chosen = small(othellox.STUDY, lambda point: point["depth"] <= 4)
    return made(chosen)


def test_pruning_is_counted_against_the_whole_tree(study):
    status, text, complaints = study
    assert (status, complaints) == (0, [])
    found = tables(text)["Pruning effect by depth, 6x6: nodes"]
    assert found[0] == ["depth", "minimax", "alpha-beta, none", "static", "shallow", "static ÷ minimax"]
    whole = list(accumulate(PERFT_6X6))  # minimax visits every position once
    assert [int(cells[1].replace(",", "")) for cells in found[1:]] == whole
    for cells, most in zip(found[1:], whole, strict=True):
        pruned = [int(cell.replace(",", "")) for cell in cells[2:4]]  # shallow searches come on top of its own
        assert max(pruned) <= most
        assert cells[5] == f"{100 * pruned[1] / most:.1f}%"


def test_what_takes_more_ranks_is_planned():
    planned = othellox.STUDY.measurements(StudySize(ranks=1))
    assert {each.ranks for each in planned} == {1, 2, 3, 4, 5}
    assert {each.ranks for each in othellox.STUDY.measurements(StudySize(full=True))} == {1, 2, 4, 8, 16, 32, 64}
    assert {each.point["part"] for each in planned} == {"pruning", "pool", "queue", "evaluation", "policies"}
    assert len({json.dumps([each.point, each.repeat]) for each in planned}) == len(planned)


def test_the_parallel_evaluation_by_one_rank(study):
    planned = [each for each in othellox.STUDY.measurements(StudySize()) if each.point["part"] == "evaluation"]
    chosen = small(othellox.STUDY, lambda point: point["part"] == "evaluation")
    status, text, complaints = made(chosen)
    assert (status, complaints) == (0, [])
    rows = tables(text)["The parallel evaluation of one board at a time, 8x8"]
    assert [cells[:2] for cells in rows[1:]] == [["static", "1"], ["complex", "1"]]
    assert [cells[2] for cells in rows[1:]] == ["782", "1,075"]
    assert planned[0].point["depth"] == 6


def pool(ranks, factor, **result):
    return row({"part": "pool", "setup": "ours", "ranks": ranks, "load_factor": factor, **TREE}, **result)


def test_speedup_and_efficiency_both_ways():
    """By time and by nodes, worked out by hand."""
    shares = {"load_balance": 0.5, "communication_computation": 0.1, "time_share": {"idle": 0.25, "busy": 0.5}}
    found = MeasuredRows(
        [
            pool(1, 1, seconds=8.0, nodes=800, boards_per_second=100, **shares),
            pool(4, 1, seconds=4.0, nodes=1200, boards_per_second=300, **shares),
        ]
    )
    sections = {each.title: each for each in othellox.STUDY.sections(found, StudySize(ranks=4))}
    of = "8x8, depth 10, two jobs a worker"
    alone, together = sections[f"Speedup and efficiency both ways, {of}"].rows
    assert alone == (1, 1, 8.0, 1.0, "100.0%", 1.0, "100.0%", 1.0, 0.5, "10.0%", "25.0%")
    assert together == (4, 1, 4.0, 2.0, "50.0%", 3.0, "75.0%", 1.5, 0.5, "10.0%", "25.0%")
    balance = sections[f"Load balance against pool size, {of}"]
    assert balance.series == {"4 ranks": [(3, 0.5, 0.5, 0.5)]}
    assert sections[f"Speedup by time, {of}"].series == {"load factor 1": [(4, 2.0, 2.0, 2.0)]}
    assert sections[f"Speedup by nodes, {of}"].series == {"load factor 1": [(4, 3.0, 3.0, 3.0)]}
    waiting = sections[f"Communication ÷ computation by processes and load factor, {of}"]
    assert waiting.series == {"load factor 1": [(4, 1.0, 1.0, 1.0)]}  # half of the time is no computation


def test_two_scores_of_one_position_are_a_complaint():
    point = {"board": "8x8", "position": "startpos", "depth": 3}
    rows = [row({**point, "ranks": ranks}, score=score) for ranks, score in ((1, 3), (2, 3))]
    assert othellox.STUDY.complaints(MeasuredRows(rows)) == []
    (wrong,) = othellox.STUDY.complaints(MeasuredRows([*rows, row({**point, "ranks": 3}, score=-1)]))
    assert "[-1, 3]" in wrong


@pytest.mark.parametrize("name", ["othellox", "haskell2048", "gpu2048", "td2584", "connect4"])
def test_the_command_line_refuses_what_makes_no_sense(name, tmp_path):
    (tmp_path / "file").touch()
    assert_refused(ask("study", name, "--repeats", "0"), "repeats")
    assert_refused(ask("study", name, "--seed", "-1"), "--seed")
    assert_refused(ask("study", name, "8x8"), "8x8")
    assert_refused(ask("study", name, "--output", tmp_path / "file"), "file")


def held(exhibit, *rows):
    (chosen,) = (each for each in othellox.STUDY.content if each.name == exhibit)
    return [each.held for each in chosen.directions(MeasuredRows(rows))]


def test_directions_of_the_reports_pool():
    """Larger pools balance better and evaluate more; two ranks, one worker, have nothing to balance."""

    def measured(ranks, factor, balance, nodes, seconds=1.0, busy=0.5):
        point = {"part": "pool", "setup": "theirs", "board": "8x8", "depth": 10, "ranks": ranks, "load_factor": factor}
        rate = {"nodes": nodes, "boards_per_second": nodes / seconds, "seconds": seconds}
        return row(point, load_balance=balance, time_share={"busy": busy}, **rate)

    rows = [
        measured(1, 1, 1.0, 100, 3.0),
        *(measured(2, factor, 1.0, 100) for factor in (1, 4)),
        *(measured(3, factor, 0.8 + factor / 100, 100 + factor, busy=0.5 - factor / 100) for factor in (1, 4)),
        *(measured(4, factor, 0.8 + factor / 100, 200 + factor, busy=0.5 - factor / 100) for factor in (1, 4)),
    ]
    assert held("fig2", *rows) == ["held"]
    assert held("fig3", *rows) == ["held", "held"]
    assert held("fig5", *rows) == ["held", "held"]
    assert held("fig5", *rows, measured(5, 1, 0.9, 300), measured(5, 4, 0.9, 200))[1] == "not held"
    assert held("fig5", *rows, *(measured(5, factor, 0.9, 300 - factor) for factor in (1, 4, 64)))[1] == "not held"
    assert held("fig5", *rows[:3])[1] == "not measured"  # one worker
    assert held("fig6", *rows) == ["not held"]  # two ranks are three times as fast as one
    assert held("fig6", measured(1, 1, 1.0, 100, 1.5), *rows[1:]) == ["held"]
    assert held("fig7", *rows) == ["held"]
    assert held("fig2", *rows[:3]) == ["not measured"]
    worse = [measured(5, 1, 0.9, 10), measured(5, 4, 0.5, 10)]
    assert held("fig2", *rows, *worse) == ["not held"]
