"""A search from the question to its answer, and many in one call: kernels around the drivers.

A slice of a long search is a call from Python. Of small searches a call each would cost several times what they take
themselves, so ``batch`` does one after another in compiled code, with the same results.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import int16s, int64s, uint64s
from ...games import lanes
from ..alphabeta import LINE_LENGTH
from . import drivers as dr
from . import kernels, visits
from . import table as tt

# bound for each game, and by the engine
answer = drive = follow = hashed = left_after = moves_left = play = pose = None

# Columns of a table of searches to do (int64).
PLIES, OWN_BUDGET = 0, 1  # how deep; boards at which this one is to stop, or 0
LOWEST, HIGHEST = 2, 3  # the window
BRIEF = 4  # 1: the best move will do for a line
ASKED_SIZE = 5

# Columns of a table of what they found (int64).
SCORE, COMPLETE, BOARDS, EVALUATED, HITS, FAR_HITS, STORES, REPLACED, LENGTH = range(9)
FOUND_SIZE = 9


def begin(s, where, plies, low, high):
    """Start to search s; return False, with nothing done, if there is no room for so many moves."""
    control = int64s(where)
    r, f = uint64s(control[kernels.RULES]), int64s(control[kernels.FRAMES])
    if moves_left(s, r) > control[dr.ROOM]:
        return False
    if control[dr.FORGETFUL]:
        near = uint64s(control[tt.NEAR])
        for i in range(2 * (control[tt.NEAR_MASK] + 1)):
            near[i] = 0
    lanes.store(uint64s(control[kernels.STATES]), 0, s)
    searched = control[kernels.BOARDS]
    control[kernels.BOARDS] = control[kernels.EVALUATED] = control[kernels.HITS] = control[kernels.STORES] = control[
        tt.REPLACED
    ] = 0
    control[kernels.FAR_HITS] = control[kernels.WAITED] = 0
    if not control[dr.PART]:
        control[tt.FAR_LOST] = 0
    kernels.leave_all(control, 0)
    if control[kernels.SHARED_LEFT] < tt.NEVER:
        control[kernels.LOOK_AT] = 0
    control[kernels.TOP], control[dr.LATEST], control[dr.DEPTH], control[dr.BEST_ROOT_MOVE] = -1, 0, 0, kernels.NO_MOVE
    control[dr.WINDOW_LOW], control[dr.WINDOW_HIGH] = low, high
    f[kernels.COUNT], f[kernels.BEST_MOVE] = 0, kernels.NO_MOVE
    control[dr.COMPLETE] = pose(s, r, control, plies)
    if control[kernels.VISITS_LEFT] < tt.NEVER:
        visits.begin(control[kernels.VISITS], searched, np.int64(hashed(s, r, control)), control[dr.LEFT_AT_ROOT])
    return True


@compiled
def any_move(control):
    """Return the best move at the root so far, or the likeliest one; NO_MOVE before the first question."""
    f = int64s(control[kernels.FRAMES])
    if control[dr.BEST_ROOT_MOVE] != kernels.NO_MOVE:
        return control[dr.BEST_ROOT_MOVE]
    if f[kernels.BEST_MOVE] != kernels.NO_MOVE:
        return f[kernels.BEST_MOVE]
    return np.int64(int16s(control[kernels.MOVES])[0]) if f[kernels.COUNT] > 0 else kernels.NO_MOVE


def report(s, where, line, brief):
    """Return (score, length): the score of s so far, and how many moves of its line were written at ``line``.

    line: address of LINE_LENGTH int16; brief: whether the best move will do. Without, the line goes as far as it can be
    proved, of a complete search whose score is within its window.
    """
    control, out = int64s(where), int16s(line)
    r, f = uint64s(control[kernels.RULES]), int64s(control[kernels.FRAMES])
    score, move, proved = answer(s, r, control)
    if move == kernels.NO_MOVE:
        return score, np.int64(0)
    out[0], length = move, np.int64(1)
    if proved and not brief:
        boards, evaluated, hits = control[kernels.BOARDS], control[kernels.EVALUATED], control[kernels.HITS]
        far_hits, stores, replaced = control[kernels.FAR_HITS], control[kernels.STORES], control[tt.REPLACED]
        child, _ = play(s, r, move)
        # what the latest search had left, which entries are of: where the whole game takes less than was asked for
        length = follow(child, where, left_after(f[kernels.LEFT], move), -score, line, length)
        # the line is on the house
        control[kernels.BOARDS], control[kernels.EVALUATED], control[kernels.HITS] = boards, evaluated, hits
        control[kernels.FAR_HITS], control[kernels.STORES], control[tt.REPLACED] = far_hits, stores, replaced
    return score, length


def batch(like, where, states, asked, found, lines, budget):
    """Do searches one after another until about ``budget`` boards; return (how many, whether the next one is at work).

    states: their words, one state's after another's; asked, found: shapes (searches, ASKED_SIZE) and (searches,
    FOUND_SIZE); lines: address of LINE_LENGTH int16 for each. A search takes a board of the budget at least, so that
    it bounds their number too. None is at work if all are done, or if frames have no room for the next one.
    """
    control, width = int64s(where), len(like)
    for i in range(len(asked)):
        s = lanes.load(like, states, i * width)
        own = asked[i, OWN_BUDGET]
        if not begin(s, where, asked[i, PLIES], asked[i, LOWEST], asked[i, HIGHEST]):
            return i, False
        if budget > 0 and not control[dr.COMPLETE]:
            control[kernels.BUDGET] = min(budget, own) if own > 0 else budget
            control[dr.COMPLETE] = drive(s, where)
        boards = control[kernels.BOARDS]
        if budget <= 0 or not control[dr.COMPLETE] and not 0 < own <= boards:
            return i, True
        budget -= max(boards, 1)
        found[i, SCORE], found[i, LENGTH] = report(s, where, lines + 2 * LINE_LENGTH * i, asked[i, BRIEF])
        found[i, COMPLETE], found[i, BOARDS], found[i, EVALUATED] = (
            control[dr.COMPLETE],
            boards,
            control[kernels.EVALUATED],
        )
        found[i, HITS], found[i, FAR_HITS] = control[kernels.HITS], control[kernels.FAR_HITS]
        found[i, STORES], found[i, REPLACED] = control[kernels.STORES], control[tt.REPLACED]
    return len(asked), False
