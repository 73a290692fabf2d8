"""A paused search steered from outside: its window narrows, or a part of its tree is given away.

Both work on the frames of ``pvs`` between two slices. Then the last frame is between two moves, and every other one has
a move at work and a window that is open.

What a frame has found stays true in a narrower window: BEST is a lower bound where it is above ALPHA, which only rises,
and an upper one once all moves are tried. A question that no longer matters has no answer yet, so its frame goes
without one: nothing is stored, and the move above it is asked about again in the window that is left.
"""

from typing import NamedTuple

import numpy as np

from ...core.jit import compiled
from ...core.pointers import int16s, int64s, uint64s
from . import visits
from .drivers import BEST_ROOT_MOVE, FORGETFUL, HIGH, LEFT_AT_ROOT, LOW, WINDOW_HIGH, WINDOW_LOW
from .kernels import (
    ALPHA,
    BEST,
    BEST_MOVE,
    BETA,
    BOARDS,
    CEILING,
    COUNT,
    FIRST,
    FLOOR,
    FRAME_SIZE,
    FRAMES,
    GIVEN,
    HASH,
    LEFT,
    MOVES,
    NEXT,
    NO_MOVE,
    PROBE,
    STATES,
    TOP,
    VISITS,
    VISITS_LEFT,
    leave_all,
)
from .table import NEVER

HEAD = 10  # numbers of a level before its moves


class Level(NamedTuple):
    """A node on the way to a search that gave away what is above it.

    Scores are the side to move's. Of ``moves``, the first ``tried`` are done with; the search that gave them went on
    with the next one, in the window from -given to -max(alpha, best); nobody has begun with the others.
    """

    left: int
    alpha: int  # the window of the node
    beta: int
    best: int  # of the moves tried and of floor: a lower bound where it is above alpha, else no move is above it
    floor: int  # what else bounds the score, −INFINITY and INFINITY if nothing
    ceiling: int
    best_move: int  # NO_MOVE if floor alone makes ``best``
    tried: int
    given: int  # below beta: whether the move is better than best is asked, not by how much
    moves: list  # codes, in the order of the search


def levels(words):
    """Return what ``Tabled.give`` returned as Levels, from the root down."""
    found, words = [], words.tolist()
    while words:
        end = HEAD + words[HEAD - 1]
        found.append(Level(*words[: HEAD - 1], words[HEAD:end]))
        words = words[end:]
    return found


def last_window(words):
    """Return the window in which the search went on that gave levels away, see ``levels``."""
    at = 0
    while at + HEAD + words[at + HEAD - 1] < len(words):
        at += HEAD + words[at + HEAD - 1]
    return -int(words[at + 8]), -max(int(words[at + 1]), int(words[at + 3]))


@compiled
def place(control, i):
    """Return the address of the frame of index i."""
    return control[FRAMES] + np.int64(8 * FRAME_SIZE) * i


@compiled
def narrow(where, low, high):
    """Have the score matter no further than from low to high, low < high, within the window of the search."""
    control = int64s(where)
    control[WINDOW_LOW], control[WINDOW_HIGH] = low, high
    for i in range(control[TOP] + 1):
        f = int64s(place(control, i))
        f[ALPHA], f[BETA] = max(f[ALPHA], low), min(f[BETA], high)
        if f[ALPHA] >= f[BETA]:
            # the driver is to ask something else, or the frame above: whether its move is better than ALPHA now, or
            # nothing, if its BEST reaches its BETA now
            leave_all(control, max(i - 1, 0))
            if control[VISITS_LEFT] < NEVER:
                visits.give_up(control[VISITS], control[BOARDS], i)
            control[TOP] = i - 1
            if i > 0:
                int64s(place(control, i - 1))[NEXT] -= 1
            break
        if f[PROBE] > 0:  # above it is a shallow search, in a window of its own
            break
        f[GIVEN] = min(f[GIVEN], f[BETA])
        low, high = -f[GIVEN], -f[ALPHA]  # the next frame's BETA is no more than -BEST already


@compiled
def level_to_give(control, least_left):
    """Return the index of the frame to give moves of, or -1.

    Its first move is done, for the others gain most by its bound (*young brothers wait*); others are untried, and have
    at least ``least_left`` left. Earlier depths of a deepening search are short, and one that must repeat itself keeps
    all of its tree.
    """
    if control[FORGETFUL] or int64s(place(control, 0))[LEFT] != control[LEFT_AT_ROOT]:
        return np.int64(-1)
    for i in range(control[TOP]):  # the last frame has no move at work, with which the search could go on
        f = int64s(place(control, i))
        if f[PROBE] > 0:  # a shallow search above it is not a part of anything
            break
        if 1 < f[NEXT] < f[COUNT] and f[LEFT] > least_left:
            return np.int64(i)
    return np.int64(-1)


@compiled
def give(where, words, least_left, out):
    """Give away the levels down to that of ``level_to_give`` and go on with the search below them.

    words: of a state. Writes the levels to ``out``, see ``Level``, and returns how many numbers they take, 0 for none.
    """
    control = int64s(where)
    last = level_to_give(control, least_left)
    if last >= 0:
        leave_all(control, 0)
    moves, n = int16s(control[MOVES]), 0
    for i in range(last + 1):
        f = int64s(place(control, i))
        floor, ceiling = f[FLOOR], f[CEILING]
        if i == 0:  # what earlier questions told
            floor, ceiling = max(floor, control[LOW]), min(ceiling, control[HIGH])
        out[n], out[n + 1], out[n + 2], out[n + 3] = f[LEFT], f[ALPHA], f[BETA], f[BEST]
        out[n + 4], out[n + 5], out[n + 6], out[n + 7] = floor, ceiling, f[BEST_MOVE], f[NEXT] - 1
        out[n + 8], out[n + 9] = f[GIVEN], f[COUNT]
        n += HEAD
        for j in range(f[COUNT]):
            out[n + j] = moves[f[FIRST] + j]
        n += f[COUNT]
    if n > 0:
        drop(control, last + 1, words)
    return n


@compiled
def drop(control, n, words):
    """Make frame n the root, in its own window: a search as if it had been begun with that node."""
    frames, moves, states = int64s(control[FRAMES]), int16s(control[MOVES]), uint64s(control[STATES])
    top = int64s(place(control, control[TOP]))
    first = int64s(place(control, n))[FIRST]
    for i in range(top[FIRST] + top[COUNT] - first):
        moves[i] = moves[first + i]
    control[TOP] -= n
    for i in range((control[TOP] + 1) * words):
        states[i] = states[n * words + i]
    for i in range((control[TOP] + 1) * FRAME_SIZE):
        frames[i] = frames[n * FRAME_SIZE + i]
    for i in range(control[TOP] + 1):
        int64s(place(control, i))[FIRST] -= first
    f = int64s(place(control, 0))
    control[WINDOW_LOW], control[WINDOW_HIGH], control[LEFT_AT_ROOT] = f[ALPHA], f[BETA], f[LEFT]
    control[LOW], control[HIGH], control[BEST_ROOT_MOVE] = f[FLOOR], f[CEILING], NO_MOVE
    if control[VISITS_LEFT] < NEVER:
        visit_again(control)


@compiled
def visit_again(control):
    """Have the visits of all frames begin now, as those of a search that begins with them."""
    f, boards = int64s(place(control, 0)), control[BOARDS]
    visits.go_on(control[VISITS], boards, f[HASH], f[LEFT])
    for i in range(control[TOP] + 1):
        f = int64s(place(control, i))
        if i == 0 or f[LEFT] >= control[VISITS_LEFT]:
            visits.enter(control[VISITS], boards, f[HASH], f[LEFT], f[ALPHA], f[BETA])
