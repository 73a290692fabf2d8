"""What the games of sliding tiles share: tables of rows, spawn rules, the rules array, texts, and the moves themselves.

A board has at most 4×4 cells, numbered row by row from the top left; a cell holds a code of ``bits`` bits, 0 if it is
empty, and a row of four cells is one number by which two tables are read: what it becomes when its tiles slide to
either side, and what that brings. Columns are rows of the transposed board. Smaller boards lie in the upper left
corner: their rows have tables of their own, and the cells beyond stay empty.

A state is two words: the cells, and in the topmost two bits of the second word how many tiles are due. Where none is,
the player moves; else chance puts a tile on an empty cell. Moves of the player are 0 to 3 (left, right, up, down),
a tile of the k-th kind on a cell is 4 + 16 k + cell.
"""

import functools
import math
import re

import numpy as np

from ..core import jit
from ..core.errors import UserError
from ..core.jit import compiled
from . import lanes
from .interface import CHANCE, END, MAX, MAX_DRAWS, MAX_MOVES, Position, Rules, State, as_state, board_size

# what every game here takes over as it is
__all__ = ["BOARDS", "ENDED_STAYS", "PLAYERS", "UNIT"]
__all__ += ["draw", "due", "final", "key", "move_text", "parse_move", "start", "turn", "words"]

PLAYERS = 1
UNIT = "points"
ENDED_STAYS = False
BOARDS = ((2, 2), (4, 4), (4, 4))

MOVES = "left", "right", "up", "down"
TILE = 4  # code of the first kind of tile on the first cell
CELLS = 16

# Where things are in the rules array.
ROWS, COLUMNS, ACROSS, DOWN, KINDS, MOST = range(6)  # ACROSS, DOWN: where the rows' and the columns' tables begin
CELL_MASK = 6  # two words: the lowest bit of every cell of the board
SPAWNS = 8  # for each kind of tile its code, its value and its probability, in parts of 2^62
_MOST_KINDS = MAX_DRAWS
VALUES = SPAWNS + 3 * _MOST_KINDS  # of each code
TABLES = VALUES + 32

_RIGHT = np.uint64(20)  # bits of a table's word: the row slid to the left, to the right
_ROW = np.uint64(0xFFFFF)
_REWARD_RIGHT = np.uint64(32)
_REWARD = np.uint64(0xFFFFFFFF)
_DUE = np.uint64(62)
_ONE = np.uint64(1)
_CERTAIN = 2.0**62
ONE_DUE = np.uint64(1 << 62)
_CELL_WORDS = np.uint64((1 << 62) - 1)

# bound for each game; cells: what a game's ``slide``, ``rewards`` and ``transpose`` take a board as
cells_of = state_of = transpose = slide = rewards = free_cells = cell_of = put = code_at = None


@functools.cache
def row_tables(bits, width, merges, values):
    """Return (results, rewards), uint64 by row, of rows whose first ``width`` of four cells are on the board.

    merges: a tuple of tuples, by two codes that which neighbours merge to, 0 if they do not; values: of the codes, a
    tuple. A result has the row slid to the left in its lowest 20 bits, and to the right in the 20 above; a reward is
    points to the left, and above 32 bits to the right.
    """
    left, points = _slid(bits, width, np.array(merges, np.int64), np.array(values, np.int64))
    mirror = _mirrored(np.arange(len(left)), bits, width)
    results = left | _mirrored(left, bits, width)[mirror] << np.int64(_RIGHT)
    return results.astype(np.uint64), (points | points[mirror] << np.int64(_REWARD_RIGHT)).astype(np.uint64)


def _slid(bits, width, merges, values):
    """Return (rows slid to the left, points that this brings), int64 by row; arguments as in ``row_tables``.

    A million rows of 2584 are made cell by cell: all rows of a cell more from those before it, by whole arrays.
    """
    tile = np.arange(1 << bits)[:, None]
    # of each row of the cells so far: what it becomes, points, filled cells, the code in the last if that may merge
    slid, points, filled, last = np.zeros((4, 1), np.int64)
    for cell in range(4):
        made = np.where((last > 0) & (tile > 0), merges[last, tile], 0) if cell < width else np.zeros_like(tile)
        merged = made > 0
        place = filled if cell < width else cell  # a cell beyond the board stays as it is
        put = (tile > 0) & ~merged
        changed = np.where(merged, made - last << bits * np.maximum(filled - 1, 0), tile * put << bits * place)
        last = np.where(put, tile, last * ~merged)
        parts = slid + changed, points + values[made] * merged, filled + put, last
        slid, points, filled, last = (np.broadcast_to(part, last.shape).ravel() for part in parts)
    return slid, points


def _mirrored(rows, bits, width):
    """Return rows with the cells that are on the board in the opposite order."""
    out = rows >> bits * width << bits * width
    for cell in range(width):
        out |= (rows >> bits * cell & (1 << bits) - 1) << bits * (width - 1 - cell)
    return out


def parse_spawn(text, values, name):
    """Return [(code, value, probability)] of a text such as ``2:0.9,4:0.1``; raises UserError."""
    kinds = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,9}):(\d*\.?\d+(?:[eE][-+]?\d+)?)\s*", part)
        if not found:
            raise UserError(f"spawn '{text[:60]}' is not tiles with their probabilities, such as 2:0.9,4:0.1")
        value, probability = int(found[1]), float(found[2])
        if not value or value not in values:
            raise UserError(f"spawn '{text[:60]}': {value} is not a tile of {name}")
        if not 0 < probability <= 1:
            raise UserError(f"spawn '{text[:60]}': {probability:g} is not a probability above 0 and up to 1")
        kinds.append((values.index(value), value, probability))
    if len({code for code, _, _ in kinds}) < len(kinds) or len(kinds) > _MOST_KINDS:
        raise UserError(f"spawn '{text[:60]}' has a tile twice, or more than {_MOST_KINDS}")
    if abs(math.fsum(probability for _, _, probability in kinds) - 1) > 1e-9:
        raise UserError(f"spawn '{text[:60]}': the probabilities do not sum to 1")
    return kinds


@functools.cache
def rules_of(name, bits, merges, values, board, spawn):
    """Return the rules array (uint64) of a game; not to be written to."""
    rows, columns = board
    if not (2 <= rows <= 4 and 2 <= columns <= 4):
        raise UserError(f"board {rows}x{columns} is not one of {name}: 2x2 to 4x4")
    across = np.concatenate(row_tables(bits, columns, merges, values))
    tables = [across] if rows == columns else [across, np.concatenate(row_tables(bits, rows, merges, values))]
    r = np.zeros(TABLES, np.uint64)
    kinds = parse_spawn(spawn, list(values), name)
    down = TABLES + (len(tables) - 1) * len(across)
    r[[ROWS, COLUMNS, ACROSS, DOWN, KINDS, MOST]] = rows, columns, TABLES, down, len(kinds), max(values)
    on = [4 * row + column for row in range(rows) for column in range(columns)]
    per_word = 16 if bits == 4 else 8
    for cell in on:
        r[CELL_MASK + cell // per_word] |= np.uint64(1 << bits * (cell % per_word))
    for i, (code, value, probability) in enumerate(kinds):
        r[SPAWNS + 3 * i : SPAWNS + 3 * i + 3] = code, value, int(probability * _CERTAIN)
    r[VALUES : VALUES + len(values)] = values
    return np.concatenate([r, *tables])


@compiled
def due(s):
    """Tiles that chance puts down next."""
    return s[1] >> _DUE


@compiled
def with_due(s, tiles):
    return s[0], s[1] & _CELL_WORDS | np.uint64(tiles) << _DUE


@compiled
def turn(s, r):
    """Whose turn it is, MAX also where the game is over, which takes longer to find out."""
    return np.int64(CHANCE) if due(s) > 0 else np.int64(MAX)


@compiled
def slide_row(row, r, at):
    """Return a row slid to the left and to the right."""
    found = r[np.uint64(at) + row]  # unsigned, since numba checks signed ones
    return found & _ROW, found >> _RIGHT & _ROW


def moved(s, r, m):
    """Return the state after a move of the player, with no tile due, the same if the move is not legal; its points."""
    across = m < 2
    at = np.int64(r[ACROSS if across else DOWN])
    cells = cells_of(s) if across else transpose(cells_of(s))
    left, right = slide(cells, r, at)
    points_left, points_right = rewards(cells, r, at)
    cells, points = (right, points_right) if m & 1 else (left, points_left)
    return state_of(cells if across else transpose(cells)), points


def expand(s, r, out, states, gains, at):
    """All four moves by two slides, instead of one slide a move."""
    cells, turned = cells_of(s), transpose(cells_of(s))
    left, right = slide(cells, r, np.int64(r[ACROSS]))
    up, down = slide(turned, r, np.int64(r[DOWN]))
    gain_left, gain_right = rewards(cells, r, np.int64(r[ACROSS]))
    gain_up, gain_down = rewards(turned, r, np.int64(r[DOWN]))
    n = 0
    for m, child, old, gain in (
        (0, left, cells, gain_left),
        (1, right, cells, gain_right),
        (2, up, turned, gain_up),
        (3, down, turned, gain_down),
    ):
        if child != old:
            i = at + n
            out[i], gains[i] = m, gain
            low, high = state_of(child if m < 2 else transpose(child))
            states[2 * i], states[2 * i + 1] = low, high | ONE_DUE
            n += 1
    return n


def kind(s, r):
    if due(s) > 0:
        return CHANCE
    for m in range(4):
        child, _ = moved(s, r, np.int64(m))
        if child != s:
            return MAX
    return END


def moves(s, r, out, at):
    if due(s) > 0:
        return tiles(s, r, out, at)
    n = 0
    for m in range(4):
        child, _ = moved(s, r, np.int64(m))
        if child != s:
            out[at + n] = m
            n += 1
    return n


def tiles(s, r, out, at):
    """Write the codes of what chance may do; return how many there are."""
    n, every = 0, free_cells(s, r)
    for k in range(np.int64(r[KINDS])):
        free = every
        while free != 0:
            out[at + n] = TILE + CELLS * k + cell_of(lanes.lowest(free))
            free &= free - _ONE
            n += 1
    return n


def outcomes(s, r, out, probability, at):
    n = tiles(s, r, out, at)
    kinds = np.int64(r[KINDS])
    each = kinds / np.float64(n)  # of an empty cell
    i = at
    for k in range(kinds):
        of_kind = np.int64(r[SPAWNS + 3 * k + 2]) / _CERTAIN * each
        for _ in range(n // kinds):
            probability[i] = of_kind
            i += 1
    return n


def play(s, r, m):
    if m < TILE:
        child, reward = moved(s, r, m)
        return with_due(child, 1), reward
    k, cell = (m - TILE) // CELLS, (m - TILE) % CELLS
    return with_due(put(s, cell, r[SPAWNS + 3 * k]), due(s) - _ONE), np.int64(0)


def moves_left(s, r):
    """Twice as many moves as tiles that the board could still take in, if it could take in all that fits its cells."""
    total = np.int64(0)
    for cell in range(CELLS):
        total += np.int64(r[VALUES + np.int64(code_at(s, np.int64(cell)))])
    room = np.int64(r[ROWS] * r[COLUMNS] * r[MOST]) - total
    return np.int64(2) * room + (np.int64(0) if due(s) > 0 else np.int64(1))


def largest_code(s):
    """Return the code of the largest tile; in Python this took 40 µs, half as long as a game by ``rows`` at one ply."""
    largest = np.int64(0)
    for cell in range(CELLS):
        largest = max(largest, np.int64(code_at(s, np.int64(cell))))
    return largest


def book_canonical(s, r):
    """The smallest of the boards that turning and mirroring make of this one, which keep to its corner."""
    rows, columns = np.int64(r[ROWS]), np.int64(r[COLUMNS])
    smallest = s
    for image in range(1, 8 if rows == columns else 4):
        turned = with_due((np.uint64(0), np.uint64(0)), due(s))
        for row in range(rows):
            for column in range(columns):
                i = rows - 1 - row if image & 1 else row
                j = columns - 1 - column if image & 2 else column
                if image & 4:
                    i, j = j, i
                turned = put(turned, 4 * row + column, code_at(s, 4 * i + j))
        if turned[0] < smallest[0] or (turned[0] == smallest[0] and turned[1] < smallest[1]):
            smallest = turned
    return smallest


def reached(s, r, value):
    """Whether there is a tile of this value, or a larger one."""
    found = False
    for cell in range(CELLS):
        found |= np.int64(r[VALUES + np.int64(code_at(s, np.int64(cell)))]) >= value
    return found


@compiled
def draw(m, r):
    """The kind of a tile."""
    return (m - TILE) // CELLS


@compiled
def final(s, r):
    """Points come with the moves; the end itself brings none."""
    return np.int64(0)


@compiled
def key(s, r):
    # the tiles due go to the lowest bits, which a product spreads; from the topmost they would reach no other bit
    low = s[1] << np.uint64(2) | due(s)
    x = (s[0] ^ low * np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xD6E8FEB86659FD93)
    x ^= x >> np.uint64(32)
    x *= np.uint64(0xC2B2AE3D27D4EB4F)
    return x ^ x >> np.uint64(29)


TEMPLATES = moved, expand, kind, tiles, moves, outcomes, play, moves_left, largest_code, book_canonical, reached


def words(r):
    """Number of uint64 words of a state."""
    return 2


def start(r):
    """The empty board, on which two tiles are due."""
    return Position((np.uint64(0), np.uint64(2 << int(_DUE))), 0)


class Texts:
    """Positions of a game of sliding tiles as texts, and what is read off its boards.

    values: of tiles, by code; functions: the game's compiled ``put``, ``code_at``, ``largest_code`` and ``free_cells``.
    """

    def __init__(self, name: str, values: tuple[int, ...], functions: dict):
        self._name, self._values = name, values
        self._codes = {value: code for code, value in enumerate(values)}
        self._put, self._code_at = functions["put"], functions["code_at"]
        self._largest_code, self._free_cells = functions["largest_code"], functions["free_cells"]

    def parse(self, text: str, r: Rules) -> Position:
        """Return the Position of tile values row by row, 0 for empty; ``+N`` after them says that N tiles are due."""
        text = text.split(";", 1)[0].strip()
        if text in ("", "startpos"):
            return start(r)
        body, plus, late = text.partition("+")
        late = late.strip()
        if plus and late not in ("1", "2"):
            raise UserError(f"'+{late[:20]}' does not say how many tiles are due: +1 or +2")
        given = re.split(r"[,\s]+", body.strip())
        rows, columns = board_size(r)
        if len(given) != rows * columns:
            raise UserError(
                f"a position of {self._name} {rows}x{columns} is {rows * columns} tile values, 0 for empty, "
                f"not {len(given)}"
            )
        s = (np.uint64(0), np.uint64(0))
        for i, tile in enumerate(given):
            code = self._codes.get(int(tile)) if tile.isdecimal() and len(tile) <= 9 else None
            if code is None:
                first = ", ".join(map(str, self._values[1:5]))
                raise UserError(f"'{tile[:20]}' is not a tile of {self._name}: 0, {first} ... {self._values[-1]}")
            s = as_state(self._put(s, np.int64(i // columns * 4 + i % columns), np.uint64(code)))
        free = sum(int(tile) == 0 for tile in given)
        if int(late or 0) > free:
            raise UserError(f"+{late}: so many tiles are due, and {free} cells are empty")
        return Position(as_state(with_due(s, np.uint64(late or 0))), 0)

    def text(self, position: Position, r: Rules) -> str:
        """Return the text that ``parse`` reads."""
        tiles_due, (rows, columns) = int(due(position.state)), board_size(r)
        cells = [
            str(self._values[int(self._code_at(position.state, np.int64(4 * row + column)))])
            for row in range(rows)
            for column in range(columns)
        ]
        return ",".join(cells) + (f" +{tiles_due}" if tiles_due else "")

    def largest(self, state: State, r: Rules) -> int:
        """Return the value of the largest tile."""
        return self._values[self._largest_code(as_state(state))]

    def empties(self, state: State, r: Rules) -> int:
        """Return the number of empty cells."""
        return int(self._free_cells(state, r)).bit_count()


def interface(name, values, own):
    """Return what a game has of this module, bound to its ``own`` functions: kernels, and functions of texts.

    They are kind, moves, outcomes, play, moves_left, expand, book_canonical, reached; parse, text, largest, empties.
    """
    functions = jit.specialise_all(TEMPLATES, name, {function.__name__: function for function in own})
    texts = Texts(name, values, functions)
    offered = "kind", "moves", "outcomes", "play", "moves_left", "expand", "book_canonical", "reached"
    kernels = (functions[each] for each in offered)
    return *kernels, texts.parse, texts.text, texts.largest, texts.empties


def move_text(m, r):
    """``left`` and so on; of a tile its value and cell, a1 the upper left one: ``2@a1``."""
    m = int(m)
    if m < TILE:
        return MOVES[m]
    k, cell = divmod(m - TILE, CELLS)
    return f"{int(r[SPAWNS + 3 * k + 1])}@{'abcd'[cell % 4]}{cell // 4 + 1}"


def parse_move(text, r):
    """Return the code of ``move_text``; raises UserError."""
    if text in MOVES:
        return MOVES.index(text)
    found = re.fullmatch(r"(\d{1,9})@([a-d])([1-4])", text)
    kinds = [int(r[SPAWNS + 3 * k + 1]) for k in range(int(r[KINDS]))]
    if found and int(found[1]) in kinds:
        column, row = "abcd".index(found[2]), int(found[3]) - 1
        if row < r[ROWS] and column < r[COLUMNS]:
            return TILE + CELLS * kinds.index(int(found[1])) + 4 * row + column
    raise UserError(f"'{text[:20]}' is not left, right, up, down or a tile on a cell, such as {kinds[0]}@a1")


assert TILE + CELLS * _MOST_KINDS <= MAX_MOVES
