"""Weighted sums of a game's evaluations, by a text such as ``monotonicity+0.1*smoothness+2.7*free``.

A sum is one compiled function for each sequence of names. Its weights stand in its tables before those of its parts, so
that other weights need no other function.
"""

import re
from typing import NamedTuple

import numpy as np

from ..core import jit
from ..core.errors import UserError
from ..core.jit import compiled

MOST_PARTS = 8
_MOST_WEIGHT = 1e6  # with it a lost board's −1.5 million still is far from what float64 can tell apart
_PART = re.compile(r"(?:(\d*\.?\d+(?:[eE]-?\d+)?)\*)?(\w+)")

before = part = None  # bound for each sum: the sum of the parts before the last one, and the last one


class Term(NamedTuple):
    """An evaluation's name, and how often it counts."""

    name: str
    weight: float


class SumWeights(NamedTuple):
    """Terms of a sum, whose weights can be searched for: what ``row_heuristic.Weights`` are to ``rows``."""

    terms: tuple[Term, ...]

    @property
    def evaluation(self):
        """The evaluation's name, as ``parse`` reads it."""
        return "+".join(f"{each.weight:.9g}*{each.name}" for each in self.terms)

    @property
    def numbers(self):
        """The weights, floats in the order of the terms."""
        return tuple(each.weight for each in self.terms)

    def by_name(self):
        """Return {name: weight}."""
        return {each.name: each.weight for each in self.terms}

    def fit(self):
        """Whether ``parse`` takes all of them."""
        return all(0 < each.weight <= _MOST_WEIGHT for each in self.terms)


def is_sum(text):
    """Whether a text is more than a name."""
    return "+" in text or "*" in text


def parse(text, known):
    """Return the Parts of a text; known: names of evaluations. Raises UserError."""
    pieces = text.split("+")
    if len(pieces) > MOST_PARTS:
        raise UserError(f"evaluation '{text[:40]}' is a sum of more than {MOST_PARTS}")
    parts = []
    for piece in pieces:
        found = _PART.fullmatch(piece.strip())
        if not found:
            raise UserError(f"evaluation '{text[:40]}': '{piece[:40]}' is not NAME or WEIGHT*NAME, such as 2.7*free")
        weight = float(found[1] or 1)
        if found[2] not in known:
            raise UserError(f"evaluation '{text[:40]}': '{found[2][:40]}' is not {' or '.join(known)}")
        if not 0 < weight <= _MOST_WEIGHT:
            raise UserError(f"evaluation '{text[:40]}': weight {weight:g} is not above 0 and up to {_MOST_WEIGHT:g}")
        parts.append(Term(found[2], weight))
    return parts


@compiled
def nothing(s, r, tables):
    """The sum of no parts."""
    return 0.0


def weighted(s, r, tables):
    """tables: where those of the last part begin, its weight, those of the parts before it, its own."""
    weight = tables[1:2].view(np.float64)[0]
    return before(s, r, tables[2:]) + weight * part(s, r, tables[np.int64(tables[0]) :])


def bound_to(game_tag, parts, made):
    """Return (name, compiled function, tables) of the sum of Parts.

    made: name → Evaluation, of the parts. The name stands for the function, whatever the weights.
    """
    name, function = f"sum_{game_tag}", nothing
    for each in parts:
        name += f"-{each.name}"
        function = jit.specialise(weighted, name, {"before": function, "part": made[each.name].function})
    return name, function, tables_of(parts, {name: each.tables for name, each in made.items()})


def tables_of(parts, tables_by_name):
    """Return the tables of the sum of Parts, of the tables of each."""
    tables = np.zeros(0, np.uint64)
    for each in parts:
        head = np.array([2 + len(tables), np.float64(each.weight).view(np.uint64)], np.uint64)
        tables = np.concatenate([head, tables, tables_by_name[each.name]])
    return tables
