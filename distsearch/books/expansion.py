"""Every position of a game's first plies, once for all that symmetry makes the same, compiled for any game."""

from collections.abc import Iterator
from typing import Any, NamedTuple

# pyright: reportOptionalCall=false, reportCallIssue=false
import numpy as np

from .. import games
from ..core import jit
from ..engines.pvs.kernels import move_to_front
from ..engines.pvs.table_search import itself, no_bounds
from ..games import lanes
from ..games.interface import END, MAX_MOVES, Game, State, as_state

_AT_ONCE = 256  # states whose children are written in one call

# bound for each game
bounds = canonical = final = key = kind = moves_left = ordered_moves = play = solver_moves = order = None


def in_order(s, r, out, scores, at):
    """Write the moves in the game's own order; return how many."""
    return ordered_moves(s, r, out, at)


def in_solver_order(s, r, out, scores, at):
    """Write the moves that the exact solver would try, the likeliest best one first, then the others."""
    n, left = np.int64(ordered_moves(s, r, out, at)), np.int64(moves_left(s, r))
    _, _, note = bounds(s, r, left, np.int64(0))
    tried = np.int64(solver_moves(s, r, left, note, out, scores, at + n))
    for i in range(tried):
        move_to_front(out, at + i, n - i, out[at + n + i])
    return n


def keys_of(like, r, words, keys):
    """Write the key of the canonical state of each state to ``keys`` (uint64).

    like: any state; words: uint64 of all states, one after another.
    """
    width = len(like)
    for i in range(len(keys)):
        keys[i] = key(canonical(lanes.load(like, words, i * width), r), r)


def write_children(like, r, words, count, out, order_scores, states, keys, parents, moves, over, scores):
    """Write the canonical children of ``count`` states; return how many. See ``Children`` for what is written."""
    width, n = len(like), 0
    for i in range(count):
        here = lanes.load(like, words, i * width)
        legal = np.int64(order(here, r, out, order_scores, 0))
        for j in range(legal):
            child, _ = play(here, r, np.int64(out[j]))
            child = canonical(child, r)
            lanes.store(states, n * width, child)
            keys[n], parents[n], moves[n] = key(child, r), i, out[j]
            over[n] = kind(child, r) == END
            scores[n] = final(child, r) if over[n] else 0
            n += 1
    return n


def canonical_of(hooks: Any) -> Any:
    """Return what makes the canonical states of a book, which may take longer than that of searches."""
    return getattr(hooks, "book_canonical", getattr(hooks, "canonical", itself))


class Children(NamedTuple):
    """Positions one move below others, those of each in the order in which the game would try them.

    states: uint64 of shape (n, words), canonical; keys: uint64, of these; parents: int64, indices of the positions that
    they are below; moves: int16, codes; over: bool, whether the game is; scores: int64, final ones of the side to move,
    0 where the game goes on.
    """

    states: np.ndarray
    keys: np.ndarray
    parents: np.ndarray
    moves: np.ndarray
    over: np.ndarray
    scores: np.ndarray


class Expansion:
    """Writes keys and children of states of one game and board; by_solver: the moves in the exact solver's order."""

    def __init__(self, game: Game, rules: np.ndarray, by_solver: bool = False):
        hooks: Any = games.knowledge(game)
        self.words = game.words(rules)  # of a state
        self._like, self._rules, self._canonical = game.start(rules).state, rules, canonical_of(hooks)
        self.start = np.array([self.canonical(self._like)], np.uint64)  # the first position, of shape (1, words)
        name, functions = f"{games.tag(game)}_book", games.functions(game)
        functions["canonical"] = self._canonical
        by_solver = by_solver and hasattr(hooks, "solver_moves")
        if by_solver:
            name += "_by_solver"
            functions |= {"solver_moves": hooks.solver_moves, "bounds": getattr(hooks, "bounds", no_bounds)}
        functions["order"] = jit.specialise(in_solver_order if by_solver else in_order, f"order_{name}", functions)
        self._kernels = jit.specialise_all((keys_of, write_children), name, functions)

    def canonical(self, state: State) -> State:
        """Return the one state of all that are symmetric to one, as books have it."""
        return as_state(self._canonical(state, self._rules))

    def keys(self, states: np.ndarray) -> np.ndarray:
        """Return the keys (uint64) of an array of states of shape (n, words); symmetric states have the same."""
        keys = np.empty(len(states), np.uint64)
        words = np.ascontiguousarray(states, np.uint64).reshape(-1)
        self._kernels["keys_of"](self._like, self._rules, words, keys)
        return keys

    def children(self, states: np.ndarray) -> Children:
        """Return the Children of an array of states of shape (n, words)."""
        parts = [self._children(states[at : at + _AT_ONCE], at) for at in range(0, max(1, len(states)), _AT_ONCE)]
        return Children(*map(np.concatenate, zip(*parts, strict=True)))

    def _children(self, states, first):
        words, room = np.ascontiguousarray(states, np.uint64).reshape(-1), MAX_MOVES * len(states)
        buffers = np.zeros(2 * MAX_MOVES, np.int16), np.zeros(2 * MAX_MOVES, np.int64)
        found = np.empty(room * self.words, np.uint64)
        keys, parents, moves = np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int16)
        over, scores = np.empty(room, np.bool_), np.empty(room, np.int64)
        where = self._like, self._rules, words, len(states), *buffers
        n = self._kernels["write_children"](*where, found, keys, parents, moves, over, scores)
        states = found.reshape(room, self.words)
        return Children(states[:n].copy(), keys[:n], first + parents[:n], moves[:n], over[:n], scores[:n])

    def levels(self, plies: int) -> Iterator[np.ndarray]:
        """Yield the canonical states, of shape (n, words), of each ply from 0 to ``plies``; no finished games.

        Those of a ply that have a parent in common follow one another, and so do those of parents that do.
        """
        states = self.start
        yield states
        for _ in range(plies):
            children = self.children(states)
            going_on = np.flatnonzero(~children.over)
            _, first = np.unique(children.keys[going_on], return_index=True)
            states = children.states[going_on[np.sort(first)]]
            yield states
