"""What the report on 2584 says of its curves and tables, and whether it holds here: a function for each exhibit."""

import math
import statistics

from ...api.intervals import mean_interval
from .directions import HELD, MISSING, NOT_HELD, OPEN, Direction, every, larger, rising
from .tables import percent, shown
from .td2584_tables import STAGES, named, points_of

_TREE_TIMES, _LEARNING_TIMES, _AVERAGE = 6.07, 24, 66_300
_ALIKE = 0.05  # averages within so much of one another are alike


def curves(found):
    """Order of layers at the end of training, and early ones of a deep search against late ones of a shallow one."""
    device = "GPU" if found.rows(part="curve", on="GPU") else "CPU"
    ends, begins = {}, {}
    for layers in found.points("layers", part="curve", on=device):
        points = points_of(found.rows(part="curve", on=device, layers=layers)[0]["result"]["curve"])
        begins[layers], ends[layers] = points[0], points[-1]

    def over(stated, more, less):
        if more is None or less is None:
            return Direction("6.1", stated, "", MISSING)
        held = HELD if more[1] > less[2] else NOT_HELD if more[2] < less[1] else OPEN
        return Direction("6.1", stated, f"{_interval(more)} and {_interval(less)}", held)

    steps = [
        (f"{named(more)} and {named(less)}", over("", ends.get(more), ends.get(less)))
        for more, less in ((1, 0), (2, 1), (3, 2))
    ]
    order = every("6.1", f"more layers learn to play better: 3, 2, 1, 0 ({device})", steps)
    return [
        order,
        over("2 layers after few games are better than 0 after all", begins.get(2), ends.get(0)),
        over("3 layers after few games are better than 1 after all", begins.get(3), ends.get(1)),
    ]


def _interval(point):
    return f"{shown(point[0])} ({shown(point[1])} to {shown(point[2])})"


def played(found):
    """The best agent's average, with 3 layers."""
    directions = []
    for row in found.rows(part="play", layers=3):
        on, scores = row["point"]["on"], row["result"]["scores"]
        stated = f"3 layers average more than 66,300 ({on})"
        low, high = mean_interval(scores) if len(scores) > 1 else (-math.inf, math.inf)
        held = HELD if low > _AVERAGE else NOT_HELD if high < _AVERAGE else OPEN
        text = f"{shown(statistics.fmean(scores))} ({shown(low)} to {shown(high)})"
        directions.append(Direction("abstract", stated, text, held))
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
    best = _best_tree(found, 3)
    parts = [
        (stage, larger("6.5", "", [best[stage]], _seconds(found, 3, stage, on="GPU", method=one), "s"))
        for stage in STAGES
        if stage in best and max(found.points("ranks", part="tree", layers=3)) > _TREE_TIMES
    ]
    return [
        *directions,
        every("6.5", "with 3 layers it is faster than the best tree search on cores (5.31 times)", parts),
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
    """Efficiency by threads, and the best speedup at 3 layers."""
    parts, best = [], []
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
    stated = f"the best speedup at 3 layers is {_TREE_TIMES} times"
    found_best = Direction("6.3", stated, "", MISSING)
    if any(workers > _TREE_TIMES for workers, _ in best):
        most = max(speedup for _, speedup in best)
        held = HELD if most >= _TREE_TIMES else NOT_HELD
        found_best = Direction("6.3", f"{stated} (or more)", f"{most:.2f} times, of medians", held)
    return [every("6.3", "efficiency falls with threads", parts), found_best]


def updates(found):
    """The update on a GPU against a core's."""
    seconds = found.values("seconds", part="update", on="CPU"), found.values("steps.seconds", part="update", on="GPU")
    return [larger("6.6", "a thread a step on a GPU is faster than one core", *seconds, "s")]


def learning(found):
    """Quality and speed of games that learn without locks."""
    alike, fast = [], []
    for layers in found.points("layers", part="learning"):
        at = {"part": "learning", "layers": layers}
        ranks = found.points("ranks", **at)
        one, most = (found.values("average", **at, ranks=n) for n in (ranks[0], ranks[-1]))
        if len(ranks) > 1:
            alike.append((named(layers), _alike("6.7", one, most, f"1 and {ranks[-1]} ranks")))
        if layers > 1:
            rates = [found.median("moves_per_second", **at, ranks=n) for n in (ranks[0], 32)]
            if None not in rates:
                times = rates[1] / rates[0]
                held = HELD if times >= _LEARNING_TIMES else NOT_HELD
                fast.append((named(layers), Direction("6.7", "", f"{times:.1f} times", held)))
    return [
        every("6.7", f"any number of threads learns alike (averages within {percent(_ALIKE)})", alike),
        every("6.7", f"32 threads are {_LEARNING_TIMES} times as fast as one (or more)", fast),
    ]


def _alike(place, one, other, named):
    if not one or not other:
        return Direction(place, "", "", MISSING)
    means = statistics.fmean(one), statistics.fmean(other)
    text = f"{named}: {shown(means[0])} and {shown(means[1])}"
    if abs(means[1] / means[0] - 1) <= _ALIKE:
        return Direction(place, "", text, HELD)
    apart = larger(place, "", max(one, other, key=statistics.fmean), min(one, other, key=statistics.fmean))
    return Direction(place, "", text, OPEN if apart.held == OPEN else NOT_HELD)


def gpus(found):
    """Two GPUs against one: quality, and speed with a search."""
    alike, fast = [], []
    for layers in found.points("layers", part="gpus"):
        at = {"part": "gpus", "what": f"learning, {layers} layers, exchange games"}
        one, two = (found.values("average", **at, gpus=n) for n in (1, 2))
        alike.append((named(layers), _alike("6.8", one, two, "1 and 2 GPUs")))
        if layers > 1:
            rates = [found.values("moves_per_second", **at, gpus=n) for n in (2, 1)]
            fast.append((named(layers), larger("6.8", "", *rates, "moves/s")))
    return [
        every("6.8", f"two GPUs learn as well as one (averages within {percent(_ALIKE)})", alike),
        every("6.8", "with a search two GPUs are faster than one (1.949, 1.945 times)", fast),
    ]
