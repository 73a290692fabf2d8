"""Fits the weights of Othello's evaluation ``staged``: those of the terms of ``complex``, by stages of the game.

    mpirun -n 2 python -m distsearch.learning.complex_fit --output othello_8x8_staged.json

Positions come from games between players that look two plies ahead and play a move at random now and then, as many with
every number of squares left. Each is worth what a deeper search by ``patterns`` finds, or to the end of the game where
that is near. The weights of a stage are those of least squares, without a constant, so that swapping the sides negates
a value. Ranks take stages in turn; how many there are changes nothing.
"""

import random
import sys
import time

import numpy as np
from mpi4py import MPI

from .. import __version__, evaluation
from ..engines.pvs.depth_search import DepthSearch
from ..engines.pvs.table import new_shared_table
from ..evaluation import othello as hand_made
from ..games import othello
from . import fit_command
from .probcut_fit import states

_BOARD = 8, 8
_DEPTH = 8  # plies of the search that says what a position is worth
_LEAST_LEFT = 2
_TABLE = 64  # MiB


def shares(searched, rules):
    """Return the terms of ``complex`` of states, int64, shape (n, 3): parity, mobility and stability."""
    squares, mask = np.arange(int(rules[othello.SQUARES]), dtype=np.uint8), np.zeros(4, np.uint64)
    counted = np.zeros((len(searched), hand_made.COUNTS), np.int64)
    for state, out in zip(searched, counted, strict=True):
        hand_made.counts(state, rules, squares, mask, out)
    own, opp = counted[:, ::2], counted[:, 1::2]
    total = np.maximum(own + opp, 1)
    return np.sign(own - opp) * (100 * np.abs(own - opp) // total)


def worth(engine, chosen, state):
    """Return what a state is worth in discs, float, by a search by ``patterns``."""
    engine.begin(state, _DEPTH)
    engine.advance(1 << 40)
    score = engine.result(True).score
    if abs(score) > chosen.bound:  # the end of the game is within the search
        return float(score - np.sign(score) * chosen.bound)
    return score / chosen.unit


def fitted(searched, values, rules):
    """Return (three weights, the deviation of what they leave) in discs, by least squares."""
    terms = shares(searched, rules) / 100
    found, *_ = np.linalg.lstsq(terms, values, rcond=None)
    return found, float(np.std(values - terms @ found, ddof=terms.shape[1]))


def fit(count, seed, comm=MPI.COMM_SELF, tell=lambda text: None):
    """Return what the file of weights holds, of ``count`` positions a stage, on the first rank, None on others."""
    rules = othello.rules(_BOARD)
    chosen, squares = evaluation.find(othello, "patterns", rules), int(rules[othello.SQUARES])
    began, rows, size = time.process_time(), [], squares // hand_made.STAGES
    for stage in range(hand_made.STAGES)[comm.rank :: comm.size]:
        engine = DepthSearch(
            othello, rules, chosen, new_shared_table(_TABLE)
        )  # what it finds depends on no other stage
        rng, searched = random.Random(f"{seed} {stage}"), []
        discs = [n for n in range(stage * size, (stage + 1) * size) if n > 4 and squares - n >= _LEAST_LEFT]
        for n in discs:
            searched += states(engine, othello, rules, squares - n, count // len(discs), rng)
        if searched:
            values = np.array([worth(engine, chosen, state) for state in searched])
            weights, left = fitted(searched, values, rules)
            rows.append(
                (stage, [round(hand_made.UNITS["staged"] * float(w)) for w in weights], round(left, 2), len(searched))
            )
            tell(f"stage {stage}: {len(searched)} positions, {time.process_time() - began:.0f} CPU s so far")
    parts = comm.gather(rows)
    if comm.rank > 0:
        return None
    rows = sorted(row for part in parts for row in part)
    made = {"by": f"distsearch {__version__}", "positions": count, "seed": seed, "depth": _DEPTH}
    return {
        "stages": hand_made.STAGES,
        "columns": ["stage", "weights", "deviation", "positions"],
        "rows": rows,
        "made": made,
    }


def main(argv=None):
    args = fit_command.parser("complex_fit", __doc__, 4000).parse_args(argv)
    return fit_command.write_fit("complex_fit", args, fit)


if __name__ == "__main__":
    sys.exit(main())
