"""Depth-limited search with a transposition table: begin a search, run it in slices, read its result."""

import hashlib

import numpy as np

from ... import games
from ...core import jit
from ...core.errors import UserError
from ...core.pointers import address, set_fields, uint64s
from ...games.interface import END
from . import drivers as dr
from . import kernels, move_ordering, probcut
from .layout import frame_at
from .table_search import TableSearch, itself, no_bounds

_LIMITS = {"table": 3, "shared": 5, "cut": 5, "bottom": 3}  # plies left, see ``SOLVER`` in ``games.interface``
_STEP = 2  # plies from one depth to the next, so that scores of odd and even depths do not mix
_SLOW_ORDER_FROM = 3  # plies left from which on a slow order of moves pays

_MAX_BOUND = 14_000  # of an evaluation: twice that, and a score, fit into a table's entry

ended = evaluate = kind = moves_left = ordered_moves = ordered_moves_slow = None  # bound for each game and evaluation


def resolved(s, r, c, depth_left, beta):
    """Return (True, value) of a leaf, for ``kernels``."""
    if kind(s, r) == END:
        return True, ended(s, r, c)
    c.evaluated += 1
    return True, np.int64(evaluate(s, r, uint64s(c.tables)))


def solver_moves(s, r, depth_left, note, out, scores, at):
    """Write all moves, in a better and slower order where more depth is left; return how many."""
    if depth_left >= _SLOW_ORDER_FROM:
        return ordered_moves_slow(s, r, out, scores, at)
    return ordered_moves(s, r, out, at)


def plain_order(s, r, out, scores, at):
    return ordered_moves(s, r, out, at)


def init_search(s, r, c, plies):
    """Begin with no score; return whether there is nothing to search, for ``drivers``."""
    c.root_depth = min(plies, 2 * moves_left(s, r) + 1)
    c.table.shared_from = c.table.shared_from_later
    c.low, c.high = -kernels.INFINITY, kernels.INFINITY
    if plies == 0 or kind(s, r) == END:
        _, c.latest = resolved(s, r, c, np.int64(0), np.int64(0))
        return True
    return False


def search_result(s, r, c):
    """Return (score, move, proved) of the search so far, for ``drivers``.

    Of a stopped one the score is a lower bound that the depth asked for has shown, with the move that has it, or
    −INFINITY.
    """
    low, high = c.window_low, c.window_high
    if c.complete:
        score = c.latest
        return dr.clamp_to_window(c, score), c.best_root_move, low < score < high
    f = frame_at(c.frames, 0)
    at_full_depth = c.top >= 0 and f.depth_left == c.root_depth
    if at_full_depth and f.best > low:  # up to low it is an upper bound of the moves so far
        return f.best, f.best_move, False
    return -kernels.INFINITY, dr.any_move(c), False


_PROBCUT = probcut.thresholds, probcut.start_probe, probcut.finish_probe
_ABOVE = (
    *kernels.PAUSABLE,
    dr.next_depth,
    dr.iterative_deepening,
    dr.write_moves,
    dr.follow_pv,
    init_search,
    search_result,
)


class DepthSearch(TableSearch):
    """A pausable alpha-beta search to a number of plies, by iterative deepening.

    ``table`` is as ``TableSearch`` has it; repeatable: every search starts with empty tables of its own, so that nodes
    and line depend on nothing else; selective: the table of ``probcut`` (float64), or None for a search of every line.
    """

    driver = dr.iterative_deepening

    def __init__(self, game, rules, evaluation, table=None, repeatable=False, part=False, selective=None):
        if evaluation.bound > _MAX_BOUND:
            raise UserError(
                f"evaluation {evaluation.name} is worth up to {evaluation.bound}, more than the {_MAX_BOUND} that "
                "a table holds; --ordering static searches without one"
            )
        name = f"{games.tag(game)}_{evaluation.name}_deep"
        tables = hashlib.sha256(evaluation.tables).hexdigest()
        tag = f"{evaluation.name} {evaluation.bound} {tables}"
        self._tables, self._probcut = evaluation.tables, selective
        functions = _bound(game, evaluation, name)
        templates = kernels.TEMPLATES + _ABOVE
        if selective is not None:
            name, tag = f"{name}_selective", f"{tag} {hashlib.sha256(selective).hexdigest()}"
            functions["SELECTIVE"], templates = True, kernels.TEMPLATES + _PROBCUT + _ABOVE
        super().__init__(game, rules, None if repeatable else table, name, tag, functions, templates, _LIMITS, part)
        self._control["tables"] = address(self._tables)
        if selective is not None:
            self._control["probcut"] = address(selective)
        set_fields(self._control, win_bonus=evaluation.bound, step=_STEP, repeatable=repeatable)

    def begin(self, state, depth, low=-kernels.INFINITY, high=kernels.INFINITY):
        """Start to search ``state`` to ``depth`` plies; scores are told apart no further than from low to high."""
        self._begin(state, depth, low, high)


def _bound(game, evaluation, name):
    """Return what the templates are bound to: the game's own functions and hooks, or plain ones in their stead."""
    hooks = games.knowledge(game)
    functions = {**games.functions(game), "bounds": no_bounds, "canonical": getattr(hooks, "canonical", itself)}
    functions.update(SMALL=0, EXACT=False, evaluate=evaluation.function)
    functions["order_moves"] = jit.specialise(move_ordering.unordered, f"unordered_{name}", functions)
    if hasattr(hooks, "ordered_moves_slow"):
        functions["ordered_moves_slow"] = hooks.ordered_moves_slow
    else:
        functions["ordered_moves_slow"] = jit.specialise(plain_order, f"plain_order_{name}", functions)
    return jit.specialise_all((kernels.ended, resolved, solver_moves), name, functions)
