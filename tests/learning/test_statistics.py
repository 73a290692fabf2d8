"""Figures of games, window by window, against sums by hand."""

import numpy as np
import pytest

from distsearch.games import g2048
from distsearch.learning.phases import Statistics, figures


def results_of(rng, n):
    """Random results as ``td`` writes them, shape (n, 4)."""
    rows = [[1 + rng.randrange(10**6), rng.randrange(1, 16), rng.randrange(1, 5000), 1] for _ in range(n)]
    return np.array(rows, np.int64).reshape(n, 4)


def expected(rows):
    """The figures of results, by plain sums."""
    tiles = [g2048.VALUES[code] for _, code, _, _ in rows]
    return {
        "average": pytest.approx(sum(score - 1 for score, *_ in rows) / len(rows)),
        "maximum": max(score - 1 for score, *_ in rows),
        "win_rate": pytest.approx(sum(tile >= 2048 for tile in tiles) / len(rows)),
        "reached": {
            str(tile): pytest.approx(sum(each >= tile for each in tiles) / len(rows))
            for tile in sorted(set(tiles), reverse=True)
        },
        "moves": sum(moves for *_, moves, _ in rows),
    }


def told(lines, size=10, **options):
    return Statistics(size, g2048.VALUES, 11, lines.append, **options)


def test_each_line_is_of_its_own_games(rng):
    results, lines = results_of(rng, 57), []
    statistics, at, seconds = told(lines), 0, 0.0
    while at < 57:
        more = rng.choice((0, 1, 3, 10, 25))
        seconds += 0.5
        statistics.add(results[at : at + more], seconds)
        at += more
    assert statistics.games == 57
    assert [line["games"] for line in lines] == [10, 20, 30, 40, 50]
    for i, line in enumerate(lines):
        rows = results[10 * i : 10 * i + 10].tolist()
        assert {name: line[name] for name in expected(rows)} == expected(rows)
    assert list(statistics.window[:, 0]) == list(results[50:, 0] - 1)
    assert [line["seconds"] for line in lines] == sorted(line["seconds"] for line in lines)
    assert lines[-1]["seconds"] <= seconds


def test_games_that_were_given_up_do_not_count(rng):
    results, lines = results_of(rng, 30), []
    results[::3] = 0
    statistics = told(lines)
    statistics.add(results, 1.0)
    assert (statistics.games, len(lines), len(statistics.window)) == (20, 2, 0)
    kept = [row for row in results.tolist() if row[0]]
    assert lines[1]["average"] == expected(kept[10:])["average"]


def test_a_window_goes_on_where_it_was_left(rng):
    """With its games, and with the time that they took."""
    results, whole, parts = results_of(rng, 30), [], []
    statistics = told(whole)
    statistics.add(results[:14], 14.0)
    statistics.add(results[14:], 30.0)
    first = told(parts)
    first.add(results[:14], 14.0)
    assert (first.since, len(first.window)) == (14.0, 4)
    second = told(parts, games=first.games, since=first.since, window=first.window)
    second.add(results[14:], 30.0)
    assert parts == whole
    assert [line["games"] for line in parts] == [10, 20, 30]


def test_speed_is_moves_of_the_window_by_its_seconds():
    lines = []
    statistics = told(lines, since=7.0)
    statistics.add(np.array([[1, 1, 300, 1]] * 9), 8.0)
    statistics.add(np.array([[1, 1, 300, 1]] * 1), 10.0)
    assert (lines[0]["moves_per_second"], lines[0]["seconds"]) == (1000, 10.0)


def test_codes_that_nobody_reached_are_not_named():
    found = figures(np.array([[10, 3, 5], [20, 1, 6]]), g2048.VALUES, 11)
    assert found["reached"] == {"8": 0.5, "2": 1.0}
    assert (found["average"], found["maximum"], found["win_rate"], found["moves"]) == (15.0, 20, 0.0, 11)
