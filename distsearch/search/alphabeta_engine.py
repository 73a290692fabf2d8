"""The alpha-beta engine for one game, board and evaluation: begin a search, run it in slices, read its result."""

from typing import NamedTuple

import numpy as np

from .. import games, jit
from ..errors import UserError
from ..games.interface import MAX_MOVES, PASS, as_state
from . import alphabeta as ab
from .paused import packed, unpack

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
        templates = ab.finished, ab.leaf, ab.descend, ab.push, ab.advance
        functions = {**games.functions(game), "evaluate": evaluation.function}
        self._kernels = jit.specialise_all(templates, self.name, functions)
        self._width = game.words(rules)
        self._control = np.zeros(ab.CONTROL_SIZE, np.int64)
        self._control[[ab.PRUNE, ab.STATIC, ab.SHALLOW]] = prune, static, shallow
        self._allocate(game.moves_left(game.start(rules).state, rules))

    def _allocate(self, moves_left):
        # a pass may stand between any two moves, one frame holds the end, and one more the line that it lacks
        self._moves_left, frames = moves_left, 2 * moves_left + 4
        self._words = np.zeros(frames * self._width, np.uint64)
        self._frames = np.zeros(frames * ab.FRAME_SIZE, np.int64)
        self._out = np.zeros(frames * MAX_MOVES, np.int16)
        self._scores = np.zeros(frames * MAX_MOVES, np.int64)
        self._lines = np.zeros(frames * ab.LINE_LENGTH, np.int16)

    def compile(self):
        """Compile, or load from disk, every kernel, by a search of a few boards."""
        self.begin(self._game.start(self._rules).state, 4)
        while not self.advance(100):
            pass
        self.result()

    def begin(self, state, depth=None, alpha=-ab.INFINITY, beta=ab.INFINITY):
        """Start a search of ``state`` to ``depth`` plies, or to the end of the game if None, in a window."""
        exact = depth is None
        control = self._control
        self._state = state
        moves_left = int(self._game.moves_left(state, self._rules))
        if moves_left > self._moves_left:
            self._allocate(moves_left)
        self._depth = moves_left if exact else min(depth, 2 * moves_left + 1)  # no line of play is longer
        control[ab.PASS_PLIES] = 0 if exact else 1
        control[ab.WIN] = 0 if exact else self._bound
        control[ab.BOTTOM] = _EXACT_BOTTOM if exact else _BOTTOM
        control[[ab.BOARDS, ab.ORDERING_BOARDS, ab.EVALUATED, ab.TOP, ab.ORDERING]] = 0
        self._words[: self._width] = state
        self._complete = False
        self._push(alpha, beta)
        if self._depth == 0:
            self._frames[ab.COUNT] = 0
            self._frames[ab.BEST] = self._kernels["leaf"](state, self._rules, self._tables, control)
            self._complete = True

    def _push(self, alpha, beta):
        self._kernels["push"](
            self._state, self._rules, self._frames, self._out, 0, 0, self._depth, int(alpha), int(beta), self._control
        )

    @property
    def boards(self):
        """Boards searched so far, those of ordering searches included."""
        return int(self._control[ab.BOARDS] + self._control[ab.ORDERING_BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the search is complete."""
        if not self._complete:
            self._control[ab.BUDGET] = budget
            self._complete = bool(self._kernels["advance"](
                self._state, self._rules, self._tables, self._words, self._frames, self._out, self._scores,
                self._lines, self._control))  # fmt: skip
        return self._complete

    def save(self):
        """Return the search begun last as bytes."""
        control, frames = self._control, int(self._control[ab.TOP]) + 1
        last = self._frames[(frames - 1) * ab.FRAME_SIZE :]
        moves = last[ab.FIRST] + last[ab.COUNT]
        return packed(
            control, self._words[: frames * self._width], self._frames[: frames * ab.FRAME_SIZE], self._out[:moves],
            self._scores[:moves], self._lines[: frames * ab.LINE_LENGTH],
        )  # fmt: skip

    def restore(self, content):
        """Go on with a search that ``save`` gave and that is not complete; one like it must have been begun."""
        unpack(content, self._control, self._words, self._frames, self._out, self._scores, self._lines)

    def result(self):
        """Return the Result so far; of a stopped search the score is that of the moves searched, or −INFINITY."""
        control = self._control
        line = self._lines[: self._frames[ab.LINE]].tolist()
        return Result(
            int(self._frames[ab.BEST]), self._complete, self._to_the_leaf(line) if self._complete else line,
            int(control[ab.BOARDS]), int(control[ab.ORDERING_BOARDS]), int(control[ab.EVALUATED]),
        )  # fmt: skip

    def _to_the_leaf(self, line):
        """Lengthen the line of the frames by the plies that recursion searched, a few hundred boards for each."""
        state, left = self._state, self._depth
        control = self._control.copy()
        line = list(line)
        played = 0
        while left > 0 and len(line) < ab.LINE_LENGTH:
            if played == len(line):
                if left > control[ab.BOTTOM] + 1:
                    break  # the line ends early: a cut-off, or the end of the game
                best = self._best_move(state, left, control)
                if best is None:
                    break
                line.append(best)
            m = line[played]
            state = as_state(self._game.play(state, self._rules, m)[0])
            left -= 1 if m != PASS else int(control[ab.PASS_PLIES])
            played += 1
        return line

    def _best_move(self, state, left, control):
        out = np.zeros(MAX_MOVES, np.int16)
        legal = out[: self._game.moves(state, self._rules, out, 0)].tolist()
        values = [self._value(state, m, left, control) for m in legal]
        return legal[values.index(max(values))] if legal else None

    def _value(self, state, m, left, control):
        child = as_state(self._game.play(state, self._rules, m)[0])
        left -= 1 if m != PASS else int(control[ab.PASS_PLIES])
        if left == 0:
            return -self._kernels["leaf"](child, self._rules, self._tables, control)
        return -self._kernels["descend"](
            child, self._rules, self._tables, self._out, 0, left, -int(ab.INFINITY), int(ab.INFINITY), control
        )
