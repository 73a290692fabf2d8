"""How often a later move of a node is better than the first few, for Rank-Cut: what a count is, and its file.

Counts are of one game, board and evaluation, by the stage of the game and the plies left of a node: of so many nodes
that had further moves after the first i, in how many one of these was better. ``learning.rank_cut_fit`` makes them;
those for the package's own evaluations are files in ``fits``. Source: Lim and Lee, RankCut, AAAI 2006.
"""

import json
from importlib import resources
from typing import NamedTuple

import numpy as np

from ..core.errors import UserError
from ..games.interface import MAX_MOVES

_FITS = resources.files(__package__) / "fits"


class RankCounts(NamedTuple):
    """better, of: by i - 1, for nodes of a stage (moves left of the game // ``stage_size``) and plies left."""

    stage: int
    plies: int
    better: list[int]
    of: list[int]

    def kept(self, probability: float) -> int:
        """Return the smallest i such that, with at least this probability, no move after the first i is better.

        The probability is by Laplace's rule of succession; MAX_MOVES if no i has it.
        """
        for i, (better, of) in enumerate(zip(self.better, self.of, strict=True), 1):
            if (better + 1) / (of + 2) <= 1 - probability:
                return i
        return MAX_MOVES


def kept_moves(probability: float, stage_size: int, rows: list[RankCounts], moves_left: int, plies: int) -> np.ndarray:
    """Return how many moves nodes search, int64 by the plies left of them up to ``plies``.

    moves_left: of the game at the root; rows: of any stages and plies. A stage that was not counted takes the nearest
    that was, a number of plies the nearest smaller one of the same parity.
    """
    found = np.full(plies + 1, MAX_MOVES, np.int64)
    for left in range(1, plies + 1):
        stage = max(0, moves_left - (plies - left)) // stage_size
        alike = [row for row in rows if row.plies <= left and (left - row.plies) % 2 == 0]
        if alike:
            nearest = min(alike, key=lambda row: (abs(row.stage - stage), left - row.plies))
            found[left] = nearest.kept(probability)
    return found


def find(game, board, name) -> tuple[int, list[RankCounts]]:
    """Return (moves of a stage, RankCounts) for an evaluation of a game's board; raises UserError if there are none."""
    shape = f"{board[0]}x{board[1]}"
    try:
        read = json.loads((_FITS / f"{game.NAME}_{shape}_{name}_ranks.json").read_bytes())
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UserError(f"rank-cut has no counts for {game.NAME} {shape} by {name[:40]}") from error
    return read["stage_size"], [RankCounts(*row) for row in read["rows"]]
