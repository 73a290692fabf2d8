"""Learning on a GPU: the same as on a CPU? how fast, and how good is what it learns?

    python benchmarks/gpu/learning.py                  # on the first GPU, some minutes
    python benchmarks/gpu/learning.py --parts update   # of check, update, training, layers, sweep, curve
    python benchmarks/gpu/learning.py --emulated       # this script itself, tiny, without a GPU
    python benchmarks/gpu/learning.py --record-cpu     # the CPU's learning curves anew, next to this file
    mpirun -n 4 distsearch train 2584 --device gpu --games 400000 --json   # several GPUs: moves_per_second

One line of JSON a row. check: values of 10,000 boards, games without learning, and games one at a time, against the
CPU's. update: recorded games learnt from by a thread a step, and one after another by groups of lanes, against one CPU
rank: the GPU's time, that of all from arrays of the host on, and the share of the limit that random reads and additions
set. training: moves a second for several numbers of games at once and ways to share a board among lanes. layers: moves
a second of training with a search of 1 to 3 layers, until as many games have ended as are at once, or for 10 s, against
one CPU rank with the same search. sweep: what is learnt from 20,000 games by games at once and how these begin. curve:
averages of every 1,000 games, and where these are among those of the CPU's seeds; with 1 to 3 layers of every 200, 40
and 8 games, next to the CPU's.
"""

import argparse
import itertools
import json
import statistics
import time
from pathlib import Path

import numpy as np

from distsearch.api.progress import Silent
from distsearch.evaluation import ntuple
from distsearch.gpu import learning as gpu_learning
from distsearch.learning.options import TrainOptions
from distsearch.learning.train import Files, train
from distsearch.studies.gpu_bench.learning import (
    ADDS,
    NETWORKS,
    READS,
    SEED,
    Cpu,
    gpu_learner,
    sectors_of_a_step,
    training_limit,
)
from distsearch.studies.gpu_bench.timing import print_row

CURVES = Path(__file__).parent / "learning_cpu.json"
SEARCHED = {1: (2000, 200), 2: (200, 40), 3: (32, 8)}  # layers: games of a curve, and of one of its averages


def played(learner, count, mode, first=0):
    """Play a phase; return (its games in the order of their numbers, seconds)."""
    began, found = time.perf_counter(), []
    learner.begin(first, first, first + count, mode)
    while not learner.over:
        found.append(learner.launch())
    found = np.concatenate(found)
    return found[np.argsort(found["number"])], time.perf_counter() - began


def check(gpu, tiny):
    """Whether a GPU has the CPU's values and games."""
    boards, watched, alone = (30, 4, 1) if tiny else (10_000, 1000, 20)
    for name, tuples in NETWORKS:
        known = Cpu(name, tuples, known=True)
        states = []
        while len(states) < boards:
            known.play(len(states), 1)
            states += known.learner.path[0][:: 1 if tiny else 7].tolist()
        states = np.array(states[:boards], np.uint64)
        learner = gpu_learner(gpu, known, 2 if tiny else 1024)
        learner.take_steps(states, np.zeros(boards, np.int32), [0, boards])
        found = learner.values()
        tables = ntuple.tables_of(known.game, 4, known.tuples, True, (), known.arrays.weights)
        value_of = ntuple.kernels(name)["value_of"]
        expected = np.array([value_of(tuple(map(np.uint64, state)), tables) for state in states], np.float32)
        print_row(
            what="check",
            game=name,
            boards=boards,
            same=int((found == expected).sum()),
            error=float(abs(found - expected).max()),
        )
        known.learner.learning = False
        expected = known.play(0, watched)
        rows, _ = played(learner, watched, gpu_learning.WATCH)
        same = (rows["score"] + 1 == expected[:, 0]) & (rows["moves"] == expected[:, 2])
        print_row(what="check games without learning", game=name, games=watched, same=int(same.sum()))
        cpu = Cpu(name, "2x4" if name == "2048" else "3x4")
        cpu.arrays.weights[:] = np.random.default_rng(SEED).normal(0, 30, cpu.arrays.weights.shape)
        learner = gpu_learner(gpu, cpu, 1)
        rows, _ = played(learner, alone, gpu_learning.BACKWARD)
        expected, weights = cpu.play(0, alone), np.zeros_like(cpu.arrays.weights)
        learner.download(weights)
        same = (rows["score"] + 1 == expected[:, 0]) & (rows["moves"] == expected[:, 2])
        print_row(
            what="check one game at a time",
            game=name,
            games=alone,
            same=int(same.sum()),
            same_weights=bool(np.array_equal(weights, cpu.arrays.weights)),
            error=float(abs(weights - cpu.arrays.weights).max()),
        )


def update(gpu, tiny):
    """Recorded games, 1,000 of 1,000 steps: seconds on a GPU and on one CPU rank."""
    count, steps, repeats = (3, 20, 1) if tiny else (1000, 1000, 5)
    for name, tuples in NETWORKS:
        paths = list(Cpu(name, tuples, known=True).paths(count, steps))
        states = np.concatenate([states for states, _ in paths])
        gains = np.concatenate([np.diff(sums, prepend=0) for _, sums in paths])
        starts, cpu = np.arange(count + 1) * steps, Cpu(name, "2x4" if tiny and name == "2048" else tuples)
        some = paths[: max(1, count // 5)]
        for path in some:
            cpu.learner.learn(*path)
        cpu_seconds = []
        for _ in range(2):
            began = time.process_time()
            for path in some:
                cpu.learner.learn(*path)
            cpu_seconds.append((time.process_time() - began) / len(some) * count)
        cpu_seconds, lookups, n = min(cpu_seconds), 8 * len(cpu.tuples), count * steps
        sectors = sectors_of_a_step(cpu.game, cpu.tuples, states[: min(n, 20_000) // 32 * 32])
        by_steps = n * sectors * (1 / READS + 1 / ADDS)
        learner = gpu_learner(gpu, cpu, 512, room=16, rate=1e-3)  # steps learnt all at once add up
        learner.take_steps(states, gains, starts)
        for way, do, limit in (
            ("steps", learner.update_steps, by_steps),
            ("steps combined", lambda learner=learner: learner.update_steps(True), by_steps),
            ("games", learner.update_games, n * lookups * (2 / READS + 1 / ADDS)),
        ):
            do()
            marks = [gpu.mark()]
            for _ in range(repeats):
                do()
                marks.append(gpu.mark())
            gpu.wait()
            kernel = min(gpu.seconds(*pair) for pair in zip(marks, marks[1:], strict=False))
            began = time.perf_counter()
            learner.take_steps(states, gains, starts)
            do()
            gpu.wait()
            whole = time.perf_counter() - began
            row = {"what": "update", "game": name, "way": way, "games": count, "steps": steps}
            row |= {"kernel_seconds": kernel, "seconds": whole, "cpu_seconds": cpu_seconds, "cpu_games": len(some)}
            row |= {"times": cpu_seconds / kernel, "times_in_all": cpu_seconds / whole}
            print_row(**row, steps_per_second=n / kernel, limit_seconds=limit, of_limit=limit / kernel)


def training(gpu, tiny):
    """Moves a second of games that stay on the GPU, from a network that knows nothing."""
    counts = [64, 128, 256, 512, 1024, 2048, 3072]
    for (name, tuples), coherent in itertools.product(NETWORKS, (False, True)):
        cpu = Cpu(name, "2x4" if tiny and name == "2048" else tuples, coherent=coherent)
        began = time.process_time()
        cpu_rate = cpu.play(0, 5 if tiny else 3000)[:, 2].sum() / (time.process_time() - began)
        others = [] if coherent else [(2, 128), (2, 1024), (1, 2048)]
        for moves, count in [(4, 2)] if tiny else [*((4, count) for count in counts), *others]:
            learner = gpu_learner(gpu, cpu, count, moves_at_once=moves)  # from what the CPU has just learnt
            learner.begin(0, 0, 1 << 30, gpu_learning.BACKWARD)
            ended = 0
            while ended < (1 if tiny else gpu_learning.RAMP * count):  # until all are at once
                ended += len(learner.launch(budget=20) if tiny else learner.launch())
            before, began, marks = learner.moves, time.perf_counter(), gpu.mark()
            scores, ended = 0, 0
            for _ in range(3 if tiny else 50):
                found = learner.launch(budget=100) if tiny else learner.launch()
                scores, ended = scores + int(found["score"].sum()), ended + len(found)
            kernel, whole, made = gpu.seconds(marks, gpu.mark()), time.perf_counter() - began, learner.moves - before
            limit = training_limit(8 * len(cpu.tuples), coherent)
            print_row(
                what="training",
                game=name,
                coherence=coherent,
                tuples=tuples,
                moves_at_once=moves,
                games_at_once=count,
                moves_per_second=made / kernel,
                in_all=made / whole,
                cpu_moves_per_second=float(cpu_rate),
                times=made / kernel / cpu_rate,
                limit=limit,
                of_limit=made / kernel / limit,
                ended=ended,
                average=scores / max(1, ended),
            )


def layers(gpu, tiny):
    """Moves a second of learning where a search of 1, 2 or 3 layers chooses them, from what 3,000 games have taught."""
    some_games, some_seconds = (1, 60) if tiny else (20, 10)
    for name, usual in NETWORKS:
        tuples = "2x4" if tiny and name == "2048" else usual
        known = Cpu(name, tuples)
        known.play(0, 5 if tiny else 3000)
        for depth in (1,) if tiny else (1, 2, 3):
            cpu = Cpu(name, tuples, layers=depth)
            cpu.arrays.weights[:] = known.arrays.weights
            cpu.begin(0, some_games)
            began, over = time.process_time(), False
            while not over and time.process_time() - began < some_seconds:
                over = cpu.learner.run(100)
            cpu_rate = cpu.learner.moves / (time.process_time() - began)
            for count in (2,) if tiny else (64, 256, 1024, 4096):
                learner = gpu_learner(gpu, known, count, layers=depth, ramp=0)
                learner.begin(0, 0, 1 << 30, gpu_learning.BACKWARD)
                learner.launch(budget=1)  # makes room
                before, began, ended, scores = learner.moves, time.perf_counter(), 0, 0
                while ended < (1 if tiny else count) and time.perf_counter() - began < some_seconds:
                    found = learner.launch()
                    ended, scores = ended + len(found), scores + int(found["score"].sum())
                seconds = time.perf_counter() - began
                row = {"game": name, "tuples": tuples, "layers": depth, "games_at_once": count, "seconds": seconds}
                row |= {"moves_per_second": (learner.moves - before) / seconds, "cpu_moves_per_second": cpu_rate}
                row |= {"cpu_moves": cpu.learner.moves, "ended": ended, "average": scores / max(1, ended)}
                print_row(what="layers", times=row["moves_per_second"] / cpu_rate, **row)


def curve_of(name, seed, count, gpu=None, line=1000, evaluated=1000, **options):
    """Return (averages of every ``line`` games, that of some games without learning or None, seconds)."""
    if evaluated:
        options |= {"evaluate_every": count, "evaluate_games": min(evaluated, count)}
    lines = []
    asked = TrainOptions(name, games=count, seed=seed, **options)
    train(asked, Files(line=line), None, Silent(), lambda: False, lines.append, gpu)
    learning = [line for line in lines if line["kind"] == "learning"]
    evaluation = round(lines[-1]["average"]) if evaluated else None
    return [round(line["average"]) for line in learning], evaluation, learning[-1]["seconds"]


def curve(gpu, tiny):
    """Averages by games, on GPUs and on the CPU."""
    if tiny:
        averages, evaluation, _ = curve_of("2048", 1, 30, gpu, 10, device="gpu", parallel_games=8, tuples="2x4")
        print_row(what="curve", game="2048", averages=averages, evaluation=evaluation)
        return
    known = json.loads(CURVES.read_text())
    for name, _ in NETWORKS:
        cpu = [each["averages"] for each in known[name]]
        ended = [each["evaluation"] for each in known[name]]
        for seed in range(1, 7):
            averages, evaluation, seconds = curve_of(name, seed, len(cpu[0]) * 1000, gpu, device="gpu")
            last = [statistics.fmean(each[-5:]) for each in (averages, *cpu)]
            print_row(
                what="curve",
                game=name,
                seed=seed,
                averages=averages,
                last=last[0],
                cpu_last=last[1:],
                evaluation=evaluation,
                cpu_evaluations=ended,
                seconds=seconds,
            )
        for layers, (count, line) in SEARCHED.items():
            cpu = [each["averages"] for each in known[f"{name}, {layers} layers"]]
            for seed in range(1, 7):
                averages, _, seconds = curve_of(name, seed, count, gpu, line, 0, device="gpu", layers=layers)
                row = {"what": "curve", "game": name, "layers": layers, "seed": seed, "averages": averages}
                print_row(**row, cpu_averages=cpu, seconds=seconds)


def sweep(gpu, tiny):
    """The average of the last quarter of the first games, by how many are at once and how these begin."""
    games_, counts = (40, (4,)) if tiny else (20_000, (64, 128, 256, 512, 1024, 2048))
    for name, tuples in NETWORKS:
        cpu = Cpu(name, "2x4" if tiny and name == "2048" else tuples)
        for count in counts:
            for ramp in (0, 4, 16, 64):
                learner = gpu_learner(gpu, cpu, count, ramp=ramp)
                found, seconds = played(learner, games_, gpu_learning.BACKWARD)
                print_row(
                    what="sweep",
                    game=name,
                    games_at_once=count,
                    ramp=ramp,
                    last=float(found["score"][-games_ // 4 :].mean()),
                    seconds=seconds,
                    moves_per_second=learner.moves / seconds,
                )
                del learner


def record_cpu(count=20_000, seeds=range(1, 5)):
    """Write the CPU's curves."""
    found = {}
    for name, _ in NETWORKS:
        curves = [(seed, *curve_of(name, seed, count)) for seed in seeds]
        found[name] = [{"seed": seed, "averages": each, "evaluation": ended} for seed, each, ended, _ in curves]
        for layers, (games_, line) in SEARCHED.items():
            curves = [(seed, curve_of(name, seed, games_, None, line, 0, layers=layers)[0]) for seed in seeds]
            found[f"{name}, {layers} layers"] = [{"seed": seed, "averages": each} for seed, each in curves]
    CURVES.write_text(json.dumps(found) + "\n")


PARTS = {each.__name__: each for each in (check, update, training, layers, sweep, curve)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--record-cpu", action="store_true")
    parser.add_argument("--parts", default=",".join(PARTS))
    args = parser.parse_args()
    if args.record_cpu:
        record_cpu()
        return
    if args.emulated:
        from distsearch.testing.emulated_gpu import EmulatedGpu

        gpu = EmulatedGpu(SEED)
    else:
        from distsearch.gpu.device import Gpu

        gpu = Gpu()
    print_row(what="gpu", name=gpu.name, architecture=gpu.architecture)
    for part in args.parts.split(","):
        began = time.perf_counter()
        PARTS[part](gpu, args.emulated)
        print_row(what="took", part=part, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
