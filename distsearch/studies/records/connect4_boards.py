"""Connect 4 on boards of up to 50 squares: who wins, and how soon, with perfect play from the empty board."""

from ..reports.study import NOTHING, Exhibit, Measurement, Plan
from ..reports.tables import Table
from .rates import rate_of

_SIDES = range(4, 9)
_ON_CPUS = 36  # squares of the largest boards that cores solve
_LARGEST = 50  # squares of the largest boards that one GPU solves within minutes
_WORD = 64  # bits: a column takes one more than it has squares


def _boards(size):
    every = [(rows, columns) for rows in _SIDES for columns in _SIDES if (rows + 1) * columns <= _WORD]
    most = size.choose(_ON_CPUS, _LARGEST)
    return sorted((board for board in every if board[0] * board[1] <= most), key=lambda board: board[0] * board[1])


def _measurements(size):
    return [_measurement(size, board) for board in _boards(size)]


def _measurement(size, board):
    shown, on_cpus = "x".join(map(str, board)), board[0] * board[1] <= _ON_CPUS
    ranks, device, gpus = (size.ranks, "cpu", 0) if on_cpus else (1, "gpu", 1)
    point = {"record": "connect4", "game": "connect4", "board": shown, "device": device, "ranks": ranks}

    def body(bench):
        return bench.search(["startpos"], ranks, device=device, game="connect4", board=shown, exact=True)

    return Measurement(point, body, ranks=ranks, gpus=gpus)


def _sections(found, size):
    return [_winners(found), _runs(found)]


def _winners(found):
    scores = {row["point"]["board"]: row["result"]["score"] for row in found.rows(record="connect4")}
    rows = []
    for height in _SIDES if scores else ():
        cells = [scores.get(f"{height}x{width}") for width in _SIDES]
        rows.append((height, *(None if score is None else _result(score) for score in cells)))
    note = (
        "Rows are heights, columns are widths. 1st: the player who moves first wins, 2nd: the other one; 1: with the "
        "last stone that the winner has, 2: with the one before, and so on."
    )
    return Table("Connect 4: who wins on boards of rows × columns", ("rows", *map(str, _SIDES)), rows, note)


def _result(score):
    return "draw" if score == 0 else f"1st {score}" if score > 0 else f"2nd {-score}"


def _runs(found):
    rows = []
    for row in found.rows(record="connect4"):
        point, result = row["point"], row["result"]
        timed = result["nodes"], result["seconds"], rate_of(result)
        rows.append((point["board"], result["score"], *timed, point["device"], point["ranks"]))
    columns = "board", "score", "nodes", "s", "nodes a second", "device", "ranks"
    return Table("Connect 4: how these boards were solved", columns, rows)


EXHIBIT = Exhibit(
    "connect4-boards",
    "",
    "who wins Connect 4, on boards of 4 to 8 rows and columns",
    (Plan(_measurements, (1, 5)),),
    _sections,
    NOTHING,
)
