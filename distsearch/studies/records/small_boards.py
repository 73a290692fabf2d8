"""2048 and 2584 on small boards: what the best play of a whole game is worth, exactly, for every position."""

import statistics
import time

from ... import games
from ...api.intervals import mean_interval
from ...engines.optimal_play import NO_TILE
from ...learning.optimal_play import OptimalPlay
from ..reports.files import made_folder
from ..reports.study import VALUES, Exhibit, Measurement, Plan
from ..reports.tables import Table

_ON_LAPTOPS = (  # game, board, tile to reach
    ("2048", (2, 2), NO_TILE),
    ("2048", (2, 2), 16),
    ("2048", (2, 2), 32),
    ("2048", (2, 3), NO_TILE),
    ("2584", (2, 2), NO_TILE),
    ("2584", (2, 3), NO_TILE),
)
_ON_CLUSTERS = (
    *_ON_LAPTOPS,
    ("2048", (2, 4), NO_TILE),
    ("2048", (3, 3), NO_TILE),
    ("2048", (3, 3), 256),
    ("2048", (3, 3), 512),
    ("2048", (3, 3), 1024),
)
_PLAYED = 1000  # games, the most
_FEW = 2_000_000  # positions: with more, a tenth of the games is played
_PUBLISHED = {("2048", "2x2", 32): "about 8%"}


def _measurements(size):
    return [_measurement(size, *each) for each in size.choose(_ON_LAPTOPS, _ON_CLUSTERS)]


def _measurement(size, name, board, target):
    shown = "x".join(map(str, board))
    point = {"record": "small boards", "game": name, "board": shown, "target": target, "ranks": size.ranks}
    tables, file = getattr(size.asked, "tables", None), f"{name}-{shown}{f'-{target}' * (target > 0)}.npz"
    if tables is not None:
        point["table"] = file  # a game without a file is solved again

    def body(bench):
        path = None if tables is None else str(made_folder(tables) / file)
        return bench.call(solved, size.ranks, name=name, board=board, target=target, seed=size.seed, path=path)

    return Measurement({**point, "seed": size.seed}, body, ranks=size.ranks)


def solved(comm, name, board, target, seed, path=None, interrupted=lambda: False):
    """Solve a game on all ranks of ``comm``, and play it; return figures, nothing if ``interrupted()`` said so.

    path: of a file for the table of all positions, None: it is not kept.
    """
    game = games.find(name)
    try:
        OptimalPlay(game, game.rules(game.BOARDS[0]), target, comm, interrupted).solve()  # compiles
        began = time.perf_counter()
        play = OptimalPlay(game, game.rules(board), target, comm, interrupted)
        found = play.solve()
        seconds = time.perf_counter() - began
        if path is not None:
            play.save(path)
        count = _PLAYED if found.positions < _FEW else _PLAYED // 10
        brought = play.played(count, seed)
    except InterruptedError:
        return {}
    low, high = mean_interval(brought)
    played = {"games": count, "mean": statistics.fmean(brought), "low": low, "high": high}
    return {"value": found.value, "positions": found.positions, "layers": found.layers, "seconds": seconds, **played}


def _sections(found, size):
    rows = []
    for row in found.rows(record="small boards"):
        point, result = row["point"], row["result"]
        of_tile = point["target"] != NO_TILE
        goal = f"tile {point['target']}" if of_tile else "points"
        value, mean, low, high = (f"{result[each]:.6g}" for each in ("value", "mean", "low", "high"))
        known = _PUBLISHED.get((point["game"], point["board"], point["target"]))
        timed = result["seconds"], point["ranks"]
        rows.append(
            (point["game"], point["board"], goal, value, known, result["positions"], *timed, result["games"], mean)
            + (f"{low} to {high}",)
        )
    columns = "game", "board", "wanted", "the best play gets", "in print", "positions", "s", "ranks"
    note = (
        "What the best play of a whole game gets: points on average, or the probability that it makes the tile. "
        "Positions are those of the player and of chance, one of all that symmetry makes the same. Games are played "
        "by the table as a check: their mean, and its 95% interval. In print: J. Lees-Miller 2018, The Mathematics of "
        "2048: Optimal Play with Markov Decision Processes."
    )
    return [Table("2048 and 2584 on small boards", (*columns, "games", "mean", "95%"), rows, note)]


EXHIBIT = Exhibit(
    "small-boards",
    "Lees-Miller 2018",
    "2048 and 2584 on small boards: the value of perfect play",
    (Plan(_measurements, (1, 10)),),
    _sections,
    VALUES,
)
