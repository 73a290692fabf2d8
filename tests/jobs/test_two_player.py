"""The kinds of job that search: what their records say, budgets, windows, and what runners keep from run to run."""

import numpy as np
import pytest

from distsearch.api.options import Options
from distsearch.engines.alphabeta import LINE_LENGTH
from distsearch.engines.pvs import side_tables
from distsearch.engines.pvs.move_ordering import MAX_GUESS_NODES
from distsearch.engines.pvs.table import BUCKET, GENERATIONS
from distsearch.games import othello
from distsearch.games.interface import Position, legal_moves, step
from distsearch.jobs.two_player import BRIEF_RESULT, KINDS, SUBTREE_RESULT, TO_THE_END, copied, kinds
from distsearch.tree.search_tree import ANY

from ..engines.positions import NO_PAUSE, board_id, engine, evaluate, rules, search, unfinished_states
from .driving import do, runner, stop

BOARDS = [(4, 4), (6, 6), (8, 8)]
DEPTH = 6
NODE = 77
GUESSED = MAX_GUESS_NODES + 6 * 33  # nodes at most when an exact job begins; where it gives up, moves are still played
TABLED = "deep", "solve"
boards = pytest.mark.parametrize("board", BOARDS, ids=board_id)
all_kinds = pytest.mark.parametrize("kind", ["subtree", *TABLED])


def job(kind, state, depth, budget=0, window=ANY):
    """A job record; jobs of the kind "solve" are to the end in any case."""
    record = np.zeros((), runner("subtree", (8, 8)).job_dtype)
    record["job_id"], record["depth"], record["budget"] = NODE, TO_THE_END if kind == "solve" else depth, budget
    (record["low"], record["high"]), record["state"] = window, state
    return record


def state_after(board, text="startpos"):
    return othello.parse(text, rules(board)).state


def quick_states(kind, board, rng):
    """States that a job of this kind searches in no time."""
    return unfinished_states(rng, board, 5, most_empties=9 if kind == "solve" else None)


def plain_score(kind, state, board, plies=0):
    """What the plain engine says, after so many plies of the job."""
    return search(engine(board), state, None if kind == "solve" else DEPTH - plies).score


# --- records ---


@boards
@all_kinds
def test_a_record_has_what_a_search_found(kind, board, rng):
    worker = runner(kind, board)
    for state in quick_states(kind, board, rng):
        results = do(worker, job(kind, state, DEPTH))
        assert (results.dtype, results.shape) == (SUBTREE_RESULT, (1,))
        record = results[0]
        assert (record["job_id"], record["complete"]) == (NODE, 1)
        assert record["score"] == plain_score(kind, state, board)
        assert record["nodes"] == worker.nodes > 0
        assert record["ordering_nodes"] == 0
        assert (record["seconds"], record["cpu"]) == (2.0, 1.0)


@all_kinds
def test_a_record_tells_what_was_evaluated_and_what_the_table_did(kind):
    state = state_after((6, 6), "b3b4d5e4e5d2b5e3c2a3f4f5c1c6b2a2f6b1c5d1")
    record = do(runner(kind, (6, 6)), job(kind, state, DEPTH))[0]
    counts = [record[name] for name in ("table_hits", "table_stores", "table_far_hits", "table_replacements")]
    assert (record["evaluated"] > 0) == (kind != "solve")
    assert record["evaluated"] < record["nodes"]
    assert (counts[1] > 0) == (kind in TABLED)
    assert min(counts) >= 0
    if kind == "subtree":
        assert counts == [0, 0, 0, 0]


@boards
@all_kinds
def test_a_record_has_a_line_of_legal_moves(kind, board, rng):
    for state in quick_states(kind, board, rng):
        record, position = do(runner(kind, board), job(kind, state, DEPTH))[0], Position(state)
        length = record["line_length"]
        assert 0 < length <= LINE_LENGTH
        assert not record["line"][length:].any()
        for m in record["line"][:length].tolist():
            assert m in legal_moves(othello, position, rules(board))
            position = step(othello, position, rules(board), m)
        first = step(othello, Position(state), rules(board), record["line"][0])
        assert record["score"] == -plain_score(kind, first.state, board, plies=1)


def test_brief_records_count_what_searches_of_hours_do():
    found = np.zeros(1, SUBTREE_RESULT)
    found["nodes"], found["table_hits"] = 10**12, 10**11
    brief = copied(found, BRIEF_RESULT)
    assert (brief["nodes"], brief["table_hits"]) == (10**12, 10**11)


def test_nodes_of_ordering_searches_are_counted_apart():
    setup = Options("othello", depth=1, evaluation="static", ordering="shallow").setup()
    worker = KINDS[setup["kind"]](setup)
    record = do(worker, job("subtree", state_after((8, 8)), DEPTH))[0]
    assert record["ordering_nodes"] > 0
    assert record["nodes"] > 0


@all_kinds
def test_a_finished_game_is_worth_its_score_without_a_board(kind):
    bound = 0 if kind == "solve" else evaluate((4, 4), "static").bound
    record = do(runner(kind, (4, 4)), job(kind, state_after((4, 4), "X" * 16 + " O"), DEPTH))[0]
    assert (record["complete"], record["score"]) == (1, -16 - bound)
    assert (record["nodes"], record["evaluated"], record["line_length"]) == (0, 0, 0)


@pytest.mark.parametrize(("kind", "score"), [("subtree", -np.inf), ("deep", -np.inf), ("solve", -64)])
def test_a_job_stopped_at_once_knows_no_more_than_the_rules(kind, score):
    """It has searched nothing but, of exact ones, what tells which score to ask for first."""
    record = stop(runner(kind, (8, 8)), job(kind, state_after((8, 8)), 20), nodes=0)[0]
    assert (record["job_id"], record["complete"]) == (NODE, 0)
    assert 0 <= record["nodes"] <= (GUESSED if kind == "solve" else 0)
    assert record["score"] == score


# --- windows ---


@boards
@pytest.mark.parametrize("kind", TABLED)
def test_scores_are_cut_to_the_window(kind, board, rng):
    for state in quick_states(kind, board, rng):
        score = plain_score(kind, state, board)
        for low, high in ((-1, 1), (score - 1, score + 1), (score, score + 5), (score - 5, score), (score + 3, 9999)):
            record = do(runner(kind, board), job(kind, state, DEPTH, window=(low, high)))[0]
            assert (record["complete"], record["score"]) == (1, min(max(score, low), high)), (score, low, high)
            assert record["line_length"] > 0


def test_plain_search_has_its_full_window_in_any_case():
    found = [
        do(runner("subtree", (8, 8)), job("subtree", state_after((8, 8)), DEPTH, window=window))[0]
        for window in (ANY, (-1, 1), (500, 501))
    ]
    assert len({(record["score"], record["nodes"]) for record in found}) == 1


# --- budgets ---


@all_kinds
@pytest.mark.parametrize("budget", [1, 100, 5_000, 100_000])
@pytest.mark.parametrize("slice_of", [10, 1_000, NO_PAUSE])
def test_a_budget_stops_a_job(kind, budget, slice_of):
    worker = runner(kind, (8, 8))
    worker.begin(job(kind, state_after((8, 8)), 30, budget))
    assert worker.nodes <= GUESSED  # and they count
    while not worker.advance(slice_of):
        assert worker.nodes < budget
    record = worker.result(seconds=2.0, cpu=1.0)[0]
    assert (record["job_id"], record["complete"]) == (NODE, 0)
    assert budget <= record["nodes"] < budget + 50_000  # the last plies cannot be paused


@all_kinds
def test_a_budget_that_suffices_changes_nothing(kind, rng):
    for state in unfinished_states(rng, (6, 6), 5, most_empties=9):
        free = do(runner(kind, (6, 6)), job(kind, state, DEPTH))[0]
        budgeted = do(runner(kind, (6, 6)), job(kind, state, DEPTH, budget=10**6))[0]
        assert (budgeted["complete"], budgeted["score"]) == (1, free["score"])


def test_the_job_after_one_that_was_stopped_is_whole(rng):
    for kind in ("subtree", *TABLED):
        worker = runner(kind, (6, 6))
        for state in unfinished_states(rng, (6, 6), 5, most_empties=9):
            worker.begin(job(kind, state_after((6, 6)), 20, budget=1000))
            assert worker.advance(NO_PAUSE)
            assert do(worker, job(kind, state, DEPTH))[0]["score"] == plain_score(kind, state, (6, 6))


# --- what is kept from job to job ---


@pytest.mark.parametrize(("limit", "same"), [({"nodes": 1}, True), ({"depth": 1}, False)], ids=str)
def test_only_a_repeatable_runner_forgets_the_job_before(limit, same):
    worker = KINDS["deep"](Options("othello", evaluation="static", **limit).setup())
    first, again = (do(worker, job("deep", state_after((8, 8)), 8))[0] for _ in range(2))
    assert first["score"] == again["score"]
    assert (first["nodes"] == again["nodes"]) == same


FILLING = {  # jobs that fill a bucket: (board, moves before, depth), the second one of less worth than the first
    "deep": [((8, 8), "startpos", 9), ((8, 8), "f5f6e6f4e3", 7)],
    "solve": [((6, 6), "d5e3e2e5c2b4a5c1b5d2e4f4", TO_THE_END), ((6, 6), "b3b4b5b2c2a4a2c6d5e4a6d2e2a3", TO_THE_END)],
}


@pytest.mark.parametrize("kind", TABLED)
@pytest.mark.parametrize(("runs", "kept"), [((1, 1), BUCKET - 1), ((1, 2), 0), ((255, 256), 0), ((7, 300), 0)], ids=str)
def test_entries_of_an_earlier_run_are_the_first_to_go(kind, runs, kept):
    far, entries = np.zeros(2 * BUCKET + side_tables.WORDS, np.uint64), []  # one bucket
    for run, (board, moves, depth) in zip(runs, FILLING[kind]):
        # by a new runner, as if on another rank of the host: it has not searched anything yet
        worker = kinds(far)[kind](Options("othello", board=board, depth=1, evaluation="static").setup(kind))
        worker.compile()
        worker.open(run)
        assert do(worker, job(kind, state_after(board, moves), depth))[0]["complete"]
        entries.append(set(map(tuple, far[: 2 * BUCKET].reshape(BUCKET, 2).tolist())))
    first, second = entries
    assert {data >> 56 for _, data in first} == {runs[0] % GENERATIONS}
    assert {data >> 56 for _, data in second - first} == {runs[1] % GENERATIONS}
    assert len(first & second) == kept
