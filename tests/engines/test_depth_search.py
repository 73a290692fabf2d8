"""The depth-limited search with a table: against plain search, whatever else its tables hold."""

import functools
import itertools
from types import SimpleNamespace

import pytest

from distsearch import games
from distsearch.core.jit import compiled
from distsearch.engines.pvs import kernels
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.games import othello, othello_knowledge
from distsearch.games.interface import END, PASS

from ..games.othello_twin import OthelloTwin
from . import positions
from .depth_searches import CHANGES, DEEP_PLIES, EVERYWHERE, NEVER, check_line, deep, deep_boards, midgame, shuffled
from .minimax_twin import Worth, grow, minimax
from .positions import engine, evaluate, rules, search

# board → plies of the plain trees below positions of any stage; near the end of a game trees are small
PLIES = {(4, 4): 5, (5, 6): 4, (8, 8): 3, (9, 8): 2}
MORE_PLIES = {(4, 4): 7, (5, 6): 5, (8, 8): 4, (9, 8): 4, (16, 16): 2}

boards = pytest.mark.parametrize(
    "board",
    [board if board in PLIES else pytest.param(board, marks=pytest.mark.full) for board in MORE_PLIES],
    ids=positions.board_id,
)


class Sample:
    """A position as a state and as a plain tree of so many plies, with its values by some evaluations."""

    def __init__(self, board, position, plies, evaluations):
        self.state, self.plies = positions.state_of(board, position), plies
        self.tree = grow(OthelloTwin(*board), position, plies)
        worths = {name: Worth(board, name) for name in evaluations}
        self.values = {
            name: [minimax(self.tree, depth, worth) for depth in range(plies + 1)] for name, worth in worths.items()
        }


@pytest.fixture(scope="module")
def samples(seed, full):
    """A function from a board to its Samples: from all stages of random games, and from their last moves."""

    @functools.cache
    def of(board):
        plies = (MORE_PLIES if full else PLIES)[board]
        return [
            Sample(board, *case, positions.names(board, full))
            for case in positions.positions_to_grow(seed, board, 12 if full else 2, plies)
        ]

    return of


# --- values ---


@boards
def test_the_value_is_minimax(board, samples, full, rng):
    """With entries of all depths, of other positions and of other evaluations around."""
    far = tt.new_shared_table(1)
    limits = {}, EVERYWHERE
    engines = [
        (name, deep(board, name, far, changes=changes)) for name in positions.names(board, full) for changes in limits
    ]
    cases = [(sample, depth) for sample in samples(board) for depth in range(sample.plies + 1)]
    for (name, searcher), (sample, depth) in shuffled(rng, itertools.product(engines, 2 * cases)):
        result = search(searcher, sample.state, depth)
        assert result.complete
        assert result.score == sample.values[name][depth], (sample.tree.text, name, depth)


@deep_boards
def test_deeper_searches_agree_with_alphabeta(board, full, rng):
    engines = {name: deep(board, name) for name in positions.names(board, full)}
    deepest = DEEP_PLIES[board]
    for state in positions.unfinished_states(rng, board, 20 if full else 2):
        for name, depth in shuffled(rng, itertools.product(engines, (deepest - 1, deepest))):
            expected = search(engine(board, name), state, depth).score
            assert search(engines[name], state, depth).score == expected, (state, name, depth)


@positions.searches(MORE_PLIES, PLIES)
def test_a_score_that_no_depth_cut_off_is_the_games(board, name, endings, rng):
    searcher, win = deep(board, name), evaluate(board, name).bound
    for state in endings(board):
        exact = search(engine(board), state).score
        whole = exact + win * ((exact > 0) - (exact < 0))
        for depth in shuffled(rng, [*range(2 * positions.LATE_EMPTIES), 1000]):
            result = search(searcher, state, depth)
            assert result.score == search(engine(board, name), state, depth).score, (state, depth)
            assert result.score == whole or result.evaluated > 0, (state, depth)
            assert result.evaluated == 0 or depth < 1000, state


@positions.searches(MORE_PLIES, PLIES)
def test_depth_0_is_the_evaluation(board, name, samples):
    searcher, worth = deep(board, name), evaluate(board, name)
    for sample in samples(board):
        value = worth.function(sample.state, rules(board), worth.tables)
        assert search(searcher, sample.state, 0) == (value, True, [], 0, 0, 1)


@pytest.mark.parametrize("rows", ["XXXX XXXX XXXX XXXX", "XXXX XXX- OOOO OOOO", "---- ---- ---- ----"])
@pytest.mark.parametrize("side", "XO")
@pytest.mark.parametrize("empties", positions.EMPTIES)
def test_a_finished_game_is_worth_its_score(rows, side, empties):
    board, position = (4, 4), ([list(row) for row in rows.split()], side)
    final = OthelloTwin(*board, empties).final(position)
    win = evaluate(board, "static").bound * ((final > 0) - (final < 0))
    for depth in (0, 1, 5):
        result = search(deep(board, empties=empties), positions.state_of(board, position), depth)
        assert result == (final + win, True, [], 0, 0, 0)


# --- techniques ---


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(("board", "name", "depth"), [((8, 8), "complex", 6), ((9, 8), "static", 5)], ids=str)
def test_every_technique_has_a_switch(changes, board, name, depth, full, endings, rng):
    searcher = deep(board, name, changes=changes)
    for state in [*positions.unfinished_states(rng, board, 20 if full else 2), *endings(board)]:
        for plies in (depth, depth - 1, 2):
            expected = search(engine(board, name), state, plies).score
            assert search(searcher, state, plies).score == expected, (state, plies)


def boards_of(changes, depth=8):
    """Nodes of a search of a fixed position in the middle of a game."""
    return search(deep((8, 8), "complex", changes=changes), midgame(), depth).nodes


@pytest.mark.parametrize("without", ["no table", "no null windows", "no deepening"])
def test_what_saves_nodes(without):
    assert boards_of({}) < boards_of(CHANGES[without])


def test_recursion_and_frames_visit_the_same_nodes(rng):
    for state in [midgame(), *positions.unfinished_states(rng, (8, 8), 3)]:
        results = [search(deep((8, 8), changes={"bottom": bottom}), state, 7) for bottom in (0, 1, 3, 5, NEVER)]
        assert len({(result.score, result.nodes, result.evaluated) for result in results}) == 1, state


@compiled
def worst_first(s, r, out, scores, at):
    """Othello's ordered moves, the last one first."""
    n = othello_knowledge.ordered_moves_slow(s, r, out, scores, at)
    for i in range(n >> 1):
        out[at + i], out[at + n - 1 - i] = out[at + n - 1 - i], out[at + i]
    return n


@pytest.mark.full  # kernels of their own, nine seconds to compile
@pytest.mark.parametrize(
    ("name", "hooks"),
    [("unordered", {}), ("worst_first", {"ordered_moves_slow": worst_first})],
    ids=["no hooks", "worst first"],
)
def test_the_order_of_moves_changes_nodes_alone(name, hooks, full, rng, monkeypatch):
    board, depth = (8, 8), 6
    monkeypatch.setattr(games, "knowledge", lambda game: SimpleNamespace(**hooks))
    # kernels are told apart by their evaluation's name
    searcher = DepthSearch(othello, rules(board), evaluate(board, "static")._replace(name=name), tt.new_shared_table(1))
    nodes = 0
    for state in [midgame(seed=seed) for seed in range(1, 4)]:
        result = search(searcher, state, depth)
        nodes += result.nodes - search(deep(board), state, depth).nodes
    assert nodes > 0
    for state in positions.unfinished_states(rng, board, 20 if full else 2):
        assert search(searcher, state, depth).score == search(engine(board), state, depth).score, state


# --- windows ---


def windows(rng, value):
    """Windows around, above and below a value, and with it as an end."""
    near = [(-1, 0), (0, 1), (-1, 1), (-7, -2), (2, 7), (-1000, 1000), (-rng.randint(1, 20), rng.randint(1, 20))]
    all_of_it = int(kernels.INFINITY)
    return [*((value + low, value + high) for low, high in near), (-all_of_it, all_of_it), (-(10**6), 10**6)]


@positions.searches(MORE_PLIES, PLIES)
def test_a_window_cuts_the_score(board, name, samples, rng):
    searcher = deep(board, name)
    for sample in samples(board):
        depth = rng.randint(1, sample.plies)
        value, worth = sample.values[name][depth], Worth(board, name)
        for low, high in shuffled(rng, windows(rng, value)):
            if rng.random() < 0.5:
                searcher.clear()
            result = search(searcher, sample.state, depth, low, high)
            case = (sample.tree.text, depth, low, high, value, result)
            assert result.score == min(max(value, low), high), case
            move = othello.move_text(result.line[0], rules(board))
            assert move in sample.tree.children, case
            assert value <= low or -minimax(sample.tree.children[move], depth - 1, worth) >= result.score, case


@deep_boards
def test_a_window_cuts_the_score_of_longer_searches(board, full, rng):
    searcher, depth = deep(board), DEEP_PLIES[board] - 1
    for state in positions.unfinished_states(rng, board, 20 if full else 2):
        value = search(engine(board), state, depth).score
        for low, high in windows(rng, value):
            assert search(searcher, state, depth, low, high).score == min(max(value, low), high), (state, low, high)


# --- lines ---


@positions.searches(MORE_PLIES, PLIES)
def test_the_line_keeps_the_score(board, name, samples, endings, rng):
    searcher, plain, r = deep(board, name), engine(board, name), rules(board)
    states = [sample.state for sample in samples(board)]
    for state, depth in shuffled(rng, itertools.product(states, range(1, 5))):
        # so short a search proves every move of it
        result, end = check_line(searcher, othello, r, state, depth, plain)
        assert len(result.line) == depth or othello.kind(end.state, r) == END
    for state in [*endings(board), *states]:
        check_line(searcher, othello, r, state, DEEP_PLIES.get(board, 6), plain)


@pytest.mark.parametrize("depth", [positions.LATE_EMPTIES + 3, 2 * positions.LATE_EMPTIES + 1, 1000])
def test_the_line_goes_to_the_end_where_the_depth_asked_for_goes_beyond(depth, endings):
    board = (8, 8)
    # no entry of so few nodes is lost there
    searcher, r = deep(board, changes={"table.shared_from_later": 1}), rules(board)
    for state in endings(board):
        result, end = check_line(searcher, othello, r, state, depth, engine(board))
        assert result.evaluated or othello.kind(end.state, r) == END, (state, result)


def test_a_pass_is_a_ply():
    board = (4, 4)
    squares = [list(row) for row in ("OX--", "----", "----", "----")]
    forced, after = (positions.state_of(board, (squares, side)) for side in "XO")
    for depth in range(1, 5):
        passed, rest = search(deep(board), forced, depth), search(deep(board), after, depth - 1)
        assert passed.score == -rest.score
        assert passed.line == [PASS, *rest.line]
