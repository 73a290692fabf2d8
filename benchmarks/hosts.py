"""Hosts with a table each beside one host with one table: exact searches of lines of a file, in virtual time.

    python benchmarks/hosts.py othello positions.txt --lines 21,23 --hosts 2,4,8 --seeds 3

Prints a row of a table for each line and number of hosts: speedup over the sequential engine at the same rate, boards
over the engine's, and virtual seconds, each with all workers on one host, and on so many hosts. Means over seeds, by
which the time of a slice varies: a speedup changes by a tenth from one to the next.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from statistics import mean

from distsearch import games
from distsearch.api.options import Options
from distsearch.api.progress import Progress
from distsearch.api.simulate import Machine, Simulation
from distsearch.api.two_player import Searcher
from distsearch.cluster.local import LocalCluster
from distsearch.games.interface import read_position


def numbers(text):
    return [int(number) for number in text.split(",")]


def alone(options, machine, position):
    """Return the Outcome of the sequential engine."""
    searcher = Searcher(replace(options, load_factor=1), LocalCluster(machine.kinds()), Progress())
    return next(searcher.search([position]))


def simulated(options, machine, position, sequential):
    """Return the Simulation of one search."""
    cluster = machine.cluster()
    outcome = next(Searcher(options, cluster, Progress()).search([position]))
    if outcome.score != sequential.score:
        raise SystemExit(f"{machine}: {outcome.score} instead of {sequential.score}")
    return Simulation(outcome, sequential, machine, cluster.master_share)


def row(options, machine, position, sequential, hosts, seeds):
    """Return the row of so many hosts, beside one of as many workers."""
    speedups, boards, seconds = [], [], []
    for among in (1, hosts):
        runs = [
            simulated(options, replace(machine, hosts=among, seed=seed), position, sequential) for seed in range(seeds)
        ]
        speedups.append(mean(run.figures["speedup"] for run in runs))
        boards.append(mean(run.figures["search_overhead"] for run in runs))
        seconds.append(mean(run.outcome.seconds for run in runs))
    columns = [
        f"{figures[0]:{to}} | {figures[1]:{to}}"
        for figures, to in ((speedups, ".2f"), (boards, ".2f"), (seconds, ".3f"))
    ]
    return f"| {hosts} | {' | '.join(columns)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("positions", type=Path)
    parser.add_argument("--lines", type=numbers, default=[1], help="numbers of lines, from 1")
    parser.add_argument("--hosts", type=numbers, default=[2, 4, 8])
    parser.add_argument("--each", type=int, default=8, help="workers of a host")
    parser.add_argument("--policy", default="split")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=3.5e7, help="boards a second of a worker")
    parser.add_argument("--jitter", type=float, default=0.05, help="of the time of a slice, relative")
    parser.add_argument("--table", type=int, default=64, help="MiB of a host")
    args = parser.parse_args()
    game, lines = games.find(args.game), args.positions.read_text().splitlines()
    options = Options(game.NAME, policy=args.policy, exact=True)
    for number in args.lines:
        position = read_position(game, lines[number - 1], game.rules(options.board))
        machine = Machine(network="tcp", table=args.table, rate=args.rate, jitter=args.jitter)
        sequential = alone(options, machine, position)
        print(f"\n{lines[number - 1]}: {sequential.nodes:,} boards alone\n")
        names = [f"{name}: {way}" for name in ("speedup", "boards", "seconds") for way in ("one host", "several")]
        print(f"| hosts | {' | '.join(names)} |\n{'|---' * 7}|", flush=True)
        for hosts in args.hosts:
            print(
                row(options, replace(machine, workers=hosts * args.each), position, sequential, hosts, args.seeds),
                flush=True,
            )


if __name__ == "__main__":
    main()
