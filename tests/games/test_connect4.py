"""Connect 4: rules and text against a plain twin, by known numbers, and the knowledge by exact scores."""

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch.core.errors import UserError
from distsearch.games import connect4, connect4_knowledge
from distsearch.games.interface import END, MAX, MAX_MOVES, Position, legal_moves, step
from distsearch.testing import contract

from . import reading
from .connect4_twin import NAMES, Connect4Twin, random_game, random_positions

# those with fewer than four columns have lines in the columns alone; a column of 63 takes a word, 32 have letters
SHAPES = [(6, 7), (4, 4), (5, 4), (1, 9), (7, 8), (12, 4), (1, 32), (3, 16), (20, 3), (30, 2), (31, 2), (63, 1), (1, 1)]
# even and odd numbers of rows, which the bounds tell apart
SOLVED = [(6, 7), (4, 7), (4, 5), (5, 6), (7, 5), (4, 4), (6, 4), (8, 4)]
PERFT = [7, 49, 343, 2401, 16807, 117649, 823536]
DISTINCT = [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275]


def shape_id(board):
    return f"{board[0]}x{board[1]}"


shapes = pytest.mark.parametrize("board", SHAPES, ids=shape_id)
solved = pytest.mark.parametrize("board", SOLVED, ids=shape_id)


@cache
def rules(board=(6, 7)):
    return connect4.rules(board)


def state_of(position, twin):
    """The state of any position of the twin, whether play leads there or not."""
    stones, side = position
    bits = {"X": 0, "O": 0}
    for i, column in enumerate(stones):
        for j, stone in enumerate(column):
            bits[stone] |= 1 << (twin.rows + 1) * i + j
    return np.uint64(bits[side]), np.uint64(bits["X"] | bits["O"])


def strewn(rng, twin):
    """A position with columns filled at random, as play would seldom do; sides may have any number of stones."""
    crosses = rng.choice((0.1, 0.3, 0.5, 0.7))
    heights = [rng.randint(0, twin.rows) for _ in range(twin.columns)]
    return [["X" if rng.random() < crosses else "O" for _ in range(n)] for n in heights], rng.choice("XO")


# --- rules ---


@pytest.mark.parametrize("board", [(6, 7), (4, 4), (1, 9), (12, 4)], ids=shape_id)
def test_perft_is_the_twins(board):
    checked = contract.Subject(connect4, rules(board), Connect4Twin(*board), connect4_knowledge)
    contract.check_perft(checked, contract.check_start(checked), 4)


def test_perft_is_the_known_one(full):
    depth = 7 if full else 5
    assert contract.game_perft(connect4, rules(), connect4.start(rules()), depth) == PERFT[:depth]


@shapes
def test_random_games_go_as_the_twins(board, full, rng):
    met = contract.check_game(connect4, rules(board), Connect4Twin(*board), 5_000 if full else 150, rng, perft_depth=2)
    assert met["end"] > 0


@shapes
def test_rows_of_four_are_the_twins(board, full, rng):
    twin = Connect4Twin(*board)
    for _ in range(5_000 if full else 100):
        stones, _ = strewn(rng, twin)
        own, every = state_of((stones, "X"), twin)
        for side, mask in (("X", own), ("O", own ^ every)):
            expected = any(all(len(stones[i]) > j and stones[i][j] == side for i, j in line) for line in twin.lines)
            assert connect4.has_four(mask, rules(board)) == expected, stones


@pytest.mark.parametrize(
    ("board", "played", "score"),
    [
        ((6, 7), "1212121", -18),
        ((6, 7), "12121232", -18),
        ((6, 7), "1122334", -18),
        ((4, 4), "1212121", -5),
        ((1, 9), "123456789", 0),
        ((1, 9), "1526374", -2),
        ((1, 7), "1526374", -1),
        ((3, 2), "111222", 0),
    ],
)
def test_score_of_a_finished_game(board, played, score):
    r = rules(board)
    at = connect4.parse(played, r)
    assert connect4.kind(connect4.parse(played[:-1], r).state, r) == MAX
    assert connect4.kind(at.state, r) == END
    assert connect4.final(at.state, r) == score
    assert legal_moves(connect4, at, r) == []


@pytest.mark.parametrize("board", [(6, 10), (7, 9), (8, 8), (63, 2), (64, 1), (1, 33), (63, 32)], ids=shape_id)
def test_a_board_too_large_is_refused(board):
    with pytest.raises(UserError, match=f"board {shape_id(board)} is too large"):
        rules(board)


# --- keys and symmetry ---


def test_keys_tell_positions_apart(full):
    """As many keys at every ply as there are positions, which are known numbers."""
    r, at = rules(), [connect4.start(rules())]
    for expected in DISTINCT if full else DISTINCT[:7]:
        found = {int(connect4.key(position.state, r)): position for position in at}
        assert len(found) == len({position.state for position in at}) == expected
        at = [step(connect4, position, r, m) for position in found.values() for m in legal_moves(connect4, position, r)]


@shapes
def test_mirror_images_are_one_in_the_opening(board, rng):
    twin, r = Connect4Twin(*board), rules(board)
    for _ in range(20):
        for stones, side in random_game(rng, twin):
            state, image = state_of((stones, side), twin), state_of((stones[::-1], side), twin)
            one, other = (connect4_knowledge.canonical(s, r) for s in (state, image))
            if sum(map(len, stones)) <= connect4_knowledge.MIRRORED:
                assert one == other
                assert one in (state, image)
                assert connect4.key(one, r) == connect4.key(other, r)
            else:
                assert (one, other) == (state, image)


# --- text ---


@pytest.mark.parametrize(
    ("board", "text", "squares"),
    [
        ((6, 7), "4453", "-" * 31 + "O-----OXX-- X"),
        ((6, 7), "44533", "-" * 30 + "XO-----OXX-- O"),
        ((2, 12), "abC1c", "-" * 11 + "X" + "O" + "-" * 8 + "XOX O"),
        ((1, 32), "wvo", "-" * 23 + "X------OX O"),
        ((1, 32), "WVO", "-" * 23 + "X------OX O"),
    ],
)
def test_columns_lead_to_the_board(board, text, squares):
    assert connect4.parse(text, rules(board)) == connect4.parse(squares, rules(board))


@shapes
def test_names_of_columns(board):
    r = rules(board)
    assert [connect4.move_text(m, r) for m in range(board[1])] == list(NAMES[: board[1]])
    for name in NAMES[: board[1]]:
        assert connect4.parse_move(name, r) == connect4.parse_move(name.upper(), r) == NAMES.index(name)


@shapes
def test_the_first_position(board):
    r = rules(board)
    first = connect4.start(r)
    assert connect4.text(first, r) == "startpos"
    empty = "-" * (board[0] * board[1]) + " X"
    for text in ("startpos", "", "  ", "; nothing but a comment", " startpos ; and a comment", empty):
        assert connect4.parse(text, r) == first


@shapes
def test_text_reads_back(board, full, rng):
    twin, r = Connect4Twin(*board), rules(board)
    for _ in range(200 if full else 5):
        for plain in random_game(rng, twin):
            at = Position(state_of(plain, twin), "XO".index(plain[1]))
            drawn = twin.drawn(plain)
            for text in (connect4.text(at, r), drawn, drawn.lower(), f"  {drawn} ; {drawn}; again"):
                assert connect4.parse(text, r) == at, text


@pytest.mark.parametrize(
    "squares",
    [
        "-" * 28 + "X------O------ X",  # X began, so no O is at the bottom of the only column
        "-" * 21 + "OOOO---XXXOXXXOOOOXXX X",  # no stone that came last is in both rows of four
    ],
)
def test_a_board_that_no_game_leads_to_is_drawn(squares):
    at = connect4.parse(squares, rules())
    assert connect4.text(at, rules()) == squares


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("8", "'8'"),
        ("0", "'0'"),
        ("4480", "'8'"),
        ("44a", "'a'"),
        ("44?3", "'?'"),
        ("startpos4", "'s'"),
        ("4444444", "move 7 of '4444444', column 4: the column is full"),
        ("11223344", "move 8 of '11223344', column 4: the game is over"),
        ("12121213", "move 8 of '12121213', column 3: the game is over"),
        ("44 53", "'44 53'"),
        ("44x53", "'44x53'"),
        ("44-53", "'44-53'"),
        ("-" * 42, "side to move"),
        ("-" * 42 + " Z", "side to move"),
        ("-" * 42 + " X O", "side to move"),
        ("-" * 41 + " X", "42 of X, O and -"),
        ("-" * 43 + " X", "42 of X, O and -"),
        ("-" * 41 + "7 X", "42 of X, O and -"),
        ("-" * 34 + "X" + "-" * 7 + " O", "hang in the air"),
        ("-" * 41 + "O X", "too many of one side"),
        ("-" * 40 + "XX O", "too many of one side"),
        ("-" * 42 + " O", "must have X to move"),
        ("-" * 41 + "X X", "must have O to move"),
        ("-" * 28 + "OOO----XXXXO-- X", "four in a row of X"),
        ("-" * 28 + "XXX----OOOOXX- O", "four in a row of O"),
    ],
)
def test_a_bad_position_is_refused(text, why):
    assert why in reading.refusal(connect4.parse, text, rules())


@shapes
def test_a_board_of_another_size_is_refused(board):
    squares = board[0] * board[1]
    for n in (squares - 1, squares + 1):
        assert f"{squares} of X, O and -" in reading.refusal(connect4.parse, "-" * n + " X", rules(board))


@shapes
def test_a_column_beyond_the_last_is_refused(board):
    beyond = f"{NAMES}y"[board[1]]
    for text in (beyond, f"1{beyond}"):
        assert f"'{beyond}' is not a column from 1 to {NAMES[board[1] - 1]}" in reading.refusal(
            connect4.parse_move if text == beyond else connect4.parse, text, rules(board)
        )


@pytest.mark.parametrize("text", ["", "0", "8", "44", "a", " 4", "-1", "4\n", "²", "ä", "pass"])
def test_a_bad_move_is_refused(text):
    assert "1 to 7" in reading.refusal(connect4.parse_move, text, rules())


_garbage = st.one_of(
    st.text(),
    st.text("0123456789 XO-;\n"),
    st.text("1234", max_size=16),
    st.tuples(st.text("XO-xo", min_size=15, max_size=17), st.text(" XO;\n?", max_size=3)).map("".join),
    st.lists(st.sampled_from(["--X-", "-OX-", "XOXO", "OXXO", "----"]), min_size=4, max_size=4).map("".join),
)


@given(_garbage, st.sampled_from(["", " X", " O"]))
def test_text_is_read_or_refused(text, side):
    r = rules((4, 4))
    for read in (connect4.parse, connect4.parse_move):
        try:
            value = read(text + side, r)
        except UserError as error:
            assert len(str(error).splitlines()) == 1
        else:
            again = connect4.parse(connect4.text(value, r), r) if isinstance(value, Position) else value
            assert again == value


@shapes
def test_columns_are_read_as_parsed(board, full, rng):
    """Also where a column overflows, or the game goes on after its end."""
    r = rules(board)
    met, squares = set(), board[0] * board[1]
    for _ in range(2_000 if full else 100):
        plies = rng.choice((rng.randint(0, squares), squares + 1))
        columns = rng.choices(NAMES[: board[1]], k=plies)
        text = "".join(rng.choice((c, c.upper())) for c in columns)
        expected = reading.parsed(connect4, text, r)
        assert reading.read(connect4, text, r) == expected, text
        met.add(expected is None)
    assert met == {False, True}


@shapes
def test_bytes_that_are_no_column_are_not_read(board):
    r = rules(board)
    for letter in map(chr, range(256)):
        is_column = letter.lower() in NAMES[: board[1]]
        assert reading.read(connect4, letter, r) == (connect4.parse(letter, r) if is_column else None), letter


def test_the_empty_text_is_read_and_drawn_boards_are_left_to_parse():
    assert reading.read(connect4, "", rules()) == connect4.start(rules())
    assert reading.read(connect4, "-" * 42 + " X", rules()) is None


# --- knowledge ---


@pytest.fixture(scope="module")
def scored(seed, full):
    """A function from a board to its twin and a list of (position, state, exact score) of up to 16 empty squares."""
    made = {}

    def of(board):
        if board not in made:
            twin, rng = Connect4Twin(*board), random.Random(f"{seed} {board}")
            positions = random_positions(rng, twin, 5_000 if full else 150, range(1, 17))
            made[board] = twin, [(plain, state_of(plain, twin), twin.score(plain)) for plain in positions]
        return made[board]

    return of


@shapes
def test_squares_that_complete_four_are_the_twins(board, full, rng):
    twin, r = Connect4Twin(*board), rules(board)
    for _ in range(2_000 if full else 50):
        stones, side = strewn(rng, twin)
        expected = 0
        for line in twin.lines:
            empty = [(i, j) for i, j in line if len(stones[i]) <= j]
            if len(empty) == 1 and all(stones[i][j] == side for i, j in line if (i, j) not in empty):
                expected |= 1 << (board[0] + 1) * empty[0][0] + empty[0][1]
        own, every = state_of((stones, side), twin)
        assert connect4_knowledge.winning_squares(own, r[connect4.BOARD] & ~every, r) == expected, (stones, side)


@solved
def test_bounds_hold(board, scored):
    twin, cases = scored(board)
    for plain, state, score in cases:
        left = twin.empties(plain)
        for beta in range(-left // 2 - 1, left // 2 + 3):
            low, high, _ = connect4_knowledge.bounds(state, rules(board), left, beta)
            assert low <= score <= high, (twin.text(plain), beta, low, high, score)


@solved
def test_candidates_have_a_best_move_among_them(board, scored):
    (twin, cases), r = scored(board), rules(board)
    out, scores = np.zeros(2 * MAX_MOVES, np.int16), np.zeros(2 * MAX_MOVES, np.int64)
    undecided = 0
    for plain, state, score in cases:
        left = twin.empties(plain)
        low, high, squares = connect4_knowledge.bounds(state, r, left, score)
        if low == high:
            continue
        undecided += 1
        n = connect4_knowledge.solver_moves(state, r, left, squares, out, scores, 3)
        found = out[3 : 3 + n].tolist()
        assert len(set(found)) == n
        assert set(found) <= set(legal_moves(connect4, Position(state), r))
        best = max(-twin.score(twin.play(plain, NAMES[m])[0]) for m in found)
        assert best == score, (twin.text(plain), found)
    assert undecided > 0
