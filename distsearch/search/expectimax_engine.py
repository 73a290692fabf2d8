"""The expectimax engine for one game, board and evaluation: begin a search, run it in slices, read its result."""

import math
from typing import NamedTuple

import numpy as np

from .. import games, jit
from ..addresses import address
from ..games.interface import CHANCE, END, MAX_MOVES
from . import expectimax as em

_BOTTOM = 3  # plies left to recursion
_ENTRIES_BITS = 16  # of the table: 1 MiB


class Found(NamedTuple):
    """What a search found."""

    value: float  # expected; of a search that was stopped −inf
    complete: bool
    move: int | None  # the best of the player's moves, if it is the player's turn
    values: dict  # of the moves at the root that were searched to their end, by code
    boards: int
    expanded: int  # of them, those in which the player's moves were tried
    evaluated: int
    hits: int
    stores: int


class Expectimax:
    """A pausable expectimax search.

    points: whether what moves bring counts beside the evaluation; least: states of chance that are less likely are
    evaluated, 0: none; alike: chance does everything with the same probability; entries_bits: the table (16 bytes an
    entry) has 2 to the power of that; it holds values of one evaluation and one set of these arguments.
    """

    kind = "expectimax"

    def __init__(self, game, rules, evaluation, points=False, least=0.0, alike=False, entries_bits=_ENTRIES_BITS):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self.name = f"{self.kind}_{games.tag(game)}_{evaluation.name}"
        self.kernels = jit.specialise_all(em.TEMPLATES, self.name, self._functions())
        self._width, self._state = game.words(rules), game.start(rules).state
        self._control = np.zeros(em.CONTROL_SIZE, np.int64)
        self.where = address(self._control)
        self._entries = np.zeros(2 << entries_bits, np.uint64)
        self._values = np.zeros(MAX_MOVES)
        control = self._control
        control[em.RULES], control[em.TABLES] = address(rules), address(evaluation.tables)
        control[em.ENTRIES], control[em.ENTRY_MASK] = address(self._entries), (1 << entries_bits) - 1
        control[em.POINTS], control[em.ALIKE] = points, alike
        control[em.LEAST] = em.times(em.CERTAIN, least) if least else 0
        control[em.BOTTOM] = _BOTTOM
        self._deepest = 0

    def _functions(self):
        """Return what the templates are specialised with, by name."""
        game, hooks = self._game, games.knowledge(self._game)
        functions = {name: getattr(game, name) for name in ("moves", "play", "outcomes", "key")}
        functions |= {"turn": getattr(hooks, "turn", game.kind), "evaluate": self._evaluation.function}
        by_playing = jit.specialise(em.expand_by_playing, f"expand_by_playing_{self.name}", functions)
        functions["expand"] = getattr(hooks, "expand", by_playing)
        return functions

    def compile(self):
        """Compile, or load from disk, every kernel."""
        self.begin(self._state, 1)
        self.advance(1)

    def make_room(self, depth):
        """Have arrays for searches of so many plies."""
        if depth <= self._deepest:
            return
        self._deepest = depth
        self._moves = np.zeros((depth + 1) * MAX_MOVES, np.int16)
        self._chances = np.zeros((depth + 1) * MAX_MOVES)
        self._frames = np.zeros((depth + 1) * em.FRAME_SIZE, np.int64)
        self._numbers = np.zeros((depth + 1) * em.NUMBERS_SIZE)
        self._states = np.zeros((depth + 1) * self._width, np.uint64)
        self._children = np.zeros((depth + 1) * MAX_MOVES * self._width, np.uint64)
        self._gains = np.zeros((depth + 1) * MAX_MOVES, np.int64)
        for at, array in (
            (em.MOVES, self._moves), (em.CHANCES, self._chances), (em.FRAMES, self._frames),
            (em.NUMBERS, self._numbers), (em.STATES, self._states), (em.CHILDREN, self._children),
            (em.GAINS, self._gains),
        ):  # fmt: skip
            self._control[at] = address(array)

    def forget(self):
        """Forget the table's entries: what a search takes then depends on nothing before it."""
        self._entries[:] = 0

    def evaluate_by(self, tables):
        """Evaluate by other tables (uint64) of the same evaluation from now on, and forget what is of the old ones."""
        self._evaluation = self._evaluation._replace(tables=tables)
        self._control[em.TABLES] = address(tables)
        self.forget()

    def begin(self, state, depth, likely=em.CERTAIN):
        """Start a search of ``state`` to ``depth`` plies, 0 for its evaluation; likely: as ``expectimax`` has it."""
        self.make_room(depth)
        control = self._control
        control[[em.BOARDS, em.EXPANDED, em.EVALUATED, em.HITS, em.STORES, em.TOP]] = 0
        self._state = state
        self._value = self._opened = None
        self._by_chance = self._game.kind(state, self._rules) == CHANCE
        if depth == 0 or self._game.kind(state, self._rules) == END:
            self._value = float(self.kernels["leaf"](state, self.where))
            return
        opened, value = self.kernels["push"](state, self.where, 0, 0, depth, int(likely))
        if not opened:
            self._value = float(value)

    @property
    def boards(self):
        return int(self._control[em.BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the search is complete."""
        if self._value is None and self.kernels["advance"](self._state, self.where, self._values, int(budget)):
            self._value = float(self._numbers[em.VALUE])
            self._opened = True
        return self._value is not None

    def result(self):
        """Return what was Found so far."""
        control, complete = self._control, self._value is not None
        move, values = None, {}
        if not self._by_chance and (self._opened or not complete):
            tried = max(0, int(self._frames[em.NEXT]) - (not complete))
            values = dict(zip(self._moves[:tried].tolist(), self._values[:tried].tolist(), strict=True))
            move = max(values, key=values.get) if values else None
        return Found(
            self._value if complete else -math.inf, complete, move, values, int(control[em.BOARDS]),
            int(control[em.EXPANDED]), int(control[em.EVALUATED]), int(control[em.HITS]), int(control[em.STORES]),
        )  # fmt: skip
