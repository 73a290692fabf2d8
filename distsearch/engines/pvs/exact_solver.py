"""The exact solver for one game and board: begin a search, run it in slices, read its result."""

import numpy as np

from ... import games
from ...core import jit
from ...core.jit import compiled, outlined
from ...core.pages import lazy_zeros
from ...core.pointers import address, int16s, set_fields, uint64s
from ...games.interface import END
from . import drivers as dr
from . import kernels, move_ordering
from . import table as tt
from .table_search import TableSearch, itself, no_bounds

# By these scores: of first moves that reach -1500 one in ten cuts, of those that reach 0 more than half, from 1300 on
# nearly all. The other numbers are how that changes, see ``kernels.least_score_to_join``: of those tried best for 15
# ranks on FFO #40, #42, #43, #46 and #47.
_JOINING = {"likely_cut": -1500, "score_per_ply": 600, "later_score": 2700, "max_score": 1300, "one_rank_depth": 15}
_SHARE_ORDER_FROM = 16  # below, the order takes a rank some hundred nodes, as long as it takes to share it
_GUESSED = np.uint64(0xD1B54A32D192ED03)  # xor a root's hash: where the table has its first guess
_AS_MOVE = np.int64(1 << 13)  # more than any score: a guess plus this stands where moves do
# Nodes after which ``subtree`` gives up; frames then take a negligible part of the time. With 300 to 3,000 there are as
# many nodes, with 100,000 there are more of them.
_SUBTREE_NODES = 1000
_PLAIN = {"table": 3, "shared": 8, "cut": 5, "bottom": 6}  # for games that know no better, see ``games.interface``


@compiled
def latest_value(s, r, low, high, latest):
    return latest


@compiled
def nothing_small(s, r, depth_left, beta):
    return False, np.int64(0), np.int64(0)


# bound for each game
bounds = final = first_guess = hashed = kind = moves = moves_left = ordered_moves = small = subtree = None


def plain_solver_moves(s, r, depth_left, note, out, scores, at):
    return ordered_moves(s, r, out, at)


def resolved(s, r, c, depth_left, beta):
    """Return (known, score): the game's small endings, for ``kernels``."""
    known, score, nodes = small(s, r, depth_left, beta)
    c.nodes += nodes
    return known, score


def attempted(s, r, c, depth_left, beta, most_nodes):
    """Return (known, score) by the game's own search of subtrees of so many nodes, for ``kernels``."""
    known, score, nodes = subtree(s, r, depth_left, beta, most_nodes, c.salt, c.subtree_memory)
    c.nodes += max(nodes - 1, np.int64(0))  # the search above it has counted it
    return known, score


@outlined
def shared_first_guess(s, c, depth_left):
    """Return ``first_guess``; where there is a learnt order, ranks in the same search find it in the table.

    It stands in an entry's move, whose bounds say nothing: one taken for another position's would only change an order.
    """
    if not c.part or c.table.buckets == 0 or c.order_from == tt.NEVER:
        return first_guess(s, c, depth_left)
    h = hashed(s, uint64s(c.rules), c) ^ _GUESSED
    data = tt.probe_shared(c.table, h)
    if data == 0:
        score = first_guess(s, c, depth_left)
        low, high = np.int64(tt.LOWEST), np.int64(tt.HIGHEST)
        tt.store(c.table, h, tt.packed(c.table, low, high, score + _AS_MOVE, depth_left, 0), depth_left)
        return score
    return tt.move_of(data) - _AS_MOVE


def init_search(s, r, c, depth):
    """Begin with what the game knows of the score; return whether the game is over, for ``drivers``."""
    depth_left = moves_left(s, r)
    c.root_depth = depth_left
    c.table.shared_from = c.table.shared_from_later if c.part else tt.NEVER
    if kind(s, r) == END:
        c.low = c.high = final(s, r)
        return True
    c.low, c.high, _ = bounds(s, r, depth_left, np.int64(0))
    c.latest = shared_first_guess(s, c, depth_left)
    return False


def search_result(s, r, c):
    """Return (score, move, proved) of the search so far, for ``drivers``: of a stopped one the lower bound found.

    A finished game has its score whatever the window.
    """
    if kind(s, r) == END:
        return c.low, kernels.NO_MOVE, False
    low, high = c.window_low, c.window_high
    move = dr.any_move(c)
    if not c.complete:
        return c.low, move, False
    out = int16s(c.moves)
    if move == kernels.NO_MOVE and moves(s, r, out, 0) > 0:
        move = np.int64(out[0])  # the game's bounds alone gave the score
    score = c.high if c.high <= low else c.low
    return dr.clamp_to_window(c, score), move, low < score < high


_TEMPLATES = (
    *kernels.TEMPLATES,
    *kernels.PAUSABLE,
    dr.import_root_bounds,
    dr.mtd_solve,
    dr.write_moves,
    dr.follow_pv,
    shared_first_guess,
    init_search,
    search_result,
)


class ExactSolver(TableSearch):
    """A pausable exact search. ``table`` and ``tag`` are as ``TableSearch`` has them.

    hooks: what the game knows, its knowledge module if None; ``VARIANT`` is the name of any other. order: a learnt
    Evaluation that orders moves, None for none.
    """

    driver = dr.mtd_solve

    def __init__(self, game, rules, table=None, tag="", hooks=None, part=False, order=None):
        hooks = hooks or games.knowledge(game)
        name = f"{games.tag(game)}_exact{getattr(hooks, 'VARIANT', '')}"
        if order is not None:
            name += f"_by_{order.name}"
        functions = _bound(game, hooks, name, order)
        super().__init__(game, rules, table, name, tag, functions, _TEMPLATES, getattr(hooks, "SOLVER", _PLAIN), part)
        self._memory = lazy_zeros(getattr(hooks, "SUBTREE_WORDS", 0))
        set_fields(self._control, subtree_memory=address(self._memory), subtree_nodes=_SUBTREE_NODES)
        if order is not None:
            self._tables = order.tables
            self._control["tables"] = address(self._tables)
            order_from, order_step, order_weight = order.ordering
            set_fields(self._control, order_from=order_from, order_step=order_step, order_weight=order_weight)
            set_fields(self._control, quick_search_end=move_ordering.NEVER, unit=order.unit, **_JOINING)
            self._share_order_from = _SHARE_ORDER_FROM

    def forget(self):
        """Clear the tables that belong only to this engine, so that a search does not depend on those before it."""
        super().forget()
        self._memory[:] = 0

    def begin(self, state, low=-kernels.INFINITY, high=kernels.INFINITY):
        """Start to solve ``state``; scores are told apart no further than from ``low`` to ``high``.

        With an order, its first guess is searched here and counts: ``move_ordering.MAX_GUESS_NODES`` nodes and a few
        more at most.
        """
        self._begin(state, 0, low, high)


def _bound(game, hooks, name, order):
    """Return what the templates are bound to: the game's own functions and hooks, or plain ones in their stead."""
    functions = games.functions(game)
    plain = {"bounds": no_bounds, "next_beta": latest_value, "canonical": itself, "small": nothing_small}
    for hook, stand_in in plain.items():
        functions[hook] = getattr(hooks, hook, stand_in)
    functions.update(SMALL=getattr(hooks, "SMALL", -1), EXACT=True)
    functions["resolved"] = jit.specialise(resolved, f"resolved_{name}", functions)
    if hasattr(hooks, "solver_moves"):
        functions["solver_moves"] = hooks.solver_moves
    else:
        functions["solver_moves"] = jit.specialise(plain_solver_moves, f"solver_moves_{name}", functions)
    functions["SUBTREES"] = hasattr(hooks, "subtree")
    if functions["SUBTREES"]:
        functions["subtree"] = hooks.subtree
        functions["attempted"] = jit.specialise(attempted, f"attempted_{name}", functions)
    if order is None:
        for hook, stand_in in (("order_moves", move_ordering.unordered), ("first_guess", move_ordering.no_guess)):
            functions[hook] = jit.specialise(stand_in, f"{hook}_{name}", functions)
        return functions
    if functions["canonical"] is not itself:
        raise ValueError("ranks share orders of moves by hashes, so symmetric positions must not have the same one")
    functions.update(evaluate=order.function, UNIT=np.int64(order.unit))
    ordering = move_ordering.quick_search, move_ordering.order_moves, move_ordering.first_guess
    return jit.specialise_all(ordering, name, functions)
