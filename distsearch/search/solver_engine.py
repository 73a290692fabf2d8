"""The exact solver for one game and board: begin a search, run it in slices, read its result."""

import hashlib

import numpy as np

from .. import games, jit
from ..games.interface import MAX_MOVES, as_state
from ..jit import compiled
from . import solver as sv
from . import table as tt
from .alphabeta_engine import Result
from .memory import address

_PLAIN = {"table": 3, "far": 8, "cut": 5, "bottom": 6}  # for games that know no better, see ``games.interface``
_LINE_LENGTH = 64


@compiled
def no_bounds(s, r, left, beta):
    return -sv.INFINITY, sv.INFINITY, np.uint64(0)


@compiled
def latest_value(s, r, low, high, latest):
    return latest


@compiled
def itself(s, r):
    return s


@compiled
def nothing_small(s, r, left, beta):
    return False, np.int64(0), np.int64(0)


ordered_moves = None  # bound for each game


def plain_candidates(s, r, left, note, out, scores, at):
    return ordered_moves(s, r, out, at)


class Solver:
    """A pausable exact search.

    far: the far table (uint64, length a multiple of 8; empty: none), of this engine or of several; tag: what tells
    this engine's entries from others', as far as game and rules array do not.
    """

    def __init__(self, game, rules, far=None, tag=""):
        self._game, self._rules = game, rules
        self._width = game.words(rules)
        self.name = f"{games.tag(game)}_exact"
        self._kernels = self._specialised()
        hooks = games.knowledge(game)
        self._limits = getattr(hooks, "SOLVER", _PLAIN)
        self._far = np.zeros(0, np.uint64) if far is None else far
        self._near = tt.near_table()
        self._control = np.zeros(sv.CONTROL_SIZE, np.int64)
        salt = hashlib.sha256(f"{games.tag(game)} {tag}".encode() + rules.tobytes()).digest()
        self._salts = [np.frombuffer(salt[:8], np.uint64)[0], 0]
        self._control[sv.SALT] = self._salts[0].view(np.int64)
        self._control[sv.BOTTOM] = self._limits["bottom"]
        self._control[sv.TABLE_LEFT], self._control[sv.CUT_LEFT] = self._limits["table"], self._limits["cut"]
        self._control[tt.FAR_LEFT_LATER] = self._limits["far"] if len(self._far) else 1 << 40
        self._control[tt.NEAR_MASK], self._control[tt.FAR_BUCKETS] = len(self._near) // 2 - 1, len(self._far) // 8
        self._allocate(game.moves_left(game.start(rules).state, rules))

    def _specialised(self):
        game = self._game
        functions = games.functions(game)
        hooks = games.knowledge(game)
        plain = {"bounds": no_bounds, "next_beta": latest_value, "canonical": itself, "small": nothing_small}
        for name, stand_in in plain.items():
            functions[name] = getattr(hooks, name, stand_in)
        functions["SMALL"] = getattr(hooks, "SMALL", -1)
        if hasattr(hooks, "candidates"):
            functions["candidates"] = hooks.candidates
        else:
            functions["candidates"] = jit.specialise(plain_candidates, f"candidates_{self.name}", functions)
        templates = sv.hashed, sv.known_cut, sv.examine, sv.descend, sv.open_root, sv.advance, sv.solve, sv.follow
        return jit.specialise_all(templates, self.name, functions)

    def _allocate(self, moves_left):
        # a pass may stand between any two moves, and one frame holds the end
        self._moves_left, frames = moves_left, 2 * moves_left + 4
        self._states = np.zeros(frames * self._width, np.uint64)
        self._frames = np.zeros(frames * sv.FRAME_SIZE, np.int64)
        self._moves = np.zeros(frames * MAX_MOVES, np.int16)
        self._scores = np.zeros(frames * MAX_MOVES, np.int64)
        places = {
            tt.NEAR: self._near, tt.FAR: self._far, sv.RULES: self._rules, sv.MOVES: self._moves,
            sv.SCORES: self._scores, sv.STATES: self._states, sv.FRAMES: self._frames,
        }  # fmt: skip
        for place, array in places.items():
            self._control[place] = address(array)
        self._where = address(self._control)

    def compile(self):
        """Compile, or load from disk, every kernel, by a search of a few boards."""
        self.begin(self._game.start(self._rules).state)
        self.advance(10)
        self.result()
        self._kernels["follow"](as_state(self._state), self._where, 0, np.zeros(0, np.int16))
        self._near[:] = 0  # so that searches do not depend on what compiling left

    def clear(self):
        """Forget everything: entries so far belong to a salt that is not used again."""
        self._salts[1] += 1
        salt = int(self._salts[0]) + self._salts[1] * 0x9E3779B97F4A7C15 & 2**64 - 1
        self._control[sv.SALT] = np.uint64(salt).view(np.int64)
        self._control[tt.GENERATION] = (self._control[tt.GENERATION] + 1) % 256

    def begin(self, state, low=-sv.INFINITY, high=sv.INFINITY):
        """Start to solve ``state``; scores are told apart no further than from ``low`` to ``high``."""
        control, game = self._control, self._game
        left = int(game.moves_left(state, self._rules))
        if left > self._moves_left:
            self._allocate(left)
        self._state = state
        self._states[: self._width] = state
        control[[sv.BOARDS, sv.HITS, sv.STORES, tt.REPLACED, sv.LATEST]] = 0
        control[sv.TOP], control[sv.BEST_ROOT_MOVE], control[sv.LEFT_AT_ROOT] = -1, sv.NO_MOVE, left
        control[tt.FAR_LEFT] = 1 << 40
        control[sv.LOW], control[sv.HIGH] = -sv.INFINITY, sv.INFINITY
        control[sv.WINDOW_LOW], control[sv.WINDOW_HIGH] = low, high
        self._over = game.kind(state, self._rules) == 0
        if not self._over:
            bound_low, bound_high, _ = self._kernels["bounds"](state, self._rules, left, 0)
            control[sv.LOW], control[sv.HIGH] = bound_low, bound_high
        else:
            control[[sv.LOW, sv.HIGH]] = game.final(state, self._rules)
        self._complete = self._over
        self._frames[sv.COUNT], self._frames[sv.BEST_MOVE] = 0, sv.NO_MOVE

    @property
    def boards(self):
        """Boards searched so far."""
        return int(self._control[sv.BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the score is known."""
        if not self._complete:
            self._control[sv.BUDGET] = budget
            self._complete = bool(self._kernels["solve"](self._state, self._where))
        return self._complete

    @property
    def table_counts(self):
        """(hits, stores, replacements) of the search begun last."""
        return tuple(self._control[[sv.HITS, sv.STORES, tt.REPLACED]].tolist())

    def result(self):
        """Return the Result so far; of a stopped search the score is the lower bound found, or −INFINITY.

        Of a complete one it is the score itself, or the end of the window that it lies at or beyond. The line goes as
        far as it can be proved from the tables.
        """
        control = self._control
        move, low = int(control[sv.BEST_ROOT_MOVE]), int(control[sv.LOW])
        if not self._complete:
            return Result(low, False, _line(self._any_move()), self.boards, 0, 0)
        if move == sv.NO_MOVE and not self._over:  # not better than the window's lower end: any move will do
            move = self._any_move()
            if move == sv.NO_MOVE:  # the game's bounds alone told
                self._game.moves(self._state, self._rules, self._moves, 0)
                move = int(self._moves[0])
        score = int(control[sv.HIGH]) if control[sv.HIGH] <= control[sv.WINDOW_LOW] else low
        score = min(max(score, int(control[sv.WINDOW_LOW])), int(control[sv.WINDOW_HIGH]))
        boards, counts = self.boards, control.copy()
        line = _line(move) + self._rest_of_line(move, score)
        control[:] = counts  # the line is on the house
        return Result(score, True, line, boards, 0, 0)

    def _any_move(self):
        """Return the best move so far, or the likeliest one; NO_MOVE before the first question."""
        proved, searched = int(self._control[sv.BEST_ROOT_MOVE]), int(self._frames[sv.BEST_MOVE])
        likeliest = int(self._moves[0]) if self._frames[sv.COUNT] else int(sv.NO_MOVE)
        return next((m for m in (proved, searched) if m != sv.NO_MOVE), likeliest)

    def _rest_of_line(self, move, score):
        if move == sv.NO_MOVE or not self._control[sv.WINDOW_LOW] < score < self._control[sv.WINDOW_HIGH]:
            return []
        state = as_state(self._game.play(self._state, self._rules, move)[0])
        line = np.zeros(_LINE_LENGTH - 1, np.int16)
        return line[: self._kernels["follow"](state, self._where, -score, line)].tolist()


def _line(move):
    return [move] if move != sv.NO_MOVE else []
