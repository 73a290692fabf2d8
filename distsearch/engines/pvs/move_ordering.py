"""Move ordering of exact searches by a learnt evaluation: templates that the solver is bound to with one.

Where much of the game is left, a node's moves are ordered by *quick searches*, of a few plies, that end in the
evaluation. Scores do not depend on any of this: the evaluation decides which move is searched first, and which question
is asked first.
"""

import numpy as np

from ...core.jit import outlined
from ...core.pointers import int16s, int64s, uint64s
from ...games.ordering import sort
from .kernels import INFINITY

evaluate = final = moves = play = None  # bound for each game, and by the engine
_MAX_PLIES = np.int64(4)
MAX_GUESS_NODES = np.int64(50_000)  # of a first guess, 2 ms; six plies may take 3 million
NEVER = np.int64(2**63 - 1)
UNIT = 1  # of the evaluation's values, a final score of 1
_CLEARLY_BELOW = np.int64(5)  # by which a value must miss beta for a cut to be unlikely
_VALUE_BITS = np.int64(20)  # the lower bits of what moves are sorted by: a value plus _VALUE_OFFSET
_VALUE_OFFSET = np.int64(1) << _VALUE_BITS - 1


@outlined
def quick_search(s, c, at, plies, alpha, beta):
    """Value of s by so many plies, fail-soft; moves are written to the array of moves from ``at`` on.

    The value is undefined if the search gave up, at ``quick_search_end``.
    """
    r, out = uint64s(c.rules), int16s(c.moves)
    if plies == 0:
        return np.int64(evaluate(s, r, uint64s(c.tables)))
    if c.nodes >= c.quick_search_end:
        return np.int64(0)
    n = np.int64(moves(s, r, out, at))
    if n == 0:
        return np.int64(final(s, r)) * UNIT
    best = -INFINITY
    for i in range(at, at + n):
        child, _ = play(s, r, np.int64(out[i]))
        c.nodes += 1
        value = -quick_search(child, c, at + n, plies - np.int64(1), -beta, -max(alpha, best))
        best = max(best, value)
        if best >= beta:
            break
    return best


def order_moves(s, c, at, n, depth_left, beta):
    """Put the n moves at ``at`` in order of quick searches, with a share of the scores that ``solver_moves`` gave them.

    Their scores (int64, in UNITs) are then the values of the quick searches alone, by which cuts are predicted. At a
    node that probably no move cuts off, their order matters little: the searches are a ply shorter, and where that
    leaves none, moves keep their order, and have the node's value for a score.
    """
    if n < 2 or depth_left < c.order_from:
        return
    r, out, scores = uint64s(c.rules), int16s(c.moves), int64s(c.scores)
    plies = min((depth_left - c.order_from) // c.order_step, _MAX_PLIES)
    value = np.int64(evaluate(s, r, uint64s(c.tables)))
    if value < (beta - _CLEARLY_BELOW) * UNIT:
        plies -= 1
        if plies < 0:
            for i in range(at, at + n):
                scores[i] = value
            return
    for i in range(at, at + n):
        child, _ = play(s, r, np.int64(out[i]))
        c.nodes += 1
        value = -quick_search(child, c, at + n, plies, -INFINITY, INFINITY)
        scores[i] = value + c.order_weight * scores[i] << _VALUE_BITS | value + _VALUE_OFFSET
    sort(out, scores, at, n)
    for i in range(at, at + n):
        scores[i] = (scores[i] & 2 * _VALUE_OFFSET - 1) - _VALUE_OFFSET


@outlined
def first_guess(s, c, depth_left):
    """Return a score to ask for first; 0 where the window leaves no choice, or a quick search takes too long.

    It is not paused, so it deepens until MAX_GUESS_NODES nodes are used up. They count as all others.
    """
    plies = min((depth_left - c.order_from) // np.int64(2) + np.int64(1), _MAX_PLIES + np.int64(2))
    score = np.int64(0)
    if plies < 2 or c.window_high - c.window_low <= 2:
        return score
    c.quick_search_end = c.nodes + MAX_GUESS_NODES
    for depth in range(np.int64(2) - plies % 2, plies + 1, 2):
        value = quick_search(s, c, np.int64(0), np.int64(depth), -INFINITY, INFINITY)
        if c.nodes >= c.quick_search_end:
            break
        score = value // UNIT
    c.quick_search_end = NEVER
    return score


def unordered(s, c, at, n, depth_left, beta):
    """For engines without a learnt evaluation."""


def no_guess(s, c, depth_left):
    return np.int64(0)
