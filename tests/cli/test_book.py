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


# --- books that grow ---


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """The file of a book of searches."""
    path = str(tmp_path_factory.mktemp("book") / "grown.npz")
    answer = ask("book", "othello", "--board", "4x4", "--make", path, "--positions", 60, "--depth", 3)
    assert answer.status == 0, answer.err
    assert "0 of 60 positions are searched already" in answer.err
    assert "othello 4x4 empties=winner, grown.npz, searched by evaluation complex, depth 3" in answer.out
    assert answer.out.endswith("of them searched, 0 wrong\n")
    return path


def test_a_grown_book_is_checked(grown):
    (found,) = ask("book", "othello", "--board", "4x4", "--book", grown, "--check", "--sample", "5", "--json").results
    assert (found["wrong"], found["solved"], found["searched"]) == (0, 5, {"evaluation": "complex", "depth": 3})
    assert list(found["plies"][0]) == ["positions", "expanded", "leaves"]


def test_positions_of_a_grown_book_are_told(grown):
    (first,) = ask("book", "othello", "--board", "4x4", "--book", grown, "--json").results
    assert (first["nodes"], first["proved"], len(first["moves"])) == (0, False, 4)
    line = "".join(first["pv"])
    rows = [ask("book", "othello", "--board", "4x4", line[: 2 * n], "--book", grown, "--json") for n in range(1, 9)]
    there = [row.results[0] for row in rows if row.status == 0]
    assert "moves" not in there[-1]  # a leaf
    assert [each["depth"] for each in there] == list(range(first["depth"] - 1, first["depth"] - 1 - len(there), -1))
    assert_refused(rows[len(there)], "grown.npz has positions of up to")


def test_searches_by_time_use_a_grown_book(grown):
    found = ask("search", "othello", "--board", "4x4", "--book", grown, "--time", "1")
    assert "none: the book grown.npz has it, " in found.out
    assert_refused(ask("search", "othello", "--board", "4x4", "--book", grown, "--exact"), "has scores by complex")
    assert_refused(
        ask("search", "othello", "--board", "4x4", "--book", grown, "--evaluation", "discs"), "has scores by complex"
    )


def test_games_begin_with_a_grown_book(grown):
    asked = "play", "othello", "--board", "4x4", "--games", "1", "--random-plies", "0", "--time", "0.02", "--json"
    (by_book,) = ask(*asked, "--book", grown).results
    assert sum(each["searched"] for each in by_book["players"]) < sum(each["moves"] for each in by_book["players"])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--make", "FILE"), ("--plies N or --positions N",)),
        (("--make", "FILE", "--plies", "2", "--positions", "9"), ("--plies N or --positions N",)),
        (("--positions", "9"), ("--plies N or --positions N",)),
        (("--make", "FILE", "--positions", "9", "--check"), ("--check",)),
        (("--make", "FILE", "--plies", "2", "--depth", "3"), ("go with --positions",)),
        (("--check", "--time", "1"), ("go with --positions",)),
        (("--make", "FILE", "--positions", "0", "--depth", "3"), ("positions 0",)),
        (("--make", "FILE", "--positions", "x"), ("positions x",)),
    ],
    ids=str,
)
def test_what_no_book_is_made_of_is_refused(asked, words, tmp_path):
    asked = [str(tmp_path / "book") if each == "FILE" else each for each in asked]
    assert_refused(ask("book", "othello", "--board", "4x4", *asked), *words)
    assert not list(tmp_path.iterdir())


def test_games_against_chance_have_no_books(tmp_path):
    asked = "--make", tmp_path / "book", "--positions", 9, "--depth", 3
    assert_refused(ask("book", "2048", "--board", "2x2", *asked), "2048 is a game against chance")
