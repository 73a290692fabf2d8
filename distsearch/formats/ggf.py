"""Games of Othello in the Generic Game Format (GGF), as NBoard and the Generic Game Server write them.

``(;GM[Othello]TI[15:00]BO[8 -- … *]B[F5//1.2]W[D6];)``: properties with values in brackets. Black is ``*``, white
``O``; the last of the board's characters is the side to move. A move may be followed by a value and by seconds.
"""

import re
from typing import NamedTuple

from ..core.errors import UserError

_PROPERTY = re.compile(r"\s*([A-Z]+)\[([^\]]*)\]")
_DISCS = {"*": "X", "O": "O", "-": "-"}
_LONGEST_SIDE = 99
_BEGIN, _END = "(;", ";)"
_UNITS = 1, 60, 3600  # seconds


class GgfMove(NamedTuple):
    """A move: the side (0 is black), its text, and the seconds it took."""

    side: int
    text: str
    seconds: float


class GgfGame(NamedTuple):
    """A game: squares a side, the position it began with as this program writes it, its moves, each side's seconds."""

    size: int
    start: str
    moves: list[GgfMove]
    seconds: tuple[float | None, float | None]


def parse(text: str) -> GgfGame:
    """Return the GgfGame of a text; raises UserError. Whether moves are legal is not looked at."""
    text = text.strip()
    if not text.startswith(_BEGIN) or not text.endswith(_END):
        raise UserError(f"'{text[:40]}' is not a game in GGF, (;GM[Othello]...;)")
    at, end, moves, found = len(_BEGIN), len(text) - len(_END), [], {}
    while at < end:
        each = _PROPERTY.match(text, at, end)
        if each is None:
            if not text[at:end].strip():
                break
            raise UserError(f"'{text[at : at + 40]}' is not a property of a game in GGF, NAME[value]")
        name, value, at = each[1], each[2], each.end()
        if name in ("B", "W"):
            moves.append(GgfMove("BW".index(name), *parse_move(value)))
        found[name] = value.strip()
    if found.get("GM") != "Othello":
        raise UserError(f"game '{found.get('GM', '')[:40]}' is not Othello")
    size, start = _board(found.get("BO", ""))
    both = found.get("TI")
    return GgfGame(size, start, moves, (_time(found.get("TB", both)), _time(found.get("TW", both))))


def parse_move(text: str) -> tuple[str, float]:
    """Return (the move, its seconds) of ``F5/1.2/0.5``, whose value and time may be missing; raises UserError."""
    move, _, rest = text.strip().partition("/")
    seconds = rest.partition("/")[2].strip()
    if not re.fullmatch("[A-Za-z]{1,4}[0-9]{0,2}", move):
        raise UserError(f"'{text[:40]}' is not a move, as in F5/1.25/0.5")
    if not re.fullmatch(r"([0-9]{1,9}(\.[0-9]{0,9})?)?", seconds):
        raise UserError(f"'{seconds[:40]}' is not the seconds of a move")
    return move, float(seconds or 0)


def _board(text):
    """Return (squares a side, position) of ``8 ---...--- *``."""
    size, _, content = text.partition(" ")
    squares = "".join(content.split())
    n = int(size) if re.fullmatch("[0-9]{1,2}", size) else 0
    if not 0 < n <= _LONGEST_SIDE or len(squares) != n * n + 1 or squares[-1] not in "*O":
        raise UserError(f"'{text[:40]}' is not a board in GGF: its size, the squares, and the side to move, * or O")
    if strange := re.sub(r"[*O-]", "", squares):
        raise UserError(f"a board in GGF has '{strange[0]}' where only *, O and - can stand")
    board = "".join(_DISCS[disc] for disc in squares[:-1])
    return n, f"{board} {_DISCS[squares[-1]]}"


def _time(text):
    """Return the seconds of ``15:00/00:00/02:00``: hours, minutes and seconds; increment and grace do not count."""
    if not text:
        return None
    parts = text.partition("/")[0].split(":")
    if len(parts) > len(_UNITS) or not all(re.fullmatch("[0-9]{0,6}", part.strip()) for part in parts):
        raise UserError(f"'{text[:40]}' is not a time in GGF, as in 15:00")
    return float(sum(unit * int(part or 0) for unit, part in zip(_UNITS, reversed(parts), strict=False)))
