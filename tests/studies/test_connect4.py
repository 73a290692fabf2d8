"""The Connect 4 report's study: positions by class, its table, and what a GPU finds (an emulated one)."""

from argparse import Namespace

import pytest

from distsearch.core.errors import UserError
from distsearch.games import connect4 as game
from distsearch.gpu import device
from distsearch.studies.reports import connect4, connect4_positions, report
from distsearch.studies.reports.report import MeasuredRows, StudySize
from distsearch.testing.emulated_gpu import EmulatedGpu

from ..cli.asking import ask, assert_refused
from .reports import made, row, small, tables

AT = {"class": "L3_R1", "positions": 4}


def score_of(text):
    """The score of a position, by trying everything."""
    rules = game.rules()
    return _negamax(game.parse(text, rules).state, rules)


def _negamax(state, rules):
    if game.kind(state, rules) == game.END:
        return int(game.final(state, rules))
    columns = [c for c in range(7) if game.free(state, rules) & rules[game.COLUMN_MASKS + c]]
    return max(-_negamax(game.play(state, rules, c)[0], rules) for c in columns)


@pytest.mark.parametrize("name", ["L3_R1", "L2_R1"])
def test_positions_are_of_their_class(name):
    found = connect4_positions.drawn(name, 12, 3)
    rules, (stones, plies) = game.rules(), connect4_positions.CLASSES[name]
    for text, score in zip(found.texts, found.scores, strict=True):
        played = int(game.parse(text, rules).state[1]).bit_count()
        assert played in stones
        assert connect4_positions.plies_to_end(42 - played, score) in plies
        if played >= 34:
            assert score == score_of(text)
    assert found.texts != connect4_positions.drawn(name, 12, 4).texts


@pytest.mark.parametrize(
    ("left", "score", "plies"), [(10, 0, 10), (10, 5, 1), (10, 4, 3), (10, -5, 2), (9, 5, 1), (9, -4, 2), (42, 1, 41)]
)
def test_plies_to_the_end(left, score, plies):
    """A win at once with 10 squares left leaves the winner 4 stones: 5 points."""
    assert connect4_positions.plies_to_end(left, score) == plies


def test_positions_of_a_file(tmp_path):
    path = tmp_path / "positions"
    path.write_text("4453 3\n\n112233\n")
    assert connect4_positions.of_file(str(path))[:2] == (["4453", "112233"], [3, None])
    assert connect4_positions.of_file(str(path), 1).texts == ["4453"]
    for text, wrong in (
        ("4x\n", "line 1"),
        ("44 x\n", "line 1"),
        ("1\n12121212\n", "line 2"),
        ("4\n1212121\n", "line 2: the game is over"),
        ("\n", "no position"),
    ):
        path.write_text(text)
        with pytest.raises(UserError, match=wrong):
            connect4_positions.of_file(str(path))
    assert_refused(ask("study", "connect4", "--positions", tmp_path / "none"), "none")


def test_another_set_under_the_same_name_is_another_point(tmp_path):
    path = tmp_path / "positions"

    def points(content):
        path.write_text(content)
        asked = StudySize(asked=Namespace(positions=str(path)))
        return [each.point for each in connect4.STUDY.measurements(asked)]

    first = points("4453 3\n")
    assert points("4453 3\n\n") == first
    for other in ("4454 3\n", "4453 2\n", "4453\n"):
        assert not any(point in first for point in points(other))


def test_cores_and_a_gpu_have_the_same_scores(monkeypatch):
    """Rows of one rank and of an emulated GPU, of a handful of positions."""
    monkeypatch.setitem(connect4._COUNTS, "L3_R1", (4, 4))
    monkeypatch.setattr(device, "Gpu", lambda number=0: EmulatedGpu())
    monkeypatch.setattr(report, "_gpus", lambda: 1)
    status, text, complaints = made(small(connect4.STUDY, lambda point: point["class"] == "L3_R1"))
    assert (status, complaints) == (0, [])
    rows = tables(text)["Connect 4, 4 positions, class L3_R1 (end, easy)"]
    assert rows[0][:8] == ["AT, µs", "TT, s", "ANE", "TNE", "nodes/µs", "ATH", "TTH", "times as fast as the first"]
    ways = ["sequential", "plain alpha-beta", "GPU, S = 1", "GPU, S = 4", "GPU, S = 1, table", "GPU, S = 4, table"]
    assert [cells[0] for cells in rows[1:]] == ways
    assert [cells[7] for cells in rows[3:5]] == ["0", "0"]  # no hits where there is no table


def timed(way, seconds, nodes, scores=(1, 2, 0, -3), known=(1, None, None, None), hits=8):
    return row({**AT, "way": way}, seconds=seconds, nodes=nodes, table_hits=hits, scores=[*scores], known=[*known])


def test_the_table_is_worked_out_and_put_right():
    found = MeasuredRows([timed("sequential", 2e-6, 8), timed("GPU, S = 1", 4e-6, 80, hits=0)])
    table, exchanged = connect4.STUDY.sections(found, StudySize())
    first, second = table.rows
    assert first[:8] == ("sequential", pytest.approx(0.5), 2e-6, 2.0, 8, pytest.approx(4.0), 2.0, 8)
    assert first[8:] == (1.0, 3.67, f"{4 / 3.67:.3g}×")
    assert second[8:] == (0.5, "not known here", None)
    assert exchanged.rows[0] == (
        "sequential",
        2.0,
        8,
        pytest.approx(0.5),
        2e-6,
        pytest.approx(0.25),
        pytest.approx(4.0),
    )


def test_another_score_is_a_complaint():
    right = timed("sequential", 1.0, 1)
    assert connect4.STUDY.complaints(MeasuredRows([right])) == []
    (wrong,) = connect4.STUDY.complaints(MeasuredRows([right, timed("GPU, S = 1", 1.0, 1, scores=(1, 2, 1, -3))]))
    assert wrong == "L3_R1, position 3, GPU, S = 1: score 1, not 0"
    (wrong,) = connect4.STUDY.complaints(MeasuredRows([timed("sequential", 1.0, 1, known=(1, 3, None, None))]))
    assert wrong == "L3_R1, position 2, sequential: score 2, not 3"
