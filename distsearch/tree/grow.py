"""Breadth-first growth of the node array, for any game."""

import numpy as np

from .. import games, jit
from ..games import lanes
from ..games.interface import END, MAX, MAX_MOVES, MIN, PASS
from .nodes import DONE, EXACT, GROWN, NONE, UNKNOWN, WAITING, NodeArray

kind = ordered_moves = play = final = None  # bound for each game


def grow(
    s, r, out, cursor, size, waiting, target, forced, pass_plies, win,
    state, parent, root, first, children, pending, kinds, depth, left, best, bound, best_child, move, status, owner,
    cost, answer,
):  # fmt: skip
    """Expand nodes in order from ``cursor`` until ``target`` wait; return (cursor, size, waiting).

    Nodes above depth ``forced`` are expanded in any case. A finished child is scored at once: its final score plus
    ``win`` in the winner's favour. Stops early where the arrays have no room for one more node's children.
    """
    width = len(s)
    words = state.reshape(-1)
    while cursor < size and (waiting < target or depth[cursor] < forced):
        if size + MAX_MOVES > len(parent):
            break
        node = cursor
        cursor += 1
        if status[node] != WAITING or (left[node] < 2 and depth[node] >= forced):
            continue
        here = lanes.load(s, words, node * width)
        n = np.int64(ordered_moves(here, r, out, 0))
        first[node], children[node], pending[node], status[node] = size, n, n, GROWN
        waiting -= 1
        above = np.int64(node)
        while above != NONE:
            cost[above] += n
            above = np.int64(parent[above])
        for i in range(n):
            m = np.int64(out[i])
            child, _ = play(here, r, m)
            lanes.store(words, size * width, child)
            parent[size], root[size], move[size], depth[size] = node, root[node], m, depth[node] + 1
            left[size] = left[node] - (1 if m != PASS else pass_plies)
            first[size], children[size], pending[size], cost[size] = 0, 0, 0, 0
            best_child[size], owner[size], answer[size] = NONE, NONE, NONE
            kinds[size] = MIN if kinds[node] == MAX else MAX
            if kind(child, r) == END:
                score = np.float64(final(child, r))
                score += win if score > 0 else -win if score < 0 else 0
                best[size] = score if kinds[size] == MAX else -score
                kinds[size], bound[size], status[size] = END, EXACT, DONE
            else:
                best[size] = -np.inf if kinds[size] == MAX else np.inf
                bound[size], status[size] = UNKNOWN, WAITING
                waiting += 1
            size += 1
    return cursor, size, waiting


class Grower:
    """Grows a NodeArray breadth-first by the rules of one game."""

    def __init__(self, game, rules):
        self._rules, self._start = rules, game.start(rules).state
        self.name = f"{games.tag(game)}_grow"
        self._kernel = jit.specialise(grow, self.name, games.functions(game))
        self._game = game
        self._out = np.zeros(MAX_MOVES, np.int16)

    def compile(self):
        """Compile, or load from disk, the kernel."""
        nodes = NodeArray(len(self._start))
        nodes.add_root(self._start, 2)
        self.grow(nodes, 0, 1, 2)

    def finished(self, state):
        """Return the final score of ``state`` for its side to move, or None if the game goes on."""
        return self._game.final(state, self._rules) if self._game.kind(state, self._rules) == END else None

    def moves_left(self, state):
        """Return the number of moves that may be left from ``state``, passes not counted."""
        return self._game.moves_left(state, self._rules)

    def grow(self, nodes, cursor, waiting, target, forced=0, pass_plies=1, win=0):
        """Grow ``nodes`` from node ``cursor`` on until ``target`` wait, or nothing is left to grow.

        Returns (cursor, waiting). ``forced``: nodes above this depth are expanded in any case; ``pass_plies``: plies
        that a pass costs; ``win``: what is added to a finished game's score in the winner's favour. Children that
        are finished are scored and backed up.
        """
        size = nodes.size
        while True:
            nodes.reserve(MAX_MOVES)
            cursor, nodes.size, waiting = self._kernel(
                self._start, self._rules, self._out, cursor, nodes.size, waiting, target, forced, pass_plies, win,
                nodes.state, nodes.parent, nodes.root, nodes.first, nodes.children, nodes.pending, nodes.kind,
                nodes.depth, nodes.left, nodes.best, nodes.bound, nodes.best_child, nodes.move, nodes.status,
                nodes.owner, nodes.cost, nodes.answer)  # fmt: skip
            if nodes.size + MAX_MOVES <= nodes.capacity:
                break
        fresh = np.arange(size, nodes.size)
        nodes.back_up(fresh[nodes.status[size : nodes.size] == DONE])
        return cursor, waiting
