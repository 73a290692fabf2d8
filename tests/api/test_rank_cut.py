"""Rank-Cut from end to end: what is asked of runners, what answers say, and what it does not go with."""

import json

import pytest

from distsearch.api.options import Options
from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.evaluation import rank_cut
from distsearch.games import othello

HOW = {"ordering": "shallow", "rank_cut": 0.8}


def test_a_setup_says_what_runners_need_to_know():
    assert Options("othello", depth=8, ordering="shallow").setup()["rank_cut"] is None
    probability, stage_size, rows = Options("othello", depth=8, **HOW).setup()["rank_cut"]
    assert probability == 0.8
    assert (stage_size, [rank_cut.RankCounts(*row) for row in rows]) == rank_cut.find(othello, (8, 8), "patterns")
    assert json.loads(json.dumps(rows)) == rows


@pytest.mark.parametrize("evaluation", ["complex", "patterns"])
def test_an_answer_says_that_moves_were_left_out(evaluation):
    with Session() as session:
        asked = {"depth": 7, "ordering": "shallow", "evaluation": evaluation}
        plain = session.search("othello", "f5d6c3", **asked)
        found = session.search("othello", "f5d6c3", **asked, rank_cut=0.8)
    assert (plain.rank_cut, found.rank_cut, found.selective, found.proved) == (None, 0.8, None, False)
    assert found.nodes < plain.nodes
    assert "rank-cut 0.8" in found.to_text()
    assert json.loads(found.to_json())["rank_cut"] == 0.8
    assert "rank_cut" not in json.loads(plain.to_json())


@pytest.mark.parametrize(
    "given",
    [
        {"rank_cut": 0.9, "depth": 5},
        {**HOW, "ordering": "static", "depth": 5},
        {**HOW, "ordering": "shallow:2", "depth": 5},
        {**HOW, "exact": True},
        {**HOW, "depth": 5, "algorithm": "minimax"},
    ],
    ids=str,
)
def test_what_it_does_not_go_with(given):
    with pytest.raises(UserError, match="rank-cut goes with alphabeta and ordering shallow"):
        Options("othello", **given)


@pytest.mark.parametrize("probability", [0.4, 1, float("nan")])
def test_what_is_no_probability(probability):
    with pytest.raises(UserError, match="is not a probability"):
        Options("othello", depth=5, ordering="shallow", rank_cut=probability)


@pytest.mark.parametrize("given", [{"evaluation": "static"}, {"board": (6, 6)}, {"evaluation": "staged"}], ids=str)
def test_where_nothing_was_counted(given):
    with pytest.raises(UserError, match="rank-cut has no counts for othello"):
        Options("othello", depth=5, **HOW, **given)
