"""Boards as SVG, for notebooks and pages: what stands outside of the squares has the colour of the text around it."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

_SIZE = 40  # of a cell, in pixels
_MARGIN = 20  # for names of rows and columns
_DISCS = {"X": ("#111", "#666"), "O": ("#fff", "#888")}  # (inside, outline)
_STONES = {"X": ("#d33", "#a11"), "O": ("#fc3", "#c90")}
_TILES = ("#cdc1b4", "#eee4da", "#ede0c8", "#f2b179", "#f59563", "#f67c5f", "#f65e3b", "#edcf72", "#edcc61", "#edc22e")
_LARGEST = "#3c3a32"
_BEST = "#ffe14d"


class Style(NamedTuple):
    """How the cells of a game look. pieces: the colours of ``X`` and ``O``, None for tiles; ground: of squares."""

    ground: str
    line: str
    pieces: dict[str, tuple[str, str]] | None
    score: str  # the colour of a score on an empty square


STYLES = {
    "othello": Style("#2f8f57", "#1d5a37", _DISCS, "#fff"),
    "connect4": Style("#2b5cb8", "#1c3f80", _STONES, "#fff"),
    "2048": Style("#bbada0", "#bbada0", None, "#111"),
    "2584": Style("#bbada0", "#bbada0", None, "#111"),
}


def board_svg(
    cells: Sequence[Sequence[str]],
    style: Style,
    title: str,
    columns: Sequence[str] = (),
    rows: Sequence[str] = (),
    scores: Mapping[tuple[int, int], str] | None = None,
    best: tuple[int, int] | None = None,
) -> str:
    """Return cells, rows from the top as in ``drawing.cells``, as an SVG element.

    title: what it says to readers of screens; columns, rows: names that stand outside; scores: texts on squares by
    (row, column); best: the square that is marked.
    """
    left, top = _MARGIN * bool(rows), _MARGIN * bool(columns)
    width, height = left + _SIZE * len(cells[0]), top + _SIZE * len(cells)
    parts = [f'<rect x="{left}" y="{top}" width="{width - left}" height="{height - top}" fill="{style.ground}"/>']
    for number, name in enumerate(columns):
        parts.append(_text(left + _SIZE * (number + 0.5), top / 2, name, "currentColor", 12))
    for number, name in enumerate(rows):
        parts.append(_text(left / 2, top + _SIZE * (number + 0.5), name, "currentColor", 12))
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            x, y = left + _SIZE * j, top + _SIZE * i
            parts += _cell(x, y, cell, style, (i, j) == best)
            if scores and (i, j) in scores:
                colour = "#111" if (i, j) == best else style.score
                parts.append(_text(x + _SIZE / 2, y + _SIZE / 2, scores[i, j], colour, 12))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" text-anchor="middle" '
        f'dominant-baseline="central">{"".join(parts)}</svg>'
    )


def _cell(x, y, cell, style, is_best):
    ground = _BEST if is_best else style.ground
    parts = [f'<rect x="{x}" y="{y}" width="{_SIZE}" height="{_SIZE}" fill="{ground}" stroke="{style.line}"/>']
    if style.pieces is None:
        value = 0 if cell == "." else int(cell)
        at = f'x="{x + 2}" y="{y + 2}" width="{_SIZE - 4}" height="{_SIZE - 4}" rx="3"'
        parts.append(f'<rect {at} fill="{_tile(value)}"/>')
        if value:
            dark, size = value.bit_length() < 4, 16 if value < 1000 else 12
            parts.append(_text(x + _SIZE / 2, y + _SIZE / 2, cell, "#776e65" if dark else "#fff", size))
    elif cell in style.pieces:
        inside, outline = style.pieces[cell]
        middle = f'cx="{x + _SIZE / 2:g}" cy="{y + _SIZE / 2:g}" r="{_SIZE * 0.4:g}"'
        parts.append(f'<circle {middle} fill="{inside}" stroke="{outline}"/>')
    return parts


def _tile(value):
    if value >= 2048:
        return _LARGEST
    return _TILES[min(max(value.bit_length() - 1, 0), len(_TILES) - 1)]


def _text(x, y, text, colour, size):
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size}">{escape(text)}</text>'
