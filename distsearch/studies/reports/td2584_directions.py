"""What the report on 2584 says of its curves and tables, and whether it holds here: a function for each exhibit."""

import math
import statistics

from ...api.intervals import mean_interval, share_interval
from .directions import HELD, MISSING, NOT_HELD, OPEN, Direction, above, alike, every, larger, rising, some
from .tables import percent, shown
from .td2584_tables import AVERAGE, BEST, LEARNING_TIMES, STAGES, TOTALS, WINS, WON, named, points_of, training_rates

_TREE_TIMES = 6.07
_ALIKE = 0.05  # averages within so much of one another are alike
((_THREADS, _TIMES),) = LEARNING_TIMES.items()


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
        _by_time(found),
    ]


def _by_time(found):
    """Which of two ways to learn with as many layers is better after the time that the faster one had in all."""
    parts = []
    for layers in found.points("layers", part="curve"):
        curves = [row["result"] for row in found.rows(part="curve", layers=layers)]
        if len(curves) < 2:
            continue
        fast, slow = sorted(curves, key=lambda each: each["seconds"] / each["games"])[:2]
        end = min(fast["seconds"], slow["seconds"])
        more, less = (_at(each["curve"], end) for each in (fast, slow))
        if more and less:
            held = HELD if more[1] > less[2] else NOT_HELD if more[2] < less[1] else OPEN
            text = f"{_interval(more)} and {_interval(less)} after {shown(end)} s"
            parts.append((named(layers), Direction("6.9", "", text, held)))
    return every("6.9", "the faster a game is learnt from, the better the average at equal time", parts)


def _at(curve, seconds):
    """Return (average, low, high) of the last line of a curve until then, None where there is none."""
    points = [point for line, point in zip(curve, points_of(curve), strict=True) if line["seconds"] <= seconds]
    return points[-1] if points else None


def _interval(point):
    return f"{shown(point[0])} ({shown(point[1])} to {shown(point[2])})"


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
        stated = f"3 layers' best game has {BEST:,} points, of games whose number is not known here (or more; {on})"
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
            most = max((ranks - 1 for ranks in found.points("ranks", **at)), default=0)
            if most > 2:
                times = [found.values("seconds", **at, ranks=workers + 1) for workers in (most, most // 2)]
                slower.append(
                    (f"{named(layers)}, {stage}, {most} and {most // 2} workers", larger("6.3", "", *times, "s"))
                )
    stated = f"the best speedup at 3 layers is {_TREE_TIMES} times"
    found_best = Direction("6.3", stated, "", MISSING)
    if any(workers > _TREE_TIMES for workers, _ in best):
        most = max(speedup for _, speedup in best)
        held = HELD if most >= _TREE_TIMES else NOT_HELD
        found_best = Direction("6.3", f"{stated} (or more)", f"{most:.2f} times, of medians", held)
    stated = "for some settings 32 threads are slower than 16 (here: the most than half as many)"
    return [every("6.3", "efficiency falls with threads", parts), some("6.3", stated, slower), found_best]


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
            names = f"{named(layers)}, 1 and {ranks[-1]} ranks"
            same.append((names, _alike("6.7", *(found.rows(**at, ranks=n) for n in (ranks[0], ranks[-1])))))
        if layers > 1 and len(ranks) > 1:
            fast.append((named(layers), _efficient(found, at, ranks)))
    stated = f"{_THREADS} threads are {_TIMES} times as fast as one, {percent(_TIMES / _THREADS)} each (or more)"
    return [
        every("6.7", f"any number of threads learns alike (averages within {percent(_ALIKE)})", same),
        every("6.7", stated, fast),
    ]


def _efficient(found, at, ranks):
    """Whether each of many ranks is as fast as one of the report's 32; of fewer it can only be ruled out."""
    most = min(ranks[-1], _THREADS) if _THREADS in ranks else ranks[-1]
    one, many = (found.median("moves_per_second", **at, ranks=n) for n in (1, most))
    if None in (one, many):
        return Direction("6.7", "", "", MISSING)
    each = many / one / most
    held = NOT_HELD if each < _TIMES / _THREADS else HELD if most >= _THREADS else OPEN
    return Direction("6.7", "", f"{many / one:.1f} times by {most} ranks, {percent(each)} each", held)


def _alike(place, one, other):
    """Whether the last games of two ways to learn have the same average; rows of each."""
    ends = [_end(rows) for rows in (one, other)]
    return Direction(place, "", "", MISSING) if None in ends else alike(place, "", *ends, _ALIKE)


def _end(rows):
    """Return (mean, half its 95% interval) of the last games of some runs: by the runs, or by the games of one."""
    points = [points_of(row["result"]["curve"])[-1] for row in rows if row["result"].get("curve")]
    if not points:
        return None
    if len(points) == 1:
        return points[0][0], points[0][0] - points[0][1]
    averages = [average for average, _, _ in points]
    mean = statistics.fmean(averages)
    return mean, mean - mean_interval(averages)[0]


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
    rates = training_rates(found)

    def times(layers, way, other, stated, theirs):
        of = rates.get(layers, {})
        if way not in of or other not in of:
            return Direction("6.9", stated, "", MISSING)
        ours = of[way] / of[other]
        return Direction("6.9", stated, f"{ours:.3g} times", HELD if ours >= theirs else NOT_HELD)

    by_three = TOTALS[3]["2 GPUs"]
    return [
        times(2, "1 GPU", "1 core", "2 layers: a GPU trains 12.3 times as fast as a thread (or more)", 24 / 1.949),
        times(2, "2 GPUs", "32 cores", "2 layers: two GPUs train as fast as 32 threads (or faster)", 1.0),
        times(3, "1 GPU", "1 core", "3 layers: a GPU trains 32.25 times as fast as a thread (or more)", 32.25),
        times(3, "2 GPUs", "1 core", f"3 layers: two GPUs, {by_three} times as fast as a thread (or more)", by_three),
        times(3, "2 GPUs", "32 cores", "3 layers: two GPUs, 2.5 times as fast as 32 threads (or more)", 2.5),
    ]
