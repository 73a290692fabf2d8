"""A report's figure, drawn as ``style`` draws."""

import textwrap

from ..figures import style

_WIDTH = 50  # letters of a line above a figure


def draw(figure, folder, name, formats):
    """Draw a ``exhibits.Figure`` into files of a folder; return their paths. Raises UserError without matplotlib."""
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
