"""Counts how often a later move is better than the first few, for ``--rank-cut``, in the program's own games.

    mpirun -n 2 python -m distsearch.learning.rank_cut_fit othello --evaluation complex --output FILE

Positions of each stage come from games between players that look two plies ahead and play a move at random now and
then. Each of their moves is searched to each number of plies with a full window. Moves are in the order of ``--ordering
shallow``: by the evaluation of the board after them where that order is made, else in the game's own. Ranks take stages
in turn; how many there are changes nothing.
"""

import random
import sys

import numpy as np
from mpi4py import MPI

from .. import __version__, evaluation, games
from ..core.errors import UserError
from ..engines.alphabeta import SHALLOW_MARGIN, AlphaBeta
from ..engines.pvs.depth_search import DepthSearch
from ..engines.pvs.table import new_shared_table
from ..evaluation.rank_cut import RankCounts
from ..games.interface import MAX_MOVES, as_state
from . import fit_command
from .probcut_fit import states

STAGE = 12  # moves left that make a stage
DEEPEST = 8  # plies
_FIRST = 4  # moves of a game before positions are taken
_TABLE = 64  # MiB
_LEAST_NODES = 50  # with so many moves or more, by which a share is known


def values_in_order(engine, game, rules, state, plies):
    """Return the values of a state's moves, int64 in the order of shallow:1, each searched to plies - 1."""
    out = np.zeros(MAX_MOVES, np.int16)
    moves = out[: games.functions(game)["ordered_moves"](state, rules, out, 0)].tolist()
    children = [as_state(game.play(state, rules, np.int64(move))[0]) for move in moves]
    if plies >= 1 + SHALLOW_MARGIN:
        children.sort(key=lambda child: _value(engine, child, 0))
    return np.array([-_value(engine, child, plies - 1) for child in children], np.int64)


def _value(engine, state, plies):
    engine.begin(state, plies)
    engine.advance(1 << 40)
    return engine.result().score


def counted(stage, plies, orders):
    """Return the RankCounts of the values of many nodes' moves, each in order."""
    better, of = [], []
    longest = max(map(len, orders), default=0)
    for i in range(1, longest):
        further = [values for values in orders if len(values) > i]
        if len(further) < _LEAST_NODES:
            break
        of.append(len(further))
        better.append(sum(int(values[i:].max() > values[:i].max()) for values in further))
    return RankCounts(stage, plies, better, of)


def fit(game, name, count, seed, comm=MPI.COMM_SELF, tell=lambda text: None):
    """Return what the file of counts holds, of ``count`` positions a stage, on the first rank, None on others."""
    rules = game.rules()
    chosen = evaluation.find(game, name, rules)
    engine = AlphaBeta(game, rules, chosen)
    longest = int(game.moves_left(game.start(rules).state, rules)) - _FIRST
    rows = []
    for stage in range(longest // STAGE + 1)[comm.rank :: comm.size]:
        player = DepthSearch(game, rules, chosen, new_shared_table(_TABLE))  # so that no stage depends on another
        rng, searched = random.Random(f"{seed} {stage}"), []
        lefts = [left for left in range(stage * STAGE, (stage + 1) * STAGE) if DEEPEST < left <= longest]
        for left in lefts:
            searched += states(player, game, rules, left, max(1, count // len(lefts)), rng)
        for plies in range(1, DEEPEST + 1):
            orders = [values_in_order(engine, game, rules, state, plies) for state in searched]
            rows.append(counted(stage, plies, orders))
        tell(f"{stage * STAGE} to {stage * STAGE + STAGE - 1} moves left: {len(searched)} positions")
    parts = comm.gather(rows)
    if comm.rank > 0:
        return None
    made = {"by": f"distsearch {__version__}", "positions": count, "seed": seed}
    rows = sorted(row for part in parts for row in part if row.of)
    return {"stage_size": STAGE, "columns": RankCounts._fields, "made": made, "rows": rows}


def main(argv=None):
    parser = fit_command.parser("rank_cut_fit", __doc__, 800)
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("--evaluation", default="complex", metavar="NAME", help="as search takes it (default complex)")
    args = parser.parse_args(argv)

    def make(*how):
        game = games.find(args.game)
        if game.PLAYERS != 2:
            raise UserError(f"{game.NAME} is a game against chance: there are no ranks to cut")
        return fit(game, args.evaluation, *how)

    return fit_command.write_fit("rank_cut_fit", args, make)


if __name__ == "__main__":
    sys.exit(main())
