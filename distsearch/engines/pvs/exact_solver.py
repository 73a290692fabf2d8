"""The exact solver for one game and board: begin a search, run it in slices, read its result."""

import numpy as np

from ... import games
from ...core import jit
from ...core.jit import compiled
from ...core.pointers import address, int16s, uint64s
from ...games.interface import END
from . import drivers as dr
from . import kernels, move_ordering
from . import table as tt
from .batch import any_move
from .table_search import Tabled, itself, no_bounds

# By these scores: of first moves that reach -1500 one in ten cuts, of those that reach 0 more than half, from 1300 on
# nearly all. The other numbers are how that changes, see ``pvs.least_score_to_join``: of those tried best for 15 ranks
# on FFO #40, #42, #43, #46 and #47.
_LIKELY_CUT, _LIKELY_CUT_CHANGES = -1500, (600, 2700, 1300, 15)
_ORDER_LEFT = 16  # of less the order takes a rank some hundred boards, as long as it takes to share it
_GUESSED = np.uint64(0xD1B54A32D192ED03)  # xor a root's hash: where the table has its first guess
_AS_MOVE = np.int64(1 << 13)  # more than any score: a guess plus this is kept where moves are
_PLAIN = {"table": 3, "far": 8, "cut": 5, "bottom": 6}  # for games that know no better, see ``games.interface``


@compiled
def latest_value(s, r, low, high, latest):
    return latest


@compiled
def nothing_small(s, r, left, beta):
    return False, np.int64(0), np.int64(0)


bounds = final = guess = hashed = kind = moves = moves_left = ordered_moves = small = None  # bound for each game


def plain_candidates(s, r, left, note, out, scores, at):
    return ordered_moves(s, r, out, at)


def settled(s, r, control, left, beta):
    """Return (known, score): the game's small endings, for ``pvs``."""
    known, score, boards = small(s, r, left, beta)
    control[kernels.BOARDS] += boards
    return known, score


def shared_guess(s, control, left):
    """Return ``guess``; where there is a learnt order, ranks in the same search find it in the table.

    It stands in an entry's move, whose bounds say nothing: one taken for another position's would only change an order.
    """
    if not control[dr.PART] or control[tt.FAR_BUCKETS] == 0 or control[kernels.RANK_LEFT] == tt.NEVER:
        return guess(s, control, left)
    h = hashed(s, uint64s(control[kernels.RULES]), control) ^ _GUESSED
    data = tt.look_far(control, h)
    if data == 0:
        score = guess(s, control, left)
        tt.keep(
            control, h, tt.packed(control, np.int64(tt.LOWEST), np.int64(tt.HIGHEST), score + _AS_MOVE, left, 0), left
        )
        return score
    return tt.move_of(data) - _AS_MOVE


def pose(s, r, control, plies):
    """Begin with what the game knows of the score; return whether the game is over, for ``batch``."""
    left = moves_left(s, r)
    control[dr.LEFT_AT_ROOT] = left
    control[tt.FAR_LEFT] = control[tt.FAR_LEFT_LATER] if control[dr.PART] else tt.NEVER
    if kind(s, r) == END:
        control[dr.LOW] = control[dr.HIGH] = final(s, r)
        return True
    control[dr.LOW], control[dr.HIGH], _ = bounds(s, r, left, np.int64(0))
    control[dr.LATEST] = shared_guess(s, control, left)
    return False


def answer(s, r, control):
    """Return (score, move, proved) of the search so far, for ``batch``: of a stopped one the lower bound found.

    A finished game has its score whatever the window.
    """
    if kind(s, r) == END:
        return control[dr.LOW], kernels.NO_MOVE, False
    low, high = control[dr.WINDOW_LOW], control[dr.WINDOW_HIGH]
    move = any_move(control)
    if not control[dr.COMPLETE]:
        return control[dr.LOW], move, False
    out = int16s(control[kernels.MOVES])
    if move == kernels.NO_MOVE and moves(s, r, out, 0) > 0:
        move = np.int64(out[0])  # the game's bounds alone told
    score = control[dr.HIGH] if control[dr.HIGH] <= low else control[dr.LOW]
    return dr.cut(control, score), move, low < score < high


_TEMPLATES = (
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
    kernels.look_at_path,
    kernels.least_crowded_first,
    kernels.advance,
    dr.take_in_shared,
    dr.solve,
    dr.follow,
    shared_guess,
    pose,
    answer,
)


class Solver(Tabled):
    """A pausable exact search. ``far`` and ``tag`` are as ``Tabled`` has them.

    hooks: what the game knows, its knowledge module if None; ``VARIANT`` is the name of any other. order: a learnt
    Evaluation that orders moves, None for none.
    """

    driver = dr.solve

    def __init__(self, game, rules, far=None, tag="", hooks=None, part=False, order=None):
        hooks = hooks or games.knowledge(game)
        name = f"{games.tag(game)}_exact{getattr(hooks, 'VARIANT', '')}"
        if order is not None:
            name += f"_by_{order.name}"
        functions = _bound(game, hooks, name, order)
        super().__init__(game, rules, far, name, tag, functions, _TEMPLATES, getattr(hooks, "SOLVER", _PLAIN), part)
        if order is not None:
            self._tables = order.tables
            self._control[kernels.TABLES] = address(self._tables)
            self._control[[kernels.RANK_LEFT, kernels.RANK_STEP, kernels.RANK_WEIGHT]] = order.ordering
            self._control[kernels.RANK_END] = move_ordering.NEVER
            self._control[[kernels.LIKELY_CUT, kernels.UNIT]], self._order_left = (_LIKELY_CUT, order.unit), _ORDER_LEFT
            self._control[[kernels.SCORE_PER_PLY, kernels.LATER_SCORE, kernels.MOST_SCORE, kernels.ONE_RANK_LEFT]] = (
                _LIKELY_CUT_CHANGES
            )

    def begin(self, state, low=-kernels.INFINITY, high=kernels.INFINITY):
        """Start to solve ``state``; scores are told apart no further than from ``low`` to ``high``.

        With an order, its first guess is searched here and counts: ``learnt.MOST_GUESSED`` boards and some at most.
        """
        self._begin(state, 0, low, high)


def _bound(game, hooks, name, order):
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
    if order is None:
        for hook, stand_in in (("rank", move_ordering.unranked), ("guess", move_ordering.no_guess)):
            functions[hook] = jit.specialise(stand_in, f"{hook}_{name}", functions)
        return functions
    if functions["canonical"] is not itself:
        raise ValueError("ranks share orders of moves by hashes, so symmetric positions must not have the same one")
    functions.update(evaluate=order.function, UNIT=np.int64(order.unit))
    return jit.specialise_all((move_ordering.glimpse, move_ordering.rank, move_ordering.guess), name, functions)
