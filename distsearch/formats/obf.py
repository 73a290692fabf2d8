"""Othello Board Files: a position a line with its moves and their scores, as Edax and problem collections have them.

``-XX…O- X; G8:+18; H1:+12;``: the board and the side to move, then fields that each end with a ``;``. What a ``%``
begins is a comment. ``position_lines`` reads them, as it does all files of positions.
"""

from collections.abc import Iterable

_PASS = "PA"


def obf_line(position: str, moves: Iterable[tuple[str, int]], score: int) -> str:
    """Return the line of a position (its text), with moves (text, score) the best first, or its score where none is.

    Scores are discs for the side to move.
    """
    ranked = sorted(moves, key=lambda each: -each[1])
    fields = [f"{_PASS if move == 'pass' else move.upper()}:{value:+d}" for move, value in ranked] or [f"{score:+d}"]
    return "; ".join([position, *fields]) + ";"
