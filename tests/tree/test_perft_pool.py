"""Pools of subtrees to count, driven by hand, without a cluster."""

import numpy as np
import pytest

from distsearch.engines.perft import Perft
from distsearch.games import othello
from distsearch.jobs.two_player import PERFT_RESULT
from distsearch.tree.expansion import Grower
from distsearch.tree.perft_pool import PerftPool

from ..engines.positions import NO_PAUSE, board_id, rules, state_of, unfinished_states
from ..games import tictactoe
from ..jobs.driving import drive, grower, runner, stop

BOARDS = [(4, 4), (6, 6), (9, 8)]
DEPTH = 5
FINISHED = {board: ([["X"] * board[1]] * board[0], "O") for board in BOARDS}

boards = pytest.mark.parametrize("board", BOARDS, ids=board_id)
targets = pytest.mark.parametrize("wanted_subtrees", [1, 4, 16, 64])


def counts_of(game, r, state, depth):
    counter = Perft(game, r)
    counter.begin(state, depth)
    while not counter.advance(NO_PAUSE):
        pass
    return counter.counts[: depth + 1].tolist()


@boards
@targets
def test_counts_of_a_pool_add_up(board, wanted_subtrees, rng):
    states = [*unfinished_states(rng, board, 2), *unfinished_states(rng, board, 2, most_empties=3)]
    states.append(state_of(board, FINISHED[board]))
    for depth in (0, 1, 2, DEPTH):
        pool = PerftPool(grower(board), states, depth, wanted_subtrees)
        drive(pool, runner("perft", board), rng, workers=3)
        assert pool.counts.tolist() == [counts_of(othello, rules(board), state, depth) for state in states]
        assert pool.cpu == pool.jobs


def test_a_finished_game_is_counted_once_where_it_does_not_stay():
    r, depth = tictactoe.rules(), 9
    counter, empty = Perft(tictactoe, r), tictactoe.start(None).state
    for wanted_subtrees in (1, 500, 5000):
        pool = PerftPool(Grower(tictactoe, r), [empty], depth, wanted_subtrees)
        for job in pool.take(10**6, worker=1):
            counter.begin(tuple(job["state"]), int(job["depth"]))
            assert counter.advance(NO_PAUSE)
            record = np.zeros(1, PERFT_RESULT)
            record["job_id"], record["complete"] = job["job_id"], counter.complete
            record["counts"] = counter.counts[: record["counts"].shape[1]]
            pool.finish(record)
        assert pool.done
        assert pool.counts[0].tolist() == counts_of(tictactoe, r, empty, depth)


def test_a_stopped_count_is_not_complete():
    board = (8, 8)
    pool = PerftPool(grower(board), [othello.start(rules(board)).state], 8, wanted_subtrees=1)
    record = stop(runner("perft", board), pool.take(1, worker=1)[0], nodes=1000)
    assert not record["complete"][0]
    pool.finish(record)
    assert not pool.done
