"""Policies beside one another on virtual workers: exact searches of lines of a file, in virtual time.

    python benchmarks/policies.py othello positions.txt --lines 21,22,23 --workers 7,31

Prints a row of a table for each line, number of workers and policy: speedup over the sequential engine at the same
rate, boards searched over the engine's, share of the workers' time that was idle and of the master's that was busy,
jobs, and milliseconds of the master a job. ``--depth`` searches to a depth instead.
"""

from lines import parser

from distsearch import games
from distsearch.games.interface import read_position
from distsearch.service.options import Options
from distsearch.service.progress import Progress
from distsearch.service.simulate import Machine, simulate
from distsearch.tree.policies import POLICIES


def row(game, text, args, policy, workers):
    """Return the row of one simulated search."""
    limit = {"exact": True} if args.depth is None else {"depth": args.depth}
    options = Options(game.NAME, policy=policy, **limit)
    position = read_position(game, text, game.rules(options.board))
    machine = Machine(workers=workers, network=args.network, table=args.table, rate=args.rate)
    found = simulate(options, machine, position, Progress(), lambda: False)
    if found.outcome.score != found.sequential.score:
        raise SystemExit(f"{policy}, {workers} workers: {found.outcome.score} instead of {found.sequential.score}")
    figures, jobs = found.figures, found.outcome.jobs
    master = 1000 * figures["master_share"] * found.outcome.seconds / max(jobs, 1)
    return (
        f"| {workers} | {policy} | {figures['speedup']:.1f} | {figures['search_overhead']:.2f} | "
        f"{figures['idle_share']:.0%} | {figures['master_share']:.0%} | {jobs} | {master:.3f} |"
    )


def main():
    arguments = parser(__doc__, list(POLICIES))
    arguments.add_argument("--network", default="host")
    arguments.add_argument("--rate", type=float, default=1e7, help="boards a second of a worker")
    args = arguments.parse_args()
    game, lines = games.find(args.game), args.positions.read_text().splitlines()
    for number in args.lines:
        text = lines[number - 1]
        print(f"\n{text}\n\n| workers | policy | speedup | overhead | idle | master | jobs | ms a job |")
        print("|---|---|---|---|---|---|---|---|")
        for workers in args.workers:
            for policy in args.policies:
                print(row(game, text, args, policy, workers), flush=True)


if __name__ == "__main__":
    main()
