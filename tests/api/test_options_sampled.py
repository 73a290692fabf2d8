"""What of sampled searches fits together."""

import pytest

from distsearch.api.options import Options
from distsearch.core.errors import UserError


def test_defaults():
    one = Options("2048", depth=5, algorithm="averaged")
    assert (one.runs, one.width, one.seed, one.time) == (10, 3, 0, None)
    two = Options("2584", algorithm="ida")
    assert (two.runs, two.width, two.seed, two.nodes, two.time) == (16, None, 0, 20_000, None)
    assert Options("2048", algorithm="ida", time=1).nodes is None
    assert Options("2048", algorithm="averaged").time is not None
    other = Options("2048", depth=5)
    assert (other.algorithm, other.runs, other.width, other.seed) == ("expectimax", None, None, None)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"runs": 3}, "runs goes with averaged, ida and mcts"),
        ({"width": 3}, "width goes with averaged"),
        ({"seed": 3}, "seed goes with averaged, ida and mcts"),
        ({"algorithm": "averaged", "runs": 0}, "runs 0 is not"),
        ({"algorithm": "averaged", "runs": 10_001}, "runs 10001 is not"),
        ({"algorithm": "averaged", "runs": 1.5}, "runs 1.5 is not a whole number"),
        ({"algorithm": "averaged", "width": 0}, "width 0 is not"),
        ({"algorithm": "averaged", "width": True}, "width True"),
        ({"algorithm": "averaged", "seed": -1}, "seed -1 is not"),
        (
            {"algorithm": "averaged", "nodes": 100},
            "nodes goes with expectimax, ida and mcts in a game against chance, not with averaged",
        ),
        ({"algorithm": "averaged", "min_probability": 0.1}, "min-probability"),
        ({"algorithm": "averaged", "chance": "uniform"}, "chance"),
        ({"algorithm": "averaged", "load_factor": 2}, "load-factor"),
        ({"algorithm": "averaged", "policy": "split"}, "policy split"),
        ({"algorithm": "averaged", "exact": True}, "exact"),
        ({"algorithm": "ida", "runs": 0}, "runs 0 is not"),
        ({"algorithm": "ida", "width": 2}, "width goes with averaged, not with ida"),
        ({"algorithm": "ida", "depth": 3}, "depth goes without ida"),
        ({"algorithm": "mcts", "depth": 3}, "depth goes without mcts"),
        ({"algorithm": "mcts", "width": 2}, "width goes with averaged, not with mcts"),
        ({"algorithm": "mcts", "time": 1, "nodes": 5}, "nodes goes without time and clock in mcts"),
        ({"algorithm": "ida", "evaluation": "playout"}, "playout, games of random moves, goes with mcts"),
        ({"evaluation": "playout"}, "playout, games of random moves, goes with mcts"),
        ({"algorithm": "ida", "layers": 1}, "layers goes without ida"),
        ({"algorithm": "ida", "nodes": 0}, "nodes 0 is not"),
        ({"algorithm": "ida", "time": 0}, "time 0 is not"),
        ({"algorithm": "ida", "time": 1, "nodes": 5}, "nodes goes without time and clock in ida"),
    ],
    ids=str,
)
def test_refusals(given, why):
    with pytest.raises(UserError, match=why):
        Options("2048", **given)


@pytest.mark.parametrize("given", [{"algorithm": "averaged"}, {"algorithm": "ida"}, {"runs": 3}, {"seed": 1}], ids=str)
def test_games_of_two_go_without(given):
    with pytest.raises(UserError, match="averaged|ida"):
        Options("othello", depth=3, **given)
