"""Whether end games on a GPU have the scores that the CPU's solver finds, whatever the lanes, launches and windows."""

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import connect4, othello
from distsearch.games.interface import END, Position, legal_moves, step
from distsearch.gpu.othello_endgame import GpuEndgame
from distsearch.gpu.solver import NO_MOVE
from distsearch.testing.emulated_gpu import EmulatedGpu

SEEDS = range(5)
KINDS = {  # of kernels, and the boards that they are compiled for
    "four": ((8, 8), {"lanes": 4, "leaf": 3, "waiting": 8, "threads": 64, "most": 9}),
    "shared": ((5, 6), {"lanes": 8, "leaf": 3, "threads": 32, "most": 9, "share_from": 6, "table_mib": 1}),
}
MORE_KINDS = {
    "sixteen": ((5, 6), {"lanes": 16, "leaf": 4, "threads": 32, "most": 9}),
    "one": ((8, 8), {"lanes": 1, "leaf": 5, "waiting": 8, "threads": 32, "most": 12}),
    "two": ((4, 16), {"lanes": 2, "leaf": 1, "threads": 64, "most": 8}),
    "eight": ((8, 8), {"lanes": 8, "leaf": 4, "threads": 128, "most": 12}),
    "thirty-two": ((8, 8), {"lanes": 32, "leaf": 6, "waiting": 4, "threads": 32, "most": 13}),
}
BY_KIND = pytest.mark.parametrize("kind", [*KINDS, *(pytest.param(k, marks=pytest.mark.full) for k in MORE_KINDS)])


def made(gpu, kind, empties="winner", **more):
    board, options = (KINDS | MORE_KINDS)[kind]
    return GpuEndgame(gpu, othello, othello.rules(board, empties), **more | options)


def played(r, left, rng):
    """Return the state of a random game with so many empty squares."""
    position = othello.start(r)
    while othello.moves_left(position.state, r) > left:
        moves = legal_moves(othello, position, r)
        position = step(othello, position, r, rng.choice(moves)) if moves else othello.start(r)
    return position.state


def filled(r, left, rng):
    """Return a state that no game may come to: one side has nearly all, so there are passes and wipe-outs."""
    squares = rng.sample(range(int(r[othello.SQUARES])), int(r[othello.SQUARES]) - left)
    share = rng.choice([0.03, 0.15, 0.5, 0.85, 0.97])
    own = sum(1 << q for q in squares if rng.random() < share)
    return np.uint64(own), np.uint64(sum(1 << q for q in squares) & ~own)


def drawn(r, count, most, rng):
    """Return states, shape (count, 2), with up to ``most`` empty squares."""
    kinds = (played, played, filled)
    return np.array([kinds[i % 3](r, rng.randint(0, most), rng) for i in range(count)], np.uint64)


def scores(r, states, low=None, high=None):
    """Return what the CPU says."""
    solver, found = ExactSolver(othello, r), []
    for i, state in enumerate(states):
        solver.begin(tuple(map(np.uint64, state)), *(() if low is None else (int(low[i]), int(high[i]))))
        while not solver.advance(1 << 30):
            pass
        found.append(solver.result().score)
    return np.array(found)


@BY_KIND
@pytest.mark.parametrize("empties", ["winner", "none"])
def test_scores_and_moves_are_right(gpus, rng, kind, empties):
    board, options = (KINDS | MORE_KINDS)[kind]
    r = othello.rules(board, empties)
    states = drawn(r, 90, min(options["most"], 9), rng)
    found, complete, moves = made(gpus(), kind, empties).solve(states)
    wanted = scores(r, states)
    assert complete.all()
    assert found.tolist() == wanted.tolist()
    ended = np.array([othello.kind(tuple(state), r) == END for state in states])
    assert ended.any()
    assert (moves[ended] == NO_MOVE).all()
    after = [othello.play(tuple(s), r, int(m))[0] for s, m in zip(states[~ended], moves[~ended], strict=True)]
    assert (scores(r, after) == -wanted[~ended]).all()
    for i in np.flatnonzero(~ended):
        assert moves[i] in legal_moves(othello, Position(tuple(states[i]), 0), r)


@BY_KIND
def test_the_order_of_threads_the_table_and_the_ends_of_launches_do_not_matter(gpus, rng, kind):
    board, options = (KINDS | MORE_KINDS)[kind]
    r = othello.rules(board)
    states = drawn(r, 30, min(options["most"], 9), rng)
    states[::2] = [played(r, min(options["most"], 9), rng) for _ in states[::2]]
    wanted = scores(r, states).tolist()
    for seed in SEEDS:
        solver = made(gpus(seed), kind, table_mib=seed % 2, seconds=1 if seed % 3 else 1e-9)
        solver.begin(states)
        launches = 1
        while not solver.advance():
            launches += 1
        assert solver.result()[0].tolist() == wanted
        assert launches > 1 or seed % 3
        assert (solver.counts["stores"] > 0) == (seed % 2 == 1 or kind == "shared")


@BY_KIND
def test_scores_are_cut_to_windows(gpus, rng, kind):
    board, options = (KINDS | MORE_KINDS)[kind]
    r = othello.rules(board)
    states = drawn(r, 60, min(options["most"], 8), rng)
    low = np.array([rng.randint(-30, 29) for _ in states])
    high = np.array([rng.randint(x + 1, 30) for x in low])
    found, complete, _ = made(gpus(), kind, table_mib=1).solve(states, low, high)
    assert complete.all()
    assert found.tolist() == scores(r, states, low, high).tolist()


def test_windows_can_be_narrowed_and_positions_dropped_between_launches(gpus, rng):
    r = othello.rules()
    states = np.array([played(r, 9, rng) for _ in range(20)], np.uint64)
    wanted = scores(r, states)
    solver = made(gpus(), "four", seconds=1e-9)
    solver.begin(states)
    assert not solver.advance()
    for i in range(0, 20, 2):
        solver.narrow(i, int(wanted[i]) - 3, int(wanted[i]) - 1)
    for i in range(1, 20, 4):
        solver.drop(i)
    while not solver.advance():
        pass
    found, complete, _ = solver.result()
    assert (complete | (np.arange(20) % 4 == 1)).all()
    assert not complete[1::4].all()  # some were dropped before they were done
    cut = np.where(np.arange(20) % 2 == 0, np.maximum(wanted - 1, -64), wanted)
    assert found[complete].tolist() == cut[complete].tolist()


def test_positions_are_added_between_launches(gpus, rng):
    """Before and after groups have found none left."""
    r = othello.rules(KINDS["shared"][0])
    solver, states = made(gpus(rng.randrange(1000)), "shared", seconds=1e-5), drawn(r, 24, 8, rng)
    solver.begin(states[:5], room=24)
    known = 5
    while True:
        done = solver.advance()
        if known < 24 and (done or rng.random() < 0.3):
            more = min(24, known + rng.randint(1, 8))
            solver.add(states[known:more])
            assert solver.room == 24 - more
            known = more
        elif done:
            break
    found, complete, _ = solver.result()
    assert complete.all()
    assert found.tolist() == scores(r, states).tolist()


def test_many_groups_search_a_hard_position_faster_than_one(rng):
    r = othello.rules((5, 6))
    states = [played(r, 9, rng) for _ in range(16)]
    wanted, turns = scores(r, states).tolist(), []
    for options in (KINDS["shared"][1], KINDS["shared"][1] | {"share_from": 0}):
        solver = GpuEndgame(EmulatedGpu(multiprocessors=4), othello, r, **options)
        turns.append(0)
        for state, score in zip(states, wanted, strict=True):
            assert solver.solve([state])[0] == score
            turns[-1] += solver.counts["turns"]
    assert turns[0] / 4 < turns[1]  # of a warp: four work where there was one; 0.67 as many, ±0.06 by positions


def test_a_kernel_is_used_again(gpus, rng):
    r = othello.rules()
    solver = made(gpus(), "four", table_mib=1)
    for count in (7, 0, 1):
        states = drawn(r, count, 7, rng)
        assert solver.solve(states)[0].tolist() == scores(r, states).tolist()
    solver.clear()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((connect4, connect4.rules()), "end games of othello"),
        ((othello, othello.rules((10, 10))), "up to 64 squares"),
        ((othello, othello.rules(), 1 << 20), "table 1048576: it takes 1048576 MiB, and the GPU has"),
    ],
)
def test_what_it_cannot_do_is_said(arguments, said):
    with pytest.raises(UserError, match=said):
        GpuEndgame(EmulatedGpu(), *arguments, **KINDS["four"][1])


def test_a_position_with_too_many_empty_squares_is_an_error():
    with pytest.raises(UserError, match="a position has 60 empty squares: here the GPU solves up to 9"):
        made(EmulatedGpu(), "four").begin([othello.start(othello.rules()).state])
    with pytest.raises(UserError, match="up to 24 empty squares"):
        GpuEndgame(EmulatedGpu(), othello, othello.rules(), most=25)
