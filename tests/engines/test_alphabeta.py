"""The alpha-beta engine: against plain minimax, against its own recursion, and by known values."""

import functools
import itertools
import math
from typing import NamedTuple

import pytest

from distsearch.core.errors import UserError
from distsearch.engines.alphabeta import INFINITY, LINE_LENGTH, AlphaBeta, parse_ordering
from distsearch.games import othello
from distsearch.games.interface import PASS, Position, legal_moves, step

from ..games import tictactoe
from ..games.othello_twin import OthelloTwin
from . import countdown, positions
from .minimax_twin import Worth, alphabeta, grow, minimax, size
from .positions import engine, evaluate, rules, search

# board → plies of the plain trees below positions of any stage; near the end of a game trees are small
PLIES = {(4, 4): 6, (5, 6): 4, (8, 8): 3, (9, 8): 3, (16, 16): 2}
MORE_PLIES = {(4, 4): 8, (5, 6): 5, (8, 8): 4, (9, 8): 4, (16, 16): 2}
DEPTHS = {(4, 4): 8, (8, 8): 7, (9, 8): 6, (16, 16): 4}
ALGORITHMS = list(itertools.product(positions.ORDERINGS, (True, False)))  # (ordering, prune)

boards = pytest.mark.parametrize("board", PLIES, ids=positions.board_id)
orderings = pytest.mark.parametrize("ordering", positions.ORDERINGS)


class Sample(NamedTuple):
    """A position as a state and as a plain tree of so many plies (inf: to the end of every line)."""

    state: tuple
    tree: object
    plies: float


@pytest.fixture(scope="module")
def samples(seed, full):
    """A function from a board to its Samples: from all stages of random games, and from their last moves."""

    @functools.cache
    def of(board):
        plies = (MORE_PLIES if full else PLIES)[board]
        return [sample(board, *case) for case in positions.positions_to_grow(seed, board, 12 if full else 3, plies)]

    return of


def sample(board, position, plies=math.inf, empties="winner"):
    """The Sample of a position of the plain twin."""
    return Sample(positions.state_of(board, position), grow(OthelloTwin(*board, empties), position, plies), plies)


def endings(rng, board, n, empties):
    """Samples that reach to the end of every line: from games, and of boards with discs strewn at random."""
    return [sample(board, position, empties=empties) for position in positions.ending_positions(rng, board, n)]


# --- values ---


@positions.searches(PLIES)
def test_the_value_is_minimax(board, name, samples):
    worth = Worth(board, name)
    for state, tree, plies in samples(board):
        for depth in range(plies + 1):
            expected = minimax(tree, depth, worth)
            for ordering, prune in ALGORITHMS:
                result = search(engine(board, name, ordering, prune), state, depth)
                assert result.complete
                assert result.score == expected, (tree.text, depth, ordering, prune)


@pytest.mark.parametrize(
    "board",
    [(4, 4), (6, 6), (4, 16), (9, 8), pytest.param((12, 13), marks=pytest.mark.full), (16, 16)],
    ids=positions.board_id,
)
@pytest.mark.parametrize("empties", positions.EMPTIES)
def test_the_value_to_the_end_is_minimax(board, empties, full, rng):
    worth = Worth(board, "static", exact=True)
    for state, tree, _ in endings(rng, board, 30 if full else 5, empties):
        expected = minimax(tree, math.inf, worth)
        for ordering, prune in ALGORITHMS:
            result = search(engine(board, "static", ordering, prune, empties), state)
            assert result.score == expected, (tree.text, ordering, prune)
            assert result.complete
            assert prune or result.nodes == size(tree)


@orderings
def test_a_search_that_no_depth_cut_off_says_so(ordering, rng):
    for state in positions.unfinished_states(rng, (8, 8), 10, positions.LATE_EMPTIES):
        for depth in (None, 2 * positions.LATE_EMPTIES + 1):
            # leaves of the searches that order moves are no leaves of the search
            assert search(engine((8, 8), "static", ordering), state, depth).evaluated == 0, (state, depth)
    assert search(engine((8, 8), "static", ordering), othello.start(rules((8, 8))).state, 3).evaluated > 0


@pytest.mark.parametrize(
    ("board", "empties", "score"),
    [
        ((4, 4), "winner", -10),
        ((4, 4), "none", -8),
        ((4, 5), "winner", 16),
        ((5, 4), "winner", 16),
        ((4, 6), "winner", 16),
        ((6, 4), "winner", 16),
    ],
)
def test_the_first_player_gets_the_known_score(board, empties, score):
    assert search(engine(board, empties=empties), othello.start(rules(board)).state).score == score


@pytest.mark.parametrize("ordering", [*positions.ORDERINGS, "shallow:4"])
def test_deeper_searches_agree_with_minimax(ordering, full, rng):
    board, depth = (6, 6), 8 if full else 7
    for state in positions.unfinished_states(rng, board, 10 if full else 3):
        expected = search(engine(board, "complex", "none", prune=False), state, depth).score
        assert search(engine(board, "complex", ordering), state, depth).score == expected, state


@pytest.mark.parametrize(("ordering", "prune"), [("none", True), ("none", False), ("shallow:2", True)])
def test_tictactoe_is_a_draw(ordering, prune):
    searcher, empty = tictactoe_engine(ordering, prune), tictactoe.start(None).state
    for depth in (None, 9, 20):
        result = search(searcher, empty, depth)
        assert result.score == 0
        assert len(result.line) == 9
        assert prune or result.nodes == 549_945  # the positions that perft counts at plies 1 to 9


@pytest.mark.parametrize(("text", "score"), [("XX-OO---- X", 1), ("X-X-O-X-O O", -1), ("XXXOO---- O", -1)])
def test_tictactoe_can_be_won(text, score):
    searcher, state = tictactoe_engine("static", True), tictactoe.parse(text, None).state
    assert search(searcher, state).score == score
    assert search(searcher, state, 9).score == 2 * score


def tictactoe_engine(ordering, prune):
    return AlphaBeta(tictactoe, tictactoe.rules(), positions.NOTHING, prune, ordering)


# --- nodes that are visited ---


@positions.searches(PLIES)
def test_nodes_of_a_plain_order_are_those_of_plain_search(board, name, samples):
    worth = Worth(board, name)
    for state, tree, plies in samples(board):
        for depth in range(plies + 1):
            minimal = search(engine(board, name, "none"), state, depth)
            assert (minimal.score, minimal.nodes) == alphabeta(tree, depth, worth), (tree.text, depth)
            assert minimal.ordering_nodes == 0


@boards
@orderings
def test_minimax_visits_every_node_and_alphabeta_no_more(board, ordering, samples):
    for state, tree, plies in samples(board):
        for depth in range(plies + 1):
            nodes = size(tree, depth)
            assert search(engine(board, "static", ordering, prune=False), state, depth).nodes == nodes
            assert search(engine(board, "static", ordering), state, depth).nodes <= nodes


def test_nodes_of_ordering_searches_are_counted_apart(rng):
    for state in [othello.start(rules((8, 8))).state, *positions.unfinished_states(rng, (8, 8), 5, most_empties=40)]:
        static, shallow = (search(engine((8, 8), "static", ordering), state, 6) for ordering in ("static", "shallow"))
        minimax = search(engine((8, 8), "static", "shallow", prune=False), state, 6)
        assert static.score == shallow.score == minimax.score
        assert static.ordering_nodes == 0
        assert minimax.nodes == search(engine((8, 8), "static", "none", prune=False), state, 6).nodes
    assert search(engine((8, 8), "static", "shallow"), othello.start(rules((8, 8))).state, 6).ordering_nodes > 0


# --- pausing ---


@pytest.mark.parametrize(
    ("board", "depth"),
    [((4, 4), 8), ((8, 8), 6), ((9, 8), 5), pytest.param((12, 13), 4, marks=pytest.mark.full), ((16, 16), 4)],
    ids=str,
)
@pytest.mark.parametrize("ordering", [*positions.ORDERINGS, "shallow:4"])
@pytest.mark.parametrize("prune", [True, False], ids=["alphabeta", "minimax"])
def test_pausing_changes_nothing(board, depth, ordering, prune, rng):
    searcher = engine(board, "static", ordering, prune)
    for state in positions.unfinished_states(rng, board, 2):
        for plies in (depth if prune else depth - 1, depth - 2):
            whole = search(searcher, state, plies)
            for budget in (1, 7, 1000):
                assert search(searcher, state, plies, budget=budget) == whole, state


def test_a_slice_keeps_to_its_budget(rng):
    searcher = engine((8, 8), "static", "shallow:2")
    for state in positions.unfinished_states(rng, (8, 8), 5):
        searcher.begin(state, 7)
        before, done = 0, False
        while not done:
            done = searcher.advance(100)
            # the last board of a slice may have two plies below it
            assert searcher.nodes - before < 100 + 40 * 40
            assert done or searcher.nodes - before >= 100
            before = searcher.nodes


@positions.searches(DEPTHS)
@pytest.mark.parametrize("ordering", ["none", "static"])
def test_recursion_visits_the_same_nodes(board, name, ordering, full, rng):
    recursion, searcher = positions.Recursion(board, name, ordering), engine(board, name, ordering)
    for state in positions.unfinished_states(rng, board, 10 if full else 2):
        for plies in range(1, DEPTHS[board] + 1):
            result = search(searcher, state, plies, budget=50)
            assert (result.score, result.nodes) == recursion.search(state, plies), (state, plies)


@pytest.mark.parametrize("ordering", ["none", "static"])
def test_recursion_to_the_end_visits_the_same_nodes(ordering, rng):
    board = (8, 8)
    recursion, searcher = positions.Recursion(board, "static", ordering), engine(board, "static", ordering)
    for state in positions.unfinished_states(rng, board, 3, most_empties=10):
        result = search(searcher, state, budget=50)
        assert (result.score, result.nodes) == recursion.search(state), state


@orderings
def test_an_unfinished_search_leaves_nothing_behind(ordering, rng):
    searcher = engine((8, 8), "static", ordering)
    states = positions.unfinished_states(rng, (8, 8), 4)
    expected = [search(searcher, state, 6) for state in states]
    for before, state, result in zip(reversed(states), states, expected, strict=True):
        searcher.begin(before, 8)
        searcher.advance(rng.choice((0, 1, 300)))
        assert search(searcher, state, 6) == result


def test_a_stopped_search_knows_the_moves_it_finished(rng):
    board = (6, 6)
    for prune in (True, False):
        searcher = engine(board, prune=prune)
        for state in positions.unfinished_states(rng, board, 5):
            whole = search(searcher, state, 6)
            searcher.begin(state, 6)
            assert searcher.result().score == -INFINITY
            for _ in range(20):
                searcher.advance(5)
                found = searcher.result()
                assert found.score <= whole.score
                assert found.complete == (found == whole)
                assert bool(found.line) == (found.score > -INFINITY)


# --- windows ---


def windows(rng, value):
    """Narrow windows above, below and around a value, and with it as a bound."""
    widths = [(-1, 1), (0, 1), (-1, 0), (-7, -2), (2, 7), (-rng.randint(1, 20), rng.randint(1, 20))]
    return [(value + low, value + high) for low, high in widths]


@positions.searches(PLIES)
def test_a_narrow_window_bounds_the_value(board, name, samples, rng):
    worth = Worth(board, name)
    for state, tree, plies in samples(board):
        value = minimax(tree, plies, worth)
        for ordering, (alpha, beta) in itertools.product(positions.ORDERINGS, windows(rng, value)):
            score = search(engine(board, name, ordering), state, plies, alpha, beta).score
            case = (tree.text, ordering, alpha, beta, score, value)
            if score <= alpha:
                assert value <= score, case
            elif score >= beta:
                assert value >= score, case
            else:
                assert value == score, case


@boards
def test_a_narrow_window_gives_the_plain_bound(board, samples, rng):
    worth = Worth(board, "static")
    for state, tree, plies in samples(board):
        for alpha, beta in windows(rng, minimax(tree, plies, worth)):
            result = search(engine(board, "static", "none"), state, plies, alpha, beta)
            expected = alphabeta(tree, plies, worth, alpha, beta)
            assert (result.score, result.nodes) == expected, (tree.text, alpha, beta)


# --- lines ---


def follow(tree, line, board):
    """The node at the end of a line; fails where a move is not legal."""
    for m in line:
        tree = tree.children[othello.move_text(m, rules(board))]
    return tree


@positions.searches(PLIES)
def test_the_line_leads_to_the_score(board, name, samples):
    worth = Worth(board, name)
    for state, tree, plies in samples(board):
        for depth in range(1, plies + 1):
            for ordering, prune in ALGORITHMS:
                result = search(engine(board, name, ordering, prune), state, depth)
                end = follow(tree, result.line, board)
                assert len(result.line) == depth or end.final is not None, (tree.text, depth, ordering, prune)
                assert (-1) ** len(result.line) * worth(end) == result.score, (tree.text, depth, ordering, prune)


@pytest.mark.parametrize("board", [(4, 4), (8, 8), (9, 8)], ids=positions.board_id)
@pytest.mark.parametrize("empties", positions.EMPTIES)
def test_the_line_to_the_end_leads_to_the_score(board, empties, rng):
    for state, tree, _ in endings(rng, board, 5, empties):
        for ordering, prune in ALGORITHMS:
            result = search(engine(board, "static", ordering, prune, empties), state)
            end = follow(tree, result.line, board)
            assert (-1) ** len(result.line) * end.final == result.score, (tree.text, ordering, prune)


def test_a_line_of_a_longer_search_leads_to_its_score(rng):
    board, depth = (8, 8), 7
    r, worth = rules(board), evaluate(board, "complex")
    for state in positions.unfinished_states(rng, board, 5, most_empties=50):
        result = search(engine(board, "complex"), state, depth)
        end = Position(state)
        for m in result.line:
            assert m in legal_moves(othello, end, r)
            end = step(othello, end, r, m)
        if legal_moves(othello, end, r):
            assert len(result.line) == depth
            assert (-1) ** depth * worth.function(end.state, r, worth.tables) == result.score


# --- passes, ends and odd positions ---


def test_a_pass_is_a_ply_of_a_depth_but_not_of_an_exact_search():
    board = (4, 4)
    forced = positions.state_of(board, ([list(row) for row in ("OX--", "----", "----", "----")], "X"))
    after = positions.state_of(board, ([list(row) for row in ("OX--", "----", "----", "----")], "O"))
    at_once, one_ply = search(engine(board), forced, 1), search(engine(board), after, 1)
    worth = evaluate(board, "static")
    assert at_once.line == [PASS]
    assert at_once.score == -worth.function(after, rules(board), worth.tables)
    assert search(engine(board), forced, 2) == one_ply._replace(
        score=-one_ply.score, line=[PASS, *one_ply.line], nodes=one_ply.nodes + 1
    )
    exact = search(engine(board), forced)
    assert [othello.move_text(m, rules(board)) for m in exact.line] == ["pass", "c1"]
    assert exact.score == -16


@positions.searches(PLIES)
def test_depth_0_is_the_evaluation(board, name, rng):
    worth = evaluate(board, name)
    for state in positions.unfinished_states(rng, board, 5):
        result = search(engine(board, name), state, 0)
        assert result == (worth.function(state, rules(board), worth.tables), True, [], 0, 0, 1)


@pytest.mark.parametrize(
    "rows", ["XXXX XXXX XXXX XXXX", "XXXX XXX- OOOO OOOO", "---- ---- ---- ----", "OO-- ---- ---- ---X"]
)
@pytest.mark.parametrize("side", "XO")
@pytest.mark.parametrize("empties", positions.EMPTIES)
def test_a_finished_game_is_worth_its_score(rows, side, empties):
    board, squares = (4, 4), [list(row) for row in rows.split()]
    final = OthelloTwin(*board, empties).final((squares, side))
    state = positions.state_of(board, (squares, side))
    win = evaluate(board, "static").bound * ((final > 0) - (final < 0))
    for ordering, prune in ALGORITHMS:
        searcher = engine(board, "static", ordering, prune, empties)
        assert search(searcher, state) == (final, True, [], 0, 0, 0)
        for depth in (0, 1, 5):
            assert search(searcher, state, depth) == (final + win, True, [], 0, 0, 0)


def test_more_depth_than_game_is_the_whole_game(rng):
    board = (8, 8)
    win = evaluate(board, "static").bound
    for state in positions.unfinished_states(rng, board, 5, positions.LATE_EMPTIES):
        exact, deep = search(engine(board), state), search(engine(board), state, 1000)
        assert deep.evaluated == 0
        assert deep.score == exact.score + win * ((exact.score > 0) - (exact.score < 0))


@pytest.mark.parametrize("board", [(4, 4), (4, 5)], ids=positions.board_id)
def test_more_empty_squares_than_at_the_start(board):
    fresh = AlphaBeta(othello, rules(board), evaluate(board, "static"))
    squares = [["-"] * board[1] for _ in range(board[0])]
    squares[1][1:3] = "XO"
    state = positions.state_of(board, (squares, "X"))
    recursion = positions.Recursion(board, "static", "static")
    for depth in (None, 10):
        result = search(fresh, state, depth)
        assert (result.score, result.nodes) == recursion.search(state, depth)


def test_a_line_is_kept_to_its_greatest_length():
    searcher = AlphaBeta(countdown, countdown.rules(), positions.NOTHING)
    for moves, score in ((LINE_LENGTH, -1), (countdown.LONGEST - 1, 1), (countdown.LONGEST, -1)):
        result = search(searcher, countdown.state(moves))
        assert result.score == score
        assert result.nodes == moves
        assert result.line == list(range(moves, moves - LINE_LENGTH, -1))


# --- orderings ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [("none", (0, 0)), ("static", (1, 0)), ("shallow", (1, 1)), ("shallow:1", (1, 1)), ("shallow:9", (1, 9))],
)
def test_an_ordering_is_read(text, expected):
    assert parse_ordering(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "random", "none:1", "static:", "shallow:", "shallow:0", "shallow:10", "shallow:x", "shallow:²", "Static"],
)
def test_a_bad_ordering_is_refused(text):
    with pytest.raises(UserError):
        parse_ordering(text)
