"""The report on a 2048 solver on GPUs (Stony Brook): time a move by depth, tiles that games reach, scores by depth.

No value of its three figures survives but of the tiles, 1024 in 90%, 2048 in 80% and 4096 in one of 100 games, and
that depth 6 of 2 to 7 scored best. Depth is in plies, a move and a tile one each; the search is exact to that depth, of
every tile in every cell, by the report's heuristics of monotonicity, smoothness and free cells with this project's
weights.
"""

import math
import statistics

from ...api.intervals import mean_interval, share_difference, share_interval
from .. import time_per_move
from .directions import HELD, MISSING, NOT_HELD, OPEN, Direction, larger
from .study import DIRECTIONS, VALUES, Exhibit, Measurement, Plan, Study
from .tables import UNKNOWN, Figure, Table, percent, ratio

_GAME, _EVALUATION = "2048", "monotonicity+0.1*smoothness+2.7*free"
_DEPTHS = range(2, 8)
_CORE_BOARDS = 200, 2000  # that a core decides: laptop, cluster
_BATCHES = {2: 20_000, 3: 20_000, 4: 10_000, 5: 10_000, 6: 4_000, 7: 4_000}  # boards that a GPU decides together
_GAMES = {2: (100, 1000), 3: (100, 1000), 4: (100, 1000), 5: (100, 1000), 6: (20, 100), 7: (10, 100)}
_GPU_GAMES = 100, 1000
_TILES = 256, 512, 1024, 2048, 4096, 8192, 16384
_THEIRS, _THEIR_GAMES = {1024: 90, 2048: 80, 4096: 1}, 100
_BEST = 6  # depth, by their scores


def _repeats(study_size):
    return range(study_size.repeats or study_size.choose(1, 3))


def _all_times(study_size):
    return [each for repeat in _repeats(study_size) for depth in _DEPTHS for each in _times(study_size, depth, repeat)]


def _all_games(study_size):
    return [each for depth in _DEPTHS for each in _games(study_size, depth)]


def _times(study_size, depth, repeat):
    """A move, by a core, and by a GPU one board at a time and many together."""
    point = {"game": _GAME, "part": "time", "depth": depth, "seed": study_size.seed, "drawn": "different"}

    def boards(count):
        return time_per_move.states(_GAME, _EVALUATION, study_size.seed, "normal", count)

    def by_core(bench):
        return time_per_move.by_core(_GAME, _EVALUATION, boards(count), depth)

    count = study_size.choose(*_CORE_BOARDS)
    yield Measurement({**point, "on": "CPU", "boards": count}, by_core, repeat)
    for many in (1, _BATCHES[depth]):

        def on_gpu(bench, many=many):
            return time_per_move.on_gpu(bench.gpu, _GAME, _EVALUATION, boards(many), depth)

        yield Measurement({**point, "on": "GPU", "boards": many}, on_gpu, repeat, gpus=1)


def _games(study_size, depth):
    """Whole games to a depth, by all ranks, and side by side on a GPU."""
    for on, counts, ranks in (("CPU", _GAMES[depth], study_size.ranks), ("GPU", _GPU_GAMES, 1)):
        count = study_size.choose(*counts)

        def body(bench, on=on, count=count, ranks=ranks):
            asked = _GAME, _EVALUATION, depth, count, study_size.seed
            return time_per_move.played(bench, *asked, ranks, on.lower())

        point = {"game": _GAME, "part": "games", "depth": depth, "seed": study_size.seed, "on": on, "games": count}
        yield Measurement({**point, "ranks": ranks}, body, ranks=ranks, gpus=int(on == "GPU"))


def _of_times(found, study_size):
    rows, series = [], {"CPU": [], "GPU, one board": [], "GPU, many boards": []}
    for depth in found.points("depth", part="time"):
        at = {"part": "time", "depth": depth}
        core = found.median("seconds", **at, on="CPU")
        one = found.median("seconds", **at, on="GPU", boards=1)
        many = found.median("seconds", **at, on="GPU", boards=_BATCHES[depth])
        for name, seconds in zip(series, (core, one, many), strict=True):
            if seconds is not None:
                series[name].append((depth, 1e6 * seconds))
        times = [None if each is None else 1e3 * each for each in (core, one)]
        of_games = (found.median(name, part="games", depth=depth, on="CPU") for name in ("cpu_seconds", "moves"))
        in_games = ratio(*of_games)
        rows.append(
            (
                depth,
                *times,
                ratio(core, one),
                None if many is None else 1e6 * many,
                ratio(core, many),
                None if in_games is None else 1e3 * in_games,
            )
        )
    columns = ("depth", "CPU, ms", "GPU, one board, ms", "CPU ÷ GPU", "GPU, many boards, µs a board", "CPU ÷ that")
    columns += ("CPU, ms a move over games",)
    note = (
        "CPU: seconds of CPU of one core. GPU: wall time from the boards in the host's memory to their values there. "
        f"Boards of the middle of games; over games: CPU time of all moves of whole games. Theirs are {UNKNOWN}."
    )
    return (
        Table("Time a move by depth, CPU against GPU", columns, rows, note),
        Figure("Time a move by depth", "depth, plies", "µs a move", series, note=note),
    )


def _played(found):
    """Yield (depth, what played, games, the row's result) of all games."""
    for depth in found.points("depth", part="games"):
        for on in found.points("on", part="games", depth=depth):
            (row,) = found.rows(part="games", depth=depth, on=on)
            yield depth, on, row["point"]["games"], row["result"]


def _interval(low, high):
    return f"{100 * low:.0f} to {100 * high:.0f}%"


def _tiles(found, study_size):
    rows = []
    for depth, on, games, result in _played(found):
        counts = [sum(each >= tile for each in result["largest"]) for tile in _TILES]
        shares = (f"{percent(count / games)} ({_interval(*share_interval(count, games))})" for count in counts)
        rows.append((depth, on, games, *shares))
    if rows:
        rows.append(("theirs", UNKNOWN, _THEIR_GAMES, *(_THEIRS.get(tile) and f"{_THEIRS[tile]}%" for tile in _TILES)))
    columns = "depth", "played by", "games", *map(str, _TILES)
    note = (
        "Games whose largest tile is that or a larger one, and 95% intervals by Wilson's method. Theirs: depth and "
        f"time a move are {UNKNOWN}; the abstract has 8192 as the highest tile, the results 4096, in one game."
    )
    return [Table("Tiles reached", columns, rows, note)]


def _tile_directions(found):
    """Whether ours reach tiles at least as often as theirs, at the depth that was best there."""
    directions, ours = [], {}
    for tile, theirs in _THEIRS.items():
        stated = f"{tile} in {theirs}% of games (or more)"
        more = {}
        for depth, on, games, row in _played(found):
            if depth == _BEST:
                count = sum(each >= tile for each in row["largest"])
                ours.setdefault(tile, {})[on] = share_interval(count, games)
                more[on] = share_difference(count, games, theirs, _THEIR_GAMES)
        text = ", ".join(
            f"{on} {_interval(*ours[tile][on])}, difference {100 * each[0]:+.0f} to {100 * each[1]:+.0f} points"
            for on, each in more.items()
        )
        if not more:
            held = MISSING
        elif min(low for low, _ in more.values()) >= 0:
            held = HELD
        else:
            held = NOT_HELD if min(high for _, high in more.values()) < 0 else OPEN
        directions.append(Direction("Fig 7", stated, text and f"depth {_BEST}: {text}", held))
    return [*directions, _alike(ours)]


def _alike(ours):
    """Return whether shares of tiles by CPU and GPU have intervals that overlap; ours: {tile: {device: interval}}."""
    pairs = [each for each in ours.values() if len(each) == 2]
    stated = "tiles are reached alike by CPU and GPU"
    if not pairs:
        return Direction("Fig 7", stated, "", MISSING)
    apart = [each for each in pairs if max(low for low, _ in each.values()) > min(high for _, high in each.values())]
    text = f"intervals of {len(pairs) - len(apart)} of {len(pairs)} tiles overlap"
    return Direction("Fig 7", stated, text, NOT_HELD if apart else HELD)


def _scores(found, study_size):
    rows, series = [], {}
    for depth, on, games, result in _played(found):
        scores, moves = sorted(result["scores"]), result["moves"]
        average = sum(scores) / games
        low, high = mean_interval(scores) if games > 1 else (None, None)
        figures = average, low, high, scores[games // 2], scores[-1]
        rows.append((depth, on, games, *figures, moves / games, ratio(moves, result["seconds"])))
        series.setdefault(on, []).append((depth, average, *((low, high) if games > 1 else ())))
    columns = "depth", "played by", "games", "average score", "from", "to", "median", "best", "moves a game", "moves/s"
    note = (
        "From, to: the average's 95% interval by Student's distribution. Moves a second by all ranks, or by one GPU "
        f"with all games side by side. Theirs are {UNKNOWN}, but that depth {_BEST} was best."
    )
    return (
        Table("Score by depth", columns, rows, note),
        Figure("Average score by depth", "depth, plies", "average score", series, note=note),
    )


def _complaints(found):
    """Say where a GPU's values are not the CPU's."""
    return [
        f"depth {row['point']['depth']}: a GPU's value is off by {row['result']['worst_error']:.1e}"
        for row in found.rows(part="time", on="GPU")
        if row["result"]["worst_error"] > 1e-5
    ]


def _time_directions(found):
    """Where the GPU, one board at a time, passes a core."""

    def values(on, depth):
        return found.values("seconds", part="time", on=on, depth=depth, **({"boards": 1} if on == "GPU" else {}))

    low, high = _DEPTHS[0], _DEPTHS[-1]
    stated = "at low depth the CPU is faster", "at high depth the GPU is"
    parts = [
        larger("Fig 6", stated[0], values("GPU", low), values("CPU", low), "s"),
        larger("Fig 6", stated[1], values("CPU", high), values("GPU", high), "s"),
    ]
    faster = [depth for depth in _DEPTHS if _median(values("CPU", depth)) > _median(values("GPU", depth))]
    if not faster:
        return parts
    return [each._replace(ours=f"{each.ours}; the GPU is faster from depth {min(faster)} on") for each in parts]


def _median(values):
    return statistics.median(values) if values else math.nan


def _score_directions(found):
    """Whether no depth scores more than the one that was the report's best."""
    stated = f"the best scores are at depth {_BEST} of {_DEPTHS[0]} to {_DEPTHS[-1]}"
    directions = []
    for on in found.points("on", part="games"):
        scores = {depth: row["scores"] for depth, by, _, row in _played(found) if by == on}
        if _BEST not in scores or len(scores) < 2:
            directions.append(Direction("Fig 8", f"{stated} ({on})", "", MISSING))
            continue
        best = max(scores, key=lambda depth: sum(scores[depth]) / len(scores[depth]))
        if best == _BEST:
            others = max((d for d in scores if d != best), key=lambda d: sum(scores[d]) / len(scores[d]))
            found_here = larger("Fig 8", stated, scores[_BEST], scores[others])
        else:
            other = larger("Fig 8", stated, scores[best], scores[_BEST])
            found_here = other._replace(held=NOT_HELD if other.held == HELD else OPEN)
        text = f"{on}: best at depth {best}, {found_here.ours}"
        directions.append(found_here._replace(stated=f"{stated} ({on})", ours=text))
    return directions


_TIMED, _WHOLE = Plan(_all_times, (0.2, 0.4)), Plan(_all_games, (0.5, 3))
_EXHIBITS = (
    Exhibit(
        "fig6",
        "Fig 6",
        "time of a move by depth, CPU and GPU",
        (_TIMED, _WHOLE),
        _of_times,
        DIRECTIONS,
        _time_directions,
    ),
    Exhibit("fig7", "Fig 7", "largest tiles of games", (_WHOLE,), _tiles, VALUES, _tile_directions),
    Exhibit("fig8", "Fig 8", "score by depth", (_WHOLE,), _scores, DIRECTIONS, _score_directions),
)
_TITLE = "A 2048 solver on GPUs: the report's figures, made again"
STUDY = Study("gpu2048", _TITLE, _EXHIBITS, _complaints)
