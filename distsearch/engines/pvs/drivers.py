"""What asks the questions of a search: resumable drivers outside its stack.

``solve`` closes in on an exact score by null windows (MTD: Plaat et al. 1996), ``deepen`` goes a ply or two deeper from
one search to the next, so that the table holds a good first move for most of its nodes (depth 10 to 12: 1.7 to 3 times
fewer boards).
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import int16s, int64s, uint64s
from ...games.interface import END
from ..alphabeta import LINE_LENGTH
from . import table as tt
from .kernels import (
    BEST,
    BEST_MOVE,
    BETA,
    BOARDS,
    BOTTOM,
    BUDGET,
    EVALUATED,
    FRAMES,
    LEFT,
    MOVES,
    NO_MOVE,
    RULES,
    SHARED_LEFT,
    TOP,
)
from .kernels import CONTROL_SIZE as _SEARCH_SIZE

# bound for each game
advance = answers = descend = ended = hashed = kind = left_after = moves = next_beta = open_root = play = None
root_hash = None
EXACT = True

# The drivers' part of the control array (int64).
LOW, HIGH = range(_SEARCH_SIZE, _SEARCH_SIZE + 2)  # the score lies between them
WINDOW_LOW, WINDOW_HIGH = range(HIGH + 1, HIGH + 3)  # it matters no further than this
LATEST, BEST_ROOT_MOVE = range(WINDOW_HIGH + 1, WINDOW_HIGH + 3)  # value of the latest search; its move
LEFT_AT_ROOT, DEPTH = range(BEST_ROOT_MOVE + 1, BEST_ROOT_MOVE + 3)  # what is asked for; what was searched so far
STEP = DEPTH + 1  # plies from one depth to the next
COMPLETE = STEP + 1  # 1: the answer is known
ROOM = COMPLETE + 1  # moves left for which there are frames
FORGETFUL = ROOM + 1  # 1: every search begins with an empty near table
PART = FORGETFUL + 1  # 1: each is a part of a larger one, to which scores beyond the window tell something
CONTROL_SIZE = PART + 1


@compiled
def cut(control, score):
    """Return a score as it is to be told."""
    return score if control[PART] else min(max(score, control[WINDOW_LOW]), control[WINDOW_HIGH])


def solve(s, where):
    """Ask one question after another until the score of s is known (True) or the budget is used up (False).

    A budget of 0 ends it before the first question. The score is LOW, and equal to HIGH, unless it lies beyond the
    window: LOW is then a bound that is at least WINDOW_HIGH, or HIGH one that is at most WINDOW_LOW.
    """
    control = int64s(where)
    r, end = uint64s(control[RULES]), control[BOARDS] + control[BUDGET]
    while True:
        if control[TOP] < 0:
            if control[SHARED_LEFT] < tt.NEVER:
                take_in_shared(s, control)
            low, high = control[LOW], control[HIGH]
            settled = low >= high or low >= control[WINDOW_HIGH]
            if high <= control[WINDOW_LOW] or settled and control[BEST_ROOT_MOVE] != NO_MOVE:
                return True
            low, high = max(low, control[WINDOW_LOW]), min(high, control[WINDOW_HIGH])
            beta = next_beta(s, r, low, high, control[LATEST]) if low < high else low
            beta = min(max(beta, low + (low < high)), high)
            open_root(s, control, control[LEFT_AT_ROOT], beta - 1, beta)
        control[BUDGET] = end - control[BOARDS]
        if not advance(s, where):
            return False
        f = int64s(control[FRAMES])
        control[LATEST], control[TOP] = f[BEST], -1
        if f[BEST] >= f[BETA]:
            control[LOW], control[BEST_ROOT_MOVE] = f[BEST], f[BEST_MOVE]
        else:
            control[HIGH] = f[BEST]


def take_in_shared(s, control):
    """Take in the bounds of the root that ranks in the same search have found."""
    data = tt.look_far(control, root_hash(s, uint64s(control[RULES]), control))
    if data == 0:
        return
    if tt.low_of(data) > control[LOW] and tt.move_of(data) != NO_MOVE:
        control[LOW] = control[LATEST] = tt.low_of(data)
        control[BEST_ROOT_MOVE] = tt.move_of(data)
    if tt.high_of(data) < control[HIGH]:
        control[HIGH] = control[LATEST] = tt.high_of(data)


def deepen(s, where):
    """Search s deeper and deeper until LEFT_AT_ROOT plies are done (True) or the budget is used up (False).

    The score, LATEST, is that of DEPTH plies, the latest depth that is done, and exact if it is within the window. Ends
    early where no line was cut off by the depth.
    """
    control = int64s(where)
    r, end, goal = uint64s(control[RULES]), control[BOARDS] + control[BUDGET], control[LEFT_AT_ROOT]
    while True:
        if control[TOP] < 0:
            if control[DEPTH] >= goal:
                return True
            control[EVALUATED] = 0
            open_root(s, control, depth_after(s, r, control), control[WINDOW_LOW], control[WINDOW_HIGH])
        control[BUDGET] = end - control[BOARDS]
        if not advance(s, where):
            return False
        f = int64s(control[FRAMES])
        control[LATEST], control[BEST_ROOT_MOVE], control[TOP] = f[BEST], f[BEST_MOVE], -1
        control[DEPTH] = f[LEFT] if control[EVALUATED] else goal


def depth_after(s, r, control):
    """Return the depth to search next: all of it if the table has a move from a depth that is close."""
    goal, done, step = control[LEFT_AT_ROOT], control[DEPTH], control[STEP]
    data = tt.look(control, hashed(s, r, control))
    if data != 0:
        done = max(done, min(tt.left_of(data), goal - 1))
    return goal - (goal - done - 1) // step * step


def follow(s, where, left, score, line, length):
    """Write moves that keep ``score``, which s is known to be worth, behind ``length`` others; return how many now.

    line: address of LINE_LENGTH int16. Goes on as long as the tables, or a search of what little is left, prove a move
    good enough.
    """
    control = int64s(where)
    r, out, path = uint64s(control[RULES]), int16s(control[MOVES]), int16s(line)
    found = True
    while found and length < LINE_LENGTH and kind(s, r) != END and (EXACT or left > 0):
        n = np.int64(moves(s, r, out, 0))
        found = False
        for i in range(n):
            m = np.int64(out[i])
            child, _ = play(s, r, m)
            after = left_after(left, m)
            if kind(child, r) == END:
                found = -ended(child, r, control) >= score
            elif left <= control[BOTTOM]:
                found = -descend(child, where, n, after, np.int64(1) - score) >= score
            else:
                data = tt.look(control, hashed(child, r, control))
                found = data != 0 and answers(data, after) and -tt.high_of(data) >= score
            if found:
                path[length], length = m, length + 1
                s, left, score = child, after, -score
                break
    return length
