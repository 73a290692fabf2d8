"""Fail-soft negamax alpha-beta, and plain minimax, over any game in which two players alternate with zero sum.

The engine can be paused. It runs on a stack of frames in numpy arrays, so that a search is data: it stops after a
budget of boards and goes on later as if nothing had happened. Only subtrees of up to ``bottom`` plies, at most a few
thousand boards, run as plain recursion. Both parts visit the same boards in the same order with the same windows, so
where one hands over to the other never shows in a result or a count.

A *board* is a position reached by one applied move or pass; every visit counts. Boards of ordering searches are
counted apart. Algorithm: Knuth and Moore 1975, in Fishburn's fail-soft form (1983).

The alpha-beta engine for one game, board and evaluation: begin a search, run it in slices, read its result.
"""

from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.errors import UserError
from ..core.jit import compiled
from ..core.packing import packed, unpack
from ..games import lanes
from ..games.interface import END, MAX_MOVES, PASS, as_state
from ..games.ordering import sort

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


_BOTTOM = 2  # plies left to recursion: on 16×16 with the slowest evaluation, minimax needs 2 ms for them at most
_EXACT_BOTTOM = 6  # the same where depth counts the moves left in the game: 2,000 boards at most


class Result(NamedTuple):
    """What a search found. Boards are counted as ``alphabeta`` defines them."""

    score: int  # side to move's view
    complete: bool  # False: stopped early, and score is a lower bound from the moves searched so far
    line: list  # move codes, the best first; empty if the game is over
    boards: int
    ordering_boards: int
    evaluated: int  # leaves that the depth limit cut off; 0: every line was searched to the end of the game


def parse_ordering(text):
    """Return (static, shallow) of ``none``, ``static`` or ``shallow[:D]``; raises UserError."""
    name, _, depth = text.partition(":")
    if name in ("none", "static") and not depth and text == name:
        return int(name == "static"), 0
    if name == "shallow" and (text == name or depth.isdecimal() and 1 <= int(depth) <= 9):
        return 1, int(depth or 1)
    raise UserError(f"ordering '{text[:40]}' is not none, static or shallow[:D] with D from 1 to 9")


class AlphaBeta:
    """A pausable alpha-beta search.

    ``prune`` False makes it plain minimax; ``ordering`` is as ``parse_ordering`` takes it: the game's own order
    (static), or a search of each move to depth D before the real one (shallow), where the plies left pay for it.
    """

    def __init__(self, game, rules, evaluation, prune=True, ordering="static"):
        static, shallow = parse_ordering(ordering)
        self._game, self._rules, self._tables = game, rules, evaluation.tables
        self._bound = evaluation.bound
        self.name = f"{games.tag(game)}_{evaluation.name}"
        templates = finished, leaf, descend, push, advance
        functions = {**games.functions(game), "evaluate": evaluation.function}
        self._kernels = jit.specialise_all(templates, self.name, functions)
        self._width = game.words(rules)
        self._control = np.zeros(CONTROL_SIZE, np.int64)
        self._control[[PRUNE, STATIC, SHALLOW]] = prune, static, shallow
        self._allocate(game.moves_left(game.start(rules).state, rules))

    def _allocate(self, moves_left):
        # a pass may stand between any two moves, one frame holds the end, and one more the line that it lacks
        self._moves_left, frames = moves_left, 2 * moves_left + 4
        self._words = np.zeros(frames * self._width, np.uint64)
        self._frames = np.zeros(frames * FRAME_SIZE, np.int64)
        self._out = np.zeros(frames * MAX_MOVES, np.int16)
        self._scores = np.zeros(frames * MAX_MOVES, np.int64)
        self._lines = np.zeros(frames * LINE_LENGTH, np.int16)

    def compile(self):
        """Compile, or load from disk, every kernel, by a search of a few boards."""
        self.begin(self._game.start(self._rules).state, 4)
        while not self.advance(100):
            pass
        self.result()

    def begin(self, state, depth=None, alpha=-INFINITY, beta=INFINITY):
        """Start a search of ``state`` to ``depth`` plies, or to the end of the game if None, in a window."""
        exact = depth is None
        control = self._control
        self._state = state
        moves_left = int(self._game.moves_left(state, self._rules))
        if moves_left > self._moves_left:
            self._allocate(moves_left)
        self._depth = moves_left if exact else min(depth, 2 * moves_left + 1)  # no line of play is longer
        control[PASS_PLIES] = 0 if exact else 1
        control[WIN] = 0 if exact else self._bound
        control[BOTTOM] = _EXACT_BOTTOM if exact else _BOTTOM
        control[[BOARDS, ORDERING_BOARDS, EVALUATED, TOP, ORDERING]] = 0
        self._words[: self._width] = state
        self._complete = False
        self._push(alpha, beta)
        if self._depth == 0:
            self._frames[COUNT] = 0
            self._frames[BEST] = self._kernels["leaf"](state, self._rules, self._tables, control)
            self._complete = True

    def _push(self, alpha, beta):
        self._kernels["push"](
            self._state, self._rules, self._frames, self._out, 0, 0, self._depth, int(alpha), int(beta), self._control
        )

    @property
    def boards(self):
        """Boards searched so far, those of ordering searches included."""
        return int(self._control[BOARDS] + self._control[ORDERING_BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the search is complete."""
        if not self._complete:
            self._control[BUDGET] = budget
            self._complete = bool(
                self._kernels["advance"](
                    self._state,
                    self._rules,
                    self._tables,
                    self._words,
                    self._frames,
                    self._out,
                    self._scores,
                    self._lines,
                    self._control,
                )
            )
        return self._complete

    def save(self):
        """Return the search begun last as bytes."""
        control, frames = self._control, int(self._control[TOP]) + 1
        last = self._frames[(frames - 1) * FRAME_SIZE :]
        moves = last[FIRST] + last[COUNT]
        return packed(
            control,
            self._words[: frames * self._width],
            self._frames[: frames * FRAME_SIZE],
            self._out[:moves],
            self._scores[:moves],
            self._lines[: frames * LINE_LENGTH],
        )

    def restore(self, content):
        """Go on with a search that ``save`` gave and that is not complete; one like it must have been begun."""
        unpack(content, self._control, self._words, self._frames, self._out, self._scores, self._lines)

    def result(self):
        """Return the Result so far; of a stopped search the score is that of the moves searched, or −INFINITY."""
        control = self._control
        line = self._lines[: self._frames[LINE]].tolist()
        return Result(
            int(self._frames[BEST]),
            self._complete,
            self._to_the_leaf(line) if self._complete else line,
            int(control[BOARDS]),
            int(control[ORDERING_BOARDS]),
            int(control[EVALUATED]),
        )

    def _to_the_leaf(self, line):
        """Lengthen the line of the frames by the plies that recursion searched, a few hundred boards for each."""
        state, left = self._state, self._depth
        control = self._control.copy()
        line = list(line)
        played = 0
        while left > 0 and len(line) < LINE_LENGTH:
            if played == len(line):
                if left > control[BOTTOM] + 1:
                    break  # the line ends early: a cut-off, or the end of the game
                best = self._best_move(state, left, control)
                if best is None:
                    break
                line.append(best)
            m = line[played]
            state = as_state(self._game.play(state, self._rules, m)[0])
            left -= 1 if m != PASS else int(control[PASS_PLIES])
            played += 1
        return line

    def _best_move(self, state, left, control):
        out = np.zeros(MAX_MOVES, np.int16)
        legal = out[: self._game.moves(state, self._rules, out, 0)].tolist()
        values = [self._value(state, m, left, control) for m in legal]
        return legal[values.index(max(values))] if legal else None

    def _value(self, state, m, left, control):
        child = as_state(self._game.play(state, self._rules, m)[0])
        left -= 1 if m != PASS else int(control[PASS_PLIES])
        if left == 0:
            return -self._kernels["leaf"](child, self._rules, self._tables, control)
        return -self._kernels["descend"](
            child, self._rules, self._tables, self._out, 0, left, -int(INFINITY), int(INFINITY), control
        )
