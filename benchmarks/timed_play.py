"""How well moves keep to a limit of time: 2,000 moves of 2048 at 50 ms, with a free core and next to busy processes.

    python benchmarks/timed_play.py [--moves 2000] [--time 0.05] [--busy 0] [--seed 1]

Every move is looked up among the legal ones. busy: processes that only count, next to this one.
"""

import argparse
import multiprocessing
import os

from distsearch import evaluation, games
from distsearch.api.options import DEEPEST
from distsearch.engines.expectimax import Expectimax
from distsearch.engines.player import Player, seed_of
from distsearch.games.interface import legal_moves, step

_LEAST = 1e-3  # what is less likely is evaluated


def count():
    while True:
        pass


def played(game, rules, engine, moves, seconds, seed):
    """Play games until so many moves; return the seconds of each."""
    times, number = [], 0
    while len(times) < moves:
        player = Player(game, rules, engine, seconds=seconds)
        player.begin(game.start(rules).state, DEEPEST, seed_of(seed, number), 0, 2 * (moves - len(times)) + 2)
        while not player.advance(1 << 20):
            pass
        position = game.start(rules)
        for code in player.codes:
            assert code in legal_moves(game, position, rules), "not legal"
            position = step(game, position, rules, code)
        times += player.times
        number += 1
    return times[:moves]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moves", type=int, default=2000)
    parser.add_argument("--time", type=float, default=0.05)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    game = games.find("2048")
    rules = game.rules()
    engine = Expectimax(game, rules, evaluation.find(game, "rows", rules), min_probability=_LEAST)
    engine.compile()
    others = [multiprocessing.Process(target=count, daemon=True) for _ in range(args.busy)]
    for process in others:
        process.start()
    times = sorted(played(game, rules, engine, args.moves, args.time, args.seed))
    p50, p99, worst = (1000 * times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.99, 1.0))
    used = sum(min(each, args.time) for each in times) / args.time / len(times)
    print(
        f"{len(times)} legal moves at {1000 * args.time:g} ms, {os.cpu_count()} cores, {args.busy} busy processes: "
        f"p50 {p50:.2f} ms, p99 {p99:.2f}, worst {worst:.2f}; {used:.1%} of the time used"
    )


if __name__ == "__main__":
    main()
