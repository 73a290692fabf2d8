"""The depth-limited search with a table: against plain search, whatever else its tables hold."""

import functools
import itertools
import random
from types import SimpleNamespace

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.errors import UserError
from distsearch.evaluation import Evaluation
from distsearch.games import connect4, othello, othello_knowledge
from distsearch.games.interface import END, PASS, Position, as_state, legal_moves, step
from distsearch.jit import compiled
from distsearch.search import drivers as dr
from distsearch.search import pvs
from distsearch.search import table as tt
from distsearch.search.alphabeta_engine import AlphaBeta
from distsearch.search.deep_engine import Deep
from distsearch.search.solver_engine import Solver

from ..games import tictactoe
from ..games.connect4_twin import Connect4Twin, random_positions
from ..games.othello_twin import OthelloTwin, random_position
from . import countdown
from .minimax_twin import Worth, grow, minimax
from .positions import (
    EMPTIES,
    EVALUATIONS,
    NO_PAUSE,
    board_id,
    engine,
    evaluate,
    rules,
    search,
    state_of,
    unfinished_positions,
    unfinished_states,
)

# board → plies of the plain trees below positions of any stage; near the end of a game trees are small
PLIES = {(4, 4): 5, (5, 6): 4, (8, 8): 3, (16, 16): 2}
MORE_PLIES = {(4, 4): 7, (5, 6): 5, (8, 8): 4, (16, 16): 2}
LATE_PLIES = 5
LATE_EMPTIES = 6
TICTACTOE_PLIES = 9

# board → plies that plain alpha-beta is asked for as well
DEEP_PLIES = {(6, 6): 8, (8, 8): 8, (9, 8): 6, (16, 16): 4}

NEVER = 1 << 40  # plies left
EVERYWHERE = {pvs.TABLE_LEFT: 1, tt.FAR_LEFT_LATER: 1, pvs.CUT_LEFT: 2, pvs.BOTTOM: 0}
CHANGES = {
    "nothing": {},
    "no table": {pvs.TABLE_LEFT: NEVER, pvs.CUT_LEFT: NEVER},
    "no far table": {tt.FAR_LEFT_LATER: NEVER},
    "no enhanced cut-offs": {pvs.CUT_LEFT: NEVER},
    "no null windows": {pvs.NULL_WINDOWS: 0},
    "no deepening": {dr.STEP: NEVER},
    "no recursion": {pvs.BOTTOM: 0},
    "no frames below the root's children": {pvs.BOTTOM: NEVER},
    "tables and frames everywhere": EVERYWHERE,
    "none of it": {pvs.TABLE_LEFT: NEVER, pvs.CUT_LEFT: NEVER, pvs.NULL_WINDOWS: 0, dr.STEP: NEVER},
}

boards = pytest.mark.parametrize("board", PLIES, ids=board_id)
deep_boards = pytest.mark.parametrize("board", DEEP_PLIES, ids=board_id)
evaluations = pytest.mark.parametrize("name", EVALUATIONS)
techniques = pytest.mark.parametrize("changes", [{}, EVERYWHERE], ids=["as it is", "tables everywhere"])


class Sample:
    """A position as a state and as a plain tree of so many plies."""

    def __init__(self, board, position, plies):
        self.state, self.plies = state_of(board, position), plies
        self.tree = grow(OthelloTwin(*board), position, plies)
        worths = {name: Worth(board, name) for name in EVALUATIONS}
        self.values = {
            name: [minimax(self.tree, depth, worth) for depth in range(plies + 1)] for name, worth in worths.items()
        }


@pytest.fixture(scope="module")
def samples(seed, full):
    """A function from a board to its Samples: from all stages of random games, and from their last moves."""

    @functools.cache
    def of(board):
        rng, n = random.Random(seed), 12 if full else 2
        return [
            Sample(board, position, plies)
            for most_empties, plies in ((None, (MORE_PLIES if full else PLIES)[board]), (LATE_EMPTIES, LATE_PLIES))
            for position in unfinished_positions(rng, board, n, most_empties)
        ]

    return of


@pytest.fixture(scope="module")
def endings(seed, full):
    """A function from a board to states of few empty squares.

    They come from random games, and from discs strewn at random, where passes and early ends abound.
    """

    @functools.cache
    def of(board):
        rng, n = random.Random(seed), 50 if full else 3
        positions = unfinished_positions(rng, board, n, LATE_EMPTIES)
        while len(positions) < 2 * n:
            position = random_position(rng, *board)
            if sum(row.count("-") for row in position[0]) <= LATE_EMPTIES:
                positions.append(position)
        return [state_of(board, position) for position in positions]

    return of


def deep(board, name="static", far=None, empties="winner", repeatable=False, changes=CHANGES["nothing"]):
    """A new engine; its far table is one of its own if None."""
    far = tt.far_table(1) if far is None else far
    return changed(Deep(othello, rules(board, empties), evaluate(board, name), far, repeatable), changes)


def changed(searcher, changes):
    """The engine with other entries of its control array."""
    for place, value in changes.items():
        searcher._control[place] = value
    return searcher


def shuffled(rng, cases):
    cases = list(cases)
    rng.shuffle(cases)
    return cases


def midgame(board=(8, 8), plies=20, seed=1):
    """The state after so many random plies, always the same."""
    rng, r = random.Random(seed), rules(board)
    position = othello.start(r)
    for _ in range(plies):
        position = step(othello, position, r, rng.choice(legal_moves(othello, position, r)))
    return position.state


# --- values ---


@boards
def test_the_value_is_minimax(board, samples, rng):
    """With entries of all depths, of other positions and of other evaluations around."""
    far = tt.far_table(1)
    engines = [(name, deep(board, name, far, changes=changes)) for name in EVALUATIONS for changes in ({}, EVERYWHERE)]
    cases = [(sample, depth) for sample in samples(board) for depth in range(sample.plies + 1)]
    for (name, searcher), (sample, depth) in shuffled(rng, itertools.product(engines, 2 * cases)):
        result = search(searcher, sample.state, depth)
        assert result.complete
        assert result.score == sample.values[name][depth], (sample.tree.text, name, depth)


@deep_boards
def test_deeper_searches_agree_with_alphabeta(board, full, rng):
    engines = {name: deep(board, name) for name in EVALUATIONS}
    deepest = DEEP_PLIES[board]
    for state in unfinished_states(rng, board, 20 if full else 2):
        for name, depth in shuffled(rng, itertools.product(EVALUATIONS, (deepest - 1, deepest))):
            expected = search(engine(board, name), state, depth).score
            assert search(engines[name], state, depth).score == expected, (state, name, depth)


@boards
@evaluations
def test_a_score_that_no_depth_cut_off_is_the_games(board, name, endings, rng):
    searcher, win = deep(board, name), evaluate(board, name).bound
    for state in endings(board):
        exact = search(engine(board), state).score
        whole = exact + win * ((exact > 0) - (exact < 0))
        for depth in shuffled(rng, [*range(2 * LATE_EMPTIES), 1000]):
            result = search(searcher, state, depth)
            assert result.score == search(engine(board, name), state, depth).score, (state, depth)
            assert result.score == whole or result.evaluated > 0, (state, depth)
            assert result.evaluated == 0 or depth < 1000, state


@boards
@evaluations
def test_depth_0_is_the_evaluation(board, name, samples):
    searcher, worth = deep(board, name), evaluate(board, name)
    for sample in samples(board):
        value = worth.function(sample.state, rules(board), worth.tables)
        assert search(searcher, sample.state, 0) == (value, True, [], 0, 0, 1)


@pytest.mark.parametrize("rows", ["XXXX XXXX XXXX XXXX", "XXXX XXX- OOOO OOOO", "---- ---- ---- ----"])
@pytest.mark.parametrize("side", "XO")
@pytest.mark.parametrize("empties", EMPTIES)
def test_a_finished_game_is_worth_its_score(rows, side, empties):
    board, position = (4, 4), ([list(row) for row in rows.split()], side)
    final = OthelloTwin(*board, empties).final(position)
    win = evaluate(board, "static").bound * ((final > 0) - (final < 0))
    for depth in (0, 1, 5):
        result = search(deep(board, empties=empties), state_of(board, position), depth)
        assert result == (final + win, True, [], 0, 0, 0)


# --- tables ---


@pytest.mark.parametrize("buckets", [1, 2, 1 << 14])
def test_engines_by_turns_on_one_far_table(buckets, endings, full, rng):
    """No engine takes what another left there for its own, though all of a board search the same states."""
    far, boards_asked = np.zeros(8 * buckets, np.uint64), [(4, 4), (4, 6), (6, 4)]
    kinds = list(itertools.product(boards_asked, EVALUATIONS, EMPTIES))
    engines = [deep(board, name, far, empties, changes=EVERYWHERE) for board, name, empties in kinds]
    for i in range(100 if full else 10):
        asked = {
            board: (rng.choice(endings(board)) if i % 2 else unfinished_states(rng, board, 1)[0], rng.randint(2, 6))
            for board in boards_asked
        }
        for searcher, (board, *_) in zip(engines, kinds, strict=True):
            searcher.begin(*asked[board])
        done = [False]
        while not all(done):
            done = [searcher.advance(rng.choice((1, 20, 100))) for searcher in engines]
        for searcher, (board, name, empties) in zip(engines, kinds, strict=True):
            expected = search(engine(board, name, empties=empties), *asked[board]).score
            assert searcher.result().score == expected, (board, name, empties, asked[board])


@pytest.mark.parametrize("near_bits", [0, 1, 4, 16])
def test_no_limit_and_no_size_of_table_changes_a_score(near_bits, full, rng, monkeypatch):
    monkeypatch.setattr(tt, "near_table", functools.partial(tt.near_table, near_bits))
    board, places = (6, 6), (pvs.TABLE_LEFT, tt.FAR_LEFT_LATER, pvs.CUT_LEFT, pvs.BOTTOM, dr.STEP)
    for _ in range(50 if full else 3):
        limits = rng.randint(1, 5), rng.randint(1, 6), rng.randint(2, 6), rng.choice((0, 2, 4, 6)), rng.randint(1, 3)
        far = np.zeros(8 * rng.choice((1, 2, 13, 1000)), np.uint64)
        searcher = deep(board, "static", far, changes=dict(zip(places, limits, strict=True)))
        for state in unfinished_states(rng, board, 5):
            for depth in shuffled(rng, range(7)):
                result = search(searcher, state, depth, budget=rng.choice((1, 50, NO_PAUSE)))
                assert result.score == search(engine(board), state, depth).score, (state, depth, limits)


def test_a_shared_table_saves_boards():
    far, state, depth = tt.far_table(4), midgame(), 8
    first, same = (search(deep((8, 8), far=far), state, depth) for _ in range(2))
    other = search(deep((8, 8), "discs", far), state, depth)
    assert first.score == same.score
    assert same.boards < first.boards / 2
    # the others' entries may have taken the place of some of its own
    assert other.boards == pytest.approx(search(deep((8, 8), "discs"), state, depth).boards, rel=0.01)


def test_nothing_is_found_after_clear():
    searcher, state, depth = deep((8, 8)), midgame(), 8
    first = search(searcher, state, depth)
    searcher.clear()
    cleared = search(searcher, state, depth)
    assert (cleared.score, cleared.boards) == (first.score, first.boards)
    assert search(searcher, state, depth).boards < first.boards  # it was there to be found


def test_entries_are_of_the_age_at_which_they_were_written():
    far = np.zeros(8 * 1000, np.uint64)
    searcher = deep((8, 8), far=far)
    for seed, age in enumerate((0, 3, 255, tt.GENERATIONS + 7)):
        before, state = far[1::2].copy(), midgame(seed=seed)
        searcher.age(age)
        assert search(searcher, state, 7).score == search(engine((8, 8)), state, 7).score
        written = far[1::2][far[1::2] != before]
        assert set(written >> np.uint64(56)) == {age % tt.GENERATIONS}


# --- techniques ---


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(("board", "depth"), [((8, 8), 6), ((9, 8), 5)], ids=str)
def test_every_technique_has_a_switch(changes, board, depth, full, endings, rng):
    searcher = deep(board, "complex", changes=changes)
    for state in [*unfinished_states(rng, board, 20 if full else 2), *endings(board)]:
        for plies in (depth, depth - 1, 2):
            expected = search(engine(board, "complex"), state, plies).score
            assert search(searcher, state, plies).score == expected, (state, plies)


def boards_of(changes, depth=8):
    """Boards of a search of a fixed position in the middle of a game."""
    return search(deep((8, 8), "complex", changes=changes), midgame(), depth).boards


@pytest.mark.parametrize("without", ["no table", "no null windows", "no deepening"])
def test_what_saves_boards(without):
    assert boards_of({}) < boards_of(CHANGES[without])


def test_recursion_and_frames_visit_the_same_boards(rng):
    for state in [midgame(), *unfinished_states(rng, (8, 8), 3)]:
        results = [search(deep((8, 8), changes={pvs.BOTTOM: bottom}), state, 7) for bottom in (0, 1, 3, 5, NEVER)]
        assert len({(result.score, result.boards, result.evaluated) for result in results}) == 1, state


@compiled
def worst_first(s, r, out, scores, at):
    """Othello's promising moves, the least promising one first."""
    n = othello_knowledge.promising(s, r, out, scores, at)
    for i in range(n >> 1):
        out[at + i], out[at + n - 1 - i] = out[at + n - 1 - i], out[at + i]
    return n


@pytest.mark.parametrize(
    ("name", "hooks"), [("unordered", {}), ("worst_first", {"promising": worst_first})], ids=["no hooks", "worst first"]
)
def test_the_order_of_moves_changes_boards_alone(name, hooks, full, rng, monkeypatch):
    board, depth = (8, 8), 6
    monkeypatch.setattr(games, "knowledge", lambda game: SimpleNamespace(**hooks))
    # kernels are told apart by their evaluation's name
    searcher = Deep(othello, rules(board), evaluate(board, "static")._replace(name=name), tt.far_table(1))
    boards = 0
    for state in [midgame(seed=seed) for seed in range(1, 4)]:
        result = search(searcher, state, depth)
        boards += result.boards - search(deep(board), state, depth).boards
    assert boards > 0
    for state in unfinished_states(rng, board, 20 if full else 2):
        assert search(searcher, state, depth).score == search(engine(board), state, depth).score, state


# --- windows ---


def windows(rng, value):
    """Windows around, above and below a value, and with it as an end."""
    near = [(-1, 0), (0, 1), (-1, 1), (-7, -2), (2, 7), (-1000, 1000), (-rng.randint(1, 20), rng.randint(1, 20))]
    all_of_it = int(pvs.INFINITY)
    return [*((value + low, value + high) for low, high in near), (-all_of_it, all_of_it), (-(10**6), 10**6)]


@boards
@evaluations
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
    for state in unfinished_states(rng, board, 20 if full else 2):
        value = search(engine(board), state, depth).score
        for low, high in windows(rng, value):
            assert search(searcher, state, depth, low, high).score == min(max(value, low), high), (state, low, high)


# --- pausing ---


@pytest.mark.parametrize(("board", "depth"), [((4, 4), 8), ((8, 8), 6), ((9, 8), 5), ((16, 16), 4)], ids=str)
def test_pausing_changes_nothing(board, depth, rng):
    for state in unfinished_states(rng, board, 2):
        whole = search(deep(board), state, depth)
        for budget in (1, 7, 1000):
            assert search(deep(board), state, depth, budget=budget) == whole, state


@pytest.mark.parametrize(("board", "depth"), [((4, 4), 8), ((8, 8), 6), ((9, 8), 5), ((16, 16), 4)], ids=str)
def test_a_repeatable_search_depends_on_nothing_else(board, depth, rng):
    far = tt.far_table(1)
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
            assert searcher.boards - before < 100 + 30**3
            assert done or searcher.boards - before >= 100
            before = searcher.boards


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
        assert searcher.result() == (-pvs.INFINITY, False, [], 0, 0, 0)
        while not searcher.advance(rng.randint(0, 500)):
            stopped = searcher.result()
            assert not stopped.complete
            assert stopped.score <= whole
            assert set(stopped.line) <= set(legal_moves(othello, Position(state), r))
            bounds.append(stopped.score)
        assert searcher.result().score == whole
    assert max(bounds) > -pvs.INFINITY


# --- lines ---


def check_line(searcher, game, r, state, depth, plain):
    """Search a state and check that every move of the line keeps the score, as ``plain`` (an AlphaBeta) finds it."""
    result, position = search(searcher, state, depth), Position(state)
    score = result.score
    assert result.line or depth == 0 or game.kind(state, r) == END
    for ply, m in enumerate(result.line, 1):
        assert m in legal_moves(game, position, r), (state, depth, result)
        position, score = step(game, position, r, m), -score
        assert search(plain, position.state, depth - ply).score == score, (state, depth, result)
    return result, position


@boards
@evaluations
def test_the_line_keeps_the_score(board, name, samples, endings, rng):
    searcher, plain, r = deep(board, name), engine(board, name), rules(board)
    states = [sample.state for sample in samples(board)]
    for state, depth in shuffled(rng, itertools.product(states, range(1, 5))):
        # so short a search proves every move of it
        result, end = check_line(searcher, othello, r, state, depth, plain)
        assert len(result.line) == depth or othello.kind(end.state, r) == END
    for state in [*endings(board), *states]:
        check_line(searcher, othello, r, state, DEEP_PLIES.get(board, 6), plain)


def test_a_pass_is_a_ply():
    board = (4, 4)
    squares = [list(row) for row in ("OX--", "----", "----", "----")]
    forced, after = (state_of(board, (squares, side)) for side in "XO")
    for depth in range(1, 5):
        passed, rest = search(deep(board), forced, depth), search(deep(board), after, depth - 1)
        assert passed.score == -rest.score
        assert passed.line == [PASS, *rest.line]


# --- other games ---


def plain_search(game, r, chosen):
    """A function from a state and a depth to its minimax value; it remembers those of every position below."""

    @functools.cache
    def value(state, depth):
        moves = legal_moves(game, Position(state), r)
        if not moves:
            final = int(game.final(state, r))
            return final + chosen.bound * ((final > 0) - (final < 0))
        if depth == 0:
            return int(chosen.function(state, r, chosen.tables))
        return max(-value(as_state(game.play(state, r, m)[0]), depth - 1) for m in moves)

    return value


@functools.cache
def reachable(game):
    """Every state of a game, from its start to all ends."""
    r, states = game.rules(), {}
    new = [game.start(r)]
    while new:
        states.update((position.state, None) for position in new)
        after = [step(game, position, r, m) for position in new for m in legal_moves(game, position, r)]
        new = list({position.state: position for position in after if position.state not in states}.values())
    return list(states)


@compiled
def noise(s, r, tables):
    """Any number up to ``tables[1]``, or minus it, another one for every state and every ``tables[0]``."""
    h = (s[0] << np.uint64(9) | s[1]) * tables[0]
    return np.int64(h >> np.uint64(40)) % (2 * np.int64(tables[1]) + 1) - np.int64(tables[1])


def noisy(salt, highest, bound):
    """The Evaluation by ``noise``."""
    return Evaluation("noise", noise, np.array([salt, highest], np.uint64), bound)


# Final scores are from -1 to 1. With a bound of 0, evaluations are not less than all wins, which no search may rely on.
@pytest.mark.parametrize(("highest", "bound"), [(3, 3), (3, 0), (13_999, 14_000)])
@techniques
def test_every_position_and_depth_of_tictactoe(highest, bound, changes, full, rng):
    r, chosen = tictactoe.rules(), noisy(rng.getrandbits(64) | 1, highest, bound)
    value = plain_search(tictactoe, r, chosen)
    searcher = changed(Deep(tictactoe, r, chosen, np.zeros(8 * 1000, np.uint64)), changes)
    cases = shuffled(rng, itertools.product(reachable(tictactoe), range(11)))
    for state, depth in cases if full else cases[:2_000]:
        window = rng.choice(((-pvs.INFINITY, pvs.INFINITY), (-1, 1), (-highest, 0)))
        result = search(searcher, state, depth, *window, budget=rng.choice((1, 7, 1000)))
        check_value(result, value, state, depth, *window)
    assert check_entries(searcher, value) > 100


# found by random searches, a few among thousands, that left entries which claimed too much
@pytest.mark.parametrize(
    ("salt", "highest", "state", "depth"),
    [
        (1565612049045789139, 3, (34, 272), 4),
        (1565612049045789139, 3, (8, 34), 5),
        (15632393290034665547, 7, (128, 16), 6),
        (6700007401447374273, 3, (32, 64), 6),
    ],
)
@techniques
def test_an_entry_that_rests_on_a_depth_limit_says_so(salt, highest, state, depth, changes):
    chosen, state = noisy(salt, highest, 0), as_state(state)
    value = plain_search(tictactoe, tictactoe.rules(), chosen)
    searcher = changed(Deep(tictactoe, tictactoe.rules(), chosen, np.zeros(8 * 1000, np.uint64)), changes)
    for _ in range(2):
        check_value(search(searcher, state, depth), value, state, depth)
        check_entries(searcher, value)


def check_value(result, value, state, depth, low=-pvs.INFINITY, high=pvs.INFINITY):
    """Check a score, and that it is the whole game's if no leaf was cut off."""
    assert result.score == np.clip(value(state, depth), low, high), (state, depth, low, high)
    assert result.evaluated or result.score == np.clip(value(state, TICTACTOE_PLIES), low, high), (state, depth)


def check_entries(searcher, value):
    """Check that every entry is true of its depth, or else of the whole game; return how many there are."""
    found, control = 0, searcher._control
    for state in reachable(tictactoe):
        data = np.uint64(tt.look(control, np.uint64(searcher._kernels["hashed"](state, searcher._rules, control))))
        if data != 0:
            depth = tt.left_of(data) if tt.is_cut_off(data) else TICTACTOE_PLIES
            assert tt.low_of(data) <= value(state, min(depth, TICTACTOE_PLIES)) <= tt.high_of(data), (state, hex(data))
            found += 1
    return found


@pytest.mark.parametrize("bound", [14_001, 30_000])
def test_an_evaluation_too_large_for_the_table_is_refused(bound):
    with pytest.raises(UserError, match=str(bound)):
        Deep(tictactoe, tictactoe.rules(), noisy(1, 1, bound))


@compiled
def extreme(s, r, tables):
    """The largest value that there may be, or the least."""
    h = (s[0] << np.uint64(9) | s[1]) * tables[0]
    return np.int64(tables[1]) if h >> np.uint64(63) else -np.int64(tables[1])


def test_values_at_the_limit(full, rng):
    r, highest = tictactoe.rules(), 14_000
    chosen = Evaluation("extreme", extreme, np.array([rng.getrandbits(64) | 1, highest], np.uint64), highest)
    value = plain_search(tictactoe, r, chosen)
    searcher = changed(Deep(tictactoe, r, chosen, np.zeros(8 * 1000, np.uint64)), EVERYWHERE)
    cases = shuffled(rng, itertools.product(reachable(tictactoe), range(11)))
    for state, depth in cases if full else cases[:1_000]:
        assert search(searcher, state, depth).score == value(state, depth), (chosen.tables, state, depth)
    assert {abs(value(state, 1)) for state in reachable(tictactoe)} == {0, highest, highest + 1}


@pytest.mark.parametrize("board", [(6, 7), (5, 6), (4, 4)], ids=board_id)
def test_connect4_is_as_by_alphabeta(board, full, rng):
    r, twin = connect4.rules(board), Connect4Twin(*board)
    chosen = evaluation.find(connect4, "outcome", r)
    searcher, plain = Deep(connect4, r, chosen, tt.far_table(1)), AlphaBeta(connect4, r, chosen)
    solver = Solver(connect4, r, tt.far_table(1))
    squares = board[0] * board[1]
    for position in random_positions(rng, twin, 50 if full else 10, range(1, squares - 2)):
        state = connect4.parse(twin.drawn(position), r).state
        for depth in shuffled(rng, range(1, 7)):
            check_line(searcher, connect4, r, state, depth, plain)
    for position in random_positions(rng, twin, 200 if full else 20, range(1, 13)):
        state = connect4.parse(twin.drawn(position), r).state
        solver.begin(state)
        assert solver.advance(NO_PAUSE)
        result = search(searcher, state, squares)
        assert result.evaluated == 0
        assert result.score == solver.result().score == twin.score(position), twin.drawn(position)


@compiled
def nothing(s, r, tables):
    return np.int64(0)


@pytest.fixture
def counter():
    """A new engine for ``countdown``."""
    chosen = Evaluation("nothing", nothing, np.zeros(1, np.uint64), 1)
    return Deep(countdown, countdown.rules(), chosen, tt.far_table(1))


@pytest.mark.parametrize("moves", [1, 2, 7, countdown.LONGEST - 1, countdown.LONGEST])
def test_a_line_of_single_moves(moves, counter):
    for depth, budget in itertools.product((moves - 1, moves, moves + 1, 2 * moves, 1000), (1, NO_PAUSE)):
        counter.clear()
        result = search(counter, countdown.state(moves), depth, budget=budget)
        won = 2 if moves % 2 else -2
        assert (result.score, result.evaluated == 0) == ((won, True) if depth >= moves else (0, False))
        assert result.line == list(range(moves, moves - len(result.line), -1))
        assert result.line or depth == 0


def test_more_moves_left_than_at_the_start(counter):
    moves = 3 * countdown.LONGEST
    assert search(counter, countdown.state(moves), moves - 1).score == 0
    assert search(counter, countdown.state(moves), moves).score == -2
