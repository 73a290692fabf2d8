"""What the tests of the depth-limited search share: engines with other limits, and checks."""

import random

import pytest

from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.games import othello
from distsearch.games.interface import END, Position, legal_moves, step

from .positions import board_id, evaluate, rules, search

# board → plies that plain alpha-beta is asked for
DEEP_PLIES = {(6, 6): 8, (8, 8): 8, (9, 8): 6, (16, 16): 4}
WIDEST = pytest.mark.full  # for 16×16, whose kernels take ten seconds to compile; 9×8 has several words, too

NEVER = 1 << 40  # plies left
EVERYWHERE = {"table_from": 1, "table.shared_from_later": 1, "cut_from": 2, "bottom": 0}
CHANGES = {
    "nothing": {},
    "no table": {"table_from": NEVER, "cut_from": NEVER},
    "no shared table": {"table.shared_from_later": NEVER},
    "no enhanced cut-offs": {"cut_from": NEVER},
    "no null windows": {"null_windows": 0},
    "no deepening": {"step": NEVER},
    "no recursion": {"bottom": 0},
    "no frames below the root's children": {"bottom": NEVER},
    "tables and frames everywhere": EVERYWHERE,
    "none of it": {"table_from": NEVER, "cut_from": NEVER, "null_windows": 0, "step": NEVER},
}

deep_boards = pytest.mark.parametrize(
    "board", [pytest.param(board, marks=WIDEST) if board == (16, 16) else board for board in DEEP_PLIES], ids=board_id
)
techniques = pytest.mark.parametrize("changes", [{}, EVERYWHERE], ids=["as it is", "tables everywhere"])


def deep(board, name="static", far=None, empties="winner", repeatable=False, changes=CHANGES["nothing"]):
    """A new engine; its shared table is one of its own if None."""
    far = tt.new_shared_table(1) if far is None else far
    return changed(DepthSearch(othello, rules(board, empties), evaluate(board, name), far, repeatable), changes)


def changed(searcher, changes):
    """The engine with other values in its control block."""
    for name, value in changes.items():
        *inner, field = name.split(".")
        (searcher._control[inner[0]] if inner else searcher._control)[field] = value
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
