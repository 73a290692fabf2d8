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


class Estimate(NamedTuple):
    """A mean, its standard error, and the degrees of freedom of that error."""

    mean: float
    error: float
    degrees: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        """Return the Estimate of the mean of two values or more."""
        return cls(statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values)), len(values) - 1)

    def minus(self, other: "Estimate") -> tuple[float, float]:
        """Return (low, high), the 95% interval of this mean minus another (Welch 1947)."""
        middle, error = self.mean - other.mean, math.hypot(self.error, other.error)
        if min(self.degrees, other.degrees) < 1:
            return -math.inf, math.inf
        if error == 0:
            return middle, middle
        parts = sum(each.error**4 / each.degrees for each in (self, other))
        half = student_95(max(1, math.floor(error**4 / parts))) * error
        return middle - half, middle + half


def larger(place: str, stated: str, more: Sequence[float], less: Sequence[float], unit: str = "") -> Direction:
    """Return whether the first values are larger than the second, by ``larger_mean``.

    Where one side has a single value, the values decide, and equal ones are OPEN; so do values without any spread.
    """
    if not more or not less:
        return Direction(place, stated, "", MISSING)
    means, unit = (statistics.fmean(more), statistics.fmean(less)), unit and f" {unit}"
    text = f"{shown(means[0])} and {shown(means[1])}{unit}"
    by_values = HELD if means[0] > means[1] else NOT_HELD if means[0] < means[1] else OPEN
    if min(len(more), len(less)) < 2:
        counts = "once each" if len(more) == len(less) else f"of {len(more)} and {len(less)}"
        return Direction(place, stated, f"{text}, {counts}", by_values)
    ones, others = Estimate.of(more), Estimate.of(less)
    if ones.error == others.error == 0:
        return Direction(place, stated, text, by_values)
    return larger_mean(place, stated, ones, others, unit)


def larger_mean(place: str, stated: str, more: Estimate, less: Estimate, after: str = "") -> Direction:
    """Return whether a mean is larger than another, by the 95% interval of their difference; after: text to add."""
    low, high = more.minus(less)
    text = f"{shown(more.mean)} and {shown(less.mean)}{after}; difference {shown(low)} to {shown(high)}"
    return above(place, stated, (low, high), 0.0, text)


def above(place: str, stated: str, interval: tuple[float, float], limit: float, ours: str) -> Direction:
    """Return whether a value is above a limit, by its 95% interval (low, high); ours: what was found, as text."""
    low, high = interval
    return Direction(place, stated, ours, HELD if low > limit else NOT_HELD if high < limit else OPEN)


def alike(place: str, stated: str, one: Estimate, other: Estimate, within: float) -> Direction:
    """Return whether two means differ by no more than a share ``within`` of the first.

    HELD: the 95% interval of their difference lies within that share; NOT_HELD: it lies outside.
    """
    low, high = (each / one.mean for each in other.minus(one))
    held = HELD if max(-low, high) <= within else NOT_HELD if low > within or high < -within else OPEN
    text = f"{shown(one.mean)} and {shown(other.mean)}, difference {100 * low:+.1f} to {100 * high:+.1f}%"
    return Direction(place, stated, text, held)


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
    said = _told((name, each) for name, each in parts if each.ours and (each.held == whole or whole != NOT_HELD))
    missing = f", {held.count(MISSING)} not measured" if MISSING in held else ""
    return Direction(place, stated, f"{held.count(HELD)} of {len(held)} steps hold{missing} ({said})", whole)


def some(place: str, stated: str, parts: Sequence[tuple[str, Direction]]) -> Direction:
    """Return whether more of the named Directions hold than chance explains.

    OPEN: fewer do, or none, and one is open or missing.
    """
    measured = [(name, each) for name, each in parts if each.held != MISSING]
    if not measured:
        return Direction(place, stated, "", MISSING)
    held = [each.held for _, each in measured]
    if HELD in held:
        whole = HELD if held.count(HELD) >= _beyond_chance(len(held)) else OPEN
    else:
        whole = OPEN if OPEN in held or len(measured) < len(parts) else NOT_HELD
    said = _told((name, each) for name, each in measured if each.held == (HELD if HELD in held else whole))
    return Direction(place, stated, f"{held.count(HELD)} of {len(held)} hold ({said})", whole)


def _told(parts):
    """Return the texts of the first named Directions, and how many more there are."""
    texts = [f"{name}: {each.ours}" for name, each in parts]
    return "; ".join(texts[:_TOLD]) + f"; {len(texts) - _TOLD} more" * (len(texts) > _TOLD)


def _beyond_chance(number):
    """Return how many of so many comparisons must hold to mean something.

    Where nothing differs each holds in 2.5% of studies, and so many of them in less than 5%.
    """
    chances = [math.comb(number, k) * 0.025**k * 0.975 ** (number - k) for k in range(number + 1)]
    return next(k for k in range(1, number + 2) if sum(chances[k:]) < 0.05)


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
        "By the 95% interval of the difference where the text gives one (of means Student's t with Welch's degrees of "
        "freedom, of shares Newcombe's), else by the values that it gives. open: the interval has both signs, or a "
        "part was not measured. Where many steps are compared, one in twenty that are alike seems to differ."
    )
    rows = [(each.place, each.stated, each.ours or None, each.held) for each in directions]
    return Table("What the report states, and whether it holds here", ("place", "stated", "here", "held"), rows, note)
