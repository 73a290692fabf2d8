"""Searches that are paused in one engine and gone on with in another: the same answers, and without tables the same
nodes."""

import pytest

from distsearch.engines.alphabeta import AlphaBeta
from distsearch.engines.perft import Perft
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.engines.pvs.table import new_shared_table
from distsearch.games import connect4, othello

from .depth_searches import deep
from .positions import NO_PAUSE, engine, evaluate, rules, search, unfinished_states

BOARDS = [(6, 6), (9, 8)]  # of one word and of two
boards = pytest.mark.parametrize("board", BOARDS, ids=str)


def relayed(make, begin, rng, longest):
    """Have a search done by one new engine after another, each for a random number of nodes; return the last one."""
    runner = make()
    begin(runner)
    while not runner.advance(rng.randrange(longest)):
        content, runner = runner.save(), make()
        begin(runner)
        runner.advance(rng.randrange(50))  # what it has searched before is forgotten
        begin(runner)
        runner.restore(content)
    return runner


@boards
@pytest.mark.parametrize("ordering", ["none", "static", "shallow:2"])
def test_plain_alpha_beta_visits_the_same_nodes(board, ordering, rng):
    def make():
        return AlphaBeta(othello, rules(board), evaluate(board, "static"), True, ordering)

    for state in unfinished_states(rng, board, 4):
        depth = rng.randint(4, 6)
        found = relayed(make, lambda runner, state=state, depth=depth: runner.begin(state, depth), rng, 2_000)
        assert found.result() == search(engine(board, ordering=ordering), state, depth)


@boards
def test_counts_are_the_same(board, rng):
    for state in unfinished_states(rng, board, 4):
        depth = rng.randint(4, 6)
        whole = Perft(othello, rules(board))
        whole.begin(state, depth)
        assert whole.advance(NO_PAUSE)
        found = relayed(
            lambda: Perft(othello, rules(board)),
            lambda runner, state=state, depth=depth: runner.begin(state, depth),
            rng,
            20_000,
        )
        assert found.counts.tolist() == whole.counts.tolist()


@boards
def test_searches_with_a_table_have_the_same_score(board, rng):
    for state in unfinished_states(rng, board, 4):
        depth = rng.randint(5, 7)
        found = relayed(
            lambda: deep(board), lambda runner, state=state, depth=depth: runner.begin(state, depth), rng, 2_000
        ).result()
        assert found.complete
        assert found.score == search(engine(board), state, depth).score
        assert found.line


@pytest.mark.parametrize("tables", [0, 1])
def test_solutions_are_the_same(tables, rng):
    r = connect4.rules()
    for text in ("44444432", "4444443213", "7654321765432"):
        state = connect4.parse(text, r).state
        whole = ExactSolver(connect4, r, new_shared_table(1))
        whole.begin(state)
        assert whole.advance(NO_PAUSE)
        window = rng.choice([(-100, 100), (-1, 1), (2, 5)])
        found = relayed(
            lambda: ExactSolver(connect4, r, new_shared_table(tables)),
            lambda runner, state=state, window=window: runner.begin(state, *window),
            rng,
            2_000_000,
        )
        assert found.result().score == min(max(whole.result().score, window[0]), window[1])
        assert found.nodes > 0


def test_the_nodes_so_far_are_counted_and_little_is_saved():
    board = (9, 8)
    state = othello.start(rules(board)).state
    first = deep(board)
    first.begin(state, 14)
    assert not first.advance(20_000)
    content = first.save()
    second = deep(board)
    second.begin(state, 14)
    second.restore(content)
    assert (second.nodes, second.table_counts) == (first.nodes, first.table_counts)
    assert len(content) < 50_000


def test_a_search_that_must_repeat_itself_begins_again():
    runner = deep((6, 6), repeatable=True)
    runner.begin(othello.start(rules((6, 6))).state, 12)
    assert not runner.advance(1_000)
    assert runner.save() == b""
