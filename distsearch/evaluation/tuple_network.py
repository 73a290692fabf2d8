"""N-tuple networks: sets of cells whose contents together are looked up, and what is found added up.

A tuple is a set of cells; what they hold is a number in base ``codes``, with the lowest cell as its last digit.
Each tuple has a weight for every such number. Where symmetric, a tuple is also looked up on the other seven boards that
turning and mirroring make of this one, with the same weights. A network has sets of weights for several stages of a
game, of which a board belongs to one; what tells stages apart is for the game to say.
"""

import re
from typing import NamedTuple

import numpy as np

from .. import __version__
from ..core import archive
from ..core.array_cache import kept
from ..core.errors import UserError
from ..core.pages import available
from . import weight_packing

KIND = "weights"  # of a file
ENDING = ".npz"
_MOST_SIDE, _MOST_CELLS = 64, 16  # of a board; of a tuple; more than any game's networks have
_UNPACKED = 5  # bytes of a packed weight once it is unpacked, with its class


class Network(NamedTuple):
    """A network. game: its name; board: (rows, columns); options: of the rules by which it has learnt, by name.

    tuples: of cells, numbered from 0 row by row, each in rising order; stages: what the second and later ones begin
    with, none: a single stage; weights: float32, shape (stages, size), those of one tuple after those of another;
    record: of what made it, plain values by name.
    """

    game: str
    board: tuple
    options: dict
    tuples: tuple
    symmetric: bool
    stages: tuple
    weights: np.ndarray
    record: dict


def sizes(tuples, codes):
    """Return how many weights each tuple has, where a cell holds one of so many codes."""
    return [codes ** len(cells) for cells in tuples]


def parse_tuples(text, board):
    """Return tuples of cells of a text such as ``0,1,2,3/4,5,6,7``; raises UserError."""
    rows, columns = board
    tuples = []
    for part in text.split("/"):
        if not re.fullmatch(r"[0-9]{1,3}(,[0-9]{1,3})*", part):
            raise UserError(f"tuples '{text[:60]}' are not cells, such as 0,1,2,3/4,5,6,7")
        cells = tuple(map(int, part.split(",")))
        if max(cells) >= rows * columns:
            raise UserError(f"tuples '{text[:60]}': cells of {rows}x{columns} are 0 to {rows * columns - 1}")
        if len(set(cells)) < len(cells):
            raise UserError(f"tuples '{text[:60]}': {part[:30]} has a cell twice")
        tuples.append(tuple(sorted(cells)))
    return tuple(tuples)


def save(path, network, compact=False, others=None):
    """Write a network to a file; raises OSError.

    compact: compressed, and weights rounded to 11 bits; others: further arrays to keep with it, by name.
    """
    header = network._asdict()
    weights = header.pop("weights")
    arrays = {KIND: _rounded(weights) if compact else np.asarray(weights, np.float32), **(others or {})}
    archive.save(path, KIND, {**header, "version": __version__}, arrays, compact)


def save_packed(path, network, classes, codes):
    """Write a network of one stage to a small file, see ``weight_packing.pack``; raises OSError."""
    header = network._asdict()
    arrays = weight_packing.pack(header.pop("weights").reshape(-1), classes, network.tuples, codes)
    archive.save(path, KIND, {**header, "version": __version__}, arrays)


def load(path, game, codes):
    """Return the Network of a file; raises UserError. game: its name; codes: how many there are for a cell."""
    return load_all(path, game, codes)[0]


def load_all(path, game, codes):
    """Return the Network of a file and the arrays that are kept with it, by name; raises UserError."""
    header, arrays = archive.load(path, KIND, lambda header: _most(header, codes))
    shown = str(path)[:200]
    try:
        network = Network(
            game=header["game"],
            board=tuple(header["board"]),
            options=header["options"],
            tuples=tuple(tuple(map(int, cells)) for cells in header["tuples"]),
            symmetric=bool(header["symmetric"]),
            stages=tuple(map(int, header["stages"])),
            weights=None,
            record=dict(header["record"]),
        )
        if network.game != game:
            raise UserError(f"{shown} has weights for {str(network.game)[:40]}, not for {game}")
        _check_tuples(network)
        is_packed = KIND not in arrays
        weights = _weights(arrays, network, codes, shown)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(f"{shown} is not a file of {KIND} of this version") from error
    shape = len(network.stages) + 1, sum(sizes(network.tuples, codes))
    if weights.dtype not in (np.float32, np.float16) or weights.shape != shape:
        raise UserError(f"{shown}: its weights, {weights.shape}, do not fit its tuples, {shape}")
    if not is_packed and not _are_numbers(weights):
        raise UserError(f"{shown} has weights that are not numbers")
    if weights.dtype != np.float32 or not weights.flags.c_contiguous:
        source = np.ascontiguousarray(weights)
        weights = kept(KIND, source, shape, np.float32, lambda: source.astype(np.float32))
    return network._replace(weights=weights), arrays


def _most(header, codes):
    """Return the bytes that compressed weights of a header's tuples may take; raises what is wrong with the header."""
    tuples = [cells[:_MOST_CELLS] for cells in header["tuples"]]
    return 4 * (len(header["stages"]) + 1) * sum(sizes(tuples, codes)) + 4096


def _are_numbers(weights):
    """Whether every weight is finite; those of later stages are NaN until they have learnt."""
    first, others = weights[0], weights[1:].reshape(-1)
    known = [first.min(), first.max(), np.fmin.reduce(others, initial=0), np.fmax.reduce(others, initial=0)]
    return bool(np.isfinite(known).all())


def _weights(arrays, network, codes, shown):
    """Take a network's weights out of the arrays of a file, shown by name; raises ValueError, KeyError, UserError."""
    if KIND in arrays:
        return arrays.pop(KIND)
    packed = [arrays.pop(name) for name in weight_packing.ARRAYS]
    shape = 1, sum(sizes(network.tuples, codes))
    source = b"".join(array.tobytes() for array in packed)

    def unpack():
        needed, free = _UNPACKED * shape[1], available()
        if 0 < free < needed:  # 0: unknown
            room = f"{needed >> 20} MiB do not fit in the memory, of which {free >> 20} MiB are free"
            raise UserError(f"{shown}: its weights of {room}")
        weights = weight_packing.unpack(*packed, network.tuples, codes)[0][None]
        if not _are_numbers(weights):
            raise ValueError("a scale that is no number")
        return weights

    return kept(KIND, source, shape, np.float32, unpack)


def _check_tuples(network):
    """Raise ValueError unless a Network's tuples are of cells of its board, and its options plain ones by name."""
    rows, columns = network.board
    if not all(isinstance(side, int) and 1 <= side <= _MOST_SIDE for side in network.board):
        raise ValueError("it is no board")
    every = set(range(rows * columns))
    if not network.tuples or not all(
        0 < len(cells) <= _MOST_CELLS and every.issuperset(cells) for cells in network.tuples
    ):
        raise ValueError("tuples are of other cells")
    if any(list(cells) != sorted(set(cells)) for cells in network.tuples):
        raise ValueError("cells are not in rising order")
    if not network.options.keys() <= {"spawn"} or not all(isinstance(each, str) for each in network.options.values()):
        raise ValueError("options of other rules")


def _rounded(weights):
    most = np.finfo(np.float16).max
    return np.clip(weights, -most, most).astype(np.float16)
