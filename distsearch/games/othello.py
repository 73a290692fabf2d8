"""Othello on any board from 4×4 to 16×16.

A state is the discs of the side to move, then those of the other side: one uint64 each up to 64 squares, and 2 to 4
words each beyond, the lowest squares in the first word. Square ``row * columns + column`` is the bit of that number. A
pass is a move (PASS) and the game ends when neither side can move. Board sizes live in the rules array, so all boards
of one width share the compiled code, which costs 2–5% of a search's speed against constants.
"""

import re
import sys

import numpy as np

from ..core.errors import UserError
from ..core.jit import compiled
from . import lanes
from .bits import COUNTS_IN_LANES
from .interface import END, MAX, PASS, Position, board_size, legal_moves, step

NAME = "othello"
UNIT = "discs"
PLAYERS = 2
ENDED_STAYS = True
BOARDS = ((4, 4), (8, 8), (16, 16))
OPTIONS = {"empties": ("winner", "none")}

# Where things are in the rules array. Masks take four words, whatever the board.
ROWS, COLUMNS, SQUARES, WORDS, EMPTIES_TO_WINNER, DOUBLINGS, SPREADS = range(7)
BOARD = 8  # every square
INNER = 12  # all but the first and the last column: a line that wraps round the board's edge stops there
STEPS = 16  # distance between neighbours on the four axes, row, antidiagonal, column, diagonal: each WORDS times
AXES = STEPS + 16  # the mask of each axis, WORDS words: INNER, or BOARD for the columns
PARTS = AXES + 16  # corners, their neighbours on the edge (C), on the diagonal (X), other edge squares, the inside
REGIONS = PARTS + 5 * 4  # the board's quarters
# for one-word boards, a word an axis: squares with a neighbour below, with one above, and those that lack one
BELOW = REGIONS + 4 * 4
ABOVE = BELOW + 4
ENDS = ABOVE + 4
RAYS = ENDS + 4  # 8 a square, up the axes then down: masks on one-word boards, else the number of squares
CORNERS, C_SQUARES, X_SQUARES, EDGES, INSIDE = range(5)

_ONE = np.uint64(1)
_X, _O, _DASH, _DOT, _SPACE = b"xo-. "
_AXES = ((0, 1), (1, -1), (1, 0), (1, 1))


def _ray(square, direction, rows, columns):
    i, j = divmod(square, columns)
    squares = []
    while 0 <= (i := i + direction[0]) < rows and 0 <= (j := j + direction[1]) < columns:
        squares.append(i * columns + j)
    return squares


def _part(square, rows, columns):
    i, j = divmod(square, columns)
    away = sorted((min(i, rows - 1 - i), min(j, columns - 1 - j)))
    return {(0, 0): CORNERS, (0, 1): C_SQUARES, (1, 1): X_SQUARES}.get(tuple(away), INSIDE if away[0] else EDGES)


def _region(square, rows, columns):
    i, j = divmod(square, columns)
    return 2 * (2 * i >= rows) + (2 * j >= columns)


def _split(number, n):
    return tuple(np.uint64(number >> (64 * i) & (2**64 - 1)) for i in range(n))


def rules(board=None, empties="winner"):
    """Return the rules array (uint64) of a board of (rows, columns); ``empties``: "winner" or "none" gets them."""
    rows, columns = board or BOARDS[1]
    squares = rows * columns
    r = np.zeros(RAYS + 8 * squares, np.uint64)
    # a line of n squares turns at most n - 2 discs: two from the first steps, two more from each doubled one
    doublings = max(0, (max(rows, columns) - 3) // 2)
    spreads = (max(rows, columns) - 1).bit_length()  # steps of 1, 2, 4 … squares that reach across the board
    r[: SPREADS + 1] = rows, columns, squares, -(-squares // 64), empties == "winner", doublings, spreads
    r[BOARD : BOARD + 4] = _split((1 << squares) - 1, 4)
    r[INNER : INNER + 4] = _split(sum(1 << q for q in range(squares) if 0 < q % columns < columns - 1), 4)
    n = int(r[WORDS])
    for axis, distance in enumerate((1, columns - 1, columns, columns + 1)):
        mask = BOARD if distance == columns else INNER
        r[STEPS + n * axis : STEPS + n * (axis + 1)] = distance
        r[AXES + n * axis : AXES + n * (axis + 1)] = r[mask : mask + n]
    for part in range(5):
        mask = sum(1 << q for q in range(squares) if _part(q, rows, columns) == part)
        r[PARTS + 4 * part : PARTS + 4 * part + 4] = _split(mask, 4)
    for region in range(4):
        mask = sum(1 << q for q in range(squares) if _region(q, rows, columns) == region)
        r[REGIONS + 4 * region : REGIONS + 4 * region + 4] = _split(mask, 4)
    if squares <= 64:
        for axis, (down, right) in enumerate(_AXES):
            for first, sign in ((BELOW, -1), (ABOVE, 1)):
                has = (q for q in range(squares) if _ray(q, (sign * down, sign * right), rows, columns))
                r[first + axis] = sum(1 << q for q in has)
            r[ENDS + axis] = r[BOARD] & ~(r[BELOW + axis] & r[ABOVE + axis])
    for q in range(squares):
        rays = [_ray(q, (s * a, s * b), rows, columns) for s in (1, -1) for a, b in _AXES]
        content = [sum(1 << p for p in ray) for ray in rays] if squares <= 64 else [len(ray) for ray in rays]
        r[RAYS + 8 * q : RAYS + 8 * q + 8] = content
    return r


def words(r):
    """Number of uint64 words of a state."""
    return 2 * int(r[WORDS])


def start(r):
    """The first position; X moves first."""
    (rows, columns), n = board_size(r), int(r[WORDS])
    corner = (rows // 2 - 1) * columns + columns // 2 - 1
    crosses = 1 << (corner + 1) | 1 << (corner + columns)
    noughts = 1 << corner | 1 << (corner + columns + 1)
    return Position(_split(crosses, n) + _split(noughts, n), 0)


@compiled
def _doubled(lines, pairs, double, upwards):
    """Return lines of discs two longer, where ``pairs`` of discs go on from them."""
    moved = lanes.axes_up(lines, double) if upwards else lanes.axes_down(lines, double)
    return lanes.either(lines, lanes.both(pairs, moved))


@compiled
def reach(own, opp, empty, r):
    """Return the empty squares where ``own`` may move: lines of ``opp`` are followed on all axes at once."""
    step = lanes.load(lanes.on_axes(own), r, STEPS)
    double = lanes.plus(step, step)
    mask = lanes.both(lanes.on_axes(opp), lanes.load(step, r, AXES))
    up = lanes.both(mask, lanes.axes_up(lanes.on_axes(own), step))
    down = lanes.both(mask, lanes.axes_down(lanes.on_axes(own), step))
    up = lanes.either(up, lanes.both(mask, lanes.axes_up(up, step)))
    down = lanes.either(down, lanes.both(mask, lanes.axes_down(down, step)))
    up_pairs = lanes.both(mask, lanes.axes_up(mask, step))
    down_pairs = lanes.axes_down(up_pairs, step)
    # straight on for lines of up to eight squares: what a loop changes is taken out of its vectors at each turn
    up = _doubled(_doubled(up, up_pairs, double, True), up_pairs, double, True)
    down = _doubled(_doubled(down, down_pairs, double, False), down_pairs, double, False)
    ends = lanes.off_axes(lanes.either(lanes.axes_up(up, step), lanes.axes_down(down, step)))
    if r[DOUBLINGS] > 2:
        for _ in range(np.int64(r[DOUBLINGS]) - 2):
            up = _doubled(up, up_pairs, double, True)
            down = _doubled(down, down_pairs, double, False)
        ends = lanes.off_axes(lanes.either(lanes.axes_up(up, step), lanes.axes_down(down, step)))
    return lanes.both(ends, empty)


@compiled
def can_move(own, opp, empty, r):
    """Return whether ``own`` may move anywhere."""
    # nearly always some move turns a single disc, which two shifts show: 1.15 times the nodes/s of a search
    step = lanes.load(lanes.on_axes(own), r, STEPS)
    mask = lanes.both(lanes.on_axes(opp), lanes.load(step, r, AXES))
    up = lanes.axes_up(lanes.both(mask, lanes.axes_up(lanes.on_axes(own), step)), step)
    down = lanes.axes_down(lanes.both(mask, lanes.axes_down(lanes.on_axes(own), step)), step)
    if lanes.any_of(lanes.both(lanes.off_axes(lanes.either(up, down)), empty)) != 0:
        return True
    return lanes.any_of(reach(own, opp, empty, r)) != 0


@compiled
def _turned_up(own, opp, m, r):
    """Return on each axis the discs of a one-word board that own turns above square m."""
    ray = lanes.load(lanes.on_axes(own), r, RAYS + 8 * m)
    end = lanes.both(lanes.bottom_bit(lanes.without(ray, lanes.on_axes(opp))), lanes.on_axes(own))
    return lanes.both(ray, lanes.below(end))


@compiled
def _all_turned(up, own, ray, top):
    """Return the discs turned: those up, and on rays down those above a disc of own that is the first not turned."""
    end = lanes.both(top, lanes.on_axes(own))
    down = lanes.both(ray, lanes.negative(lanes.plus(end, end)))
    return (lanes.any_of(lanes.either(up, down)),)


@compiled
def _turned_one(own, opp, m, r):
    up = _turned_up(own, opp, m, r)
    ray = lanes.load(up, r, RAYS + 8 * m + 4)
    others = lanes.without(ray, lanes.on_axes(opp))
    if not COUNTS_IN_LANES and r[SPREADS] <= 3:
        # lines of up to eight squares: spread down by 1, 2 and 4 of them, which takes 0.6 of the time then
        step = lanes.load(up, r, STEPS)
        double = lanes.plus(step, step)
        below = lanes.either(others, lanes.right(others, step))
        below = lanes.either(below, lanes.right(below, double))
        below = lanes.either(below, lanes.right(below, lanes.plus(double, double)))
        return _all_turned(up, own, ray, lanes.without(others, lanes.right(below, step)))
    return _all_turned(up, own, ray, lanes.top_bit(others))


@compiled
def _turned_many(own, opp, m, r):
    turned = lanes.without(own, own)
    for ray in range(8):
        step = np.int64(r[STEPS + len(own) * (ray & 3)]) * (1 if ray < 4 else -1)
        last = m + step * np.int64(r[RAYS + 8 * m + ray])
        line = lanes.without(own, own)
        square = m + step
        while square != last + step and opp[square >> 6] >> np.uint64(square & 63) & _ONE:
            line = lanes.with_bit(line, square)
            square += step
        if square != last + step and own[square >> 6] >> np.uint64(square & 63) & _ONE:
            turned = lanes.either(turned, line)
    return turned


turned = lanes.by_width(_turned_one, _turned_many)  # (own, opp, m, r) → the discs that own turns by a disc on m


@compiled
def sides(s, r):
    """Return the masks (own, opp, empty) of a state."""
    own, opp = lanes.first_half(s), lanes.second_half(s)
    return own, opp, lanes.without(lanes.load(own, r, BOARD), lanes.either(own, opp))


@compiled
def kind(s, r):
    own, opp, empty = sides(s, r)
    return MAX if can_move(own, opp, empty, r) or can_move(opp, own, empty, r) else END


@compiled
def write_squares(mask, out, at):
    """Write the numbers of the squares in ``mask`` to ``out[at:]`` (int16), lowest first; return how many."""
    n = at
    for w in range(len(mask)):
        bits = mask[w]
        while bits != 0:
            out[n] = 64 * w + lanes.lowest(bits)
            bits &= bits - _ONE
            n += 1
    return n - at


@compiled
def pass_or_end(own, opp, empty, r, out, at):
    """For a side without a move: write a pass and return 1, or return 0 if the game has ended."""
    if can_move(opp, own, empty, r):
        out[at] = PASS
        return 1
    return 0


@compiled
def moves(s, r, out, at):
    own, opp, empty = sides(s, r)
    n = write_squares(reach(own, opp, empty, r), out, at)
    return n if n > 0 else pass_or_end(own, opp, empty, r, out, at)


@compiled
def play(s, r, m):
    own, opp = lanes.first_half(s), lanes.second_half(s)
    if m == PASS:
        return lanes.joined(opp, own), 0
    discs = turned(own, opp, m, r)
    return lanes.joined(lanes.without(opp, discs), lanes.with_bit(lanes.either(own, discs), m)), 0


@compiled
def count(mask):
    """Number of squares in a mask, as int64."""
    return np.int64(lanes.total(lanes.popcounts(mask)))


@compiled
def final(s, r):
    own, opp = count(lanes.first_half(s)), count(lanes.second_half(s))
    ahead = own - opp
    empty = (np.int64(r[SQUARES]) - own - opp) * np.int64(r[EMPTIES_TO_WINNER])
    return ahead + empty if ahead > 0 else ahead - empty if ahead < 0 else ahead


@compiled
def moves_left(s, r):
    return np.int64(r[SQUARES]) - count(s)


@compiled
def key(s, r):
    # each word is folded in by an odd multiplication and an xor-shift (the finaliser of SplitMix64)
    h = r[ROWS] * np.uint64(16) + r[COLUMNS]
    for w in range(len(s)):
        h = (h ^ s[w]) * np.uint64(0x9E3779B97F4A7C15)
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        h ^= h >> np.uint64(31)
    return h


def move_text(m, r):
    """``d3`` for a square, ``pass`` for a pass."""
    if m == PASS:
        return "pass"
    row, column = divmod(int(m), int(r[COLUMNS]))
    return f"{chr(ord('a') + column)}{row + 1}"


def describe_score(score, position, r):
    """By how many discs the side to move wins or loses."""
    discs = f"{abs(score)} disc{'s' * (abs(score) != 1)}"
    return f"wins by {discs}" if score > 0 else f"loses by {discs}" if score else "a draw"


def parse_move(text, r):
    """Return the move code of ``d3`` or ``pass``; raises UserError for anything that is not a square."""
    if text.lower() == "pass":
        return PASS
    rows, columns = board_size(r)
    match = re.fullmatch(r"([a-p])([1-9][0-9]?)", text.lower())
    if match:
        row, column = int(match[2]) - 1, ord(match[1]) - ord("a")
        if row < rows and column < columns:
            return row * columns + column
    raise UserError(f"move '{text[:20]}' is not a square from a1 to {move_text(rows * columns - 1, r)}")


def text(position, r):
    """Return the board as X, O and -, row by row from a1, a space, and the side to move."""
    n, squares = int(r[WORDS]), int(r[SQUARES])
    masks = [sum(int(w) << (64 * i) for i, w in enumerate(position.state[k : k + n])) for k in (0, n)]
    crosses, noughts = masks if position.side == 0 else masks[::-1]
    board = "".join("X" if crosses >> q & 1 else "O" if noughts >> q & 1 else "-" for q in range(squares))
    return f"{board} {'XO'[position.side]}"


def transcript(codes, r):
    """Return the squares played one after another as text (``f5d6c3``); passes are left out, as is usual."""
    return "".join(move_text(m, r) for m in codes if m != PASS)


def parse(text, r):
    """Return the Position of ``startpos``, a board with its side to move, or a transcript from the first position.

    What follows a ``;`` is ignored. Passes are optional in a transcript. Raises UserError.
    """
    text = text.split(";")[0].strip()
    if text in ("", "startpos"):
        return start(r)
    if re.fullmatch(r"([a-pA-P][0-9]+|pass|PASS)+", text):
        return _parse_transcript(text.lower(), r)
    return _parse_board(text, r)


@compiled
def read(text, at, end, r, words):
    n, squares = np.int64(r[WORDS]), np.int64(r[SQUARES])
    if end - at < squares + 2 or text[at + squares] != _SPACE:
        return -1
    for i in range(at + squares, end - 1):
        if text[i] != _SPACE:
            return -1
    side = 0 if text[end - 1] | 0x20 == _X else 1 if text[end - 1] | 0x20 == _O else -1
    if side < 0:
        return -1
    words[: 2 * n] = 0
    for q in range(squares):
        disc = text[at + q]
        # bit 5 tells small letters from capitals
        if disc | 0x20 == _X:
            owner = side
        elif disc | 0x20 == _O:
            owner = 1 - side
        elif disc in (_DASH, _DOT):
            continue
        else:
            return -1
        words[n * owner + (q >> 6)] |= _ONE << np.uint64(q & 63)
    return side


def _parse_board(text, r):
    squares, n = int(r[SQUARES]), int(r[WORDS])
    board, _, side = text.partition(" ")
    side = side.strip()
    strange = re.sub("[XOxo.-]", "", board)
    if strange:
        raise UserError(f"position has '{strange[0]}' where only X, O and - can stand (or a transcript such as f5d6c3)")
    if len(board) != squares:
        raise UserError(f"position has {len(board)} squares; a {'x'.join(map(str, board_size(r)))} board has {squares}")
    if side not in ("X", "O", "x", "o"):
        raise UserError("position must end with a space and the side to move, X or O")
    crosses = sum(1 << q for q, disc in enumerate(board) if disc in "Xx")
    noughts = sum(1 << q for q, disc in enumerate(board) if disc in "Oo")
    if side in "Xx":
        return Position(_split(crosses, n) + _split(noughts, n), 0)
    return Position(_split(noughts, n) + _split(crosses, n), 1)


def _parse_transcript(text, r):
    game = sys.modules[__name__]
    position = start(r)
    for ply, played in enumerate(re.findall(r"[a-p][0-9]+|pass", text), 1):
        m = parse_move(played, r)
        legal = legal_moves(game, position, r)
        if legal == [PASS] and m != PASS:
            position = step(game, position, r, PASS)
            legal = legal_moves(game, position, r)
        if m not in legal:
            raise UserError(f"move {ply} of the transcript, {played}, is not legal there")
        position = step(game, position, r, m)
    return position
