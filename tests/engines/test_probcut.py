"""Selective searches: against a plain twin, with tests that are always right, in slices, split, next to others."""

import functools
import itertools
import math

import numpy as np
import pytest

from distsearch.core.jit import compiled
from distsearch.engines.pvs import kernels
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.probcut import table
from distsearch.engines.pvs.work_splitting import levels
from distsearch.evaluation import Evaluation
from distsearch.games import othello
from distsearch.games.interface import END, MAX_MOVES, as_state

from ..games import tictactoe
from .depth_searches import EVERYWHERE, NEVER, changed, shuffled
from .positions import NO_PAUSE, engine, evaluate, rules, search, unfinished_states
from .probcut_twin import SelectiveTwin

PAIRS = ((4, 1), (4, 2), (5, 1), (6, 2), (6, 4))  # of depths
PLAIN = {"table_from": NEVER, "cut_from": NEVER, "step": NEVER, "bottom": 0}
ONE_SIGMA = 0.841344746068543  # the probability for which margins are sigmas
R = tictactoe.rules()
INFINITE = int(kernels.INFINITY)


def rows(pairs, stages, of):
    """Rows of a fit for every stage: (stage, deep, shallow, slope, offset, sigma), the last three from ``of()``."""
    return [(stage, *pair, *of()) for stage in range(stages) for pair in pairs]


def selective(game, r, chosen, fitted, far=None, changes=None, stage=3):
    far = np.zeros(8 * 1000, np.uint64) if far is None else far
    tests = table(ONE_SIGMA, stage, fitted, chosen.bound)
    return changed(DepthSearch(game, r, chosen, far, selective=tests), changes or {})


def othellos(pairs, sigma, far=None, changes=None):
    """An engine for 6×6 whose fits all have one sigma."""
    fitted = rows(pairs, 6, lambda: (1.0, 0.0, sigma))
    return selective(othello, rules((6, 6)), evaluate((6, 6), "complex"), fitted, far, changes, stage=6)


@functools.cache
def states():
    """Every position of tic-tac-toe."""
    found, new = {}, [as_state(tictactoe.start(R).state)]
    while new:
        state = new.pop()
        if state not in found:
            found[state] = None
            new += [as_state(tictactoe.play(state, R, m)[0]) for m in moves(state)]
    return list(found)


def moves(state, left=None):
    out = np.zeros(MAX_MOVES, np.int16)
    return out[: tictactoe.moves(state, R, out, 0)].tolist()


@compiled
def look_up(s, r, tables):
    return np.int64(tables[s[0] | s[1] << np.uint64(9)])


def looked_up(values, bound):
    """The Evaluation that is a list of values."""
    return Evaluation("looked_up", look_up, values.view(np.uint64), bound)


def test_it_searches_what_a_plain_twin_does(full, rng):
    cuts = 0
    for _ in range(30 if full else 6):
        highest = rng.choice((3, 20, 1000))
        values = np.array(rng.choices(range(-highest, highest + 1), k=1 << 18))
        chosen = looked_up(values, rng.choice((0, highest)))
        fitted = rows(PAIRS, 4, lambda: (rng.uniform(0.5, 2), rng.uniform(-2, 2), rng.uniform(0, highest)))  # noqa: B023
        searcher = selective(tictactoe, R, chosen, fitted, changes=PLAIN)
        tests = {}
        for stage, deep, shallow, *found in sorted(fitted):
            tests.setdefault((stage, deep), []).append((shallow, *found))
        for state in rng.sample([s for s in states() if tictactoe.kind(s, R) != END], 20) + [states()[0]]:
            twin, depth = SelectiveTwin(tictactoe, R, chosen, 3, tests, moves), rng.randint(4, 7)
            depth = min(depth, 2 * int(tictactoe.moves_left(state, R)) + 1)
            score = twin.search(state, depth)
            result = search(searcher, state, depth, budget=rng.choice((1, 7, NO_PAUSE)))
            assert (result.score, result.nodes) == (score, twin.nodes), (values[:9], fitted, state, depth)
            cuts += twin.cuts
    assert cuts > 20


@functools.cache
def true():
    """The Evaluation of tic-tac-toe that is always right: so is a search to any depth."""
    values = np.zeros(1 << 18, np.int64)
    for state in sorted(states(), key=lambda s: tictactoe.moves_left(s, R)):
        after = [as_state(tictactoe.play(state, R, m)[0]) for m in moves(state)]
        below = [-values[int(own) | int(other) << 9] for own, other in after]
        values[int(state[0]) | int(state[1]) << 9] = max(below) if below else tictactoe.final(state, R)
    return looked_up(values, 0)


def truth(state):
    return int(look_up(as_state(state), R, true().tables))


@pytest.mark.parametrize("changes", [{}, EVERYWHERE, PLAIN], ids=["as it is", "tables everywhere", "none of it"])
def test_tests_that_are_always_right_change_no_score_however_it_is_steered(changes, full, rng):
    searcher = selective(tictactoe, R, true(), rows(PAIRS, 4, lambda: (1.0, 0.0, 0.0)), changes=changes)
    plain = selective(tictactoe, R, true(), (), changes=changes)
    begun = [s for s in states() if tictactoe.moves_left(s, R) >= 6 and tictactoe.kind(s, R) != END]
    saved = given = 0
    for state in rng.choices(begun, k=400 if full else 60):
        depth, window, answers = rng.randint(4, 8), (-INFINITE, INFINITE), state
        for each in (searcher, plain):
            each.clear()
        searcher.begin(state, depth)
        while not searcher.advance(rng.choice((1, 3, 10))):
            if rng.random() < 0.1:
                low, high = sorted((rng.randint(-2, 2), rng.randint(-2, 3)))
                low, high = max(low, window[0]), min(high, window[1])
                if low < high:
                    searcher.narrow(low, high)
                    window = low, high
            elif rng.random() < 0.1 and (words := searcher.split_off(1)) is not None:
                given += 1
                parts = levels(words)
                for level, after in itertools.pairwise((*parts, None)):
                    answers = as_state(tictactoe.play(answers, R, level.moves[level.tried])[0])
                    assert after is None or after.depth_left == level.depth_left - 1
                window = -parts[-1].given, -max(parts[-1].alpha, parts[-1].best)
            assert tuple(searcher._state) == tuple(answers)
        score = truth(answers)
        assert searcher.result().score == max(window[0], min(score, window[1])), (state, depth, window)
        whole = search(searcher, state, depth), search(plain, state, depth)
        assert whole[0].score == whole[1].score == truth(state)
        saved += whole[1].nodes - whole[0].nodes
    assert given > 0
    assert changes != PLAIN or saved > 0


def test_where_no_error_is_small_enough_nothing_changes(rng):
    searcher, plain = othellos(PAIRS, math.inf), othellos((), 0.0)
    ordinary = DepthSearch(othello, rules((6, 6)), evaluate((6, 6), "complex"), np.zeros(8 * 1000, np.uint64))
    for state in unfinished_states(rng, (6, 6), 5):
        for each in (searcher, plain, ordinary):
            each.clear()
        expected = search(ordinary, state, 7)
        assert search(searcher, state, 7) == search(plain, state, 7) == expected, state


def test_pausing_changes_nothing(rng):
    for state in unfinished_states(rng, (6, 6), 3):
        whole = search(othellos(PAIRS, 3.0), state, 8)
        for budget in (1, 7, 1000):
            assert search(othellos(PAIRS, 3.0), state, 8, budget=budget) == whole, state


def test_a_saved_search_goes_on(rng):
    for state in unfinished_states(rng, (6, 6), 3):
        whole, searcher = search(othellos(PAIRS, 3.0, changes=PLAIN), state, 6), othellos(PAIRS, 3.0, changes=PLAIN)
        searcher.begin(state, 6)
        while not searcher.advance(rng.randint(1, 500)):
            other = othellos(PAIRS, 3.0, changes=PLAIN)
            other.begin(state, 6)
            other.restore(searcher.save())
            searcher = other
        assert searcher.result().score == whole.score, state


def test_it_searches_less(rng):
    searcher, plain = othellos(PAIRS, 1.0), othellos((), 0.0)
    nodes = [0, 0]
    for state in unfinished_states(rng, (6, 6), 20, 24):
        for i, each in enumerate((searcher, plain)):
            each.clear()
            nodes[i] += search(each, state, 6).nodes
    assert nodes[0] < nodes[1]


def test_no_search_takes_what_another_selectivity_left(full, rng):
    far, board = tt.new_shared_table(1), (6, 6)
    every = changed(DepthSearch(othello, rules(board), evaluate(board, "complex"), far), EVERYWHERE)
    others = [othellos(PAIRS, sigma, far, EVERYWHERE) for sigma in (0.0, 1.0, 2.0)]
    salts = {int(each._control["salt"]) for each in (every, *others)}
    assert len(salts) == 4
    for state in unfinished_states(rng, board, 30 if full else 5):
        depth = rng.randint(4, 6)
        for each in shuffled(rng, others):
            search(each, state, depth)
        assert search(every, state, depth).score == search(engine(board, "complex"), state, depth).score, (state, depth)


def test_what_is_foretold_is_not_proved(rng):
    """Where all of a game is searched nothing is foretold, and of another one some leaf always counts as evaluated."""
    searcher = othellos(PAIRS, 0.0)
    for state in unfinished_states(rng, (6, 6), 10, 8):
        left = int(othello.moves_left(state, rules((6, 6))))
        result = search(searcher, state, 2 * left + 1)
        assert result.evaluated == 0
        assert result.score == search(engine((6, 6), "complex"), state, 2 * left + 1).score
