"""Depth-limited search with a transposition table: begin a search, run it in slices, read its result."""

import hashlib

import numpy as np

from ... import games
from ...core import jit
from ...core.errors import UserError
from ...core.pointers import address, int64s, uint64s
from ...games.interface import END
from . import drivers as dr
from . import kernels, move_ordering, probcut
from . import table as tt
from .batch import any_move
from .table_search import Tabled, itself, no_bounds

_LIMITS = {"table": 3, "far": 5, "cut": 5, "bottom": 3}  # plies left, see ``SOLVER`` in ``games.interface``
_STEP = 2  # plies from one depth to the next, so that scores of odd and even depths do not mix
_PROMISING_LEFT = 3  # plies left from which on a dear order of moves pays

_HIGHEST_BOUND = 14_000  # of an evaluation: twice that, and a score, fit into a table's entry

ended = evaluate = kind = moves_left = ordered_moves = promising = None  # bound for each game and evaluation


def settled(s, r, control, left, beta):
    """Return (True, value) of a leaf, for ``pvs``."""
    if kind(s, r) == END:
        return True, ended(s, r, control)
    control[kernels.EVALUATED] += 1
    return True, np.int64(evaluate(s, r, uint64s(control[kernels.TABLES])))


def candidates(s, r, left, note, out, scores, at):
    """Write all moves, the dearer the order the more is left; return how many."""
    if left >= _PROMISING_LEFT:
        return promising(s, r, out, scores, at)
    return ordered_moves(s, r, out, at)


def plain_order(s, r, out, scores, at):
    return ordered_moves(s, r, out, at)


def pose(s, r, control, plies):
    """Begin with no score; return whether there is nothing to search, for ``batch``."""
    control[dr.LEFT_AT_ROOT] = min(plies, 2 * moves_left(s, r) + 1)
    control[tt.FAR_LEFT] = control[tt.FAR_LEFT_LATER]
    control[dr.LOW], control[dr.HIGH] = -kernels.INFINITY, kernels.INFINITY
    if plies == 0 or kind(s, r) == END:
        _, control[dr.LATEST] = settled(s, r, control, np.int64(0), np.int64(0))
        return True
    return False


def answer(s, r, control):
    """Return (score, move, proved) of the search so far, for ``batch``.

    Of a stopped one the depth asked for has shown a lower bound and the move that has it, or it is −INFINITY.
    """
    low, high = control[dr.WINDOW_LOW], control[dr.WINDOW_HIGH]
    if control[dr.COMPLETE]:
        score = control[dr.LATEST]
        return dr.cut(control, score), control[dr.BEST_ROOT_MOVE], low < score < high
    f = int64s(control[kernels.FRAMES])
    asked = control[kernels.TOP] >= 0 and f[kernels.LEFT] == control[dr.LEFT_AT_ROOT]
    if asked and f[kernels.BEST] > low:  # up to low it is an upper bound of the moves so far
        return f[kernels.BEST], f[kernels.BEST_MOVE], False
    return -kernels.INFINITY, any_move(control), False


_BELOW = (
    kernels.hashed,
    kernels.root_hash,
    kernels.ended,
    kernels.left_after,
    kernels.answers,
    kernels.known_cut,
    kernels.weigh,
    kernels.put_in_order,
    kernels.examine,
    kernels.descend,
    kernels.open_root,
)
_PROBCUT = probcut.thresholds, probcut.ask, probcut.take
_ABOVE = (
    kernels.look_at_path,
    kernels.least_crowded_first,
    kernels.advance,
    dr.depth_after,
    dr.deepen,
    dr.follow,
    pose,
    answer,
)


class Deep(Tabled):
    """A pausable alpha-beta search to a number of plies, by iterative deepening.

    ``far`` is as ``Tabled`` has it; repeatable: every search starts with empty tables of its own, so that boards and
    line depend on nothing else; selective: of ``probcut``, the array (float64) that it looks up, or None for a search
    of every line.
    """

    driver = dr.deepen

    def __init__(self, game, rules, evaluation, far=None, repeatable=False, part=False, selective=None):
        if evaluation.bound > _HIGHEST_BOUND:
            raise UserError(
                f"evaluation {evaluation.name} is worth up to {evaluation.bound}, more than the {_HIGHEST_BOUND} that "
                "a table holds; --ordering static searches without one"
            )
        name = f"{games.tag(game)}_{evaluation.name}_deep"
        tables = hashlib.sha256(evaluation.tables.tobytes()).hexdigest()
        tag = f"{evaluation.name} {evaluation.bound} {tables}"
        self._tables, self._probcut = evaluation.tables, selective
        functions = _bound(game, evaluation, name)
        templates = _BELOW + _ABOVE
        if selective is not None:
            name, tag = f"{name}_selective", f"{tag} {hashlib.sha256(selective.tobytes()).hexdigest()}"
            functions["SELECTIVE"], templates = True, _BELOW + _PROBCUT + _ABOVE
        super().__init__(game, rules, None if repeatable else far, name, tag, functions, templates, _LIMITS, part)
        self._control[kernels.TABLES] = address(self._tables)
        if selective is not None:
            self._control[kernels.PROBCUT] = address(selective)
        self._control[[kernels.WIN, dr.STEP, dr.FORGETFUL]] = evaluation.bound, _STEP, repeatable

    def begin(self, state, depth, low=-kernels.INFINITY, high=kernels.INFINITY):
        """Start to search ``state`` to ``depth`` plies; scores are told apart no further than from low to high."""
        self._begin(state, depth, low, high)


def _bound(game, evaluation, name):
    """Return what the templates are bound to: the game's own functions and hooks, or plain ones in their stead."""
    hooks = games.knowledge(game)
    functions = {**games.functions(game), "bounds": no_bounds, "canonical": getattr(hooks, "canonical", itself)}
    functions.update(SMALL=0, EXACT=False, evaluate=evaluation.function)
    functions["rank"] = jit.specialise(move_ordering.unranked, f"unranked_{name}", functions)
    if hasattr(hooks, "promising"):
        functions["promising"] = hooks.promising
    else:
        functions["promising"] = jit.specialise(plain_order, f"plain_order_{name}", functions)
    return jit.specialise_all((kernels.ended, settled, candidates), name, functions)
