"""What the tests of the depth-limited search share: engines with other limits, and checks."""

import random

import pytest

from distsearch.engines.pvs import drivers as dr
from distsearch.engines.pvs import kernels
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import Deep
from distsearch.games import othello
from distsearch.games.interface import END, Position, legal_moves, step

from .positions import board_id, evaluate, rules, search

# board → plies that plain alpha-beta is asked for
DEEP_PLIES = {(6, 6): 8, (8, 8): 8, (9, 8): 6, (16, 16): 4}
WIDEST = pytest.mark.full  # for 16×16, whose kernels take ten seconds to compile; 9×8 has several words, too

NEVER = 1 << 40  # plies left
EVERYWHERE = {kernels.TABLE_LEFT: 1, tt.FAR_LEFT_LATER: 1, kernels.CUT_LEFT: 2, kernels.BOTTOM: 0}
CHANGES = {
    "nothing": {},
    "no table": {kernels.TABLE_LEFT: NEVER, kernels.CUT_LEFT: NEVER},
    "no far table": {tt.FAR_LEFT_LATER: NEVER},
    "no enhanced cut-offs": {kernels.CUT_LEFT: NEVER},
    "no null windows": {kernels.NULL_WINDOWS: 0},
    "no deepening": {dr.STEP: NEVER},
    "no recursion": {kernels.BOTTOM: 0},
    "no frames below the root's children": {kernels.BOTTOM: NEVER},
    "tables and frames everywhere": EVERYWHERE,
    "none of it": {kernels.TABLE_LEFT: NEVER, kernels.CUT_LEFT: NEVER, kernels.NULL_WINDOWS: 0, dr.STEP: NEVER},
}

deep_boards = pytest.mark.parametrize(
    "board", [pytest.param(board, marks=WIDEST) if board == (16, 16) else board for board in DEEP_PLIES], ids=board_id
)
techniques = pytest.mark.parametrize("changes", [{}, EVERYWHERE], ids=["as it is", "tables everywhere"])


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
