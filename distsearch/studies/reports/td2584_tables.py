"""What the study of the report on 2584 shows: its tables and figures, and what is wrong with what was measured.

Each function of a name without an underscore returns the sections of an exhibit, of MeasuredRows.
"""

import statistics

from ...api.intervals import half_interval, mean_interval
from ...api.sample import CLASSES
from .tables import UNKNOWN, Figure, Table, compared, heads, percent, ratio

STAGES = tuple(CLASSES)  # classes of boards
_METHODS = "naive", "multilevel", "merged"
WON = 2584
# what of the report's figures is known here
AVERAGE, BEST, WINS = 66_300, 212_741, 0.86  # of play with 3 layers
_GPU_TIMES = {1: 1 / 3, 3: 32.25}  # a GPU compared with one thread, one board at a time, by layers; that of 1: about
_UPDATE = {"CPU": 1197.0, "steps": 95.80634}  # ms: 1,000 games of 1,000 steps
_TREE_TIMES = {3: 32.25 / 5.31}  # the best of many threads compared with one, by layers; worked out
LEARNING_TIMES = {32: 24}  # by threads; of 2 or 3 layers
_GPU_TIMES_OF_TWO = {2: 1.949, 3: 1.945}  # two compared with one, training, by layers
TOTALS = {  # training by layers: 32 threads, one GPU and two, each over a thread; worked out
    2: {"32 cores": 24, "1 GPU": 24 / 1.949, "2 GPUs": 24},
    3: {"32 cores": 62.7 / 2.5, "1 GPU": 32.25, "2 GPUs": 62.7},
}
_DIGITS = 1e-9  # of scores that several ranks add up in another order
_OF_CURVES = (
    "Each point is the games of a tenth of the training, or of a half where these are few, played as it learns, and "
    f"its 95% interval by Student's distribution, of the first run. Theirs are {UNKNOWN}."
)


def points_of(curve):
    """Return (average, low, high) of the lines of a learning curve, with 95% intervals by Student's distribution."""
    found, before = [], 0
    for line in curve:
        games, before = line["games"] - before, line["games"]
        half = half_interval(line["average_error"], games)
        found.append((line["average"], line["average"] - half, line["average"] + half))
    return found


def curves(found, study_size):
    series, times, rows = {}, {}, []
    for layers in found.points("layers", part="curve"):
        for row in found.rows(part="curve", layers=layers):
            curve = row["result"]["curve"]
            on = row["point"].get("on", "CPU")
            for each, (_, low, high) in zip(curve, points_of(curve), strict=True):
                point = each["games"], each["average"], low, high
                name = f"{named(layers)}, {on}"
                series.setdefault(name, []).append(point)
                if "seconds" in each:
                    times.setdefault(name, []).append((each["seconds"], *point[1:]))
            last, result = curve[-1], row["result"]
            games, *took = (result[name] for name in ("games", "seconds", "moves_per_second", "ranks"))
            rows.append((layers, on, games, last["average"], last["maximum"], percent(last["win_rate"]), *took))
    note = (
        "Each point is the games of a tenth of the training, or of a half where these are few, played as it learns, "
        "and its 95% interval by Student's distribution. The same layers choose moves there. On a GPU many games learn "
        "at the same time, so each point is of weights that change while they are played. Theirs are "
        f"{UNKNOWN}."
    )
    last = f"average of the last ones | best of them | {WON} tile in them"
    columns = heads(f"layers | on | games | {last} | seconds | moves/s | ranks")
    return (
        Figure("Average score by games learnt from, 0 to 3 layers", "games", "average score", series, note=note),
        Figure("Average score by time of learning, 0 to 3 layers", "seconds", "average score", times, note=note),
        Table("Learning with 0 to 3 layers", columns, rows, note),
    )


def played(found, study_size):
    rows = []
    for layers in found.points("layers", part="play"):
        for row in found.rows(part="play", layers=layers):
            result, games = row["result"], row["point"]["games"]
            scores, won = result["scores"], sum(each >= WON for each in result["largest"]) / games
            average, best, wins = (AVERAGE, BEST, percent(WINS)) if layers == 3 else 3 * (UNKNOWN,)
            figures = sum(scores) / games, average, max(scores), best, percent(won), wins
            rows.append((layers, row["point"]["on"], games, *figures, result["moves"] / result["seconds"]))
    columns = heads(f"layers | played by | games | average | theirs | best | theirs | {WON} tile | theirs | moves/s")
    note = (
        "The network that comes with the package, which was trained for longer than a study takes. Of few games the "
        "average is a rough one: its standard error is half of it for one game."
    )
    return [Table("Play with 0 to 3 layers", columns, rows, note)]


def _core(found, stage, layers):
    return found.median("seconds", part="decision", on="CPU", layers=layers, **{"class": stage})


def _gpu(found, stage, layers, method, single):
    """Return seconds a board of one board, or of the largest number of boards together."""
    at = {"part": "decision", "on": "GPU", "layers": layers, "method": method, "class": stage}
    counts = found.points("boards", **at)
    return found.median("seconds", **at, boards=min(counts) if single else max(counts)) if counts else None


def decisions(found, study_size):
    rows, series = [], {}
    for stage in STAGES:
        for layers in found.points("layers", part="decision"):
            core = _core(found, stage, layers)
            one, many = (_gpu(found, stage, layers, "merged", single) for single in (True, False))
            times, alike = ratio(core, many), ratio(core, one)
            known = compared(alike, _GPU_TIMES.get(layers))[1:]
            rows.append((stage, layers, _us(core), _us(one), alike, *known, _us(many), times))
            for name, value in (("one board", ratio(core, one)), ("many boards", times)):
                if value is not None:
                    series.setdefault(f"{stage}, {name}", []).append((layers, value))
    columns = heads(
        "class | layers | CPU, µs | GPU, one board, µs | CPU ÷ GPU | theirs | ours ÷ theirs | "
        "GPU, many boards, µs a board | CPU ÷ GPU, many"
    )
    note = (
        "A decision; starter: the first 20th of a game, normal: its middle fifth, late: its last 20th. CPU: CPU time "
        "of one core, with its table of equal boards. GPU: wall time, transfers included, by the method merged. Theirs "
        "is one board at a time, 32.25 times a thread at 3 layers, of which class is not known here, and about three "
        "times slower at 1."
    )
    return (
        Table("Board classes, and the GPU's speedup by layers", columns, rows, note),
        Figure("The GPU's speedup by layers", "layers", "times one core", series, note=note),
    )


def named(layers):
    """Return a number of layers as words."""
    return f"{layers} layer{'s' * (layers != 1)}"


def _us(seconds):
    return None if seconds is None else 1e6 * seconds


def methods(found, study_size):
    rows = []
    for stage in STAGES:
        for layers in found.points("layers", part="decision", on="GPU"):
            for single in (True, False):
                times = [_us(_gpu(found, stage, layers, method, single)) for method in _METHODS]
                ratios = ratio(times[0], times[1]), ratio(times[1], times[2])
                rows.append((stage, layers, "one" if single else "many", *times, *ratios))
    methods = (f"{method}, µs" for method in _METHODS)
    columns = "class", "layers", "boards", *methods, "naive ÷ multilevel", "multilevel ÷ merged"
    note = f"A board. Many: as many as fill a GPU, fewer where a method needs more memory. Theirs are {UNKNOWN}."
    return (Table("Naive against multilevel", columns, rows, note),)


def trees(found, study_size):
    rows, speedups, efficiencies = [], {}, {}
    for layers in found.points("layers", part="tree"):
        for stage in STAGES:
            at = {"part": "tree", "layers": layers, "class": stage}
            one = found.median("seconds", **at, ranks=1)
            for ranks in found.points("ranks", **at):
                seconds, workers = found.median("seconds", **at, ranks=ranks), max(1, ranks - 1)
                (count,) = found.points("boards", **at)
                speedup = ratio(one, seconds)
                each = ratio(speedup, workers)
                theirs = _TREE_TIMES.get(layers)
                rows.append((layers, stage, ranks, workers, 1e3 * seconds / count, speedup, percent(each), theirs))
                if ranks > 1 and speedup is not None:
                    name = f"{named(layers)}, {stage}"
                    speedups.setdefault(name, []).append((workers, speedup))
                    efficiencies.setdefault(name, []).append((workers, each))
    columns = heads(
        "layers | class | ranks | workers | ms a board | speedup | efficiency a worker | theirs, worked out"
    )
    note = (
        "One board's tree shared out by the policy split, wall time, board after board; a rank more than the workers "
        "is the master. A tree to 3 layers takes some milliseconds, to 4 some tens of them, and a message and its "
        f"answer some tenths of one. Theirs are {UNKNOWN}."
    )
    return (
        Table("CPU tree-parallel search", columns, rows, note),
        *_splits(found),
        Figure("Speedup of CPU tree-parallel search", "workers", "speedup", speedups, True, note),
        Figure("Efficiency of CPU tree-parallel search", "workers", "efficiency", efficiencies, note=note, share=True),
    )


def _splits(found):
    """How far down a tree is split, as the report varies the level below which it has tasks."""
    series = {}
    for factor in found.points("load_factor", part="split"):
        for ranks in found.points("ranks", part="split", load_factor=factor):
            at = {"layers": 3, "class": "normal"}
            one = found.median("seconds", part="tree", ranks=1, **at)
            taken = found.values("seconds", part="split", ranks=ranks, load_factor=factor)
            if one:
                speedups = sorted(one / each for each in taken)
                middle = one / statistics.median(taken)
                name = f"{factor} subtrees a worker"
                series.setdefault(name, []).append((max(1, ranks - 1), middle, speedups[0], speedups[-1]))
    title = "Speedup of CPU tree-parallel search by the size of the pool, 3 layers, normal boards"
    note = "More subtrees a worker: the tree is split further down. The report varies the level of its tasks."
    return [Figure(title, "workers", "speedup", series, True, note)]


def _curve(rows):
    """Return (games, average, low, high) of each line of the first run's learning curve."""
    curve = rows[0]["result"].get("curve", []) if rows else []
    return [(line["games"], *point) for line, point in zip(curve, points_of(curve), strict=True)]


def learning(found, study_size):
    rows, series, curves = [], {}, {}
    for layers in found.points("layers", part="learning"):
        at = {"part": "learning", "layers": layers}
        one = found.median("moves_per_second", **at, ranks=1)
        for ranks in found.points("ranks", **at):
            rate = found.median("moves_per_second", **at, ranks=ranks)
            speedup = ratio(rate, one)
            theirs = LEARNING_TIMES.get(ranks) if layers > 1 else None
            rows.append((layers, ranks, rate, found.median("average", **at, ranks=ranks), *compared(speedup, theirs)))
            name = f"{named(layers)}, {ranks} rank{'s' * (ranks > 1)}"
            curves[name] = _curve(found.rows(**at, ranks=ranks))
            if speedup is not None:
                series.setdefault(named(layers), []).append((ranks, speedup))
    columns = "layers", "ranks", "moves/s", "average score", "speedup", "theirs", "ours ÷ theirs"
    note = (
        "All ranks play and learn, without locks, and share one copy of the weights. Theirs had 24 times with 32 "
        "threads, of 2 or 3 layers, with which it trains. docs/learning.md has 31 ranks, and copies of the weights."
    )
    collided = [
        (ranks, percent(found.median("collisions", part="collisions", ranks=ranks)), "0.1%")
        for ranks in found.points("ranks", part="collisions")
    ]
    counted = (
        "Weights that another rank had changed between this rank's reading and writing, of all that it wrote, without "
        "a search. Theirs is an estimate: of 1,000 to 2,000 steps a game and 32 threads on 32⁴ weights a tuple."
    )
    return (
        Table("CPU game-parallel learning", columns, rows, note),
        Table("Weights changed by two ranks at once", ("ranks", "share", "theirs"), collided, counted),
        Figure("Speedup of CPU game-parallel learning", "ranks", "speedup", series, True, note),
        Figure("Average score by games learnt from, by ranks", "games", "average score", curves, note=_OF_CURVES),
    )


def updates(found, study_size):
    rows = []
    for count in found.points("games", part="update"):
        for steps in found.points("steps", part="update", games=count):
            at, scale = {"part": "update", "games": count, "steps": steps}, 1e3 * 1e6 / (count * steps)
            core = found.median("seconds", **at, on="CPU")
            if core is not None:
                figures = None, scale * core, _UPDATE["CPU"], 1.0, 1.0, count * steps / core
                rows.append(("CPU, one core", count, steps, *figures))
            for way in ("steps", "combined", "games"):
                kernel, whole = (found.median(f"{way}.{name}", **at, on="GPU") for name in ("kernel", "seconds"))
                if kernel is not None:
                    took = _UPDATE.get(way)
                    times = ratio(core, whole), ratio(_UPDATE["CPU"], took)
                    figures = scale * kernel, scale * whole, took, *times, count * steps / whole
                    rows.append((f"GPU, {way}", count, steps, *figures))
    columns = heads(" | games | steps | kernels, ms | in all, ms | theirs, ms | times one core | theirs | steps/s")
    note = (
        "Recorded games; ms are of a million steps, as many as the report's 1,000 games of 1,000 steps. steps: a "
        "thread a step, all of all games at once, errors from the weights as they were, which is the report's way; "
        "combined: the same, threads of a warp add once to a weight; games: each from its end to its beginning, as a "
        "core learns. In all: with the transfer of the games."
    )
    return [Table("Update times of a million steps", columns, rows, note)]


def gpus(found, study_size):
    rows, curves = [], {}
    for what in found.points("what", part="gpus"):
        layers = next(iter(found.points("layers", part="gpus", what=what)), 0)
        one_what = what.replace("exchange weights", "exchange games")
        one = found.median("moves_per_second", part="gpus", what=one_what, gpus=1)
        for gpus in found.points("gpus", part="gpus", what=what):
            at = {"part": "gpus", "what": what, "gpus": gpus}
            rate, average = found.median("moves_per_second", **at), found.median("average", **at)
            speedup = ratio(rate, one)
            theirs = _GPU_TIMES_OF_TWO.get(layers) if gpus == 2 and what.startswith("learning") else None
            efficiency = percent(ratio(speedup, gpus)), theirs and percent(theirs / gpus)
            rows.append((what, gpus, rate, average, speedup, theirs, *efficiency))
            if what.startswith("learning"):
                name = f"{what.removeprefix('learning, ')}, {gpus} GPU{'s' * (gpus > 1)}"
                curves[name] = _curve(found.rows(**at))
    columns = "what", "GPUs", "moves/s", "average score", "speedup", "theirs", "efficiency", "theirs"
    note = (
        "Theirs are of learning that looks 2 and 3 layers ahead. exchange games: every GPU learns from all games, as "
        "theirs; where moves are chosen without a search that is half of the work, which no further GPU makes less. "
        "Play: as many games a GPU. Average score: of all games that were learnt from."
    )
    return [
        Table("Several GPUs", columns, rows, note),
        Figure("Average score by games learnt from, by GPUs", "games", "average score", curves, note=_OF_CURVES),
    ]


def training_rates(found):
    """Yield (layers, way, games, moves a second of each repeat) of training by one core, several, and GPUs."""
    for part, count, of in (("learning", "ranks", "core"), ("gpus", "gpus", "GPU")):
        for layers in found.points("layers", part=part):
            at = {"part": part, "layers": layers}
            if part == "gpus":
                at["what"] = f"learning, {layers} layers, exchange games"
            for number in found.points(count, **at):
                measured = {**at, count: number}
                games = max(found.points("games", **measured), default=None)
                way = f"{number} {of}{'s' * (number > 1)}"
                yield layers, way, games, found.values("moves_per_second", **measured)


def totals(found, study_size):
    """Training in all: games, their search and learning from them, by cores and by GPUs."""
    rates = sorted(training_rates(found), key=lambda each: each[0])
    alone = {layers: statistics.median(values) for layers, way, _, values in rates if way == "1 core"}
    rows = []
    for layers, way, games, values in rates:
        rate = statistics.median(values)
        theirs = TOTALS.get(layers, {}).get(way)
        rows.append((layers, way, games, rate, ratio(1e3, rate), ratio(rate, alone.get(layers)), theirs))
    columns = heads("layers | by | games | moves/s | s a game of 1,000 moves | times one core | theirs, worked out")
    note = (
        "Games that are learnt from, all of it: the search of each move, what chance deals, and learning. On cores all "
        "ranks play; on a GPU many games side by side, where the report's plays one, so a GPU has more games, which "
        "become longer as the network learns. Theirs are times one thread: 24 with 32 threads at 2 layers, as much as "
        "two GPUs; 62 and more with two GPUs at 3, 2.5 times 32 threads."
    )
    return [Table("Totals: a game that is learnt from", columns, rows, note)]


def choices(found, study_size):
    """What the report's target, chance and dead boards change."""
    learnt = []
    for row in found.rows(part="target"):
        point, curve = row["point"], row["result"]["curve"]
        at = point["target"], point["rate"], curve[-1]["games"]
        learnt.append((*at, *points_of(curve)[-1], curve[-1]["maximum"]))
    played_by = []
    for choice in found.points("choice", part="choice"):
        for row in found.rows(part="choice", choice=choice):
            scores, games = row["result"]["scores"], row["point"]["games"]
            won = sum(each >= WON for each in row["result"]["largest"])
            figures = sum(scores) / games, *mean_interval(scores), percent(won / games)
            played_by.append((choice, games, *figures))
    heading = "average", "from", "to"
    return [
        Table(
            "What games learn from, without a search",
            ("target", "rate", "games", *heading, "best"),
            learnt,
            "td: the points of the next move and the value then; returns: all points to the end, as the report learns, "
            "which calls it TD. rate: of learning, which the report does not give. The last games of each, and 95% "
            "intervals.",
        ),
        Table(
            "What a search of one layer takes for granted",
            ("choice", "games", *heading, f"{WON} tile"),
            played_by,
            "The same network and seeds. The report's search takes all tiles in all cells as equally likely, and a "
            "board without a move for what the network says of it.",
        ),
    ]


def complaints(found):
    """Say where a GPU's values are not the CPU's, or several ranks' not one's."""
    wrong = []
    for row in found.rows(part="decision", on="GPU"):
        point, error = row["point"], row["result"]["worst_error"]
        if error > 1e-5:
            wrong.append(f"{point['method']}, {point['layers']} layers, {point['class']}: off by {error:.1e}")
    for row in [*found.rows(part="tree"), *found.rows(part="split")]:
        point = row["point"]
        same = {name: point[name] for name in ("layers", "boards", "class")}
        first = found.rows(part="tree", **same)[0]["result"]["scores"]
        for i, (score, true) in enumerate(zip(row["result"]["scores"], first, strict=True)):
            if abs(score - true) > _DIGITS * max(1, abs(true)):
                wrong.append(
                    f"{point['ranks']} ranks, {point['layers']} layers, {point['class']}, board {i}: "
                    f"{score}, not {true}"
                )
    return wrong
