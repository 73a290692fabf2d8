"""The depth-limited search in slices, and stopped before its end."""

import functools
import itertools

import pytest

from distsearch.engines.pvs import kernels
from distsearch.engines.pvs import table as tt
from distsearch.games import othello
from distsearch.games.interface import Position, as_state, legal_moves

from .depth_searches import WIDEST, deep, midgame, shuffled
from .positions import NO_PAUSE, engine, rules, search, unfinished_states

pausing = pytest.mark.parametrize(
    ("board", "depth"), [((4, 4), 8), ((8, 8), 6), ((9, 8), 5), pytest.param((16, 16), 4, marks=WIDEST)], ids=str
)


@pausing
def test_pausing_changes_nothing(board, depth, rng):
    for state in unfinished_states(rng, board, 2):
        whole = search(deep(board), state, depth)
        for budget in (1, 7, 1000):
            assert search(deep(board), state, depth, budget=budget) == whole, state


@pausing
def test_a_repeatable_search_depends_on_nothing_else(board, depth, rng):
    far = tt.new_shared_table(1)
    searcher, states = deep(board, far=far, repeatable=True), unfinished_states(rng, board, 3)
    expected = {state: search(deep(board, repeatable=True), state, depth) for state in states}
    for state, budget in shuffled(rng, itertools.product(states, (1, 7, 1000, NO_PAUSE))):
        searcher.begin(rng.choice(states), depth + 1)
        searcher.advance(rng.choice((0, 1, 300)))
        assert search(searcher, state, depth, budget=budget) == expected[state], state
    assert not far.any()


def test_a_slice_keeps_to_its_budget(rng):
    searcher = deep((8, 8))
    for state in unfinished_states(rng, (8, 8), 5):
        searcher.begin(state, 8)
        before, done = 0, False
        while not done:
            done = searcher.advance(100)
            # the last board of a slice may have three plies below it
            assert searcher.nodes - before < 100 + 30**3
            assert done or searcher.nodes - before >= 100
            before = searcher.nodes


def test_an_unfinished_search_leaves_no_trace_in_the_next_ones_score(rng):
    searcher, depth = deep((8, 8)), 6
    for before, state in zip(*(unfinished_states(rng, (8, 8), 10) for _ in range(2)), strict=True):
        searcher.begin(before, rng.randint(depth, 10))
        searcher.advance(rng.choice((0, 1, 300)))
        assert search(searcher, state, depth).score == search(engine((8, 8)), state, depth).score, (before, state)


def test_a_stopped_search_knows_a_lower_bound(rng):
    board, depth, bounds = (8, 8), 7, []
    r = rules(board)
    for state in unfinished_states(rng, board, 5):
        whole = search(engine(board), state, depth).score
        searcher = deep(board)
        searcher.begin(state, depth)
        assert searcher.result() == (-kernels.INFINITY, False, [], 0, 0, 0)
        while not searcher.advance(rng.randint(0, 500)):
            stopped = searcher.result()
            assert not stopped.complete
            assert stopped.score <= whole
            assert set(stopped.line) <= set(legal_moves(othello, Position(state), r))
            bounds.append(stopped.score)
        assert searcher.result().score == whole
    assert max(bounds) > -kernels.INFINITY


def stopped_results(searcher, state, depth, window, budget):
    """Results of a search after each of its slices of ``budget()`` nodes but the last."""
    searcher.begin(state, depth, *window)
    while not searcher.advance(budget()):
        yield searcher.result()


def check_stopped(searcher, state, depth, budget, low=-kernels.INFINITY, high=kernels.INFINITY):
    """Check that a stopped search's score is above ``low`` and a bound that its move has; return how many had one."""
    r, plain, bounded = rules((8, 8)), engine((8, 8)), 0

    @functools.cache
    def worth(m):
        return -search(plain, as_state(othello.play(state, r, m)[0]), depth - 1).score

    for stopped in stopped_results(searcher, state, depth, (low, high), budget):
        case = (state, depth, low, high, stopped)
        assert set(stopped.line) <= set(legal_moves(othello, Position(state), r)), case
        if stopped.score > -kernels.INFINITY:
            (move,) = stopped.line
            assert low < stopped.score <= worth(move), case
            bounded += 1
    return bounded


def test_a_stopped_searchs_move_has_the_score_shown(full, rng):
    # the move of the depth before is worth less than what the depth at work had found by then
    assert check_stopped(deep((8, 8)), as_state((17695265259520, 35322750566400)), 7, lambda: 300)
    for state in unfinished_states(rng, (8, 8), 50 if full else 5):
        check_stopped(deep((8, 8)), state, 6, lambda: rng.randint(0, 200))


def test_a_stopped_search_knows_nothing_up_to_the_windows_low_end(full, rng):
    bounded = 0
    for state in [midgame(), *unfinished_states(rng, (8, 8), 20 if full else 2)]:
        value = search(engine((8, 8)), state, 6).score
        for low, high in ((value, value + 1), (value + 5, value + 50), (value - 1, value), (value - 20, value + 20)):
            bounded += check_stopped(deep((8, 8)), state, 6, lambda: rng.randint(0, 50), low, high)
    assert bounded > 0
