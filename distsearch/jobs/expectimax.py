"""The tree of a game against chance, as a source of work: grown breadth-first, its values backed up by kind.

This is not the node array of alpha-beta (``tree.nodes``): a node has no interval of integers that a window narrows, but
one float64 once all of its children have theirs, the maximum over moves or the mean over chance. Children are added up
in the order in which one engine alone adds them, so that any pool gives the same value to the last bit.
"""

import numpy as np

from ..cluster.protocols import TABLE_COUNTS
from ..engines.expectimax import CERTAIN, times
from ..games.interface import CHANCE, END, State, as_state
from .chance import EXPECTIMAX_RESULT, expectimax_job
from .numbered import SUMMED, GrownTree

_NONE = -1


class ExpectimaxPool(GrownTree):
    """Subtrees of one state to so many plies.

    Args:
        setup: of the runners. The pool needs game, board and options (see ``rules_of``), ``points`` (those of moves
            count), ``min_probability`` (of a path; 0: any) and ``uniform_chance`` (all outcomes are as likely).
        state, depth: what is searched, to so many plies.
        wanted_subtrees: to which the tree is grown.
        all_moves: every move of the root is a subtree of its own, or several.
        by_host: a host has one subtree at a time, which its ranks search together; otherwise ranks join another's
            subtree only when none is left for them.
    """

    result_dtype = EXPECTIMAX_RESULT
    joint = True  # idle ranks join the jobs of their host

    def __init__(
        self,
        setup: dict,
        state: State,
        depth: int,
        wanted_subtrees: int,
        all_moves: bool = False,
        by_host: bool = False,
    ):
        super().__init__(setup, expectimax_job)
        self.by_host = by_host
        self._points, self._uniform_chance = setup["points"], setup["uniform_chance"]
        least = setup["min_probability"]
        self._min_path_probability = int(times(CERTAIN, least)) if least else 0
        # ``move`` led to a node, ``edge`` is that move's points or its probability, ``value`` is nan until it is known,
        # ``missing`` counts children without a value.
        self.path_probability, self.by_chance, self.edge, self.value, self.missing = [], [], [], [], []
        self._best = {}  # node → best move, of those that were jobs
        self._add(state, _NONE, depth, int(CERTAIN), _NONE, 0.0)
        self._queue.extend(self._grown(wanted_subtrees, all_moves))
        self.subtrees = len(self._queue)

    def _add(self, state, parent, depth_left, path_probability, move, edge):
        by_chance = int(self._game.kind(state, self._rules)) == CHANCE
        node = {"states": state, "parent": parent, "depth_left": depth_left, "move": move, "edge": edge}
        return self._append(**node, path_probability=path_probability, by_chance=by_chance, value=np.nan, missing=0)

    def _can_grow(self, node, min_depth_left):
        improbable = self.by_chance[node] and self.path_probability[node] < self._min_path_probability
        over = int(self._game.kind(self.states[node], self._rules)) == END
        return not (improbable or over) and self.depth_left[node] >= min_depth_left

    def _grow(self, node):
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
        self.nodes += n
        return self.children[node]

    @property
    def done(self) -> bool:
        """Whether the root's value is known."""
        return not np.isnan(self.value[0])

    def _known_of(self, node):
        value = self.value[node]
        return value, value, not np.isnan(value)

    @property
    def root_value(self) -> float:
        """The root's value, nan if it is not known."""
        return self.value[0]

    def _fill(self, job, node):
        job["depth"], job["state"] = self.depth_left[node], self.states[node]
        job["path_probability"] = self.path_probability[node]

    def finish(self, results: np.ndarray) -> None:
        """Take an array of result records in; the job of one that was given up waits again."""
        for node, result in self._back(results):
            self._best[node] = int(result["move"])
            if result["complete"]:
                self.finished += 1
                self._known(node, float(result["value"]))
            else:
                self._undone(node)
        self._add_up(results, (*SUMMED, *TABLE_COUNTS))

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
