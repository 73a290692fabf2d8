"""Pools driven by hand, without a cluster."""

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.games.interface import MIN, Position, legal_moves, step
from distsearch.search.perft import Perft
from distsearch.tree.grow import Grower
from distsearch.tree.jobs import PERFT_RESULT, TO_THE_END
from distsearch.tree.nodes import DONE, EXACT, LOWER, SENT, UNKNOWN, UPPER
from distsearch.tree.pool import PerftPool, SubtreePool

from ..games import tictactoe
from ..search.positions import NO_PAUSE, board_id, engine, evaluate, rules, search, state_of, unfinished_states
from .driving import check_line, do, drive, grower, runner, stop, stop_with_a_score

BOARDS = [(4, 4), (6, 6), (9, 8)]
DEPTH = 5
FINISHED = {board: ([["X"] * board[1]] * board[0], "O") for board in BOARDS}

boards = pytest.mark.parametrize("board", BOARDS, ids=board_id)
targets = pytest.mark.parametrize("target", [1, 4, 16, 64])


def pool_of(board, states, depth, target, **options):
    win = 0 if depth == TO_THE_END else evaluate(board, "static").bound
    return SubtreePool(grower(board), states, depth, target, win=win, **options)


@boards
@targets
def test_a_pool_gives_the_sequential_score_in_any_order(board, target, rng):
    states = unfinished_states(rng, board, 2)
    for roots in ([states[0]], states, [states[0], state_of(board, FINISHED[board])]):
        pool = pool_of(board, roots, DEPTH, target)
        drive(pool, runner("subtree", board), rng, workers=pool.jobs)
        for root, state in enumerate(roots):
            expected = search(engine(board), state, DEPTH)
            assert pool.nodes.best[root] == expected.score
            assert (pool.nodes.status[root], pool.nodes.bound[root]) == (DONE, EXACT)
            check_line(pool.line(root), state, expected.score, board, DEPTH)


@boards
@targets
def test_a_pool_solves_to_the_end(board, target, rng):
    states = unfinished_states(rng, board, 3, most_empties=7)
    pool = pool_of(board, states, TO_THE_END, target)
    drive(pool, runner("subtree", board), rng, workers=4)
    for root, state in enumerate(states):
        expected = search(engine(board), state)
        assert pool.nodes.best[root] == expected.score
        check_line(pool.line(root), state, expected.score, board, None)
    assert not pool.totals()["evaluated"].any()


@boards
def test_every_move_of_a_root_can_be_scored(board, rng):
    state = unfinished_states(rng, board, 1)[0]
    pool = pool_of(board, [state], DEPTH, target=1, forced=1)
    drive(pool, runner("subtree", board), rng, workers=2)
    found = pool.children(0)
    assert sorted(m for m, _, _ in found) == legal_moves(othello, Position(state), rules(board))
    for m, score, exact in found:
        after = step(othello, Position(state), rules(board), m)
        assert exact
        assert score == -search(engine(board), after.state, DEPTH - 1).score


def test_the_line_does_not_depend_on_the_order_of_results(rng):
    state = unfinished_states(rng, (6, 6), 1)[0]
    lines = []
    for _ in range(5):
        pool = pool_of((6, 6), [state], DEPTH, target=30)
        drive(pool, runner("subtree", (6, 6)), rng, workers=30)
        lines.append(pool.line(0))
    assert lines == lines[:1] * 5


def test_jobs_are_handed_out_once(rng):
    state = othello.start(rules((6, 6))).state
    pool = pool_of((6, 6), [state], DEPTH, target=10)
    assert pool.jobs == pool.waiting >= 10
    first, second = pool.take(3, worker=5, budget=77), pool.take(1000, worker=6)
    assert len(first) == 3
    assert len(first) + len(second) == pool.jobs
    assert len(set(first["node"]) | set(second["node"])) == pool.jobs
    assert set(first["budget"]) == {77}
    assert set(second["budget"]) == {0}
    assert set(pool.nodes.owner[first["node"]]) == {5}
    assert set(pool.nodes.status[second["node"]]) == {SENT}
    assert (first["state"] == pool.nodes.state[first["node"]]).all()
    assert (second["depth"] == pool.nodes.left[second["node"]]).all()
    assert pool.waiting == len(pool.take(1, worker=5)) == 0
    assert not pool.done


def test_jobs_to_the_end_say_so():
    pool = pool_of((4, 4), [othello.start(rules((4, 4))).state], TO_THE_END, target=10)
    assert set(pool.take(100, worker=1)["depth"]) == {TO_THE_END}


def test_finished_roots_need_no_jobs():
    pool = pool_of((4, 4), [state_of((4, 4), FINISHED[4, 4])], TO_THE_END, target=4)
    assert pool.done
    assert pool.jobs == 0
    assert (pool.nodes.best[0], pool.line(0)) == (-16, [])


def test_a_stopped_job_leaves_only_its_boards(rng):
    board = (8, 8)
    pool = pool_of(board, [othello.start(rules(board)).state], 8, target=4)
    jobs, worker = pool.take(100, worker=1), runner("subtree", board)
    grown = int(pool.nodes.cost[0])
    record = stop(worker, jobs[0], boards=50)
    assert not record["complete"][0]
    pool.finish(record)
    node = jobs[0]["node"]
    assert (pool.finished, pool.done) == (0, False)
    assert pool.nodes.status[node] == SENT
    assert pool.nodes.cost[0] == grown + int(record["boards"][0]) > grown
    assert pool.nodes.bound[0] == UNKNOWN


@pytest.mark.parametrize(("plies", "expected"), [(0, LOWER), (1, UPPER), (2, LOWER)])
def test_a_stopped_job_bounds_the_score_from_its_players_side(plies, expected):
    board = (8, 8)
    pool = pool_of(board, [othello.start(rules(board)).state], 8, target=(1, 4, 12)[plies])
    job = pool.take(1, worker=1)[0]
    assert pool.nodes.depth[job["node"]] == plies
    assert (pool.nodes.kind[job["node"]] == MIN) == (plies % 2 == 1)
    pool.finish(stop_with_a_score(runner("subtree", board), job))
    assert pool.nodes.bound[job["node"]] == expected


def test_a_job_stopped_at_once_knows_nothing():
    board = (8, 8)
    pool = pool_of(board, [othello.start(rules(board)).state], 8, target=1)
    pool.finish(stop(runner("subtree", board), pool.take(1, worker=1)[0], boards=0))
    assert (pool.nodes.best[0], pool.nodes.bound[0], pool.line(0)) == (-np.inf, UNKNOWN, [])


def test_totals_are_kept_for_each_root(rng):
    # the start of a game, since growing alone may settle all of some others
    states = [othello.start(rules((6, 6))).state, *unfinished_states(rng, (6, 6), 2)]
    pool = pool_of((6, 6), states, DEPTH, target=20)
    records = [do(runner("subtree", (6, 6)), job) for job in pool.take(1000, worker=1)]
    for record in records:
        pool.finish(record)
    results = np.concatenate(records)
    roots = pool.nodes.root[results["node"]]
    for name, totals in pool.totals().items():
        assert totals.tolist() == [results[name][roots == root].sum() for root in range(3)], name
    grown = [int((pool.nodes.root[: pool.nodes.size] == root).sum()) - 1 for root in range(3)]
    boards_below = [int(results["boards"][roots == root].sum()) for root in range(3)]
    assert pool.nodes.cost[:3].tolist() == [g + b for g, b in zip(grown, boards_below, strict=True)]


# --- perft ---


def counts_of(game, r, state, depth):
    counter = Perft(game, r)
    counter.begin(state, depth)
    while not counter.advance(NO_PAUSE):
        pass
    return counter.counts[: depth + 1].tolist()


@boards
@targets
def test_counts_of_a_pool_add_up(board, target, rng):
    states = [*unfinished_states(rng, board, 2), *unfinished_states(rng, board, 2, most_empties=3)]
    states.append(state_of(board, FINISHED[board]))
    for depth in (0, 1, 2, DEPTH):
        pool = PerftPool(grower(board), states, depth, target)
        drive(pool, runner("perft", board), rng, workers=3)
        assert pool.counts.tolist() == [counts_of(othello, rules(board), state, depth) for state in states]
        assert pool.cpu == pool.jobs


def test_a_finished_game_is_counted_once_where_it_does_not_stay():
    r, depth = tictactoe.rules(), 9
    counter, empty = Perft(tictactoe, r), tictactoe.start(None).state
    for target in (1, 500, 5000):
        pool = PerftPool(Grower(tictactoe, r), [empty], depth, target, stays=int(tictactoe.ENDED_STAYS))
        for job in pool.take(10**6, worker=1):
            counter.begin(tuple(job["state"]), int(job["depth"]))
            assert counter.advance(NO_PAUSE)
            record = np.zeros(1, PERFT_RESULT)
            record["node"], record["complete"] = job["node"], counter.complete
            record["counts"] = counter.counts[: record["counts"].shape[1]]
            pool.finish(record)
        assert pool.done
        assert pool.counts[0].tolist() == counts_of(tictactoe, r, empty, depth)


def test_a_stopped_count_is_not_complete():
    board = (8, 8)
    pool = PerftPool(grower(board), [othello.start(rules(board)).state], 8, target=1)
    record = stop(runner("perft", board), pool.take(1, worker=1)[0], boards=1000)
    assert not record["complete"][0]
    pool.finish(record)
    assert not pool.done
