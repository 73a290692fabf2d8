"""The report on a 2048 solver on GPUs (Stony Brook): time a move by depth, tiles that games reach, scores by depth.

Its depths, heuristics' weights and times are not known here; of 100 games it had the 1024 tile in 90% and the 2048 tile
in 80%. Depth here is in plies, a move and a tile one each; the search is exact to that depth, of every tile in every
cell, by the report's heuristics of monotonicity, smoothness and free cells with this project's weights.
"""

from .. import time_per_move
from .report import Measurement, Study
from .tables import UNKNOWN, Figure, Table, percent, ratio

_GAME, _EVALUATION = "2048", "monotonicity+0.1*smoothness+2.7*free"
_DEPTHS = range(2, 8)
_BOARDS_OF = 4  # games that the boards of timings are taken from
_CORE_BOARDS = 200, 2000  # that a core decides: laptop, cluster
_BATCHES = {2: 20_000, 3: 20_000, 4: 10_000, 5: 10_000, 6: 4_000, 7: 4_000}  # boards that a GPU decides together
_GAMES = {2: (100, 1000), 3: (100, 1000), 4: (100, 1000), 5: (100, 1000), 6: (20, 100), 7: (10, 100)}
_GPU_GAMES = 100, 1000
_TILES = 256, 512, 1024, 2048, 4096, 8192, 16384
_THEIRS = {1024: 0.9, 2048: 0.8}  # of 100 games


def _measurements(study_size):
    repeats = range(study_size.repeats or study_size.choose(1, 3))
    found = [each for repeat in repeats for depth in _DEPTHS for each in _times(study_size, depth, repeat)]
    return found + [each for depth in _DEPTHS for each in _games(study_size, depth)]


def _times(study_size, depth, repeat):
    """A move, by a core, and by a GPU one board at a time and many together."""
    point = {"game": _GAME, "part": "time", "depth": depth, "seed": study_size.seed}

    def boards(count):
        return time_per_move.states(_GAME, _EVALUATION, _BOARDS_OF, study_size.seed, "normal", count)

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


def _sections(found, study_size):
    return [*_of_times(found), _tiles(found), *_scores(found)]


def _of_times(found):
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
        rows.append((depth, *times, ratio(core, one), None if many is None else 1e6 * many, ratio(core, many)))
    columns = ("depth", "CPU, ms", "GPU, one board, ms", "CPU ÷ GPU", "GPU, many boards, µs a board", "CPU ÷ that")
    note = (
        "CPU: seconds of CPU of one core. GPU: wall time from the boards in the host's memory to their values there. "
        f"Boards of the middle of games. The report's times are {UNKNOWN}."
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


def _tiles(found):
    rows = []
    for depth, on, games, result in _played(found):
        shares = [sum(each >= tile for each in result["largest"]) / games for tile in _TILES]
        rows.append((depth, on, games, *map(percent, shares)))
    if rows:
        rows.append(("theirs", UNKNOWN, 100, *(percent(_THEIRS.get(tile)) for tile in _TILES)))
    columns = "depth", "played by", "games", *map(str, _TILES)
    note = (
        "Games whose largest tile is that or a larger one. Of 100 games a share has a standard error of up to 5%, of "
        f"10 games up to 16%. Theirs: depth and time a move are {UNKNOWN}."
    )
    return Table("Tiles reached", columns, rows, note)


def _scores(found):
    rows, series = [], {}
    for depth, on, games, result in _played(found):
        scores, moves = sorted(result["scores"]), result["moves"]
        average = sum(scores) / games
        rows.append(
            (depth, on, games, average, scores[games // 2], scores[-1], moves / games, ratio(moves, result["seconds"]))
        )
        series.setdefault(on, []).append((depth, average))
    columns = "depth", "played by", "games", "average score", "median", "best", "moves a game", "moves/s"
    note = f"Moves a second by all ranks, or by one GPU with all games side by side. Theirs are {UNKNOWN}."
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


_TITLE = "A 2048 solver on GPUs: the report's figures, made again"
STUDY = Study("gpu2048", _TITLE, _measurements, _sections, _complaints)
