"""Rows of several ways to search, told apart by what differs."""

from statistics import median

import pytest

from distsearch.studies.figures import scaling, series

from .unmeasured import row


def grid(**varied):
    """Return runs of every combination of the lists, on 1, 2 and 4 ranks."""
    points = [{}]
    for name, values in varied.items():
        points = [{**point, name: value} for point in points for value in values]
    return series.runs_of([row(ranks, 8 / ranks, **point) for point in points for ranks in (1, 2, 4)])


def test_series_are_named_by_what_differs_alone():
    groups = series.grouped(grid(board=["8x8"], policy=["split", "pool"], load_factor=[4, 16, 1]))
    assert list(groups) == [f"{policy}, load factor {factor}" for policy in ("pool", "split") for factor in (1, 4, 16)]
    assert all(len(group) == 3 for group in groups.values())
    assert list(series.grouped(grid(policy=["pool"]))) == [""]
    assert series.common(grid(board=["8x8"], policy=["split", "pool"], depth=[7])) == ("othello, 8x8, depth 7", "")
    alike = grid(table=[64], exact=[True], ordering=[None], proved=[False])
    assert series.common(alike) == ("othello, exact", "table 64")


def test_what_was_not_asked_is_not_named_where_something_else_is():
    runs = grid(policy=["pool"], load_factor=[4]) + grid(policy=["split"], load_factor=[None]) + grid(policy=["split"])
    groups = series.grouped(runs)
    assert {label: len(group) for label, group in groups.items()} == {"pool, load factor 4": 3, "split": 6}
    assert list(series.grouped(grid(load_factor=[None, 2]))) == ["load factor 2", "no load factor"]


def test_values_that_look_alike_are_series_of_their_own():
    positions = ["f5" * 40 + end + "d6" * 40 for end in "ab"]
    groups = series.grouped(grid(position=positions))
    assert len(groups) == 2
    assert all(len(group) == 3 for group in groups.values())


def test_what_grows_with_the_ranks_tells_no_series_apart():
    rows = [row(ranks, 5.0, weak="depth", depth=8 + ranks, policy=policy) for ranks in (1, 2, 4) for policy in "ab"]
    assert {label: len(group) for label, group in series.grouped(series.runs_of(rows)).items()} == {"a": 3, "b": 3}


@pytest.mark.parametrize(
    "bad",
    [
        {"seconds": None},
        {"seconds": 0},
        {"seconds": float("nan")},
        {"seconds": "1"},
        {"ranks": None},
        {"ranks": True},
        {"ranks": 0},
        {"ranks": 0.5},
        {"seconds": 10**400},
        {"complete": False},
    ],
)
def test_rows_without_ranks_or_a_time_are_no_runs(bad):
    broken = row(2, 1.0)
    broken["result"].update(bad)
    assert series.runs_of([broken, row(2, 1.0)]) == series.runs_of([row(2, 1.0)])


@pytest.mark.parametrize("odd", [{"workers": [2]}, {"workers": "two"}, {"time_share": 7}, {"time_share": [1]}], ids=str)
def test_odd_values_of_a_run_are_not_told(odd):
    broken = row(2, 1.0)
    broken["result"].update(odd)
    (run,) = series.runs_of([broken])
    assert run.workers == row(2, 1.0)["result"].get("workers", 1)
    for figure in scaling.FIGURES.values():
        figure.panels([run])


def test_a_line_has_medians_from_the_least_to_the_most(rng):
    times = {ranks: [rng.uniform(1, 9) for _ in range(rng.randint(1, 6))] for ranks in (2, 3, 5, 8)}
    runs = series.runs_of([row(ranks, t, i) for ranks, each in times.items() for i, t in enumerate(each)])
    rng.shuffle(runs)
    found = series.line("a", runs, lambda run: run.ranks, lambda run: run.result["seconds"])
    assert found.points == [(ranks, median(each), min(each), max(each)) for ranks, each in sorted(times.items())]
    none = series.line("a", runs, lambda run: run.ranks, lambda run: None if run.ranks == 3 else 1.0)
    assert [point.x for point in none.points] == [2, 5, 8]
    assert series.base_of(runs, lambda run: run.result["seconds"]) == (2, median(times[2]))


def test_too_many_series_are_split_and_none_is_lost():
    runs = grid(board=["6x6", "8x8"], policy=["pool", "split", "window"], prefetch=[1, 2], depth=[1, 2, 3, 4, 5])
    for most in (1, 4, 12, 60):
        parts = series.parts(runs, most)
        assert all(0 < len(series.grouped(some)) <= most for _, some in parts)
        found = sorted(map(repr, (run for _, some in parts for run in some)))
        assert found == sorted(map(repr, runs))
        assert len({text for text, _ in parts}) == len(parts)
    assert [text for text, _ in series.parts(runs, 30)] == ["6x6", "8x8"]
