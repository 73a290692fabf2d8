"""Connect 4 on any board whose rows + 1, times its columns, are at most 64.

A state is the stones of the side to move, then all stones. A column takes rows + 1 bits, the lowest row first; its top
bit stays empty, so that lines do not run from one column into the next and adding a bit at the bottom of a column finds
its lowest empty square. A move is a column. Scores are Pons's: a win is worth 1 and the stones that the winner has
left, a draw 0.
"""

import re
import sys

import numpy as np

from ..core.errors import UserError
from ..core.jit import compiled
from . import lanes
from .interface import END, MAX, Position, board_size, legal_moves, step

NAME = "connect4"
UNIT = "stones"
PLAYERS = 2
ENDED_STAYS = False
BOARDS = ((1, 1), (6, 7), (63, 32))
OPTIONS = {}

# Where things are in the rules array.
ROWS, COLUMNS, SQUARES, HEIGHT, BOTTOM, BOARD, ODD_ROWS, EVEN_ROWS, INVERSE = range(9)
LINES = 9  # distances between neighbours on a falling, level and rising line; on boards too narrow for four: 1
COLUMN_MASKS = np.uint64(12)  # the squares of each column; empty ones up to a multiple of LANES columns
LANES = 8  # columns that a vector register holds at most

_ONE = np.uint64(1)
_DIGITS = "123456789abcdefghijklmnopqrstuvw"  # columns as text
_ONE_AS_TEXT, _NINE, _A = b"19a"
_MOST_STEPS = 20_000  # of the search for an order of play


def rules(board=None):
    """Return the rules array (uint64) of a board of (rows, columns); raises UserError if it is too large."""
    rows, columns = board or BOARDS[1]
    if (rows + 1) * columns > 64:
        raise UserError(f"board {rows}x{columns} is too large for connect4: (rows + 1) x columns may be at most 64")
    height = rows + 1
    bottom = sum(1 << height * c for c in range(columns))
    row_masks = [bottom << i for i in range(rows)]
    odd, even = sum(row_masks[::2]), sum(row_masks[1::2])
    lines = [height - 1, height, height + 1] if columns >= 4 else [1, 1, 1]
    column_masks = [(odd | even) & ((1 << height) - 1) << height * c for c in range(columns)]
    return np.array(
        [
            rows,
            columns,
            rows * columns,
            height,
            bottom,
            odd | even,
            odd,
            even,
            -(-65536 // height),
            *lines,
            *column_masks,
            *[0] * (-columns % LANES),
        ],
        np.uint64,
    )


def words(r):
    """Number of uint64 words of a state."""
    return 2


def start(r):
    """The empty board."""
    return Position((np.uint64(0), np.uint64(0)), 0)


@compiled
def has_four(stones, r):
    """Whether four of ``stones`` stand in a row."""
    for distance in (_ONE, r[LINES], r[LINES + 1], r[LINES + 2]):
        pairs = stones & stones >> distance
        if pairs & pairs >> distance + distance:
            return True
    return False


@compiled
def free(s, r):
    """Return the squares that a stone would fall on, one for each column with room."""
    return (s[1] + r[BOTTOM]) & r[BOARD]


@compiled
def column_of(squares, r):
    """Return the column of the lowest of ``squares``; a multiplication instead of a division by the height."""
    return lanes.lowest(squares) * np.int64(r[INVERSE]) >> 16


@compiled
def moves_left(s, r):
    return np.int64(r[SQUARES]) - lanes.popcount(s[1])


@compiled
def kind(s, r):
    return END if s[1] == r[BOARD] or has_four(s[1] ^ s[0], r) else MAX


@compiled
def moves(s, r, out, at):
    if has_four(s[1] ^ s[0], r):
        return 0
    n = 0
    squares = free(s, r)
    while squares != 0:
        out[at + n] = column_of(squares, r)
        squares &= squares - _ONE
        n += 1
    return n


@compiled
def play(s, r, m):
    stone = (s[1] + r[BOTTOM]) & r[COLUMN_MASKS + np.uint64(m)]
    return (s[1] ^ s[0], s[1] | stone), 0


@compiled
def final(s, r):
    if not has_four(s[1] ^ s[0], r):
        return np.int64(0)
    # the side that has just moved won with the last of its stones
    return -((moves_left(s, r) + 2) // 2)


@compiled
def key(s, r):
    # the sum tells every position from every other; an odd multiplication and an xor-shift keep it so and spread it
    h = (s[0] + s[1]) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ h >> np.uint64(32)


def move_text(m, r):
    """The column's number from 1; the tenth and later ones are a, b and so on."""
    return _DIGITS[m]


def describe_score(score, position, r):
    """Who wins, and with which of their stones; ``position.side`` 0 began."""
    if score == 0:
        return "a draw"
    squares, second = int(r[SQUARES]), position.side ^ (score < 0)  # whether the winner went second
    stone = (squares // 2 + 1 if second else (squares + 3) // 2) - abs(score)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(stone % 10, "th") if stone % 100 // 10 != 1 else "th"
    return f"wins with its {stone}{ending} stone" if score > 0 else f"loses to the opponent's {stone}{ending} stone"


def every_move(r):
    """The codes that a list of all columns' scores goes through, full or not."""
    return range(int(r[COLUMNS]))


def parse_move(text, r):
    """Return the move code of a column's text; raises UserError."""
    columns = int(r[COLUMNS])
    if len(text) == 1 and text.lower() in _DIGITS[:columns]:
        return _DIGITS.index(text.lower())
    raise UserError(f"move '{text[:20]}' is not a column from 1 to {_DIGITS[columns - 1]}")


def parse(text, r):
    """Return the Position of ``startpos`` or nothing, of the columns played (``4453``), or of a drawn board.

    A drawn board is rows × columns characters X, O and -, row by row from the top, a space, and the side to move.
    Raises UserError.
    """
    text = text.split(";")[0].strip()
    if text in ("", "startpos"):
        return start(r)
    if " " in text or set("-xX") & set(text):
        return _parse_board(text, r)
    game, position = sys.modules[__name__], start(r)
    for ply, column in enumerate(text, 1):
        m = parse_move(column, r)
        if m not in legal_moves(game, position, r):
            why = "the game is over" if kind(position.state, r) == END else "the column is full"
            raise UserError(f"move {ply} of '{text[:70]}', column {column}: {why}")
        position = step(game, position, r, m)
    return position


@compiled
def _column(letter):
    """Return the column that a byte of text names, or a number that no column has."""
    if letter <= _NINE:
        return letter - _ONE_AS_TEXT
    small = letter | 0x20  # bit 5 tells small letters from capitals
    return small - _A + 9 if small >= _A else -1


@compiled
def read(text, at, end, r, words):
    own, stones, latest = np.uint64(0), np.uint64(0), np.uint64(0)
    for i in range(at, end):
        column = _column(np.int64(text[i]))
        if not 0 <= column < np.int64(r[COLUMNS]):
            return -1
        latest = (stones + r[BOTTOM]) & r[COLUMN_MASKS + np.uint64(column)]
        if latest == 0:
            return -1
        own, stones = own ^ stones, stones | latest
    # four in a row are there to stay, so whether the game was over before its last move shows in the end
    if has_four(own, r) or has_four(stones ^ own ^ latest, r):
        return -1
    words[0], words[1] = own, stones
    return (end - at) & 1


def _parse_board(text, r):
    rows, columns = board_size(r)
    squares, _, side = text.partition(" ")
    if not re.fullmatch("[XOxo-]*", squares) or len(squares) != rows * columns or side not in ("X", "O", "x", "o"):
        raise UserError(
            f"position '{text[:70]}' is neither the columns played nor {rows * columns} of X, O and -, a space, and "
            "the side to move"
        )
    masks = {"X": 0, "O": 0, "-": 0}
    for i, square in enumerate(squares.upper()):
        masks[square] |= 1 << (i % columns) * (rows + 1) + rows - 1 - i // columns
    crosses, stones = masks["X"], masks["X"] | masks["O"]
    first_moves = crosses.bit_count() == (stones ^ crosses).bit_count()
    if masks["-"] << 1 & stones or crosses.bit_count() - (stones ^ crosses).bit_count() not in (0, 1):
        raise UserError(f"position '{text[:70]}' has stones that hang in the air, or too many of one side")
    if (side in "Xx") != first_moves:
        raise UserError(f"position '{text[:70]}' must have {'O' if side in 'Xx' else 'X'} to move: X began")
    own = crosses if first_moves else stones ^ crosses
    if has_four(np.uint64(own), r):
        raise UserError(f"position '{text[:70]}' has four in a row of {side}, which won before and has no move to make")
    return Position((np.uint64(own), np.uint64(stones)), 0 if first_moves else 1)


def text(position, r):
    """Return columns that, played from the empty board, lead to ``position``, or ``startpos``.

    Of the many orders one is found by taking stones back; should that take too long, the board is drawn instead.
    """
    own, stones = map(int, position.state)
    last = stones ^ own  # stones of the side that moved last
    if not stones:
        return "startpos"
    rows, columns = board_size(r)
    tops = [(stones >> (rows + 1) * c & (1 << rows) - 1).bit_length() - 1 for c in range(columns)]
    # stones without four in a row have none among fewer of them either
    fours = has_four(np.uint64(last), r) or has_four(np.uint64(own), r)
    order = _order(stones, last, own, tops, r, fours, [0], set())
    return "".join(_DIGITS[c] for c in order) if order is not None else _drawn(position, r)


def _order(stones, last, other, tops, r, fours, steps, dead):
    """Return columns in an order that makes the position, or None; ``last`` are the stones of the side that moved last.

    fours: whether a side has four in a row, which it must not have had before the last stone.
    """
    if not stones:
        return []
    steps[0] += 1
    if steps[0] > _MOST_STEPS or stones in dead:
        return None
    height = int(r[HEIGHT])
    for c, top in enumerate(tops):
        bit = 1 << c * height + top if top >= 0 else 0
        if not last & bit or fours and (has_four(np.uint64(last ^ bit), r) or has_four(np.uint64(other), r)):
            continue
        tops[c] -= 1
        order = _order(stones ^ bit, other, last ^ bit, tops, r, fours, steps, dead)
        tops[c] += 1
        if order is not None:
            return [*order, c]
    dead.add(stones)
    return None


def _drawn(position, r):
    rows, columns = board_size(r)
    own, stones = map(int, position.state)
    crosses = own if position.side == 0 else stones ^ own
    bits = [1 << c * (rows + 1) + row for row in reversed(range(rows)) for c in range(columns)]
    squares = "".join("X" if crosses & bit else "O" if stones & bit else "-" for bit in bits)
    return f"{squares} {'XO'[position.side]}"
