"""States of 2048 and 2584: the texts they are read from, spawn rules, cells and keys."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch.core import jit
from distsearch.core.errors import UserError
from distsearch.games import g2048, g2584
from distsearch.games.interface import CHANCE, END, MAX, MAX_MOVES, Position, as_state, legal_moves, step

from .sliding_boards import packed, random_codes

GAMES = {"2048": g2048, "2584": g2584}
games = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
EMPTY = ",".join("0" * 16)
FULL = ",".join("2" * 16)


def refusal(call, *args, **kwargs):
    """Return what is said of a call that has to raise UserError: one line."""
    with pytest.raises(UserError) as raised:
        call(*args, **kwargs)
    (line,) = str(raised.value).splitlines()
    return line


# --- boards and spawn rules ---


@games
@pytest.mark.parametrize("board", [(1, 4), (4, 1), (5, 5), (4, 5), (0, 0), (-4, -4)], ids=str)
def test_boards_beyond_4x4_or_below_2x2_are_refused(game, board):
    assert refusal(game.rules, board) == f"board {board[0]}x{board[1]} is not one of {game.NAME}: 2x2 to 4x4"


@pytest.mark.parametrize(
    ("game", "spawn", "complaint"),
    [
        ("2048", "2:0.5,4:0.4", "do not sum to 1"),
        ("2048", "2:0.9,4:0.2", "do not sum to 1"),
        ("2048", "2:0.9,4:0.1000001", "do not sum to 1"),
        ("2048", "2:0.5,3:0.5", "3 is not a tile of 2048"),
        ("2048", "1:1", "1 is not a tile of 2048"),
        ("2048", "0:1", "0 is not a tile of 2048"),
        ("2048", "65536:1", "65536 is not a tile of 2048"),
        ("2584", "1:0.5,4:0.5", "4 is not a tile of 2584"),
        ("2584", "3524578:1", "3524578 is not a tile of 2584"),
        ("2048", "2:0.5,4:0.25,2:0.25", "a tile twice"),
        ("2584", "1:0.5,1:0.5", "a tile twice"),
        ("2584", ",".join(f"{tile}:0.1" for tile in g2584.VALUES[1:11]), "more than 8"),
        ("2048", "2:1,4:0", "0 is not a probability"),
        ("2048", "2:1,4:1e-999", "0 is not a probability"),
        ("2048", "2:1.5", "1.5 is not a probability"),
        ("2048", "2:1.1,4:-0.1", "is not"),
        *(
            ("2048", garbage, "is not tiles with their probabilities")
            for garbage in (
                "",
                ",",
                ":",
                "2",
                "2:",
                ":1",
                "2:0.9,",
                ",2:1",
                "2:0.9;4:0.1",
                "2:0.9 4:0.1",
                "2:0.9\n4:0.1",
                "2:nan",
                "2:inf",
                "2:-1",
                "-2:1",
                "two:1",
                "2:0x1",
                "2:1/2,4:1/2",
                "2.0:1",
                "2:.",
                "2:1e",
                "9" * 20 + ":1",
                "§" * 1000,
            )
        ),
    ],
)
def test_a_spawn_rule_is_refused(game, spawn, complaint):
    line = refusal(GAMES[game].rules, spawn=spawn)
    assert line.startswith("spawn '")
    assert complaint in line
    assert len(line) < 150


@pytest.mark.parametrize(
    ("game", "spawn", "expected"),
    [
        ("2048", "2:0.5,4:0.3,8:0.2", {2: 0.5, 4: 0.3, 8: 0.2}),
        ("2048", " 4:.25 , 2:75e-2 ", {2: 0.75, 4: 0.25}),
        ("2048", "2:1", {2: 1.0}),
        ("2048", "32768:1", {32768: 1.0}),
        ("2048", "2:0.3333333333,4:0.3333333333,8:0.3333333334", {2: 1 / 3, 4: 1 / 3, 8: 1 / 3}),
        ("2584", "1:0.5,5:0.3,2178309:0.2", {1: 0.5, 5: 0.3, 2178309: 0.2}),
        ("2584", ",".join(f"{tile}:0.125" for tile in g2584.VALUES[1:9]), dict.fromkeys(g2584.VALUES[1:9], 0.125)),
    ],
)
def test_a_spawn_rule_says_what_comes_and_how_likely(game, spawn, expected):
    game = GAMES[game]
    r = game.rules((2, 3), spawn=spawn)
    at = game.parse("1,0,3,0,2,0 +1" if game is g2584 else "2,0,8,0,4,0 +1", r)
    codes, probability = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
    n = game.outcomes(at.state, r, codes, probability, 0)
    found = {game.move_text(m, r): p for m, p in zip(codes[:n], probability[:n], strict=True)}
    cells = {"b1": 1, "a2": 3, "c2": 5}
    assert n == len(found)
    assert found == pytest.approx({f"{tile}@{cell}": p / 3 for tile, p in expected.items() for cell in cells}, abs=1e-9)
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)
    for move in found:
        tile, cell = move.split("@")
        tiles = game.text(at, r).split()[0].split(",")
        tiles[cells[cell]] = tile
        assert game.text(step(game, at, r, game.parse_move(move, r)), r) == ",".join(tiles)


@games
def test_a_tile_that_does_not_come_or_a_cell_off_the_board_is_no_move(game):
    r = game.rules((2, 3))
    tile = game.SPAWN[0]
    assert game.move_text(game.parse_move(f"{tile}@c2", r), r) == f"{tile}@c2"
    for move in ("8@a1", "0@a1", f"{tile}@d1", f"{tile}@a3", f"{tile}@a0", f"{tile}@", f"{tile}@a1 ", "Left", "", "+1"):
        refusal(game.parse_move, move, r)


# --- texts of positions ---


@pytest.mark.parametrize(
    ("game", "text", "complaint"),
    [
        ("2048", ",".join("0" * 15), "16 tile values, 0 for empty, not 15"),
        ("2584", ",".join("0" * 17), "not 17"),
        ("2048", EMPTY + ",", "not 17"),
        ("2048", "+1", "not 1"),
        ("2048", EMPTY.replace("0", "3", 1), "'3' is not a tile of 2048: 0, 2, 4, 8, 16 ... 32768"),
        ("2048", EMPTY.replace("0", "65536", 1), "'65536' is not a tile"),
        ("2584", EMPTY.replace("0", "4", 1), "'4' is not a tile of 2584: 0, 1, 2, 3, 5 ... 2178309"),
        ("2584", EMPTY.replace("0", "3524578", 1), "'3524578' is not a tile"),
        ("2048", EMPTY.replace("0", "-2", 1), "'-2' is not a tile"),
        ("2048", EMPTY.replace("0", "2.0", 1), "'2.0' is not a tile"),
        ("2048", EMPTY.replace("0", "²", 1), "'²' is not a tile"),
        ("2048", EMPTY.replace("0", "9" * 5000, 1), "is not a tile"),
        *(
            ("2048", f"{EMPTY} +{late}", "how many tiles are due")
            for late in ("3", "0", "-1", "1+1", "one", "1\n2", "")
        ),
        ("2048", FULL + " +1", "0 cells are empty"),
        ("2584", FULL + " +2", "0 cells are empty"),
        ("2584", FULL.replace("2", "0", 1) + " +2", "1 cells are empty"),
    ],
)
def test_a_position_is_refused(game, text, complaint):
    assert complaint in refusal(GAMES[game].parse, text, GAMES[game].rules())


@games
def test_a_position_of_another_board_is_refused(game):
    assert "is 6 tile values, 0 for empty, not 16" in refusal(game.parse, EMPTY, game.rules((3, 2)))


@games
@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2 8 0 2 0 0", "2,8,0,2,0,0"),
        (" 2,8 ,0, 2,\t0,0 ", "2,8,0,2,0,0"),
        ("2 8\n0 2\n0 0\n", "2,8,0,2,0,0"),
        ("2,8,0,2,0,0;a comment; of +1", "2,8,0,2,0,0"),
        ("2,8,0,2,0,0+1", "2,8,0,2,0,0 +1"),
        ("2,8,0,2,0,0 + 2 ; two are due", "2,8,0,2,0,0 +2"),
        ("2,8,8,2,00,08 +1", "2,8,8,2,0,8 +1"),
        ("startpos", "0,0,0,0,0,0 +2"),
        (" startpos ; the first", "0,0,0,0,0,0 +2"),
        ("", "0,0,0,0,0,0 +2"),
        ("; nothing", "0,0,0,0,0,0 +2"),
    ],
)
def test_a_position_is_read(game, text, read):
    r = game.rules((3, 2))
    at = game.parse(text, r)
    assert game.text(at, r) == read
    assert at.side == 0
    assert game.parse(read, r) == at


@games
def test_who_moves_is_by_the_tiles_that_are_due(game):
    r = game.rules()
    for late, kind in (("", MAX), (" +1", CHANCE), (" +2", CHANCE)):
        assert game.kind(game.parse(EMPTY.replace("0", "2", 1) + late, r).state, r) == kind
    stuck = game.parse(",".join(["2,8,2,8", "8,2,8,2"] * 2), r)
    assert game.kind(stuck.state, r) == END
    assert legal_moves(game, stuck, r) == []


# --- cells and keys ---


def boards(game):
    codes = st.integers(0, len(game.VALUES) - 1) | st.just(0)
    return st.lists(codes, min_size=16, max_size=16)


def state_of(game, codes):
    return tuple(packed(game, np.array([codes]))[0])


@games
@given(data=st.data())
def test_what_is_put_in_a_cell_is_there_and_the_others_are_free(game, data):
    rows, columns = data.draw(st.sampled_from([(4, 4), (2, 2), (4, 3), (2, 4)]))
    r = game.rules((rows, columns))
    on = [4 * row + column for row in range(rows) for column in range(columns)]
    codes = data.draw(boards(game))
    state, filled = as_state((0, 0)), []
    for cell in data.draw(st.permutations(on)):
        if codes[cell]:
            state = as_state(game.put(state, np.int64(cell), np.uint64(codes[cell])))
            filled.append(cell)
        free = int(game.free_cells(state, r))
        cells = [int(game.cell_of(np.int64(bit))) for bit in range(64) if free >> bit & 1]
        assert sorted(cells) == [cell for cell in on if cell not in filled]
    expected = [codes[cell] if cell in filled else 0 for cell in range(16)]
    assert [int(game.code_at(state, np.int64(cell))) for cell in range(16)] == expected
    assert state == state_of(game, expected)
    assert game.parse(game.text(Position(state), r), r).state == state


@games
@given(data=st.data())
def test_transposing_exchanges_rows_and_columns(game, data):
    codes = data.draw(boards(game))
    state = state_of(game, codes)
    turned = state_of(game, [codes[4 * (cell % 4) + cell // 4] for cell in range(16)])
    here, there = (state[0], turned[0]) if game is g2048 else (state, turned)
    assert np.array_equal(game.transpose(here), there)
    assert np.array_equal(game.transpose(there), here)


def unsigned(cells):
    """Return a board's cells as compiled functions take them."""
    return as_state(cells) if isinstance(cells, tuple) else np.uint64(cells)


@games
@given(data=st.data())
def test_the_transposed_board_is_put_together_of_rows_that_lie_across(game, data):
    cells = game.cells_of(state_of(game, data.draw(boards(game))))
    a, b, c, d = (
        unsigned(game.crossing(np.uint64(line), np.uint64(i))) for i, line in enumerate(game.lines_of(unsigned(cells)))
    )
    together, ab = unsigned(game.combined(c, d)), unsigned(game.combined(a, b))
    assert np.array_equal(game.combined(ab, together), game.transpose(unsigned(cells)))
    assert unsigned(game.combined(ab, a)) == b


def test_a_row_is_spread_alike_by_the_instruction_and_without_it(rng):
    for row in (0, 0xFFFF, *(rng.getrandbits(16) for _ in range(100))):
        expected = sum((row >> 4 * i & 15) << 16 * i for i in range(4))
        assert int(g2048.spread(np.uint64(row))) == int(g2048.spread_at_once(np.uint64(row))) == expected


key = None  # bound for each game


def every_key(states, r, out):
    for i in range(len(states)):
        out[i] = key((states[i, 0], states[i, 1]), r)


@games
def test_different_states_have_different_keys_and_equal_ones_the_same(game, rng):
    numbers, r = np.random.default_rng(rng.getrandbits(64)), game.rules()
    # boards of few tiles are among them, with tiles due and without: states that differ by a bit or two
    states = packed(game, random_codes(numbers, game, 120_000))
    states[:, 1] |= numbers.integers(0, 3, len(states)).astype(np.uint64) << np.uint64(62)  # tiles due
    states = numbers.permutation(np.unique(states, axis=0))[:100_000]
    assert len(states) == 100_000
    keys = np.zeros(len(states), np.uint64)
    jit.specialise(every_key, f"every_key_{game.NAME}", {"key": game.key})(states, r, keys)
    assert len(np.unique(keys)) == len(states)
    for state, known in zip(states[:1000].tolist(), keys[:1000].tolist(), strict=True):
        at = Position(as_state(state))
        if game.free_cells(at.state, r).bit_count() >= game.due(at.state):  # else no text has as many due
            again = game.parse(game.text(at, r), r)
            assert game.key(again.state, r) == known
