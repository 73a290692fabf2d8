"""Growth of the node array, for any game: a node's children, and whole trees breadth-first."""

from typing import Any

# pyright: reportOptionalCall=false, reportCallIssue=false
import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import int64s
from ..engines.pvs.kernels import INFINITY as NO_BOUND
from ..engines.pvs.kernels import move_to_front
from ..engines.pvs.table_search import itself, no_bounds
from ..engines.pvs.work_splitting import HEAD
from ..games import lanes
from ..games.interface import END, MAX_MOVES, PASS, Game
from .layout import GROWN, INFINITY, NODE_WORDS, NONE, WAITING, node_at
from .nodes import NodeArray

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
def expand(s, r, node, size, nodes, state, out, scores, pass_plies, win_bonus, all_moves, previous, table):
    """Give a node, which is not over, children from index ``size`` on; return how many nodes there are then.

    A finished child is worth its final score plus ``win_bonus`` in the winner's favour. nodes: address of the node
    array; all_moves: grow all moves, else the engine may leave out those that cannot be better than others; previous:
    address of the node array of the previous, less deep search, whose best moves come first; table: of nodes by key, a
    power of two of entries, with room. If it has none, children have no transpositions, and nothing is known of their
    scores.
    """
    here, parent = lanes.load(s, state.reshape(-1), node * len(s)), node_at(nodes, node)
    n = choose(here, r, parent.depth_left, out, scores, all_moves)
    if parent.previous_iteration_node != NONE:
        best = node_at(previous, parent.previous_iteration_node).best_child
        if best != NONE:
            move_to_front(out, 0, n, node_at(previous, best).move)
    size = expand_by(s, r, node, size, nodes, state, out, n, pass_plies, win_bonus, previous, table)
    above = np.int64(node)
    while above != NONE:
        node_at(nodes, above).cost += n
        above = node_at(nodes, above).parent
    return size


@jit.outlined
def expand_by(s, r, node, size, nodes, state, out, n, pass_plies, win_bonus, previous, table):
    """Give a node children by the n moves in ``out``, see ``expand``."""
    words, width = state.reshape(-1), len(s)
    here, parent = lanes.load(s, words, node * width), node_at(nodes, node)
    counterpart = parent.previous_iteration_node
    parent.children_start, parent.child_count, parent.status = size, n, GROWN
    parent.span = parent.span // max(n, 1)
    for i in range(n):
        m = np.int64(out[i])
        position, _ = play(here, r, m)
        lanes.store(words, size * width, position)
        depth_left = parent.depth_left - (np.int64(1) if m != PASS else pass_plies)
        for word in range(NODE_WORDS):
            int64s(nodes)[size * NODE_WORDS + word] = 0
        child = node_at(nodes, size)
        child.parent, child.root, child.move, child.depth = node, parent.root, m, parent.depth + 1
        child.depth_left, child.best_child, child.transposition = depth_left, NONE, size
        child.order, child.span = parent.order + i * parent.span, parent.span
        child.low, child.high, child.previous_iteration_node = -INFINITY, INFINITY, NONE
        if kind(position, r) == END:
            score = np.int64(final(position, r))
            score += win_bonus if score > 0 else -win_bonus if score < 0 else 0
            child.low = child.high = score
            child.over = 1
        else:
            if EXACT and len(table):
                low, high, _ = bounds(position, r, depth_left, -max(parent.alpha, -NO_BOUND))
                child.low = low if low > -NO_BOUND else -INFINITY
                child.high = high if high < NO_BOUND else INFINITY
            if len(table):
                child.key = np.int64(key(canonical(position, r), r))
                link_transposition(nodes, table, size)
        if counterpart != NONE:
            start = node_at(previous, counterpart).children_start
            for j in range(start, start + node_at(previous, counterpart).child_count):
                if node_at(previous, j).move == m:
                    child.previous_iteration_node = j
        size += 1
    return size


def adopt(s, r, node, size, nodes, state, levels, out, pass_plies, win_bonus, previous, table):
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
        size = expand_by(s, r, last, size, nodes, state, out, n, pass_plies, win_bonus, previous, table)
        parent = node_at(nodes, last)
        parent.null_window_beta = -INFINITY
        floor = floor if floor > -NO_BOUND else -INFINITY
        known = best > max(alpha, -NO_BOUND)
        low = max(floor, best) if known else floor
        parent.low = max(parent.low, low)
        if ceiling < NO_BOUND:
            parent.high = min(parent.high, ceiling)
        for i in range(first, first + n):
            child = node_at(nodes, i)
            if i < first + tried and best > -NO_BOUND:
                child.low = max(child.low, -best)  # no better than the best
            if known and child.move == best_move:
                child.high = min(child.high, -best)
        last = np.int64(first + tried)
        at += HEAD + n
    return size, last


@jit.compiled
def _place_of(key, mask):
    return (key ^ (key >> 29)) & mask


@jit.compiled
def _is_same(nodes, i, j):
    one, other = node_at(nodes, i), node_at(nodes, j)
    return one.key == other.key and one.depth_left == other.depth_left


@jit.compiled
def link_transposition(nodes, table, i):
    """Put a node into the table by its key, and link it with nodes of the same position."""
    mask, n = len(table) - 1, node_at(nodes, i)
    at = _place_of(n.key, mask)
    while table[at] != 0:
        if _is_same(nodes, table[at] - 1, i):
            other = node_at(nodes, table[at] - 1)
            n.transposition, other.transposition = other.transposition, i
            n.low, n.high = max(n.low, other.low), min(n.high, other.high)
            return
        at = (at + 1) & mask
    table[at] = i + 1


@jit.compiled
def index_again(nodes, table, size):
    """Fill an empty table with the nodes that have a key, one for each position."""
    mask = len(table) - 1
    for i in range(size):
        n = node_at(nodes, i)
        if n.key != 0:
            at = _place_of(n.key, mask)
            while table[at] != 0 and not _is_same(nodes, table[at] - 1, i):
                at = (at + 1) & mask
            if table[at] == 0:
                table[at] = i + 1


def grow(
    s,
    r,
    cursor,
    size,
    capacity,
    waiting,
    wanted_subtrees,
    full_width_depth,
    nodes,
    state,
    out,
    scores,
    pass_plies,
    win_bonus,
):
    """Expand nodes in order from ``cursor`` until ``wanted_subtrees`` wait; return (cursor, size, waiting).

    Nodes above depth ``full_width_depth`` are expanded in any case. Stops early where the arrays, of ``capacity``
    nodes, have no room for one more node's children.
    """
    table = int64s(nodes)[:0]
    while cursor < size and (waiting < wanted_subtrees or node_at(nodes, cursor).depth < full_width_depth):
        if size + MAX_MOVES > capacity:
            break
        node = cursor
        cursor += 1
        n = node_at(nodes, node)
        all_moves = n.depth < full_width_depth
        if n.status != WAITING or n.over or (n.depth_left < 2 and not all_moves):
            continue
        first = size
        size = expand(s, r, node, size, nodes, state, out, scores, pass_plies, win_bonus, all_moves, nodes, table)
        waiting -= 1
        for i in range(first, size):
            child = node_at(nodes, i)
            child.order = i  # level by level
            waiting += not child.over
    return cursor, size, waiting


Scoring = tuple[int, int]  # plies that a pass costs, and what a win adds


class Grower:
    """Grows node arrays by the rules of one game.

    ``functions``: compiled ones of game and engine by name; ``rules``; ``start``: a state, which tells the width.
    """

    def __init__(self, game: Game, rules: np.ndarray, engine: Any | None = None):
        """``engine``: of the searches below, which orders moves and knows bounds; None: the game's own order."""
        self._game, self.rules, self.start = game, rules, game.start(rules).state
        self.ended_stays = bool(game.ENDED_STAYS)  # perft counts a finished game at every deeper depth too
        self.name = f"{games.tag(game)}_grow" if engine is None else f"{engine.name}_grow"
        self.functions = functions = _plain(game) if engine is None else dict(engine.functions)
        # the solver's next null window; None where the engine takes full windows
        self._next_beta = functions.get("next_beta") if functions["EXACT"] else None
        kernels = jit.specialise_all((choose, expand_by, expand, adopt, grow), self.name, functions)
        self._kernels = kernels
        self._buffers = np.zeros(2 * MAX_MOVES, np.int16), np.zeros(2 * MAX_MOVES, np.int64)
        self._no_table = np.zeros(0, np.int64)

    def compile(self) -> None:
        """Compile, or load from disk, the kernels."""
        nodes = NodeArray(len(self.start), 2 * MAX_MOVES)
        nodes.add_root(self.start, 2)
        # before ``grow``, which calls it: what Python calls later would be compiled once more
        self.expand(nodes, 0, (1, 0), nodes, self._no_table, False)
        self.grow(nodes, 1, 0, 0)
        self.adopt(nodes, nodes.size - 1, np.zeros(0, np.int64), (1, 0), nodes, self._no_table)
        if self.steps:
            self.ask_next(self.start, -1, 1, 0)

    @property
    def steps(self) -> bool:
        """Whether the engine finds a score by a sequence of null windows."""
        return self._next_beta is not None

    def finished(self, state: tuple[int, ...]) -> int | None:
        """Return the final score of ``state`` for its side to move, or None if the game goes on."""
        return self._game.final(state, self.rules) if self._game.kind(state, self.rules) == END else None

    def moves_left(self, state: tuple[int, ...]) -> int:
        """Return the number of moves that may be left from ``state``, passes not counted."""
        return self._game.moves_left(state, self.rules)

    def known(self, state: tuple[int, ...]) -> tuple[int, int]:
        """Return bounds on the score of a state, as the engine's ``bounds`` has them for a root."""
        low, high, _ = self._kernels["bounds"](state, self.rules, self.moves_left(state), 0)
        return int(low), int(high)

    def ask_next(self, state: tuple[int, ...], low: int, high: int, latest: int) -> int:
        """Return beta of the next null window for a score in low..high; ``latest``: the bound that was found last."""
        if low >= high:
            return low
        return min(max(int(self._next_beta(state, self.rules, low, high, latest)), low + 1), high)

    def expand(
        self, nodes: NodeArray, node: int, scoring: Scoring, previous: NodeArray, table: np.ndarray, all_moves: bool
    ) -> None:
        """Give a node children, see the kernel. There must be room for them."""
        where = self.start, self.rules, node, nodes.size, nodes.address, nodes.state
        nodes.size = self._kernels["expand"](*where, *self._buffers, *scoring, all_moves, previous.address, table)

    def adopt(
        self, nodes: NodeArray, node: int, levels: np.ndarray, scoring: Scoring, previous: NodeArray, table: np.ndarray
    ) -> int:
        """Give a node the tree that a worker's search had below it; return the node that the search goes on with.

        There must be room for as many nodes as ``levels`` has numbers.
        """
        where = self.start, self.rules, node, nodes.size, nodes.address, nodes.state
        out, _ = self._buffers
        nodes.size, last = self._kernels["adopt"](*where, levels, out, *scoring, previous.address, table)
        return last

    def grow(
        self,
        nodes: NodeArray,
        cursor: int,
        waiting: int,
        wanted_subtrees: int,
        full_width_depth: int = 0,
        pass_plies: int = 1,
        win_bonus: int = 0,
    ) -> tuple[int, int]:
        """Grow ``nodes`` from node ``cursor`` on until ``wanted_subtrees`` wait, or nothing is left to grow.

        Returns (cursor, waiting). full_width_depth: nodes above this depth are expanded in any case, by all of their
        moves; pass_plies: plies that a pass costs; win_bonus: added to a finished game's score in the winner's favour.
        """
        while True:
            nodes.reserve(MAX_MOVES)
            where = self.start, self.rules, cursor, nodes.size, nodes.capacity
            until = waiting, wanted_subtrees, full_width_depth
            cursor, nodes.size, waiting = self._kernels["grow"](
                *where, *until, nodes.address, nodes.state, *self._buffers, pass_plies, win_bonus
            )
            if nodes.size + MAX_MOVES <= nodes.capacity:
                return cursor, waiting


def _plain(game):
    functions = {**games.functions(game), "bounds": no_bounds, "canonical": itself, "EXACT": False}
    functions["solver_moves"] = jit.specialise(in_order, f"{games.tag(game)}_in_order", functions)
    return functions
