"""The Haskell report's study: five ways to search the same boards, each with the plain search's scores."""

import copy

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.engines.expectiminimax import Expectiminimax
from distsearch.games.interface import Position, legal_moves
from distsearch.studies.reports import haskell2048
from distsearch.studies.reports.haskell2048_windows import FIRST, Listing, merges_again, near_win, slid, squares_of
from distsearch.studies.reports.study import MeasuredRows, StudySize

from .reports import made, row, small, tables


def test_boards_are_of_a_seed_and_have_moves():
    game, rules, positions = haskell2048.sample_positions(20, 3)
    assert [game.text(each, rules) for each in positions] == [
        game.text(each, rules) for each in haskell2048.sample_positions(20, 3)[2]
    ]
    assert positions != haskell2048.sample_positions(20, 4)[2]
    assert all(legal_moves(game, each, rules) for each in positions)


def test_one_rank_has_the_ways_of_one_rank():
    status, text, complaints = made(small(haskell2048.STUDY, lambda point: point.get("depth", 9) <= 4))
    assert (status, complaints) == (0, [])
    found = {tuple(cells[:2]): cells for cells in tables(text)["The maximum depth"][1:]}
    assert set(found) == {(depth, way) for depth in ("1", "4") for way in ("Base", "AB")}
    assert float(found["4", "AB"][3]) < float(found["4", "Base"][3])
    assert "this launch has 1 rank: what takes 2" in text


def test_the_final_table_puts_theirs_beside_ours():
    count = {"depth": 7, "positions": 100, "seed": 1}
    rows = [
        row({"way": way, "ranks": 1, **count}, seconds=seconds, nodes=10)
        for way, seconds in (("Base", 8.0), ("AB", 2.0))
    ]
    at = {"ranks": 9, "par_depth": 3, **count}
    rows += [row({"way": "Brothers", **at}, seconds=1.0, nodes=5, jobs_used=1, jobs_wasted=2, jobs_cut=3)]
    sections = {each.title: each for each in haskell2048.STUDY.sections(MeasuredRows(rows), StudySize(ranks=9))}
    table = sections["The final table, maximum depth 7"]
    assert tuple(table.columns[:3]) == ("way", "nodes", "seconds, ours")
    final = {cells[0]: cells for cells in table.rows}
    assert final["Base"][2:] == (8.0, "92.95408", "101", 1.0, 1.0, "1×", 0.25, pytest.approx(0.330, abs=1e-3))
    assert final["AB"][2:4] == (2.0, "30.68810")
    assert final["AB"][5:7] == (4.0, pytest.approx(3.029, abs=1e-3))
    assert final["Brothers"][5:8] == (8.0, pytest.approx(10.295, abs=1e-3), "0.777×")
    assert final["Brothers"][8:] == (2.0, pytest.approx(3.399, abs=1e-3))
    assert final["Par+AB"][5:] == (None, pytest.approx(6.062, abs=1e-3), None, None, pytest.approx(2.001, abs=1e-3))
    (jobs,) = sections["Time and jobs by par depth, depth 7"].rows
    assert jobs == (3, 1, "Brothers", 1.0, pytest.approx(9.0287, abs=1e-4), 5, 1, 2, 3, "16.7%", "about 52.0%")
    assert sections["Jobs by cores, depth 7"].rows == [("Brothers", 8, 1, 2, 3, "16.7%")]
    assert sections["Speedup over Base by cores, depth 7"].series["Brothers"] == [(8, 8.0, 8.0, 8.0)]


@pytest.fixture(scope="module")
def searched():
    """Rows of Base and AB to depth 4."""
    planned = [
        each for each in haskell2048.STUDY.measurements(StudySize()) if each.ranks == 1 and each.point.get("depth") == 4
    ]
    bench = type("Bench", (), {"interrupted": lambda self: False})()
    return [row(each.point, **each.body(bench)) for each in planned]


def test_what_differs_from_the_plain_search_is_a_complaint(searched):
    assert haskell2048.STUDY.complaints(MeasuredRows(searched)) == []
    assert [each["point"]["way"] for each in searched] == ["Base", "AB"]
    other = copy.deepcopy(searched)
    other[1]["result"]["scores"][7] += 1e-6
    (wrong,) = haskell2048.STUDY.complaints(MeasuredRows(other))
    assert "AB, depth 4, board 7: score" in wrong
    values = other[0]["result"]["values"]
    i, worst = next(
        (i, min(each, key=each.get)) for i, each in enumerate(values) if min(each.values()) < max(each.values())
    )
    other = copy.deepcopy(searched)
    other[1]["result"]["moves"][i] = worst
    (wrong,) = haskell2048.STUDY.complaints(MeasuredRows(other))
    assert f"board {i}: move" in wrong


def test_more_nodes_than_without_pruning_are_a_complaint():
    count = {"depth": 7, "positions": 1, "seed": 1}
    plain = {"scores": [], "moves": [], "values": []}
    rows = [row({"way": way, "ranks": 1, **count}, nodes=nodes, **plain) for way, nodes in (("Base", 9), ("AB", 9))]
    assert haskell2048.STUDY.complaints(MeasuredRows(rows)) == ["AB has searched no fewer nodes than Base"]
    at = {"ranks": 3, "par_depth": 3, **count}
    rows = [row({"way": way, **at}, nodes=nodes, **plain) for way, nodes in (("Par+AB", 5), ("Brothers", 6))]
    assert haskell2048.STUDY.complaints(MeasuredRows(rows)) == [
        "Brothers has searched more nodes than Par+AB on 3 ranks"
    ]


def test_windows_that_pass_chance_unchanged():
    """With a search of one draw's tile nothing can go wrong; with the report's tiles it does, and the table says so."""
    game, rules, positions = haskell2048.sample_positions(4, 3)
    chosen = evaluation.find(game, "haskell", rules)
    alone = game.rules(spawn="2:1")
    for position in positions:
        engine = Expectiminimax(game, alone, chosen, prune=False)
        engine.begin(position.state, 4)
        while not engine.advance(10**6):
            pass
        best = Listing(game, alone, chosen).moves(position.state, 4)
        assert max(best.values()) == pytest.approx(min(max(engine.result().value, FIRST[0]), FIRST[1]))
    rows = [(10.0, 10.0, 10.0), (10.0, 12.0, 9.0), (10.0, 10.0, 10.0), (10.0, 9.0, 10.0)]
    found = MeasuredRows([row({"way": "windows unchanged", "positions": 4}, rows=rows)])
    sections = {each.title: each for each in haskell2048.STUDY.sections(found, StudySize())}
    assert sections["Windows through chance"].rows == [(4, "50.0% (15.0% or more)", "25.0%", "10.0%")]


def test_slides_are_the_games_and_the_reports():
    """Without merging again, of the lines of random boards; with it, of lines whose sums are known."""
    game, rules, positions = haskell2048.sample_positions(30, 4)
    left = next(code for code in range(4) if game.move_text(code, rules) == "left")
    for position in positions:
        squares = squares_of(game, position, rules)
        expected = [slid(row) for row in squares]
        if left in legal_moves(game, position, rules):
            after = game.play(position.state, rules, np.int64(left))[0]
            text = game.text(Position(tuple(map(np.uint64, after))), rules).split()[0]
            assert [tile for row in expected for tile in row] == [int(tile) for tile in text.split(",")]
        else:
            assert expected == squares
    again = {
        (2, 2, 4, 8): [16, 0, 0, 0],
        (2, 2, 2, 2): [8, 0, 0, 0],
        (4, 0, 2, 2): [8, 0, 0, 0],
        (2, 2, 2, 4): [4, 2, 4, 0],
    }
    for line, expected in again.items():
        assert slid(line, again=True) == expected
    assert slid((2, 2, 4, 8)) == [4, 4, 8, 0]
    assert merges_again([[2, 2, 4, 8], *[[0, 0, 0, 0]] * 3]) == (3, 2)  # left, right and down; it chains to the sides


def test_where_the_first_window_ends():
    rows = [(1, 1e12, 1e12), (2, 1e12 + 5, 1e12 + 3), (2, 1e12, 9e11), (3, 1e12, 1e12)]
    found = MeasuredRows([row({"way": "a win at hand", "positions": 4}, rows=rows, moves=[(4, 1), (2, 1)])])
    sections = {each.title: each for each in haskell2048.STUDY.sections(found, StudySize())}
    assert sections["Where the first window ends"].rows == [(4, "75.0%", "50.0%", "25.0%")]
    assert sections["Tiles that merge again"].rows == [(6, 2, "33.3%")]
    assert near_win([[2, 4, 8, 16]] * 4)[:2] == [[1024, 1024, 8, 16], [2, 4, 8, 16]]


def held(exhibit, *rows):
    (chosen,) = (each for each in haskell2048.STUDY.content if each.name == exhibit)
    return [each.held for each in chosen.directions(MeasuredRows(rows))]


def test_directions_of_ways_and_par_depths():
    def at(way, seconds, par_depth=None, ranks=9, used=1):
        if way in ("Base", "AB"):
            return row({"way": way, "depth": 13, "ranks": 1}, seconds=seconds)
        point = {"way": way, "depth": 13, "ranks": ranks, "par_depth": par_depth}
        return row(point, seconds=seconds, jobs_used=used, jobs_wasted=5, jobs_cut=0)

    ways = [at("Base", 9.0), at("AB", 8.0), at("Par+Base", 7.0, 3), at("Par+AB", 6.0, 3), at("Brothers", 5.0, 3)]
    assert held("7", *ways) == ["held", "not held", "not held"]  # four times as fast as Base, twice as AB
    assert held("7", *ways[:2], at("Par+Base", 2.0, 3), at("Par+AB", 3.9, 3))[1:] == ["held", "held"]
    assert held("7", *ways[:2]) == ["open", *2 * ["not measured"]]  # three of four steps were not measured
    assert held("7", *ways[:4], at("Brothers", 7.0, 3))[0] == "not held"
    depths = [at(way, abs(n - 3) + 1.0, n, used=9 - abs(n - 3)) for way in ("Par+Base", "Par+AB") for n in (1, 2, 3, 4)]
    brothers = [at("Brothers", abs(n - 4) + 1.0, n, used=20 if n == 1 else 9 - abs(n - 3)) for n in (1, 2, 3, 4)]
    # ours of 3 and 4 are theirs of 2; ours of 1 is no par depth; without pruning each job is used
    whole = held("6.1", *depths, *brothers)
    assert whole == [*3 * ["held"], "not held", "not measured", *2 * ["held"]]
    flat = [at("Brothers", 9.0 if n == 2 else 1.0 + n / 100, n) for n in (2, 3, 4, 5)]
    assert held("6.1", *flat)[3] == "held"
    some = held("6.1", *depths[:4], at("Par+Base", 1.0, 9, ranks=3))
    assert some == ["held", *6 * ["not measured"]]
