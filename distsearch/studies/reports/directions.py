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

    Student's distribution, by Welch's degrees of freedom.
    """
    if not more or not less:
        return Direction(place, stated, "", MISSING)
    means = statistics.fmean(more), statistics.fmean(less)
    text = f"{shown(means[0])} and {shown(means[1])}{unit and ' ' + unit}"
    if min(len(more), len(less)) < 2:
        return Direction(place, stated, f"{text}, once each", HELD if means[0] > means[1] else NOT_HELD)
    parts = [statistics.variance(values) / len(values) for values in (more, less)]
    error = math.sqrt(sum(parts))
    if error == 0:
        return Direction(place, stated, text, HELD if means[0] > means[1] else NOT_HELD)
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (more, less), strict=True)
    )
    half = student_95(max(1, math.floor(freedom))) * error
    return _by_interval(place, stated, text, means[0] - means[1] - half, means[0] - means[1] + half, 0)


def above(place: str, stated: str, low: float, high: float, bar: float, text: str) -> Direction:
    """Return whether a value lies above a bar, by its interval."""
    return _by_interval(place, stated, text, low, high, bar)


def _by_interval(place, stated, text, low, high, bar):
    held = HELD if low > bar else NOT_HELD if high < bar else OPEN
    return Direction(place, stated, f"{text}; 95% of the difference: {shown(low - bar)} to {shown(high - bar)}", held)


def rising(place: str, stated: str, series: Sequence[tuple[str, Sequence[float]]], falling=False) -> Direction:
    """Return whether values rise (or fall) from each of the series to the next: (name, values) each.

    It holds if every step holds, and does not if one does not.
    """
    steps = []
    for (one, first), (other, second) in zip(series, series[1:], strict=False):
        pair = (first, second) if falling else (second, first)
        steps.append((f"{one} to {other}", larger(place, stated, *pair)))
    return _together(place, stated, [step for step in steps if step[1].held != MISSING])


def every(place: str, stated: str, parts: Sequence[tuple[str, Direction]]) -> Direction:
    """Return whether all named Directions hold, those that were not measured left out."""
    return _together(place, stated, [part for part in parts if part[1].held != MISSING])


def _together(place, stated, parts):
    if not parts:
        return Direction(place, stated, "", MISSING)
    held = [each.held for _, each in parts]
    whole = NOT_HELD if NOT_HELD in held else OPEN if OPEN in held else HELD
    told = [f"{name}: {each.ours}" for name, each in parts if each.held == whole or whole == HELD]
    said = "; ".join(told[:_TOLD]) + f"; {len(told) - _TOLD} more" * (len(told) > _TOLD)
    return Direction(place, stated, f"{held.count(HELD)} of {len(held)} steps hold ({said})", whole)


def lowest_at(place: str, stated: str, series: Sequence[tuple[float, Sequence[float]]], at: float) -> Direction:
    """Return whether values are lowest at a place ``at`` of the x axis: (x, values) each."""
    known = {x: values for x, values in series if values}
    if at not in known or len(known) < 2:
        return Direction(place, stated, "", MISSING)
    best = min(known, key=lambda x: statistics.median(known[x]))
    figures = ", ".join(f"{shown(x)}: {shown(statistics.median(values))}" for x, values in known.items())
    if best == at:
        return Direction(place, stated, f"least at {shown(at)} ({figures})", HELD)
    found = larger(place, stated, known[at], known[best])
    held = {HELD: NOT_HELD, OPEN: OPEN}.get(found.held, OPEN)
    return Direction(place, stated, f"least at {shown(best)} ({figures})", held)


def table(directions: Sequence[Direction]) -> Table:
    """Return the Table of Directions."""
    note = (
        "By the 95% interval of the difference (Student's t, Welch's degrees of freedom); open: the interval has both "
        "signs. Of one measurement each there is no interval."
    )
    rows = [(each.place, each.stated, each.ours or None, each.held) for each in directions]
    return Table("What the report states, and whether it holds here", ("place", "stated", "here", "held"), rows, note)
