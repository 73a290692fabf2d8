"""What a score says in words: who wins and with which stone, discs that are expected, points that are still to come."""

from typing import Any

import numpy as np

from ..evaluation import Evaluation
from ..games.interface import Position


def of_value(game: Any, position: Position, rules: np.ndarray, value: int) -> str:
    """Return what the value of a game of two players says: in the game's own words, or else who wins."""
    if hasattr(game, "describe_score"):
        return game.describe_score(value, position, rules)
    return _outcome_of(value) if value else "a draw"


def of_evaluated(
    game: Any, position: Position, rules: np.ndarray, chosen: Evaluation, score: float, depth: int, selective: bool
) -> str | None:
    """Return what the exact score of a search to a depth by an Evaluation says, or None where that is not known."""
    if chosen.sees_nothing and not score:
        return f"undecided: no win is forced within {depth} plies, and the ordering of moves has chosen among the rest"
    if chosen.sees_nothing:  # every line of best play ends within the depth
        return of_value(game, position, rules, int(score))
    if abs(score) > chosen.bound > 0:
        return _outcome_of(score) + (" most likely" if selective else "")
    return f"{score / chosen.unit:+.1f} {game.UNIT} expected" if chosen.unit > 1 else None


def of_points(value: float) -> str:
    """Return what an expectation of a learnt evaluation of a game against chance says."""
    return f"{value:,.0f} more points expected"


def _outcome_of(score):
    return "wins" if score > 0 else "loses"
