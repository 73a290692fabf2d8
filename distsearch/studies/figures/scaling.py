"""Figures of scaling, of rows as ``results`` keeps them: a function a figure, from runs to the panels of a chart.

Speedup is time on the fewest ranks ÷ time, for the same work. Efficiency by time is speedup ÷ ranks; by nodes it is
nodes a second and rank, compared with those on the fewest ranks, which does not count nodes that one rank would not
have searched. Load balance is mean ÷ maximum of the workers' busy times. These are the OthelloX report's figures.
"""

from collections.abc import Callable
from typing import NamedTuple

from . import series
from .style import Line, Panel, Point

_POOLED = "pool", "window"  # policies that have a pool, which the load factor is the size of
_RANKS = "ranks"


def speedup(runs):
    """Return the Panels of speedup against ranks, with the ideal; none where no series has two numbers of ranks."""
    lines, ideal = [], {}
    for label, group in series.grouped(runs).items():
        fewest, took = series.base_of(group, _seconds)
        lines.append(series.line(label, group, _ranks, lambda run, took=took: took / _seconds(run)))
        if _several(lines[-1]):
            most = lines[-1].points[-1].x
            ideal[fewest] = max(most, ideal.get(fewest, 0))
    named = len(ideal) > 1
    ideals = tuple(
        Line(
            f"ideal, over {fewest} rank{'s' * (fewest > 1)}" if named else "ideal",
            [_at(fewest, 1), _at(most, most / fewest)],
        )
        for fewest, most in ideal.items()
    )
    return [Panel("", _RANKS, "speedup", lines, ideals)] if ideal else []


def efficiency(runs):
    """Return the Panels of efficiency by time and by nodes against ranks."""
    by_time, by_nodes = [], []
    for label, group in series.grouped(runs).items():
        fewest, took = series.base_of(group, _seconds)
        _, rate = series.base_of(group, _rate_of_a_rank)
        by_time.append(
            series.line(
                label, group, _ranks, lambda run, took=took, fewest=fewest: took * fewest / _seconds(run) / run.ranks
            )
        )
        by_nodes.append(series.line(label, group, _ranks, lambda run, rate=rate: _ratio(_rate_of_a_rank(run), rate)))
    return _panels(("by time", "efficiency", by_time), ("by nodes a second", "efficiency", by_nodes))


def weak(runs):
    """Return the Panels of runs whose work grows with the ranks: their times, and what a rank does a second."""
    times, nodes, positions = [], [], []
    for label, group in series.grouped(runs).items():
        _, rate = series.base_of(group, _rate_of_a_rank)
        times.append(series.line(label, group, _ranks, _seconds))
        nodes.append(series.line(label, group, _ranks, lambda run, rate=rate: _ratio(_rate_of_a_rank(run), rate)))
        if group[0].asked.get("weak") == "positions":
            _, done = series.base_of(group, _positions_of_a_rank)
            positions.append(
                series.line(label, group, _ranks, lambda run, done=done: _ratio(_positions_of_a_rank(run), done))
            )
    return _panels(
        ("work that grows with the ranks", "seconds", times),
        ("by positions a second", "efficiency", positions),
        ("by nodes a second", "efficiency", nodes),
    )


def balance(runs):
    """Return the Panel of load balance against the size of the pool, in subtrees: load factor × workers."""
    lines = [
        series.line(label, group, _pool, lambda run: series.number(run.result, "load_balance"))
        for label, group in series.grouped(runs, ["load_factor"]).items()
    ]
    return _panels(("", "load balance", lines), x="size of the pool (load factor × workers)")


def nodes(runs):
    """Return the Panels of nodes, and nodes a second, against ranks."""
    groups = series.grouped(runs)
    searched = [series.line(label, group, _ranks, _nodes) for label, group in groups.items()]
    rates = [series.line(label, group, _ranks, _rate) for label, group in groups.items()]
    return _panels(("", "nodes searched", searched), ("", "nodes a second", rates))


def communication(runs):
    """Return the Panels of communication ÷ computation, and of idle time, against ranks."""
    groups = series.grouped(runs)
    ratios = [series.line(label, group, _ranks, _communication) for label, group in groups.items()]
    idle = [series.line(label, group, _ranks, lambda run: _share(run, "idle")) for label, group in groups.items()]
    return _panels(("", "communication ÷ computation", ratios), ("", "idle, of the workers' time", idle))


class Figure(NamedTuple):
    """what: it is of; chosen(runs): those that it is of; panels(runs): of these; within: what differs along a line."""

    what: str
    chosen: Callable
    panels: Callable
    within: tuple = ()


def _weak(runs):
    return [run for run in runs if run.asked.get("weak")]


def _strong(runs):
    return [run for run in runs if not run.asked.get("weak")]


def _pooled(runs):
    """Return runs with a pool, told apart by their ranks where load factors differ: else a line is of all ranks."""
    runs = [run for run in runs if _pool(run) is not None and run.workers > 1]  # one worker alone is always balanced
    if "load_factor" not in series.differing(runs):
        return runs
    return [run._replace(asked={**run.asked, "ranks": run.ranks}) for run in runs]


FIGURES = {  # by the names of their files
    "speedup": Figure("Speedup", _strong, speedup),
    "efficiency": Figure("Efficiency", _strong, efficiency),
    "weak": Figure("Weak scaling", _weak, weak),
    "balance": Figure("Load balance", _pooled, balance, ("load_factor",)),
    "nodes": Figure("Nodes", list, nodes),
    "communication": Figure("Communication and idleness", list, communication),
}
_SHARES = "efficiency", "load balance", "communication ÷ computation", "idle, of the workers' time"


def _panels(*told, x=_RANKS):
    """Return a Panel for each (title, y, lines) that has a point."""
    kept = [(title, y, [line for line in lines if line.points]) for title, y, lines in told]
    return [Panel(title, x, y, lines, percent=y in _SHARES) for title, y, lines in kept if lines]


def _several(line):
    return len(line.points) > 1


def _at(x, y):
    return Point(x, y, y, y)


def _ranks(run):
    return run.ranks


def _seconds(run):
    return series.number(run.result, "seconds")


def _nodes(run):
    found = series.number(run.result, "nodes")
    return series.number(run.result, "nodes") if found is None else found


def _rate(run):
    searched = _nodes(run)
    return searched / _seconds(run) if searched else None


def _rate_of_a_rank(run):
    rate = _rate(run)
    return rate / run.ranks if rate else None


def _positions_of_a_rank(run):
    done = series.number(run.result, "positions")
    return done / _seconds(run) / run.ranks if done else None


def _ratio(value, base):
    return value / base if value is not None and base else None


def _share(run, name):
    shares = run.result.get("time_share")
    return series.number(shares, name) if isinstance(shares, dict) else None


def _communication(run):
    told = series.number(run.result, "communication_computation")
    return _ratio(_share(run, "communication"), _share(run, "busy")) if told is None else told


def _pool(run):
    factor = series.number(run.asked, "load_factor") or series.number(run.result, "load_factor")
    return factor * run.workers if factor and run.asked.get("policy", "pool") in _POOLED else None
