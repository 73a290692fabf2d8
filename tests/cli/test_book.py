"""Opening books on the command line: made, checked, looked into and used."""

import pytest

from .asking import ask, assert_refused

SMALL = "connect4", "--board", "4x4"
PLIES = 3


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The file of a book."""
    path = str(tmp_path_factory.mktemp("book") / "small.npz")
    answer = ask("book", *SMALL, "--make", path, "--plies", PLIES)
    assert answer.status == 0, answer.err
    assert "26 of 26 positions of 3 plies are left to be solved" in answer.err
    assert "37 positions, 26 of them solved, 0 wrong" in answer.out
    return path


def test_a_check_finds_nothing_wrong(path):
    answer = ask("book", *SMALL, "--book", path, "--check", "--sample", "5", "--json")
    assert answer.status == 0, answer.err
    (found,) = answer.results
    assert (found["game"], found["wrong"]) == ("connect4 4x4", 0)
    assert 5 <= found["solved"] <= 10
    assert [row["positions"] for row in found["plies"]] == [1, 2, 8, 26]


def test_a_position_is_told_with_its_moves_and_its_line(path):
    rows = dict(line.split(maxsplit=1) for line in ask("book", *SMALL, "22", "--book", path).out.splitlines())
    assert rows["score"] == "+0 stones"
    assert rows["search"] == "none: the book small.npz has it"
    (found,) = ask("book", *SMALL, "22", "--book", path, "--json").results
    assert [each["move"] for each in found["moves"]] == ["1", "2", "3", "4"]
    assert len(found["pv"]) == 2
    assert found["book"] == "small.npz"


def test_the_last_ply_has_no_scores_of_moves(path):
    (found,) = ask("book", *SMALL, "221", "--book", path, "--json").results
    assert "moves" not in found
    assert len(found["pv"]) == 1


def test_a_position_that_is_not_there_is_told(path):
    assert_refused(ask("book", *SMALL, "2213", "--book", path), "small.npz", "up to 3 plies")


def test_searches_use_the_book_they_are_given(path):
    (found,) = ask("search", *SMALL, "22", "--book", path, "--json").results
    assert (found["nodes"], found["book"], found["score"], found["proved"]) == (0, "small.npz", 0, True)
    (plain,) = ask("search", *SMALL, "22", "--book", "none", "--exact", "--json").results
    assert "book" not in plain
    assert plain["nodes"] > 0
    assert (plain["score"], plain["position"], plain["depth"]) == (0, found["position"], found["depth"])


def test_lines_are_answered_by_the_book_they_are_given(path):
    lines = b"22\n3\n9\n1122\n"
    asked = [ask("solve", *SMALL, "--book", book, "-a", stdin=lines) for book in (path, "none")]
    assert asked[0].out == asked[1].out
    assert [each.status for each in asked] == [1, 1]
    found = ask("solve", *SMALL, "--book", path, "--positions", "-", "--json", stdin=lines).results
    assert [each["nodes"] == 0 for each in found] == [True, True, False]


def test_a_book_of_another_board_is_refused(path):
    assert_refused(ask("search", "connect4", "--board", "4x5", "--book", path), "connect4 4x4, not of connect4 4x5")


def test_a_wrong_book_is_told_by_the_status(path, tmp_path):
    from distsearch.books.book import load, save

    content = load(path)
    wrong = str(tmp_path / "wrong")
    save(wrong, content._replace(entries={**content.entries, "score": content.entries["score"] + 1}))
    answer = ask("book", *SMALL, "--book", wrong, "--check")
    assert answer.status == 1
    assert answer.out.endswith("37 wrong\n")
