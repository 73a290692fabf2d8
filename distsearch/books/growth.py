"""The growth of a book, best first: the leaves that are likeliest to be reached by good play are expanded next.

It is drop-out expansion (Lincke 2000, "Strategies for the automatic construction of opening books"). Scores are those
of searches by an evaluation, and in those a win counts its score and the evaluation's bound.
"""

from typing import Any

import numpy as np

from ..evaluation import Evaluation
from ..games.interface import Game
from .book import NONE, best_of, over_scores, places
from .expansion import Children, Expansion

_POINT_IN_PLIES = 2  # the cost of a move that is worse by a point of the game's score than the best one
_PART, _LEAST = 8, 32  # a round adds a part of the book, one of so many, and at least so many positions
_AT_ONCE = 1 << 14  # leaves that are looked at in one step
_FAR = np.iinfo(np.int64).max // 2
MOST_DEPTH = np.iinfo(np.uint8).max


class Growth:
    """A book that grows: a graph of positions, of which some are expanded, so that all their children are in it.

    What is below an expanded position gives it its score and move; a leaf has those of its search. Which positions are
    there depends on the searched scores alone.

    chosen: by which the scores were found, ``evaluation``. ``game``: its module; ``states``, ``keys``: of the
    positions, in the order in which they came.
    """

    def __init__(self, game: Game, expansion: Expansion, chosen: Evaluation):
        self.game, self._expansion, self.evaluation = game, expansion, chosen
        self.states = np.empty((0, expansion.words), np.uint64)
        self.keys = np.empty(0, np.uint64)
        self._searched = np.empty((0, 3), np.int64)  # score, move and depth of each position's search
        self._expanded = np.empty(0, np.int64)  # positions by the number of their expansion
        self._below = expansion.children(self.states)  # of these; ``parents`` are numbers of expansions
        self._child = np.empty(0, np.int64)  # the position that each of them is, NONE where the game is over

    @property
    def size(self) -> int:
        """How many positions there are."""
        return len(self.keys)

    @property
    def whole(self) -> bool:
        """Whether every position is expanded: no more can come."""
        return 0 < self.size == len(self._expanded)

    @property
    def plies(self) -> int:
        """The most plies that any position is away from the first one, the shortest way."""
        return int(self._least(np.ones(len(self._child), np.int64)).max())

    @property
    def leaves(self) -> np.ndarray:
        """The positions that are not expanded."""
        return np.setdiff1d(np.arange(self.size), self._expanded)

    def add_round(self, most: int) -> int:
        """Expand the leaves of the least priority; return how many positions came, which must be told by ``tell``.

        most: positions that are wanted in all, which are exceeded by less than the moves of one.
        """
        if not self.size:
            return self._enter(self._expansion.start)
        leaves = self.leaves
        wanted = min(max(_LEAST, self.size // _PART), most - self.size)
        first = np.argsort(self._priorities()[leaves], kind="stable")[:wanted]
        below = self._expansion.children(self.states[leaves[first]])
        index = np.flatnonzero(~below.over & (self._find(below.keys) == NONE))
        index = np.sort(index[np.unique(below.keys[index], return_index=True)[1]])
        parents = len(first)
        if len(index) >= wanted:  # no more parents than are needed
            parents = below.parents[index[wanted - 1]] + 1
            index = index[: np.searchsorted(below.parents[index], parents)]
        came = self._enter(below.states[index])
        self._expand(leaves[first[:parents]], _first_of(below, np.searchsorted(below.parents, parents)))
        return came

    def tell(self, searched: np.ndarray) -> None:
        """Take in what searches have found of the positions that came last, in order: (score, move, depth) each."""
        self._searched = np.concatenate([self._searched, searched])

    def close(self) -> None:
        """Expand the leaves whose children are all there, so that what is expanded can be seen from the positions."""
        leaves = self.leaves
        for at in range(0, len(leaves), _AT_ONCE):
            part = leaves[at : at + _AT_ONCE]
            below = self._expansion.children(self.states[part])
            whole = np.flatnonzero(all_known(below, self._find(below.keys)))
            self._expand(part[whole], self._expansion.children(self.states[part[whole]]))

    def entries(self) -> dict[str, np.ndarray]:
        """Return the arrays of a book's entries, by name, in the order of the keys."""
        scores = self._scores()
        moves, depths = self._searched[:, 1].copy(), leaf_depths(self._searched[:, 2])
        if len(self._expanded):
            _, moves[self._expanded] = best_of(self._below, self._values(scores))
            depths = self._depths(depths, moves)
        order = np.argsort(self.keys)
        found = {"key": self.keys, "score": scores, "move": moves, "depth": depths}
        return {name: array[order] for name, array in found.items()}

    def _enter(self, states):
        self.states = np.concatenate([self.states, states])
        self.keys = np.concatenate([self.keys, self._expansion.keys(states)])
        return len(states)

    def _expand(self, positions, below):
        """Note the Children of some positions."""
        first = len(self._expanded)
        below = below._replace(parents=below.parents + first)
        self._expanded = np.concatenate([self._expanded, positions])
        self._below = Children(*map(np.concatenate, zip(self._below, below, strict=True)))
        self._child = np.concatenate([self._child, np.where(below.over, NONE, self._find(below.keys))])

    def _find(self, keys):
        """Return the position of each key, NONE where there is none."""
        order = np.argsort(self.keys)
        found = places(self.keys[order], keys)
        return np.where(found == NONE, NONE, order[found])

    def _values(self, scores):
        """Return the scores of all children for the side that moved to them."""
        return -np.where(self._below.over, over_scores(self._below, self.evaluation), scores[self._child])

    def _scores(self):
        """Return the backed-up scores: the graph has no circles, so they stay as they are in the end."""
        scores = self._searched[:, 0].copy()
        while len(self._expanded):
            best, _ = best_of(self._below, self._values(scores))
            if np.array_equal(best, scores[self._expanded]):
                break
            scores[self._expanded] = best
        return scores

    def _priorities(self):
        """Return the priority of each position, the least of all ways to it: its plies and what its moves cost.

        It is in points, as the evaluation has them, for a ply.
        """
        values = self._values(self._scores())
        if not len(values):
            return np.zeros(self.size, np.int64)
        best, _ = best_of(self._below, values)
        return self._least(self.evaluation.unit + _POINT_IN_PLIES * (best[self._below.parents] - values))

    def _least(self, steps):
        """Return for each position the least sum of the steps (int64, one for each child) on any way to it."""
        there = np.flatnonzero(self._child != NONE)
        before, after, steps = self._expanded[self._below.parents[there]], self._child[there], steps[there]
        found = np.full(self.size, _FAR)
        found[0] = 0
        while True:
            known = found.copy()
            np.minimum.at(found, after, known[before] + steps)
            if np.array_equal(known, found):
                return found

    def _depths(self, depths, moves):
        """Return the plies that scores were found with: of an expanded position, along its best line."""
        there = np.flatnonzero(self._below.moves == moves[self._expanded][self._below.parents])
        child = self._child[there]
        while len(there):
            below = np.where(child == NONE, 0, depths[child])
            found = (1 + below).clip(max=MOST_DEPTH)
            if np.array_equal(found, depths[self._expanded]):
                break
            depths[self._expanded] = found
        return depths


def leaf_depths(searched: np.ndarray) -> np.ndarray:
    """Return the depths that entries have of those that searches have reached: 0 stands for a game's value."""
    return searched.clip(1, MOST_DEPTH)


def all_known(below: Children, found: np.ndarray) -> np.ndarray:
    """Return for each parent whether every child was found (an index, or NONE) or is a finished game."""
    if not len(below.parents):
        return np.empty(0, np.bool_)
    return np.logical_and.reduceat(below.over | (found != NONE), np.flatnonzero(np.diff(below.parents, prepend=-1)))


def _first_of(below: Children, count: Any) -> Children:
    return Children(*(array[:count] for array in below))
