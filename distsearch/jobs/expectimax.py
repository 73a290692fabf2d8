"""The tree of a game against chance, as a source of work: grown breadth-first, its values backed up by kind.

Apart from the array of alpha-beta (``nodes``), since what is known of a node is not an interval of whole numbers that a
window narrows, but one float64 once all of its children have theirs: the largest of what moves bring, or the mean of
what chance does. Children are added up in the order in which one engine alone adds them, so that any pool gives the
same value to the last bit.
"""

import numpy as np

from ..engines.expectimax import CERTAIN, times
from ..games.interface import CHANCE, END, MAX_MOVES, as_state
from .chance import EXPECTIMAX_RESULT, expectimax_job
from .numbered import NumberedJobs

_LEAST_LEFT = 4  # plies of a subtree that is worth growing
_NONE = -1


class ChancePool(NumberedJobs):
    """Subtrees of one state to so many plies.

    target: subtrees that the tree is grown to; points, least, alike: as ``expectimax.Expectimax`` has them;
    all_moves: every move of the root is a subtree of its own, or several; by_host: a host has one subtree at a time,
    which its ranks search together; otherwise they join another one's only when none is left for them. A node is its
    number in columns: ``parent``, ``left`` (plies), ``likely``, ``by_chance``, ``move`` (that led to it), ``edge``
    (points of that move, or its probability), ``value`` (nan until it is known), ``missing`` (children whose value is
    not).
    """

    result_dtype = EXPECTIMAX_RESULT
    joint = True  # idle ranks join the jobs of their host
    settled = False  # a deeper search may find another value

    def __init__(
        self, game, rules, state, depth, target, points=False, least=0.0, alike=False, all_moves=False, by_host=False
    ):
        super().__init__(expectimax_job(game.words(rules)))
        self.by_host = by_host
        self._game, self._rules = game, rules
        self._points, self._alike = points, alike
        self._least = int(times(CERTAIN, least)) if least else 0
        self._out, self._chances = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
        self.states, self.parent, self.left, self.likely, self.by_chance = [], [], [], [], []
        self.move, self.edge, self.value, self.missing, self.children = [], [], [], [], []
        self.boards = self.hits = self.far_hits = self.stores = self.replacements = self.evaluated = self.finished = 0
        self.cpu = 0.0
        self._best = {}  # node → best move, of those that were jobs
        self._add(state, _NONE, depth, int(CERTAIN), _NONE, 0.0)
        self._queue.extend(self._grown(target, all_moves))
        self.subtrees = len(self._queue)

    def _add(self, state, parent, left, likely, move, edge):
        for column, value in (
            (self.states, state),
            (self.parent, parent),
            (self.left, left),
            (self.likely, likely),
            (self.by_chance, int(self._game.kind(state, self._rules)) == CHANCE),
            (self.move, move),
            (self.edge, edge),
            (self.value, np.nan),
            (self.missing, 0),
            (self.children, []),
        ):
            column.append(value)
        return len(self.parent) - 1

    def _grown(self, target, all_moves):
        """Grow the tree; return the nodes that are to be searched, in order."""
        waiting, at = [0], 0
        while at < len(waiting) and (len(waiting) < target or all_moves and waiting[at] == 0):
            node = waiting[at]
            if self._can_grow(node, all_moves and node == 0):
                waiting[at : at + 1] = []
                waiting += self._grow(node)
            else:
                at += 1
        return waiting

    def _can_grow(self, node, forced):
        cut = self.by_chance[node] and self.likely[node] < self._least
        over = int(self._game.kind(self.states[node], self._rules)) == END
        return not (cut or over) and self.left[node] >= (1 if forced else _LEAST_LEFT)

    def _grow(self, node):
        """Make the children of a node; return them."""
        state, r = self.states[node], self._rules
        if self.by_chance[node]:
            n = self._game.outcomes(state, r, self._out, self._chances, 0)
        else:
            n = self._game.moves(state, r, self._out, 0)
        for i in range(n):
            child, gain = self._game.play(state, r, np.int64(self._out[i]))
            likely, edge = self.likely[node], float(gain) if self._points else 0.0
            if self.by_chance[node]:
                chance = float(self._chances[i])
                likely = int(times(likely, chance)) if self._least else likely
                edge = 1.0 / n if self._alike else chance
            self.children[node].append(
                self._add(as_state(child), node, self.left[node] - 1, likely, int(self._out[i]), edge)
            )
        self.missing[node] = n
        self.boards += n
        return self.children[node]

    @property
    def done(self):
        """Whether the root's value is known."""
        return not np.isnan(self.value[0])

    @property
    def root_value(self):
        """The root's value, nan if it is not known."""
        return self.value[0]

    @property
    def tree_nodes(self):
        """Nodes that the master has."""
        return len(self.parent)

    def _fill(self, job, node):
        job["depth"], job["likely"], job["state"] = self.left[node], self.likely[node], self.states[node]

    def finish(self, results):
        """Take an array of result records in; one that was stopped leaves its node without a value."""
        for node, result in self._back(results):
            self._best[node] = int(result["move"])
            if result["complete"]:
                self.finished += 1
                self._known(node, float(result["value"]))
        self._add_up(
            results,
            boards="boards",
            hits="table_hits",
            far_hits="table_far_hits",
            stores="table_stores",
            replacements="table_replacements",
            evaluated="evaluated",
            cpu="cpu",
        )

    def _known(self, node, value):
        """A node has its value, and so perhaps has its parent."""
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

    def best(self):
        """Return the best move at the root as a code, None if there is none or it is not known."""
        if self.by_chance[0]:
            return None
        if not self.children[0]:
            return None if self._best.get(0, _NONE) == _NONE else self._best[0]
        known = self.moves()
        return max(known, key=known.get) if known else None

    def moves(self):
        """Return {code: value} of the root's moves whose value is known."""
        return {
            self.move[child]: self.value[child] + self.edge[child]
            for child in self.children[0]
            if not np.isnan(self.value[child])
        }
