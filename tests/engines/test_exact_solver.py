"""The exact solver: against plain search of Connect 4, against another program, and by known values of other games."""

import functools
import random

import numpy as np
import pytest

from distsearch.engines.pvs import kernels
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import connect4, othello
from distsearch.games.interface import END, as_state, legal_moves, step

from ..games import tictactoe
from ..games.connect4_twin import NAMES, Connect4Twin, can_win, random_game, random_positions
from . import countdown, positions
from .depth_searches import changed
from .positions import NO_PAUSE, board_id

BOARDS = [(6, 7), (5, 6), (4, 7), (7, 5)]
SMALL_BOARDS = [(4, 4), (4, 5), (5, 4)]
EMPTIES = range(1, 17)


def solver(game=connect4, board=(6, 7), far_mib=1, tag="", **options):
    """A new engine with tables of its own; ``far_mib`` may be 0 for no shared table."""
    return ExactSolver(game, game.rules(board, **options), tt.new_shared_table(far_mib), tag)


@functools.cache
def shared_solver(board):
    """An engine that keeps what it learns from one test to the next."""
    return solver(board=board)


def solve(engine, state, low=-kernels.INFINITY, high=kernels.INFINITY, budget=NO_PAUSE):
    """Return the Result of a search in slices of ``budget`` nodes."""
    engine.begin(state, low, high)
    while not engine.advance(budget):
        pass
    return engine.result()


def state_of(plain, twin):
    """The state of a position of the plain twin."""
    return connect4.parse(twin.drawn(plain), connect4.rules((twin.rows, twin.columns))).state


def check_line(result, plain, twin):
    """Every move of the line keeps the score, and there is one move at least."""
    score = result.score
    assert result.line
    for m in result.line:
        assert NAMES[m] in twin.moves(plain)
        plain, _ = twin.play(plain, NAMES[m])
        score = -score
        assert twin.score(plain) == score, (twin.drawn(plain), result)


class Eager(ExactSolver):
    """An engine that asks its shared table from the first board on, and frames and tables as late as ``limits`` say."""

    def __init__(self, game, rules, far, tag="", table=1, far_left=1, cut=2, bottom=0, subtree=0):
        super().__init__(game, rules, far, tag)
        changed(self, {"table_from": table, "table.shared_from_later": far_left, "cut_from": cut, "bottom": bottom})
        self._control["subtree_nodes"] = subtree

    def begin(self, *args):
        super().begin(*args)
        self._control["table"]["shared_from"] = self._control["table"]["shared_from_later"]


# --- Connect 4 ---


@pytest.mark.parametrize("board", BOARDS, ids=board_id)
def test_score_and_move_are_the_plain_ones(board, full, rng):
    twin = Connect4Twin(*board)
    for plain in random_positions(rng, twin, 750 if full else 40, EMPTIES):
        result = solve(shared_solver(board), state_of(plain, twin))
        assert result.complete
        assert result.score == twin.score(plain), twin.drawn(plain)
        check_line(result, plain, twin)


@pytest.mark.parametrize("board", SMALL_BOARDS, ids=board_id)
def test_every_ply_of_small_games(board, full, rng):
    twin = Connect4Twin(*board)
    for _ in range(50 if full else 3):
        for plain in random_game(rng, twin, rng.random())[:-1]:
            result = solve(shared_solver(board), state_of(plain, twin))
            assert result.score == twin.score(plain), twin.drawn(plain)
            check_line(result, plain, twin)


@pytest.mark.parametrize("board", BOARDS, ids=board_id)
def test_wins_and_losses_at_once(board, full, rng):
    """No search is needed to know such a score, but a move has to be found."""
    twin, wins, losses = Connect4Twin(*board), 0, 0
    while min(wins, losses) < (100 if full else 10):
        for plain in random_positions(rng, twin, 20, range(2, board[0] * board[1])):
            win = can_win(*twin.arrays(plain), 1)
            if not win and twin.quiet_moves(plain):
                continue
            wins, losses = wins + win, losses + (not win)
            result = solve(shared_solver(board), state_of(plain, twin))
            assert result.score == ((twin.empties(plain) + 1) // 2 if win else -(twin.empties(plain) // 2))
            after, _ = twin.play(plain, NAMES[result.line[0]])
            assert not win or not twin.moves(after), (twin.drawn(plain), result)


@pytest.mark.parametrize("board", [*BOARDS, (1, 9), (63, 1), (1, 1)], ids=board_id)
def test_a_finished_game_is_worth_its_score(board, rng):
    twin = Connect4Twin(*board)
    for _ in range(10):
        end = random_game(rng, twin)[-1]
        assert solve(shared_solver(board), state_of(end, twin)) == (twin.final(end), True, [], 0, 0, 0)


@pytest.mark.parametrize("board", [(1, 4), (1, 9), (2, 6), (3, 5), (20, 1), (9, 2), (5, 3), (1, 1)], ids=board_id)
def test_boards_of_any_shape(board):
    twin = Connect4Twin(*board)
    result = solve(shared_solver(board), connect4.start(connect4.rules(board)).state)
    assert result.score == twin.score(twin.start())
    check_line(result, twin.start(), twin)


def bitbully_score(text):
    """The score of a position on 6×7 by another program."""
    core = pytest.importorskip("bitbully.bitbully_core")
    board, searcher = core.BoardCore(), core.BitBullyCore()
    assert board.setBoard([int(column) - 1 for column in text])
    return searcher.mtdf(board, 0)


def check_against_bitbully(rng, n, plies):
    twin, engine = Connect4Twin(6, 7), solver(far_mib=16)
    for plain in random_positions(rng, twin, n, [42 - ply for ply in plies]):
        text = twin.text(plain)
        assert solve(engine, state_of(plain, twin)).score == bitbully_score(text), text


def test_scores_are_bitbullys(full, rng):
    check_against_bitbully(rng, 500 if full else 40, range(12, 42))


def test_scores_of_openings_are_bitbullys(full, rng):
    if not full:
        pytest.skip("takes minutes; with --full only")
    check_against_bitbully(rng, 20, range(6, 12))


# --- windows ---


def windowed(rng, board, n):
    """Searches of windows around, above and below the score: (plain position, twin, score, low, high, result)."""
    twin = Connect4Twin(*board)
    for plain in random_positions(rng, twin, n, EMPTIES):
        engine, score = solver(board=board, far_mib=0), twin.score(plain)
        for low, high in [(score - 1, score), (score, score + 1), (-1, 1), *random_windows(rng, 6)]:
            if rng.random() < 0.5:
                engine.clear()
            result = solve(engine, state_of(plain, twin), low, high)
            assert result.complete
            yield plain, twin, score, low, high, result


def random_windows(rng, n):
    return [sorted(rng.sample(range(-20, 21), 2)) for _ in range(n)]


@pytest.mark.parametrize("board", BOARDS, ids=board_id)
def test_a_window_bounds_the_score(board, full, rng):
    for plain, twin, score, low, high, result in windowed(rng, board, 200 if full else 15):
        assert result.score == min(max(score, low), high), (twin.drawn(plain), low, high, score)
        if low < score < high:
            check_line(result, plain, twin)


@pytest.mark.parametrize("board", BOARDS, ids=board_id)
def test_beyond_a_window_there_is_a_move_as_well(board, full, rng):
    """One that reaches its upper end, or any legal one where none is better than its lower end."""
    for plain, twin, score, low, high, result in windowed(rng, board, 200 if full else 15):
        if score <= low or score >= high:
            case = (twin.drawn(plain), low, high, score, result)
            assert len(result.line) == 1, case
            move = NAMES[result.line[0]]
            assert move in twin.moves(plain), case
            assert score <= low or -twin.score(twin.play(plain, move)[0]) >= high, case


@pytest.mark.parametrize("window", [(-1, 1), (-3, -2), (5, 9)])
def test_a_finished_game_has_its_score_whatever_the_window(window):
    won = connect4.parse("1212121", connect4.rules((6, 7)))
    result = solve(solver(), won.state, *window)
    assert (result.score, result.complete, result.line) == (-18, True, [])


# --- pausing ---


@pytest.fixture(scope="module")
def long_searches(seed, full):
    """Positions of 6×7 whose searches are no easy ones, of the kind that comes to use the shared table."""
    twin, rng, found = Connect4Twin(6, 7), random.Random(seed), []
    while len(found) < (20 if full else 3):
        (plain,) = random_positions(rng, twin, 1, range(26, 31))
        engine = solver()
        solve(engine, state_of(plain, twin))
        if 2 * tt.EASY < engine.nodes < 2_000_000:
            found.append(state_of(plain, twin))
    return found


def test_pausing_changes_nothing(long_searches, rng):
    for state in long_searches:
        whole = solve(solver(), state)
        for most in (1_000, 20_000, 1_000_000):
            engine = solver()
            engine.begin(state)
            while not engine.advance(rng.randint(0, most)):
                stopped = engine.result()
                assert not stopped.complete
                assert stopped.score <= whole.score
                assert bool(stopped.line) == (stopped.score > -kernels.INFINITY)
            assert engine.result() == whole


def test_the_shortest_slices_change_nothing(rng):
    twin = Connect4Twin(5, 6)
    for plain in random_positions(rng, twin, 3, range(17, 21)):
        state = state_of(plain, twin)
        whole = solve(solver(board=(5, 6)), state)
        assert solve(solver(board=(5, 6)), state, budget=1) == whole


def test_a_slice_keeps_to_its_budget(long_searches):
    engine = solver()
    for state in long_searches:
        engine.begin(state)
        done, longest = False, 0
        while not done:
            before = engine.nodes
            done = engine.advance(1_000)
            longest = max(longest, engine.nodes - before)
            assert done or engine.nodes - before >= 1_000
        assert longest < 50_000


def test_an_unfinished_search_leaves_no_trace_in_the_next_ones_score(long_searches, rng):
    twin, engine = Connect4Twin(6, 7), solver()
    for plain in random_positions(rng, twin, 20, EMPTIES):
        engine.begin(rng.choice(long_searches))
        engine.advance(rng.choice((0, 1, 3_000)))
        result = solve(engine, state_of(plain, twin))
        assert result.score == twin.score(plain)
        check_line(result, plain, twin)


# --- tables ---


def test_tables_change_no_score(long_searches):
    far = tt.new_shared_table(1)
    for state in long_searches:
        scores = {
            "fresh": solve(solver(), state).score,
            "none": solve(solver(far_mib=0), state).score,
            "one bucket": solve(ExactSolver(connect4, connect4.rules(), np.zeros(8, np.uint64)), state).score,
            "odd number of buckets": solve(
                ExactSolver(connect4, connect4.rules(), np.zeros(8 * 13, np.uint64)), state
            ).score,
            "shared": solve(ExactSolver(connect4, connect4.rules(), far), state).score,
        }
        assert len(set(scores.values())) == 1, (scores, state)


@pytest.mark.parametrize("board", BOARDS, ids=board_id)
@pytest.mark.parametrize("near_bits", [0, 1, 4, 16])
def test_no_limit_and_no_size_of_table_changes_a_score(board, near_bits, full, rng, monkeypatch):
    monkeypatch.setattr(tt, "new_l1_table", functools.partial(tt.new_l1_table, near_bits))
    twin, r = Connect4Twin(*board), connect4.rules(board)
    for _ in range(20 if full else 2):
        limits = {"table": rng.randint(1, 10), "far_left": rng.randint(1, 12), "cut": rng.randint(2, 14)}
        far = np.zeros(8 * rng.choice((1, 2, 13, 1000)), np.uint64)
        engine = Eager(connect4, r, far, **limits, bottom=rng.choice((0, 3, 14)), subtree=rng.choice((0, 5, 50)))
        for plain in random_positions(rng, twin, 10, EMPTIES):
            result = solve(engine, state_of(plain, twin), budget=rng.choice((1, 50, NO_PAUSE)))
            assert result.score == twin.score(plain), (twin.drawn(plain), limits)
            check_line(result, plain, twin)


def test_engines_by_turns_on_one_far_table(full, rng):
    """No engine finds what another left there, though positions of small boards have the same keys on larger ones."""
    twins = [Connect4Twin(*board) for board in [(4, 4), (4, 5), (4, 6), (5, 4), (5, 5)]]
    far = np.zeros(8 * 1000, np.uint64)
    engines = [Eager(connect4, connect4.rules((twin.rows, twin.columns)), far) for twin in twins]
    for _ in range(500 if full else 30):
        cases = [random_positions(rng, twin, 1, EMPTIES)[0] for twin in twins]
        for engine, plain, twin in zip(engines, cases, twins):
            engine.begin(state_of(plain, twin))
        done = [False]
        while not all(done):
            done = [engine.advance(rng.choice((1, 20, 100))) for engine in engines]
        for engine, plain, twin in zip(engines, cases, twins):
            assert engine.result().score == twin.score(plain), twin.drawn(plain)
            check_line(engine.result(), plain, twin)


@pytest.mark.parametrize("far_mib", [0, 64])
def test_nothing_is_found_after_clear(far_mib, long_searches):
    for state in long_searches:
        engine = solver(far_mib=far_mib)
        first = solve(engine, state)
        engine.clear()
        cleared = solve(engine, state)
        assert (cleared.score, cleared.nodes) == (first.score, first.nodes)
        assert solve(engine, state).nodes != first.nodes  # it was there to be found


def test_what_engines_of_one_far_table_share(long_searches):
    for state in long_searches:
        far = tt.new_shared_table(64)
        first, same, other = (ExactSolver(connect4, connect4.rules(), far, tag) for tag in ("", "", "other"))
        fresh = solve(first, state)
        again, apart = solve(same, state), solve(other, state)
        assert again.score == apart.score == fresh.score
        assert again.nodes != fresh.nodes
        # the others' entries may have taken the place of some of its own
        assert apart.nodes == pytest.approx(fresh.nodes, rel=0.01)


# --- other games ---


def test_tictactoe_is_minimax():
    r, values = tictactoe.rules(), {}

    def value(position):
        """Minimax of a position; ``values`` keeps it for every one below it too."""
        if position not in values:
            moves = legal_moves(tictactoe, position, r)
            below = [-value(step(tictactoe, position, r, m)) for m in moves]
            values[position] = max(below) if moves else int(tictactoe.final(position.state, r))
        return values[position]

    assert value(tictactoe.start(r)) == 0
    assert len(values) == 5478
    engine = solver(tictactoe, None)
    for position, expected in values.items():
        if len(engine_line := solve(engine, position.state).line):
            assert -values[step(tictactoe, position, r, engine_line[0])] == expected
        else:
            assert tictactoe.kind(position.state, r) == END
        assert engine.result().score == expected


@pytest.mark.parametrize(
    ("board", "empties", "score"),
    [((4, 4), "winner", -10), ((4, 4), "none", -8), ((4, 5), "winner", 16), ((5, 4), "winner", 16)],
)
def test_the_first_player_of_othello_gets_the_known_score(board, empties, score):
    engine = solver(othello, board, empties=empties)
    assert solve(engine, othello.start(othello.rules(board)).state).score == score


@pytest.mark.parametrize("board", [(4, 4), (6, 6), (8, 8), (9, 8), (16, 16)], ids=board_id)
@pytest.mark.parametrize("empties", positions.EMPTIES)
def test_othello_is_as_by_alphabeta(board, empties, full, rng):
    """Positions of up to ten empty squares: the last moves, passes and early ends among them."""
    if not full and (board == (16, 16) or (board == (9, 8) and empties != "winner")):
        pytest.skip("kernels of many words take long to compile; with --full only")
    engine, alphabeta = solver(othello, board, empties=empties), positions.engine(board, empties=empties)
    n = 20 if not full else 1_000 if board[0] * board[1] <= 64 else 50
    for state in positions.unfinished_states(rng, board, n, most_empties=10):
        result, expected = solve(engine, state), positions.search(alphabeta, state).score
        assert result.score == expected, state
        child, _ = othello.play(state, positions.rules(board, empties), result.line[0])
        assert -positions.search(alphabeta, as_state(child)).score == expected, state


@pytest.mark.full  # kernels of its own, six seconds to compile; test_deep_games.py has these lines, too
def test_a_line_of_single_moves():
    engine = solver(countdown, None)
    for moves in (1, 2, 7, countdown.LONGEST - 1, countdown.LONGEST):
        for budget in (1, NO_PAUSE):
            engine.clear()
            result = solve(engine, countdown.state(moves), budget=budget)
            assert result.score == (1 if moves % 2 else -1)
            assert result.line == list(range(moves, moves - len(result.line), -1))
