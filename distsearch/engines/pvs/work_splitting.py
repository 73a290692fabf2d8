"""Work splitting: a paused search whose window narrows, or of which a part is split off for other workers.

Both work on the frames of ``kernels`` between two slices. Then the last frame is between two moves, and every other one
has a move at work and a window that is open.

What a frame has found stays true in a narrower window: ``best`` is a lower bound where it is above ``alpha``, which
only rises, and an upper one after all moves are tried. A search that no longer matters has no answer yet, so its frame
goes without one: nothing is stored, and the move above it is searched again in the window that is left.
"""

from typing import NamedTuple

import numpy as np

from ...core.jit import compiled
from ...core.pointers import int16s, uint64s
from . import visits
from .kernels import NO_MOVE, unmark_all
from .layout import FRAME, frame_at
from .table import NEVER

HEAD = 10  # numbers of a level before its moves
_FRAME_WORDS = FRAME.itemsize // 8


class Level(NamedTuple):
    """A node on the way to a search that gave away what is above it.

    Scores are the side to move's. Of ``moves``, the first ``tried`` are done; the search that split them off went on
    with the next one, in the window from -given to -max(alpha, best); the others are not begun.
    """

    depth_left: int
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
    """Return what ``TableSearch.split_off`` returned as Levels, from the root down."""
    found, words = [], words.tolist()
    while words:
        end = HEAD + words[HEAD - 1]
        found.append(Level(*words[: HEAD - 1], words[HEAD:end]))
        words = words[end:]
    return found


def last_window(words):
    """Return the window in which the search went on that split levels off, see ``levels``."""
    at = 0
    while at + HEAD + words[at + HEAD - 1] < len(words):
        at += HEAD + words[at + HEAD - 1]
    return -int(words[at + 8]), -max(int(words[at + 1]), int(words[at + 3]))


@compiled
def narrow(c, low, high):
    """Have the score matter no further than from low to high, low < high, within the window of the search."""
    c.window_low, c.window_high = low, high
    for i in range(c.top + 1):
        f = frame_at(c.frames, i)
        f.alpha, f.beta = max(f.alpha, low), min(f.beta, high)
        if f.alpha >= f.beta:
            # the driver must ask something else, or the frame above: whether its move is better than ``alpha`` now, or
            # nothing, if its ``best`` reaches its ``beta`` now
            unmark_all(c, max(i - 1, 0))
            if c.visits_from < NEVER:
                visits.give_up(c.visits, c.nodes, i)
            c.top = i - 1
            if i > 0:
                above = frame_at(c.frames, i - 1)
                above.next -= 1
            break
        if f.probe > 0:  # above it is a shallow search, in a window of its own
            break
        f.given = min(f.given, f.beta)
        low, high = -f.given, -f.alpha  # the next frame's ``beta`` is no more than -best already


@compiled
def level_to_split(c, least_left):
    """Return the index of the frame to split moves off, or -1.

    Its first move is done, for the others gain most by its bound (*young brothers wait*); others are untried, and have
    at least ``least_left`` left. Earlier depths of a deepening search are short, and one that must repeat itself keeps
    all of its tree.
    """
    if c.repeatable or frame_at(c.frames, 0).depth_left != c.root_depth:
        return np.int64(-1)
    for i in range(c.top):  # the last frame has no move at work, with which the search could go on
        f = frame_at(c.frames, i)
        if f.probe > 0:  # a shallow search above it is not a part of anything
            break
        if 1 < f.next < f.count and f.depth_left > least_left:
            return np.int64(i)
    return np.int64(-1)


@compiled
def split_off(c, words, least_left, out):
    """Split off the levels down to that of ``level_to_split`` and go on with the search below them.

    words: of a state. Writes the levels to ``out``, see ``Level``, and returns how many numbers they take, 0 for none.
    """
    last = level_to_split(c, least_left)
    if last >= 0:
        unmark_all(c, 0)
    moves, n = int16s(c.moves), 0
    for i in range(last + 1):
        f = frame_at(c.frames, i)
        floor, ceiling = f.floor, f.ceiling
        if i == 0:  # what earlier questions told
            floor, ceiling = max(floor, c.low), min(ceiling, c.high)
        out[n], out[n + 1], out[n + 2], out[n + 3] = f.depth_left, f.alpha, f.beta, f.best
        out[n + 4], out[n + 5], out[n + 6], out[n + 7] = floor, ceiling, f.best_move, f.next - 1
        out[n + 8], out[n + 9] = f.given, f.count
        n += HEAD
        for j in range(f.count):
            out[n + j] = moves[f.first + j]
        n += f.count
    if n > 0:
        make_root(c, last + 1, words)
    return n


@compiled
def make_root(c, n, words):
    """Make frame n the root, in its own window: a search as if it had been begun with that node."""
    moves, states = int16s(c.moves), uint64s(c.states)
    top = frame_at(c.frames, c.top)
    first = frame_at(c.frames, n).first
    for i in range(top.first + top.count - first):
        moves[i] = moves[first + i]
    c.top -= n
    for i in range((c.top + 1) * words):
        states[i] = states[n * words + i]
    frames = uint64s(c.frames)
    for i in range((c.top + 1) * _FRAME_WORDS):
        frames[i] = frames[n * _FRAME_WORDS + i]
    for i in range(c.top + 1):
        f = frame_at(c.frames, i)
        f.first -= first
    f = frame_at(c.frames, 0)
    c.window_low, c.window_high, c.root_depth = f.alpha, f.beta, f.depth_left
    c.low, c.high, c.best_root_move = f.floor, f.ceiling, NO_MOVE
    if c.visits_from < NEVER:
        visit_again(c)


@compiled
def visit_again(c):
    """Have the visits of all frames begin now, as those of a search that begins with them."""
    f, nodes = frame_at(c.frames, 0), c.nodes
    visits.resume(c.visits, nodes, np.int64(f.hash), f.depth_left)
    for i in range(c.top + 1):
        f = frame_at(c.frames, i)
        if i == 0 or f.depth_left >= c.visits_from:
            visits.enter(c.visits, nodes, np.int64(f.hash), f.depth_left, f.alpha, f.beta)
