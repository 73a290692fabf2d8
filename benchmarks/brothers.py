"""Expectiminimax of 2048 plain and pruned, on one engine and on several ranks: the table of a report in Haskell.

    mpirun -n 5 python benchmarks/brothers.py --boards 100 --depth 7 --par-depth 3

Boards come from random play by a seed. Base: every board of the tree, by one engine on rank 0; AB: alpha-beta by the
same; Par+Base and Par+AB: a pool whose jobs are the nodes at the par-depth, without pruning and with alpha-beta, each
with the full window; Brothers: Young Brothers Wait on the same nodes. Every score is compared with Base's, and every
move with Base's value of it. Prints boards searched, wall seconds (growing
the tree included), and jobs used, wasted and cut, all in sums; fails if
a score differs, if AB is no less than Base in boards, or if Brothers is more than Par+AB.

The report has, for depth 7 on 8 cores, 92.95 s for Base, 30.69 for AB, 21.45 for Par+Base, 15.33 for Par+AB and 9.03
for Brothers, with the evaluation that is called `haskell` here. Its counts are not comparable: its slides merge a
merged tile again, and it passes windows through chance unchanged, so that its pruned values differ from its plain ones.
Here the rules are those of 2048, and the search is exact.
"""

import argparse
import math
import random
import sys
import time

from distsearch import evaluation, games
from distsearch.cluster import launch
from distsearch.games.interface import legal_moves, step
from distsearch.search.expectiminimax_engine import Expectiminimax
from distsearch.service.chance_search import dealt
from distsearch.service.options import Options
from distsearch.session import Session

_EVALUATION = "haskell"
_MOVES = 30, 100  # that are played before a board is taken
_PARALLEL = {
    "Par+Base": {"pruning": "none", "policy": "pool"}, "Par+AB": {"pruning": "alphabeta", "policy": "pool"},
    "Brothers": {"pruning": "alphabeta", "policy": "brothers"},
}  # fmt: skip


def random_board(game, rules, rng):
    """Return the Position after some random moves, where the player has another."""
    position = dealt(game, game.start(rules), rules, rng.getrandbits(32))
    for _ in range(rng.randrange(*_MOVES)):
        if not (moves := legal_moves(game, position, rules)):
            return random_board(game, rules, rng)
        position = dealt(game, step(game, position, rules, rng.choice(moves)), rules, rng.getrandbits(32))
    return position if legal_moves(game, position, rules) else random_board(game, rules, rng)


class Row:
    """The sums of one way of searching."""

    def __init__(self, name):
        self.name, self.boards, self.seconds, self.jobs = name, 0, 0.0, [0, 0, 0]

    def add(self, boards, seconds, jobs=(1, 0, 0)):
        self.boards, self.seconds = self.boards + boards, self.seconds + seconds
        self.jobs = [a + b for a, b in zip(self.jobs, jobs, strict=True)]

    def __str__(self):
        used, wasted, cut = self.jobs
        return f"| {self.name:<8} | {self.boards:>13,} | {self.seconds:>8.3f} | {used:>7,} | {wasted:>7,} | {cut:>7,} |"


def alone(engine, state, depth, row):
    """Search with one engine; return what it Found."""
    began = time.perf_counter()
    engine.begin(state, depth)
    while not engine.advance(10**6):
        pass
    found = engine.result()
    row.add(found.boards, time.perf_counter() - began)
    return found


def measured(session, args):
    """Search the boards in every way; return the Rows."""
    game = games.find("2048")
    rules, rng = game.rules(), random.Random(args.seed)
    chosen = evaluation.find(game, _EVALUATION, rules)
    engines = {"Base": Expectiminimax(game, rules, chosen, pruned=False), "AB": Expectiminimax(game, rules, chosen)}
    rows = {name: Row(name) for name in (*engines, *_PARALLEL)}
    for engine in engines.values():
        engine.compile()
    positions = [random_board(game, rules, rng) for _ in range(args.boards)]
    expected = [alone(engines["Base"], position.state, args.depth, rows["Base"]) for position in positions]
    for position, found in zip(positions, expected, strict=True):
        pruned = alone(engines["AB"], position.state, args.depth, rows["AB"])
        check("AB", game.text(position, rules), found, pruned.value, pruned.move)
    asked = {"evaluation": _EVALUATION, "algorithm": "expectiminimax", "depth": args.depth}
    for name, way in _PARALLEL.items():
        searcher = session.searcher(Options("2048", **asked, **way, par_depth=args.par_depth))
        next(searcher.search(positions))  # after which all ranks have the kernels
        for position, found in zip(positions, expected, strict=True):
            began = time.perf_counter()
            one = next(searcher.search([position]))
            jobs = one.jobs_used, one.jobs_wasted, one.jobs_cut
            rows[name].add(one.nodes, time.perf_counter() - began, jobs)
            check(name, one.position, found, one.score, game.parse_move(one.move, rules))
    return rows


def check(name, text, expected, score, move):
    """Exit if a score is not Base's, or a move not as good."""
    for what, value in (("score", score), ("move", expected.values[move])):
        if not math.isclose(value, expected.value, rel_tol=1e-9, abs_tol=1e-9):
            sys.exit(f"{name}, {text}: the {what} is worth {value}, not {expected.value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=100)
    parser.add_argument("--depth", type=int, default=7, help="plies: a move is one, a tile that comes is two")
    parser.add_argument("--par-depth", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with Session(launch.world(), table=0) as session:
        if session is None:
            return
        rows = measured(session, args)
        print(f"{args.boards} boards, depth {args.depth}, par-depth {args.par_depth}, seed {args.seed}, "
              f"{session.ranks} ranks")  # fmt: skip
    print("| search   |        boards |  seconds |    used |  wasted |     cut |")
    print("|----------|--------------:|---------:|--------:|--------:|--------:|")
    for row in rows.values():
        print(row)
    if not rows["AB"].boards < rows["Base"].boards or rows["Brothers"].boards > rows["Par+AB"].boards:
        sys.exit("AB is to search fewer boards than Base, and Brothers no more than Par+AB")


if __name__ == "__main__":
    main()
