"""Fits of shallow searches to deep ones, for ``engines.pvs.probcut``: what a fit is, and its file.

For each pair of depths and stage of the game, v(deep) = slope · v(shallow) + offset + error, with an error of deviation
sigma (Buro 1997). A fit is of one game, board, and evaluation with its weights. ``learning.probcut_fit`` makes them;
those for the package's own evaluations are files in ``fits``.
"""

import hashlib
import json
import math
from collections import Counter
from importlib import resources
from typing import NamedTuple

from ..core.errors import UserError
from ..core.files import open_file

FORMAT = "distsearch probcut 1"
USUAL = 0.95  # probability under a limit of time
_FITS = resources.files(__package__) / "fits"
_LONGEST = 1 << 20  # bytes of a file
_FIELDS = {"format": str, "game": str, "board": list, "evaluation": str, "weights": str, "stage": int, "pairs": list}


class Pair(NamedTuple):
    """Two depths at one stage: what was found of them in so many positions."""

    stage: int  # number of the stage: moves left // moves of a stage
    deep: int  # plies
    shallow: int
    slope: float
    offset: float
    sigma: float  # in points of the evaluation
    positions: int


class Fit(NamedTuple):
    """A fit for one game, board and evaluation."""

    game: str
    board: tuple  # (rows, columns)
    evaluation: str
    weights: str  # of what the evaluation reads, see ``weights_of``
    stage: int  # moves left that make a stage
    pairs: list  # of Pair
    made: dict  # how: for people

    def to_json(self):
        """Return the fit as JSON, a pair a line."""
        head = {"format": FORMAT, **self._asdict(), "board": list(self.board)}
        del head["pairs"]
        head["columns"], rows = Pair._fields, ",\n".join(f"  {json.dumps(pair)}" for pair in self.pairs)
        return f'{json.dumps(head)[:-1]}, "pairs": [\n{rows}\n]}}\n'


def weights_of(evaluation):
    """Return a text that stands for an Evaluation's bound and tables."""
    return hashlib.sha256(f"{evaluation.bound} ".encode() + evaluation.tables.tobytes()).hexdigest()[:32]


def checked_probability(probability):
    """Return a probability with which nodes may be foretold, 1: none are; raises UserError."""
    if not 0.5 < probability <= 1:
        raise UserError(
            f"selective {probability:g} is not a probability above 0.5 and below 1, such as 0.95, or 1: cut nothing"
        )
    return probability


def ships(game, board, name):
    """Whether a fit comes with this package for an evaluation of a game's board; name: what was asked for."""
    return (_FITS / _file_of(game, board, name)).is_file()


def _file_of(game, board, name):
    return f"{game.NAME}_{board[0]}x{board[1]}_{name}.json"


def find(game, board, name, evaluation, path=None):
    """Return the Fit for an evaluation of a game's board; raises UserError if there is none, or another one.

    name: what was asked for; evaluation: the Evaluation that it is; path: a file of one's own, None: the package's.
    """
    shape = f"{board[0]}x{board[1]}"
    how = f"python -m distsearch.learning.probcut_fit {game.NAME} --board {shape} --evaluation {name[:80]} makes one"
    shown = path or _file_of(game, board, evaluation.name)
    try:
        if path is not None:
            with open_file(path, pipes=True) as file:
                content = file.read(_LONGEST)
        else:
            content = (_FITS / shown).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        if path is None:
            raise UserError(
                f"selective has no parameters for {game.NAME} {shape} by {name[:40]}; {how} for --probcut-params"
            ) from error
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}; {how}") from error
    fit = parse(content, shown)
    if (fit.game, fit.board, fit.evaluation) != (game.NAME, tuple(board), evaluation.name):
        of = f"{fit.game[:40]} {fit.board[0]}x{fit.board[1]} by {fit.evaluation[:40]}"
        raise UserError(f"{shown[:200]} is a fit for {of}, not for {game.NAME} {shape} by {evaluation.name}; {how}")
    if fit.weights != weights_of(evaluation):
        raise UserError(f"{shown[:200]} is a fit for other weights than those of {name[:40]}; {how}")
    return fit


def parse(content, shown):
    """Return the Fit in a file's bytes; raises UserError. shown: the file's name."""
    try:
        read = json.loads(content)
        for field, kind in _FIELDS.items():
            if not isinstance(read[field], kind):
                raise ValueError
        if read["format"] != FORMAT or not 1 <= read["stage"] < _STAGES or len(read["board"]) != 2:
            raise ValueError
        pairs = [Pair(*map(float, row)) for row in read["pairs"]]
        pairs = [pair._replace(**{name: int(getattr(pair, name)) for name in _WHOLE}) for pair in pairs]
        if not all(map(_makes_sense, pairs)) or _rows(pairs) > _MOST_ROWS:
            raise ValueError
        rows, columns = map(int, read["board"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise UserError(f"{shown[:200]} is no fit as learning.probcut writes it") from error
    return Fit(
        read["game"], (rows, columns), read["evaluation"], read["weights"], read["stage"], pairs, read.get("made", {})
    )


_STAGES, _DEPTHS = 1000, 256  # more than any game has
_MOST_ROWS = 1 << 20  # of the table that searches read, four numbers each
_WHOLE = "stage", "deep", "shallow", "positions"


def _makes_sense(pair):
    numbers = math.isfinite(pair.slope + pair.offset + pair.sigma) and pair.slope > 0 <= pair.sigma
    return numbers and 0 <= pair.stage < _STAGES and 0 < pair.shallow < pair.deep < _DEPTHS


def _rows(pairs):
    """Return how many rows ``engines.pvs.probcut.table`` makes of pairs."""
    counts = Counter((pair.stage, pair.deep) for pair in pairs)
    stages, depths = (1 + max((key[i] for key in counts), default=0) for i in (0, 1))
    return stages * depths * max(counts.values(), default=1)
