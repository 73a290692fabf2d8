"""Whether what a report says of its curves holds for what was measured here.

Where there are repeats, a direction holds if the 95% interval of the difference says so. One measurement of each has no
interval; then the values decide, and the text says so.
"""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from ...api.intervals import student_95
from .tables import Table, shown

HELD, NOT_HELD, OPEN, MISSING = "held", "not held", "open", "not measured"
_TOLD = 2  # steps of which figures are shown


class Direction(NamedTuple):
    """place: in the report; stated: what it says; ours: what was found; held: one of the four words above."""

    place: str
    stated: str
    ours: str
    held: str


def larger(place: str, stated: str, more: Sequence[float], less: Sequence[float], unit: str = "") -> Direction:
    """Return whether the first values are larger than the second, by the interval of the difference of their means.

    Student's distribution, by Welch's degrees of freedom. Equal values are OPEN.
    """
    if not more or not less:
        return Direction(place, stated, "", MISSING)
    means = statistics.fmean(more), statistics.fmean(less)
    text = f"{shown(means[0])} and {shown(means[1])}{unit and ' ' + unit}"
    by_values = HELD if means[0] > means[1] else NOT_HELD if means[0] < means[1] else OPEN
    if min(len(more), len(less)) < 2:
        counts = "once each" if len(more) == len(less) else f"of {len(more)} and {len(less)}"
        return Direction(place, stated, f"{text}, {counts}", by_values)
    parts = [statistics.variance(values) / len(values) for values in (more, less)]
    error = math.sqrt(sum(parts))
    if error == 0:
        return Direction(place, stated, text, by_values)
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (more, less), strict=True)
    )
    half, middle = student_95(max(1, math.floor(freedom))) * error, means[0] - means[1]
    held = HELD if middle > half else NOT_HELD if middle < -half else OPEN
    return Direction(place, stated, f"{text}; difference {shown(middle - half)} to {shown(middle + half)}", held)


def rising(place: str, stated: str, series: Sequence[tuple[str, Sequence[float]]], falling: bool = False) -> Direction:
    """Return whether values rise (or fall) from each of the series to the next: (name, values) each; see ``every``."""
    steps = []
    for (one, first), (other, second) in zip(series, series[1:], strict=False):
        pair = (first, second) if falling else (second, first)
        steps.append((f"{one} to {other}", larger(place, stated, *pair)))
    return every(place, stated, steps)


def every(place: str, stated: str, parts: Sequence[tuple[str, Direction]]) -> Direction:
    """Return whether all named Directions hold: it does not if one does not, and is open if one is, or is missing."""
    held = [each.held for _, each in parts]
    if len(parts) == 1:
        name, only = parts[0]
        return only._replace(place=place, stated=stated, ours=only.ours and f"{name}: {only.ours}")
    if all(each == MISSING for each in held):
        return Direction(place, stated, "", MISSING)
    whole = NOT_HELD if NOT_HELD in held else HELD if set(held) == {HELD} else OPEN
    told = [f"{name}: {each.ours}" for name, each in parts if each.ours and (each.held == whole or whole != NOT_HELD)]
    said = "; ".join(told[:_TOLD]) + f"; {len(told) - _TOLD} more" * (len(told) > _TOLD)
    missing = f", {held.count(MISSING)} not measured" if MISSING in held else ""
    return Direction(place, stated, f"{held.count(HELD)} of {len(held)} steps hold{missing} ({said})", whole)


def some(place: str, stated: str, parts: Sequence[tuple[str, Direction]]) -> Direction:
    """Return whether one of the named Directions holds: not if none does, open if none does and one is open."""
    measured = [(name, each) for name, each in parts if each.held != MISSING]
    if not measured:
        return Direction(place, stated, "", MISSING)
    held = [each.held for _, each in measured]
    whole = next(word for word in (HELD, OPEN, NOT_HELD) if word in held)
    told = [f"{name}: {each.ours}" for name, each in measured if each.held == whole]
    said = "; ".join(told[:_TOLD]) + f"; {len(told) - _TOLD} more" * (len(told) > _TOLD)
    return Direction(place, stated, f"{held.count(HELD)} of {len(held)} hold ({said})", whole)


def above(place: str, stated: str, interval: tuple[float, float], limit: float, ours: str) -> Direction:
    """Return whether a value is above a limit, by its 95% interval (low, high); ours: what was found, as text."""
    low, high = interval
    return Direction(place, stated, ours, HELD if low > limit else NOT_HELD if high < limit else OPEN)


def alike(place: str, stated: str, one: tuple[float, float], other: tuple[float, float], within: float) -> Direction:
    """Return whether two means, (mean, half its 95% interval), differ by no more than a share ``within`` of the first.

    By the interval of their difference: it must lie within that share for the two to be alike, beyond it to differ.
    """
    (mean, half), (second, other_half) = one, other
    difference, reach = abs(second / mean - 1), math.hypot(half, other_half) / mean
    held = HELD if difference + reach <= within else NOT_HELD if difference - reach > within else OPEN
    text = f"{shown(mean)} and {shown(second)}, {_signed(second / mean - 1 - reach)} to "
    return Direction(place, stated, text + _signed(second / mean - 1 + reach), held)


def _signed(share):
    return f"{100 * share:+.1f}%"


def lowest_at(place: str, stated: str, series: Sequence[tuple[float, Sequence[float]]], at: float) -> Direction:
    """Return whether values are lowest at a place ``at`` of the x axis, by the next lowest one: (x, values) each."""
    known = {x: values for x, values in series if values}
    if at not in known or len(known) < 2:
        return Direction(place, stated, "", MISSING)
    best = min((x for x in known if x != at), key=lambda x: statistics.fmean(known[x]))
    figures = ", ".join(f"{shown(x)}: {shown(statistics.fmean(values))}" for x, values in known.items())
    return Direction(place, stated, f"means at {figures}", larger(place, stated, known[best], known[at]).held)


def table(directions: Sequence[Direction]) -> Table:
    """Return the Table of Directions."""
    note = (
        "By the 95% interval of the difference where the text gives one (Student's t, Welch's degrees of freedom), "
        "else by the values that it gives. open: the interval has both signs, or a part was not measured. Where many "
        "steps are compared, one in twenty that are alike seems to differ."
    )
    rows = [(each.place, each.stated, each.ours or None, each.held) for each in directions]
    return Table("What the report states, and whether it holds here", ("place", "stated", "here", "held"), rows, note)
