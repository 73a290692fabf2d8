"""Growth of the node array, for any game: a node's children, and whole trees breadth-first."""

import numpy as np

from .. import games
from ..core import jit
from ..engines.pvs.kernels import INFINITY as NO_BOUND
from ..engines.pvs.kernels import move_to_front
from ..engines.pvs.table_search import itself, no_bounds
from ..engines.pvs.work_splitting import HEAD
from ..games import lanes
from ..games.interface import END, MAX_MOVES, PASS
from .nodes import (
    ALPHA,
    BEST_CHILD,
    CHILD_COUNT,
    CHILDREN_START,
    COST,
    DEPTH,
    DEPTH_LEFT,
    GROWN,
    HIGH,
    INFINITY,
    KEY,
    LOW,
    MOVE,
    NONE,
    NULL_WINDOW_BETA,
    ORDER,
    OVER,
    PARENT,
    PREVIOUS_ITERATION_NODE,
    ROOT,
    SPAN,
    STATUS,
    TRANSPOSITION,
    WAITING,
    NodeArray,
)

# bound for each game
bounds = solver_moves = canonical = final = key = kind = moves = ordered_moves = play = None
EXACT = True


def in_order(s, r, depth_left, note, out, scores, at):
    return ordered_moves(s, r, out, at)


@jit.outlined
def choose(s, r, depth_left, out, scores, all_moves):
    """Write the moves by which a node is grown, the likeliest best one first; return how many."""
    if EXACT and all_moves:
        return np.int64(ordered_moves(s, r, out, 0))
    _, _, note = bounds(s, r, depth_left, np.int64(0))
    n = np.int64(solver_moves(s, r, depth_left, note, out, scores, 0))
    return n if n > 0 else np.int64(moves(s, r, out, 0))


@jit.outlined
def expand(s, r, node, size, c, state, out, scores, pass_plies, win_bonus, all_moves, previous, table):
    """Give a node, which is not over, children from index ``size`` on; return how many nodes there are then.

    A finished child is worth its final score plus ``win_bonus`` in the winner's favour. all_moves: grow all moves, else
    the engine may leave out those that cannot be better than others; previous: the columns of the previous, less
    deep search, whose best moves come first; table: of nodes by key, a power of two of entries, with room. If it has
    none, children have no transpositions, and nothing is known of their scores.
    """
    here = lanes.load(s, state.reshape(-1), node * len(s))
    n = choose(here, r, c[DEPTH_LEFT, node], out, scores, all_moves)
    counterpart = c[PREVIOUS_ITERATION_NODE, node]
    if counterpart != NONE and previous[BEST_CHILD, counterpart] != NONE:
        move_to_front(out, 0, n, previous[MOVE, previous[BEST_CHILD, counterpart]])
    size = expand_by(s, r, node, size, c, state, out, n, pass_plies, win_bonus, previous, table)
    above = np.int64(node)
    while above != NONE:
        c[COST, above] += n
        above = c[PARENT, above]
    return size


@jit.outlined
def expand_by(s, r, node, size, c, state, out, n, pass_plies, win_bonus, previous, table):
    """Give a node children by the n moves in ``out``, see ``expand``."""
    words, width = state.reshape(-1), len(s)
    here = lanes.load(s, words, node * width)
    counterpart = c[PREVIOUS_ITERATION_NODE, node]
    c[CHILDREN_START, node], c[CHILD_COUNT, node], c[STATUS, node] = size, n, GROWN
    c[SPAN, node] = span = c[SPAN, node] // max(n, 1)
    for i in range(n):
        m = np.int64(out[i])
        child, _ = play(here, r, m)
        lanes.store(words, size * width, child)
        depth_left = c[DEPTH_LEFT, node] - (np.int64(1) if m != PASS else pass_plies)
        c[:, size] = 0
        c[PARENT, size], c[ROOT, size], c[MOVE, size], c[DEPTH, size] = node, c[ROOT, node], m, c[DEPTH, node] + 1
        c[DEPTH_LEFT, size], c[BEST_CHILD, size] = depth_left, NONE
        c[STATUS, size], c[TRANSPOSITION, size] = WAITING, size
        c[ORDER, size], c[SPAN, size] = c[ORDER, node] + i * span, span
        c[LOW, size], c[HIGH, size], c[PREVIOUS_ITERATION_NODE, size] = -INFINITY, INFINITY, NONE
        if kind(child, r) == END:
            score = np.int64(final(child, r))
            score += win_bonus if score > 0 else -win_bonus if score < 0 else 0
            c[LOW, size] = c[HIGH, size] = score
            c[OVER, size] = 1
        else:
            if EXACT and len(table):
                low, high, _ = bounds(child, r, depth_left, -max(c[ALPHA, node], -NO_BOUND))
                c[LOW, size] = low if low > -NO_BOUND else -INFINITY
                c[HIGH, size] = high if high < NO_BOUND else INFINITY
            if len(table):
                c[KEY, size] = np.int64(key(canonical(child, r), r))
                link_transposition(c, table, size)
        if counterpart != NONE:
            start = previous[CHILDREN_START, counterpart]
            for j in range(start, start + previous[CHILD_COUNT, counterpart]):
                if previous[MOVE, j] == m:
                    c[PREVIOUS_ITERATION_NODE, size] = j
        size += 1
    return size


def adopt(s, r, node, size, c, state, levels, out, pass_plies, win_bonus, previous, table):
    """Give a node the tree that a worker's search had below it; return (size, node that the search goes on with).

    levels: int64, with bounds of scores, see ``engines.pvs.work_splitting``.
    """
    at, last = 0, np.int64(node)
    while at < len(levels):
        best, floor, ceiling, best_move = levels[at + 3], levels[at + 4], levels[at + 5], levels[at + 6]
        alpha, tried, n = levels[at + 1], levels[at + 7], levels[at + 9]
        for i in range(n):
            out[i] = levels[at + HEAD + i]
        first = size
        size = expand_by(s, r, last, size, c, state, out, n, pass_plies, win_bonus, previous, table)
        c[NULL_WINDOW_BETA, last] = -INFINITY
        floor = floor if floor > -NO_BOUND else -INFINITY
        known = best > max(alpha, -NO_BOUND)
        low = max(floor, best) if known else floor
        c[LOW, last] = max(c[LOW, last], low)
        if ceiling < NO_BOUND:
            c[HIGH, last] = min(c[HIGH, last], ceiling)
        for i in range(first, first + n):
            if i < first + tried and best > -NO_BOUND:
                c[LOW, i] = max(c[LOW, i], -best)  # no better than the best
            if known and c[MOVE, i] == best_move:
                c[HIGH, i] = min(c[HIGH, i], -best)
        last = np.int64(first + tried)
        at += HEAD + n
    return size, last


@jit.compiled
def link_transposition(c, table, i):
    """Put a node into the table by its key, and link it with nodes of the same position."""
    mask = len(table) - 1
    at = (c[KEY, i] ^ (c[KEY, i] >> 29)) & mask
    while table[at] != 0:
        other = table[at] - 1
        if c[KEY, other] == c[KEY, i] and c[DEPTH_LEFT, other] == c[DEPTH_LEFT, i]:
            c[TRANSPOSITION, i], c[TRANSPOSITION, other] = c[TRANSPOSITION, other], i
            c[LOW, i], c[HIGH, i] = max(c[LOW, i], c[LOW, other]), min(c[HIGH, i], c[HIGH, other])
            return
        at = (at + 1) & mask
    table[at] = i + 1


@jit.compiled
def index_again(c, table, size):
    """Fill an empty table with the nodes that have a key, one for each position."""
    mask = len(table) - 1
    for i in range(size):
        if c[KEY, i] != 0:
            at = (c[KEY, i] ^ (c[KEY, i] >> 29)) & mask
            while table[at] != 0 and not (
                c[KEY, table[at] - 1] == c[KEY, i] and c[DEPTH_LEFT, table[at] - 1] == c[DEPTH_LEFT, i]
            ):
                at = (at + 1) & mask
            if table[at] == 0:
                table[at] = i + 1


def grow(s, r, cursor, size, waiting, wanted_subtrees, full_width_depth, c, state, out, scores, pass_plies, win_bonus):
    """Expand nodes in order from ``cursor`` until ``wanted_subtrees`` wait; return (cursor, size, waiting).

    Nodes above depth ``full_width_depth`` are expanded in any case. Stops early where the arrays have no room for one
    more node's children.
    """
    table = c[0, :0]
    while cursor < size and (waiting < wanted_subtrees or c[DEPTH, cursor] < full_width_depth):
        if size + MAX_MOVES > c.shape[1]:
            break
        node = cursor
        cursor += 1
        all_moves = c[DEPTH, node] < full_width_depth
        if c[STATUS, node] != WAITING or c[OVER, node] or (c[DEPTH_LEFT, node] < 2 and not all_moves):
            continue
        first = size
        size = expand(s, r, node, size, c, state, out, scores, pass_plies, win_bonus, all_moves, c, table)
        waiting -= 1
        for i in range(first, size):
            c[ORDER, i] = i  # level by level
            waiting += not c[OVER, i]
    return cursor, size, waiting


class Grower:
    """Grows node arrays by the rules of one game."""

    def __init__(self, game, rules, engine=None):
        """``engine``: of the searches below, which orders moves and knows bounds; None: the game's own order."""
        self._game, self._rules, self._start = game, rules, game.start(rules).state
        self.name = f"{games.tag(game)}_grow" if engine is None else f"{engine.name}_grow"
        functions = _plain(game) if engine is None else dict(engine.functions)
        # the solver's next null window; None where the engine takes full windows
        self._next_beta = functions.get("next_beta") if functions["EXACT"] else None
        kernels = jit.specialise_all((choose, expand_by, expand, adopt, grow), self.name, functions)
        self._kernels = kernels
        self._buffers = np.zeros(2 * MAX_MOVES, np.int16), np.zeros(2 * MAX_MOVES, np.int64)
        self._no_table = np.zeros(0, np.int64)

    def compile(self):
        """Compile, or load from disk, the kernels."""
        nodes = NodeArray(len(self._start), 2 * MAX_MOVES)
        nodes.add_root(self._start, 2)
        self.grow(nodes, 0, 1, 2)
        self.expand(nodes, nodes.size - 1, 1, 0, nodes, self._no_table, False)
        self.adopt(nodes, nodes.size - 1, np.zeros(0, np.int64), 1, 0, nodes, self._no_table)
        if self.steps:
            self.ask_next(self._start, -1, 1, 0)

    @property
    def steps(self):
        """Whether the engine finds a score by a sequence of null windows."""
        return self._next_beta is not None

    def finished(self, state):
        """Return the final score of ``state`` for its side to move, or None if the game goes on."""
        return self._game.final(state, self._rules) if self._game.kind(state, self._rules) == END else None

    def moves_left(self, state):
        """Return the number of moves that may be left from ``state``, passes not counted."""
        return self._game.moves_left(state, self._rules)

    def known(self, state):
        """Return bounds on the score of a state, as the engine's ``bounds`` has them for a root."""
        low, high, _ = self._kernels["bounds"](state, self._rules, self.moves_left(state), 0)
        return int(low), int(high)

    def ask_next(self, state, low, high, latest):
        """Return beta of the next null window for a score in low..high; ``latest``: the bound that was found last."""
        if low >= high:
            return low
        return min(max(int(self._next_beta(state, self._rules, low, high, latest)), low + 1), high)

    def expand(self, nodes, node, pass_plies, win_bonus, previous, table, all_moves):
        """Give a node children, see the kernel. There must be room for them."""
        nodes.size = self._kernels["expand"](
            self._start,
            self._rules,
            node,
            nodes.size,
            nodes.columns,
            nodes.state,
            *self._buffers,
            pass_plies,
            win_bonus,
            all_moves,
            previous.columns,
            table,
        )

    def adopt(self, nodes, node, levels, pass_plies, win_bonus, previous, table):
        """Give a node the tree that a worker's search had below it; return the node that the search goes on with.

        There must be room for as many nodes as ``levels`` has numbers.
        """
        nodes.size, last = self._kernels["adopt"](
            self._start,
            self._rules,
            node,
            nodes.size,
            nodes.columns,
            nodes.state,
            levels,
            self._buffers[0],
            pass_plies,
            win_bonus,
            previous.columns,
            table,
        )
        return last

    def grow(self, nodes, cursor, waiting, wanted_subtrees, full_width_depth=0, pass_plies=1, win_bonus=0):
        """Grow ``nodes`` from node ``cursor`` on until ``wanted_subtrees`` wait, or nothing is left to grow.

        Returns (cursor, waiting). full_width_depth: nodes above this depth are expanded in any case, by all of their
        moves; pass_plies: plies that a pass costs; win_bonus: added to a finished game's score in the winner's favour.
        """
        while True:
            nodes.reserve(MAX_MOVES)
            cursor, nodes.size, waiting = self._kernels["grow"](
                self._start,
                self._rules,
                cursor,
                nodes.size,
                waiting,
                wanted_subtrees,
                full_width_depth,
                nodes.columns,
                nodes.state,
                *self._buffers,
                pass_plies,
                win_bonus,
            )
            if nodes.size + MAX_MOVES <= nodes.capacity:
                return cursor, waiting


def _plain(game):
    functions = {**games.functions(game), "bounds": no_bounds, "canonical": itself, "EXACT": False}
    functions["solver_moves"] = jit.specialise(in_order, f"{games.tag(game)}_in_order", functions)
    return functions
