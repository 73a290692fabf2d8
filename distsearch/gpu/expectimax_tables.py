"""What the GPU's expectimax takes of an evaluation: macros that its kernels are compiled with, tables, and numbers.

A symmetric network looks each of its tuples up on eight boards. Where a symmetry maps a tuple's cells onto themselves
(a row read backwards, a square mirrored), the two weights that it finds there are added beforehand, into one table: 12
look-ups instead of 24 for 2584's 3x4. The eight boards are never made: of each look-up its cells on one of four boards
(the board itself, transposed, and both mirrored) are known at compile time, and so how few shifts gather them.
"""

import itertools
from typing import NamedTuple

import numpy as np

from ..core.errors import UserError
from ..games.interface import board_size
from ..games.sliding import KINDS, SPAWNS
from .structs import struct, typed

MOST_KINDS, MOST_STAGES, MOST_LOOKUPS = 8, 8, 64
MOST_WEIGHTS = 1 << 30  # of a stage: so many bits say where those of an image begin
PARTS = "rows", "monotonicity", "smoothness", "free", "snake", "haskell"  # the n-th is macro PARTS' bit n
_BY_LINES = 3  # of them
_NETWORK = 64
_CERTAIN = 2.0**62

EVALUATOR = struct(
    "Evaluator",
    [
        ("weights", typed("const float*")),  # of a network, of all stages; symmetric look-ups merged
        ("lines", typed("const int*"), _BY_LINES),  # tables of lines, columns behind no others: boards are square
        ("factors", "f8", len(PARTS)),  # how often each heuristic counts
        ("chances", "f8", MOST_KINDS),  # of the kinds of tiles: how likely each is; they sum to 1
        ("codes", "u4", MOST_KINDS),  # of the kinds
        ("begins", "u4", MOST_STAGES),  # of stages after the first: the code of the largest tile
        ("stage_size", "u4"),  # weights of a stage
        ("pad", "u4"),
    ],
)


class GpuEvaluator(NamedTuple):
    """An evaluation on a GPU. macros: by name; record: a EVALUATOR; keeps: the Arrays whose addresses it holds."""

    macros: dict
    record: np.ndarray
    keeps: tuple


def make_evaluator(gpu, game, rules, evaluation, uniform_chance):
    """Return the GpuEvaluator of an ``Evaluation`` of a game (a module) by its rules; raises what ``check`` raises.

    uniform_chance: whether kinds of tiles are all as likely.
    """
    check(game, rules, evaluation)
    record = np.zeros((), EVALUATOR)
    kinds = _set_chance(record, rules, uniform_chance)
    macros = {"GAME": game.NAME, "KINDS": kinds, "POINTS": int(evaluation.points)}
    if evaluation.name.startswith("ntuple"):
        more, keeps = _network(gpu, game, evaluation.keeps, record)
        more["DEAD_BOARDS"] = int(evaluation.dead_boards)
    else:
        more, keeps = _heuristics(gpu, evaluation, record)
    return GpuEvaluator(macros | more, record, keeps)


def make_learning_evaluator(game, rules, tuples, symmetric, stages, address, dead_boards=False):
    """Return the GpuEvaluator of a network that learns: its weights are at an address, as the CPU has them.

    tuples, symmetric, stages: as of a ``Network``; dead_boards: as of an ``Evaluation``. What moves bring counts.
    Raises UserError for more look-ups than a GPU takes.
    """
    images, begin = learning_images(game, tuples, symmetric)
    record = np.zeros((), EVALUATOR)
    kinds = _set_chance(record, rules)
    record["weights"], record["stage_size"] = address, begin
    record["begins"][: len(stages)] = stages
    macros = {"GAME": game.NAME, "KINDS": kinds, "POINTS": 1, "LEARNING": 1, "DEAD_BOARDS": int(dead_boards)}
    macros |= _network_macros(images, symmetric, len(stages) + 1)
    return GpuEvaluator(macros, record, ())


def learning_images(game, tuples, symmetric):
    """Return (images, weights of a stage) of a network that learns; raises UserError for more than a GPU takes."""
    images, begin = [], 0
    for cells in tuples:
        for places in itertools.chain(*_by_cells(cells, symmetric)):
            _, board, there = _fewest(game, places)
            images.append(_image_of(there, board, begin))
        begin += (1 << game.BITS) ** len(cells)
    _check_lookups(images)
    if begin > MOST_WEIGHTS:
        raise UserError(f"a network of {begin} weights: a search on a GPU takes up to {MOST_WEIGHTS}")
    return images, begin


def check(game, rules, evaluation):
    """Raise UserError unless there is a GpuEvaluator of an ``Evaluation``, where the GPU has memory for it."""
    if game.NAME not in ("2048", "2584") or board_size(rules) != (4, 4):
        raise UserError("expectimax on a GPU is for 2048 and 2584 on boards of 4x4")
    if evaluation.name.startswith("ntuple"):
        return
    for name, _, _ in _parts(evaluation.name, evaluation.tables):
        if name not in PARTS:
            raise UserError(f"evaluation '{name[:40]}' is not one for a GPU: {', '.join(PARTS)}, ntuple, or a sum")


def _set_chance(record, rules, uniform=False):
    """Fill in what chance does; return how many kinds of tiles there are."""
    kinds = int(rules[KINDS])
    for kind in range(kinds):
        code, _, probability = (int(rules[SPAWNS + 3 * kind + i]) for i in range(3))
        record["codes"][kind] = code
        record["chances"][kind] = 1 / kinds if uniform else probability / _CERTAIN
    return kinds


def _heuristics(gpu, evaluation, record):
    """Fill in a EVALUATOR for hand-made evaluations; return (macros, Arrays)."""
    bits, keeps = 0, []
    for name, factor, tables in _parts(evaluation.name, evaluation.tables):
        part = PARTS.index(name)
        bits |= 1 << part
        record["factors"][part] += factor
        if part < _BY_LINES:
            keeps.append(gpu.upload(np.ascontiguousarray(tables[1:]).view(np.int32)))
            record["lines"][part] = keeps[-1].address
    return {"PARTS": bits}, tuple(keeps)


def _parts(name, tables):
    """Return (name, weight, tables) of the parts of an evaluation, which may be one of ``sums``."""
    if not name.startswith("sum_"):
        return [(name, 1.0, tables)]
    names, parts = name.split("-")[1:], []
    for each in reversed(names):
        begin = int(tables[0])
        parts.append((each, float(tables[1:2].view(np.float64)[0]), tables[begin:]))
        tables = tables[2:begin]
    return parts


def _network(gpu, game, net, record):
    """Fill in a EVALUATOR for a network of tuples; return (macros, Arrays)."""
    images, weights = merged(game, net)
    _check_lookups(images)
    if weights.nbytes > gpu.free():
        raise UserError(f"weights of {weights.nbytes >> 20} MiB do not fit the GPU's memory, {gpu.free() >> 20} MiB")
    array = gpu.upload(weights.reshape(-1))
    record["weights"], record["stage_size"] = array.address, weights.shape[1]
    record["begins"][: len(net.stages)] = net.stages
    return _network_macros(images, net.symmetric, len(net.stages) + 1), (array,)


def _network_macros(images, symmetric, stages):
    return {
        "PARTS": _NETWORK,
        "SYMMETRIC": int(symmetric),
        "STAGES": stages,
        "LOOKUPS": len(images),
        "IMAGES": "".join(f"IMAGE({image})" for image in images),
    }


def _check_lookups(images):
    if len(images) > MOST_LOOKUPS:
        raise UserError(f"a network of {len(images)} look-ups a board: a GPU takes up to {MOST_LOOKUPS}")


def merged(game, net):
    """Return (images, weights: float32, shape (stages, size)) of a Network of a game (a module).

    A board's value is the sum of the weights that its images find; an image is an integer, see ``_image_of``.
    """
    codes = 1 << game.BITS
    learnt = np.array(net.weights, np.float32)
    for stage in range(1, len(learnt)):  # what has not been learnt yet is as in the stage before
        learnt[stage] = np.where(np.isnan(learnt[stage]), learnt[stage - 1], learnt[stage])
    images, tables, at, size = [], [], 0, 0
    for cells in net.tuples:
        own = learnt[:, at : at + codes ** len(cells)].reshape(len(learnt), *[codes] * len(cells))
        at += codes ** len(cells)
        made = {}  # by how the look-ups that share cells are ordered: where their table begins
        for among in _by_cells(cells, net.symmetric):
            _, board, places, chosen = min((*_fewest(game, each), each) for each in among)
            orders = tuple(sorted(tuple(chosen.index(cell) for cell in each) for each in among))
            if orders not in made:
                made[orders] = size
                tables.append(sum(_reordered(own, order) for order in orders).reshape(len(learnt), -1))
                size += tables[-1].shape[1]
            images.append(_image_of(places, board, made[orders]))
    return images, np.ascontiguousarray(np.concatenate(tables, axis=1), np.float32)


def _reordered(table, order):
    """Return a table by digits x of one whose digit j is x[order[j]]; the first axis is the stage's, digit 0 the last.

    As arrays: the new table at (x[n-1] ... x[0]) is the old one at (x[order[n-1]] ... x[order[0]]).
    """
    n = len(order)
    axes = [0] * n
    for digit, source in enumerate(order):
        axes[n - 1 - source] = n - 1 - digit
    return table.transpose(0, *(1 + axis for axis in axes))


def _by_cells(cells, symmetric):
    """Return lists of places (cells in a tuple's order) where a tuple is looked up, those of equal cells together."""
    found = {}
    for turned, upside, mirrored in itertools.product((0, 1), repeat=3) if symmetric else [(0, 0, 0)]:
        places = [_moved(cell, turned, upside, mirrored) for cell in cells]
        found.setdefault(frozenset(places), []).append(tuple(places))
    return list(found.values())


def _moved(cell, turned, upside, mirrored):
    row, column = divmod(cell, 4)
    row, column = (3 - row if upside else row), (3 - column if mirrored else column)
    return 4 * column + row if turned else 4 * row + column


def _fewest(game, places):
    """Return (shifts, board, cells there): the board on which the fewest runs of neighbours hold a tuple's cells."""
    in_word = 16 if game.BITS == 4 else 8

    def shifts(cells):
        return 1 + sum(b != a + 1 or b % in_word == 0 for a, b in itertools.pairwise(cells))

    found = []
    for board in range(4):
        there = tuple(_cell_on(board, cell) for cell in places)
        found.append((shifts(there), board, there))
    return min(found)


def _cell_on(board, cell):
    """Return where a cell of the board is on one of the four."""
    row, column = divmod(cell, 4)
    if board & 1:
        row, column = column, row
    return 4 * row + (3 - column if board >> 1 else column)


def _image_of(cells, board, offset):
    """Return an image: 4 bits a cell, 3 how many, 2 on which board, from bit 34 on where its weights begin."""
    return sum(cell << 4 * i for i, cell in enumerate(cells)) | len(cells) << 28 | board << 31 | offset << 34
