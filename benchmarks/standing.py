"""Standing bars: what must not get worse unseen, in the quick form of every part's bars. See docs/standing-bars.md.

    benchmarks/standing                     everything, and what fell back; exit status 1 if something did
    benchmarks/standing --update            what does not depend on time is kept as it is now, in standing.toml
    benchmarks/standing --only counts,answers --full

counts: nodes, virtual workers, messages and bytes, against benchmarks/standing.toml. answers: the same at 1, 2 and 3
ranks. rates: against the last tagged commit, or --against COMMIT, whose files are unpacked into a temporary folder and
run by turns with these.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time

from benchmarks import standing_figures, standing_rates
from benchmarks.standing_counts import groups
from distsearch.api.facts import compact
from distsearch.studies.metadata import commit

PARTS = "counts", "answers", "rates"
RANKS = 1, 2, 3
_FFO_40 = "O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X"
_ROWS = "--evaluation", "rows"
ANSWERS = {  # what is asked on each number of ranks → the fields that must be the same
    "othello to the end": (["search", "othello", _FFO_40, "--exact"], ["score", "proved"]),
    "othello to a depth": (["search", "othello", "f5d6c3d3c4", "--depth", "9", "--evaluation", "complex"], ["score"]),
    "othello to a depth, patterns": (
        ["search", "othello", "f5d6c3d3c4", "--depth", "9", "--evaluation", "patterns"],
        ["score"],
    ),
    "othello by pool": (
        ["search", "othello", "f5d6c3d3c4", "--depth", "8", "--policy", "pool", "--evaluation", "complex"],
        ["score"],
    ),
    "connect4 to the end": (["search", "connect4", "33445256134", "--exact"], ["score", "proved"]),
    "2048": (["search", "2048", "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128", "--layers", "4", *_ROWS], ["score"]),
    "2584": (["search", "2584", "1,3,8,21,0,2,5,34,0,0,1,55,0,0,0,89", "--layers", "3", *_ROWS], ["score"]),
    "games of 2048": (["play", "2048", "--games", "50", "--depth", "3", *_ROWS], ["average", "maximum", "moves"]),
    "perft": (["perft", "othello", "--depth", "8"], ["counts"]),
}


def counts(args):
    """Measure what does not depend on time; return a line for each figure that fell back."""
    kept, fell = standing_figures.read(), []
    for name, group in groups().items():
        if group.full and not args.full:
            continue
        began = time.process_time()
        found = group.measure()
        before = standing_figures.figures(kept.get(name, {}))
        worse, better = standing_figures.regressions(before, found), standing_figures.improvements(before, found)
        told = "fell back" if worse else "better" if better else "as kept"
        print(f"{name}: {told}, {len(found)} figures, {time.process_time() - began:.1f} CPU s", flush=True)
        for line in worse + better:
            print(f"  {line}", flush=True)
        fell += [f"{name}: {line}" for line in worse]
        if args.update:  # at once: what is interrupted has kept what it measured
            kept = standing_figures.updated(kept, {name: (group.how, found)}, (commit() or "unknown")[:10])
            standing_figures.write({each: kept[each] for each in groups() if each in kept})
    return [] if args.update else fell


def answers(_):
    """Ask the same at several numbers of ranks; return a line for each answer that differs."""
    if shutil.which("mpirun") is None:
        print("not asked: there is no mpirun")
        return ["answers: not asked, there is no mpirun"]
    different = []
    side = standing_rates.Program(standing_rates.HERE, standing_rates.HERE)
    for name, (arguments, fields) in ANSWERS.items():
        found = []
        for ranks in RANKS:
            answer = side.run(arguments, ranks)
            found.append(answer and {field: answer[0][field] for field in fields})
        same = None not in found and all(each == found[0] for each in found)
        print(f"{name}: {found[0] if same else found}", flush=True)
        different += [] if same else [f"answers of {name} at {RANKS} ranks: {found}"]
    return different


def rates(args):
    """Time the rates by turns with an earlier commit; return a line for each that fell back."""
    against = args.against or standing_rates.last_tag()
    if against is None:
        raise SystemExit("standing: there is no tag to compare rates with; give --against COMMIT, or --only counts")
    fell = []
    with contextlib.ExitStack() as stack:
        folder = (
            os.path.abspath(args.keep)
            if args.keep
            else stack.enter_context(tempfile.TemporaryDirectory(prefix="standing-"))
        )
        tree = standing_rates.unpack(against, folder)
        standing_rates.write_positions(folder)
        now = standing_rates.Program(standing_rates.HERE, folder)
        then = standing_rates.Program(tree, folder, cache=f"{folder}/cache")
        print(f"| a second | now | {against[:10]} | quotient | of {args.turns} turns | at least |")
        print("|---|---|---|---|---|---|", flush=True)
        for name, rate in standing_rates.RATES.items():
            try:
                found = standing_rates.compare(now, then, rate, args.turns)
            except RuntimeError as error:
                fell.append(f"rate of {name}: {error}")
                continue
            if found is None:
                print(f"| {name}, {rate.unit} | | not there yet | | | |", flush=True)
                continue
            print(
                f"| {name}, {rate.unit} | {compact(found.now)} | {compact(found.then)} | {found.quotient:.3f} | "
                f"{found.spread[0]:.3f} to {found.spread[1]:.3f} | {rate.least} |",
                flush=True,
            )
            if found.quotient < rate.least:
                fell.append(f"rate of {name}: {found.quotient:.3f} of that of {against[:10]}")
    return fell


def arguments():
    parser = argparse.ArgumentParser(
        prog="benchmarks/standing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART,...", help="counts, answers, rates")
    parser.add_argument("--full", action="store_true", help="counts of larger searches as well")
    parser.add_argument("--update", action="store_true", help="keep the counts as they are now; nothing else is done")
    parser.add_argument("--against", metavar="COMMIT", help="to compare rates with (default: the last tag)")
    parser.add_argument("--turns", type=int, default=5, metavar="N", help="of each rate (default 5)")
    parser.add_argument("--keep", metavar="FOLDER", help="for that commit's files and kernels, for another time")
    args = parser.parse_args()
    if args.turns < 1:
        parser.error(f"--turns {args.turns}: at least 1")
    args.only = ["counts"] if args.update else args.only.split(",")
    if wrong := set(args.only) - set(PARTS):
        parser.error(f"--only {','.join(sorted(wrong))}: the parts are {', '.join(PARTS)}")
    return args


def main():
    args = arguments()
    fell = []
    for part in (counts, answers, rates):
        if part.__name__ in args.only:
            print(f"== {part.__name__}", flush=True)
            fell += part(args)
    print("\n".join(["== fell back", *fell]) if fell else "== nothing fell back")
    sys.exit(bool(fell))


if __name__ == "__main__":
    main()
