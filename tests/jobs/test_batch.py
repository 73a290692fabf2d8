"""Many jobs in one call: the same records, to the bit, as one job after another."""

import numpy as np
import pytest

from distsearch import games
from distsearch.api.options import Options
from distsearch.engines.pvs.table import new_shared_table
from distsearch.games import othello
from distsearch.games.interface import END, legal_moves, step
from distsearch.jobs.two_player import BRIEF_RESULT, KINDS, TO_THE_END, kinds
from distsearch.tree.search_tree import ANY

from ..engines.positions import NO_PAUSE, rules
from .driving import do

CASES = {  # kind, game, board, its other options, deepest search, most moves left
    "connect4": ("solve", "connect4", (6, 7), {}, TO_THE_END, 20),
    "othello": ("solve", "othello", (6, 6), {}, TO_THE_END, 11),
    "to a depth": ("deep", "othello", (6, 6), {"depth": 1, "evaluation": "static"}, 5, 36),
    "to a depth, repeatable": ("deep", "othello", (6, 6), {"nodes": 1, "evaluation": "static"}, 5, 36),
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def new_runner(case, **setup):
    """A runner that has not searched anything yet, with a table of its own."""
    kind, game, board, options, _, _ = case
    return kinds(new_shared_table(1))[kind](Options(game, board=board, **options).setup(kind) | setup)


def random_states(rng, case, n):
    """States of random games, near enough to their ends, and the end of each."""
    _, name, board, _, _, most_left = case
    game = games.find(name)
    r, found = game.rules(board), []
    while len(found) < n:
        position, line = game.start(r), []
        while moves := legal_moves(game, position, r):
            position = step(game, position, r, rng.choice(moves))
            line.append(position.state)
        late = [state for state in line if game.moves_left(state, r) <= most_left]
        found += [line[-1], *rng.sample(late, min(5, len(late)))]
    return found[:n]


def jobs_of(case, states):
    """Job records to the full depth, with no limits."""
    jobs = np.zeros(len(states), new_runner(case).job_dtype)
    jobs["job_id"], jobs["state"] = np.arange(len(states)), states
    jobs["depth"], (jobs["low"], jobs["high"]) = case[4], ANY
    return jobs


def random_jobs(rng, case, n):
    """Jobs of all sorts: windows, budgets of their own, of any depth."""
    jobs = jobs_of(case, random_states(rng, case, n))
    for job in jobs:
        if rng.random() < 0.3:
            low = -rng.choice((0, 1, 5, 100))
            job["low"], job["high"] = low, low + rng.choice((1, 10, 1000))
        if rng.random() < 0.3:
            job["budget"] = rng.choice((1, 20, 300, 10_000))
        if case[4] != TO_THE_END:
            job["depth"] = rng.randint(0, case[4])
    return jobs


def one_by_one(worker, jobs):
    """The records of the jobs done singly."""
    records = []
    for job in jobs:
        worker.begin(job)
        while not worker.advance(NO_PAUSE):
            pass
        records.append(worker.result(0.0, 0.0))
    return np.concatenate(records)


def in_batches(worker, jobs, budget, size):
    """The records of the jobs done in batches, and how many jobs a batch left at work; arguments are functions."""
    records, done, at_work = [], 0, 0
    while done < len(jobs):
        batch = jobs[done : done + size()]
        found = worker.batch(batch, budget())
        records.append(found)
        done += len(found)
        if len(found) < len(batch):
            at_work, done = at_work + 1, done + 1
            while not worker.advance(budget()):
                pass
            records.append(worker.result(0.0, 0.0))
    return np.concatenate(records), at_work


@cases
@pytest.mark.parametrize("most_nodes", [1, 300, 10_000, NO_PAUSE])
def test_records_are_those_of_one_job_after_another(case, most_nodes, full, rng):
    jobs = random_jobs(rng, case, 5_000 if full else 300)
    single, many = new_runner(case), new_runner(case)
    expected = one_by_one(single, jobs)
    found, at_work = in_batches(many, jobs, lambda: rng.randint(1, most_nodes), lambda: rng.randint(1, 40))
    for name in expected.dtype.names:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    assert many.nodes == single.nodes
    assert at_work > 0 or most_nodes > 300
    assert at_work == 0 or most_nodes < NO_PAUSE
    # what later searches go by
    assert many._engine._l1.tobytes() == single._engine._l1.tobytes()
    assert do(many, jobs[0]).tobytes() == do(single, jobs[0]).tobytes()


@cases
def test_the_sample_is_of_all_sorts(case, rng):
    """What the test above rests on."""
    jobs = random_jobs(rng, case, 300)
    records, _ = in_batches(new_runner(case), jobs, lambda: NO_PAUSE, lambda: len(jobs))
    over = records["line_length"] == 0
    stopped = records["complete"] == 0
    window = (jobs["high"] != ANY[1]) & ~over & ~stopped
    within = (jobs["low"] < records["score"]) & (records["score"] < jobs["high"])
    for sort in (over, stopped, window & within, window & ~within, records["line_length"] > 2):
        assert sort.any()
    assert (jobs["budget"][stopped] > 0).all()


@cases
def test_brief_records_are_the_same_without_a_line(case, rng):
    jobs = random_jobs(rng, case, 200)
    whole, _ = in_batches(new_runner(case), jobs, lambda: 300, lambda: 40)
    brief, _ = in_batches(new_runner(case, brief=True), jobs, lambda: 300, lambda: 40)
    finished = (jobs["budget"] == 0) | (whole["complete"] == 1) & (brief["complete"] == 1)
    assert brief.dtype == BRIEF_RESULT
    for name in ("job_id", "complete", "score"):  # following lines leaves entries, so nodes may differ
        np.testing.assert_array_equal(brief[name][finished], whole[name][finished], err_msg=name)
    assert ((brief["nodes"] == 0) == (whole["nodes"] == 0)).all()


@cases
def test_a_budget_of_none_begins_the_first_job(case, rng):
    worker, jobs = new_runner(case), jobs_of(case, random_states(rng, case, 3))
    assert len(worker.batch(jobs, 0)) == 0
    assert worker.nodes == 0
    while not worker.advance(NO_PAUSE):
        pass
    assert worker.result(0.0, 0.0).tobytes() == one_by_one(new_runner(case), jobs[:1]).tobytes()


@cases
def test_jobs_that_take_no_nodes_use_a_budget_up(case, rng):
    game = games.find(case[1])
    r, states = game.rules(case[2]), random_states(rng, case, 60)
    over = [state for state in states if game.kind(state, r) == END]
    worker, jobs = new_runner(case), jobs_of(case, over[:1] * 8)
    records = worker.batch(jobs, 5)
    assert len(records) == 5
    assert not records["nodes"].any()
    assert worker.advance(NO_PAUSE)
    assert worker.result(0.0, 0.0)["job_id"] == 5


@cases
def test_no_jobs_give_no_records(case):
    assert len(new_runner(case).batch(jobs_of(case, np.zeros((0, 2), np.uint64)), NO_PAUSE)) == 0


def test_positions_with_more_moves_left_than_the_first():
    """Frames are made for them between two batches."""
    case = CASES["to a depth"]
    sparse = [othello.parse(f"{'-' * 14}{discs}{'-' * 20} X", rules((6, 6))).state for discs in ("XO", "X-", "--")]
    jobs = jobs_of(case, [othello.start(rules((6, 6))).state, *sparse] * 2)
    expected, worker = one_by_one(new_runner(case), jobs), new_runner(case)
    found, at_work = in_batches(worker, jobs, lambda: NO_PAUSE, lambda: len(jobs))
    assert found.tobytes() == expected.tobytes()
    assert at_work == len(sparse)


@pytest.mark.parametrize("kind", ["subtree", "perft", "empty"])
def test_other_kinds_have_no_batches(kind):
    assert not KINDS[kind](Options("othello", depth=1, evaluation="static").setup(kind)).batches
