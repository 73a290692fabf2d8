"""The expectiminimax engine for one game, board and evaluation: begin a search, run it in slices, read its result."""

import math
from typing import NamedTuple

import numpy as np

from .. import games, jit
from ..addresses import address
from ..games.interface import CHANCE, END, MAX_MOVES
from . import expectiminimax as emm
from .expectimax import expand_by_playing

EXACT, LOWER, UPPER = 0, 1, -1  # what a value is
# Plies left after a move from which on moves are ordered by their evaluations: 0.71 times the boards of 2048's depth 10
_ORDERED = 2


@jit.compiled
def one_draw(m, r):
    """What stands for ``draw`` where a game has none, and the adversary chooses all."""
    return np.int64(0)


class Found(NamedTuple):
    """What a search found."""

    value: float  # of a search that was stopped −inf, or a lower bound if it is the player's turn and alpha was −inf
    bound: int  # EXACT, or LOWER or UPPER where the value is not within the window
    complete: bool
    move: int | None  # the best of the player's moves, if it is the player's turn
    values: dict  # of the moves at the root whose values are exact, by code
    boards: int
    evaluated: int


class Expectiminimax:
    """A pausable expectiminimax search.

    whole: the adversary chooses all that chance would, which is minimax; pruned: alpha-beta, or the whole tree.
    """

    def __init__(self, game, rules, evaluation, whole=False, pruned=True):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self.name = f"expectiminimax_{games.tag(game)}_{evaluation.name}"
        hooks = games.knowledge(game)
        functions = {name: getattr(game, name) for name in ("moves", "play", "outcomes")}
        functions |= {"turn": getattr(hooks, "turn", game.kind), "evaluate": evaluation.function}
        functions["draw"] = getattr(game, "draw", one_draw)
        by_playing = jit.specialise(expand_by_playing, f"expand_by_playing_{self.name}", functions)
        functions["expand"] = getattr(hooks, "expand", by_playing)
        self._kernels = jit.specialise_all(emm.TEMPLATES, self.name, functions)
        self._width, self._state = game.words(rules), game.start(rules).state
        self._control = np.zeros(emm.CONTROL_SIZE, np.int64)
        self._where = address(self._control)
        self._control[[emm.RULES, emm.TABLES]] = address(rules), address(evaluation.tables)
        self._control[[emm.WHOLE, emm.PRUNE]] = whole, pruned
        self._control[emm.ORDER] = _ORDERED if pruned else 0
        self._deepest = -1

    def compile(self):
        """Compile, or load from disk, every kernel."""
        self.begin(self._state, 2)
        self.advance(1)

    def _allocate(self, depth):
        self._deepest = depth
        frames = depth + 1
        self._moves, self._values = np.zeros(frames * MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
        self._scores, self._gains = np.zeros(frames * MAX_MOVES), np.zeros(frames * MAX_MOVES, np.int64)
        self._children = np.zeros(frames * MAX_MOVES * self._width, np.uint64)
        self._frames = np.zeros(frames * emm.FRAME_SIZE, np.int64)
        self._numbers = np.zeros(frames * emm.NUMBERS_SIZE)
        for at, array in (
            (emm.MOVES, self._moves), (emm.SCORES, self._scores), (emm.CHILDREN, self._children),
            (emm.GAINS, self._gains), (emm.FRAMES, self._frames), (emm.NUMBERS, self._numbers),
        ):  # fmt: skip
            self._control[at] = address(array)

    def begin(self, state, depth, alpha=-math.inf, beta=math.inf, drawn=emm.ANY):
        """Start a search of ``state`` to ``depth`` plies, 0 for its evaluation.

        alpha, beta: the value is exact if it is between, and else a bound on the right side of both; an unpruned search
        does not look at them. drawn: what chance has drawn, as the game's ``draw`` numbers it, where the adversary is
        to choose among that draw's outcomes.
        """
        if depth > self._deepest:
            self._allocate(depth)
        control = self._control
        control[[emm.BOARDS, emm.EVALUATED, emm.TOP]] = 0
        if not control[emm.PRUNE]:
            alpha, beta = -math.inf, math.inf
        self._state, self._window, self._value = state, (alpha, beta), None
        self._values[:] = np.nan
        kind = int(self._game.kind(state, self._rules))
        self._moving = kind not in (END, CHANCE) and depth > 0
        if kind == END:
            depth = 0
        opened, value = self._kernels["push"](state, self._where, 0, depth, float(alpha), float(beta), int(drawn))
        if not opened:
            self._value = float(value)

    @property
    def boards(self):
        return int(self._control[emm.BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the search is complete."""
        if self._value is None and self._kernels["advance"](self._state, self._where, self._values, int(budget)):
            self._value = float(self._numbers[emm.VALUE])
        return self._value is not None

    def result(self):
        """Return what was Found so far."""
        complete, move, values = self._value is not None, None, {}
        value = self._value if complete else -math.inf
        if self._moving:
            exact = np.flatnonzero(~np.isnan(self._values))
            values = dict(zip(self._moves[exact].tolist(), self._values[exact].tolist(), strict=True))
            value = float(self._numbers[emm.VALUE])
            move = None if self._frames[emm.BEST] < 0 else int(self._frames[emm.BEST])
        return Found(value, self._bound(value, complete), complete, move, values, self.boards,
                     int(self._control[emm.EVALUATED]))  # fmt: skip

    def _bound(self, value, complete):
        if not complete:
            return LOWER
        alpha, beta = self._window
        return UPPER if value <= alpha else LOWER if value >= beta else EXACT
