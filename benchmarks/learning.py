"""Learning on several ranks that share weights without locks: is it as good as on one, and how much faster?

    python benchmarks/learning.py quality 2584 --ranks 1,2,4 --games 20000 --seeds 1,2,3
    python benchmarks/learning.py speed 2584 --ranks 1,2,4,8,16,31 --games 4000

quality: after so many games, the average of others without learning, with its standard error, for each number of ranks
and seed; then for each number of ranks the mean over seeds, and how far it is from that of the first number, in
standard errors of the difference: errors are those among seeds, or of the games if that is more. speed: moves a second,
``--games`` for each rank, and how many times those of the first number; weights written, and of them those that
collided. Further options go to ``distsearch train``; those of mpirun are one argument: ``--mpirun "-f hosts"``.
"""

import argparse
import json
import math
import shlex
import shutil
import statistics
import subprocess
import sys


def trained(args, ranks, options):
    """Return the lines of one training, the last of them its result."""
    command = [sys.executable, "-m", "distsearch", "train", args.game, *options, *args.others, "--json"]
    if ranks > 1 or args.mpirun:
        command = [shutil.which("mpirun"), *shlex.split(args.mpirun), "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def quality(args):
    base = None
    print("| ranks | seed | average | error | win rate | moves/s |\n|---|---|---|---|---|---|")
    for ranks in args.ranks:
        averages, errors = [], []
        for seed in args.seeds:
            options = "--games", args.games, "--seed", seed, "--evaluate-every", args.games
            lines = trained(args, ranks, list(map(str, (*options, "--evaluate-games", args.evaluated))))
            found, result = lines[-2], lines[-1]
            averages.append(found["average"])
            errors.append(found["average_error"])
            rate = result["moves_per_second"]
            print(
                f"| {ranks} | {seed} | {averages[-1]:,.0f} | {errors[-1]:,.0f} | {found['win_rate']:.1%} | {rate:,} |",
                flush=True,
            )
        mean, seeds = statistics.fmean(averages), len(averages)
        among = statistics.stdev(averages) if seeds > 1 else 0.0
        error = max(among, statistics.fmean(errors)) / math.sqrt(seeds)
        base = base or (mean, error)
        apart = (mean - base[0]) / math.hypot(error, base[1])
        print(f"| {ranks} | all | {mean:,.0f} | {error:,.0f} | {apart:+.2f} standard errors | |", flush=True)


def speed(args):
    base = None
    print("| ranks | moves/s | times | moves a CPU second | written | collided |\n|---|---|---|---|---|---|")
    for ranks in args.ranks:
        for counted in ([], ["--collisions"]):
            games = args.games * ranks
            result = trained(args, ranks, ["--games", str(games), *counted])[-1]
            base = base or result["moves_per_second"]
            share = f"{result['collided'] / result['written']:.2e}" if counted else ""
            print(
                f"| {ranks} | {result['moves_per_second']:,} | {result['moves_per_second'] / base:.2f} | "
                f"{result['moves_per_cpu_second']:,} | {result['written'] if counted else ''} | {share} |",
                flush=True,
            )


def numbers(text):
    return [int(each) for each in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "speed"))
    parser.add_argument("game")
    parser.add_argument("--ranks", type=numbers, default=[1, 2])
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--seeds", type=numbers, default=[1, 2, 3])
    parser.add_argument("--evaluated", type=int, default=2000, help="games without learning")
    parser.add_argument("--mpirun", default="", help="further arguments of mpirun")
    args, args.others = parser.parse_known_args()
    quality(args) if args.what == "quality" else speed(args)


if __name__ == "__main__":
    main()
