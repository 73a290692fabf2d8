"""What the report on 2584 says of its curves and tables, and whether it holds here: a function for each exhibit."""

import math
import statistics

from ...api.intervals import mean_interval, share_interval
from .directions import (
    HELD,
    MISSING,
    NOT_HELD,
    OPEN,
    Direction,
    Estimate,
    above,
    alike,
    every,
    larger,
    larger_mean,
    rising,
    some,
)
from .tables import percent, shown
from .td2584_tables import AVERAGE, BEST, LEARNING_TIMES, STAGES, TOTALS, WINS, WON, named, training_rates

_TREE_TIMES = 6.07
_ALIKE = 0.05  # averages within so much of one another are alike
((_THREADS, _TIMES),) = LEARNING_TIMES.items()


def curves(found):
    """Order of layers at the end of training, and early ones of a deep search against late ones of a shallow one."""
    device = "GPU" if found.rows(part="curve", on="GPU") else "CPU"
    ends, begins = {}, {}
    for layers in found.points("layers", part="curve", on=device):
        curve = found.rows(part="curve", on=device, layers=layers)[0]["result"]["curve"]
        begins[layers], ends[layers] = _estimate(curve, 0), _estimate(curve, len(curve) - 1)

    def over(stated, more, less):
        return Direction("6.1", stated, "", MISSING) if None in (more, less) else larger_mean("6.1", stated, more, less)

    steps = [
        (f"{named(more)} and {named(less)}", over("", ends.get(more), ends.get(less)))
        for more, less in ((1, 0), (2, 1), (3, 2))
    ]
    order = every("6.1", f"more layers learn to play better: 3, 2, 1, 0 ({device})", steps)
    return [
        order,
        over("2 layers after few games are better than 0 after all", begins.get(2), ends.get(0)),
        over("3 layers after few games are better than 1 after all", begins.get(3), ends.get(1)),
        _by_time(found),
    ]


def _estimate(curve, index):
    """Return the Estimate of the average of a line of a learning curve."""
    line, before = curve[index], curve[index - 1]["games"] if index else 0
    return Estimate(line["average"], line["average_error"], line["games"] - before - 1)


def _by_time(found):
    """Whether the faster of two ways to learn, with as many layers, is better after the same time."""
    parts = []
    for layers in found.points("layers", part="curve"):
        curves = [row["result"]["curve"] for row in found.rows(part="curve", layers=layers)]
        curves = [curve for curve in curves if all("seconds" in line for line in curve)]
        if len(curves) > 1:
            fast, slow = sorted(curves, key=lambda curve: curve[-1]["seconds"] / curve[-1]["games"])[:2]
            parts.append((named(layers), _at_equal_time(fast, slow)))
    return every("6.9", "the faster a game is learnt from, the better the average at equal time", parts)


def _at_equal_time(fast, slow):
    """Compare two learning curves at the last point of the slow one before both have ended."""
    end = min(curve[-1]["seconds"] for curve in (fast, slow))
    at = max((line["seconds"] for line in slow if line["seconds"] <= end), default=0.0)
    last = [sum(line["seconds"] <= at for line in curve) - 1 for curve in (fast, slow)]
    if min(last) < 0:
        return Direction("6.9", "", "", MISSING)
    estimates = (_estimate(curve, index) for curve, index in zip((fast, slow), last, strict=True))
    return larger_mean("6.9", "", *estimates, f" after {shown(at)} s")


def played(found):
    """The best agent's average, wins and best game, with 3 layers."""
    directions = []
    for row in found.rows(part="play", layers=3):
        on, scores, largest = row["point"]["on"], row["result"]["scores"], row["result"]["largest"]
        low, high = mean_interval(scores) if len(scores) > 1 else (-math.inf, math.inf)
        text = f"{shown(statistics.fmean(scores))} ({shown(low)} to {shown(high)})"
        directions.append(
            above("abstract", f"3 layers average more than {AVERAGE:,} ({on})", (low, high), AVERAGE, text)
        )
        won = sum(each >= WON for each in largest)
        low, high = share_interval(won, len(largest))
        stated = f"3 layers make {WON} in more than {100 * WINS:.0f}% of games ({on})"
        text = f"{won} of {len(largest)} ({100 * low:.0f} to {100 * high:.0f}%)"
        directions.append(above("abstract", stated, (low, high), WINS, text))
        held = HELD if max(scores) >= BEST else OPEN  # in more games there may be a better one
        stated = f"the best game with 3 layers has {BEST:,} points or more ({on})"
        directions.append(Direction("abstract", stated, f"{max(scores):,} of {len(scores)} games", held))
    return directions


def _seconds(found, layers, stage, **how):
    at = {"part": "decision", "layers": layers, "class": stage, **how}
    if how["on"] == "GPU":
        at["boards"] = 1
    return found.values("seconds", **at)


def decisions(found):
    """Time by layers and classes, and the GPU, one board at a time, against a core and against the best tree."""
    layers = found.points("layers", part="decision")
    times = {stage: [(f"{n}", _seconds(found, n, stage, on="CPU")) for n in layers] for stage in STAGES}
    grows = [(stage, rising("6.2", "", series)) for stage, series in times.items()]
    shares = [
        (
            f"{n}",
            [
                a / b
                for a, b in zip(*(_seconds(found, n, stage, on="CPU") for stage in ("starter", "late")), strict=False)
            ],
        )
        for n in layers
    ]
    one = "merged"
    directions = [
        every("6.2", "time grows with layers", grows),
        rising("6.2", "starter ÷ late grows with layers", shares),
        _gpu(found, 3, one, "with 3 layers the GPU is faster than a core, one board at a time", True),
        _gpu(found, 1, one, "with 1 layer it is slower", False),
    ]
    trees = {layers: _best_tree(found, layers) for layers in (1, 3)}
    gpu = {layers: {s: _seconds(found, layers, s, on="GPU", method=one) for s in STAGES} for layers in trees}
    slower = [(stage, larger("6.5", "", gpu[1][stage], [best], "s")) for stage, best in trees[1].items()]
    faster = [(stage, larger("6.5", "", [best], gpu[3][stage], "s")) for stage, best in trees[3].items()]
    if max(found.points("ranks", part="tree", layers=3), default=0) <= _TREE_TIMES:
        faster = []
    return [
        *directions,
        every("6.5", "with 1 layer it is slower than the best tree search on cores, too", slower),
        every("6.5", "with 3 layers it is faster than the best tree search on cores (5.31 times)", faster),
    ]


def _gpu(found, layers, method, stated, faster):
    parts = []
    for stage in STAGES:
        core, gpu = _seconds(found, layers, stage, on="CPU"), _seconds(found, layers, stage, on="GPU", method=method)
        parts.append((stage, larger("6.5", "", core, gpu, "s") if faster else larger("6.5", "", gpu, core, "s")))
    return every("6.5", stated, parts)


def _best_tree(found, layers):
    """Return {class: seconds a board of the fastest number of ranks}."""
    best = {}
    for stage in STAGES:
        at = {"part": "tree", "layers": layers, "class": stage}
        for ranks in found.points("ranks", **at):
            (count,) = found.points("boards", **at)
            best[stage] = min(best.get(stage, float("inf")), found.median("seconds", **at, ranks=ranks) / count)
    return best


def methods(found):
    """One layer: naive is faster; three: multi-level is, on boards of the beginning and of the end."""

    def pair(layers, stage, slow, fast):
        times = (_seconds(found, layers, stage, on="GPU", method=method) for method in (slow, fast))
        return f"{stage}, {named(layers)}", larger("6.4", "", *times, "s")

    return [
        every("6.4", "1 layer: naive is faster", [pair(1, stage, "multilevel", "naive") for stage in STAGES]),
        every(
            "6.4",
            "3 layers: multi-level is faster on starter and late boards",
            [pair(3, stage, "naive", "multilevel") for stage in ("starter", "late")],
        ),
    ]


def trees(found):
    """Efficiency by threads, whether more threads are slower anywhere, and the best speedup at 3 layers."""
    parts, best, slower = [], [], []
    for layers in found.points("layers", part="tree"):
        for stage in STAGES:
            at = {"part": "tree", "layers": layers, "class": stage}
            one = found.values("seconds", **at, ranks=1)
            series = []
            for ranks in found.points("ranks", **at):
                taken = found.values("seconds", **at, ranks=ranks)
                if ranks > 1 and one:
                    speedups = [statistics.median(one) / each for each in taken]
                    series.append((f"{ranks - 1}", [each / (ranks - 1) for each in speedups]))
                    if layers == 3:
                        best.append((ranks - 1, statistics.median(speedups)))
            parts.append((f"{named(layers)}, {stage}, workers", rising("6.3", "", series, falling=True)))
            slower += _slower_with_more(found, at, f"{named(layers)}, {stage}")
    stated = f"the best speedup at 3 layers is {_TREE_TIMES} times"
    found_best = Direction("6.3", stated, "", MISSING)
    if any(workers > _TREE_TIMES for workers, _ in best):
        most = max(speedup for _, speedup in best)
        held = HELD if most >= _TREE_TIMES else NOT_HELD
        found_best = Direction("6.3", f"{stated} (or more)", f"{most:.2f} times, of medians", held)
    stated = "for some settings 32 threads are slower than 16"
    return [every("6.3", "efficiency falls with threads", parts), some("6.3", stated, slower), found_best]


def _slower_with_more(found, at, setting):
    """Return [(name, Direction)] of 32 workers against 16, or of the most that are twice as many as others."""
    workers = {ranks - 1 for ranks in found.points("ranks", **at)}
    doubled = [n for n in workers if n > 2 and n % 2 == 0 and n // 2 in workers]
    if not doubled:
        return []
    most = 32 if 32 in doubled else max(doubled)
    times = [found.values("seconds", **at, ranks=n + 1) for n in (most, most // 2)]
    compared = larger("6.3", "", *times, "s")
    if min(map(len, times)) < 2 or most < 32 and compared.held == NOT_HELD:
        compared = compared._replace(held=OPEN)  # one measurement of each says little, and fewer workers are not 32
    return [(f"{setting}, {most} and {most // 2} workers", compared)]


def updates(found):
    """The update on a GPU against a core's."""
    seconds = found.values("seconds", part="update", on="CPU"), found.values("steps.seconds", part="update", on="GPU")
    return [larger("6.6", "a thread a step on a GPU is faster than one core", *seconds, "s")]


def learning(found):
    """Quality and speed of games that learn without locks."""
    same, fast = [], []
    for layers in found.points("layers", part="learning"):
        at = {"part": "learning", "layers": layers}
        ranks = found.points("ranks", **at)
        if len(ranks) > 1:
            names = f"{named(layers)}, {ranks[0]} and {ranks[-1]} ranks"
            same.append((names, _alike("6.7", *(found.rows(**at, ranks=n) for n in (ranks[0], ranks[-1])))))
            if layers > 1:
                fast.append((named(layers), _times_of_threads(found, at, ranks[-1])))
    return [
        every("6.7", f"any number of threads learns alike (averages within {percent(_ALIKE)})", same),
        every("6.7", f"{_THREADS} threads are {_TIMES} times as fast as one (or more)", fast),
    ]


def _times_of_threads(found, at, most):
    """Whether 32 ranks are as fast as the report's 32 threads; open where there are fewer."""
    one, many = (found.values("moves_per_second", **at, ranks=n) for n in (1, min(most, _THREADS)))
    if not one or not many:
        return Direction("6.7", "", "", MISSING)
    if most >= _THREADS:
        return _times_as_fast("6.7", "", many, one, _TIMES)
    times = statistics.median(many) / statistics.median(one)
    return Direction("6.7", "", f"{times:.1f} times by {most} ranks", OPEN)


def _times_as_fast(place, stated, more, less, times):
    """Whether rates ``more`` are at least ``times`` times rates ``less``."""
    if not more or not less:
        return Direction(place, stated, "", MISSING)
    compared = larger(place, stated, more, [times * each for each in less], "moves/s")
    ours = f"{statistics.median(more) / statistics.median(less):.3g} times"
    return compared._replace(ours=f"{ours}: {compared.ours} for {times:.3g} times")


def _alike(place, one, other):
    """Whether the last games of two ways to learn have the same average; rows of each."""
    ends = [_end(rows) for rows in (one, other)]
    return Direction(place, "", "", MISSING) if None in ends else alike(place, "", *ends, _ALIKE)


def _end(rows):
    """Return the Estimate of the last games of some runs: by the runs, or by the games of one."""
    curves = [row["result"]["curve"] for row in rows if row["result"].get("curve")]
    if len(curves) > 1:
        return Estimate.of([curve[-1]["average"] for curve in curves])
    return _estimate(curves[0], len(curves[0]) - 1) if curves else None


def gpus(found):
    """Two GPUs against one: quality, and speed with a search."""
    same, fast = [], []
    for layers in found.points("layers", part="gpus"):
        at = {"part": "gpus", "what": f"learning, {layers} layers, exchange games"}
        same.append((f"{named(layers)}, 1 and 2 GPUs", _alike("6.8", *(found.rows(**at, gpus=n) for n in (1, 2)))))
        if layers > 1:
            rates = [found.values("moves_per_second", **at, gpus=n) for n in (2, 1)]
            fast.append((named(layers), larger("6.8", "", *rates, "moves/s")))
    return [
        every("6.8", f"two GPUs learn as well as one (averages within {percent(_ALIKE)})", same),
        every("6.8", "with a search two GPUs are faster than one (1.949, 1.945 times)", fast),
    ]


def totals(found):
    """Training as a whole, by GPUs, against one core and many."""
    rates = {(layers, way): values for layers, way, _, values in training_rates(found)}

    def times(layers, way, other, theirs):
        stated = f"{named(layers)}: {way} {theirs:.3g} times as fast as {other} (or more)"
        return _times_as_fast("6.9", stated, rates.get((layers, way)), rates.get((layers, other)), theirs)

    by_two, by_three = TOTALS[2], TOTALS[3]
    return [
        times(2, "1 GPU", "1 core", by_two["1 GPU"]),
        times(2, "2 GPUs", "32 cores", by_two["2 GPUs"] / by_two["32 cores"]),
        times(3, "1 GPU", "1 core", by_three["1 GPU"]),
        times(3, "2 GPUs", "1 core", by_three["2 GPUs"]),
        times(3, "2 GPUs", "32 cores", by_three["2 GPUs"] / by_three["32 cores"]),
    ]
