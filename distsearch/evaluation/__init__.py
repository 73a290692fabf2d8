"""Evaluations: what a position is worth where a search stops looking.

A game's evaluations are in the module of its name here, in a table ``EVALUATIONS``. An evaluation is an njit function
``(s, r, tables) -> int64`` for the side to move. A finished game counts its final score, moved out by the evaluation's
bound so that any win is worth more than any unfinished position.
"""

import importlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import UserError


class Evaluation(NamedTuple):
    """An evaluation bound to a game's rules."""

    name: str
    function: Callable  # njit (s, r, tables) -> int64
    tables: np.ndarray  # uint64, what the function reads
    bound: int  # no unfinished position is worth more, nor less than minus this; 0: values are final scores


def names(game):
    """The evaluations of a game, the default first."""
    return list(_module(game).EVALUATIONS)


def find(game, name, rules):
    """Return the Evaluation of ``game`` called ``name``; raises UserError if there is none."""
    known = _module(game).EVALUATIONS
    if name not in known:
        raise UserError(f"no evaluation '{name[:40]}' for {game.NAME}; there is {', '.join(known)}")
    function, tables, bound = known[name]
    return Evaluation(name, function, tables(rules), bound(rules))


def _module(game):
    return importlib.import_module(f"{__name__}.{game.NAME}")
