"""Games of Othello between two evaluations at the same depth, from balanced random openings, both colours.

    python benchmarks/othello_match.py patterns complex --depth 10 --openings 100 --board 8x8

An opening is ten random moves after which searches of 6 plies by both evaluations see hardly an advantage: at most 2
discs by the learnt one, at most 5 of 100 points by ``complex``. A game won counts a point, a draw half of one; the
interval is of 95%, by the spread of what pairs of games with one opening bring. --part 0/2 plays every second opening,
and so does another process with 1/2; --points adds up what parts have printed.
"""

import argparse
import random
import statistics
import time

from distsearch import evaluation, games
from distsearch.api.intervals import mean_interval
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.table import new_shared_table
from distsearch.games import othello
from distsearch.games.interface import END, legal_moves, step

RANDOM_MOVES, LOOK = 10, 6
EVEN = {"patterns": 200, "complex": 5}
MIB = 64


def engine(name, rules):
    """Return a search by an evaluation."""
    made = DepthSearch(othello, rules, evaluation.find(othello, name, rules), new_shared_table(MIB))
    made.compile()
    return made


def searched(engine, state, depth):
    """Return the Result of a search to ``depth`` plies."""
    engine.begin(state, depth)
    while not engine.advance(1 << 20):
        pass
    return engine.result()


def openings(rules, count, seed):
    """Return Positions that both evaluations take for balanced."""
    rng, found = random.Random(seed), []
    judges = [(engine(name, rules), most) for name, most in EVEN.items()]
    while len(found) < count:
        position = othello.start(rules)
        for _ in range(RANDOM_MOVES):
            position = step(othello, position, rules, rng.choice(legal_moves(othello, position, rules)))
        if all(abs(searched(judge, position.state, LOOK).score) <= most for judge, most in judges):
            found.append(position)
    return found


def played(engines, position, rules, depth):
    """Return the discs by which the first of two engines wins a game; it plays X."""
    while othello.kind(position.state, rules) != END:
        legal = legal_moves(othello, position, rules)
        chosen = legal[0] if len(legal) == 1 else searched(engines[position.side], position.state, depth).line[0]
        position = step(othello, position, rules, chosen)
    ahead = int(othello.final(position.state, rules))
    return ahead if position.side == 0 else -ahead


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first")
    parser.add_argument("second", nargs="?", default="complex")
    parser.add_argument("--board", type=games.parse_board, default=(8, 8))
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--openings", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--points", help="points of pairs of games that parts have printed, separated by commas")
    args = parser.parse_args()
    if args.points:
        pairs = [float(pair) for pair in args.points.split(",")]
    else:
        pairs = match(args)
    mean, interval = statistics.fmean(pairs), ""
    if len(pairs) > 1:
        interval = f" ± {100 * (mean_interval(pairs)[1] - mean):.1f}"
    print(f"{args.first}: {100 * mean:.1f}%{interval} of the points of {2 * len(pairs)} games")


def match(args):
    """Play; return what each opening's two games bring the first evaluation, a share of their points."""
    rules, pairs, discs, began = othello.rules(args.board), [], 0, time.process_time()
    part, parts = map(int, args.part.split("/"))
    mine, theirs = engine(args.first, rules), engine(args.second, rules)
    for opening in openings(rules, args.openings, args.seed)[part::parts]:
        ahead = (
            played((mine, theirs), opening, rules, args.depth),
            -played((theirs, mine), opening, rules, args.depth),
        )
        discs += sum(ahead)
        pairs.append(sum(0.5 + 0.5 * (a > 0) - 0.5 * (a < 0) for a in ahead) / 2)
        print(f"{len(pairs)}: {ahead}", flush=True)
    print("points", ",".join(map(str, pairs)))
    print(f"{discs / 2 / len(pairs):+.1f} discs a game, {time.process_time() - began:.0f} CPU seconds")
    return pairs


if __name__ == "__main__":
    main()
