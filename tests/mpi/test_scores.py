"""Searches on any number of ranks: always the score of plain minimax; their limits and their metrics."""

import time
import traceback

import pytest

from distsearch.api.options import Options
from distsearch.api.perft import perft
from distsearch.api.progress import Progress
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster.local import InProcessCluster
from distsearch.games import othello
from distsearch.games.interface import Position
from distsearch.jobs.two_player import KINDS
from distsearch.tree.submaster_source import SHARES

from ..engines.positions import board_id, engine, rules, search, unfinished_states

DEPTHS = {(4, 4): 8, (6, 6): 6, (8, 8): 5, (9, 8): 4}
WIDE = (9, 8)  # its exact kernels take 16 seconds to compile, while the other ranks wait; tests/search has them
PERFT = {(6, 6): [1, 4, 12, 56, 244, 1364, 7604, 47740], (8, 8): [1, 4, 12, 56, 244, 1396, 8200, 55092, 390216]}
LATE = 0.3  # seconds that a search may take longer than its limit
UNEXPLAINED = 0.02  # share of a worker's time that its timers may miss

boards = pytest.mark.parametrize("board", DEPTHS, ids=board_id)
load_factors = pytest.mark.parametrize("load_factor", [1, 4, 16])


@pytest.fixture
def with_cluster(comm, agree):
    """``with_cluster(body)``: rank 0 calls ``body(cluster)`` while all others work for it; all fail if that fails.

    groups: sub-masters, as far as there are workers for them.
    """

    def run(body, groups=0):
        if groups and comm.Get_size() < 3:
            pytest.skip("a worker alone has no sub-master")
        groups = min(groups, (comm.Get_size() - 1) // 2)
        failure = ""
        if comm.Get_rank() > 0:
            from distsearch.cluster.mpi import work_for_master

            work_for_master(comm, KINDS, None, groups, SHARES)
        else:
            cluster = _cluster(comm, groups)
            try:
                body(cluster)
            except Exception:
                failure = traceback.format_exc()
            cluster.close()
        agree(not failure, failure)

    return run


def _cluster(comm, groups):
    if comm.Get_size() == 1:
        return InProcessCluster(KINDS)
    from distsearch.cluster.mpi import MpiCluster  # which starts MPI

    return MpiCluster(comm, submasters=groups)


def outcomes(cluster, board, states, **options):
    """The Outcomes of a search of all states, by the static evaluation."""
    searcher = TwoPlayerSearcher(Options("othello", board=board, evaluation="static", **options), cluster)
    return list(searcher.search([Position(state) for state in states]))


def minimax(board, state, depth=None):
    """The score by the engine's minimax, which tests/search checks against a plain one."""
    return search(engine(board, "static", "none", prune=False), state, depth).score


# --- scores ---


@pytest.mark.parametrize("policy", ["window", "brothers", "split"])
@pytest.mark.parametrize("groups", [0, 2])
@boards
def test_the_score_is_minimax_by_every_policy(board, groups, policy, with_cluster, full, rng):
    def body(cluster):
        states = unfinished_states(rng, board, 20 if full else 2)
        late = unfinished_states(rng, board, 5 if full else 1, most_empties=9) if full or board != WIDE else ()
        expected = [minimax(board, state, DEPTHS[board]) for state in states]
        together = outcomes(cluster, board, states, depth=DEPTHS[board], policy=policy)
        alone = [outcomes(cluster, board, [state], depth=DEPTHS[board], policy=policy)[0] for state in states]
        assert [outcome.score for outcome in together] == [outcome.score for outcome in alone] == expected
        for state in late:
            (solved,) = outcomes(cluster, board, [state], exact=True, policy=policy)
            assert solved.score == minimax(board, state)

    with_cluster(body, groups)


@pytest.mark.parametrize("groups", [0, 2])
def test_parts_of_a_search_go_to_idle_workers(groups, with_cluster):
    """A search of a second, of which a worker alone would make one job."""

    def body(cluster):
        start = othello.start(rules((8, 8))).state
        by_pool, by_split = (
            outcomes(cluster, (8, 8), [start], depth=13, policy=policy)[0] for policy in ("pool", "split")
        )
        assert by_split.score == by_pool.score
        assert by_split.complete
        if cluster.workers > 1 and cluster.submasters != 1:
            assert by_split.jobs > 1
            assert by_split.tree_nodes > 1

    with_cluster(body, groups)


@boards
@load_factors
def test_the_score_is_minimax(board, load_factor, with_cluster, full, rng):
    def body(cluster):
        states = unfinished_states(rng, board, 50 if full else 3)
        expected = [minimax(board, state, DEPTHS[board]) for state in states]
        for options in ({}, {"ordering": "none", "algorithm": "minimax"}):
            found = outcomes(cluster, board, states, depth=DEPTHS[board], load_factor=load_factor, **options)
            assert [outcome.score for outcome in found] == expected
            assert all(outcome.complete for outcome in found)

    with_cluster(body)


@pytest.mark.parametrize(
    "board", [pytest.param(each, marks=pytest.mark.full) if each == WIDE else each for each in DEPTHS], ids=board_id
)
@load_factors
def test_the_score_to_the_end_is_minimax(board, load_factor, with_cluster, full, rng):
    def body(cluster):
        states = unfinished_states(rng, board, 50 if full else 3, most_empties=8)
        found = outcomes(cluster, board, states, exact=True, load_factor=load_factor)
        assert [outcome.score for outcome in found] == [minimax(board, state) for state in states]
        assert all(outcome.proved and outcome.unit == "discs" for outcome in found)

    with_cluster(body)


@load_factors
def test_small_boards_are_solved(load_factor, with_cluster):
    known = {(4, 4): -10, (4, 5): 16, (5, 4): 16}

    def body(cluster):
        for board, score in known.items():
            start = othello.start(rules(board)).state
            (outcome,) = outcomes(cluster, board, [start], exact=True, load_factor=load_factor)
            assert (outcome.score, outcome.proved) == (score, True)

    with_cluster(body)


# --- limits ---


def test_a_search_ends_with_its_time(with_cluster, rng):
    def body(cluster):
        board, limit = (8, 8), 0.5
        states = unfinished_states(rng, board, 3, most_empties=50)
        outcomes(cluster, board, states[:1], time=1e-3)  # so that all kernels are there
        outcomes(cluster, board, unfinished_states(rng, board, 1, most_empties=4), exact=True)
        for state in states:
            began = time.perf_counter()
            (outcome,) = outcomes(cluster, board, [state], time=limit)
            seconds = time.perf_counter() - began
            print(f"{limit} s: {seconds:.3f} s, depth {outcome.depth}")
            assert outcome.score is not None
            assert seconds <= limit + LATE
            assert outcome.proved or outcome.seconds >= limit

    with_cluster(body)


@pytest.mark.parametrize("nodes", [1, 500, 30_000])
def test_a_search_of_so_many_nodes_repeats_itself(nodes, with_cluster, rng):
    def body(cluster):
        for board in ((6, 6), (9, 8)):
            for state in unfinished_states(rng, board, 2):
                found = [outcomes(cluster, board, [state], nodes=nodes, load_factor=4)[0] for _ in range(4)]
                answers = [(o.score, o.move, o.pv, o.depth, o.nodes, o.proved, o.complete) for o in found]
                assert answers == answers[:1] * 4

    with_cluster(body)


# --- perft, and one run after another ---


def perft_counts(cluster, board, depth):
    options = Options("othello", board=board)
    (count,) = perft(options, depth, [othello.start(rules(board))], cluster, Progress(), lambda: False)
    assert count.complete
    return count.counts


@pytest.mark.parametrize("board", PERFT, ids=board_id)
def test_perft_counts_are_the_known_ones(board, with_cluster):
    def body(cluster):
        for depth in range(len(PERFT[board])):
            assert perft_counts(cluster, board, depth) == PERFT[board][: depth + 1]

    with_cluster(body)


def test_runs_of_all_kinds_follow_one_another(with_cluster, rng):
    def body(cluster):
        for board in ((6, 6), (8, 8), (6, 6)):
            (state,) = unfinished_states(rng, board, 1, most_empties=8)
            assert outcomes(cluster, board, [state], depth=3)[0].score == minimax(board, state, 3)
            assert outcomes(cluster, board, [state], exact=True)[0].score == minimax(board, state)
            assert perft_counts(cluster, board, 4) == [1, 4, 12, 56, 244]
            assert outcomes(cluster, board, [state], time=5)[0].score == minimax(board, state)

    with_cluster(body)


def test_an_interrupt_ends_a_run_and_the_next_one_is_complete(with_cluster):
    def body(cluster):
        board = (8, 8)
        state = othello.start(rules(board)).state  # hours from its end
        options = Options("othello", board=board, evaluation="static", exact=True)
        began = time.perf_counter()
        searcher = TwoPlayerSearcher(options, cluster, interrupted=lambda: time.perf_counter() > began + 0.5)
        (outcome,) = searcher.search([Position(state)])
        assert not outcome.complete
        assert outcome.move
        assert outcomes(cluster, board, [state], depth=5)[0].score == minimax(board, state, 5)

    with_cluster(body)


# --- metrics ---


def test_workers_account_for_their_time(with_cluster, rng):
    def body(cluster):
        board = (8, 8)
        states = unfinished_states(rng, board, 10, most_empties=50)
        found = outcomes(cluster, board, states, depth=10, load_factor=16)[0]
        assert [worker["rank"] for worker in found.per_worker] == list(range(1, cluster.workers + 1))
        for worker in found.per_worker:
            explained = worker["busy"] + worker["communication"] + worker["idle"]
            missing = 1 - explained / worker["wall"]
            print(f"rank {worker['rank']}: {worker['wall']:.3f} s, busy {worker['busy']:.3f} s, missing {missing:.2%}")
            assert abs(missing) <= UNEXPLAINED
        assert sum(worker["jobs"] for worker in found.per_worker) == found.jobs

    with_cluster(body)
