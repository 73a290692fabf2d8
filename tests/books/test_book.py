"""The file of a book, and look-ups in it."""

import os

import numpy as np
import pytest

from distsearch.books.book import ENTRY, NONE, Book, Content, best_of, described, heading, load, places, save, shipped
from distsearch.books.expansion import Children, Expansion
from distsearch.core import archive
from distsearch.core.errors import UserError
from distsearch.games import connect4, othello
from distsearch.games.interface import PASS

from . import plain_connect4

BOARD, PLIES = (4, 4), 4
RULES = connect4.rules(BOARD)
OF = heading(connect4, BOARD, {})


@pytest.fixture(scope="module")
def entries():
    """The arrays of a book with the scores of the plain program, and its last best move in the canonical state."""
    expansion, found = Expansion(connect4, RULES), {}
    for level in plain_connect4.levels(PLIES):
        for moves in level:
            states = np.array([connect4.parse(moves, RULES).state], np.uint64)
            canonical = np.array([connect4_canonical(states[0])], np.uint64)
            board = plain_connect4.played(moves)
            if (canonical != states).any():
                board = plain_connect4.mirrored(board)
            values = {c: plain_connect4.move_value(board, c) for c in plain_connect4.free(board)}
            best = max(values.values())
            found[int(expansion.keys(states)[0])] = best, max(c for c in values if values[c] == best), 0
    rows = np.array([(key, *found[key]) for key in sorted(found)], ENTRY)
    return {name: rows[name].copy() for name in ENTRY.names}


def connect4_canonical(state):
    from distsearch.games.connect4_knowledge import canonical

    return canonical(tuple(map(np.uint64, state.tolist())), RULES)


@pytest.fixture(scope="module")
def book(entries):
    return Book("folder/name.npz", Content(OF, PLIES, entries), connect4, RULES)


def test_a_file_gives_back_what_was_saved(tmp_path, entries):
    path = str(tmp_path / "book")
    save(path, Content(OF, PLIES, entries))
    found = load(path)
    assert (found.heading, found.plies) == (OF, PLIES)
    assert {name: array.tolist() for name, array in found.entries.items()} == {
        name: array.tolist() for name, array in entries.items()
    }
    assert found.entries["key"].dtype == np.uint64


def test_large_books_are_mapped(tmp_path):
    path, size = str(tmp_path / "book"), 1 << 15
    save(path, Content(OF, 9, {name: np.arange(size) % (size if name == "key" else 100) for name in ENTRY.names}))
    assert isinstance(load(path).entries["key"], np.memmap)
    assert os.path.getsize(path) < 14 * size


@pytest.mark.parametrize(
    "damage", ["cut", "flipped", "garbage", "empty", "weights", "version", "arrays", "order", "none"]
)
def test_a_file_that_is_no_whole_book_is_refused(tmp_path, entries, damage):
    path = tmp_path / "book"
    save(str(path), Content(OF, PLIES, entries))
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    path.write_bytes({"cut": content[:-200], "garbage": b"PK\x03\x04" * 99, "empty": b""}.get(damage, content))
    if damage == "weights":
        archive.save(path, "weights", {}, entries)
    if damage == "version":
        archive.save(path, "opening books", {"format": 99, **OF, "plies": 3}, entries)
    if damage == "arrays":
        archive.save(path, "opening books", {"format": 1, **OF, "plies": 3}, {"key": entries["key"]})
    if damage == "order":
        archive.save(path, "opening books", {"format": 1, **OF, "plies": 3}, {n: a[::-1] for n, a in entries.items()})
    if damage == "none":
        archive.save(path, "opening books", {"format": 1, **OF, "plies": 3}, {n: a[:0] for n, a in entries.items()})
    with pytest.raises(UserError, match=str(path)):
        load(str(path))


@pytest.mark.parametrize(
    "changed",
    [
        {"plies": -1},
        {"plies": True},
        {"plies": 10**30},
        {"searched": {"evaluation": "static", "time": "long"}},
        {"searched": {"evaluation": "static", "selective": -0.5}},
        {"searched": {"evaluation": "static", "depth": float("nan")}},
    ],
)
def test_a_header_that_no_book_has_is_refused(tmp_path, entries, changed):
    path = str(tmp_path / "book")
    archive.save(path, "opening books", {"format": 1, **OF, "plies": 3, **changed}, entries)
    with pytest.raises(UserError, match="another version"):
        load(path)


def test_a_single_number_is_no_array_of_keys(tmp_path, entries):
    path = str(tmp_path / "book")
    one = {name: array[0] for name, array in entries.items()}
    archive.save(path, "opening books", {"format": 1, **OF, "plies": 3}, one)
    with pytest.raises(UserError, match="arrays"):
        load(path)


def test_moves_that_are_not_legal_are_in_no_line(entries):
    for odd in (-1, 4, 99, 32767, -32768):
        moves = np.full_like(entries["move"], odd)
        book = Book("name", Content(OF, PLIES, {**entries, "move": moves}), connect4, RULES)
        assert book.line(connect4.start(RULES)) == []


def test_a_book_of_passes_has_no_endless_line():
    rules = othello.rules((4, 4))
    expansion, start = Expansion(othello, rules), othello.start(rules)
    states = np.array([start.state, othello.play(start.state, rules, PASS)[0]], np.uint64)
    keys = np.unique(expansion.keys(states))
    found = {name: np.zeros(len(keys), ENTRY[name]) for name in ENTRY.names} | {"key": keys}
    found["move"][:] = PASS
    book = Book("name", Content(heading(othello, (4, 4), {}), 1, found), othello, rules)
    assert book.line(start) == []


def test_a_file_that_cannot_be_read_or_written_is_told(tmp_path, entries):
    with pytest.raises(UserError, match="No such file"):
        load(str(tmp_path / "missing"))
    with pytest.raises(UserError, match="cannot write"):
        save(str(tmp_path / "missing" / "book"), Content(OF, PLIES, entries))


def test_every_position_and_its_mirror_image_is_found(book):
    for level in plain_connect4.levels(PLIES):
        for moves in level:
            for text in (moves, "".join(str(5 - int(move)) for move in moves)):
                board, position = plain_connect4.played(text), connect4.parse(text, RULES)
                index = book.find(position.state)
                assert book.score(index) == plain_connect4.value(board)
                (first, *_) = book.line(position)
                assert plain_connect4.move_value(board, first) == book.score(index)


def test_a_line_keeps_the_score_and_ends_a_move_after_the_book(book):
    line = book.line(connect4.start(RULES))
    assert len(line) == PLIES + 1
    board, score = plain_connect4.played(""), book.score(book.find(connect4.start(RULES).state))
    for c in line:
        assert plain_connect4.move_value(board, c) == score
        board, score = plain_connect4.after(board, c), -score


def test_moves_have_their_scores_as_far_as_all_are_known(book):
    board = plain_connect4.played("122")
    expected = [(c, plain_connect4.move_value(board, c)) for c in range(4)]
    assert book.moves(connect4.parse("122", RULES).state) == expected
    assert book.moves(connect4.parse("1222", RULES).state) is None


def test_other_positions_are_not_found(book):
    deeper = connect4.parse("12341", RULES)
    assert book.find(deeper.state) == NONE
    assert book.line(deeper) == []
    assert book.find_all(np.empty((0, 2), np.uint64)).tolist() == []


def test_keys_of_another_version_are_refused(entries):
    with pytest.raises(UserError, match="first position"):
        Book("name", Content(OF, PLIES, {**entries, "key": entries["key"] + 1}), connect4, RULES)


def test_places_of_keys():
    keys = np.array([2, 5, 9], np.uint64)
    assert places(keys, np.array([9, 0, 5, 10, 2, 6], np.uint64)).tolist() == [2, NONE, 1, NONE, 0, NONE]


def test_the_first_of_the_best_children_is_taken():
    parents, moves = np.array([0, 0, 0, 1, 2, 2]), np.array([7, 8, 9, 4, -1, 3])
    below = Children(None, None, parents, moves, None, None)
    best, first = best_of(below, np.array([1, 5, 5, -2, 0, 0]))
    assert (best.tolist(), first.tolist()) == ([5, -2, 0], [8, 4, -1])


def test_a_heading_tells_rules_apart():
    assert heading(othello, (8, 8), {}) == heading(othello, (8, 8), {"empties": "winner"})
    assert heading(othello, (8, 8), {}) != heading(othello, (8, 8), {"empties": "none"})
    assert described(heading(othello, (8, 8), {"empties": "none"})) == "othello 8x8 empties=none"
    assert described({}) == "None ?"


def test_a_heading_without_sense_is_told_in_words():
    assert described({"game": ["x"], "board": 3, "rules": [1]}) == "['x'] ?"


def test_books_are_shipped_for_some_boards():
    assert shipped(connect4, (5, 5)) is None
