"""Measure exact Connect 4 on a GPU compared with one CPU rank: thousands of late and early positions, hard ones, 6x7.

    python benchmarks/gpu/connect4.py                 # on a GPU: about a minute and a half
    python benchmarks/gpu/connect4.py --emulated      # the script itself, on a few positions of a small board

One JSON line a row. Positions are of random games by seed, in Pons's classes: ``L3_R1`` 29 to 41 stones, ``L1_R2`` 8
to 14 stones and 14 to 27 plies to go if both sides play well, ``L1_R3`` 6 to 9 stones and 28 plies or more; none is
won at once. ``check``: positions whose scores are compared with the CPU engine's. ``cpu``: one rank, on a sample, at
the best of several tables; CPU seconds. ``sweep``: settings, on 1,000 positions of L1_R2. ``gpu``: the best of them;
seconds of the kernel by events, and from the states in numpy to the scores in numpy, and how often that goes into the
CPU's time. ``single``: one position of L1_R3 at a time. ``empty``: the empty board. ``expanded``: nodes of which all
moves were made. ``limit``: how many of these a second the GPU's rates of random accesses (16-byte reads and writes, by
size of the table) would be enough for, and the share of it that was reached.
"""

import argparse
import concurrent.futures
import multiprocessing
import time

import numpy as np

from distsearch.games import connect4
from distsearch.gpu import device
from distsearch.gpu.connect4 import ended, left
from distsearch.gpu.solver import GpuSolver
from distsearch.studies.gpu_bench.connect4 import cpu_scores, drawn, limit_of
from distsearch.studies.gpu_bench.timing import Timed, print_row
from distsearch.testing.emulated_gpu import EmulatedGpu

DEFAULTS = {"lanes": 8, "threads": 128, "blocks": 6, "table_mib": 4096, "split": 0}
CHANGES = [
    {},
    *({"lanes": lanes} for lanes in (1, 4, 16)),
    *({"blocks": blocks} for blocks in (4, 8, 10)),
    {"threads": 256, "blocks": 4},
    *({"table_mib": mib} for mib in (32, 1024, 32768)),
    *({"split": split} for split in (1, 4)),
    *({"table_left": limit} for limit in (5, 8)),
    *({"share_left": limit} for limit in (14, 18, 20, 22)),
]
EMULATED = {"lanes": 8, "threads": 64, "blocks": 8, "table_mib": 1, "split": 0, "seconds": 60, "share_left": 10}


def plies_to_end(left_there, scores):
    """Return the plies until games end by best play, by squares left and scores."""
    won = left_there - 2 * (np.abs(scores) - 1) - (left_there + (scores > 0)) % 2
    return np.where(scores == 0, left_there, won)


def measured(gpu, board, states, options, times=1):
    """Return (scores, fields of a row) of the fastest of several times on the GPU, and once before to warm up."""
    timed = Timed(gpu)
    solver = GpuSolver(timed, connect4, connect4.rules(board), **options)
    solver.solve(states[:1])
    timed.launches()
    best = None
    for _ in range(times):
        solver._table.zero()  # each time the same work: what an earlier time has found would answer at once
        gpu.wait()
        began = time.perf_counter()
        scores, complete, expanded, counts = solver.solve(states)
        seconds, launches = time.perf_counter() - began, [each for _, each in timed.launches()]
        assert complete.all()
        if best is None or seconds < best[1]["seconds"]:
            best = scores, row_of(options, len(states), seconds, launches, expanded, counts, solver.kernel.registers)
    return best


def row_of(options, count, seconds, launches, expanded, counts, registers):
    kernel = sum(launches)
    limit = limit_of(options["table_mib"], expanded, counts)
    return {
        **options,
        "positions": count,
        "kernel_seconds": kernel,
        "seconds": seconds,
        "launches": len(launches),
        "longest_launch": max(launches),
        "expanded": expanded,
        **counts,
        "expanded_per_second": expanded / kernel,
        "boards_per_second": counts["nodes"] / kernel,
        "expanded_per_position": expanded / count,
        "positions_per_second": count / seconds,
        "limit": limit,
        "of_limit": expanded / kernel / limit,
        "registers": registers,
    }


def in_class(gpu, board, options, states, remoteness, count):
    """Return the first so many of ``states`` that end, if both play well, within a range of plies."""
    solver = GpuSolver(gpu, connect4, connect4.rules(board), **options)
    scores = solver.solve(states)[0]
    plies = plies_to_end(left(states, connect4.rules(board)), scores)
    chosen = states[(plies >= remoteness.start) & (plies < remoteness.stop)][:count]
    assert not ended(chosen, connect4.rules(board)).any()
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--no-sweep", action="store_true")
    parser.add_argument("--no-empty", action="store_true")
    args = parser.parse_args()
    real = not args.emulated
    gpu = device.Gpu(0) if real else EmulatedGpu(1, 4)
    board, options = ((6, 7), DEFAULTS) if real else ((4, 5), EMULATED)
    print_row(row="device", name=gpu.name, board="x".join(map(str, board)))
    pool = concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))
    with pool:
        check = drawn(board, range(1, 27) if real else range(1, 12), 10_000 if real else 30, 1)
        checked = pool.submit(cpu_scores, board, check, (64,))
        late = drawn(board, range(1, 14), 1000 if real else 20, 2)
        late_cpu = pool.submit(cpu_scores, board, late, (0, 64), 10)
        early = drawn(board, range(28, 35) if real else range(12, 15), 4000 if real else 8, 3)
        early = in_class(gpu, board, options, early, range(14, 28) if real else range(1, 20), 1000)
        sample = early[:: 16 if real else 2]
        early_cpu = pool.submit(cpu_scores, board, sample, (0, 64) if real else (0,))
        hard = drawn(board, range(33, 37) if real else range(13, 16), 60 if real else 4, 4)
        hard = in_class(gpu, board, options, hard, range(28, 43) if real else range(1, 20), 3)
        hard_cpu = [
            pool.submit(cpu_scores, board, hard[i : i + 1], (64, 1024) if real else (0,)) for i in range(len(hard))
        ]

        found = measured(gpu, board, check, options)[0]
        scores, seconds, nodes, mib = checked.result()
        print_row(row="check", positions=len(check), wrong=int((found != scores).sum()))

        if real and not args.no_sweep:
            options = best_of_sweep(gpu, board, early, options)
        compare(gpu, board, "L1_R2", early, sample, early_cpu.result(), options, 16 if real else 2, 3)
        for mib in (32, 1024) if real else (1,):
            compare(gpu, board, "L3_R1", late, late, late_cpu.result(), {**options, "table_mib": mib}, 1, 20)
        for i, future in enumerate(hard_cpu):
            compare(gpu, board, "single", hard[i : i + 1], hard[i : i + 1], future.result(), options, 1, 2)
    if not args.no_empty:
        large = {**options, "table_mib": 65000} if real else options
        found, fields = measured(gpu, board, np.zeros((1, 2), np.uint64), large)
        print_row(row="empty", score=int(found[0]), **fields)


def best_of_sweep(gpu, board, states, options):
    best = None
    for change in CHANGES:
        _, fields = measured(gpu, board, states, {**options, **change})
        print_row(row="sweep", change=change, **fields)
        if best is None or fields["seconds"] < best[0]:
            best = fields["seconds"], change
    return {**options, **best[1]}


def compare(gpu, board, kind, states, sample, cpu, options, every, times):
    """Print rows of what the CPU took for a sample, every so many-th of ``states``, and what the GPU took for all."""
    scores, seconds, nodes, mib = cpu
    print_row(
        row="cpu",
        kind=kind,
        positions=len(sample),
        seconds=seconds,
        nodes=nodes,
        table_mib=mib,
        boards_per_second=nodes / seconds,
        positions_per_second=len(sample) / seconds,
    )
    found, fields = measured(gpu, board, states, options, times)
    wrong = int((found[::every] != scores).sum())
    speedup = seconds / len(sample) * len(states) / fields["seconds"]
    print_row(row="gpu", kind=kind, times_cpu=speedup, wrong=wrong, **fields)


if __name__ == "__main__":
    main()
