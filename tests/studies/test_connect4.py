"""The Connect 4 report's study: positions by class, its table, and what a GPU finds (an emulated one)."""

from argparse import Namespace

import pytest

from distsearch.core.errors import UserError
from distsearch.games import connect4 as game
from distsearch.gpu import device
from distsearch.studies.reports import connect4, connect4_positions, report
from distsearch.studies.reports.connect4_listed import Listed
from distsearch.studies.reports.study import MeasuredRows, StudySize
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


def test_drawing_positions_ends_when_interrupted_and_goes_on_later():
    polls = iter([False] * 50 + [True])
    part = connect4_positions.drawn("L2_R2", 1000, 5, lambda: next(polls))
    assert 0 < len(part.texts) < 50
    assert connect4_positions.drawn("L2_R2", 50, 5).texts[: len(part.texts)] == part.texts


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
    listed = [f"negamax as listed{of}" for of in ("", ", S = 1", ", S = 4", ", S = 4, ending at wins")]
    gpu = ["GPU, S = 1", "GPU, S = 4", "GPU, S = 1, table", "GPU, S = 4, table"]
    assert [cells[0] for cells in rows[1:]] == ["sequential", *listed, *gpu]
    assert [cells[7] for cells in rows[6:8]] == ["0", "0"]  # no hits where there is no table
    compared = tables(text)["The five rows, put right, next to ours"][1:]
    assert [cells[0] for cells in compared] == ["negamax as listed", *sorted(gpu)]
    assert [cells[2] for cells in compared] == ["77.35", "2,544", "3,376", "3,599", "4,294"]  # theirs
    stated = {cells[1]: cells[-1] for cells in tables(text)["What the report states, and whether it holds here"][1:]}
    assert stated["S = 4 explores more nodes than S = 1, and that more than one core"] == "held"


def timed(way, seconds, nodes, scores=(1, 2, 0, -3), known=(1, None, None, None), hits=8):
    return row({**AT, "way": way}, seconds=seconds, nodes=nodes, table_hits=hits, scores=[*scores], known=[*known])


def test_what_the_report_concludes_from_exchanged_columns():
    seconds = {"GPU, S = 1": 2.0, "GPU, S = 1, table": 1.0, "GPU, S = 4": 3.0, "GPU, S = 4, table": 2.0}

    def conclusions(of_listed, seconds):
        rows = [timed("negamax as listed", of_listed, 8000), *(timed(way, each, 8000) for way, each in seconds.items())]
        stated = connect4.STUDY.content[0].directions(MeasuredRows(rows))
        return [each.held for each in stated if "conclusion" in each.stated]

    assert conclusions(4.0, seconds) == ["held", "held"]
    assert conclusions(2.5, seconds) == ["held", "not held"]
    assert conclusions(4.0, {**seconds, "GPU, S = 4, table": 3.5}) == ["not held", "held"]
    assert conclusions(4.0, {}) == ["not measured", "not measured"]


def test_the_table_is_worked_out_and_put_right():
    found = MeasuredRows([timed("sequential", 2e-6, 8), timed("GPU, S = 1", 4e-6, 80, hits=0)])
    compared, exchanged, table = connect4.STUDY.sections(found, StudySize())
    first, second = table.rows
    assert first == ("sequential", pytest.approx(0.5), 2e-6, 2.0, 8, pytest.approx(4.0), 2.0, 8, 1.0)
    assert second[8:] == (0.5,)
    (of_gpu,) = compared.rows  # 1 µs and 20 nodes a position
    assert of_gpu[:7] == ("GPU, S = 1", 1.0, 2544.273, "2.54e+03×", 20.0, 402.254, 20.0)
    assert of_gpu[7:10] == (pytest.approx(402.254 / 2544.273), None, pytest.approx(2544.273 / 77.351))
    assert exchanged.rows[0] == (
        "sequential",
        2.0,
        8,
        pytest.approx(0.5),
        2e-6,
        pytest.approx(0.25),
        pytest.approx(4.0),
    )


@pytest.mark.parametrize("split", [0, 1, 2, 4])
def test_the_listing_has_the_scores_and_counts_calls(split):
    found, rules, listed = connect4_positions.drawn("L3_R1", 12, 3), game.rules(), Listed()
    for text, score in zip(found.texts, found.scores, strict=True):
        state = game.parse(text, rules).state
        assert (listed.spread(state, split) if split else listed.score(state)) == (score, _calls(text, split))
        ending = listed.spread(state, split, past_wins=False)
        assert ending[0] == score
        assert ending[1] <= _calls(text, split) or split == 0


def _calls(text, split):
    """The calls of the report's listing by plain recursion on text; with ``split``, by its breadth-first list."""
    rules = game.rules()

    def children(state):
        free = game.free(state, rules)
        return [game.play(state, rules, c)[0] for c in range(7) if free & rules[game.COLUMN_MASKS + c]]

    def wins(state):
        """Whether a stone makes a four: one that was there before does not count, the list goes on past it."""
        for child in children(state):
            own, stone = int(child[1] ^ child[0]), int(child[1] ^ state[1])
            for line in (1, 6, 7, 8):
                run = 1
                for step in (line, -line):
                    at = stone
                    while (at := at << step if step > 0 else at >> -step) & own:
                        run += 1
                if run >= 4:
                    return True
        return False

    def listing(state, alpha, beta, plies, leaf):
        if plies == 0:
            return leaf(state)
        stones = int(state[1]).bit_count()
        if stones == 42:
            return 0, 1
        if wins(state):
            return (43 - stones) // 2, 1
        beta = min(beta, (41 - stones) // 2)
        if alpha >= beta:
            return beta, 1
        calls = 1
        for child in children(state):
            value, more = listing(child, -beta, -alpha, plies - 1, leaf)
            calls += more
            if -value >= beta:
                return -value, calls
            alpha = max(alpha, -value)
        return alpha, calls

    def ahead(state, plies):
        return [state] if plies == 0 else [leaf for child in children(state) for leaf in ahead(child, plies - 1)]

    def whole(state):
        return listing(state, -21, 21, 99, None)

    state = game.parse(text, rules).state
    if split == 0:
        return whole(state)[1]
    host = listing(state, -21, 21, split, lambda leaf: (whole(leaf)[0], 0))[1]
    return host + sum(whole(leaf)[1] for leaf in ahead(state, split))


def test_another_score_is_a_complaint():
    right = timed("sequential", 1.0, 1)
    assert connect4.STUDY.complaints(MeasuredRows([right])) == []
    (wrong,) = connect4.STUDY.complaints(MeasuredRows([right, timed("GPU, S = 1", 1.0, 1, scores=(1, 2, 1, -3))]))
    assert wrong == "L3_R1, position 3, GPU, S = 1: score 1, not 0"
    (wrong,) = connect4.STUDY.complaints(MeasuredRows([timed("sequential", 1.0, 1, known=(1, 3, None, None))]))
    assert wrong == "L3_R1, position 2, sequential: score 2, not 3"
