"""Moves of exact searches in an order that a learnt evaluation sees: templates that the solver is bound to with one.

Where much of the game is left, a node's moves are tried by short searches that end in the evaluation. Scores do not
depend on any of this: what the evaluation says decides what is searched first, and which question is asked first.
"""

import numpy as np

from ...core.pointers import int16s, int64s, uint64s
from ...games.ordering import sort
from .drivers import WINDOW_HIGH, WINDOW_LOW
from .kernels import BOARDS, INFINITY, MOVES, RANK_END, RANK_LEFT, RANK_STEP, RANK_WEIGHT, RULES, SCORES, TABLES, WHERE

evaluate = final = moves = play = None  # bound for each game, and by the engine
_MOST_PLIES = np.int64(4)
MOST_GUESSED = np.int64(50_000)  # boards of a guess, 2 ms; six plies may take 3 million
NEVER = np.int64(2**63 - 1)
UNIT = 1  # of the evaluation's values, a final score of 1
_VALUE_BITS = np.int64(20)  # the lower bits of what moves are sorted by: a value plus _VALUE_OFFSET
_VALUE_OFFSET = np.int64(1) << _VALUE_BITS - 1


def glimpse(s, where, at, plies, alpha, beta):
    """Value of s by so many plies, fail-soft; moves are written to the array of moves from ``at`` on.

    Nothing that means anything, if it had to give up.
    """
    control = int64s(where)
    r, out = uint64s(control[RULES]), int16s(control[MOVES])
    if plies == 0:
        return np.int64(evaluate(s, r, uint64s(control[TABLES])))
    if control[BOARDS] >= control[RANK_END]:
        return np.int64(0)
    n = np.int64(moves(s, r, out, at))
    if n == 0:
        return np.int64(final(s, r)) * UNIT
    best = -INFINITY
    for i in range(at, at + n):
        child, _ = play(s, r, np.int64(out[i]))
        control[BOARDS] += 1
        value = -glimpse(child, where, at + n, plies - np.int64(1), -beta, -max(alpha, best))
        best = max(best, value)
        if best >= beta:
            break
    return best


def rank(s, control, at, n, left):
    """Put the n moves at ``at`` in order of short searches, weighed against the scores that ``candidates`` gave them.

    Their scores (int64, in UNITs) are then the values of the short searches alone, by which cuts are foretold.
    """
    if n < 2 or left < control[RANK_LEFT]:
        return
    r, out, scores = uint64s(control[RULES]), int16s(control[MOVES]), int64s(control[SCORES])
    plies = min((left - control[RANK_LEFT]) // control[RANK_STEP], _MOST_PLIES)
    for i in range(at, at + n):
        child, _ = play(s, r, np.int64(out[i]))
        control[BOARDS] += 1
        value = -glimpse(child, control[WHERE], at + n, plies, -INFINITY, INFINITY)
        scores[i] = value + control[RANK_WEIGHT] * scores[i] << _VALUE_BITS | value + _VALUE_OFFSET
    sort(out, scores, at, n)
    for i in range(at, at + n):
        scores[i] = (scores[i] & 2 * _VALUE_OFFSET - 1) - _VALUE_OFFSET


def guess(s, control, left):
    """Return a score to ask for first; 0 where the window leaves no choice, or a short search is too much.

    It is not paused, so it deepens until MOST_GUESSED boards are used up. They count as all others.
    """
    plies = min((left - control[RANK_LEFT]) // np.int64(2) + np.int64(1), _MOST_PLIES + np.int64(2))
    score = np.int64(0)
    if plies < 2 or control[WINDOW_HIGH] - control[WINDOW_LOW] <= 2:
        return score
    control[RANK_END] = control[BOARDS] + MOST_GUESSED
    for depth in range(np.int64(2) - plies % 2, plies + 1, 2):
        value = glimpse(s, control[WHERE], np.int64(0), np.int64(depth), -INFINITY, INFINITY)
        if control[BOARDS] >= control[RANK_END]:
            break
        score = value // UNIT
    control[RANK_END] = NEVER
    return score


def unranked(s, control, at, n, left):
    """For engines without a learnt evaluation."""


def no_guess(s, control, left):
    return np.int64(0)
