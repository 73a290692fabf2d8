"""N-tuple networks as evaluations of 2048 and 2584: what points a board is still expected to bring.

A network has learnt boards after the player's move, to which chance then adds a tile; a board without a move (a *dead*
one) is worth nothing more, unless an evaluation is to take the network's word for it. Contents of a tuple's cells are
gathered from the board's words at once (``pext``), so a network of any tuples runs by the same compiled functions,
which find its masks and the address of its weights in their tables. Stages are told apart by the code of the largest
tile. Idea: Szubert and Jaśkowski 2014.
"""

import functools
import os
import re
from pathlib import Path

import numpy as np

from ..core import jit
from ..core.errors import UserError
from ..core.jit import compiled
from ..core.pointers import address, float32s
from ..games import g2048, g2584, sliding_symmetries
from ..games.bits import pext
from ..games.interface import END, board_size
from ..games.sliding import CELLS, COLUMNS, due
from . import near_order, tuple_network
from .tuple_network import Network

NAME = "ntuple"
MOST_STAGES = 8
_MOST_BITS = 28  # of a tuple's cells
_SHIPPED = {"2048": ("4x6", "4x5"), "2584": ("7x5", "3x4")}  # presets by game, the best first
SMALLER = {game: f"{NAME}_{smaller}" for game, (_, smaller) in _SHIPPED.items()}  # evaluations by game
_SHIPPED_BOARD = 4, 4  # of the networks that come with this package, which have learnt by each game's usual rules

# The tables (uint64). Of each tuple from EACH on: the masks of both words, how many bits the first one has, and where
# its weights begin.
WEIGHTS, TUPLES, SYMMETRIC, SIZE, STAGES = range(5)  # the address of the weights; SIZE: weights of a stage
BEGINS = 5  # codes of the largest tile that stages after the first begin with
EACH = BEGINS + MOST_STAGES
EACH_SIZE = 4
_BYTES = np.uint64(4)  # of a weight

PRESETS = {  # by game: sets of tuples by name, the default first
    "2048": {
        "4x6": "0,1,2,3,4,5/4,5,6,7,8,9/0,1,2,4,5,6/4,5,6,8,9,10",
        # Matsuzaki 2016
        "8x6": "0,1,2,4,5,6/1,2,5,6,9,13/0,1,2,3,4,5/0,1,5,6,7,10/0,1,2,5,9,10/0,1,5,9,13,14/0,1,5,8,9,13/0,1,2,4,6,10",
        "4x5": "0,1,2,3,4/4,5,6,7,8/0,1,2,4,5/4,5,6,8,9",
        "2x4": "0,1,2,3/4,5,6,7",
    },
    "2584": {
        "3x4": "0,1,2,3/4,5,6,7/0,1,4,5",  # as many as in a report on 2584, 24 look-ups a board
        "4x5": "0,1,2,4,5/4,5,6,8,9/0,1,2,3,4/4,5,6,7,8",
        "5x4": "0,1,2,3/4,5,6,7/0,1,4,5/1,2,5,6/5,6,9,10",
        "7x5": "0,1,2,4,5/4,5,6,8,9/0,1,2,3,4/4,5,6,7,8/0,1,5,6,10/0,1,2,5,9/1,5,6,9,13",
    },
}

boards_of = index_of = code_at = kind = weight_at = None  # bound for each game
DEAD_BOARDS = None  # whether the network says what boards are worth on which the player has no move


@compiled
def plain_weight(weights, at, tables):
    """Return a weight."""
    return weights[at]


@compiled
def promoted_weight(weights, at, tables):
    """Return a weight, which as long as its stage has not learnt it (NaN) is that of the stage before."""
    found = weights[at]
    while found != found:
        at -= tables[SIZE]
        found = weights[at]
    return found


@compiled
def index_2048(board, tables, at):
    """Return which of its weights (uint64) the tuple, whose tables begin ``at``, has for a board."""
    return pext(board[0], tables[at])


@compiled
def index_2584(board, tables, at):
    return pext(board[0], tables[at]) | pext(board[1], tables[at + 1]) << tables[at + 2]


def stage_of(s, tables):
    """Return where (uint64) the weights of a state's stage begin."""
    stages = np.int64(tables[STAGES])
    if stages == 1:
        return np.uint64(0)
    largest = np.uint64(0)
    for cell in range(CELLS):
        largest = max(largest, code_at(s, np.int64(cell)))
    stage = np.int64(0)
    while stage + 1 < stages and largest >= tables[BEGINS + stage]:
        stage += 1
    return np.uint64(stage) * tables[SIZE]


def value_of(s, tables):
    """Return the sum of a state's weights, float32: of each of the eight boards on its own, then all together."""
    where = tables[WEIGHTS] + _BYTES * stage_of(s, tables)
    a, b, c, d, e, f, g, h = boards_of(s)
    ones = twos = threes = fours = fives = sixes = sevens = eights = np.float32(0)
    at = EACH
    for _ in range(np.int64(tables[TUPLES])):
        weights = float32s(np.int64(where + _BYTES * tables[at + 3]))
        ones += weight_at(weights, index_of(a, tables, at), tables)
        if tables[SYMMETRIC]:
            twos += weight_at(weights, index_of(b, tables, at), tables)
            threes += weight_at(weights, index_of(c, tables, at), tables)
            fours += weight_at(weights, index_of(d, tables, at), tables)
            fives += weight_at(weights, index_of(e, tables, at), tables)
            sixes += weight_at(weights, index_of(f, tables, at), tables)
            sevens += weight_at(weights, index_of(g, tables, at), tables)
            eights += weight_at(weights, index_of(h, tables, at), tables)
        at += EACH_SIZE
    return ((ones + twos) + (threes + fours)) + ((fives + sixes) + (sevens + eights))


def learnt(s, r, tables):
    """What a state is still expected to bring: nothing, if the player has no move, unless DEAD_BOARDS."""
    if not DEAD_BOARDS and due(s) == 0 and kind(s, r) == END:
        return 0.0
    return np.float64(value_of(s, tables))


_TEMPLATES = stage_of, value_of, learnt
_OF_GAME = {
    "2048": {
        "boards_of": sliding_symmetries.all_2048,
        "index_of": index_2048,
        "code_at": g2048.code_at,
        "kind": g2048.kind,
    },
    "2584": {
        "boards_of": sliding_symmetries.all_2584,
        "index_of": index_2584,
        "code_at": g2584.code_at,
        "kind": g2584.kind,
    },
}


# Of games (names) whose learners have weights in ``near`` order, see ``near_order``: all boards in that order of bits.
NEAR = {"2048": sliding_symmetries.all_near_2048}


def kernels(game, promoting=False, near=False, dead_boards=False):
    """Return the compiled functions of a game (its name), by name.

    promoting: weights not learnt yet are NaN; near: weights are in ``near`` order; dead_boards: see DEAD_BOARDS.
    """
    name = f"{NAME}_{game}{'_promoting' * promoting}{'_near' * near}{'_dead' * dead_boards}"
    functions = {**_OF_GAME[game], "weight_at": promoted_weight if promoting else plain_weight}
    functions["DEAD_BOARDS"] = dead_boards
    if near:
        functions["boards_of"] = NEAR[game]
    return jit.specialise_all(_TEMPLATES, name, functions)


def tables_of(game, columns, tuples, symmetric, stages, weights, near=False):
    """Return the tables (uint64) of a network of ``game``, a module; the caller keeps the weights alive.

    columns: of its board, which lies in the corner of one of 4×4; near: whether the weights are in ``near`` order.
    """
    tables = np.zeros(EACH + EACH_SIZE * len(tuples), np.uint64)
    first, per_word = 0, 16 if game.BITS == 4 else 8
    for i, cells in enumerate(tuples):
        masks = [0, 0]
        for cell in cells:
            on = cell // columns * 4 + cell % columns
            masks[on // per_word] |= (1 << game.BITS) - 1 << game.BITS * (on % per_word)
        low = masks[0].bit_count()
        if near:
            masks[0] = near_order.bits_of(masks[0])
        tables[EACH + EACH_SIZE * i : EACH + EACH_SIZE * (i + 1)] = *masks, low, first
        first += 1 << game.BITS * len(cells)
    tables[:BEGINS] = address(weights), len(tuples), symmetric, first, len(stages) + 1
    tables[BEGINS : BEGINS + len(stages)] = stages
    return tables


def checked_tuples(game, text, board):
    """Return the tuples of a text, or of a preset by its name; raises UserError. game: a module."""
    presets = PRESETS[game.NAME]
    if text not in presets and re.fullmatch(r"\d+x\d+", text):
        raise UserError(f"tuples '{text[:60]}' are none of {', '.join(presets)}, nor cells, such as 0,1,2,3/4,5,6,7")
    tuples = tuple_network.parse_tuples(presets.get(text, text), board)
    most = _MOST_BITS // game.BITS
    if max(map(len, tuples)) > most:
        raise UserError(f"tuples '{text[:60]}': a tuple of {game.NAME} has {most} cells at most")
    return tuples


def shipped(game):
    """Return the names of the files of weights that come with this package for a game (a module), by evaluation.

    NAME is the one that plays best. There is a smaller one, which is faster; the studies measure speeds with the
    smaller one.
    """
    folder, names = Path(__file__).parent / "weights", (NAME, SMALLER[game.NAME])
    files = (folder / f"{game.NAME}_{tuples}{tuple_network.ENDING}" for tuples in _SHIPPED[game.NAME])
    return dict(zip(names, map(str, files), strict=True))


def learnt(game):
    """Return what finds the file of each evaluation that ``shipped`` has, by the rules, as ``LEARNT`` has it."""
    return {name: lambda rules, path=path: path for name, path in shipped(game).items()}


def strongest(game, rules):
    """Return the name of the evaluation that plays best by these rules: the network where it is one for them."""
    return NAME if np.array_equal(rules, game.rules(_SHIPPED_BOARD)) else "rows"


def of_file(game, path, rules, dead_boards=False):
    """Return the evaluation of a file's network, as the fields of an ``Evaluation`` by name.

    game: a module; dead_boards: whether the network says what boards without a move are worth; raises UserError if the
    file has no network for it and for these rules.
    """
    try:
        state = os.stat(path)
        changed = state.st_mtime_ns, state.st_size, state.st_ino
    except (OSError, ValueError):  # ValueError: a name with a NUL; reading it says what is wrong
        changed = None
    net = _loaded(os.fspath(path), changed, game.NAME, 1 << game.BITS)
    check_fits(net, game, rules, str(path)[:200])
    tables = tables_of(game, int(rules[COLUMNS]), net.tuples, net.symmetric, net.stages, net.weights)
    promoting = bool(net.stages)
    return {
        "name": f"{NAME}{'_promoting' * promoting}{'_dead' * dead_boards}",
        "function": kernels(game.NAME, promoting, dead_boards=dead_boards)["learnt"],
        "tables": tables,
        "bound": 0,
        "points": True,
        "dead_boards": dead_boards,
        "keeps": net,
        "version": str(changed),
    }


@functools.lru_cache(maxsize=4)
def _loaded(path, _, game, codes):
    return tuple_network.load(path, game, codes)


def check_fits(net: Network, game, rules, shown):
    """Raise UserError unless a Network is one of a game (a module) with these rules; shown: what to call it."""
    board = board_size(rules)
    if tuple(net.board) != board:
        raise UserError(
            f"{shown} has weights for {'x'.join(map(str, net.board))[:20]}, not for {'{}x{}'.format(*board)}"
        )
    fit = all(board[0] * board[1] > max(each) and len(each) <= _MOST_BITS // game.BITS for each in net.tuples)
    stages_fit = list(net.stages) == sorted({code for code in net.stages if code in range(2, 1 << game.BITS)})
    if not fit or not stages_fit or len(net.stages) >= MOST_STAGES or net.symmetric and board != (4, 4):
        raise UserError(f"{shown} has tuples or stages that {game.NAME} cannot have")
    try:
        learnt_by = game.rules(board, **net.options)
    except UserError as error:
        raise UserError(f"{shown}: {error}") from error
    if not np.array_equal(learnt_by, rules):
        raise UserError(
            f"{shown} has weights for tiles that come by {net.options.get('spawn', game.SPAWN)}, not by these"
        )
