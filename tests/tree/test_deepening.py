"""Iterative deepening, driven by hand."""

import math

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.tree.deepening import Deepening
from distsearch.tree.search_tree import SearchTree

from ..engines.positions import engine, evaluate, rules, search, state_of, unfinished_states
from ..jobs.driving import do, drive, grower, runner, stop

BOARD = (6, 6)
TARGET = 12


def deepening(state, deepest=math.inf, nodes=None, wanted_subtrees=TARGET, **options):
    win_bonus = evaluate(BOARD, "static").bound

    def make_pool(depth, previous=None, snapshot=None):
        return SearchTree(
            grower(BOARD), [state], depth, wanted_subtrees, win_bonus=win_bonus, previous=previous, snapshot=snapshot
        )

    return Deepening(make_pool, deepest, nodes, **options)


def answer(source):
    """What a user would see of a finished search."""
    pool = source.completed
    return (
        source.completed_depth,
        pool.score(0),
        pool.line(0),
        source.completed_spent["nodes"],
        source.proved,
        pool.nodes.size,
    )


@pytest.mark.parametrize("wanted_subtrees", [1, TARGET])
def test_it_goes_on_to_the_deepest_iteration(wanted_subtrees, rng):
    state = othello.start(rules(BOARD)).state
    source = deepening(state, deepest=6, wanted_subtrees=wanted_subtrees)
    drive(source, runner("subtree", BOARD), rng, workers=3)
    assert source.completed_depth == source.depth == 6
    assert source.completed is source.pool
    assert not source.proved
    assert source.completed.score(0) == search(engine(BOARD), state, 6).score
    assert source.spent["cpu"] == source.spent["jobs"]


def test_a_proved_score_ends_it(rng):
    for state in unfinished_states(rng, BOARD, 5, most_empties=6):
        source = deepening(state)
        drive(source, runner("subtree", BOARD), rng, workers=3)
        win_bonus = evaluate(BOARD, "static").bound
        score = search(engine(BOARD), state).score
        assert source.proved
        assert source.completed_depth <= 13
        assert source.completed.score(0) == score + win_bonus * np.sign(score)


def test_a_finished_game_is_proved_at_once():
    source = deepening(state_of(BOARD, ([["X"] * 6] * 6, "O")))
    assert source.done
    assert source.proved
    assert source.completed_depth == 1
    assert len(source.take(1, worker=1)) == 0


@pytest.mark.parametrize("nodes", [1, 50, 2_000, 20_000])
def test_a_budget_gives_the_same_answer_in_any_order(nodes, full, rng):
    for state in unfinished_states(rng, BOARD, 10 if full else 3):
        answers = []
        for workers in (1, 1, 2, 5, 30):
            source = deepening(state, nodes=nodes)
            drive(source, runner("subtree", BOARD), rng, workers)
            answers.append(answer(source))
        assert answers == answers[:1] * 5


def test_an_iteration_counts_that_keeps_to_the_budget_and_no_other(rng):
    state = othello.start(rules(BOARD)).state
    spent = []
    source = deepening(state, deepest=8)
    worker = runner("subtree", BOARD)
    while not source.done:
        depth = source.depth
        source.finish(do(worker, source.take(1, worker=1)[0]))
        if source.completed_depth >= depth:
            spent.append(source.completed_spent["nodes"])
    for depth, took in enumerate(spent, 1):
        for nodes, expected in ((took - 1, max(1, depth - 1)), (took, depth), (took + 1, depth)):
            budgeted = deepening(state, deepest=8, nodes=nodes)
            drive(budgeted, worker, rng, workers=3)
            assert budgeted.completed_depth == expected, (depth, nodes)


def test_the_first_iteration_always_counts():
    state = othello.start(rules(BOARD)).state
    source = deepening(state, nodes=1)
    jobs = source.take(100, worker=1)
    assert set(jobs["budget"]) == {0}
    for job in jobs:
        assert not source.done
        source.finish(do(runner("subtree", BOARD), job))
    assert source.done
    assert source.completed_depth == 1


def test_jobs_carry_what_is_left_of_the_budget():
    source = deepening(othello.start(rules(BOARD)).state, nodes=500)
    worker = runner("subtree", BOARD)
    while source.completed is None:
        source.finish(do(worker, source.take(1, worker=1)[0]))
    assert source.take(1, worker=1)["budget"][0] == 500 - source.spent["nodes"]


def test_nothing_is_handed_out_between_two_iterations():
    source = deepening(othello.start(rules(BOARD)).state, deepest=5)
    worker = runner("subtree", BOARD)
    jobs = source.take(1000, worker=1)
    assert source.waiting == len(source.take(1, worker=2)) == 0
    for job in jobs:
        source.finish(do(worker, job))
    assert source.depth == 2
    assert source.waiting > 0


def test_a_stop_in_a_later_iteration_leaves_the_one_before():
    source = deepening(othello.start(rules(BOARD)).state, deepest=20, wanted_subtrees=1)
    worker = runner("subtree", BOARD)
    while source.depth < 8:
        source.finish(do(worker, source.take(1, worker=1)[0]))
    previous, nodes = answer(source), source.spent["nodes"]
    source.finish(stop(worker, source.take(1, worker=1)[0], nodes=100))
    assert answer(source) == previous
    assert source.spent["nodes"] > nodes == source.completed_spent["nodes"]


def test_a_stop_in_the_first_iteration_leaves_none():
    source = deepening(othello.start(rules(BOARD)).state, wanted_subtrees=1)
    record = do(runner("subtree", BOARD), source.take(1, worker=1)[0])
    record["complete"] = 0
    source.finish(record)
    assert source.completed is None
    assert source.completed_depth == 0
    assert not source.done
