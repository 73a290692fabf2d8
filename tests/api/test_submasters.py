"""Virtual clusters with sub-masters: the sequential score, every board counted, the same run from the same seed."""

import pytest

from distsearch.api.options import Options
from distsearch.api.progress import Progress
from distsearch.api.simulate import Machine, simulate
from distsearch.games import connect4, othello

from .test_policies import random_position

SEARCHES = [
    (othello, (8, 8), (46, 50), {"exact": True}),
    (othello, (6, 6), (16, 20), {"exact": True}),
    (othello, (8, 8), (10, 40), {"depth": 6}),
    (connect4, (6, 7), (20, 26), {"exact": True}),
    (connect4, (5, 6), (8, 14), {"exact": True}),
    (connect4, (6, 7), (4, 16), {"depth": 9}),
]
IDS = [f"{game.NAME}-{board[0]}x{board[1]}-{next(iter(limit))}" for game, board, _, limit in SEARCHES]


def found(game, board, plies, limit, policy, machine, rng):
    position = random_position(game, game.rules(board), plies, rng)
    options = Options(game.NAME, board=board, policy=policy, **limit)
    return simulate(options, machine, position, Progress(), lambda: False), game.text(position, game.rules(board))


@pytest.mark.parametrize("policy", ["pool", "window", "brothers", "split"])
@pytest.mark.parametrize(("game", "board", "plies", "limit"), SEARCHES, ids=IDS)
def test_groups_give_the_sequential_score(game, board, plies, limit, policy, full, rng, seed):
    for each in range(20 if full else 2):
        workers = rng.choice((2, 5, 24, 60))
        machine = Machine(
            workers,
            rng.choice(("tcp", "host")),
            submasters=rng.randint(1, min(workers, 6)),
            jitter=rng.choice((0.0, 0.5)),
            rate=rng.choice((1e4, 1e5, 1e6)),
            delay=rng.choice((0.0, 1e-4)),
            seed=seed + each,
            table=1,
        )
        simulation, said = found(game, board, plies, limit, policy, machine, rng)
        assert simulation.outcome.complete, said
        assert simulation.outcome.score == simulation.sequential.score, said
        assert simulation.outcome.ranks == 1 + workers + machine.submasters
        assert len(simulation.outcome.per_worker) == workers
