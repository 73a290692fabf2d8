"""Evaluations: what a position is worth where a search stops looking.

A game's evaluations are in a table ``EVALUATIONS`` of the module of its name here, or of the game's own module if it
belongs to another package; without any there is ``outcome``, which sees nothing before the end. An evaluation is a
compiled function ``(s, r, tables) -> int64`` for the side to move. A finished game counts its final score, moved out by
the evaluation's bound so that any win is worth more than any unfinished position. In games against chance evaluations
are float64, of a board before or after chance has moved, and a finished game counts its evaluation; there a text may
also ask for a weighted sum of several, see ``sums``.

``strongest(rules)`` in the same module names the default, which may depend on the board; without, it is the first one.

``of_file`` in the same module says what evaluation a file of learnt weights is, and ``LEARNT`` names those that come
with this package, by the rules; ``for_order`` says which one exact searches order moves by. Learnt evaluations of
games against chance say what points are still to come, so the points of moves count as well. ``:dead`` behind the name
of such a network, or its file's, asks for another rule for *dead boards*, on which the player has no move: they are
worth what the network says of them, as in a report on 2584, and not 0.

``WEIGHTED`` in the same module has those whose name may be followed by ``:`` and weights: what reads that text, and the
weights of the name alone. Their tables take weights as another argument. Weights of these, and those of a sum, can be
searched for: see ``weights``.
"""

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import games
from ..core.errors import UserError
from ..core.jit import compiled
from . import weighted_sum
from .move_ordering import OTHELLO_8X8, MoveOrdering
from .tuple_network import ENDING

PLAYOUT = "playout"  # in place of an evaluation, of Monte-Carlo tree search: games of random moves
DEAD = ":dead"  # behind a network of a game against chance: dead boards are worth what it says


class Evaluation(NamedTuple):
    """An evaluation bound to a game's rules."""

    name: str
    function: Callable  # compiled (s, r, tables) -> int64
    tables: np.ndarray  # uint64, what the function reads
    bound: int  # no unfinished position is worth more, nor less than minus this; 0: values are final scores
    points: bool = False  # whether what moves bring counts as well
    keeps: object = None  # what holds memory that the tables point to
    version: str = ""  # what tells it from others of its name, where its name is a file's
    unit: int = 1  # of values, a point of a final score, where they are learnt from scores
    ordering: MoveOrdering | None = OTHELLO_8X8  # where exact searches order moves by it
    dead_boards: bool = False  # whether a network says what boards without a move are worth; else they are worth 0
    best_moves: Callable | None = None  # in games against chance, many states at once: see ``row_tables.best_moves``

    @property
    def sees_nothing(self) -> bool:
        """Whether all unfinished positions are worth the same."""
        return self.function is outcome


def names(game):
    """The evaluations of a game: those made by hand, the first of which is the default, then those that come learnt."""
    return [*_known(game), *_learnt(game)]


def default(game, rules):
    """Return the name of the evaluation of a game that plays best by these rules (an array) of those that come."""
    strongest = getattr(_owner(game), "strongest", None)
    return strongest(rules) if strongest else hand_made(game)


def hand_made(game):
    """Return the name of the evaluation of a game that plays best of those made by hand."""
    return next(iter(_known(game)))


def check(game, name):
    """Raise UserError if ``game`` has no evaluation ``name``, which may end in ``:`` and its weights, or be a sum."""
    name, _ = _rule_for_dead(game, name)
    base, colon, given = name.partition(":")
    known, weighted = _known(game), _weighted(game)
    if name.endswith(ENDING):
        if not hasattr(_owner(game), "of_file"):
            raise UserError(f"{game.NAME} has no evaluations that are learnt: {name[:200]}")
    elif _is_sum(game, name):
        weighted_sum.parse(name, list(known))
    elif base not in (weighted if colon else names(game)):
        raise UserError(f"evaluation '{name[:40]}' is not {' or '.join(names(game))} for {game.NAME}")
    elif colon:
        parse, _ = weighted[base]
        parse(given)


def find(game, name, rules):
    """Return the Evaluation of ``game`` that a text asks for, see ``check``; raises UserError if there is none.

    Its own name is that of its function, without weights, by which kernels are known.
    """
    check(game, name)
    if learnt(game, name):
        name, dead = _rule_for_dead(game, name)
        path = _learnt(game)[name](rules) if name in _learnt(game) else name
        return Evaluation(**_owner(game).of_file(path, rules, **({"dead_boards": True} if dead else {})))
    if _is_sum(game, name):
        parts = weighted_sum.parse(name, list(_known(game)))
        made = {part.name: find(game, part.name, rules) for part in parts}
        return Evaluation(*weighted_sum.bound_to(games.tag(game), parts, made), 0)
    base = name.partition(":")[0]
    function, tables, bound, *best_moves = _known(game)[base]
    given = [weights(game, name)] if base in _weighted(game) else []
    how = {"best_moves": best_moves[0] if best_moves else None, "unit": getattr(_owner(game), "UNITS", {}).get(base, 1)}
    return Evaluation(base, function, tables(rules, *given), bound(rules), **how)


def learnt(game, name):
    """Whether an evaluation of a game is learnt, rather than made by hand."""
    name, _ = _rule_for_dead(game, name)
    return name.endswith(ENDING) or name in _learnt(game)


def _rule_for_dead(game, name):
    """Return (a name without ``DEAD``, whether it ended so), in games where that can stand there."""
    base = name.removesuffix(DEAD)
    if game.PLAYERS == 1 and (base.endswith(ENDING) or base in _learnt(game)):
        return base, base != name
    return name, False


def for_order(game, rules):
    """Return the Evaluation that exact searches of a game order moves by, or None if there is none for these rules."""
    chosen = getattr(_owner(game), "for_order", lambda rules: None)(rules)
    return Evaluation(**chosen) if chosen else None


def _learnt(game):
    return getattr(_owner(game), "LEARNT", {})


def _is_sum(game, name):
    return game.PLAYERS == 1 and ":" not in name and weighted_sum.is_sum(name)


def weights(game, name):
    """Return the weights of ``game``'s evaluation called ``name``: ``row_heuristic.Weights``, or SumWeights.

    Raises UserError if it has none that could be searched for: a sum needs two terms, each of another name.
    """
    check(game, name)
    base, colon, given = name.partition(":")
    if _is_sum(game, name):
        terms = tuple(weighted_sum.parse(name, list(_known(game))))
        if not 1 < len(terms) == len({each.name for each in terms}):
            raise UserError(f"evaluation '{name[:40]}' is not a sum of several different terms, whose weights decide")
        return weighted_sum.SumWeights(terms)
    if base not in _weighted(game):
        raise UserError(
            f"evaluation '{name[:40]}' for {game.NAME} has no weights; there is "
            f"{', '.join(_weighted(game)) or 'none that has'}, and sums such as monotonicity+2.7*free"
        )
    parse, usual = _weighted(game)[base]
    return parse(given) if colon else usual


def tables_by_weights(game, name, rules):
    """Return what makes the tables of an evaluation by other ``numbers`` of its weights: (numbers) -> uint64 array."""
    of_name = weights(game, name)
    if not isinstance(of_name, weighted_sum.SumWeights):
        make = _known(game)[name.partition(":")[0]][1]
        return lambda numbers: make(rules, type(of_name)(*numbers))
    tables = {each.name: find(game, each.name, rules).tables for each in of_name.terms}

    def make_sum(numbers):
        terms = [each._replace(weight=weight) for each, weight in zip(of_name.terms, numbers, strict=True)]
        return weighted_sum.tables_of(terms, tables)

    return make_sum


@functools.cache  # looking for a module that is not there takes a fifth of a millisecond
def _owner(game):
    name = f"{__name__}.{game.__name__.rpartition('.')[2]}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else game


def _known(game):
    outcome_alone = {"outcome": (outcome, lambda r: np.zeros(1, np.uint64), lambda r: 0)}
    return getattr(_owner(game), "EVALUATIONS", outcome_alone)


def _weighted(game):
    return getattr(_owner(game), "WEIGHTED", {})


@compiled
def outcome(s, r, tables):
    """Unfinished games are worth nothing yet."""
    return 0
