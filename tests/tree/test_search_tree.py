"""Searches of the policy ``pool``, driven by hand, without a cluster."""

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.games.interface import Position, legal_moves, step
from distsearch.jobs.two_player import TO_THE_END
from distsearch.tree.layout import INFINITY, SENT, WAITING
from distsearch.tree.search_tree import SearchTree

from ..engines.positions import board_id, engine, evaluate, rules, search, state_of, unfinished_states
from ..jobs.driving import check_line, do, drive, grower, runner, stop, stop_with_a_score

BOARDS = [(4, 4), (6, 6), (9, 8)]
DEPTH = 5
FINISHED = {board: ([["X"] * board[1]] * board[0], "O") for board in BOARDS}

boards = pytest.mark.parametrize("board", BOARDS, ids=board_id)
targets = pytest.mark.parametrize("wanted_subtrees", [1, 4, 16, 64])


def node_of(pool, jobs):
    """The nodes of jobs that are out."""
    return pool.jobs_out["node"][jobs["job_id"]]


def pool_of(board, states, depth, wanted_subtrees, **options):
    win_bonus = 0 if depth == TO_THE_END else evaluate(board, "static").bound
    return SearchTree(grower(board), states, depth, wanted_subtrees, win_bonus=win_bonus, **options)


@boards
@targets
def test_a_pool_gives_the_sequential_score_in_any_order(board, wanted_subtrees, rng):
    states = unfinished_states(rng, board, 2)
    for roots in ([states[0]], states, [states[0], state_of(board, FINISHED[board])]):
        pool = pool_of(board, roots, DEPTH, wanted_subtrees)
        drive(pool, runner("subtree", board), rng, workers=pool.waiting)
        for root, state in enumerate(roots):
            expected = search(engine(board), state, DEPTH)
            assert pool.score(root) == expected.score
            assert pool.is_answered(root)
            assert pool.nodes.low[root] == pool.nodes.high[root] == expected.score
            check_line(pool.line(root), state, expected.score, board, DEPTH)


@boards
@targets
def test_a_pool_solves_to_the_end(board, wanted_subtrees, rng):
    states = unfinished_states(rng, board, 3, most_empties=7)
    pool = pool_of(board, states, TO_THE_END, wanted_subtrees)
    drive(pool, runner("subtree", board), rng, workers=4)
    for root, state in enumerate(states):
        expected = search(engine(board), state)
        assert pool.score(root) == expected.score
        check_line(pool.line(root), state, expected.score, board, None)
    assert not pool.totals()["evaluated"].any()


@boards
def test_every_move_of_a_root_can_be_scored(board, rng):
    state = unfinished_states(rng, board, 1)[0]
    pool = pool_of(board, [state], DEPTH, wanted_subtrees=1, full_width_depth=1)
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
        pool = pool_of((6, 6), [state], DEPTH, wanted_subtrees=30)
        drive(pool, runner("subtree", (6, 6)), rng, workers=30)
        lines.append(pool.line(0))
    assert lines == lines[:1] * 5


def test_jobs_are_handed_out_once(rng):
    state = othello.start(rules((6, 6))).state
    pool = pool_of((6, 6), [state], DEPTH, wanted_subtrees=10)
    count = pool.waiting
    assert count >= 10
    assert pool.jobs == pool.out == 0
    first, second = pool.take(3, worker=5, budget=77), pool.take(1000, worker=6)
    assert len(first) == 3
    assert len(first) + len(second) == pool.jobs == pool.out == count
    assert len(set(first["job_id"]) | set(second["job_id"])) == count
    assert set(first["budget"]) == {77}
    assert set(second["budget"]) == {0}
    for jobs, worker in ((first, 5), (second, 6)):
        nodes, workers = node_of(pool, jobs), pool.jobs_out["worker"][jobs["job_id"]]
        assert set(workers) == {worker}
        assert set(pool.nodes.status[nodes]) == {SENT}
        assert (jobs["state"] == pool.nodes.state[nodes]).all()
        assert (jobs["depth"] == pool.nodes.depth_left[nodes]).all()
    assert len(set(node_of(pool, first)) | set(node_of(pool, second))) == count
    assert pool.waiting == len(pool.take(1, worker=5)) == 0
    assert not pool.done


def test_jobs_to_the_end_say_so():
    pool = pool_of((4, 4), [othello.start(rules((4, 4))).state], TO_THE_END, wanted_subtrees=10)
    assert set(pool.take(100, worker=1)["depth"]) == {TO_THE_END}


def test_finished_roots_need_no_jobs():
    pool = pool_of((4, 4), [state_of((4, 4), FINISHED[4, 4])], TO_THE_END, wanted_subtrees=4)
    assert pool.done
    assert pool.jobs == 0
    assert (pool.score(0), pool.is_answered(0), pool.line(0)) == (-16, True, [])


def test_a_stopped_job_leaves_only_its_nodes(rng):
    board = (8, 8)
    pool = pool_of(board, [othello.start(rules(board)).state], 8, wanted_subtrees=4)
    jobs, worker = pool.take(100, worker=1), runner("subtree", board)
    grown, node = int(pool.nodes.cost[0]), int(node_of(pool, jobs)[0])
    record = stop(worker, jobs[0], nodes=50)
    assert not record["complete"][0]
    pool.finish(record)
    assert (pool.finished, pool.done, pool.is_answered(0)) == (0, False, False)
    assert pool.nodes.cost[0] == grown + int(record["nodes"][0]) > grown
    assert (pool.nodes.low[0], pool.nodes.high[0], pool.score(0)) == (-INFINITY, INFINITY, -np.inf)
    assert (pool.nodes.status[node], pool.waiting) == (WAITING, 1)  # no worker has it any more
    (again,) = pool.take(1, worker=1)
    assert (again["state"] == jobs[0]["state"]).all()


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_a_stopped_job_bounds_the_score_from_its_players_side(plies):
    board = (8, 8)
    pool = pool_of(board, [othello.start(rules(board)).state], 8, wanted_subtrees=(1, 4, 12)[plies])
    job = pool.take(1, worker=1)[0]
    node = int(node_of(pool, job))
    assert pool.nodes.depth[node] == plies
    record = stop_with_a_score(runner("subtree", board), job)
    pool.finish(record)
    assert (pool.nodes.low[node], pool.nodes.high[node]) == (record["score"][0], INFINITY)
    if plies == 0:
        assert (pool.score(0), pool.is_answered(0)) == (record["score"][0], False)
    if plies == 1:
        (score,) = [score for move, score, _ in pool.children(0) if move == pool.nodes.move[node]]
        assert score == -INFINITY  # at most what its player has found: nothing from below
        assert pool.score(0) == -np.inf
    if plies == 2:
        above = int(pool.nodes.parent[node])
        assert (pool.nodes.low[above], pool.nodes.high[above]) == (-INFINITY, INFINITY)


def test_a_job_stopped_at_once_knows_nothing():
    board = (8, 8)
    pool = pool_of(board, [othello.start(rules(board)).state], 8, wanted_subtrees=1)
    pool.finish(stop(runner("subtree", board), pool.take(1, worker=1)[0], nodes=0))
    assert (pool.score(0), pool.is_answered(0), pool.line(0)) == (-np.inf, False, [])
    assert (pool.nodes.low[0], pool.nodes.high[0]) == (-INFINITY, INFINITY)


def test_totals_are_kept_for_each_root(rng):
    # the start of a game, since growing alone may settle all of some others
    states = [othello.start(rules((6, 6))).state, *unfinished_states(rng, (6, 6), 2)]
    pool = pool_of((6, 6), states, DEPTH, wanted_subtrees=20)
    jobs = pool.take(1000, worker=1)
    roots = pool.nodes.root[node_of(pool, jobs)]
    records = [do(runner("subtree", (6, 6)), job) for job in jobs]
    for record in records:
        pool.finish(record)
    results = np.concatenate(records)
    for name, totals in pool.totals().items():
        assert totals.tolist() == [results[name][roots == root].sum() for root in range(3)], name
    grown = [int((pool.nodes.root[: pool.nodes.size] == root).sum()) - 1 for root in range(3)]
    nodes_below = [int(results["nodes"][roots == root].sum()) for root in range(3)]
    assert pool.nodes.cost[:3].tolist() == [g + b for g, b in zip(grown, nodes_below, strict=True)]
