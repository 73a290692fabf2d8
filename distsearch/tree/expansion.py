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
    ASKED,
    BEST_CHILD,
    CHILDREN,
    COST,
    DEPTH,
    FIRST,
    GROWN,
    HIGH,
    HINT,
    INFINITY,
    KEY,
    LEFT,
    LOW,
    MOVE,
    NONE,
    ORDER,
    OVER,
    PARENT,
    ROOT,
    SPAN,
    STATUS,
    TWIN,
    WAITING,
    NodeArray,
)

# bound for each game
bounds = solver_moves = canonical = final = key = kind = moves = ordered_moves = play = None
EXACT = True


def in_order(s, r, left, note, out, scores, at):
    return ordered_moves(s, r, out, at)


def choose(s, r, left, out, scores, every):
    """Write the moves that a node is to be grown by, the likeliest best one first; return how many."""
    if EXACT and every:
        return np.int64(ordered_moves(s, r, out, 0))
    _, _, note = bounds(s, r, left, np.int64(0))
    n = np.int64(solver_moves(s, r, left, note, out, scores, 0))
    return n if n > 0 else np.int64(moves(s, r, out, 0))


def expand(s, r, node, size, c, state, out, scores, pass_plies, win, every, before, table):
    """Give a node, which is not over, children from index ``size`` on; return how many nodes there are then.

    A finished child is worth its final score plus ``win`` in the winner's favour. before: the columns of a search that
    was less deep, whose best moves come first; table: of nodes by key, a power of two of entries, with room; if it has
    none, children have no twins, and nothing is known of their scores; every: grow all legal moves, else the engine may
    leave out those that cannot be better than others.
    """
    here = lanes.load(s, state.reshape(-1), node * len(s))
    n = choose(here, r, c[LEFT, node], out, scores, every)
    hint = c[HINT, node]
    if hint != NONE and before[BEST_CHILD, hint] != NONE:
        move_to_front(out, 0, n, before[MOVE, before[BEST_CHILD, hint]])
    size = expand_by(s, r, node, size, c, state, out, n, pass_plies, win, before, table)
    above = np.int64(node)
    while above != NONE:
        c[COST, above] += n
        above = c[PARENT, above]
    return size


def expand_by(s, r, node, size, c, state, out, n, pass_plies, win, before, table):
    """Give a node children by the n moves in ``out``, see ``expand``."""
    words, width = state.reshape(-1), len(s)
    here = lanes.load(s, words, node * width)
    hint = c[HINT, node]
    c[FIRST, node], c[CHILDREN, node], c[STATUS, node] = size, n, GROWN
    c[SPAN, node] = span = c[SPAN, node] // max(n, 1)
    for i in range(n):
        m = np.int64(out[i])
        child, _ = play(here, r, m)
        lanes.store(words, size * width, child)
        left = c[LEFT, node] - (np.int64(1) if m != PASS else pass_plies)
        c[:, size] = 0
        c[PARENT, size], c[ROOT, size], c[MOVE, size], c[DEPTH, size] = node, c[ROOT, node], m, c[DEPTH, node] + 1
        c[LEFT, size], c[BEST_CHILD, size], c[STATUS, size], c[TWIN, size] = left, NONE, WAITING, size
        c[ORDER, size], c[SPAN, size] = c[ORDER, node] + i * span, span
        c[LOW, size], c[HIGH, size], c[HINT, size] = -INFINITY, INFINITY, NONE
        if kind(child, r) == END:
            score = np.int64(final(child, r))
            score += win if score > 0 else -win if score < 0 else 0
            c[LOW, size] = c[HIGH, size] = score
            c[OVER, size] = 1
        else:
            if EXACT and len(table):
                low, high, _ = bounds(child, r, left, -max(c[ALPHA, node], -NO_BOUND))
                c[LOW, size] = low if low > -NO_BOUND else -INFINITY
                c[HIGH, size] = high if high < NO_BOUND else INFINITY
            if len(table):
                c[KEY, size] = np.int64(key(canonical(child, r), r))
                find_twin(c, table, size)
        if hint != NONE:
            for j in range(before[FIRST, hint], before[FIRST, hint] + before[CHILDREN, hint]):
                if before[MOVE, j] == m:
                    c[HINT, size] = j
        size += 1
    return size


def adopt(s, r, node, size, c, state, levels, out, pass_plies, win, before, table):
    """Give a node the tree that a worker's search had below it; return (size, node that the search goes on with).

    levels: int64, see ``engines.pvs.work_splitting``; what they tell of scores is taken over.
    """
    at, last = 0, np.int64(node)
    while at < len(levels):
        best, floor, ceiling, best_move = levels[at + 3], levels[at + 4], levels[at + 5], levels[at + 6]
        alpha, tried, n = levels[at + 1], levels[at + 7], levels[at + 9]
        for i in range(n):
            out[i] = levels[at + HEAD + i]
        first = size
        size = expand_by(s, r, last, size, c, state, out, n, pass_plies, win, before, table)
        c[ASKED, last] = -INFINITY
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
def find_twin(c, table, i):
    """Put a node into the table by its key, and into the ring of those of the same position."""
    mask = len(table) - 1
    at = (c[KEY, i] ^ (c[KEY, i] >> 29)) & mask
    while table[at] != 0:
        twin = table[at] - 1
        if c[KEY, twin] == c[KEY, i] and c[LEFT, twin] == c[LEFT, i]:
            c[TWIN, i], c[TWIN, twin] = c[TWIN, twin], i
            c[LOW, i], c[HIGH, i] = max(c[LOW, i], c[LOW, twin]), min(c[HIGH, i], c[HIGH, twin])
            return
        at = (at + 1) & mask
    table[at] = i + 1


@jit.compiled
def index_again(c, table, size):
    """Fill an empty table with the nodes that have a key, one of each position."""
    mask = len(table) - 1
    for i in range(size):
        if c[KEY, i] != 0:
            at = (c[KEY, i] ^ (c[KEY, i] >> 29)) & mask
            while table[at] != 0 and not (c[KEY, table[at] - 1] == c[KEY, i] and c[LEFT, table[at] - 1] == c[LEFT, i]):
                at = (at + 1) & mask
            if table[at] == 0:
                table[at] = i + 1


def grow(s, r, cursor, size, waiting, target, forced, c, state, out, scores, pass_plies, win):
    """Expand nodes in order from ``cursor`` until ``target`` wait; return (cursor, size, waiting).

    Nodes above depth ``forced`` are expanded in any case. Stops early where the arrays have no room for one more node's
    children.
    """
    table = c[0, :0]
    while cursor < size and (waiting < target or c[DEPTH, cursor] < forced):
        if size + MAX_MOVES > c.shape[1]:
            break
        node = cursor
        cursor += 1
        if c[STATUS, node] != WAITING or c[OVER, node] or (c[LEFT, node] < 2 and c[DEPTH, node] >= forced):
            continue
        first = size
        every = c[DEPTH, node] < forced
        size = expand(s, r, node, size, c, state, out, scores, pass_plies, win, every, c, table)
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
        # what the solver asks next; None where the engine takes whole windows
        self._next_beta = functions.get("next_beta") if functions["EXACT"] else None
        kernels = jit.specialise_all((choose, expand_by, expand, adopt, grow), self.name, functions)
        self._kernels = kernels
        self._room = np.zeros(2 * MAX_MOVES, np.int16), np.zeros(2 * MAX_MOVES, np.int64)
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
        """Whether the engine closes in on a score by null windows."""
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
        """Return the score to ask for next where it is known to be in low..high; ``latest``: what was learnt last."""
        if low >= high:
            return low
        return min(max(int(self._next_beta(state, self._rules, low, high, latest)), low + 1), high)

    def expand(self, nodes, node, pass_plies, win, before, table, every):
        """Give a node children, see the kernel; ``every``: one for each legal move. There must be room for them."""
        nodes.size = self._kernels["expand"](
            self._start,
            self._rules,
            node,
            nodes.size,
            nodes.columns,
            nodes.state,
            *self._room,
            pass_plies,
            win,
            every,
            before.columns,
            table,
        )

    def adopt(self, nodes, node, levels, pass_plies, win, before, table):
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
            self._room[0],
            pass_plies,
            win,
            before.columns,
            table,
        )
        return last

    def grow(self, nodes, cursor, waiting, target, forced=0, pass_plies=1, win=0):
        """Grow ``nodes`` from node ``cursor`` on until ``target`` wait, or nothing is left to grow.

        Returns (cursor, waiting). ``forced``: nodes above this depth are expanded in any case, by all of their moves;
        ``pass_plies``: plies that a pass costs; ``win``: what is added to a finished game's score in the winner's
        favour.
        """
        while True:
            nodes.reserve(MAX_MOVES)
            cursor, nodes.size, waiting = self._kernels["grow"](
                self._start,
                self._rules,
                cursor,
                nodes.size,
                waiting,
                target,
                forced,
                nodes.columns,
                nodes.state,
                *self._room,
                pass_plies,
                win,
            )
            if nodes.size + MAX_MOVES <= nodes.capacity:
                return cursor, waiting


def _plain(game):
    functions = {**games.functions(game), "bounds": no_bounds, "canonical": itself, "EXACT": False}
    functions["solver_moves"] = jit.specialise(in_order, f"{games.tag(game)}_in_order", functions)
    return functions
