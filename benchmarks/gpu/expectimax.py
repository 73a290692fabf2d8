"""Expectimax on a GPU: whether it finds what the CPU's engine does, and how fast, method by method.

    python benchmarks/gpu/expectimax.py              a few minutes' work of a GPU, a line of JSON a row
    python benchmarks/gpu/expectimax.py --emulated   the same script where there is no GPU, on a handful of boards

Boards are of games that the smaller shipped network plays with one layer, by the classes of `distsearch sample`:
starter, normal, late. `kernel` is the GPU's time by events around every launch, `total` the time of the call, both the
best of some repeats. `cpu` is one rank's time for the same decisions in one compiled loop, with the table's size that
is fastest, which goes on from board to board; `times` compares it with `total`. `leaves` are evaluations made: `merged`
makes fewer than others for the same value. `share` is leaves a second of the kernels against what L2 gives for the
look-ups that the report makes for a leaf (137 G/s; 24 look-ups for 2584's network).
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np

from distsearch import evaluation, games
from distsearch.evaluation.ntuple import SMALLER
from distsearch.gpu import build, device
from distsearch.gpu.expectimax import GpuExpectimax
from distsearch.gpu.expectimax_merged import SOURCE, AfterstateLevels
from distsearch.gpu.expectimax_tables import make_evaluator
from distsearch.studies.gpu_bench.expectimax import Cpu, different_boards
from distsearch.studies.gpu_bench.timing import Timed, print_row
from distsearch.testing.emulated_gpu import EmulatedGpu

_SOURCES = {"multilevel": "expectimax_levels.cu", "naive": "expectimax_paths.cu"}
_CASES = (  # game, evaluation, methods
    ("2584", SMALLER["2584"], ("merged", "multilevel", "naive")),
    ("2048", SMALLER["2048"], ("merged", "multilevel", "naive")),
    ("2048", "monotonicity+0.1*smoothness+2.7*free", ("merged", "multilevel")),
    ("2048", "rows", ("merged",)),
    ("2048", "snake", ("merged",)),
    ("2048", "haskell", ("merged",)),
    ("2584", "rows", ("merged",)),
)
_DIFFERENT = 20_000  # boards of a class: equal ones would be merged
_BATCH = {  # boards of a batch, by method and layers
    "merged": {1: 20_000, 2: 20_000, 3: 4_000},
    "multilevel": {1: 20_000, 2: 4_000, 3: 256},
    "naive": {1: 20_000, 2: 2_000, 3: 32},
}
_CPU_BOARDS = {1: 4000, 2: 1000, 3: 100}
_CHECKED = {
    "merged": {1: 10_000, 2: 4_000, 3: 300},
    "multilevel": {1: 10_000, 2: 1000, 3: 30},
    "naive": {1: 10_000, 2: 300, 3: 3},
}
_SWEEP = [
    {"threads": threads, "blocks": blocks, "batch": batch}
    for threads, blocks, batch in (
        (128, 8, 8),
        (128, 6, 8),
        (128, 10, 8),
        (128, 12, 8),
        (256, 4, 8),
        (64, 16, 8),
        (128, 8, 4),
        (128, 10, 4),
        (128, 8, 16),
    )
]
_SWEEP_WHOLE = [
    {"whole_blocks": blocks, "whole_batch": batch} for blocks, batch in ((1, 2), (2, 2), (4, 2), (1, 4), (2, 4), (1, 8))
]
_SIZES = [{"boards": 1 << 18}, {"boards": 1 << 22}, {"few": 0}]  # `few`: a single board in launches of every phase


def prepared(case):
    """Compile the CPU's kernels of a case, in a process of its own."""
    game = games.find(case[0])
    rules = game.rules()
    Cpu(game, rules, evaluation.find(game, case[1], rules), 16)
    return case


def check(search, cpu, boards, checked, row):
    """Compare values with the CPU's; raises AssertionError."""
    for layers, count in checked.items():
        states = np.concatenate([each[: count // len(boards) + 1] for each in boards.values()])
        values, _, _ = cpu.values(states, layers)
        found = search.values(states, layers=layers)
        worst = (np.abs(found.values - values) / np.maximum(np.abs(values), 1)).max()  # sums of heuristics may cancel
        print_row(**row, checked=len(states), layers=layers, worst=float(worst))
        assert worst < 1e-5


def measured(search, timed, states, layers, repeats):
    """Return (kernel seconds, total seconds, leaves, seconds by kernel): the best of some repeats after warm-up."""
    for each in (search, timed[0]):
        each.values(states, layers=layers)
        each.values(states, layers=layers)  # lists have their lengths now
    totals, kernels = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        leaves = search.values(states, layers=layers).leaves
        totals.append(time.perf_counter() - began)
    for _ in range(repeats):
        timed[1].seconds_by_kernel()
        timed[0].values(states, layers=layers)
        kernels.append(timed[1].seconds_by_kernel())
    best = min(kernels, key=lambda each: sum(each.values()))
    return sum(best.values()), min(totals), leaves, best


class Bench:
    def __init__(self, gpu, emulated):
        self.gpu, self.emulated = gpu, emulated
        self.repeats = 1 if emulated else 4

    def searches(self, game, rules, chosen, method, **sizes):
        """Return a search, and one whose kernels are timed with its GPU."""
        timed = Timed(self.gpu)
        return (
            GpuExpectimax(self.gpu, game, rules, chosen, method, **sizes),
            (GpuExpectimax(timed, game, rules, chosen, method, **sizes), timed),
        )

    def count(self, wanted):
        return min(wanted, 3) if self.emulated else wanted

    def case(self, name, wanted, methods, boards):
        game = games.find(name)
        rules = game.rules()
        chosen = evaluation.find(game, wanted, rules)
        cpus = {bits: Cpu(game, rules, chosen, bits) for bits in ((16,) if self.emulated else (12, 16, 18))}
        layers = (1, 2) if self.emulated else (1, 2, 3)
        by_cpu = {
            (stage, each): min(
                self.cpu_seconds(cpu, boards[stage][: self.count(_CPU_BOARDS[each])], each) + (bits,)
                for bits, cpu in cpus.items()
            )
            for stage in boards
            for each in layers
        }
        for method in methods:
            search, timed = self.searches(game, rules, chosen, method)
            row = {"game": name, "evaluation": wanted, "method": method}
            limit = search.evaluation_rate(boards["normal"], 10 if self.emulated else 4000)
            checked = {each: self.count(count) for each, count in _CHECKED[method].items() if each in layers}
            check(search, cpus[16], boards, checked, row)
            for stage in boards:
                for each in layers:
                    for count in (1, self.count(_BATCH[method][each])):
                        if method == "naive" and self.emulated and each > 1:
                            continue
                        states = boards[stage][:count]
                        found = measured(search, timed, states, each, self.repeats * (10 if count == 1 else 1))
                        how = {"layers": each, "class": stage, "limit": limit}
                        self.show(row | how, count, found, by_cpu[stage, each])

    def cpu_seconds(self, cpu, states, layers):
        """Return (CPU seconds a board, leaves a board): the better of two."""
        runs = [cpu.values(states, layers)[1:] for _ in range(2)]
        leaves, seconds = min(runs, key=lambda run: run[1])
        return seconds / len(states), leaves / len(states)

    def show(self, row, count, found, cpu):
        kernel, total, leaves, by_kernel = found
        seconds, cpu_leaves, bits = cpu
        row |= {
            "boards": count,
            "kernel_us": kernel / count * 1e6,
            "total_us": total / count * 1e6,
            "cpu_us": seconds * 1e6,
            "cpu_table_bits": bits,
            "times": seconds * count / total,
            "leaves": leaves / count,
            "cpu_leaves": cpu_leaves,
            "leaves_per_second": leaves / kernel,
            "share": leaves / kernel / row["limit"],
        }
        row["kernels_us"] = {name: each * 1e6 for name, each in by_kernel.items()}
        print_row(**row)

    def sweep(self, boards):
        """Sizes of ``merged``: 2584, 3 layers, normal boards, many and one."""
        game = games.find("2584")
        rules = game.rules()
        chosen = evaluation.find(game, SMALLER[game.NAME], rules)
        layers = 2 if self.emulated else 3
        for sizes in [*_SWEEP, *_SWEEP_WHOLE, *_SIZES][:: 6 if self.emulated else 1]:
            single = sizes in _SWEEP_WHOLE or "few" in sizes
            states = boards["normal"][: 1 if single else self.count(_BATCH["merged"][layers])]
            search, timed = self.searches(game, rules, chosen, "merged", **sizes)
            kernel, total, leaves, by_kernel = measured(search, timed, states, layers, self.repeats)
            print_row(
                sweep=sizes,
                boards=len(states),
                kernel_us=kernel / len(states) * 1e6,
                total_us=total / len(states) * 1e6,
                leaves_per_second=leaves / kernel,
                kernels_us={name: round(each * 1e6, 1) for name, each in by_kernel.items()},
            )


def compile_for(gpu, cases):
    """Have nvcc compile all that the cases and the sweep take, on all cores."""
    wanted = set()
    for name, chosen, methods in cases:
        game = games.find(name)
        rules = game.rules()
        evaluator = make_evaluator(gpu, game, rules, evaluation.find(game, chosen, rules), False)
        swept = [*_SWEEP, *_SWEEP_WHOLE] if (name, chosen) == ("2584", SMALLER["2584"]) else []
        for sizes in [{}, *swept]:
            merged = AfterstateLevels(gpu, evaluator, **sizes)
            wanted |= {(SOURCE, tuple(sorted(merged.macros(whole).items()))) for whole in (False, True)}
        wanted |= {
            (_SOURCES[method], tuple(sorted(evaluator.macros.items()))) for method in methods if method in _SOURCES
        }
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda each: build.cubin(each[0], gpu.architecture, each[1]), wanted))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true", help="without a GPU, a handful of boards")
    parser.add_argument("--cases", type=int, default=len(_CASES), help="how many of the games and evaluations")
    args = parser.parse_args()
    cases = _CASES[: args.cases]
    if not args.emulated:
        with ProcessPoolExecutor() as processes:  # before there is a context of CUDA
            list(processes.map(prepared, cases))
    bench = Bench(EmulatedGpu() if args.emulated else device.Gpu(), args.emulated)
    if not args.emulated:
        compile_for(bench.gpu, cases)
    boards = {}
    for name in {case[0] for case in cases}:
        game = games.find(name)
        rules = game.rules()
        chosen = evaluation.find(game, SMALLER[game.NAME], rules)
        boards[name] = different_boards(game, rules, chosen, 3 if args.emulated else _DIFFERENT)
    for name, wanted, methods in cases:
        bench.case(name, wanted, methods, boards[name])
    bench.sweep(boards["2584"])


if __name__ == "__main__":
    main()
