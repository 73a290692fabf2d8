"""Counts of later moves that were better: after how many moves a node is left, and for which nodes."""

import pytest

from distsearch import games
from distsearch.core.errors import UserError
from distsearch.evaluation import rank_cut
from distsearch.evaluation.rank_cut import RankCounts
from distsearch.games.interface import MAX_MOVES

ROWS = [
    RankCounts(0, 2, [50, 20, 4], [98, 98, 98]),
    RankCounts(0, 4, [50, 4], [98, 98]),
    RankCounts(2, 2, [8], [98]),
    RankCounts(2, 3, [90, 80], [98, 98]),
]


@pytest.mark.parametrize(("probability", "most"), [(0.5, 2), (0.48, 1), (0.8, 3), (0.95, 3), (0.951, MAX_MOVES)])
def test_moves_after_which_none_is_likely_to_be_better(probability, most):
    assert ROWS[0].kept(probability) == most


def test_nodes_take_the_nearest_counts():
    found = rank_cut.kept_moves(0.9, 10, ROWS, 9, 6)
    # by plies left: none is counted; an odd number in a far stage, whose moves are all needed; even ones near by
    assert found.tolist() == [MAX_MOVES, MAX_MOVES, 3, MAX_MOVES, 2, MAX_MOVES, 2]
    assert rank_cut.kept_moves(0.9, 10, ROWS, 27, 2).tolist() == [MAX_MOVES, MAX_MOVES, 1]


@pytest.mark.parametrize("name", ["complex", "patterns"])
def test_counts_that_come_with_the_package(name):
    size, rows = rank_cut.find(games.find("othello"), (8, 8), name)
    assert {row.stage for row in rows} == set(range(-(-60 // size)))
    for row in rows:
        assert len(row.better) == len(row.of) > 3
        assert all(0 <= better <= of for better, of in zip(row.better, row.of, strict=True))
        assert row.of == sorted(row.of, reverse=True)
    for plies in (4, 6, 8):
        most = rank_cut.kept_moves(0.9, size, rows, 40, plies)[plies]
        assert 2 <= rank_cut.kept_moves(0.8, size, rows, 40, plies)[plies] <= most < MAX_MOVES


def test_others_are_refused():
    with pytest.raises(UserError, match="no counts for othello 6x6 by complex"):
        rank_cut.find(games.find("othello"), (6, 6), "complex")
