"""Othello's rules: against a plain-list twin on every kind of board, and by known numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch.core.errors import UserError
from distsearch.games import knowledge, othello
from distsearch.games.interface import END, MAX, PASS, Position, legal_moves, step
from distsearch.testing import contract

from . import reading
from .othello_twin import DIRECTIONS, OthelloTwin, name, random_position

# one uint64 a side up to 4×16, two words from 9×8 on, three for 12×13, four for 16×16
SHAPES = [(4, 4), (5, 7), (6, 6), (8, 8), (4, 16), (16, 4), (9, 8), (10, 10), (12, 13), (16, 16)]
shapes = pytest.mark.parametrize("board", SHAPES, ids=lambda board: f"{board[0]}x{board[1]}")
options = pytest.mark.parametrize("empties", othello.OPTIONS["empties"])

PERFT = {
    (6, 6): [4, 12, 56, 244, 1364, 7604, 47740, 308716, 2114912, 14976792],
    (8, 8): [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800, 1939886636],
}

# the shortest ways to a forced pass that we know, with the pass and one more move
PASS_GAMES = {
    (4, 4): (["d3", "d2", "b1", "d4", "pass", "a1"], "OX---OXO-XOO---O X"),
    (8, 8): (
        ["e6", "f6", "g6", "g7", "d3", "h6", "h8", "f8", "pass", "c3"],
        "------------------OX-------OX------XO-------XOOO------O------O-X X",
    ),
}


def subject(board, empties="winner"):
    return contract.Subject(othello, othello.rules(board, empties), OthelloTwin(*board, empties), knowledge(othello))


def position(rows):
    """The Position, and the rules, of a 4×4 board given as four rows and the side to move."""
    r = othello.rules((4, 4))
    return othello.parse(rows.replace("/", ""), r), r


# --- counts that are known ---


@pytest.mark.parametrize(("board", "sampled", "most"), [((6, 6), 8, 9), ((8, 8), 6, 9)])
def test_perft_is_the_known_one(board, sampled, most, full):
    depth = most if full else sampled
    r = othello.rules(board)
    assert contract.game_perft(othello, r, othello.start(r), depth) == PERFT[board][:depth]


@shapes
def test_perft_is_the_twins(board):
    checked = subject(board)
    contract.check_perft(checked, contract.check_start(checked), 5)


def test_a_finished_game_counts_once_at_every_deeper_ply():
    at, r = position("XXXX/XXXX/XXXX/XXX- O")
    assert contract.game_perft(othello, r, at, 4) == [1, 1, 1, 1]


# --- the twin ---


@shapes
@options
def test_random_games_go_as_the_twins(board, empties, full, rng):
    checked = subject(board, empties)
    met = contract.check_game(othello, checked.rules, checked.twin, 10_000 if full else 300, rng)
    assert met["end"] > 0
    if full:
        assert met["pass"] > 0


@shapes
@options
def test_strewn_boards_are_the_twins(board, empties, full, rng):
    checked = subject(board, empties)
    passes = ended = 0
    for _ in range(5_000 if full else 300):
        case = contract.case_of(checked, random_position(rng, *board))
        contract.check_position(checked, case, rng)
        passes += case.options == ["pass"]
        ended += not case.options
    assert passes > 0
    assert ended > 0


def _lines(board, direction):
    """Boards whose one move, at the end of a line of 3 or more squares, turns all between it and the other end."""
    i, j = (0 if step >= 0 else size - 1 for step, size in zip(direction, board, strict=True))
    longest = min(size for step, size in zip(direction, board, strict=True) if step)
    for length in range(3, longest + 1):
        squares = [["-"] * board[1] for _ in range(board[0])]
        for k in range(1, length):
            squares[i + k * direction[0]][j + k * direction[1]] = "O" if k < length - 1 else "X"
        yield (squares, "X"), name(i, j)


@shapes
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_line_of_any_length_turns(board, direction):
    checked = subject(board)
    for plain, move in _lines(board, direction):
        case = contract.case_of(checked, plain)
        assert case.options == [move]
        contract.check_moves(checked, case)
        contract.check_hooks(checked, case)
        after = contract.check_play(checked, case, move)
        assert "O" not in after.text[:-1]


# --- scores, passes and the end ---


@pytest.mark.parametrize(
    ("rows", "winner", "none"),
    [
        ("XXXX/XXXX/XXXX/XXXX X", 16, 16),
        ("XXXX/XXXX/XXXX/XXXX O", -16, -16),
        ("XXXX/XXXX/OOOO/OOOO O", 0, 0),
        ("XXXX/XXX-/XXX-/XXXX X", 16, 14),
        ("XX--/----/----/---O O", -14, -1),
        ("X---/----/----/---O X", 0, 0),
        ("----/----/----/---- X", 0, 0),
    ],
)
def test_score_of_a_finished_game(rows, winner, none):
    at, r = position(rows)
    assert othello.kind(at.state, r) == END
    assert othello.final(at.state, r) == winner
    assert othello.final(at.state, othello.rules((4, 4), empties="none")) == none


def test_a_side_without_a_move_passes():
    at, r = position("OX--/----/----/---- X")
    assert legal_moves(othello, at, r) == [PASS]
    assert othello.kind(at.state, r) == MAX
    assert othello.moves_left(at.state, r) == 14
    after = step(othello, at, r, PASS)
    assert othello.text(after, r) == "OX-------------- O"
    assert othello.moves_left(after.state, r) == 14
    ended = step(othello, after, r, othello.parse_move("c1", r))
    assert othello.text(ended, r) == "OOO------------- X"
    assert legal_moves(othello, ended, r) == []


def test_colours_do_not_show_in_a_state():
    at, r = position("XO--/-OX-/----/---X X")
    swapped, _ = position("OX--/-XO-/----/---O O")
    assert at.state == swapped.state
    assert othello.key(at.state, r) == othello.key(swapped.state, r)


def test_the_two_sides_and_the_board_show_in_the_key():
    at, r = position("XO--/-OX-/----/---X X")
    turned, _ = position("XO--/-OX-/----/---X O")
    assert othello.key(at.state, r) != othello.key(turned.state, r)
    assert othello.key(at.state, r) != othello.key(at.state, othello.rules((4, 5)))


# --- text ---


@shapes
def test_the_first_position(board):
    r = othello.rules(board)
    first = othello.start(r)
    expected = OthelloTwin(*board)
    assert othello.text(first, r) == expected.text(expected.start())
    for text in ("startpos", "", "  ", "; nothing but a comment", " startpos ; and a comment"):
        assert othello.parse(text, r) == first


def random_texts(board, rng):
    twin = OthelloTwin(*board)
    return [twin.text(random_position(rng, *board)) for _ in range(20)]


@shapes
def test_board_text_reads_back(board, rng):
    r = othello.rules(board)
    for text in random_texts(board, rng):
        at = othello.parse(text, r)
        assert othello.text(at, r) == text
        assert len(at.state) == othello.words(r)
        for variant in (text.lower(), text.replace("-", "."), f"  {text[:-1]}  {text[-1]} ; {text}"):
            assert othello.parse(variant, r) == at


@shapes
def test_boards_are_read_as_parsed(board, rng):
    r = othello.rules(board)
    for text in random_texts(board, rng):
        for variant in (text, text.lower(), text.replace("-", "."), f"{text[:-1]}  {text[-1]}"):
            assert reading.read(othello, variant, r) == othello.parse(text, r), variant
        for spoilt in (text[1:], f"-{text}", text[:-1], f"{text}X", f"{text} O", text.replace(" ", "\t"), f" {text}"):
            assert reading.read(othello, spoilt, r) is None, spoilt


def test_bytes_that_are_no_disc_are_not_read():
    r = othello.rules((4, 4))
    for letter in map(chr, range(256)):
        for text, fine in ((f"{letter}{'-' * 15} X", "XxOo-."), (f"{'-' * 16} {letter}", "XxOo")):
            assert reading.read(othello, text, r) == (othello.parse(text, r) if letter in fine else None), text


@pytest.mark.parametrize("text", ["", "startpos", "f5", "pass"])
def test_names_and_transcripts_are_left_to_parse(text):
    assert reading.read(othello, text, othello.rules()) is None


@pytest.mark.parametrize("board", PASS_GAMES)
def test_transcripts(board):
    r = othello.rules(board)
    moves, text = PASS_GAMES[board]
    spelt_out, implied = "".join(moves), "".join(move for move in moves if move != "pass")
    for transcript in (spelt_out, implied, implied.upper(), spelt_out.upper(), f" {implied} ; a comment; another"):
        assert othello.text(othello.parse(transcript, r), r) == text
    codes = [othello.parse_move(move, r) for move in moves]
    assert othello.transcript(codes, r) == implied


def test_a_transcript_may_end_before_or_after_the_pass():
    moves, _ = PASS_GAMES[8, 8]
    r = othello.rules()
    before = othello.parse("".join(moves[:-2]), r)
    assert legal_moves(othello, before, r) == [PASS]
    assert othello.parse("".join(moves[:-1]), r) == step(othello, before, r, PASS)


@shapes
def test_names_of_squares(board):
    r = othello.rules(board)
    names = [f"{column}{row}" for row in range(1, board[0] + 1) for column in "abcdefghijklmnop"[: board[1]]]
    assert [othello.move_text(m, r) for m in range(len(names))] == names
    assert [othello.parse_move(name, r) for name in names] == list(range(len(names)))
    assert [othello.parse_move(name.upper(), r) for name in names] == list(range(len(names)))
    assert othello.move_text(PASS, r) == "pass"
    assert othello.parse_move("pass", r) == othello.parse_move("PASS", r) == PASS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-" * 63 + " X", "63 squares"),
        ("-" * 65 + " O", "64"),
        ("-" * 64, "side to move"),
        ("-" * 64 + " Z", "side to move"),
        ("-" * 64 + " X O", "side to move"),
        ("-" * 63 + "? X", "'?'"),
        ("-" * 63 + "7 X", "'7'"),
        ("startpos X", "'s'"),
        ("a1", "move 1 of the transcript, a1,"),
        ("f5f5", "move 2 of the transcript, f5,"),
        ("F5F6A1", "move 3 of the transcript, a1,"),
        ("pass", "move 1 of the transcript, pass,"),
        ("f5pass", "move 2 of the transcript, pass,"),
        ("i1", "i1"),
        ("f5a9", "a9"),
        ("f5a0", "a0"),
        ("f5a01", "a01"),
        ("f5a123456789", "a123456789"),
        ("f5 d6", "'f'"),
    ],
)
def test_a_bad_position_is_refused(text, why):
    assert why in reading.refusal(othello.parse, text, othello.rules())


@shapes
def test_a_board_of_another_size_is_refused(board):
    r = othello.rules(board)
    for n in (board[0] * board[1] - 1, board[0] * board[1] + 1):
        assert f"{board[0]}x{board[1]}" in reading.refusal(othello.parse, "-" * n + " X", r)


@pytest.mark.parametrize(
    "text", ["", "a", "1", "a0", "a9", "i1", "a11", "q1", "a1b1", " a1", "ä1", "a1\n", "passs", "-1"]
)
def test_a_bad_move_is_refused(text):
    assert "h8" in reading.refusal(othello.parse_move, text, othello.rules())


_garbage = st.one_of(
    st.text(),
    st.text("abcdp0123456789 XO-;\n"),
    st.tuples(st.text("XO-xo.", min_size=15, max_size=17), st.text(" XO;\n?", max_size=3)).map("".join),
    st.lists(st.sampled_from(["b1", "d3", "c4", "PASS", "e5"])).map("".join),
)


@given(_garbage)
def test_text_is_read_or_refused(text):
    r = othello.rules((4, 4))
    for read in (othello.parse, othello.parse_move):
        try:
            value = read(text, r)
        except UserError as error:
            assert len(str(error).splitlines()) == 1
        else:
            again = othello.parse(othello.text(value, r), r) if isinstance(value, Position) else value
            assert again == value
