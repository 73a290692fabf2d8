"""Connect 4 on a GPU against the CPU's solver: scores, windows, sharing, launches that end early, steering."""

import functools

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import connect4, othello
from distsearch.games.interface import END, Position, as_state, step
from distsearch.games.random_play import random_positions
from distsearch.gpu.solver import NO_MOVE, GpuSolver

STEADY = 60.0  # seconds of a launch, on a CPU that plays thousands of threads
SEVERAL = {"lanes": 4, "threads": 64, "blocks": 1}  # lanes with two or three moves each
PLAIN = {"lanes": 1, "threads": 32, "blocks": 1}


@functools.cache
def cpu(board):
    return ExactSolver(connect4, connect4.rules(board))


def cpu_score(board, state, low=-128, high=127):
    engine = cpu(board)
    engine.begin(tuple(np.asarray(state, np.uint64)), low, high)
    while not engine.advance(1 << 30):
        pass
    return engine.result(brief=True).score


def states_of(board, left, count, rng):
    """Return states (uint64, shape (count, 2)) with so many moves left (a range), games that have ended among them."""
    r = connect4.rules(board)
    squares = board[0] * board[1]
    plies = range(squares - left.stop + 1, squares - left.start + 1)
    positions = random_positions(connect4, r, plies, count, rng)
    for i in range(0, count, 7):
        while connect4.kind(positions[i].state, r) != END:
            out = np.zeros(board[1], np.int16)
            n = connect4.moves(positions[i].state, r, out, 0)
            positions[i] = step(connect4, positions[i], r, int(out[rng.randrange(n)]))
    return np.array([position.state for position in positions], np.uint64)


def solver(gpus, seed, board=(6, 7), **options):
    """Return a solver of few groups, that share work where there is little left."""
    gpu = gpus(seed)
    options = {"table_mib": 1, "seconds": STEADY, "threads": 64, "share_left": 8, "table_left": 4, **options}
    return GpuSolver(gpu, connect4, connect4.rules(board), **options)


@pytest.mark.parametrize(
    ("board", "left", "count", "options"),
    [
        ((6, 7), range(1, 19), 60, {}),
        ((6, 7), range(10, 17), 12, {"split": 3}),
        ((4, 8), range(1, 17), 60, SEVERAL),
        ((4, 8), range(8, 15), 20, {"split": 2, **SEVERAL}),
        ((5, 4), range(1, 14), 60, PLAIN),
        ((5, 4), range(6, 14), 20, {"split": 1, **PLAIN}),
        ((5, 4), range(12, 15), 3, {"split": 4, **PLAIN}),
    ],
)
def test_scores_are_the_cpus(gpus, board, left, count, options, full, seed, rng):
    states = states_of(board, left, count, rng)
    wanted = [cpu_score(board, state) for state in states]
    for run in range(10 if full else 2):
        scores, complete, nodes, counts = solver(gpus, seed + run, board, **options).solve(states)
        assert complete.all()
        assert scores.tolist() == wanted
        assert counts["nodes"] >= nodes / 2


def test_scores_within_windows_are_the_cpus(gpus, seed, rng):
    states = states_of((6, 7), range(1, 15), 60, rng)
    low = np.array([rng.randrange(-9, 9) for _ in states])
    high = low + [rng.randrange(1, 6) for _ in states]
    scores, complete, _, _ = solver(gpus, seed).solve(states, low, high)
    assert complete.all()
    asked = zip(states, low.tolist(), high.tolist(), strict=True)
    assert scores.tolist() == [cpu_score((6, 7), *each) for each in asked]


def test_many_groups_share_one_position(gpus, full, seed, rng):
    states = states_of((6, 7), range(18, 21), 12, rng)
    wanted = [cpu_score((6, 7), state) for state in states]
    alone = [solver(gpus, seed, share_left=70).solve(states[i : i + 1]) for i in range(len(states))]
    assert [found[0][0] for found in alone] == wanted
    hardest = max(range(len(states)), key=lambda i: alone[i][2])
    for run in range(10 if full else 3):
        for split in (0, 2):
            scores, complete, _, _ = solver(gpus, seed + run, split=split).solve(states[[hardest]])
            assert complete.all()
            assert scores[0] == wanted[hardest]


def test_launches_that_end_early_lose_nothing(gpus, seed, rng):
    states = states_of((6, 7), range(12, 20), 24, rng)
    engine = solver(gpus, seed, seconds=1e-6)
    engine.begin(states)
    nodes = -1
    while not engine.advance():
        assert engine.result()[2] > nodes  # each gets on
        nodes = engine.result()[2]
    scores, complete, _, _ = engine.result()
    assert complete.all()
    assert scores.tolist() == [cpu_score((6, 7), state) for state in states]


def test_best_moves_have_the_score_of_mirror_images_too(gpus, seed, rng):
    board, rules = (5, 4), connect4.rules((5, 4))
    early = np.array([each.state for each in random_positions(connect4, rules, range(4, 9), 12, rng)], np.uint64)
    columns = [early >> np.uint64(6 * c) & np.uint64(63) for c in range(4)]
    images = np.bitwise_or.reduce([column << np.uint64(6 * (3 - c)) for c, column in enumerate(columns)])
    engine = solver(gpus, seed, board)
    for states in (early, images, early):
        scores = engine.solve(states)[0]
        for state, score, move in zip(states, scores, engine.best(), strict=True):
            if move != NO_MOVE:
                child = step(connect4, Position(as_state(state), 0), rules, int(move))
                assert -cpu_score(board, child.state) == score


def test_a_batch_given_up_leaves_no_trace(gpus, seed, rng):
    engine = solver(gpus, seed, seconds=1e-6)
    engine.begin(states_of((6, 7), range(16, 22), 12, rng))
    engine.advance()
    states = states_of((6, 7), range(4, 16), 40, rng)
    scores, complete, _, _ = engine.solve(states)
    assert complete.all()
    assert scores.tolist() == [cpu_score((6, 7), state) for state in states]


def test_windows_narrow_and_positions_are_dropped_between_launches(gpus, seed, rng):
    states = states_of((6, 7), range(15, 18), 12, rng)
    engine = solver(gpus, seed, seconds=1e-6)
    engine.begin(states)
    engine.advance()
    known = engine.result()[1]
    for i in range(1, 6):
        engine.narrow(i, -1, 1)
    for i in range(8, 11):
        engine.drop(i)
    while not engine.advance():
        pass
    scores, complete, _, _ = engine.result()
    assert complete.tolist() == [not 8 <= i < 11 or known[i] for i in range(12)]
    for i in (0, *range(1, 8), 11):
        window = (-1, 1) if 1 <= i < 6 else ()
        assert scores[i] == cpu_score((6, 7), states[i], *window)


def test_entries_that_are_nonsense_are_not_found(gpus, seed, rng):
    states = states_of((6, 7), range(8, 16), 30, rng)
    engine = solver(gpus, seed)
    engine._table.set(np.random.default_rng(seed).integers(0, 1 << 64, engine._table.shape, np.uint64))
    assert engine.solve(states)[0].tolist() == [cpu_score((6, 7), state) for state in states]


def test_nothing_is_solved_at_once(gpus, seed):
    scores, complete, nodes, _ = solver(gpus, seed).solve(np.zeros((0, 2), np.uint64))
    assert len(scores) == len(complete) == nodes == 0


def test_what_a_gpu_cannot_do_is_said(gpus, seed):
    with pytest.raises(UserError, match="board 2x17: .* at most 16 columns"):
        solver(gpus, seed, (2, 17))
    with pytest.raises(UserError, match="connect4 only, not othello"):
        GpuSolver(gpus(seed), othello, othello.rules())
    with pytest.raises(UserError, match=r"table 99999999: a GPU's table has 1 to \d+ MiB"):
        solver(gpus, seed, table_mib=99999999)
    gpu = gpus(seed)
    full_gpu = type("Full", (), {"free": lambda self: 1 << 20, "kernel": gpu.kernel, "array": gpu.array})()
    options = {"table_mib": 131000, "threads": 64}
    with pytest.raises(UserError, match=r"MiB of memory left, 131000 are needed"):
        GpuSolver(full_gpu, connect4, connect4.rules(), **options)
