"""What engines with a transposition table share: kernels, arrays, salts, and how a search is run in slices."""

import hashlib

import numpy as np

from .. import games, jit
from ..games.interface import END, MAX_MOVES, as_state
from ..jit import compiled
from . import drivers as dr
from . import pvs
from . import table as tt
from .alphabeta_engine import Result
from .memory import HugePages, address

_LINE_LENGTH = 64
_NEVER = 1 << 40  # more than is ever left
_PER_PAGE = 50_000  # boards, 5 ms, after which the far table's next page, 1 ms, pays


@compiled
def no_bounds(s, r, left, beta):
    return -pvs.INFINITY, pvs.INFINITY, np.uint64(0)


@compiled
def itself(s, r):
    return s


class Tabled:
    """A pausable search with a table: the part that does not depend on what is asked.

    far: the far table (uint64, length a multiple of 8; empty: none), of this engine or of several; name: of the
    kernels; tag: what tells this engine's entries from others', as far as game and rules array do not; functions: what
    templates are bound to; templates: in an order in which each needs those before it; limits: see ``SOLVER`` in
    ``games.interface``.
    """

    driver = None  # the template that runs the search

    def __init__(self, game, rules, far, name, tag, functions, templates, limits):
        self.name, self._game, self._rules = name, game, rules
        self._width = game.words(rules)
        self._kernels = jit.specialise_all(templates, name, functions)
        self._far = np.zeros(0, np.uint64) if far is None else far
        self._near = tt.near_table()
        self._pages, self._unpaid = HugePages(self._far), 0
        self._control = np.zeros(dr.CONTROL_SIZE, np.int64)
        salt = hashlib.sha256(f"{games.tag(game)} {tag}".encode() + rules.tobytes()).digest()
        self._salts = [np.frombuffer(salt[:8], np.uint64)[0], 0]
        self._control[pvs.SALT] = self._salts[0].view(np.int64)
        self._control[pvs.BOTTOM], self._control[pvs.NULL_WINDOWS] = limits["bottom"], 1
        self._control[pvs.TABLE_LEFT], self._control[pvs.CUT_LEFT] = limits["table"], limits["cut"]
        self._control[tt.FAR_LEFT_LATER] = limits["far"] if len(self._far) else _NEVER
        self._control[tt.NEAR_MASK], self._control[tt.FAR_BUCKETS] = len(self._near) // 2 - 1, len(self._far) // 8
        self._allocate(game.moves_left(game.start(rules).state, rules))

    def _allocate(self, moves_left):
        # a pass may stand between any two moves, and one frame holds the end
        self._moves_left, frames = moves_left, 2 * moves_left + 4
        self._states = np.zeros(frames * self._width, np.uint64)
        self._frames = np.zeros(frames * pvs.FRAME_SIZE, np.int64)
        self._moves = np.zeros(frames * MAX_MOVES, np.int16)
        self._scores = np.zeros(frames * MAX_MOVES, np.int64)
        places = {
            tt.NEAR: self._near, tt.FAR: self._far, pvs.RULES: self._rules, pvs.MOVES: self._moves,
            pvs.SCORES: self._scores, pvs.STATES: self._states, pvs.FRAMES: self._frames,
        }  # fmt: skip
        for place, array in places.items():
            self._control[place] = address(array)
        self._where = address(self._control)

    def forget(self):
        """Leave nothing in the near table, so that a search does not depend on those before it."""
        self._near[:] = 0

    def clear(self):
        """Forget everything: entries so far belong to a salt that is not used again."""
        self._salts[1] += 1
        salt = int(self._salts[0]) + self._salts[1] * 0x9E3779B97F4A7C15 & 2**64 - 1
        self._control[pvs.SALT] = np.uint64(salt).view(np.int64)
        self.age(int(self._control[tt.GENERATION]) + 1)

    def age(self, request):
        """Take entries from now on for those of a request, by its number: a later one's displace them first."""
        self._control[tt.GENERATION] = request % tt.GENERATIONS

    def _begin(self, state, low, high, left):
        """Start a search; return whether the game is over."""
        control, game = self._control, self._game
        moves_left = int(game.moves_left(state, self._rules))
        if moves_left > self._moves_left:
            self._allocate(moves_left)
        self._state = state
        self._states[: self._width] = state
        control[[pvs.BOARDS, pvs.HITS, pvs.STORES, pvs.EVALUATED, tt.REPLACED, dr.LATEST, dr.DEPTH]] = 0
        control[pvs.TOP], control[dr.BEST_ROOT_MOVE], control[tt.FAR_LEFT] = -1, pvs.NO_MOVE, _NEVER
        control[dr.LEFT_AT_ROOT] = moves_left if left is None else left
        control[dr.WINDOW_LOW], control[dr.WINDOW_HIGH] = low, high
        self._frames[pvs.COUNT], self._frames[pvs.BEST_MOVE] = 0, pvs.NO_MOVE
        self._complete = game.kind(state, self._rules) == END
        return self._complete

    @property
    def boards(self):
        """Boards searched so far."""
        return int(self._control[pvs.BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the answer is known."""
        if not self._complete:
            before = self.boards
            self._control[pvs.BUDGET] = budget
            self._complete = bool(self._kernels[self.driver.__name__](self._state, self._where))
            self._unpaid += self.boards - before
            if self._unpaid > _PER_PAGE and self._pages.left:
                self._pages.make_one()
                self._unpaid -= _PER_PAGE
        return self._complete

    @property
    def table_counts(self):
        """(hits, stores, replacements) of the search begun last."""
        return tuple(self._control[[pvs.HITS, pvs.STORES, tt.REPLACED]].tolist())

    def _found(self, score, move, line_score=None):
        """Return the Result of a complete search, with the line that keeps ``line_score``, if there is one."""
        counts = self._control.copy()
        line = _line(move)
        if line and line_score is not None:
            line += self._rest_of_line(move, line_score)
        self._control[:] = counts  # the line is on the house
        return Result(score, True, line, self.boards, 0, int(counts[pvs.EVALUATED]))

    def _stopped(self, score):
        """Return the Result of a search that was stopped."""
        return Result(score, False, _line(self._any_move()), self.boards, 0, int(self._control[pvs.EVALUATED]))

    def _any_move(self):
        """Return the best move so far, or the likeliest one; NO_MOVE before the first question."""
        proved, searched = int(self._control[dr.BEST_ROOT_MOVE]), int(self._frames[pvs.BEST_MOVE])
        likeliest = int(self._moves[0]) if self._frames[pvs.COUNT] else int(pvs.NO_MOVE)
        return next((m for m in (proved, searched) if m != pvs.NO_MOVE), likeliest)

    def _rest_of_line(self, move, score):
        state = as_state(self._game.play(self._state, self._rules, move)[0])
        left = int(self._kernels["left_after"](int(self._control[dr.LEFT_AT_ROOT]), move))
        line = np.zeros(_LINE_LENGTH - 1, np.int16)
        return line[: self._kernels["follow"](state, self._where, left, -score, line)].tolist()


def _line(move):
    return [move] if move != pvs.NO_MOVE else []
