"""The tree of a game in which an adversary places what chance draws, as a source of work.

A node has an interval of float64 that closes as those of its children do: by the maximum at the player's nodes, by the
minimum at the adversary's, by the mean at those of chance. The bounds of its siblings give a child's window, through
chance too: there it is what the mean leaves of the parent's window when the siblings are as good, or as bad, as they
can be.

``pool`` hands out every subtree with the full window, whatever has become known. With ``siblings_wait`` (policy
``brothers``: Young Brothers Wait) a node's first child is finished before its siblings are handed out, each with the
window as it is then; subtrees that do not matter any more are not handed out. The draws of chance do not wait: an
adversary's first reply to each of them bounds the others (see ``engines.expectiminimax``), so all of them begin at
once. With par-depth 6 in a depth of 13, that took 0.8 times the nodes and 0.7 times the seconds.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import UserError
from ..engines.expectiminimax import ANY, LOWER, SLACK, TINY, UPPER
from ..games.interface import CHANCE, END, State, as_state
from .chance import EXPECTIMINIMAX_RESULT, expectiminimax_job
from .numbered import SUMMED, GrownTree

_MOST_NODES = 200_000  # 5 s of growing
_NONE = -1
_PLAYER, _CHANCE, _ADVERSARY = range(3)
_ALL = -math.inf, math.inf


class ExpectiminimaxPool(GrownTree):
    """Subtrees of one state to so many plies. Raises UserError if par_depth makes too large a tree.

    Args:
        setup: of the runners. The pool needs game, board and options (see ``rules_of``), ``adversary_chooses_all``
            (all that chance would do) and ``prune`` (whether jobs are searched by alpha-beta).
        state, depth: what is searched, to so many plies.
        wanted_subtrees: to which the tree is grown, breadth-first.
        par_depth: plies to which it is grown instead, or None.
        siblings_wait: for the first child of their node.
        all_moves: every move of the root is searched as if it were the only one.
        evaluate: (state) -> float, by which children are put in order, best first, or None.
    """

    result_dtype = EXPECTIMINIMAX_RESULT

    def __init__(
        self,
        setup: dict[str, Any],
        state: State,
        depth: int,
        wanted_subtrees: int,
        all_moves: bool = False,
        par_depth: int | None = None,
        siblings_wait: bool = False,
        evaluate: Callable[[State], float] | None = None,
    ):
        super().__init__(setup, expectiminimax_job)
        self._evaluate, self._siblings_wait = evaluate, siblings_wait
        self._adversary_chooses_all, self._prune = setup["adversary_chooses_all"], setup["prune"]
        self.jobs_used = self._wasted = 0
        self._best = _NONE  # move that the root's own job found
        # ``draw`` is chance's, or ANY; ``move`` led to a node; ``weight`` is the probability of a draw; ``low`` and
        # ``high`` bound its value; nothing more is needed of one that is ``closed``.
        self.kind, self.draw, self.weight, self.low, self.high, self.closed = [], [], [], [], [], []
        self._add(state, _NONE, depth, ANY, _NONE, 1.0)
        self._all_moves = all_moves and self.kind[0] == _PLAYER
        if par_depth is None:
            self.subtrees = len(self._grown(wanted_subtrees, self._all_moves))
        else:
            self.subtrees = self._grown_to(depth - par_depth)
        self._release(0)

    def _add(self, state, parent, depth_left, draw, move, weight):
        by_chance = int(self._game.kind(state, self._rules)) == CHANCE
        kind = _PLAYER if not by_chance else _ADVERSARY if self._adversary_chooses_all or draw != ANY else _CHANCE
        node = {"states": state, "parent": parent, "depth_left": depth_left, "kind": kind, "draw": draw, "move": move}
        return self._append(**node, weight=weight, low=-math.inf, high=math.inf, closed=False)

    def _grown_to(self, depth_left):
        """Grow every node that has more plies left; return the number of subtrees."""
        subtrees, waiting = 0, deque([0])
        while waiting:
            node = waiting.popleft()
            if self._can_grow(node, depth_left + 1):
                waiting += self._grow(node)
                if len(self.parent) > _MOST_NODES:
                    raise UserError(f"par-depth makes a tree of more than {_MOST_NODES} nodes here: take a smaller one")
            else:
                subtrees += 1
        return subtrees

    def _can_grow(self, node, min_depth_left):
        over = int(self._game.kind(self.states[node], self._rules)) == END
        return not over and self.depth_left[node] >= max(min_depth_left, 2 if self.kind[node] == _CHANCE else 1)

    def _grow(self, node):
        state, depth_left = self.states[node], self.depth_left[node] - 1
        if self.kind[node] == _CHANCE:
            draws = {}
            for m, chance in self._outcomes(state):
                draw = int(self._game.draw(np.int64(m), self._rules))
                draws[draw] = draws.get(draw, 0.0) + chance
            only = len(draws) == 1
            made = [
                self._add(state, node, depth_left, draw, _NONE, 1.0 if only else max(chance, TINY))
                for draw, chance in draws.items()
            ]
        else:
            made = [
                self._add(as_state(self._game.play(state, self._rules, np.int64(m))[0]), node, depth_left, ANY, m, 0.0)
                for m in self._moves(node)
            ]
            self.nodes += len(made)
            if evaluate := self._evaluate:
                sign = -1 if self.kind[node] == _PLAYER else 1
                made.sort(key=lambda child: sign * evaluate(self.states[child]))
        self.children[node] = made
        return made

    def _outcomes(self, state):
        n = self._game.outcomes(state, self._rules, self._out, self._chances, 0)
        return list(zip(self._out[:n].tolist(), self._chances[:n].tolist(), strict=True))

    def _moves(self, node):
        """Return the codes of the choices at a node, of the player or the adversary."""
        if self.kind[node] == _PLAYER:
            return self._out[: self._game.moves(self.states[node], self._rules, self._out, 0)].tolist()
        codes, draw = [m for m, _ in self._outcomes(self.states[node])], self.draw[node]
        return [m for m in codes if draw in (ANY, int(self._game.draw(np.int64(m), self._rules)))]

    @property
    def done(self) -> bool:
        """Whether nothing more is needed."""
        return self.closed[0]

    @property
    def jobs_wasted(self) -> int:
        """Jobs that were handed out, and whose values came too late to matter, or have not come."""
        return self._wasted + (len(self._holders) if self.done else 0)

    @property
    def jobs_cut(self) -> int:
        """Subtrees that were not handed out, known once the tree is done."""
        return self.subtrees - self.jobs if self.done else 0

    @property
    def tree_nodes(self) -> int:
        """Nodes that the master has."""
        return len(self.parent)

    def _known_of(self, node):
        return self.low[node], self.high[node], self.closed[node]

    @property
    def root_value(self) -> float:
        """The root's value, nan until it is known."""
        if not self.done:
            return math.nan
        return self.high[0] if self.kind[0] == _ADVERSARY else self.low[0]

    def best(self) -> int | None:
        """Return the best move at the root as a code, None if there is none or it is not known."""
        if self.kind[0] != _PLAYER:
            return None
        if not self.children[0]:
            return None if self._best == _NONE else self._best
        best = max(self.children[0], key=lambda child: self.low[child])
        return self.move[best] if self.low[best] > -math.inf else None

    def moves(self) -> dict[int, float]:
        """Return {code: value} of the root's moves whose value is known."""
        if self.kind[0] != _PLAYER:
            return {}
        return {self.move[child]: self.low[child] for child in self.children[0] if self.low[child] == self.high[child]}

    def take(self, count: int, worker: int) -> np.ndarray:
        """See ``NumberedJobs.take``; subtrees that do not matter any more are skipped."""
        chosen = {}
        while self._queue and len(chosen) < count:
            node, window = self._queue.popleft(), _ALL
            if self._siblings_wait:
                path = self._path(node)
                windows = self._windows(path)
                if not self._matters(path, windows):
                    self._close(node)
                    continue
                window = windows[-1]
            chosen[node] = window
        jobs = self._handed(list(chosen), worker)
        for job, window in zip(jobs, chosen.values(), strict=True):
            job["alpha"], job["beta"] = window
        return jobs

    def _fill(self, job, node):
        job["depth"], job["draw"], job["state"] = self.depth_left[node], self.draw[node], self.states[node]

    def finish(self, results: np.ndarray) -> None:
        """Take an array of result records in; one that was stopped leaves its node as it was."""
        for node, result in self._back(results):
            if not result["complete"]:
                self._wasted += self.done
                continue
            self.finished += 1
            path = self._path(node)
            matters = not self._prune or self._matters(path, self._windows(path))
            self.jobs_used += matters
            self._wasted += not matters
            if node == 0:
                self._best = int(result["move"])
            if result["bound"] != UPPER:
                self.low[node] = float(result["value"])
            if result["bound"] != LOWER:
                self.high[node] = float(result["value"])
            self._close(node)
        self._add_up(results, SUMMED)  # there is no table

    def _release(self, node):
        """Queue a node's subtree, or the subtrees that it was grown into."""
        children = self.children[node]
        if not children:
            self._queue.append(node)
        for child in children[:1] if self._waits(node) else children:
            self._release(child)

    def _waits(self, node):
        """Whether the children of a node wait for the first one."""
        return self._siblings_wait and self.kind[node] != _CHANCE and not (self._all_moves and node == 0)

    def _path(self, node):
        """Return the nodes from the root down to a node."""
        path = [node]
        while (node := self.parent[node]) != _NONE:
            path.append(node)
        return path[::-1]

    def _windows(self, path):
        """Return the windows, (alpha, beta), in which the nodes of a path from the root matter."""
        windows = [_ALL]
        for node, child in zip(path, path[1:], strict=False):
            windows.append(self._narrowed(node, child, *windows[-1]))
        return windows

    def _narrowed(self, node, child, alpha, beta):
        """Return what a node's window is for one of its children."""
        others = [other for other in self.children[node] if other != child]
        if self._all_moves and node == 0:
            return alpha, beta
        if self.kind[node] == _PLAYER:
            return max([alpha, *(self.low[other] for other in others)]), beta
        if self.kind[node] == _ADVERSARY:
            return alpha, min([beta, *(self.high[other] for other in others)])
        if not others:
            return alpha, beta
        most, least = ([self.weight[other] * column[other] for other in others] for column in (self.high, self.low))
        weight, below, above = self.weight[child], SLACK * _size(alpha, *most), SLACK * _size(beta, *least)
        return (alpha - sum(most) - below) / weight, (beta - sum(least) + above) / weight

    def _matters(self, path, windows):
        """Whether the last node of a path can still change the root's value."""
        return not any(self._is_resolved(node, *window) for node, window in zip(path, windows, strict=True))

    def _is_resolved(self, node, alpha, beta):
        """Whether a node in a window is finished, or its bounds say all that matters."""
        known = max(self.low[node], alpha) >= min(self.high[node], beta)
        return self.closed[node] or known and not (self._all_moves and node == 0)

    def _close(self, node):
        """Close a node, and those above it that this answers."""
        path = self._path(node)
        windows = self._windows(path)
        closing = self.closed[node] = True
        for below, above, window in zip(path[:0:-1], path[-2::-1], windows[-2::-1], strict=True):
            self._tighten(above)
            children = self.children[above]
            if closing and self._waits(above) and below == children[0]:
                for sibling in children[1:]:
                    self._release(sibling)
            all_closed = all(self.closed[child] for child in children)
            closed_early = self._siblings_wait and self._is_resolved(above, *window)
            closing = not self.closed[above] and (all_closed or closed_early)
            self.closed[above] |= closing

    def _tighten(self, node):
        """Bounds of a node are those of its children."""
        children, kind = self.children[node], self.kind[node]
        for column in (self.low, self.high):
            if kind == _CHANCE:
                column[node] = 0.0
                for child in children:  # one by one, as the engine does: ``sum`` rounds otherwise from Python 3.12 on
                    column[node] += self.weight[child] * column[child]
            else:
                column[node] = (max if kind == _PLAYER else min)(column[child] for child in children)


def _size(*terms):
    return sum(map(abs, terms))
