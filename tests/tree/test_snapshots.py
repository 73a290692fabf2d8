"""Sources of work that go on where others like them were: the same answers, at any number of workers."""

import numpy as np
import pytest

from distsearch.core.saved import Saved
from distsearch.games import othello
from distsearch.jobs.two_player import TO_THE_END
from distsearch.tree.deepening import Deepening
from distsearch.tree.layout import INFINITY, NODE, SENT, WAITING
from distsearch.tree.perft_pool import PerftPool
from distsearch.tree.policies import POLICIES
from distsearch.tree.position_stream import Stream
from distsearch.tree.restored import restored_nodes
from distsearch.tree.search_tree import ANY, SearchTree

from ..engines.positions import engine, evaluate, rules, search, unfinished_states
from ..jobs.driving import do, drive, grower, runner

BOARD = (6, 6)
DEPTH = 5
ASKED = "queued", "deferred", "alpha", "beta", "visited"  # of questions that are asked again
targets = pytest.mark.parametrize(("wanted_subtrees", "later"), [(1, 1), (1, 20), (20, 1), (20, 60)])


def drive_some(source, worker, rng, jobs):
    """Have at most so many jobs done while others are out."""
    out = list(source.take(3, worker=1))
    for _ in range(jobs):
        out.extend(source.take(1, worker=1))
        if source.done or not out:
            return
        source.finish(np.atleast_1d(do(worker, out.pop(rng.randrange(len(out))))))


# --- the node array ---


def test_an_array_comes_back_as_it_was_but_for_what_was_sent():
    pool = SearchTree(grower(BOARD), [othello.start(rules(BOARD)).state] * 2, DEPTH, wanted_subtrees=30)
    pool.take(7, worker=1)
    snapshot = pool.nodes.snapshot(2)[0]
    before = snapshot["records"]
    assert np.count_nonzero(before["status"] == SENT) == 7
    roots = pool.nodes.state[:2].tolist()
    nodes = restored_nodes(Saved(snapshot), grower(BOARD), roots, [DEPTH] * 2, 1)
    again = nodes.snapshot(2)[0]["records"]
    assert np.array_equal(again["status"], np.where(before["status"] == SENT, WAITING, before["status"]))
    kept = set(NODE.names) - {"status", "first_child", "previous_iteration_node", "job_id", *ASKED}
    assert all(np.array_equal(before[name], again[name]) for name in kept)
    assert np.array_equal(nodes.snapshot(2)[0]["state"], snapshot["state"])
    assert not any(again[name].any() for name in ASKED)


def test_a_snapshot_is_of_its_moment(rng):
    pool = SearchTree(grower(BOARD), [othello.start(rules(BOARD)).state], DEPTH, wanted_subtrees=10)
    snapshot = pool.snapshot()
    drive(pool, runner("subtree", BOARD), rng, workers=1)
    assert pool.is_answered(0)
    assert snapshot["finished"] == len(snapshot["lines"]) == snapshot["totals"].sum() == 0
    (root,) = snapshot["nodes"]["records"][:1]
    assert (root["low"], root["high"]) == (-INFINITY, INFINITY)


# --- pools ---


def subtrees(states, wanted_subtrees, snapshot=None):
    win_bonus = evaluate(BOARD, "static").bound
    return SearchTree(grower(BOARD), states, DEPTH, wanted_subtrees, win_bonus=win_bonus, snapshot=snapshot)


@targets
def test_a_pool_goes_on_to_the_same_scores(wanted_subtrees, later, rng):
    states = unfinished_states(rng, BOARD, 2)
    worker, expected = runner("subtree", BOARD), [search(engine(BOARD), state, DEPTH).score for state in states]
    jobs = subtrees(states, wanted_subtrees).waiting
    for done in (0, 1, rng.randrange(jobs + 1), jobs):
        pool = subtrees(states, wanted_subtrees)
        drive_some(pool, worker, rng, done)
        finished, nodes = pool.finished, int(pool.nodes.cost[:2].sum())
        pool = subtrees(states, later, pool.snapshot())
        assert pool.finished == finished
        assert int(pool.nodes.cost[:2].sum()) >= nodes
        assert done or pool.waiting == subtrees(states, max(wanted_subtrees, later)).waiting
        drive(pool, worker, rng, workers=4)
        assert [pool.score(root) for root in range(2)] == expected
        assert pool.nodes.low[:2].tolist() == pool.nodes.high[:2].tolist() == expected
        assert all(pool.line(root) for root in range(2))


def test_a_pool_that_is_not_grown_further_goes_on_to_the_same_line_and_nodes(rng):
    states, worker = unfinished_states(rng, BOARD, 1), runner("subtree", BOARD)
    whole = subtrees(states, 20)
    drive(whole, worker, rng, workers=1)
    pool = subtrees(states, 20)
    while not pool.done:
        drive_some(pool, worker, rng, 3)
        pool = subtrees(states, 20, pool.snapshot())
    assert pool.line(0) == whole.line(0)
    assert pool.nodes.cost[0] == whole.nodes.cost[0]
    assert pool.totals()["cpu"] == whole.totals()["cpu"]


def content(text):
    """What a worker tells of a job: any bytes."""
    return np.frombuffer(text.encode(), np.uint8)


def texts(progress):
    """The progress of jobs by name, as ``content`` takes it."""
    return {name: bytes(each).decode() for name, each in progress.items()}


def progress_of(pool, job):
    """How far a job that was handed out was in an earlier run."""
    return texts(pool.progress)[int(job["job_id"])]


@pytest.mark.parametrize("later", [3, 60])
def test_how_far_jobs_are_is_handed_on_first_and_until_their_results_are_in(later, rng):
    states, worker = [othello.start(rules(BOARD)).state], runner("subtree", BOARD)
    first = subtrees(states, 10)
    out = first.take(4, worker=1)
    first.finish(do(worker, out[0]))
    reported = {int(job["job_id"]): f"progress {job['job_id']}" for job in out[1:3]}
    snapshot = first.snapshot({job: content(text) for job, text in reported.items()})
    begun = texts(snapshot["progress"])
    assert sorted(begun.values()) == sorted(reported.values())
    pool = subtrees(states, later, snapshot)
    assert texts(pool.snapshot()["progress"]) == begun  # not handed out yet
    again = pool.take(2, worker=1)
    assert [progress_of(pool, job) for job in again] == [reported[int(job["job_id"])] for job in out[1:3]]
    for name in ("state", "depth", "low", "high", "budget"):
        assert again[name].tolist() == out[1:3][name].tolist()
    assert not pool.nodes.child_count[pool.jobs_out["node"][again["job_id"]]].any()
    assert texts(pool.snapshot()["progress"]) == begun
    left = {int(again["job_id"][1]): reported[int(out["job_id"][2])]}
    pool.finish(do(worker, again[0]))
    assert texts(pool.progress) == left
    kept = texts(pool.snapshot()["progress"])
    assert list(kept.values()) == list(left.values())
    again_later = subtrees(states, later, pool.snapshot()).snapshot()  # at a worker that has not begun it yet
    assert texts(again_later["progress"]) == kept
    again_later = subtrees(states, later, pool.snapshot(dict.fromkeys(left, content("later")))).snapshot()
    assert texts(again_later["progress"]) == dict.fromkeys(kept, "later")
    pool.finish(do(worker, again[1]))
    assert pool.progress == {}
    drive(pool, worker, rng, workers=4)
    assert pool.score(0) == search(engine(BOARD), states[0], DEPTH).score


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_that_was_begun_is_not_grown_by_a_run_that_would_share_it_out(policy):
    states = [othello.start(rules(BOARD)).state]
    first = SearchTree(grower(BOARD), states, TO_THE_END, 10, policy)
    (out,) = first.take(1, worker=1)
    snapshot = first.snapshot({int(out["job_id"]): content("progress")})
    pool = SearchTree(grower(BOARD), states, TO_THE_END, 10, policy, min_job_seconds=1e-6, snapshot=snapshot)
    (again,) = pool.take(1, worker=1)
    assert texts(pool.progress) == {int(again["job_id"]): "progress"}
    for name in ("state", "depth", "low", "high"):
        assert again[name].tolist() == out[name].tolist()


@targets
def test_counts_go_on_to_the_same_sums(wanted_subtrees, later, rng):
    states, worker = unfinished_states(rng, BOARD, 3), runner("perft", BOARD)
    whole = PerftPool(grower(BOARD), states, DEPTH, 10)
    drive(whole, worker, rng, workers=1)
    for done in (0, 1, 5):
        pool = PerftPool(grower(BOARD), states, DEPTH, wanted_subtrees)
        drive_some(pool, worker, rng, done)
        pool = PerftPool(grower(BOARD), states, DEPTH, later, snapshot=pool.snapshot())
        drive(pool, worker, rng, workers=4)
        assert pool.counts.tolist() == whole.counts.tolist()
        assert pool.cpu == pool.jobs


# --- deepening ---


def deepening(state, wanted_subtrees, snapshot=None, nodes=None):
    def make_pool(depth, previous=None, snapshot=None):
        win_bonus = evaluate(BOARD, "static").bound
        return SearchTree(
            grower(BOARD), [state], depth, wanted_subtrees, win_bonus=win_bonus, previous=previous, snapshot=snapshot
        )

    return Deepening(make_pool, 6, nodes, snapshot=snapshot)


@targets
def test_deepening_goes_on_to_the_same_score(wanted_subtrees, later, rng):
    state, worker = othello.start(rules(BOARD)).state, runner("subtree", BOARD)
    for done in (0, 1, 4, 50, 10_000):
        source = deepening(state, wanted_subtrees)
        drive_some(source, worker, rng, done)
        source = deepening(state, later, source.snapshot())
        drive(source, worker, rng, workers=4)
        assert source.completed_depth == 6
        assert source.completed.score(0) == search(engine(BOARD), state, 6).score
        assert source.completed.line(0)


def test_a_deepening_may_go_on_where_another_one_would_not_begin(rng):
    state, worker = othello.start(rules(BOARD)).state, runner("subtree", BOARD)
    source = deepening(state, 10)
    drive_some(source, worker, rng, 5)
    assert source.depth < 4

    def make_pool(depth, previous=None, snapshot=None):
        return SearchTree(grower(BOARD), [state], depth, 1, previous=previous, snapshot=snapshot)

    again = Deepening(make_pool, 6, first=4, snapshot=source.snapshot())
    drive(again, worker, rng, workers=1)
    assert again.completed_depth == 6


def test_a_budget_gives_the_answer_of_a_search_that_was_not_cut(rng):
    state, worker = othello.start(rules(BOARD)).state, runner("subtree", BOARD)
    whole = deepening(state, 12, nodes=2_000)
    drive(whole, worker, rng, workers=3)
    source = deepening(state, 12, nodes=2_000)
    while not source.done:
        drive_some(source, worker, rng, 4)
        source = deepening(state, 12, source.snapshot(), nodes=2_000)
    assert source.completed_spent == whole.completed_spent
    assert source.completed.line(0) == whole.completed.line(0)
    assert source.proved == whole.proved


# --- streams ---


def stream(workers, snapshot=None, all_moves=False):
    """A Stream of positions to be solved, of which nearly all are hard."""

    def make_pool(state, window, shared, snapshot=None):
        wanted_subtrees = 4 * workers if shared else 1
        return SearchTree(
            grower(BOARD),
            [state],
            TO_THE_END,
            wanted_subtrees,
            full_width_depth=int(all_moves),
            window=window,
            snapshot=snapshot,
        )

    words = len(othello.start(rules(BOARD)).state)
    return Stream(words, TO_THE_END, workers, make_pool, ANY, all_moves=all_moves, first_try=20, snapshot=snapshot)


def add(source, states, count):
    """Add the next positions; return those that are left."""
    source.add(np.array(states[:count], np.uint64).reshape(len(states[:count]), -1))
    source.closed = not states[count:]
    return states[count:]


def collect(source, answers):
    """Take the answers that are next, with the moves of what was grown."""
    number, records = source.collect()
    for i, record in enumerate(records, number):
        pool = source.grown.pop(i, None)
        answers.append((record["score"], pool and sorted(pool.children(0))))


@pytest.mark.parametrize("all_moves", [False, True])
def test_a_stream_goes_on_to_the_same_scores_however_often_it_ends(all_moves, rng):
    states = unfinished_states(rng, BOARD, 12, most_empties=8)
    worker, answers, snapshot = runner("subtree", BOARD), [], None
    while len(answers) < len(states):
        source = stream(rng.choice([1, 2, 5]), snapshot, all_moves)
        left = add(source, states[len(answers) :], rng.choice([3, 12]))
        for _ in range(rng.randrange(6)):
            drive_some(source, worker, rng, rng.randrange(6))
            collect(source, answers)
        if left and rng.random() < 0.5:
            add(source, left, 12)
        snapshot = source.snapshot()
    for state, (score, moves) in zip(states, answers, strict=True):
        assert score == search(engine(BOARD), state).score
        if all_moves:
            assert max(value for _, value, exact in moves if exact) == score
            assert all(exact for _, _, exact in moves)


def test_what_a_snapshot_knows_is_kept_until_its_position_comes(rng):
    states = unfinished_states(rng, BOARD, 6, most_empties=8)
    source = stream(3)
    add(source, states, 6)
    drive(source, runner("subtree", BOARD), rng, workers=3)
    late = stream(3, source.snapshot())
    add(late, states, 1)
    assert late.answered == 1
    last = stream(3, late.snapshot())
    add(last, states, 6)
    assert (last.answered, last.waiting, last.done) == (6, 0, True)
    number, records = last.collect()
    assert records["score"].tolist() == [search(engine(BOARD), state).score for state in states]


def test_the_next_try_has_the_nodes_that_it_was_to_have(rng):
    states = [othello.start(rules(BOARD)).state] * 20
    source = stream(2)
    add(source, states, 20)
    (job,) = source.take(1, worker=1)
    record = do(runner("subtree", BOARD), job)
    assert not record["complete"][0]
    source.finish(record)
    snapshot = source.snapshot()
    budget = 4 * int(record["nodes"][0])
    assert snapshot["positions"]["budget"].tolist() == [budget]
    again = stream(1, snapshot)
    add(again, states, 20)
    (job,) = again.take(1, worker=1)
    assert (job["budget"], tuple(job["state"])) == (budget, states[0])


def test_how_far_the_jobs_of_positions_and_of_subtrees_are_is_handed_on():
    states, worker = [othello.start(rules(BOARD)).state] * 3, runner("subtree", BOARD)
    first = stream(2)
    add(first, states, 3)
    alone = first.take(1, worker=1)
    first.finish(do(worker, first.take(1, worker=2)[0]))
    first.finish(do(worker, first.take(1, worker=2)[0]))  # both hard: by now one is grown
    subtree = next(job for job in (first.take(1, worker=2) for _ in range(4)) if job["job_id"][0] < 0)
    reported = {int(alone["job_id"][0]): content("alone"), int(subtree["job_id"][0]): content("subtree")}
    snapshot = first.snapshot(reported)

    late = stream(2, snapshot)  # none of its positions has come
    again = stream(2, late.snapshot())
    add(again, states, 3)
    handed_out = [again.take(1, worker=1) for _ in range(4)]
    known = texts(again.progress)
    begun = {known[job["job_id"][0]]: job for job in handed_out if job["job_id"][0] in known}
    assert set(begun) == {"alone", "subtree"}
    for name, job in (("alone", alone), ("subtree", subtree)):
        assert begun[name]["state"].tolist() == job["state"].tolist()
    again.finish(do(worker, begun["alone"][0]))
    assert list(texts(again.progress).values()) == ["subtree"]
