"""Measure searches to a depth on a GPU against one core, the same positions in the same run.

    python benchmarks/gpu/to_depth.py                               # all cases, as the program searches
    python benchmarks/gpu/to_depth.py --cases patterns-many --variant lanes=8,blocks=6 --variant lanes=16,blocks=4
    python benchmarks/gpu/to_depth.py --emulated --positions 3      # the script itself, without a GPU

One JSON line a row. ``seconds``: of the GPU for all positions, from their states to their scores; ``core_seconds``: of
one core for ``core_positions`` of them, each with an empty table; ``times_a_core``: how many times faster the GPU is a
position. Scores of both are compared; a difference ends the script with status 1. Cases are an evaluation of Othello or
Connect 4's ``outcome``, then ``many`` positions of the middle of games or ``one``.
"""

import argparse
import random
import sys
import time

import numpy as np

from distsearch import evaluation, games
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.games.interface import END
from distsearch.games.random_play import random_positions
from distsearch.gpu import device
from distsearch.gpu.to_depth import GpuDepthSearch
from distsearch.studies.gpu_bench.timing import print_row
from distsearch.testing.emulated_gpu import EmulatedGpu

# name → game, evaluation, plies played, positions, plies searched
CASES = {
    "patterns-many": ("othello", "patterns", (16, 32), 2000, 10),
    "patterns-one": ("othello", "patterns", (20, 20), 1, 14),
    "complex-many": ("othello", "complex", (16, 32), 2000, 9),
    "complex-one": ("othello", "complex", (20, 20), 1, 12),
    "outcome-many": ("connect4", "outcome", (8, 12), 2000, 14),
    "outcome-one": ("connect4", "outcome", (8, 8), 1, 22),
}


def positions_of(game, rules, plies, count, seed):
    """Return states (uint64, shape (count, words)) of random games after so many plies, none of them over."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        drawn = random_positions(game, rules, range(plies[0], plies[1] + 1), count, rng)
        found += [position.state for position in drawn if game.kind(position.state, rules) != END]
    return np.array(found[:count], np.uint64)


def by_core(engine, state, depth):
    engine.begin(state, depth)
    while not engine.advance(1 << 30):
        pass
    found = engine.result(brief=True)
    return found.score, found.nodes


def measured_core(case, seconds, least):
    """Return (scores, nodes, seconds) of as many positions of a case as take so long, ``least`` at least."""
    game, rules, chosen, states, depth = case
    engine, scores, nodes = DepthSearch(game, rules, chosen, repeatable=True), [], 0
    by_core(engine, tuple(states[0]), 2)
    began = time.perf_counter()
    while len(scores) < len(states) and (len(scores) < least or time.perf_counter() - began < seconds):
        score, searched = by_core(engine, tuple(states[len(scores)]), depth)
        scores.append(score)
        nodes += searched
    return scores, nodes, time.perf_counter() - began


def measured_gpu(gpu, case, turns, variant):
    """Return (scores, least seconds, counts) of a case; every turn has an empty table."""
    game, rules, chosen, states, depth = case
    best = float("inf")
    for _ in range(turns):
        search = GpuDepthSearch(gpu, game, rules, chosen, **variant)
        depths = np.full(len(states), depth)
        search.search(states[:1], depths[:1] * 0 + 2)
        gpu.wait()
        began = time.perf_counter()
        scores, complete, expanded, counts = search.search(states, depths)
        best = min(best, time.perf_counter() - began)
        assert complete.all()
        del search
    return scores, best, {"expanded": expanded, **counts}


def variant_of(text):
    """Return the arguments of a GpuDepthSearch that a text such as lanes=8,blocks=4 names."""
    return {name: int(value) for name, value in (part.split("=") for part in text.split(","))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES), help="comma-separated (default: %(default)s)")
    parser.add_argument("--variant", action="append", type=variant_of, help="arguments of the search, may be repeated")
    parser.add_argument("--positions", type=int, help="of cases with many (default: their own)")
    parser.add_argument("--plies", type=int, help="searched (default: each case's own)")
    parser.add_argument("--core-seconds", type=float, default=5.0)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--emulated", action="store_true", help="without a GPU: three plies, a small table")
    args = parser.parse_args()
    gpu = EmulatedGpu(args.seed) if args.emulated else device.Gpu(0)
    failed = False
    for name in args.cases.split(","):
        game_name, chosen, plies, count, depth = CASES[name]
        game = games.find(game_name)
        rules = game.rules()
        count = min(count, args.positions or count)
        depth = 3 if args.emulated else args.plies or depth
        states = positions_of(game, rules, plies, count, args.seed)
        case = game, rules, evaluation.find(game, chosen, rules), states, depth
        wanted, core_nodes, core = measured_core(case, args.core_seconds, 1)
        for variant in args.variant or [{}]:
            sizes = {"table_mib": 1 if args.emulated else 8192, **variant}
            scores, seconds, counts = measured_gpu(gpu, case, 1 if args.emulated else args.turns, sizes)
            failed |= scores[: len(wanted)].tolist() != wanted
            print_row(
                case=name,
                **variant,
                plies=depth,
                positions=count,
                seconds=seconds,
                nodes_a_second=counts["nodes"] / seconds,
                nodes_a_position=counts["nodes"] / count,
                core_positions=len(wanted),
                core_nodes_a_position=core_nodes / len(wanted),
                core_seconds=core,
                times_a_core=core / len(wanted) / (seconds / count),
                equal=scores[: len(wanted)].tolist() == wanted,
                hits=counts["hits"] / max(counts["looks"], 1),
            )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
