"""Games of 2048 by single Monte-Carlo trees: the average score by how much a tree explores.

    python benchmarks/monte_carlo_trees.py playout --nodes 20000 --games 16 --exploration 0.5 1 2 4

EVALUATION is as search takes it. Each value of EXPLORATION plays the same games; a line has it, the average, two
standard errors, and moves a second. The table of docs/decisions/0063 is of: playout 20000 16, rows 3000 16, and ntuple
3000 12 with 1 and 2.
"""

import argparse
import random
import statistics
import time

import numpy as np

from distsearch import evaluation, games
from distsearch.api.chance import outcomes_of
from distsearch.engines.mcts import Mcts
from distsearch.evaluation import PLAYOUT
from distsearch.games.interface import CHANCE, MAX, as_state


def score_of_game(game, rules, tree, nodes, seed):
    """Return (points, the player's moves) of a game that a tree plays; seed: of its chance and its trees."""
    rng, position = random.Random(seed), game.start(rules)
    score = moves = 0
    while (kind := int(game.kind(position.state, rules))) in (MAX, CHANCE):
        if kind == CHANCE:
            codes, chances = outcomes_of(game, position, rules)
            (code,) = rng.choices(codes.tolist(), chances.tolist())
        else:
            tree.begin(position.state, rng.getrandbits(63), nodes)
            tree.advance(1 << 60)
            found = tree.result()
            best = max(range(len(found.moves)), key=lambda i: (found.visits[i], found.means[i]))
            code, moves = found.moves[best], moves + 1
        state, points = game.play(position.state, rules, np.int64(code))
        position, score = position._replace(state=as_state(state)), score + int(points)
    return score, moves


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evaluation", metavar="EVALUATION")
    parser.add_argument("--nodes", type=int, default=3000, metavar="N", help="of each tree (default 3000)")
    parser.add_argument("--games", type=int, default=16, metavar="N")
    parser.add_argument("--exploration", type=float, nargs="+", default=[1.0], metavar="X")
    args = parser.parse_args()
    game = games.find("2048")
    rules = game.rules()
    chosen = None if args.evaluation == PLAYOUT else evaluation.find(game, args.evaluation, rules)
    points = chosen is not None and evaluation.learnt(game, args.evaluation)
    for exploration in args.exploration:
        tree = Mcts(game, rules, chosen, points, exploration)
        tree.compile()
        began = time.perf_counter()
        played = [score_of_game(game, rules, tree, args.nodes, seed) for seed in range(args.games)]
        scores, seconds = [score for score, _ in played], time.perf_counter() - began
        error = 2 * statistics.stdev(scores) / len(scores) ** 0.5
        rate = sum(moves for _, moves in played) / seconds
        print(f"{exploration:5g}  {statistics.fmean(scores):9,.0f} ± {error:,.0f}  {rate:,.0f} moves/s", flush=True)


if __name__ == "__main__":
    main()
