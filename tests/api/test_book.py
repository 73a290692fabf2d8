"""Books made by a session, checked, and used in the place of searches."""

import json
import shutil
from itertools import product

import numpy as np
import pytest

from distsearch.api import book_maker, devices
from distsearch.api.book import WITHOUT, find_book, opened
from distsearch.api.book_maker import SUFFIX, check, make
from distsearch.api.options import Options, resolve
from distsearch.api.session import Session, search
from distsearch.books import book as books
from distsearch.books.book import Content, load, save
from distsearch.core.errors import UserError
from distsearch.games import connect4
from distsearch.games.interface import legal_moves
from distsearch.testing.emulated_gpu import EmulatedGpu

from ..books import plain_connect4

BOARD, PLIES = "4x4", 5
EXACT = Options("connect4", (4, 4), exact=True)
RULES = connect4.rules((4, 4))
TEXTS = ["".join(moves) for plies in range(4) for moves in product("1234", repeat=plies)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The file of a book."""
    path = str(tmp_path_factory.mktemp("book") / "book.npz")
    with Session(table=1, book=WITHOUT) as session:
        report = make(session, EXACT, path, PLIES)
    assert report.solved == report.plies[-1]["positions"] == 218
    return path


@pytest.fixture(scope="module")
def session(path):
    with Session(table=1, book=path) as session:
        yield session


@pytest.fixture(scope="module")
def plain():
    with Session(table=1, book=WITHOUT) as session:
        yield session


# --- making and checking ---


def test_a_book_has_the_scores_of_plain_searches(path, plain):
    book = opened(path, EXACT)
    assert book.plies == PLIES
    for level, states in zip(plain_connect4.levels(PLIES), book.expansion.levels(PLIES), strict=True):
        texts = [moves or "startpos" for moves in level]
        assert len(states) == len(texts)
        for text, found in zip(texts, plain.solve("connect4", texts, board=BOARD), strict=True):
            assert book.score(book.find(connect4.parse(text, RULES).state)) == found.score


def test_a_check_counts_and_finds_nothing_wrong(path, plain):
    report = check(plain, EXACT, path, 50, seed=1)
    values = [
        [plain_connect4.value(plain_connect4.played(moves)) for moves in each] for each in plain_connect4.levels(PLIES)
    ]
    assert report.plies == [
        {
            "positions": len(each),
            "won": sum(value > 0 for value in each),
            "drawn": sum(value == 0 for value in each),
            "lost": sum(value < 0 for value in each),
        }
        for each in values
    ]
    assert report.wrong == 0
    assert 50 < report.solved <= 100
    assert json.loads(report.to_json())["plies"] == report.plies
    total = sum(map(len, values))
    assert report.to_text().endswith(f"  {total:,} positions, {report.solved:,} of them solved, 0 wrong")


@pytest.mark.parametrize("what", ["score", "move"])
@pytest.mark.parametrize("last", [False, True])
def test_a_wrong_entry_is_found(path, plain, tmp_path, what, last):
    book = opened(path, EXACT)
    levels = list(book.expansion.levels(PLIES))
    entries = {name: np.array(array) for name, array in book.entries.items()}
    index = book.find(tuple(levels[-1 if last else 3][0]))
    entries[what][index] = entries[what][index] + 1 if what == "score" else 99
    save(str(tmp_path / "wrong"), Content(book.heading, PLIES, entries))
    assert check(plain, EXACT, str(tmp_path / "wrong"), 1000, seed=0).wrong >= 1


def test_a_book_with_another_position_is_refused(path, plain, tmp_path):
    content = load(path)
    entries = {name: array[:-1] for name, array in content.entries.items()}
    save(str(tmp_path / "less"), content._replace(entries=entries))
    with pytest.raises(UserError, match="each position"):
        check(plain, EXACT, str(tmp_path / "less"), 1, seed=0)


def test_a_book_is_gone_on_with_after_an_interrupt(path, tmp_path, monkeypatch):
    asked = []
    with Session(table=1, book=WITHOUT, interrupted=lambda: len(asked) > 2) as session:
        monkeypatch.setattr(book_maker.SolvedLog, "append", lambda log, *found: asked.append(_append(log, *found)))
        monkeypatch.setattr("distsearch.api.solve._CHUNK", 20)
        new = str(tmp_path / "book")
        assert make(session, EXACT, new, PLIES) is None
        assert not (tmp_path / "book").exists()
        so_far = len((tmp_path / f"book{SUFFIX}").read_text().splitlines()) - 1
        assert 0 < so_far < 218
        asked.clear()
        session.interrupted = lambda: False
        assert make(session, EXACT, new, PLIES).solved == 218 - so_far
    assert not (tmp_path / f"book{SUFFIX}").exists()
    one, other = load(path).entries, load(new).entries
    assert one["score"].tolist() == other["score"].tolist()
    assert one["key"].tolist() == other["key"].tolist()


_append = book_maker.SolvedLog.append


@pytest.mark.parametrize("game", ["connect4", "othello"])
def test_a_book_may_end_with_the_game(game, tmp_path, plain):
    board = {"connect4": (2, 2), "othello": (4, 4)}[game]
    options, path = Options(game, board, exact=True), str(tmp_path / "book")
    plies = {"connect4": 9, "othello": 4}[game]
    made = make(plain, options, path, plies)
    checked = check(plain, options, path, 20, seed=0)
    assert (checked.plies, checked.wrong) == (made.plies, 0)
    with Session(table=1, book=path) as session:
        found = session.search(game, board=f"{board[0]}x{board[1]}", exact=True)
    assert found.nodes == 0
    assert found.score == plain.search(game, board=f"{board[0]}x{board[1]}", exact=True).score


def test_what_cannot_be_made_is_refused(plain, path, tmp_path):
    for plies in (0, 21):
        with pytest.raises(UserError, match="plies"):
            make(plain, EXACT, str(tmp_path / "book"), plies)
    with pytest.raises(UserError, match="exists"):
        make(plain, EXACT, path, 2)
    with pytest.raises(UserError, match="cannot write"):
        make(plain, EXACT, str(tmp_path / "missing" / "book"), 2)


# --- answers ---


def test_a_search_is_answered_without_a_node(session, plain):
    for text in TEXTS[1:]:
        found = session.search("connect4", text, board=BOARD, exact=True)
        board = plain_connect4.played(text)
        assert (found.nodes, found.book, found.proved, found.complete) == (0, "book.npz", True, True)
        assert (found.score, found.bound, found.unit) == (plain_connect4.value(board), "exact", "stones")
        assert plain_connect4.move_value(board, int(found.move) - 1) == found.score
        assert found.depth == 16 - len(text)
        assert found.position == plain.search("connect4", text, board=BOARD, depth=1).position


def test_a_line_is_legal_and_keeps_the_score(session):
    for text in TEXTS[1:]:
        found = session.search("connect4", text, board=BOARD)
        board, score = plain_connect4.played(text), found.score
        over = False
        for move in found.pv:
            assert not over
            assert plain_connect4.move_value(board, int(move) - 1) == score
            board, score = plain_connect4.after(board, int(move) - 1), -score
            over = plain_connect4.wins(board, int(move) - 1)
        assert over or len(text) + len(found.pv) == PLIES + 1


def test_every_move_has_its_score(session, plain):
    found = session.search("connect4", "12", board=BOARD, time=1.0, all_moves=True)
    board = plain_connect4.played("12")
    assert found.moves == [{"move": str(c + 1), "score": plain_connect4.move_value(board, c)} for c in range(4)]
    last = session.search("connect4", "12341", board=BOARD, exact=True, all_moves=True)
    assert last.nodes > 0  # what is below the last ply is not in the book
    assert len(last.moves) == 4


@pytest.mark.parametrize(
    "asked",
    [{"depth": 4}, {"nodes": 100}, {"exact": True, "window": (-1, 1)}, {"exact": True, "algorithm": "minimax"}]
    + [{"exact": True, "ordering": "static"}],
    ids=str,
)
def test_other_questions_are_searched(session, asked):
    found = session.search("connect4", "12", board=BOARD, **asked)
    assert found.nodes > 0
    assert found.book is None


def test_other_positions_and_other_games_are_searched(session):
    assert session.search("connect4", "1234123", board=BOARD, exact=True).nodes > 0
    assert session.search("connect4", "1234", board="4x5", exact=True).nodes > 0
    assert session.search("othello", board="4x4", exact=True).nodes > 0
    assert session.search("2048", "2,2,0,0", board="2x2", depth=3).nodes > 0


@pytest.mark.parametrize("limit", [{}, {"time": 1.0}, {"all_moves": True}], ids=str)
def test_a_stream_mixes_what_is_known_and_what_is_not(session, plain, limit, rng):
    texts = [*TEXTS[1:], *("".join(rng.choices("1234", k=7)) for _ in range(60))]
    texts = [text for text in texts if _is_legal(text)]
    rng.shuffle(texts)
    expected = list(plain.solve("connect4", texts, board=BOARD, all_moves=True))
    found = list(session.solve("connect4", texts, board=BOARD, **limit))
    assert [each.score for each in found] == [each.score for each in expected]
    assert [each.position for each in found] == [each.position for each in expected]
    assert [each.nodes == 0 for each in found] == [each.book is not None for each in found]
    assert 0 < sum(each.nodes == 0 for each in found) < len(found)
    if "all_moves" in limit:
        moves = [sorted(map(tuple, map(dict.items, each.moves))) for each in (*found, *expected)]
        assert moves[: len(found)] == moves[len(found) :]


def _is_legal(text):
    try:
        return bool(legal_moves(connect4, connect4.parse(text, RULES), RULES))
    except UserError:
        return False


def test_a_book_that_is_not_proved_answers_no_exact_search(tmp_path, path):
    content = load(path)
    entries = {**content.entries, "depth": np.full(len(content.entries["key"]), 9)}
    save(str(tmp_path / "deep"), content._replace(entries=entries))
    with Session(table=1, book=str(tmp_path / "deep")) as session:
        assert session.search("connect4", "12", board=BOARD, exact=True).nodes > 0
        found = session.search("connect4", "12", board=BOARD, time=1.0)
    assert (found.nodes, found.proved, found.depth, found.unit) == (0, False, 9, "evaluation")


# --- which book ---


def test_the_book_that_is_shipped_is_used_by_default(path, tmp_path, monkeypatch):
    monkeypatch.setattr(books, "_FOLDER", tmp_path)
    shutil.copy(path, tmp_path / "connect4_4x4.npz")
    assert search("connect4", board=BOARD, exact=True).book == "connect4_4x4.npz"
    assert search("connect4", board="4x3", exact=True).book is None
    with Session(table=1, book=WITHOUT) as session:
        assert session.search("connect4", board=BOARD, exact=True).book is None


def test_a_book_of_other_rules_is_not_used(tmp_path, plain):
    options, path = Options("othello", (4, 4), {"empties": "none"}, exact=True), str(tmp_path / "book")
    make(plain, options, path, 2)
    assert find_book(path, options) is not None
    assert find_book(path, Options("othello", (4, 4), exact=True)) is None
    with pytest.raises(UserError, match="othello 4x4 empties=none, not of othello 4x4 empties=winner"):
        opened(path, Options("othello", (4, 4), exact=True))


def test_no_book_is_told():
    with pytest.raises(UserError, match="no book of connect4 5x5"):
        opened(None, resolve("connect4", "5x5", exact=True)[0])


def test_a_gpu_makes_the_same_book(path, tmp_path, monkeypatch):
    monkeypatch.setattr(devices, "chosen", lambda comm, name: EmulatedGpu(1))
    new = str(tmp_path / "book")
    with Session(device="gpu", book=WITHOUT) as session:
        make(session, EXACT, new, 2)
        assert check(session, EXACT, new, 8, seed=0).wrong == 0
    one, other = opened(path, EXACT), opened(new, EXACT)
    for states in other.expansion.levels(2):
        scores = [book.entries["score"][book.find_all(states)].tolist() for book in (one, other)]
        assert scores[0] == scores[1]


@pytest.mark.parametrize("share", ["games", "tree"])
def test_games_are_played_by_the_book_as_far_as_it_goes(session, plain, share):
    asked = {"game": "connect4", "board": BOARD, "games": 2, "random_plies": 0, "share": share, "exact": True}
    summaries = session.play(**asked), plain.play(**asked)
    assert all(summary.complete for summary in summaries)
    by_book, searched = (sum(tally.nodes for tally in summary.tallies) for summary in summaries)
    assert by_book < searched / 2
