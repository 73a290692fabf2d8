"""Best moves of positions whose scores a GPU has found, and the lines that go on from them, in a limited time."""

import time
from typing import Any

import numpy as np

from ..games.interface import END, Game, Position, as_state, legal_moves
from ..gpu.solver import NO_MOVE
from .gpu_solvers import Found
from .two_player import LINE_LENGTH, TO_THE_END


class Replies:
    """Moves that leave the other side no more than the score: found by asking the GPU for what is behind each.

    states: uint64 of shape (n, words); depths: plies to search (or TO_THE_END); scores: int32, of the side to move
    there; on_gpu: of ``gpu_solvers``.
    """

    def __init__(
        self, game: Game, rules: np.ndarray, on_gpu: Any, states: np.ndarray, depths: np.ndarray, scores: np.ndarray
    ):
        children, parents, moves, values = [], [], [], []
        behind = [depth_behind(int(depth)) for depth in depths]
        for i, state in enumerate(map(as_state, states)):
            for move in legal_moves(game, Position(state, 0), rules):
                children.append(as_state(game.play(state, rules, int(move))[0]))
                parents.append(i)
                moves.append(move)
                values.append(on_gpu.value(children[-1], behind[i]))
        self._count, self._scores = len(states), np.asarray(scores, np.int32)
        self._parents, self._moves = np.array(parents, np.int64), np.array(moves, np.int16)
        self._searched = np.array([value is None for value in values], bool)
        self._known = np.array([0 if value is None else value for value in values], np.int32)
        reached, of = np.array(children, np.uint64).reshape(len(children), -1), self._parents[self._searched]
        low = -self._scores[of]
        self.question = reached[self._searched], np.array(behind)[of], low, low + 1

    def best(self, found: Found | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (best, waits) by what the GPU has found of ``question``: a move (int16) of each position that has the
        score, NO_MOVE where none is known, and whether more may become known.
        """
        scores, complete = self._known.copy(), ~self._searched
        if found is not None:
            scores[self._searched], complete[self._searched] = found.scores, found.complete
        best, waits = np.full(self._count, NO_MOVE, np.int16), np.zeros(self._count, bool)
        good = complete & (scores <= -self._scores[self._parents])
        best[self._parents[good][::-1]] = self._moves[good][::-1]  # the first of several
        waits[self._parents[~complete]] = True
        return best, waits & (best == NO_MOVE)


class Lines:
    """The lines of some positions, ply by ply, as far as they are known until a time is over.

    moves: the first of each, NO_MOVE for a line without any; seconds: for all of it; the others: see ``Replies``.
    """

    def __init__(self, game, rules, on_gpu, states, depths, scores, moves, seconds):
        self._of = game, rules, on_gpu
        self._states, self._depths = [as_state(state) for state in states], depths.tolist()
        self._scores, self.lines = [int(score) for score in scores], [[] for _ in states]
        self._until = time.perf_counter() + seconds
        self._open = list(range(len(states)))
        self._play(moves.tolist())

    @property
    def goes_on(self) -> bool:
        """Whether there is a line to go on with, and time for it."""
        return bool(self._open) and time.perf_counter() < self._until

    def question(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what to ask the GPU for the next moves: states, depths, and the ends of windows."""
        states = np.array([self._states[i] for i in self._open], np.uint64)
        depths, scores = (np.array([of[i] for i in self._open]) for of in (self._depths, self._scores))
        self._replies = Replies(*self._of, states, depths, scores)
        return self._replies.question

    def take(self, found: Found) -> bool:
        """Take in what the GPU has found so far; return whether that was all of it."""
        best, waits = self._replies.best(found)
        if waits.any():
            return False
        self._play(best.tolist())
        return True

    def _play(self, moves):
        """Play a move on each open line; those without one end, and those at an end of the game or of the depth."""
        played, self._open = zip(self._open, moves, strict=True), []
        game, rules, _ = self._of
        for i, move in played:
            if move == NO_MOVE:
                continue
            self.lines[i].append(move)
            self._states[i] = as_state(game.play(self._states[i], rules, move)[0])
            self._scores[i], self._depths[i] = -self._scores[i], depth_behind(self._depths[i])
            if game.kind(self._states[i], rules) != END and self._depths[i] and len(self.lines[i]) < LINE_LENGTH:
                self._open.append(i)


def depth_behind(depth: int) -> int:
    """Return the plies to search behind a move."""
    return depth if depth == TO_THE_END else depth - 1
