"""The tree of a game against chance, as a source of work: grown breadth-first, its values backed up by kind.

This is not the node array of alpha-beta (``tree.nodes``): a node has no interval of integers that a window narrows, but
one float64 once all of its children have theirs, the maximum over moves or the mean over chance. Children are added up
in the order in which one engine alone adds them, so that any pool gives the same value to the last bit.
"""

from typing import Any

import numpy as np

from ..engines.expectimax import CERTAIN, times
from ..games.interface import CHANCE, END, MAX_MOVES, as_state
from .chance import EXPECTIMAX_RESULT, expectimax_job
from .numbered import NumberedJobs

_MIN_DEPTH_LEFT = 4  # plies of a subtree that is worth growing
_NONE = -1


class ExpectimaxPool(NumberedJobs):
    """Subtrees of one state to so many plies.

    Args:
        game, rules, state, depth: what is searched, to so many plies.
        wanted_subtrees: to which the tree is grown.
        points, min_probability, uniform_chance: as in ``engines.expectimax.Expectimax``.
        all_moves: every move of the root is a subtree of its own, or several.
        by_host: a host has one subtree at a time, which its ranks search together; otherwise ranks join another's
            subtree only when none is left for them.
    """

    result_dtype = EXPECTIMAX_RESULT
    joint = True  # idle ranks join the jobs of their host
    resolved = False  # a deeper search may find another value

    def __init__(
        self,
        game: Any,
        rules: np.ndarray,
        state: tuple[int, ...],
        depth: int,
        wanted_subtrees: int,
        points: bool = False,
        min_probability: float = 0.0,
        uniform_chance: bool = False,
        all_moves: bool = False,
        by_host: bool = False,
    ):
        super().__init__(expectimax_job(game.words(rules)))
        self.by_host = by_host
        self._game, self._rules = game, rules
        self._points, self._uniform_chance = points, uniform_chance
        self._min_path_probability = int(times(CERTAIN, min_probability)) if min_probability else 0
        self._out, self._chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
        # A node is an index into columns. ``move`` led to it, ``edge`` is that move's points or its probability,
        # ``value`` is nan until it is known, ``missing`` counts children without a value.
        self.states, self.parent, self.depth_left, self.path_probability, self.by_chance = [], [], [], [], []
        self.move, self.edge, self.value, self.missing, self.children = [], [], [], [], []
        self.finished = 0
        self._best = {}  # node → best move, of those that were jobs
        self._add(state, _NONE, depth, int(CERTAIN), _NONE, 0.0)
        self._queue.extend(self._grown(wanted_subtrees, all_moves))
        self.subtrees = len(self._queue)

    def _add(self, state, parent, depth_left, path_probability, move, edge):
        for column, value in (
            (self.states, state),
            (self.parent, parent),
            (self.depth_left, depth_left),
            (self.path_probability, path_probability),
            (self.by_chance, int(self._game.kind(state, self._rules)) == CHANCE),
            (self.move, move),
            (self.edge, edge),
            (self.value, np.nan),
            (self.missing, 0),
            (self.children, []),
        ):
            column.append(value)
        return len(self.parent) - 1

    def _grown(self, wanted_subtrees, all_moves):
        """Grow the tree; return the nodes to search, in order."""
        waiting, at = [0], 0
        while at < len(waiting) and (len(waiting) < wanted_subtrees or all_moves and waiting[at] == 0):
            node = waiting[at]
            if self._can_grow(node, all_moves and node == 0):
                waiting[at : at + 1] = []
                waiting += self._grow(node)
            else:
                at += 1
        return waiting

    def _can_grow(self, node, always):
        cut = self.by_chance[node] and self.path_probability[node] < self._min_path_probability
        over = int(self._game.kind(self.states[node], self._rules)) == END
        return not (cut or over) and self.depth_left[node] >= (1 if always else _MIN_DEPTH_LEFT)

    def _grow(self, node):
        """Make the children of a node; return them."""
        state, r = self.states[node], self._rules
        if self.by_chance[node]:
            n = self._game.outcomes(state, r, self._out, self._chances, 0)
        else:
            n = self._game.moves(state, r, self._out, 0)
        for i in range(n):
            child, gain = self._game.play(state, r, np.int64(self._out[i]))
            probability, edge = self.path_probability[node], float(gain) if self._points else 0.0
            if self.by_chance[node]:
                chance = float(self._chances[i])
                probability = int(times(probability, chance)) if self._min_path_probability else probability
                edge = 1.0 / n if self._uniform_chance else chance
            self.children[node].append(
                self._add(as_state(child), node, self.depth_left[node] - 1, probability, int(self._out[i]), edge)
            )
        self.missing[node] = n
        self.boards += n
        return self.children[node]

    @property
    def done(self) -> bool:
        """Whether the root's value is known."""
        return not np.isnan(self.value[0])

    @property
    def root_value(self) -> float:
        """The root's value, nan if it is not known."""
        return self.value[0]

    @property
    def tree_nodes(self) -> int:
        """Nodes that the master has."""
        return len(self.parent)

    def _fill(self, job, node):
        job["depth"], job["state"] = self.depth_left[node], self.states[node]
        job["path_probability"] = self.path_probability[node]

    def finish(self, results: np.ndarray) -> None:
        """Take an array of result records in; one that was stopped leaves its node without a value."""
        for node, result in self._back(results):
            self._best[node] = int(result["move"])
            if result["complete"]:
                self.finished += 1
                self._known(node, float(result["value"]))
        self._add_up(results)

    def _known(self, node, value):
        """Set a node's value, and back it up."""
        self.value[node] = value
        while (node := self.parent[node]) != _NONE:
            self.missing[node] -= 1
            if self.missing[node]:
                return
            self.value[node] = self._backed_up(node)

    def _backed_up(self, node):
        if self.by_chance[node]:
            total = 0.0
            for child in self.children[node]:
                total += self.value[child] * self.edge[child]
            return total
        return max(self.value[child] + self.edge[child] for child in self.children[node])

    def best(self) -> int | None:
        """Return the best move at the root as a code, None if there is none or it is not known."""
        if self.by_chance[0]:
            return None
        if not self.children[0]:
            return None if self._best.get(0, _NONE) == _NONE else self._best[0]
        known = self.moves()
        return max(known, key=lambda move: known[move]) if known else None

    def moves(self) -> dict[int, float]:
        """Return {code: value} of the root's moves whose value is known."""
        return {
            self.move[child]: self.value[child] + self.edge[child]
            for child in self.children[0]
            if not np.isnan(self.value[child])
        }
