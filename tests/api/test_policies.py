"""Policies from end to end: what they are refused with, and virtual clusters of any size give the sequential score."""

import pytest

from distsearch.api.options import Options
from distsearch.api.progress import Progress
from distsearch.api.simulate import Machine, simulate
from distsearch.core.errors import UserError
from distsearch.games import connect4, othello
from distsearch.games.random_play import random_position
from distsearch.tree.policies import POLICIES

policies = pytest.mark.parametrize("policy", POLICIES)
steered = pytest.mark.parametrize("policy", [name for name in POLICIES if name != "pool"])

SEARCHES = [  # game, board, plies played before, limit
    (othello, (6, 6), range(20, 29), {"exact": True}),
    (othello, (6, 6), range(0, 21), {"depth": 5}),
    (connect4, (5, 6), range(10, 19), {"exact": True}),
    (connect4, (6, 7), range(0, 26), {"depth": 7}),
]
IDS = ["othello-exact", "othello-depth", "connect4-exact", "connect4-depth"]


@steered
@pytest.mark.parametrize(
    "asked", [{"algorithm": "minimax"}, {"ordering": "static"}, {"ordering": "shallow:2"}], ids=str
)
def test_policies_but_pool_need_a_table(policy, asked):
    with pytest.raises(UserError, match=f"policy {policy} .*table.*pool") as refused:
        Options("othello", policy=policy, depth=3, **asked)
    assert "\n" not in str(refused.value)


@steered
def test_policies_but_pool_go_without_nodes(policy):
    with pytest.raises(UserError, match=f"policy {policy} .*nodes.*pool") as refused:
        Options("othello", policy=policy, nodes=1000)
    assert "\n" not in str(refused.value)


@policies
@pytest.mark.parametrize("limit", [{"depth": 3}, {"exact": True}, {"time": 1.0}], ids=str)
def test_policies_go_with_any_other_limit(policy, limit):
    assert Options("connect4", policy=policy, **limit).policy == policy


@pytest.mark.parametrize("asked", [{"algorithm": "minimax"}, {"ordering": "static"}, {"nodes": 1000}], ids=str)
def test_pool_goes_with_all(asked):
    assert Options("othello", policy="pool", **asked).policy == "pool"


@policies
@pytest.mark.parametrize(("game", "board", "plies", "limit"), SEARCHES, ids=IDS)
@pytest.mark.parametrize("workers", [1, 3, 17, 200])
def test_virtual_clusters_give_the_sequential_score(game, board, plies, limit, policy, workers, full, rng, seed):
    rules = game.rules(board)
    for each in range(40 if full else 1):
        position = random_position(game, rules, plies, rng)
        rate = rng.choice((1e4, 1e5, 1e6))  # slow workers have more that is worth sharing out
        machine = Machine(
            workers,
            rng.choice(("tcp", "host")),
            delay=rng.choice((0.0, 1e-4)),
            spread=rng.choice((0.0, 0.3)),
            jitter=rng.choice((0.0, 0.5)),
            rate=rate,
            seed=seed + each,
            table=1,
        )
        options = Options(game.NAME, board=board, policy=policy, **limit)
        found = simulate(options, machine, position, Progress(), lambda: False)
        said = game.text(position, rules)
        assert found.outcome.complete, said
        assert found.outcome.score == found.sequential.score, said
        assert found.outcome.policy == policy


@policies
@pytest.mark.parametrize(("game", "board", "plies", "limit"), [*SEARCHES, (othello, (5, 6), (14, 20), {"exact": True})])
def test_hosts_that_tell_one_another_give_it_too(game, board, plies, limit, policy, full, rng, seed):
    """With a table each."""
    rules = game.rules(board)
    for each in range(30 if full else 2):
        position = random_position(game, rules, plies, rng)
        hosts = rng.randint(2, 6)
        machine = Machine(
            hosts * rng.randint(1, 6),
            "tcp",
            jitter=0.5,
            rate=rng.choice((1e4, 1e5)),
            seed=seed + each,
            table=1,
            hosts=hosts,
        )
        options = Options(game.NAME, board=board, policy=policy, **limit)
        found = simulate(options, machine, position, Progress(), lambda: False)
        assert found.outcome.score == found.sequential.score, game.text(position, rules)


@policies
def test_every_move_is_scored_alike(policy, full, rng):
    for _ in range(10 if full else 1):
        position = random_position(othello, othello.rules((6, 6)), range(20, 27), rng)
        scores = []
        for each, workers in (("pool", 1), (policy, 17)):
            options = Options("othello", board=(6, 6), exact=True, all_moves=True, policy=each)
            machine = Machine(workers, rate=1e4, table=1)
            found = simulate(options, machine, position, Progress(), lambda: False).outcome
            scores.append(sorted((each["move"], each["score"]) for each in found.moves))
        assert scores[0] == scores[1]
