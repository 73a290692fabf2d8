"""The exact solver for one game and board: begin a search, run it in slices, read its result."""

import numpy as np

from .. import games, jit
from ..games.interface import as_state
from ..jit import compiled
from . import drivers as dr
from . import pvs
from .tabled import Tabled, itself, no_bounds

_PLAIN = {"table": 3, "far": 8, "cut": 5, "bottom": 6}  # for games that know no better, see ``games.interface``
_TEMPLATES = (
    pvs.hashed, pvs.ended, pvs.left_after, pvs.answers, pvs.known_cut, pvs.examine, pvs.descend, pvs.open_root,
    pvs.advance, dr.solve, dr.follow,
)  # fmt: skip


@compiled
def latest_value(s, r, low, high, latest):
    return latest


@compiled
def nothing_small(s, r, left, beta):
    return False, np.int64(0), np.int64(0)


ordered_moves = small = None  # bound for each game


def plain_candidates(s, r, left, note, out, scores, at):
    return ordered_moves(s, r, out, at)


def settled(s, r, control, left, beta):
    """Return (known, score): the game's small endings, for ``pvs``."""
    known, score, boards = small(s, r, left, beta)
    control[pvs.BOARDS] += boards
    return known, score


class Solver(Tabled):
    """A pausable exact search. ``far`` and ``tag`` are as ``Tabled`` has them.

    hooks: what the game knows, its knowledge module if None; ``VARIANT`` is the name of any other.
    """

    driver = dr.solve

    def __init__(self, game, rules, far=None, tag="", hooks=None):
        hooks = hooks or games.knowledge(game)
        name = f"{games.tag(game)}_exact{getattr(hooks, 'VARIANT', '')}"
        functions = _bound(game, hooks, name)
        super().__init__(game, rules, far, name, tag, functions, _TEMPLATES, getattr(hooks, "SOLVER", _PLAIN))

    def compile(self):
        """Compile, or load from disk, every kernel, by a search of a few boards."""
        self.begin(self._game.start(self._rules).state)
        self.advance(10)
        self.result()
        self._kernels["follow"](as_state(self._state), self._where, 1, 0, np.zeros(0, np.int16))
        self.forget()

    def begin(self, state, low=-pvs.INFINITY, high=pvs.INFINITY):
        """Start to solve ``state``; scores are told apart no further than from ``low`` to ``high``."""
        control = self._control
        if self._begin(state, low, high, None):
            control[[dr.LOW, dr.HIGH]] = self._game.final(state, self._rules)
        else:
            left = int(control[dr.LEFT_AT_ROOT])
            control[dr.LOW], control[dr.HIGH], _ = self._kernels["bounds"](state, self._rules, left, 0)

    def result(self):
        """Return the Result so far; of a stopped search the score is the lower bound found, or −INFINITY.

        Of a complete one it is the score itself, or the end of the window that it lies at or beyond. The line goes as
        far as it can be proved from the tables.
        """
        control = self._control
        move, low = int(control[dr.BEST_ROOT_MOVE]), int(control[dr.LOW])
        window_low, window_high = int(control[dr.WINDOW_LOW]), int(control[dr.WINDOW_HIGH])
        if not self._complete:
            return self._stopped(low)
        if move == pvs.NO_MOVE:  # not better than the window's lower end: any move will do
            move = self._any_move()
        if move == pvs.NO_MOVE and self._game.moves(self._state, self._rules, self._moves, 0):
            move = int(self._moves[0])  # the game's bounds alone told
        score = int(control[dr.HIGH]) if control[dr.HIGH] <= window_low else low
        score = min(max(score, window_low), window_high)
        return self._found(score, move, score if window_low < score < window_high else None)


def _bound(game, hooks, name):
    """Return what the templates are bound to: the game's own functions and hooks, or plain ones in their stead."""
    functions = games.functions(game)
    plain = {"bounds": no_bounds, "next_beta": latest_value, "canonical": itself, "small": nothing_small}
    for hook, stand_in in plain.items():
        functions[hook] = getattr(hooks, hook, stand_in)
    functions.update(SMALL=getattr(hooks, "SMALL", -1), EXACT=True)
    functions["settled"] = jit.specialise(settled, f"settled_{name}", functions)
    if hasattr(hooks, "candidates"):
        functions["candidates"] = hooks.candidates
    else:
        functions["candidates"] = jit.specialise(plain_candidates, f"candidates_{name}", functions)
    return functions
