"""Fail-soft negamax alpha-beta, and plain minimax, over any game in which two players alternate with zero sum.

The engine can be paused. It runs on a stack of frames in numpy arrays, so that a search is data: it stops after a
budget of boards and goes on later as if nothing had happened. Only subtrees of up to ``bottom`` plies, at most a few
thousand boards, run as plain recursion. Both parts visit the same boards in the same order with the same windows, so
where one hands over to the other never shows in a result or a count.

A *board* is a position reached by one applied move or pass; every visit counts. Boards of ordering searches are
counted apart. Algorithm: Knuth and Moore 1975, in Fishburn's fail-soft form (1983).
"""

import numpy as np

from ..games import lanes
from ..games.interface import END, PASS
from ..games.ordering import sort
from ..jit import compiled

kind = moves = ordered_moves = play = final = evaluate = None  # bound for each game and evaluation

INFINITY = np.int64(1) << np.int64(40)

# The control array (int64): what was asked, and where the search is.
PRUNE = 0  # 1: alpha-beta, 0: minimax
PASS_PLIES = 1  # plies that a pass costs: 1, or 0 when depth counts the moves left to the end
WIN = 2  # a finished game is worth its final score plus this in the winner's favour
STATIC = 3  # 1: order moves by the game's knowledge
SHALLOW = 4  # depth of the searches that order moves, 0: none
BOTTOM = 5  # plies left at which recursion takes over
BUDGET = 6  # boards (of both counts) after which to pause
BOARDS = 7  # boards so far
ORDERING_BOARDS = 8  # boards of ordering searches so far
EVALUATED = 9  # leaves that the depth limit cut off
TOP = 10  # index of the frame being searched
ORDERING = 11  # 1 while an ordering search runs
CONTROL_SIZE = 12

# A frame (int64): a node on the way from the root to where the search is.
NEXT, COUNT, FIRST, ALPHA, BETA, BEST, DEPTH, PHASE, LINE = range(9)
FRAME_SIZE = 9
SEARCHING, SORTING = 0, 1  # phases of a frame

LINE_LENGTH = 64  # moves of a principal variation that are kept
_ORDERING_BOTTOM = (
    2  # BOTTOM of ordering searches, whose depth is plies also where the search's own is moves to the end
)
_SHALLOW_MARGIN = 3  # an ordering search of depth D is worth its while where D + 3 plies are left


def finished(s, r, control):
    """Value of a finished game."""
    score = np.int64(final(s, r))
    return score + control[WIN] if score > 0 else score - control[WIN] if score < 0 else score


def leaf(s, r, tables, control):
    """Value of a position at the depth limit."""
    if kind(s, r) == END:
        return finished(s, r, control)
    control[EVALUATED] += 1
    return np.int64(evaluate(s, r, tables))


def descend(s, r, tables, out, at, depth, alpha, beta, control):
    """Value of s by plain recursion over depth > 0 plies, for the side to move. Counts its boards in ``control``."""
    n = ordered_moves(s, r, out, at) if control[STATIC] else moves(s, r, out, at)
    if n == 0:
        return finished(s, r, control)
    best = -INFINITY
    visited = np.int64(0)
    for i in range(at, at + n):
        m = np.int64(out[i])
        child, _ = play(s, r, m)
        visited += 1
        left = depth - (np.int64(1) if m != PASS else control[PASS_PLIES])
        if left == 0:
            value = -leaf(child, r, tables, control)
        else:
            low = max(alpha, best) if control[PRUNE] else -INFINITY
            value = -descend(child, r, tables, out, at + n, left, -beta, -low, control)
        if value > best:
            best = value
            if best >= beta:
                break
    control[BOARDS] += visited
    return best


def advance(s, r, tables, words, frames, out, scores, lines, control):
    """Run the search on until it ends (True) or its budget of boards is used up (False).

    s is any state (it tells the width); words (uint64, frames · width) are the frames' states; frames (int64, frames ·
    FRAME_SIZE); out (int16) and scores (int64) hold the frames' moves and their ordering scores one after another;
    lines (int16, frames · LINE_LENGTH) are the best lines from each frame.
    """
    width = len(s)
    limit = control[BOARDS] + control[ORDERING_BOARDS] + control[BUDGET]
    top = control[TOP]
    while True:
        f = top * FRAME_SIZE
        first, n, i = frames[f + FIRST], frames[f + COUNT], frames[f + NEXT]
        sorting = frames[f + PHASE] == SORTING
        if sorting and i == n:
            sort(out, scores, first, n)
            frames[f + PHASE] = SEARCHING
            frames[f + NEXT] = 0
            control[ORDERING] = 0
            continue
        if i < n and frames[f + BEST] < frames[f + BETA]:
            if control[BOARDS] + control[ORDERING_BOARDS] >= limit:
                control[TOP] = top
                return False
            frames[f + NEXT] = i + 1
            m = np.int64(out[first + i])
            child, _ = play(lanes.load(s, words, top * width), r, m)
            control[ORDERING_BOARDS if control[ORDERING] else BOARDS] += 1
            if sorting:
                left, alpha, beta = control[SHALLOW] - 1, -INFINITY, INFINITY
            else:
                left = frames[f + DEPTH] - (np.int64(1) if m != PASS else control[PASS_PLIES])
                low = max(frames[f + ALPHA], frames[f + BEST]) if control[PRUNE] else -INFINITY
                alpha, beta = -frames[f + BETA], -low
            if left > (_ORDERING_BOTTOM if control[ORDERING] else control[BOTTOM]):
                top += 1
                lanes.store(words, top * width, child)
                push(child, r, frames, out, top, first + n, left, alpha, beta, control)
                continue
            before, evaluated = control[BOARDS], control[EVALUATED]
            if left == 0:
                value = -leaf(child, r, tables, control)
            else:
                value = -descend(child, r, tables, out, first + n, left, alpha, beta, control)
            if control[ORDERING]:
                control[ORDERING_BOARDS] += control[BOARDS] - before
                control[BOARDS], control[EVALUATED] = before, evaluated
            frames[f + FRAME_SIZE + LINE] = 0
        else:
            if n == 0:
                frames[f + BEST] = finished(lanes.load(s, words, top * width), r, control)
            if top == 0:
                control[TOP] = 0
                return True
            value = -frames[f + BEST]
            top -= 1
            f = top * FRAME_SIZE
        # the value of a child has come back to frame top
        first, i = frames[f + FIRST], frames[f + NEXT] - 1
        if frames[f + PHASE] == SORTING:
            scores[first + i] = value
        elif value > frames[f + BEST]:
            frames[f + BEST] = value
            keep_line(lines, frames, top, out[first + i])


def push(s, r, frames, out, top, first, depth, alpha, beta, control):
    """Open frame ``top`` for state s: write its moves at ``out[first:]`` and choose how they are ordered."""
    n = ordered_moves(s, r, out, first) if control[STATIC] else moves(s, r, out, first)
    f = top * FRAME_SIZE
    frames[f + NEXT] = 0
    frames[f + COUNT] = n
    frames[f + FIRST] = first
    frames[f + ALPHA] = alpha
    frames[f + BETA] = beta
    frames[f + BEST] = -INFINITY
    frames[f + DEPTH] = depth
    frames[f + LINE] = 0
    frames[f + PHASE] = SEARCHING
    shallow = control[SHALLOW]
    if shallow > 0 and n > 1 and not control[ORDERING] and depth >= shallow + _SHALLOW_MARGIN:
        frames[f + PHASE] = SORTING
        control[ORDERING] = 1


@compiled
def keep_line(lines, frames, top, m):
    """Make the best line of frame ``top`` the move m, then the line of the frame above it."""
    f = top * FRAME_SIZE
    length = min(frames[f + FRAME_SIZE + LINE], LINE_LENGTH - 1)
    start = top * LINE_LENGTH
    lines[start] = m
    for i in range(length):
        lines[start + 1 + i] = lines[start + LINE_LENGTH + i]
    frames[f + LINE] = length + 1
