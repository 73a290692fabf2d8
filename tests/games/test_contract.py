"""The contract: honest games keep it, and every planted error is caught by the check that is there for it."""

import random
from types import SimpleNamespace

import pytest

from distsearch.core.errors import UserError
from distsearch.games import connect4, g2048, g2584, othello, othello_knowledge
from distsearch.games.interface import CHANCE, END, MAX, PASS, Position, legal_moves, read_position
from distsearch.testing import contract

from . import spiel_twin, tictactoe
from .connect4_twin import Connect4Twin
from .othello_twin import OthelloTwin
from .sliding_twin import twin_of

TICTACTOE_PERFT = [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]


class TicTacToeTwin:
    """Tic-tac-toe on a plain list of nine squares; a position is (squares, side)."""

    NAMES = ("a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3")

    def start(self):
        return ["-"] * 9, "X"

    def lines(self, squares):
        rows = [squares[i : i + 3] for i in (0, 3, 6)]
        return [*rows, *zip(*rows, strict=True), squares[::4], squares[2:8:2]]

    def won(self, squares):
        return any(set(line) in ({"X"}, {"O"}) for line in self.lines(squares))

    def kind(self, position):
        return "max" if self.moves(position) else "end"

    def moves(self, position):
        squares, _ = position
        return [] if self.won(squares) else [name for name, on in zip(self.NAMES, squares, strict=True) if on == "-"]

    def play(self, position, move):
        squares, side = position
        squares = [side if name == move else on for name, on in zip(self.NAMES, squares, strict=True)]
        return (squares, "O" if side == "X" else "X"), 0

    def final(self, position):
        return -1 if self.won(position[0]) else 0

    def text(self, position):
        return "".join(position[0]) + " " + position[1]


@pytest.mark.parametrize("board", [(4, 4), (6, 6), (5, 9), (9, 8)], ids=str)
def test_othello_keeps_it(board, rng):
    met = contract.check_game(othello, othello.rules(board), OthelloTwin(*board), 200, rng)
    assert met["end"] > 0


@pytest.mark.parametrize("board", [(4, 4), (2, 2), (3, 3), (4, 3), (2, 4)], ids=str)
@pytest.mark.parametrize("game", [g2048, g2584], ids=["2048", "2584"])
def test_sliding_tiles_keep_it(game, board, rng):
    met = contract.check_game(game, game.rules(board), twin_of(game.NAME, board), 300, rng)
    assert met["chance"] > 50 < met["max"]
    assert met["end"] > 0 or board == (4, 4)


@pytest.mark.parametrize("board", [(6, 7), (5, 4), (1, 9)], ids=str)
def test_connect4_keeps_it(board, rng):
    met = contract.check_game(connect4, connect4.rules(board), Connect4Twin(*board), 200, rng)
    assert met["end"] > 0
    assert met["pass"] == 0


def test_tictactoe_keeps_it(full, rng):
    met = contract.check_game(
        tictactoe, tictactoe.rules(), TicTacToeTwin(), 20_000 if full else 1_000, rng, perft_depth=5
    )
    assert met["end"] > 0
    assert met["pass"] == 0


SPIEL = {  # games of OpenSpiel → ours, and what random games meet
    spiel_twin.Othello: (othello, {"max", "end"}),
    spiel_twin.ConnectFour: (connect4, {"max", "end"}),
    spiel_twin.Game2048: (g2048, {"max", "chance"}),
    spiel_twin.TicTacToe: (tictactoe, {"max", "end"}),
}


@pytest.mark.parametrize("twin", SPIEL, ids=lambda twin: twin.NAME)
def test_games_are_those_of_openspiel(twin, full, rng):
    game, kinds = SPIEL[twin]
    met = contract.check_game(game, game.rules(), twin(), 20_000 if full else 300, rng, perft_depth=2)
    assert {kind for kind in kinds if met[kind]} == kinds


def test_perft_of_tictactoe(full):
    r, depth = tictactoe.rules(), 9 if full else 6
    assert contract.game_perft(tictactoe, r, tictactoe.start(r), depth) == TICTACTOE_PERFT[:depth]


# --- planted errors: Othello on 4×4 with one name changed, and what the complaint has to begin with ---


def _play_without_changing_sides(s, r, m):
    return (s, 0) if m == PASS else othello.play(s, r, m)


def _play_for_points(s, r, m):
    return othello.play(s, r, m)[0], 1


def _play_in_floats(s, r, m):
    state, reward = othello.play(s, r, m)
    return tuple(map(float, state)), reward


def _changed_moves(change):
    """The functions ``moves`` and ``ordered_moves`` of a game whose list of moves went through ``change``."""

    def moves(s, r, out, at):
        codes = change(legal_moves(othello, Position(s), r))
        out[at : at + len(codes)] = codes
        return len(codes)

    return moves


def _moves_at_the_front(s, r, out, at):
    return othello.moves(s, r, out, 0)


def _name_not_read(text, r):
    return othello.parse("d3" if text == "startpos" else text, r)


def _side_forgotten(text, r):
    return othello.parse(text, r)._replace(side=0)


def _plain_words(text, r):
    position = othello.parse(text, r)
    return position._replace(state=tuple(map(int, position.state)))


def _wrong_exception(text, r):
    try:
        return othello.parse(text, r)
    except Exception:
        raise ValueError(text) from None


def _read_without_the_side(text, at, end, r, words):
    return min(0, othello.read(text, at, end, r, words))


def _read_beyond_the_end(text, at, end, r, words):
    return othello.read(text, at, end + 1, r, words)


def _read_anything(text, at, end, r, words):
    return max(0, othello.read(text, at, end, r, words))


def _read_into_too_many_words(text, at, end, r, words):
    words.base[-1] += words.dtype.type(1)
    return othello.read(text, at, end, r, words)


_move_lost = _changed_moves(lambda codes: codes[:-1] or codes)
_random_key = random.Random(0).getrandbits

PLANTED = {
    "pass keeps the side": ("text after pass", {"play": _play_without_changing_sides}),
    "reward out of nothing": ("reward of", {"play": _play_for_points}),
    "state of floats": ("words after", {"play": _play_in_floats}),
    "move lost": ("moves:", {"moves": _move_lost}),
    "move doubled": ("moves:", {"moves": _changed_moves(lambda codes: codes + codes[-1:])}),
    "moves in the wrong place": ("entries touched by", {"moves": _moves_at_the_front}),
    "no pass": ("moves:", {"moves": _changed_moves(lambda codes: [m for m in codes if m != PASS])}),
    "end where a pass is": ("kind:", {"kind": lambda s, r: MAX if othello.moves_left(s, r) > 2 else END}),
    "game that never ends": ("kind:", {"kind": lambda s, r: MAX}),
    "chance in a game of two": ("kind:", {"kind": lambda s, r: CHANCE}),
    "score of the other side": ("final:", {"final": lambda s, r: -othello.final(s, r)}),
    "empties to neither side": ("final:", {"final": lambda s, r: othello.count(s[:1]) - othello.count(s[1:])}),
    "key of the discs alone": ("state of a key", {"key": lambda s, r: int(s[0] | s[1])}),
    "key by chance": ("key of a state", {"key": lambda s, r: _random_key(64)}),
    "bound that does not fall": ("moves_left:", {"moves_left": lambda s, r: 16}),
    "bound below 0": ("moves_left:", {"moves_left": lambda s, r: othello.moves_left(s, r) - 12}),
    "text with the sides swapped": (
        "text of the first position:",
        {"text": lambda p, r: othello.text(p._replace(side=1 - p.side), r)},
    ),
    "first position without its name": ("parse('startpos'):", {"parse": _name_not_read}),
    "side not read": ("parse(text):", {"parse": _side_forgotten}),
    "state of plain integers": ("types of the words", {"parse": _plain_words}),
    "read without the side": ("read(", {"read": _read_without_the_side}),
    "read beyond the end": ("read(", {"read": _read_beyond_the_end}),
    "read whatever it is": ("read(", {"read": _read_anything}),
    "read into too many words": ("words beyond the state", {"read": _read_into_too_many_words}),
    "another exception": ("_wrong_exception(", {"parse": _wrong_exception}),
    "moves misread": ("parse_move of", {"parse_move": lambda text, r: max(0, othello.parse_move(text, r) - 1)}),
    "function forgotten": ("the game lacks key", {"key": None}),
    "constant of another type": ("PLAYERS is '2'", {"PLAYERS": "2"}),
    "boards out of order": ("BOARDS is", {"BOARDS": ((8, 8), (4, 4), (16, 16))}),
    "signed rules": ("rules are a int64", {"rules": lambda *a, **k: othello.rules(*a, **k).astype("int64")}),
}
PLANTED_HOOKS = {
    "ordered move lost": ("ordered_moves", {"ordered_moves": _move_lost}),
    "pass not counted": (
        "count_moves",
        {"count_moves": lambda s, r: len([m for m in legal_moves(othello, Position(s), r) if m != PASS])},
    ),
}


def _changed(module, changes):
    names = {name: value for name, value in {**vars(module), **changes}.items() if value is not None}
    return SimpleNamespace(**names)


def _complaint(game, hooks, rng):
    with pytest.raises(AssertionError) as raised:
        contract.check_game(game, othello.rules((4, 4)), OthelloTwin(4, 4), 2_000, rng, hooks=hooks)
    return str(raised.value)


@pytest.mark.parametrize("error", PLANTED)
def test_a_planted_error_is_caught(error, rng):
    complaint, changes = PLANTED[error]
    assert _complaint(_changed(othello, changes), othello_knowledge, rng).startswith(complaint)


@pytest.mark.parametrize("error", PLANTED_HOOKS)
def test_a_planted_error_in_a_hook_is_caught(error, rng):
    complaint, changes = PLANTED_HOOKS[error]
    assert _complaint(othello, _changed(othello_knowledge, changes), rng).startswith(complaint)


PLANTED_DRAWS = {
    "draws in pieces": ("draws, each once", lambda m, r: m % 2),
    "no such draw": ("draws from 0 to 7", lambda m, r: g2048.draw(m, r) + 7),
    "draws taken for one": ("draws that the twin tells apart", lambda m, r: 0),
    "a draw taken for two": ("draws that the twin does not", lambda m, r: g2048.draw(m, r) * 2 + ((m - 4) % 16 > 7)),
}


@pytest.mark.parametrize("error", PLANTED_DRAWS)
def test_a_planted_error_in_a_draw_is_caught(error, rng):
    complaint, draw = PLANTED_DRAWS[error]
    with pytest.raises(AssertionError) as raised:
        contract.check_game(_changed(g2048, {"draw": draw}), g2048.rules(), twin_of("2048"), 300, rng)
    assert str(raised.value).startswith(complaint)


def test_a_complaint_names_the_position(rng):
    complaint = _complaint(_changed(othello, {"final": lambda s, r: 100}), othello_knowledge, rng)
    _, _, text = complaint.partition(", on position ")
    position = othello.parse(text.strip("'"), r := othello.rules((4, 4)))
    assert othello.kind(position.state, r) == END


def test_perft_is_compared():
    r = othello.rules((4, 4))
    subject = contract.Subject(_changed(othello, {"moves": _move_lost}), r, OthelloTwin(4, 4), None)
    with pytest.raises(AssertionError, match="perft, by ply"):
        contract.check_perft(subject, contract.check_start(subject), 3)


@pytest.mark.parametrize(
    ("game", "texts"),
    [
        (connect4, ["4453222", "", "startpos", " 44 ; with a comment", "-" * 42 + " X"]),
        (othello, ["startpos", "f5d6c3", "-" * 27 + "OX------XO" + "-" * 27 + " O"]),
        (tictactoe, ["startpos"]),
    ],
    ids=["connect4", "othello", "no reader"],
)
def test_a_position_is_read_as_it_is_parsed(game, texts):
    r = game.rules()
    for text in texts:
        assert read_position(game, text, r) == game.parse(text, r)


@pytest.mark.parametrize("text", ["8", "1111111", "44x", "\ud800", "X" * 42])
def test_a_position_that_cannot_be_read_is_refused_by_parse(text):
    with pytest.raises(UserError):
        read_position(connect4, text, connect4.rules())
