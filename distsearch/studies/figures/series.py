"""Rows of results as series: runs that differ in nothing but what stands on an axis, and repeats put together."""

import json
import math
from statistics import median
from typing import NamedTuple

from .style import UNNAMED, Line, Point

_BY_THEMSELVES = "study", "game", "board", "policy", "algorithm", "evaluation", "ordering"  # values that need no name
_FIRST = "game", "board", "depth", "exact", "weak", "policy"
_LONGEST = 24  # characters of a value
_MOST = 1e300  # of a number


class StudyRun(NamedTuple):
    """One run: what it was asked (name → plain value, without ranks), on how many ranks, and what was measured."""

    asked: dict
    ranks: int
    workers: int
    result: dict


def runs_of(rows):
    """Return the Runs of rows (see ``results``) that tell ranks and a time and were not interrupted.

    Where work grows with the ranks (``weak``) what grows is not what tells two series apart.
    """
    found = []
    for row in rows:
        point, result = row["point"], row["result"]
        ranks = result.get("ranks", point.get("ranks"))
        if not (
            isinstance(ranks, int)
            and _is_number(ranks)
            and ranks > 0
            and _is_number(result.get("seconds"))
            and result["seconds"] > 0
        ):
            continue
        if result.get("complete") is False:
            continue
        asked = {name: _plain(value) for name, value in {"study": row["study"], **point}.items()}
        grown = asked.get("weak") or None
        asked = {name: value for name, value in asked.items() if name not in ("ranks", "workers", grown)}
        found.append(StudyRun(asked, int(ranks), int(number(result, "workers") or max(1, ranks - 1)), result))
    return found


def _plain(value):
    return json.dumps(value, sort_keys=True) if isinstance(value, list | dict) else value


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MOST  # nor is it NaN


def number(result, name):
    """Return a finite number of a result, or None."""
    value = result.get(name)
    return value if _is_number(value) else None


def differing(runs):
    """Return the names of what was not asked alike of all runs, in the order in which they first come up."""
    names = dict.fromkeys(name for run in runs for name in run.asked)
    return [name for name in names if len({repr(run.asked.get(name)) for run in runs}) > 1]


def common(runs):
    """Return what was asked alike of all runs, as two texts: the work and the policy, and all else."""
    apart = differing(runs)
    shared = {name: value for run in runs[:1] for name, value in run.asked.items() if name not in apart}
    shared = {name: value for name, value in shared.items() if value is not None and value is not False}
    if shared.get("positions") == 1:
        del shared["positions"]
    first = [told(name, value) for name, value in shared.items() if name in _FIRST]
    rest = [told(name, value) for name, value in shared.items() if name not in (*_FIRST, "study")]
    return ", ".join(first), ", ".join(rest)


def told(name, value):
    """Return a parameter as a legend has it."""
    if name == "ranks":
        return f"{value} ranks"
    name = name.replace("_", " ")
    if value is None or value is False:
        return f"no {name}"
    if value is True:
        return name
    text = f"{value:,g}" if isinstance(value, float) else str(value)
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 + 1 :]}"
    return text if name in _BY_THEMSELVES else f"{name} {text}"


def grouped(runs, without=()):
    """Return {label: [StudyRun]} of runs that differ in nothing but ``without``; labels name what differs."""
    names = [name for name in differing(runs) if name not in without]
    groups = {}
    for run in runs:
        groups.setdefault(tuple(repr(run.asked.get(name)) for name in names), []).append(run)
    labels = {}
    for group in sorted(groups.values(), key=lambda group: _order(group[0], names)):
        label = _label(group[0], names) or UNNAMED
        labels[label if label not in labels else f"{label} ({len(labels) + 1})"] = group
    return labels


def _label(run, names):
    """Return what tells a series from others; what was not asked is not told where something else is."""
    values = {name: run.asked.get(name) for name in names}
    return ", ".join(told(*each) for each in values.items() if each[1] is not None) or ", ".join(
        told(*each) for each in values.items()
    )


def _order(run, names):
    """Sort key by values, of which some may be texts and others numbers."""
    values = (run.asked.get(name) for name in names)
    return [(0, value, "") if _is_number(value) else (1, 0, str(value)) for value in values]


def line(label, runs, x, y):
    """Return the Line of some runs: at every x(run) the median of y(run), from the least to the most of them.

    What has no value (None) is left out.
    """
    values = {}
    for run in runs:
        place, value = x(run), y(run)
        if place is not None and value is not None and math.isfinite(value):
            values.setdefault(place, []).append(value)
    return Line(label, [Point(at, median(each), min(each), max(each)) for at, each in sorted(values.items())])


def base_of(runs, value):
    """Return (ranks, median of value(run)) of the runs on the fewest ranks that have one; (None, None) without."""
    values = {}
    for run in runs:
        if value(run) is not None:
            values.setdefault(run.ranks, []).append(value(run))
    return (min(values), median(values[min(values)])) if values else (None, None)


def parts(runs, most, without=()):
    """Return [(text, runs)] with at most so many series each, split by what differs and has the fewest values.

    The text says what is alike in a part, and is empty where all runs are one.
    """
    names = [name for name in differing(runs) if name not in without]
    if len(grouped(runs, without)) <= most or not names:
        return [("", runs)]
    counts = {name: len({repr(run.asked.get(name)) for run in runs}) for name in names}
    by = min(names, key=counts.get)
    found = {}
    for run in sorted(runs, key=lambda run: _order(run, [by])):
        found.setdefault(told(by, run.asked.get(by)), []).append(run)
    return [
        (", ".join(filter(None, (text, more))), few)
        for text, some in found.items()
        for more, few in parts(some, most, without)
    ]
