"""Parts that a worker lends out of a job: roots of their own, asked one question, told back, and forgotten in time."""

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.games.interface import legal_moves, step
from distsearch.games.random_play import random_positions
from distsearch.jobs.offloaded import row
from distsearch.jobs.two_player import KINDS, TO_THE_END
from distsearch.tree.schedule import Schedule

from ..engines.positions import rules
from ..jobs.driving import do, grower

BOARD = (6, 6)
LENDER, OTHER = 1, 2
SETUP = {"kind": "solve", "game": "othello", "board": list(BOARD), "options": {}}


@pytest.fixture(scope="module")
def solver():
    return KINDS["solve"](SETUP)


@pytest.fixture
def lent(rng):
    """(schedule, the lender's job, [(state, what is left)] of parts of it)."""
    r = rules(BOARD)
    (position,) = [
        each for each in random_positions(othello, r, range(19, 20), 40, rng) if len(legal_moves(othello, each, r)) > 2
    ][:1]
    schedule = Schedule(grower(BOARD), [position.state], TO_THE_END, 8, "split")
    (job,) = schedule.take(8, LENDER, whole=True)
    moves = legal_moves(othello, position, r)
    states = [step(othello, position, r, m).state for m in moves]
    return schedule, job, [(state, int(othello.moves_left(state, r))) for state in states]


def lend(schedule, job, parts, low=-1, high=0, first=0):
    """Lend parts; return their numbers."""
    rows = [row(job["job_id"], first + i, low, high, left, state) for i, (state, left) in enumerate(parts)]
    schedule.on_offload(LENDER, np.concatenate(rows))
    return list(range(first, first + len(parts)))


def test_who_lends_has_the_root_with_all_of_its_window(lent):
    schedule, job, _ = lent
    assert schedule.offloads
    assert job["low"] < -64
    assert job["high"] > 64
    assert schedule.waiting == 0


def test_answers_go_back_and_the_job_alone_says_the_score(lent, solver):
    schedule, job, parts = lent
    numbers = lend(schedule, job, parts)
    assert schedule.offloaded == schedule.waiting == len(parts)
    taken, told = schedule.take(100, OTHER), {}
    assert sorted(tuple(each["state"]) for each in taken) == sorted(state for state, _ in parts)
    assert {(each["low"], each["high"]) for each in taken} == {(-1, 0)}
    for each in taken:
        schedule.finish(do(solver, each))
        for worker, rows in schedule.offload_results().items():
            assert worker == LENDER
            told |= {part: (low, high) for part, low, high in rows}
    assert sorted(told) == numbers
    for (state, _), (low, high) in zip(parts, [told[number] for number in numbers], strict=True):
        asked = taken[0].copy()
        asked["state"], asked["low"], asked["high"] = state, -100, 100
        score = do(solver, asked)["score"][0]
        assert low <= score <= high
        assert low >= 0 or high <= -1
    assert (schedule.offloaded, schedule.done) == (0, False)
    result = do(solver, job)
    boards = int(result["boards"][0])
    lend(schedule, job, parts[:1], first=50)
    schedule.finish(result)
    assert schedule.done
    assert schedule.score(0) == result["score"][0]
    assert schedule.offloaded == 0
    assert schedule.nodes.cost[0] > boards  # those of the parts as well


def test_what_nobody_wants_is_dropped_wherever_it_is(lent):
    schedule, job, parts = lent
    numbers = lend(schedule, job, parts)
    (taken,) = schedule.take(1, OTHER)
    schedule.on_offload(LENDER, np.concatenate([row(0, number, 0, 0, 0, parts[0][0]) for number in numbers]))
    assert (schedule.offloaded, schedule.waiting) == (0, 0)
    wishes = {(worker, name): low < high for worker, name, low, high, *_ in schedule.job_updates(0)}
    assert wishes[OTHER, int(taken["job_id"])] is False
    schedule.on_offload(LENDER, row(0, 999, 0, 0, 0, parts[0][0]))  # nobody knows it
    assert schedule.offload_results() == {}


def test_a_lost_lender_takes_its_parts_along(lent):
    schedule, job, parts = lent
    lend(schedule, job, parts)
    schedule.lost(LENDER)
    assert schedule.offloaded == 0
    assert schedule.waiting == 1  # the job itself
    schedule.on_offload(LENDER, row(job["job_id"], 77, -1, 0, parts[0][1], parts[0][0]))  # on its way when it was lost
    assert schedule.offloaded == 0


def test_nodes_of_parts_are_used_again(lent, solver):
    schedule, job, parts = lent
    for first in range(0, 40, 10):
        lend(schedule, job, parts[:3], first=first)
        size = schedule.nodes.size
        for each in schedule.take(100, OTHER):
            schedule.finish(do(solver, each))
        assert len(schedule.offload_results()[LENDER]) == 3
        assert size == 4
