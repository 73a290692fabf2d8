"""Evaluations: what a position is worth where a search stops looking.

A game's evaluations are in a table ``EVALUATIONS`` of the module of its name here, or of the game's own module if it is
somebody else's; without any there is ``outcome``, which sees nothing before the end. An evaluation is a compiled
function ``(s, r, tables) -> int64`` for the side to move. A finished game counts its final score, moved out by the
evaluation's bound so that any win is worth more than any unfinished position. In games against chance evaluations are
float64, of a board before or after chance has moved, and a finished game counts its evaluation; there a text may also
ask for a weighted sum of several, see ``sums``.
"""

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import games
from ..errors import UserError
from ..jit import compiled
from . import sums


class Evaluation(NamedTuple):
    """An evaluation bound to a game's rules."""

    name: str
    function: Callable  # compiled (s, r, tables) -> int64
    tables: np.ndarray  # uint64, what the function reads
    bound: int  # no unfinished position is worth more, nor less than minus this; 0: values are final scores


def names(game):
    """The evaluations of a game, the default first."""
    return list(_known(game))


def check(game, name):
    """Raise UserError if ``game`` has no evaluation ``name``, nor is that a sum of some that it has."""
    known = names(game)
    if game.PLAYERS == 1 and sums.is_sum(name):
        sums.parse(name, known)
    elif name not in known:
        raise UserError(f"evaluation '{name[:40]}' is not {' or '.join(known)}")


def find(game, name, rules):
    """Return the Evaluation of ``game`` that is called ``name``, or is such a sum; raises UserError if there is none.

    The name of a sum's Evaluation is that of its function, without the weights.
    """
    known = _known(game)
    if game.PLAYERS == 1 and sums.is_sum(name):
        return Evaluation(*sums.bound_to(games.tag(game), sums.parse(name, list(known)), known, rules), 0)
    if name not in known:
        raise UserError(f"no evaluation '{name[:40]}' for {game.NAME}; there is {', '.join(known)}")
    function, tables, bound = known[name]
    return Evaluation(name, function, tables(rules), bound(rules))


@functools.cache  # looking for a module that is not there takes a fifth of a millisecond
def _known(game):
    name = f"{__name__}.{game.__name__.rpartition('.')[2]}"
    owner = importlib.import_module(name) if importlib.util.find_spec(name) else game
    return getattr(owner, "EVALUATIONS", {"outcome": (outcome, lambda r: np.zeros(1, np.uint64), lambda r: 0)})


@compiled
def outcome(s, r, tables):
    """Unfinished games are worth nothing yet."""
    return 0
