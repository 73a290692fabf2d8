"""Fits shallow searches to deep ones, for ``--selective``: from the program's own searches of its own games.

    mpirun -n 2 python -m distsearch.learning.probcut_fit othello --output fit.json

Positions of each stage come from games between players that look two plies ahead and play a move at random now and
then. Each is searched to every depth, and for each pair of depths a line goes through the values by least squares.
Values of finished games are left out, and positions from which the deepest search sees the end. What an error of the
evaluation is like is not known before, so sigma is the deviation of the residuals, nothing more robust: the rare large
error is what a cut must allow for. Ranks take stages in turn; how many there are changes nothing.
"""

import argparse
import random
import sys
import time

import numpy as np
from mpi4py import MPI

from .. import __version__, evaluation, games
from ..core.errors import UserError
from ..engines.pvs.depth_search import DepthSearch
from ..engines.pvs.table import new_shared_table
from ..evaluation.probcut_fit import Fit, Pair, weights_of
from ..games.interface import END, legal_moves, step
from . import fit_command

STAGE = 6  # moves left that make a stage
LEAST = 30  # positions from which a line is fitted
_PLAYERS = 2  # plies that players look ahead
_AT_RANDOM = 0.2  # of their moves
_FIRST = 6  # moves of every game that are random at least
_TABLE = 64  # MiB
# Depths, two plies apart: at depth 12 and 0.8 the time was 0.40 of that of a full search, with errors of 2.5 points;
# four plies apart 0.48 and 3.0 points, one ply apart more than a full search; both of 2 and 4 saved no more.
PAIRS = "4:2,5:3,6:4,7:5,8:6,9:7,10:8,11:9,12:10"


def states(engine, game, rules, left, count, rng):
    """Return so many different states with ``left`` moves left, from games played by an engine (Deep)."""
    found = {}
    for _ in range(20 * count):
        position = game.start(rules)
        while game.kind(position.state, rules) != END and game.moves_left(position.state, rules) > left:
            moves = legal_moves(game, position, rules)
            played = int(game.moves_left(game.start(rules).state, rules) - game.moves_left(position.state, rules))
            if played < _FIRST or rng.random() < _AT_RANDOM:
                move = rng.choice(moves)
            else:
                engine.begin(position.state, _PLAYERS)
                engine.advance(1 << 40)
                move = engine.result(True).line[0]
            position = step(game, position, rules, move)
        if game.kind(position.state, rules) != END:
            found[position.state] = None
        if len(found) == count:
            break
    return list(found)


def values(engine, searched, deepest):
    """Return the values of states at each depth up to ``deepest``: int64, shape (states, deepest + 1)."""
    found = np.zeros((len(searched), deepest + 1), np.int64)
    for i, state in enumerate(searched):
        for depth in range(deepest + 1):
            engine.begin(state, depth)
            engine.advance(1 << 40)
            found[i, depth] = engine.result(True).score
    return found


def line(shallow, deep):
    """Return (slope, offset, sigma) of the line through two equally long arrays of values, by least squares.

    sigma: the deviation of its residuals. A line that does not rise, or too few values for one, gives None.
    """
    if len(shallow) < LEAST or np.ptp(shallow) == 0:
        return None
    offset, slope = np.polynomial.polynomial.polyfit(shallow, deep, 1)
    squares = float(np.sum((deep - slope * shallow - offset) ** 2))
    return (float(slope), float(offset), (squares / (len(shallow) - 2)) ** 0.5) if slope > 0 else None


def fitted(stage, found, pairs, bound):
    """Return the Pairs of a stage; found: its ``values``; pairs: of depths (deep, shallow); bound: the evaluation's."""
    lines = []
    for deep, shallow in pairs:
        usable = np.ones(len(found), bool) if bound == 0 else np.abs(found[:, [deep, shallow]]).max(axis=1) <= bound
        if fit := line(found[usable, shallow].astype(float), found[usable, deep].astype(float)):
            lines.append(Pair(stage, deep, shallow, *(float(f"{number:.5g}") for number in fit), int(usable.sum())))
    return lines


def fit(game, board, name, pairs, count, seed, *, comm=MPI.COMM_SELF, tell=lambda text: None):
    """Return the Fit of an evaluation called ``name`` from ``count`` positions of each stage, on the first rank.

    comm: the ranks that take part, an mpi4py communicator; tell: progress, on the first rank.
    """
    rules = game.rules(board)
    chosen, deepest = evaluation.find(game, name, game.rules(board)), max(deep for deep, _ in pairs)
    began, rows = time.process_time(), []
    longest = int(game.moves_left(game.start(rules).state, rules))
    stages = range((deepest + 1) // STAGE, (longest - _FIRST) // STAGE + 1)
    for stage in stages[comm.rank :: comm.size]:
        least = max(stage * STAGE, deepest + 1)
        searched, rng = [], random.Random(f"{seed} {stage}")
        engine = DepthSearch(game, rules, chosen, new_shared_table(_TABLE))
        for left in range(least, (stage + 1) * STAGE):
            share = count // ((stage + 1) * STAGE - least)
            searched += states(engine, game, rules, left, share, rng)
        found = values(engine, searched, deepest)
        rows += fitted(stage, found, pairs, chosen.bound)
        if comm.rank == 0:
            tell(
                f"{stage * STAGE} to {stage * STAGE + STAGE - 1} moves left: {len(found)} positions, "
                f"{time.process_time() - began:.0f} CPU s so far"
            )
    parts = comm.gather(rows)
    cpu_seconds = comm.reduce(time.process_time() - began)
    if comm.rank > 0:
        return None
    rows = sorted((row for part in parts for row in part), key=lambda row: row.stage)
    made = {
        "by": f"distsearch {__version__}",
        "positions": count,
        "seed": seed,
        "depths": deepest,
        "cpu_seconds": round(cpu_seconds),
    }
    return Fit(game.NAME, tuple(board), chosen.name, weights_of(chosen), STAGE, rows, made)


def parse_pairs(text):
    """Return [(deep, shallow), ...] of ``8:4,6:2``; raises UserError."""
    try:
        pairs = [tuple(map(int, part.split(":"))) for part in text.split(",")]
        if not all(0 < shallow < deep <= 30 for deep, shallow in pairs):
            raise ValueError
    except ValueError as error:
        raise UserError(f"pairs '{text[:40]}' are not deep and shallow plies, such as 8:4,6:2") from error
    return sorted(pairs)


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m distsearch.learning.probcut_fit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("--board", metavar="RxC", help="rows x columns")
    parser.add_argument("--evaluation", metavar="NAME", help="as search takes it")
    parser.add_argument("--pairs", default=PAIRS, metavar="D:S,...", help=f"deep and shallow plies (default {PAIRS})")
    parser.add_argument("--positions", type=int, default=180, metavar="N", help="of each stage (default 180)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the games (default 1)")
    parser.add_argument("--output", required=True, metavar="FILE", help="for --probcut-params of search and solve")
    args = parser.parse_args(argv)

    def text():
        game = games.find(args.game)
        if game.PLAYERS != 2:
            raise UserError(f"{game.NAME} is a game against chance: there is nothing to fit")
        if args.positions < LEAST:
            raise UserError(f"positions {args.positions} are fewer than the {LEAST} that a line takes")
        board = _board(game, args.board)
        name = args.evaluation or evaluation.default(game, game.rules(board))
        how = parse_pairs(args.pairs), args.positions, args.seed
        found = fit(game, board, name, *how, comm=MPI.COMM_WORLD, tell=fit_command.tell)
        return "" if found is None else found.to_json()

    return fit_command.write("probcut", args.output, text)


def _board(game, text):
    if text is None:
        return game.BOARDS[1]
    return games.checked_board(game, games.parse_board(text))


if __name__ == "__main__":
    sys.exit(main())
