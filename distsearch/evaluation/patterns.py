"""Learnt evaluation of Othello on 8×8, 6×6 and 10×10: a network of patterns, by the number of discs on the board.

A *pattern* is a tuple of up to 10 squares, each empty (0), of the side to move (1) or of the other one (2); all eight
boards that turning and mirroring make of a position are looked up (Buro 1997, "Experiments with Multi-ProbCut and a new
high-quality evaluation function for Othello"; the preset is the set that Edax uses). Values are in hundredths of a
disc, of the final score that the side to move may expect. Swapping the sides does not negate them: to have the move is
worth something. A board of 6×6 is embedded in the middle of one of 8×8, where turning and mirroring leave it; how those
of several words are looked up is in ``large_patterns``.

What is looked up is made from a network once and kept in a file in the kernels' folder, which the processes of a host
map: weights as int16, and of a pattern that a mirror leaves in its place the weights of what it looks like there added
up. A quarter of the look-ups is saved so, and half of the memory.
"""

import functools
import os
from typing import NamedTuple

import numpy as np

from ..core.array_cache import kept
from ..core.errors import UserError
from ..core.files import open_file
from ..core.jit import compiled
from ..games.bits import byte_swap, pdep, pext
from ..games.interface import board_size
from ..games.lanes import by_width, first_half, popcount, second_half
from ..games.othello import SQUARES
from . import large_patterns
from . import tuple_network as nw
from .move_ordering import OTHELLO_6X6, OTHELLO_8X8, MoveOrdering
from .pattern_images import CODES, added_up, embedded, kind_of

NAME = "patterns"
GAME = "othello"
SIDE = 8  # of the usual board, and the largest of one word
MOST_CELLS = 10
MOST_PLACES = 1024  # of a position, in a stage's weights
UNIT = 100  # of a value, a disc
BOUND = 64 * UNIT  # on boards up to 8×8

# Squares of each board's patterns, from one corner or edge; the others follow by turning and mirroring.
_8X8 = (
    "0,1,2,8,9,10,16,17,18"  # a corner
    "/0,1,2,3,4,8,9,16,24,32"  # its two edges, with the square diagonal to it
    "/0,1,2,3,4,5,6,7,9,14"  # an edge, and both of those
    "/0,2,3,4,5,7,10,11,12,13"  # an edge's middle, two rows deep, and its corners
    "/8,9,10,11,12,13,14,15/16,17,18,19,20,21,22,23/24,25,26,27,28,29,30,31"  # the second to fourth row
    "/0,9,18,27,36,45,54,63/1,10,19,28,37,46,55/2,11,20,29,38,47/3,12,21,30,39/4,13,22,31"  # diagonals
)
_6X6 = (
    "0,1,2,6,7,8,12,13,14"  # the same kinds, in the same order
    "/0,1,2,3,6,7,12,18"
    "/0,1,2,3,4,5,7,10"
    "/0,1,2,3,4,5,7,8,9,10"
    "/6,7,8,9,10,11/12,13,14,15,16,17"
    "/0,7,14,21,28,35/1,8,15,22,29/2,9,16,23"
)
_10X10 = (
    "0,1,2,10,11,12,20,21,22"  # as on 8×8
    "/0,1,2,3,4,10,11,20,30,40"
    "/0,1,2,3,6,7,8,9,11,18"  # an edge but for its middle, and the squares diagonal to its corners
    "/0,1,2,3,4,5,6,7,8,9"  # an edge
    "/0,1,2,3,4,10,11,12,13,14"  # half of one, two rows deep
    "/10,11,12,13,14,15,16,17,18,19/20,21,22,23,24,25,26,27,28,29"  # the second to fifth row
    "/30,31,32,33,34,35,36,37,38,39/40,41,42,43,44,45,46,47,48,49"
    "/0,11,22,33,44,55,66,77,88,99/1,12,23,34,45,56,67,78,89/2,13,24,35,46,57,68,79"  # diagonals
    "/3,14,25,36,47,58,69/4,15,26,37,48,59/5,16,27,38,49"
)


class Preset(NamedTuple):
    """The patterns of a board of (side, side), and how exact searches order moves by them."""

    side: int
    tuples: tuple  # of squares, numbered row by row
    stages: tuple  # discs on the board with which the second and later stages begin
    ordering: MoveOrdering | None  # None: they would search more nodes so


PRESETS = {
    (8, 8): Preset(8, nw.parse_tuples(_8X8, (8, 8)), tuple(range(12, 64, 4)), OTHELLO_8X8),
    (6, 6): Preset(6, nw.parse_tuples(_6X6, (6, 6)), tuple(range(8, 36, 4)), OTHELLO_6X6),
    (10, 10): Preset(10, nw.parse_tuples(_10X10, (10, 10)), tuple(range(16, 100, 12)), None),
}

# Where things are in the tables (uint64) of boards of one word.
_COUNTS = 0  # patterns with two, four and eight different images, in this order
_OUTSIDE = 3  # mask of the squares of 8×8 that the embedded board does not have
_STAGE = 4  # by the number of discs: where its weights begin, in int16 from the start of the tables
_BASE3 = _STAGE + 65  # by binary number: that in base 3 with the same digits, four of them a word
_PATTERNS = _BASE3 + (1 << MOST_CELLS) // 4  # two words each: its squares, and where its weights begin in a stage's
_KINDS = (2, 4, 8)

_A, _B = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_C = np.uint64(0x0F0F0F0F0F0F0F0F)
_T1, _T2, _T4 = np.uint64(0x00AA00AA00AA00AA), np.uint64(0x0000CCCC0000CCCC), np.uint64(0x00000000F0F0F0F0)
_1, _2, _4, _7, _14, _28 = map(np.uint64, (1, 2, 4, 7, 14, 28))


@compiled
def mirrored(x):
    """Return a mask of the board with left and right exchanged."""
    x = x >> _1 & _A | (x & _A) << _1
    x = x >> _2 & _B | (x & _B) << _2
    return x >> _4 & _C | (x & _C) << _4


@compiled
def transposed(x):
    """Return a mask of the board with rows and columns exchanged."""
    t = (x ^ x >> _7) & _T1
    x ^= t ^ t << _7
    t = (x ^ x >> _14) & _T2
    x ^= t ^ t << _14
    t = (x ^ x >> _28) & _T4
    return x ^ t ^ t << _28


@compiled
def _place(own, opp, squares, base3):
    """Return the number that a pattern's squares hold on a board."""
    return np.uint64(base3[pext(own, squares)]) + _2 * np.uint64(base3[pext(opp, squares)])


@compiled
def _turned(own, opp):
    """Return the boards of both sides, one after the other, after each quarter turn."""
    own_t, opp_t = transposed(own), transposed(opp)
    return (
        own,
        opp,
        byte_swap(own_t),
        byte_swap(opp_t),
        byte_swap(mirrored(own)),
        byte_swap(mirrored(opp)),
        mirrored(own_t),
        mirrored(opp_t),
    )


@compiled
def _two(boards, squares, begin, base3, weights):
    """Return the weights of a pattern on the first two of the boards, added up."""
    first = weights[begin + _place(boards[0], boards[1], squares, base3)]
    return np.int64(first) + weights[begin + _place(boards[2], boards[3], squares, base3)]


@compiled
def _four(boards, squares, begin, base3, weights):
    third = weights[begin + _place(boards[4], boards[5], squares, base3)]
    fourth = weights[begin + _place(boards[6], boards[7], squares, base3)]
    return _two(boards, squares, begin, base3, weights) + third + fourth


@compiled
def _around(own, opp, tables):
    """Return the discs of both sides of a board of one word as masks of 8×8 squares (uint64)."""
    board = ~tables[_OUTSIDE]
    return pdep(own[0], board), pdep(opp[0], board)


@compiled
def _looked_up_one(own, opp, tables):
    """Return the sum of the weights of a position."""
    base3, weights = tables[_BASE3:_PATTERNS].view(np.uint16), tables.view(np.int16)
    stage = tables[_STAGE + popcount(own[0] | opp[0])]
    own, opp = _around(own, opp, tables)
    turned, value, at = _turned(own, opp), np.int64(0), np.uint64(_PATTERNS)
    # a loop over images instead takes 1.25 times as long
    for _ in range(np.int64(tables[_COUNTS])):
        value += _two(turned, tables[at], tables[at + _1] + stage, base3, weights)
        at += _2
    for _ in range(np.int64(tables[_COUNTS + 1])):
        value += _four(turned, tables[at], tables[at + _1] + stage, base3, weights)
        at += _2
    if tables[_COUNTS + 2] > 0:
        others = _turned(mirrored(own), mirrored(opp))
        for _ in range(np.int64(tables[_COUNTS + 2])):
            value += _four(turned, tables[at], tables[at + _1] + stage, base3, weights)
            value += _four(others, tables[at], tables[at + _1] + stage, base3, weights)
            at += _2
    return value


@compiled
def _places_one(own, opp, tables, out):
    base3 = tables[_BASE3:_PATTERNS].view(np.uint16)
    own, opp = _around(own, opp, tables)
    boards, n, at = _turned(own, opp) + _turned(mirrored(own), mirrored(opp)), 0, np.uint64(_PATTERNS)
    for kind in range(len(_KINDS)):
        for _ in range(np.int64(tables[_COUNTS + kind])):
            squares, begin = tables[at], tables[at + _1]
            at += _2
            for image in range(0, 4 << kind, 2):
                out[n] = np.int32(begin + _place(boards[image], boards[image + 1], squares, base3))
                n += 1
    return n


def images_and_squares(tables):
    """Return (images, mask of its squares on 8×8) of each pattern in the tables of a board of one word, in order."""
    counts = tables[_COUNTS : _COUNTS + len(_KINDS)].tolist()
    images = [kind for kind, count in zip(_KINDS, counts, strict=True) for _ in range(count)]
    return list(zip(images, tables[_PATTERNS : _PATTERNS + 2 * len(images) : 2].tolist(), strict=True))


_looked_up = by_width(_looked_up_one, large_patterns.looked_up)
_places = by_width(_places_one, large_patterns.places)


@compiled
def places(s, tables, out):
    """Write where in a stage's weights a position's are to ``out`` (int32), and return how many they are."""
    return _places(first_half(s), second_half(s), tables, out)


@compiled
def patterns(s, r, tables):
    """Hundredths of a disc that the side to move may expect to win by, at most ``bound``."""
    own, opp = first_half(s), second_half(s)
    most = np.int64(BOUND) if len(own) == 1 else UNIT * np.int64(r[SQUARES])
    return min(max(_looked_up(own, opp, tables), -most), most)


def bound(board):
    """Return what no position of a board, (rows, columns), is worth more than."""
    return max(BOUND, UNIT * board[0] * board[1])


class Layout(NamedTuple):
    """Where the weights of patterns are."""

    side: int  # of the board
    around: int  # side of the board whose squares the tuples are of: 8×8 has the smaller ones in its middle
    tuples: tuple
    order: list  # of look-ups: indices of tuples
    begins: np.ndarray  # int64, shape (tuples,): where each one's weights begin in a stage's, in the order of look-ups
    size: int  # weights of a stage

    @property
    def room(self):
        """int16 that a stage's weights take behind the other tables, which are uint64."""
        return -(-self.size // 4) * 4


def layout(tuples, side):
    """Return the Layout of tuples of squares of a (side, side) board."""
    around = max(side, SIDE)
    tuples = embedded(tuples, side, around)
    order = sorted(range(len(tuples)), key=lambda i: (_KINDS.index(kind_of(tuples[i], around)), i))
    sizes = nw.sizes([tuples[i] for i in order], CODES)
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return Layout(side, around, tuples, order, begins, sum(sizes))


def header(placed, stages):
    """Return the tables without the weights for a Layout."""
    if placed.around > SIDE:
        return large_patterns.header(placed, stages)
    tables = np.zeros(_PATTERNS + 2 * len(placed.tuples), np.uint64)
    kinds = [kind_of(placed.tuples[i], SIDE) for i in placed.order]
    tables[_COUNTS : _COUNTS + 3] = [kinds.count(kind) for kind in _KINDS]
    (board,) = embedded([range(placed.side**2)], placed.side, SIDE)
    tables[_OUTSIDE] = (1 << SIDE * SIDE) - 1 - sum(1 << cell for cell in board)
    first = 4 * len(tables)
    for discs in range(65):
        tables[_STAGE + discs] = first + placed.room * sum(discs >= stage for stage in stages)
    binary = np.arange(1 << MOST_CELLS)[:, None] >> np.arange(MOST_CELLS) & 1
    tables[_BASE3:_PATTERNS] = (binary @ CODES ** np.arange(MOST_CELLS)).astype(np.uint16).view(np.uint64)
    for k, i in enumerate(placed.order):
        tables[_PATTERNS + 2 * k] = sum(1 << cell for cell in placed.tuples[i])
        tables[_PATTERNS + 2 * k + 1] = placed.begins[k]
    return tables


def tables_of(network):
    """Return the tables (uint64) of a Network that fits, see ``check_fits``."""
    placed = layout(network.tuples, network.board[0])
    sizes = nw.sizes(network.tuples, CODES)
    ends = np.cumsum(sizes)
    packed = np.zeros((len(network.weights), placed.room), np.int16)
    most = np.iinfo(np.int16).max
    for i, begin in zip(placed.order, placed.begins, strict=True):
        own = network.weights[:, ends[i] - sizes[i] : ends[i]].astype(np.float64)
        own = np.rint(UNIT * added_up(placed.tuples[i], placed.around, own))
        packed[:, begin : begin + sizes[i]] = np.clip(own, -most, most)
    return np.concatenate([header(placed, network.stages), packed.ravel().view(np.uint64)])


def check_fits(network, board, shown):
    """Raise UserError unless a Network is one of Othello's patterns on a board; shown: what to call it."""
    if tuple(network.board) != board:
        raise UserError(f"{shown} has weights for {'x'.join(map(str, network.board))[:20]}, not for {_text(board)}")
    fit = all(len(cells) <= MOST_CELLS for cells in network.tuples)
    if not fit or not network.symmetric or 8 * len(network.tuples) > MOST_PLACES:
        raise UserError(f"{shown}: patterns must be symmetric, {MOST_PLACES // 8} of up to {MOST_CELLS} squares")
    if not np.isfinite(network.weights).all():
        raise UserError(f"{shown} has weights that are not numbers")


def fits(rules):
    """Whether there are patterns for a board."""
    return board_size(rules) in PRESETS


def check_board(board):
    """Raise UserError if there are no patterns for a board."""
    if board not in PRESETS:
        *most, last = map(_text, PRESETS)
        raise UserError(f"learnt patterns are for othello on {', '.join(most)} and {last}, not on {_text(board)}")


def _text(board):
    return "x".join(map(str, board))


def of_file(path, rules):
    """Return the evaluation of a file's network, as the fields of an ``Evaluation`` by name.

    Raises UserError if the file has no network for Othello, or it is not for the board of the rules.
    """
    board = board_size(rules)
    check_board(board)
    try:
        state = os.stat(path)
        changed = state.st_mtime_ns, state.st_size, state.st_ino
    except (OSError, ValueError):  # ValueError: a name with a NUL; reading it says what is wrong
        changed = None
    tables, ordering, most = _of_file(os.fspath(path), board, changed), PRESETS[board].ordering, bound(board)
    return {"name": NAME, "function": patterns, "tables": tables, "bound": most, "unit": UNIT, "ordering": ordering}


@functools.lru_cache(maxsize=4)
def _of_file(path, board, _):
    """Return the tables of a file."""
    try:
        with open_file(path) as file:
            content = file.read()
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}") from error

    def make():
        network = nw.load(path, GAME, CODES)
        check_fits(network, board, path[:200])
        return tables_of(network)

    return kept(f"{GAME}-{NAME}-{_text(board)}", content, (None,), np.uint64, make)
