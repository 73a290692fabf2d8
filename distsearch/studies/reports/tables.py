"""What a report's study shows: tables and figures, ours next to theirs, as text, Markdown, CSV and LaTeX."""

import csv
import io
import textwrap
from typing import NamedTuple

from ..figures import style

_WIDTH = 50  # letters of a line above a figure
_LONG = 24  # letters: a column with longer texts begins at its left
_LATEX = {  # what means something else to LaTeX, or is in no font of it
    **{letter: "\\" + letter for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "×": r"$\times$",
    "÷": r"$\div$",
    "µ": r"$\mu$",
    "−": "$-$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "→": r"$\to$",
    **{digit: f"$^{value}$" for value, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
UNKNOWN = "not known here"  # what a report measured, where that is so: never a guess


class Table(NamedTuple):
    """A table of a report made again.

    columns: their headings; rows: tuples of what ``shown`` takes, as many as there are columns; note: what differs, and
    why; command: what makes it.
    """

    title: str
    columns: tuple
    rows: list
    note: str = ""
    command: str = ""

    @property
    def empty(self):
        """Whether nothing of it was measured."""
        return not self.rows


class Figure(NamedTuple):
    """A figure of a report made again.

    x, y: what the axes are; series: name → list of (x, y) or (x, y, lowest, highest), the report's own among them
    where it is known; ideal: whether the line y = x belongs to it; share: y is a share, 1 = 100%.
    """

    title: str
    x: str
    y: str
    series: dict
    ideal: bool = False
    note: str = ""
    command: str = ""
    share: bool = False

    @property
    def empty(self):
        """Whether nothing of it was measured."""
        return not any(self.series.values())

    def table(self):
        """Return the Table of its points: a row for each x, a column for each series."""
        found = {name: {point[0]: point[1] for point in points} for name, points in self.series.items()}
        places = sorted({x for points in found.values() for x in points})
        rows = [(x, *(points.get(x) for points in found.values())) for x in places]
        title = self.title if self.y.lower() in self.title.lower() else f"{self.title}: {self.y}"
        return Table(title, (self.x, *found), rows, self.note, self.command)


def heads(text):
    """Return headings of columns, a text with " | " between them, as a tuple."""
    return tuple(text.split(" | "))


def shown(value):
    """Return the text of what a table holds: a text, a number, or None for what was not measured."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def percent(share):
    """Return the text of a share."""
    return None if share is None else f"{100 * share:.1f}%"


def compared(ours, theirs):
    """Return three cells: ours, theirs (a number, or None where it is not known here), and ours ÷ theirs."""
    if theirs is None:
        return ours, UNKNOWN, None
    return ours, theirs, None if ours is None else f"{ours / theirs:.3g}×"


def ratio(above, below):
    """Return above ÷ below; None if one is missing or there is nothing to divide by."""
    return above / below if above is not None and below else None


def to_text(section):
    """Return a section as lines of text: title, a table in fixed columns, note and command."""
    table = _table_of(section)
    cells = [[shown(value) for value in row] for row in [table.columns, *table.rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    words = _of_words(table)
    lines = [
        "  ".join(
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(row, widths, words, strict=True)
        )
        for row in cells
    ]
    about = [f"# {line}" for line in (table.note, table.command and f"$ {table.command}") if line]
    return "\n".join([f"# {table.title}", *about, *(line.rstrip() for line in lines)])


def _of_words(table):
    """Return of each column whether it is one of words, which begin at its left: the first one, and long texts."""
    return [
        i == 0 or any(isinstance(row[i], str) and len(row[i]) > _LONG for row in table.rows)
        for i in range(len(table.columns))
    ]


def _table_of(section):
    return section.table() if isinstance(section, Figure) else section


def to_csv(section):
    """Return a section as CSV, RFC 4180 but for the ends of lines: numbers as they are, nothing for what is missing."""
    table, out = _table_of(section), io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([table.columns, *table.rows])
    return out.getvalue()


def to_latex(section, label):
    """Return a section as a LaTeX table; it takes the package booktabs. label: to refer to it by."""
    table = _table_of(section)
    rows = [" & ".join(_latex(shown(value)) for value in row) + r" \\" for row in [table.columns, *table.rows]]
    lines = [rf"% $ {table.command}"] if table.command else []
    lines += [r"\begin{table}", r"\centering", rf"\caption{{{_latex(table.title)}}}", rf"\label{{tab:{label}}}"]
    words = _of_words(table)
    wide = rf"p{{{0.8 / sum(words):.2f}\textwidth}}" if sum(words) > 1 else "l"  # long texts are set in lines
    lines += [rf"\begin{{tabular}}{{{''.join(wide if left else 'r' for left in words)}}}", r"\toprule"]
    lines += [rows[0], r"\midrule"]
    lines += [*rows[1:], r"\bottomrule", r"\end{tabular}"]
    if table.note:
        lines.append(rf"\par\smallskip\footnotesize {_latex(table.note)}")
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _latex(text):
    return "".join(_LATEX.get(letter, letter) for letter in text)


def to_markdown(section, pictures=(), place=""):
    """Return a section as Markdown; pictures: names of the files of a figure, of which the first is shown.

    place: a line on where the report has it.
    """
    table = _table_of(section)
    rows = [
        "| " + " | ".join(shown(value).replace("|", "\\|") for value in row) + " |"
        for row in [table.columns, *table.rows]
    ]
    rows.insert(1, "|" + "|".join("---" if left else "--:" for left in _of_words(table)) + "|")
    parts = [f"### {table.title}", *([place] if place else [])]
    if table.command:
        parts.append(f"```\n{table.command}\n```")
    if pictures:
        parts.append(f"![{section.title}]({pictures[0]})")
    parts.append("\n".join(rows))
    if table.note:
        parts.append(table.note)
    return "\n\n".join(parts)


def draw(figure, folder, name, formats):
    """Draw a Figure into files of a folder; return their paths. Raises UserError without matplotlib."""
    lines = [style.Line(label, [_point(*point) for point in points]) for label, points in figure.series.items()]
    ideal = []
    if figure.ideal and (xs := [point.x for line in lines for point in line.points]):
        ideal = [style.Line("ideal", [style.Point(x, x, x, x) for x in sorted(set(xs))])]  # axes may be logarithmic
    with style.drawing():
        drawn = [line for line in lines if line.points]
        panel = style.Panel("", figure.x, figure.y, drawn, tuple(ideal), figure.share)
        return style.save(style.chart([panel], textwrap.fill(figure.title, _WIDTH)), folder, name, formats)


def _point(x, y, low=None, high=None):
    return style.Point(x, y, y if low is None else low, y if high is None else high)
