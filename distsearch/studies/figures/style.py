"""How figures look, and how they are written: for paper, in grey, and for readers who cannot tell all colours apart.

Lines differ in colour, marker and dashes. The colours are those of Okabe and Ito, "Color Universal Design" (2008), but
for yellow, which white paper swallows. Matplotlib (extra ``plot``) is loaded where a figure is begun, draws without a
screen, and leaves its own and the user's settings aside, so that a figure is a function of what it shows.
"""

import contextlib
import io
import os
import textwrap
from typing import NamedTuple

from ...core.archive import replace
from ...core.errors import UserError

COLOURS = "#0072B2", "#E69F00", "#000000", "#009E73", "#56B4E9", "#D55E00", "#CC79A7"  # neighbours differ in grey
MARKERS = "o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h"
DASHES = "-", "--", "-.", ":", (0, (6, 1.5, 1.2, 1.5, 1.2, 1.5))
MOST_LINES = len(MARKERS)  # of a figure: more cannot be told apart
FORMATS = "png", "svg", "pdf"
UNNAMED = ""  # label of a line that is the only one
_FEW = 9  # values on an axis that are told each
_LETTER = 0.06  # inches, of the small print
_SPEEDUPS = 4096  # below it a logarithmic axis counts doublings
_MARKED = 40  # points of a line, beyond which markers would hide it
_SETTINGS = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 10,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "lines.linewidth": 1.3,
    "lines.markersize": 5,
    "errorbar.capsize": 2.5,
    "svg.hashsalt": "distsearch",
    "path.simplify": True,
}
_NO_DATE = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_FAR = 8  # times: an axis whose values are as far apart is logarithmic


class Point(NamedTuple):
    """A point with the ends of its error bar, which are y itself where there is none."""

    x: float
    y: float
    low: float
    high: float


class Line(NamedTuple):
    """What belongs together: points by x, and what the legend calls them."""

    label: str
    points: list


class Panel(NamedTuple):
    """One pair of axes. ideal: Lines without a marker to compare with; percent: y is a share, 1 = 100%."""

    title: str
    x: str
    y: str
    lines: list
    ideal: tuple = ()
    percent: bool = False
    curve: bool = False  # of something that goes on, not of a few runs: many points, and a score that begins at 0


@contextlib.contextmanager
def drawing():
    """Inside, matplotlib is there and has this program's settings; yields it. Raises UserError without it."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise UserError('figures take matplotlib: pip install "distsearch[plot]"') from error
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield matplotlib


def chart(panels, heading, note=""):
    """Return a matplotlib Figure of Panels side by side, with one legend below them; call it inside ``drawing``.

    A label has the same looks in every panel. heading, note: what it is of, above and small below.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(5.6, 4.4 * len(panels)), 3.7))
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    handles = {}
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw(axes, panel, labels, handles)
    figure.suptitle(heading, fontsize=11)
    handles.pop(UNNAMED, None)
    width = figure.get_figwidth()
    columns = max(1, min(4, int(width / (max(map(len, handles), default=0) * _LETTER + 0.5))))
    note = textwrap.fill(note, int(width / _LETTER))
    below(figure, list(handles.values()), list(handles), columns, note)
    figure.set_figheight(3.5 + 0.17 * (-(-len(handles) // columns) + note.count("\n") + bool(note)))
    return figure


def below(figure, handles, labels, columns, note):
    """Put a legend under a figure, and small above it a note."""
    if handles:
        how = {"fontsize": 8, "title": note or None, "title_fontsize": 7.5}
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, **how)
    elif note:
        figure.supxlabel(note, fontsize=7.5)


def _draw(axes, panel, labels, handles):
    for i, ideal in enumerate(panel.ideal):
        xs, ys = [point.x for point in ideal.points], [point.y for point in ideal.points]
        (drawn,) = axes.plot(xs, ys, color="#888888", lw=1, dashes=(2 + 5 * i, 2), zorder=1)
        handles.setdefault(ideal.label, drawn)
    for line in panel.lines:
        i = labels.index(line.label)
        bars = [[point.y - point.low for point in line.points], [point.high - point.y for point in line.points]]
        drawn = axes.errorbar(
            [point.x for point in line.points],
            [point.y for point in line.points],
            yerr=bars if any(map(any, bars)) else None,
            color=COLOURS[i % len(COLOURS)],
            linestyle=DASHES[i % len(DASHES)],
            marker=MARKERS[i % len(MARKERS)] if len(bars[0]) <= _MARKED else None,
            markerfacecolor="white" if i % 2 else None,
            elinewidth=0.9,
        )
        handles.setdefault(line.label, drawn)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    points = [point for line in (*panel.lines, *panel.ideal) for point in line.points]
    _scale_x(axes, sorted({point.x for line in panel.lines for point in line.points}), panel.curve)
    _scale_y(axes, points, panel)


def _scale_x(axes, xs, curve):
    from matplotlib import ticker

    if _far_apart(xs):
        axes.set_xscale("log", base=10 if curve else 2)
        axes.xaxis.set_major_formatter(ticker.EngFormatter(sep=" ") if curve else ticker.StrMethodFormatter("{x:,g}"))
    if not curve and len(xs) <= _FEW:
        axes.set_xticks(xs, [f"{x:,g}" for x in xs])
        axes.xaxis.set_minor_locator(ticker.NullLocator())
    if len(xs) == 1:
        axes.set_xlim(xs[0] - 1, xs[0] + 1)


def _scale_y(axes, points, panel):
    from matplotlib import ticker

    most = max((point.high for point in points), default=1)
    far = _far_apart([y for point in points for y in (point.low, point.high)])
    if panel.ideal:  # which is a straight line if both axes are alike
        far = axes.get_xscale() == "log" and min((point.low for point in points), default=0) > 0
    if far and not panel.percent and not panel.curve:
        axes.set_yscale("log", base=2 if most < _SPEEDUPS else 10)
        if most < _SPEEDUPS:
            axes.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
        else:
            axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(ticker.EngFormatter(sep=" "))
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        return
    axes.set_ylim(0, 1.06 * most or 1)
    if panel.percent:
        axes.yaxis.set_major_formatter(ticker.PercentFormatter(1, decimals=None))
    elif most >= 10_000:
        axes.yaxis.set_major_formatter(ticker.EngFormatter(sep=" "))


def _far_apart(values):
    return len(values) > 1 and min(values) > 0 and max(values) >= _FAR * min(values)


def save(figure, folder, name, formats):
    """Write a figure to ``folder``/``name``.FORMAT for each of the formats; return the paths. Raises UserError."""
    paths = []
    for form in formats:
        path, content = os.path.join(folder, f"{name}.{form}"), io.BytesIO()
        figure.savefig(content, format=form, metadata=_NO_DATE[form])
        try:
            os.makedirs(folder, exist_ok=True)
            replace(path, lambda file, content=content: file.write(content.getvalue()))
        except OSError as error:
            raise UserError(f"cannot write the figure {path[:200]}: {error.strerror}") from error
        paths.append(path)
    return paths
