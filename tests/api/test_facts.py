"""What is known of work as a line for people: all of it, or as much as there is room for."""

import pytest

from distsearch.api.facts import Facts, clipped, compact, duration, width

SEARCH = {
    "seconds": 27.0,
    "nodes": 1_230_000_000,
    "move": "f5",
    "score": 3.0,
    "unit": "discs",
    "depth": 21,
    "done": 12,
    "total": 40,
    "depth_at_work": 22,
    "ranks": 17,
    "busy_ranks": 15,
    "seconds_left": 33.0,
}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {},
            "best f5: +3 discs, depth 21, 12/40 subtrees of depth 22, 1.23 G nodes, 45.6 M nodes/s, "
            "15 of 16 workers busy, 27 s, 33 s left",
        ),
        (
            {"meaning": "undecided: no win is near", "total": 1, "ranks": 1, "seconds_left": None},
            "best f5: undecided, depth 21, at work on depth 22, 1.23 G nodes, 45.6 M nodes/s, 27 s",
        ),
        (
            {"move": None, "score": None, "depth": None, "seconds": 5025.0, "nodes": 0, "seconds_left": 0.0},
            "12/40 subtrees of depth 22, 15 of 16 workers busy, 1:23:45, 0 s left",
        ),
        ({"bound": "lower", "done": 0, "nodes": 0, "ranks": 1, "depth": None}, None),
    ],
)
def test_a_search(changes, line):
    found = Facts(**{**SEARCH, **changes}).line
    assert found == line if line else found.startswith("best f5: at least +3 discs, 0/40")


def test_how_long_the_others_take_is_told_of_what_is_alike():
    games = Facts(60.0, counted="games", done=30, total=100, part="generation 3/20", more="300 moves/s")
    assert games.line == "generation 3/20, 30/100 games, 300 moves/s, 60 s, about 2:20 left"
    positions = Facts(10.0, 5000, counted="positions", done=2000)
    assert positions.line == "2,000 positions, 200 positions/s, 5 k nodes, 500 nodes/s, 10 s"
    assert Facts(10.0, counted="positions", done=2000, total=2500).line.endswith(" 10 s, about 2 s left")


@pytest.mark.parametrize("columns", range(1, 130))
def test_parts_are_left_out_and_never_cut(columns):
    whole, facts = Facts(**SEARCH).line, Facts(**SEARCH)
    short = facts.within(columns)
    assert width(short) <= columns or short == "best f5: +3 discs"
    assert set(short.split(", ")) <= set(whole.split(", "))
    assert short.startswith("best f5")
    assert width(facts.within(columns + 1)) >= width(short)


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("平手", 4), ("é", 1), ("e\u0301", 1), ("", 0)])
def test_columns_of_a_terminal(text, columns):
    assert width(text) == columns
    assert clipped(text, columns) == text
    if columns:
        assert width(clipped(text, columns - 1)) < columns


def test_what_cannot_be_printed_is_not():
    assert clipped("a\nb\x1b[31m", 80) == "a?b?[31m"


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (99.4, "99 s"), (99.6, "1:40"), (5025, "1:23:45")])
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1000, "1 k"),
        (1234, "1.23 k"),
        (45_600, "45.6 k"),
        (999_499, "999 k"),
        (999_500, "1 M"),
        (1_500_000, "1.5 M"),
        (2.5e9, "2.5 G"),
        (7.89e12, "7.89 T"),
    ],
)
def test_counts_are_short(number, text):
    assert compact(number) == text


@pytest.mark.parametrize("power", range(14))
def test_counts_stay_short_at_every_size(power):
    for factor in (1, 1.5, 9.99, 9.994, 9.995, 9.999):
        text = compact(factor * 10**power)
        assert len(text.split()[0]) <= 4, text
        assert "e" not in text
