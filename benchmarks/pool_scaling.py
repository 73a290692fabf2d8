"""Measure the policy `pool` on one host with many cores: speedup, load balance and search overhead, real and simulated.

    python benchmarks/pool_scaling.py --workers 1,3,7 --load-factors 1,4,16 --depth 13 --out results.jsonl

Each search runs under mpirun with one rank more than workers, and once on as many virtual workers. Busy cores are
slower than one alone, so virtual workers have two rates: that of one search alone and that of as many independent
searches at a time as there are workers. All of it is measured in turn, --repeats times, and medians count: on a shared
host rates change from minute to minute. A line of JSON for each run goes to the file as soon as it is done, a table to
stdout; "timers" is how far the worst worker's three timers are from its wall time.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

SEARCH = [sys.executable, "-m", "distsearch"]
HEADER = f"{'workers':>7} {'load':>5} {'seconds':>8} {'speedup':>8} {'by ranks':>8} {'overhead':>8} {'balance':>8} "
HEADER += f"{'busy':>6} {'simulated':>9} {'ratio':>6} {'timers':>7}"


def launched(ranks, arguments):
    """Run distsearch on ``ranks`` ranks; return the object it prints."""
    command = [*SEARCH, *arguments, "--json"]
    if ranks > 1:
        extra = ["--oversubscribe"] if ranks > len(os.sched_getaffinity(0)) and open_mpi() else []
        command = [shutil.which("mpirun"), *extra, "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return found[0] if len(found) == 1 else found


def limits(args):
    """Return how far to search: by plain alpha-beta, whose boards do not depend on timing, as a table's do."""
    return ["--depth", args.depth, "--ordering", "static"]


def independent(workers, args):
    """Search the position once on each of ``workers`` at the same time; return {nodes, cpu_seconds}."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(f"{args.position}\n" * workers)
        file.flush()
        found = launched(workers + 1, ["solve", "othello", "--positions", file.name, *limits(args)])
    runs = found if isinstance(found, list) else [found]
    return {name: sum(run[name] for run in runs) for name in ("nodes", "cpu_seconds")}


def rate(runs):
    """Return the median of the runs' boards a CPU second."""
    return statistics.median(run["nodes"] / run["cpu_seconds"] for run in runs)


def open_mpi():
    """Whether mpirun is Open MPI's."""
    return "Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,3,7")
    parser.add_argument("--load-factors", default="1,4,16")
    parser.add_argument("--depth", default="13")
    parser.add_argument("--position", default="startpos")
    parser.add_argument("--repeats", type=int, default=1, help="of each real run; the median counts")
    parser.add_argument("--simulators", type=int, default=1, help="simulations that run at a time")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    counts = [int(n) for n in args.workers.split(",")]
    factors = args.load_factors.split(",")
    search = ["othello", args.position, *limits(args)]

    points = [(n, factor) for n in counts for factor in factors]
    measured = defaultdict(list)
    launched(1, ["search", *search])  # compiles

    with open(args.out, "w", encoding="utf-8") as out:

        def write(**entry):
            out.write(json.dumps(entry) + "\n")
            out.flush()

        def simulated(point):
            n, factor = point
            rates = ["--rate", f"{rate(measured['alone']):.0f}", "--busy-rate", f"{rate(measured[n]):.0f}"]
            return launched(1, ["simulate", *search, "--workers", str(n), "--load-factor", factor, *rates])

        for _ in range(args.repeats):
            measured["alone"].append(launched(1, ["search", *search]))
            write(alone=measured["alone"][-1])
            for n in counts:
                measured[n].append(independent(n, args))
                write(workers=n, independent=measured[n][-1])
                for factor in factors:
                    run = launched(n + 1, ["search", *search, "--load-factor", factor])
                    measured[n, factor].append(run)
                    write(workers=n, load_factor=factor, real=run)

        alone = median(measured["alone"])
        print(f"alone: {alone['nodes']:,} boards in {alone['seconds']:.2f} s, {rate([alone]) / 1e6:.1f} M boards/CPU-s")
        print("while all work: " + ", ".join(f"{n} workers {rate(measured[n]) / 1e6:.1f} M" for n in counts))
        print(HEADER, flush=True)
        with ThreadPoolExecutor(args.simulators) as pool:
            for (n, factor), twin in zip(points, pool.map(simulated, points), strict=True):
                write(workers=n, load_factor=factor, simulated=twin)
                print(row(n, factor, alone, median(measured[n, factor]), twin), flush=True)


def median(runs):
    """Return the run of median wall time."""
    return sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]


def row(n, factor, alone, run, twin):
    """A line of the table: a real run beside its simulated twin."""
    assert run["score"] == twin["score"] == alone["score"], "scores differ"
    speedup = alone["seconds"] / run["seconds"]
    timers = max(abs(1 - (w["busy"] + w["communication"] + w["idle"]) / w["wall"]) for w in run["per_worker"])
    return (
        f"{n:>7} {factor:>5} {run['seconds']:>8.3f} {speedup:>8.2f} {speedup / (n + 1):>8.3f} "
        f"{run['nodes'] / alone['nodes']:>8.2f} {run['load_balance']:>8.3f} {run['time_share']['busy']:>6.3f} "
        f"{twin['seconds']:>9.3f} {twin['seconds'] / run['seconds']:>6.3f} {timers:>7.2%}"
    )


if __name__ == "__main__":
    main()
