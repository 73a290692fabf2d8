"""Othello on small boards, solved from the start: both rules for empty squares, and the parallel start."""

from ..reports.study import VALUES, Exhibit, Measurement, Plan
from ..reports.tables import Table
from .rates import rate_of

_STARTS = {
    "4x4": {"crossed": "startpos", "parallel": "-----XX--OO----- X"},
    "6x6": {"crossed": "startpos", "parallel": f"{'-' * 14}XX----OO{'-' * 14} X"},
}
_RULES = "winner", "none"
_PUBLISHED = {("6x6", "crossed"): "−4"}  # first solved in 1993
_TURNED = "crossed, mirrored"  # another order of moves
_MIRRORED = {"4x4": "-----XO--OX----- X", "6x6": f"{'-' * 14}XO----OX{'-' * 14} X"}


def _measurements(size):
    found = []
    for board, starts in _STARTS.items():
        for name, position in {**starts, _TURNED: _MIRRORED[board]}.items():
            found += [_measurement(size, board, name, position, rule) for rule in _RULES]
    return [each for each in found if each.point["board"] == "4x4" or size.full]


def _measurement(size, board, name, position, rule):
    point = {"record": "othello", "game": "othello", "board": board, "start": name, "empties": rule}
    how = {"game": "othello", "board": board, "rules": {"empties": rule}, "exact": True}

    def body(bench):
        return bench.search([position], size.ranks, **how)

    return Measurement({**point, "ranks": size.ranks}, body, ranks=size.ranks)


def _sections(found, size):
    rows = []
    for row in found.rows(record="othello"):
        point, result = row["point"], row["result"]
        known = _PUBLISHED.get((point["board"], point["start"])) if point["empties"] == _RULES[0] else None
        timed = result["seconds"], rate_of(result), point["ranks"]
        rows.append((point["board"], point["start"], point["empties"], result["score"], known, result["nodes"], *timed))
    columns = "board", "start", "empty squares go to", "score", "in print", "nodes", "s", "nodes a second", "ranks"
    note = (
        "Scores are discs for the player who moves first, of perfect play to the end. A mirrored start is the same "
        "game with other moves tried first: its score must be that of the crossed one. In print: 6x6 was first "
        "solved in 1993."
    )
    return [Table("Othello on small boards", columns, rows, note)]


def complaints(found):
    """Return a line for each board whose mirrored start has another score."""
    wrong = []
    for board in _STARTS:
        for rule in _RULES:
            which = {"record": "othello", "board": board, "empties": rule}
            plain, mirrored = (found.values("score", start=name, **which) for name in ("crossed", _TURNED))
            if len({*plain, *mirrored}) > 1:
                wrong.append(f"othello {board}, empty squares to {rule}: {plain}, and {mirrored} mirrored")
    return wrong


EXHIBIT = Exhibit(
    "othello-boards",
    "1993, 6x6",
    "Othello on 4x4 and 6x6, from the start to the end",
    (Plan(_measurements, (1, 2)),),
    _sections,
    VALUES,
)
