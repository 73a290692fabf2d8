"""Measure Othello's end games on a GPU compared with one CPU rank: 100,000 exact scores of 10 to 12 empty squares.

    python benchmarks/gpu/othello.py                 # on a GPU: about a minute and a half
    python benchmarks/gpu/othello.py --emulated      # the script itself, on a few small positions, without a GPU

One JSON line a row. ``check``: positions whose scores are compared with the CPU engine's. ``cpu``: one rank, the solver
with its learnt order of moves and a 64 MiB table, in batches of compiled code, on a sample; CPU seconds, best of three.
``limit``: how often a second the GPU finds the discs that a move turns, if it does nothing else. ``sweep``: kernels on
a part of the positions; the best goes on to all of them. ``gpu``: seconds of the kernel by events, seconds from the
states in numpy to the scores in numpy, and both next to the CPU's for as many positions. ``lanes_at_work``: how many of
the lanes tried a square when their warp did.

``deep``: the same from 14 to 16 empty squares. ``hard``: single positions with 18, one by one, all groups at each.

Positions are of random games (``random``), and of games in which the move that leaves the opponent the fewest replies
is played three times of four (``played``), by seed.
"""

import argparse
import concurrent.futures

from distsearch.games import othello
from distsearch.gpu import build, device
from distsearch.gpu.othello_endgame import SOURCE, GpuEndgame
from distsearch.studies.gpu_bench.othello import cpu, drawn, solved, turning_limit
from distsearch.studies.gpu_bench.timing import print_row
from distsearch.testing.emulated_gpu import EmulatedGpu

DEFAULTS = {"lanes": 8, "leaf": 5, "waiting": 8, "threads": 128, "blocks": 2, "table_mib": 1024, "share_from": 9}
CHANGES = [
    {},
    *({"lanes": lanes} for lanes in (4, 16)),
    *({"leaf": leaf} for leaf in (4, 6)),
    *({"blocks": blocks} for blocks in (4, 5, 6)),
    *({"waiting": waiting} for waiting in (4, 16)),
    *({"table_mib": mib} for mib in (32, 16384)),
    *({"share_from": left} for left in (0, 8, 10)),
    {"lanes": 16, "waiting": 16},
    {"lanes": 16, "share_from": 8},
]


def measured(gpu, states, options, times, warm=None):
    """Return a row's fields for a kernel with these options, and the scores."""
    solver = GpuEndgame(gpu, othello, othello.rules(), **options)
    solver.solve(states[:warm])
    runs = [solved(gpu, solver, states) for _ in range(times)]
    kernel, seconds, launches, scores = min(runs, key=lambda run: run[1])
    counts = solver.counts
    fields = {
        **options,
        "positions": len(states),
        "kernel_seconds": kernel,
        "seconds": seconds,
        "launches": launches,
        "nodes": counts["nodes"],
        "boards_per_second": counts["nodes"] / kernel,
        "tried_per_second": counts["tried"] / kernel,
        "lanes_at_work": counts["tried"] / counts["turns"],
        "teams_at_work": counts["ordered"] / max(counts["orders"], 1),
        "hits": counts["hits"],
        "registers": solver.registers,
        "local_bytes": solver.local_bytes,
    }
    return fields, scores


def compile_all(gpu, kernels):
    """Compile all that is measured: nvcc makes the GPU's kernels in parallel, and numba the CPU's meanwhile."""
    macros = [sorted(GpuEndgame.macros(othello.rules(), most, **o).items()) for o, most in kernels]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        made = [pool.submit(build.cubin, SOURCE, gpu.architecture, defines) for defines in macros]
        cpu(drawn("random", 10, (6, 6), 1, othello.rules()), othello.rules(), 1)
        for each in made:
            each.result()


def check(gpu, count, empties, options):
    """Compare scores with the CPU's on boards of several shapes; raises SystemExit if one differs."""
    for board, to, share in (((8, 8), "winner", 1.0), ((8, 8), "none", 0.2), ((6, 6), "winner", 0.2)):
        r = othello.rules(board, to)
        states = drawn("random", max(1, int(share * count)), empties, 7, r)
        scores = GpuEndgame(gpu, othello, r, **options).solve(states)[0]
        wrong = int((scores != cpu(states, r, 1)[1]).sum())
        print_row(row="check", board=f"{board[0]}x{board[1]}", empties=to, positions=len(states), wrong=wrong)
        if wrong:
            raise SystemExit(f"{wrong} wrong scores")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true", help="small sizes, on a CPU")
    parser.add_argument("--positions", type=int, default=100_000)
    args = parser.parse_args()
    tiny = args.emulated
    gpu = EmulatedGpu() if tiny else device.Gpu()
    count, sample, part, checked = (40, 40, 20, 20) if tiny else (args.positions, 3000, 30_000, 10_000)
    empties, deep = ((6, 7), (8, 8)) if tiny else ((10, 12), (14, 16))
    changes = CHANGES[:2] if tiny else CHANGES
    options = [DEFAULTS | change | ({"table_mib": 1} if tiny else {}) for change in changes]
    if not tiny:
        compile_all(gpu, [*((o, 12) for o in options), (options[0], 16)])
    print_row(row="device", name=gpu.name, multiprocessors=gpu.multiprocessors)
    r = othello.rules()
    check(gpu, checked, empties, options[0])
    limit = turning_limit(gpu, 10 if tiny else 20_000)
    print_row(row="limit", turnings_per_second=limit)
    states = drawn("random", count, empties, 1, r)
    rows = []
    for each in options:
        fields, _ = measured(gpu, states[:part], each, 1)
        print_row(row="sweep", of_limit=fields["tried_per_second"] / limit, **fields)
        rows.append((fields["seconds"], each))
    best = min(rows, key=lambda row: row[0])[1]
    for kind in ("random", "played"):
        states = drawn(kind, count, empties, 2, r)
        compare(gpu, kind, states, sample, best, limit, 3)
    compare(
        gpu, "deep", drawn("played", 10 if tiny else 2000, deep, 3, r), 4 if tiny else 40, best | {"most": 16}, limit, 1
    )
    hard = drawn("played", 2 if tiny else 5, (9, 9) if tiny else (18, 18), 4, r)
    for change in ({"lanes": 8}, {"lanes": 32, "leaf": 6}):
        one_by_one(gpu, hard, best | change | {"most": 10 if tiny else 24, "share_from": 7 if tiny else 10})


def one_by_one(gpu, states, options):
    """Measure single positions, which all groups share, compared with a CPU rank."""
    solver = GpuEndgame(gpu, othello, othello.rules(), **options)
    solver.solve(states[:1])
    for state in states:
        seconds, score, nodes = cpu(state[None], othello.rules(), 1)
        kernel, took, launches, found = solved(gpu, solver, state[None])
        print_row(
            row="hard",
            **options,
            cpu_seconds=seconds,
            cpu_nodes=nodes,
            kernel_seconds=kernel,
            seconds=took,
            launches=launches,
            nodes=solver.counts["nodes"],
            wrong=int(found[0] != score[0]),
            times_cpu=seconds / took,
        )


def compare(gpu, kind, states, sample, options, limit, times):
    """Measure the GPU on all states and the CPU on a sample of them, and compare the scores."""
    seconds, scores, nodes = cpu(states[:sample], othello.rules())
    each = seconds / len(scores)
    print_row(row="cpu", kind=kind, positions=len(scores), microseconds=1e6 * each, nodes=nodes / len(scores))
    fields, found = measured(gpu, states, options, times, warm=1000)
    print_row(
        row="gpu",
        kind=kind,
        **fields,
        of_limit=fields["tried_per_second"] / limit,
        wrong_in_sample=int((found[: len(scores)] != scores).sum()),
        kernel_times_cpu=each * len(states) / fields["kernel_seconds"],
        times_cpu=each * len(states) / fields["seconds"],
    )


if __name__ == "__main__":
    main()
