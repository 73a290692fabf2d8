"""Searches to a depth on a GPU against the CPU's: scores, windows, launches that end early, steering, refusals."""

import functools

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.core.errors import UserError
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.games.interface import END, PASS, Position, as_state, legal_moves
from distsearch.games.random_play import random_positions
from distsearch.gpu.solver import NO_MOVE
from distsearch.gpu.to_depth import GpuDepthSearch, check, over

STEADY = 60.0  # seconds of a launch, on a CPU that plays thousands of threads
BOARDS = [
    ("connect4", (6, 7), "outcome", 5),
    ("connect4", (4, 5), "outcome", 8),
    ("othello", (8, 8), "patterns", 3),
    ("othello", (6, 6), "patterns", 4),
    ("othello", (8, 8), "complex", 3),
    ("othello", (4, 4), "complex", 6),  # with passes, and ends of games
    ("othello", (5, 6), "discs", 4),
]


@functools.cache
def known(game, board, name):
    """Return (game's module, rules, Evaluation, search of a core)."""
    module = games.find(game)
    rules = module.rules(board)
    chosen = evaluation.find(module, name, rules)
    return module, rules, chosen, DepthSearch(module, rules, chosen)


def cpu_score(of, state, depth, *window):
    engine = known(*of)[-1]
    engine.begin(tuple(state), int(depth), *window)
    while not engine.advance(1 << 30):
        pass
    return engine.result(brief=True).score


def positions_of(of, count, rng):
    """Return states (uint64, shape (count, 2)) of random games that are not over."""
    module, rules, *_ = known(*of)
    squares, found = of[1][0] * of[1][1], []
    while len(found) < count:
        drawn = random_positions(module, rules, range(2, squares - 3), count, rng)
        found += [position.state for position in drawn if module.kind(position.state, rules) != END]
    return np.array(found[:count], np.uint64)


def made(gpus, seed, of, **options):
    """Return a search of few groups, that share work where there is little left."""
    few = {"table_mib": 1, "threads": 64, "blocks": 1, "share_left": 2, "table_left": 1}
    options = {"seconds": STEADY, **few, **options}
    return GpuDepthSearch(gpus(seed), *known(*of)[:3], **options)


@pytest.mark.parametrize(("game", "board", "name", "most"), BOARDS, ids=str)
def test_scores_are_the_cpus_and_moves_have_them(gpus, game, board, name, most, full, seed, rng):
    of = game, board, name
    module, rules, *_ = known(*of)
    states = positions_of(of, 12, rng)
    depths = np.array([rng.randint(1, most) for _ in states])
    wanted = [cpu_score(of, *each) for each in zip(states, depths, strict=True)]
    for run in range(6 if full else 2):
        search = made(gpus, seed + run, of)
        scores, complete, _, counts = search.search(states, depths)
        assert complete.all()
        assert scores.tolist() == wanted
        assert counts["nodes"] > 0
        told = 0
        for state, depth, score, move in zip(states, depths, scores, search.best(), strict=True):
            told += move != NO_MOVE
            if move == NO_MOVE or depth == 1:
                continue
            child = as_state(module.play(as_state(state), rules, int(move))[0])
            if module.kind(child, rules) != END:
                assert -cpu_score(of, child, depth - 1) == score
        assert told > len(states) // 2


@pytest.mark.parametrize("of", [BOARDS[0][:3], BOARDS[3][:3], BOARDS[5][:3]], ids=str)
def test_moves_are_not_those_of_earlier_searches(gpus, of, seed, rng):
    """The same positions again, to other depths; their mirror images share entries of Connect 4's table."""
    module, rules, *_ = known(*of)
    states = positions_of(of, 10, rng)
    if of[0] == "connect4":
        early = [each.state for each in random_positions(module, rules, range(3, 9), 6, rng)]
        states = np.concatenate([states, np.array(early, np.uint64), mirrored(np.array(early, np.uint64))])
    search = made(gpus, seed, of)
    for depth in (5, 3, 5, 4):
        scores, *_ = search.search(states, np.full(len(states), depth))
        for state, score, move in zip(states, scores, search.best(), strict=True):
            if move == NO_MOVE:
                continue
            assert move in legal_moves(module, Position(as_state(state), 0), rules)
            child = as_state(module.play(as_state(state), rules, int(move))[0])
            if module.kind(child, rules) != END:
                assert -cpu_score(of, child, depth - 1) == score


def mirrored(states):
    """Return states of Connect 4 on 6x7 with left and right exchanged."""
    columns = [states >> np.uint64(7 * c) & np.uint64(127) for c in range(7)]
    return np.bitwise_or.reduce([column << np.uint64(7 * (6 - c)) for c, column in enumerate(columns)])


def test_a_side_that_must_pass_passes(gpus, seed, rng):
    of = BOARDS[5][:3]
    module, rules, *_ = known(*of)
    drawn = random_positions(module, rules, range(5, 12), 400, rng)
    states = [each.state for each in drawn if legal_moves(module, each, rules) == [PASS]][:4]
    search = made(gpus, seed, of)
    scores, *_ = search.search(np.array(states, np.uint64), np.full(len(states), 4))
    assert scores.tolist() == [cpu_score(of, state, 4) for state in states]
    lost = scores == -116  # by all discs: the lowest score is known without a move
    assert search.best()[~lost].tolist() == [PASS] * int((~lost).sum())


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_groups_of_any_size_find_the_same(gpus, lanes, seed, rng):
    of = "othello", (8, 8), "complex"
    states = positions_of(of, 5, rng)
    scores, *_ = made(gpus, seed, of, lanes=lanes).search(states, np.full(len(states), 3))
    assert scores.tolist() == [cpu_score(of, state, 3) for state in states]


@pytest.mark.parametrize("of", [BOARDS[0][:3], BOARDS[3][:3]], ids=str)
def test_scores_within_windows_are_the_cpus(gpus, of, seed, rng):
    states = positions_of(of, 20, rng)
    scale = known(*of)[2].unit
    low = scale * np.array([rng.randrange(-9, 9) for _ in states])
    high = low + scale * np.array([rng.randrange(1, 6) for _ in states])
    scores, complete, _, _ = made(gpus, seed, of).search(states, np.full(len(states), 4), low, high)
    assert complete.all()
    asked = zip(states, low.tolist(), high.tolist(), strict=True)
    assert scores.tolist() == [cpu_score(of, state, 4, *window) for state, *window in asked]


def test_launches_that_end_early_lose_nothing(gpus, seed, rng):
    of = BOARDS[0][:3]
    states = positions_of(of, 12, rng)
    search = made(gpus, seed, of, seconds=1e-6)
    search.begin(states, np.full(len(states), 6))
    launches = 0
    while not search.advance():
        launches += 1
        assert launches < 8 or search.result()[3]["nodes"] > 0
    scores, complete, _, _ = search.result()
    assert launches > 3
    assert complete.all()
    assert scores.tolist() == [cpu_score(of, state, 6) for state in states]


def test_one_position_is_many_groups(gpus, full, seed, rng):
    of = "othello", (8, 8), "complex"
    states = positions_of(of, 1, rng)
    wanted = cpu_score(of, states[0], 5)
    for run in range(8 if full else 2):
        scores, *_ = made(gpus, seed + run, of).search(states, [5])
        assert scores.tolist() == [wanted]


def test_a_search_is_not_misled_by_an_earlier_one(gpus, seed, rng):
    of = BOARDS[5][:3]
    search, states = made(gpus, seed, of), positions_of(of, 12, rng)
    for depth in (5, 3, 4, 1):  # which ask the same positions to other depths
        scores, *_ = search.search(states, np.full(len(states), depth))
        assert scores.tolist() == [cpu_score(of, state, depth) for state in states]


def test_windows_narrow_and_positions_are_dropped_between_launches(gpus, seed, rng):
    of = BOARDS[0][:3]
    states = positions_of(of, 12, rng)
    search = made(gpus, seed, of, seconds=1e-6)
    search.begin(states, np.full(len(states), 6))
    search.advance()
    for i in range(1, 6):
        search.narrow(i, -1, 1)
    for i in range(8, 11):
        search.drop(i)
    while not search.advance():
        pass
    scores, complete, _, _ = search.result()
    assert complete.tolist() == [not 8 <= i < 11 for i in range(12)]
    for i in (0, *range(1, 8), 11):
        window = (-1, 1) if 1 <= i < 6 else ()
        assert scores[i] == cpu_score(of, states[i], 6, *window)


def test_ends_of_games_are_known(rng):
    for of in (BOARDS[1][:3], BOARDS[5][:3]):
        module, rules, *_ = known(*of)
        states = np.array([each.state for each in random_positions(module, rules, range(10, 16), 50, rng)], np.uint64)
        assert over(module, states, rules).tolist() == [module.kind(tuple(state), rules) == END for state in states]


@pytest.mark.parametrize(
    ("game", "board", "name", "said"),
    [
        ("othello", (8, 8), "static", "by evaluation discs or complex or patterns, not static"),
        ("othello", (9, 9), "complex", "up to 64 squares, not 9x9"),
        ("connect4", (2, 17), "outcome", "at most 16 columns"),
        ("2048", None, "rows", "othello and connect4 to a depth, not 2048"),
    ],
)
def test_what_no_gpu_searches_is_said(game, board, name, said):
    module = games.find(game)
    rules = module.rules(board)
    with pytest.raises(UserError, match=said):
        check(module, rules, evaluation.find(module, name, rules))
