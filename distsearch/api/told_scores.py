"""Scores as answers tell them: a finished game's own, and none beyond the window that was asked about."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..formats.answer_rows import PositionTexts
from ..tree.search_tree import ANY
from .result import tidy


class ToldScores:
    """What answers make of the scores that searches find.

    window: in which scores are told apart, None: all are; win: what an evaluated search adds to the score of a win, and
    takes from that of a loss; 0: searches are exact.
    """

    def __init__(self, game: Any, rules: np.ndarray, window: tuple[int, int] | None, win: int):
        self._game, self._rules, self._window, self._win = game, rules, window or ANY, win

    def points(self, score: float) -> float:
        """Return the game's own score of a finished line: what a win adds in an evaluated search is taken off."""
        return tidy(score - math.copysign(self._win, score) if score else score)

    def within(self, score: float, relation: str = "exact") -> tuple[float, str]:
        """Return (score, relation to the true one) of a score that was told apart no further than the window."""
        low, high = self._window
        return (low, "upper") if score <= low else (high, "lower") if score >= high else (score, relation)

    def of_moves(self, children: Sequence, points: Callable[[float], float]) -> list[dict[str, Any]]:
        """Return what there is to say of the moves of ``SearchTree.children``; points(score): as it is told."""
        found = []
        for m, found_score, exact in children:
            if exact:
                score, relation = self.within(found_score)
                limit = {} if relation == "exact" else {"bound": relation}
                found.append({"move": self._game.move_text(m, self._rules), "score": points(score), **limit})
        return found

    def of_records(self, states: np.ndarray, sides: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return the scores, float64, that answers tell of positions for which a stream's records have ``scores``.

        states, sides: uint64 of shape (n, words) and int8, of the positions.
        """
        told, exact = scores.astype(np.float64), not self._win
        if exact and self._window == ANY:
            return told
        low, high = self._window
        odd = np.flatnonzero((told < low) | (told > high) if exact else np.abs(told) >= self._win)
        if not len(odd):
            return told
        over = PositionTexts(self._game, self._rules).of(states[odd], sides[odd]).over
        if exact:
            told[odd[~over]] = told[odd[~over]].clip(low, high)
        else:
            told[odd[over]] -= np.copysign(self._win, told[odd[over]])
        return told
