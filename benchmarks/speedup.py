"""Speedup of policies on real ranks: searches of lines of a file, by mpirun, over the sequential engine.

    python benchmarks/speedup.py othello positions.txt --lines 29,30 --workers 7,15,31 --repeats 3

The sequential engine has the same table and a core to itself. Prints a row of a table for each line, number of workers
and policy, by medians of the repeats: seconds, speedup, boards over the engine's, shares of the workers' time that were
busy and idle, boards a second of a busy worker over the engine's, jobs, and microseconds of the master's CPU a job.
``--depth`` searches to a depth instead of to the end; ``--alone``: how often by the engine; ``--groups``: sub-masters.
"""

import json
import shutil
import statistics
import subprocess
import sys

from lines import parser


def search(ranks, arguments):
    """Return the outcome of one search on so many ranks."""
    command = [sys.executable, "-m", "distsearch", "search", *arguments, "--json"]
    if ranks > 1:
        command = [shutil.which("mpirun"), "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def median(runs, value):
    return statistics.median(value(run) for run in runs)


def busy_rate(run):
    """Return the boards a second of a worker at work."""
    return run["nodes"] / (run["seconds"] * run["workers"] * max(run["time_share"]["busy"], 1e-6))


def row(workers, policy, runs, alone):
    seconds = median(runs, lambda run: run["seconds"])
    return (
        f"| {workers} | {policy} | {seconds:.2f} | {median(alone, lambda run: run['seconds']) / seconds:.1f} | "
        f"{median(runs, lambda run: run['nodes']) / alone[0]['nodes']:.2f} | "
        f"{median(runs, lambda run: run['time_share']['busy']):.0%} | "
        f"{median(runs, lambda run: run['time_share']['idle']):.0%} | "
        f"{median(runs, busy_rate) / median(alone, busy_rate):.2f} | {median(runs, lambda run: run['jobs']):.0f} | "
        f"{median(runs, lambda run: 1e6 * run['master_seconds'] / run['jobs']):.0f} | "
        f"{median(runs, lambda run: run['master_seconds'] / run['seconds']):.0%} |"
    )


def main():
    arguments = parser(__doc__, ["split"])
    arguments.add_argument("--load-factor", help="of the policies that grow ahead")
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--alone", type=int, help="repeats of the sequential engine (default: as many)")
    arguments.add_argument("--groups", type=int, default=0)
    args = arguments.parse_args()
    limit = ["--exact"] if args.depth is None else ["--depth", str(args.depth)]
    lines = args.positions.read_text().splitlines()
    for number in args.lines:
        what = [args.game, lines[number - 1], *limit, "--table", str(args.table)]
        alone = [search(1, what) for _ in range(args.alone or args.repeats)]
        seconds = median(alone, lambda run: run["seconds"])
        print(f"\n{lines[number - 1]}: alone {alone[0]['nodes']:,} boards, {seconds:.2f} s\n")
        print("| workers | policy | seconds | speedup | boards | busy | idle | rate | jobs | µs a job | master |")
        print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for workers in args.workers:
            for policy in args.policies:
                how = ["--policy", policy, *(["--load-factor", args.load_factor] if args.load_factor else [])]
                how += ["--groups", str(args.groups)] if args.groups else []
                runs = [search(1 + args.groups + workers, [*what, *how]) for _ in range(args.repeats)]
                if any(run["score"] != alone[0]["score"] for run in runs):
                    sys.exit(f"{policy}, {workers} workers: {[run['score'] for run in runs]}")
                print(row(workers, policy, runs, alone), flush=True)


if __name__ == "__main__":
    main()
