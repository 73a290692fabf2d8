"""Exact searches that order moves by a learnt evaluation: whatever it says, scores are the same."""

import random

import pytest

from distsearch import evaluation
from distsearch.engines.pvs import kernels, move_ordering
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.engines.pvs.table import new_shared_table
from distsearch.evaluation import patterns as pt
from distsearch.games import othello
from distsearch.games.interface import as_state
from distsearch.games.random_play import random_position

from ..evaluation.test_patterns import network
from .positions import rules, unfinished_states

BOARD = (8, 8)
EMPTIES = 12
MOST_MOVES = 33  # of a position


def solver(order, ranked=None):
    """A solver; ranked: moves left from which on it orders by the evaluation, and how many more take a ply."""
    made = ExactSolver(othello, rules(BOARD), new_shared_table(1), order=order)
    made.compile()
    if ranked:
        made._control["order_from"], made._control["order_step"] = ranked
    return made


def solve(engine, state, low=-kernels.INFINITY, high=kernels.INFINITY):
    engine.clear()
    engine.begin(state, low, high)
    assert engine.advance(1 << 40)
    return engine.result()


@pytest.mark.parametrize("ranked", [(7, 1), (8, 3)])
def test_scores_do_not_depend_on_the_order(ranked, rng, full, seed):
    """Not even where weights are nonsense, and so is the score that is asked for first."""
    nonsense = evaluation.Evaluation("patterns", pt.patterns, pt.tables_of(network(seed=seed)), pt.BOUND, unit=pt.UNIT)
    by_nonsense, plain = solver(nonsense, ranked), solver(None)
    for state in unfinished_states(rng, BOARD, 200 if full else 30, EMPTIES):
        expected = solve(plain, state)
        found = solve(by_nonsense, state)
        assert found.score == expected.score
        assert found.complete
        low = expected.score + rng.randrange(-4, 4)
        assert solve(by_nonsense, state, low, low + 1).score == min(max(expected.score, low), low + 1)


def test_the_order_saves_nodes():
    """With the weights that are shipped, over positions late enough to take little time: the same ones every time."""
    learnt, plain = solver(evaluation.for_order(othello, rules(BOARD))), solver(None)
    late = unfinished_states(random.Random(2), BOARD, 120, 18)
    states = [state for state in late if othello.moves_left(state, rules(BOARD)) == 18]
    nodes = {learnt: 0, plain: 0}
    for state in states:
        for engine in nodes:
            solve(engine, state)
            nodes[engine] += engine.nodes
    assert nodes[learnt] < 0.9 * nodes[plain]


def test_the_first_guess_is_short_and_counts(rng):
    """Without a limit it would take millions of nodes of some of these positions."""
    engine, most = solver(evaluation.for_order(othello, rules(BOARD))), move_ordering.MAX_GUESS_NODES
    nodes = []
    for state in unfinished_states(rng, BOARD, 300):
        engine.begin(state)
        nodes.append(engine.nodes)
        engine.begin(state, -1, 1)  # who wins is one question, whatever the guess
        assert engine.nodes == 0
    assert most <= max(nodes) < most + 6 * MOST_MOVES  # where it gives up, the moves on the way are still played
    assert sum(0 < n < most for n in nodes) > 50


def test_boards_of_eight_and_six_have_an_order():
    for board in (BOARD, (6, 6)):
        order = evaluation.for_order(othello, rules(board))
        assert (order.unit, order.ordering) == (pt.UNIT, pt.PRESETS[board].ordering)
    assert evaluation.for_order(othello, rules((6, 8))) is None


def test_the_order_of_a_smaller_board_saves_more():
    """Scores of 6×6 are those without it, by half of the nodes or less."""
    order = evaluation.for_order(othello, rules((6, 6)))
    engines = [ExactSolver(othello, rules((6, 6)), new_shared_table(16), order=order) for order in (order, None)]
    late = unfinished_states(random.Random(3), (6, 6), 40, 22)
    states = [state for state in late if othello.moves_left(state, rules((6, 6))) >= 21][:3]
    assert len(states) == 3
    nodes = [0, 0]
    for state in states:
        found = [solve(engine, state) for engine in engines]
        assert found[0].score == found[1].score
        nodes = [n + engine.nodes for n, engine in zip(nodes, engines, strict=True)]
    assert nodes[0] < nodes[1] / 2


def test_the_first_player_loses_on_6x6_by_four(full):
    """As is known since Feinstein (1993)."""
    if not full:
        pytest.skip("takes a minute; with --full only")
    order = evaluation.for_order(othello, rules((6, 6)))
    engine = ExactSolver(othello, rules((6, 6)), new_shared_table(256), order=order)
    assert solve(engine, othello.start(rules((6, 6))).state).score == -4


def paused(engine, state, frames):
    """Begin to solve ``state`` and stop where so many frames are open; return them."""
    engine.begin(state)
    for _ in range(10_000):
        engine.advance(1)
        opened = engine._frames[: engine._control["top"] + 1]
        if len(opened) == frames:
            return opened
    raise AssertionError(f"never {frames} frames")


def states_with(left, rng, n):
    """Random states with so many empty squares: after a pass there is one more than plies tell."""
    found = []
    while len(found) < n:
        state = random_position(othello, rules(BOARD), [60 - left], rng).state
        if int(othello.moves_left(as_state(state), rules(BOARD))) == left:
            found.append(state)
    return found


def test_moves_of_the_root_have_the_values_of_short_searches_and_keep_them(rng):
    """With 14 moves left these are evaluations of what a move leads to; of the node, where it is too bad for a cut."""
    order = evaluation.for_order(othello, rules(BOARD))
    engine = solver(order)
    seen = 0
    for state in states_with(14, rng, 20):
        root, values = paused(engine, state, 2)[0], []
        if root["count"] == 1:
            continue
        own = int(order.function(as_state(state), rules(BOARD), order.tables))
        if own < (root["beta"] - 5) * pt.UNIT:
            assert set(engine._scores[: root["count"]].tolist()) == {own}
            continue
        seen += 1
        for i in range(root["count"]):
            child, _ = othello.play(state, rules(BOARD), int(engine._moves[i]))
            values.append(-int(order.function(as_state(child), rules(BOARD), order.tables)))
        assert engine._scores[: len(values)].tolist() == values
    assert seen > 5


def test_a_later_move_is_expected_to_score_what_its_node_was_less_what_it_is_worse(rng):
    engine = solver(evaluation.for_order(othello, rules(BOARD)))
    seen = 0
    for state in states_with(18, rng, 20):
        above, frame = paused(engine, state, 2)
        if frame["count"] < 3 or above["count"] < 2:
            continue
        seen += 1
        scores = engine._scores[frame["first"] :]
        frame["next"] = 0
        assert kernels.expected_score(engine._control, frame) == scores[0]
        frame["next"] = 2
        node = -engine._scores[above["first"] + above["next"] - 1]
        assert kernels.expected_score(engine._control, frame) == node + scores[2] - scores[0]
    assert seen > 5
