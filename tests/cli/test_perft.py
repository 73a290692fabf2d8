"""Counts of positions on the command line."""

import pytest

from distsearch import __version__

from .asking import FULL, PASS, ask, complaints


def test_perft_counts():
    answer = ask("perft", "othello", "--depth", "4", "--json")
    assert answer.status == 0
    (count,) = answer.results
    assert count["counts"] == [1, 4, 12, 56, 244]
    assert count["nodes"] == 244
    assert count["depth"] == 4
    assert count["complete"]
    assert count["version"] == __version__


def test_perft_prints_a_line_a_depth():
    lines = ask("perft", "othello", "--depth", "7").out.splitlines()
    counts = [tuple(line.replace(",", "").split()) for line in lines[2:10]]
    assert counts == list(zip("01234567", ["1", "4", "12", "56", "244", "1396", "8200", "55092"]))


def test_perft_of_many_positions():
    answer = ask(
        "perft",
        "othello",
        "--board",
        "4x4",
        "--depth",
        "2",
        "--positions",
        "-",
        "--json",
        stdin=f"startpos\nnonsense\n{FULL}\n".encode(),
    )
    assert complaints(answer) == [2]
    assert answer.status == 1
    assert [count["counts"] for count in answer.results] == [[1, 4, 12], [1, 1, 1]]


def test_perft_of_bad_lines_only():
    answer = ask("perft", "othello", "--depth", "2", "--positions", "-", stdin=b"nonsense\n")
    assert complaints(answer) == [1]
    assert (answer.status, answer.out) == (1, "")


@pytest.mark.parametrize(("position", "counts"), [(FULL, [1, 1, 1]), (PASS, [1, 1, 4])], ids=["finished", "pass"])
def test_perft_from_other_positions(position, counts):
    answer = ask("perft", "othello", position, "--board", "4x4", "--depth", "2", "--json")
    assert answer.results[0]["counts"] == counts
