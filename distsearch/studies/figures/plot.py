"""``study plot``: figures of files, by what is in them: rows of studies, records of training, timelines."""

import json
import os

from ...core.errors import UserError
from .. import results
from . import curves, series, style, timeline
from .scaling import FIGURES

_NAMED = "cpu", "mpi"  # of the circumstances, what a figure tells where it is the same for all


def run(args, stage):
    """Draw what is asked for and print the paths, a line each; return the exit status. Rank 0 does it alone."""
    if not stage.is_first:
        return 0
    for form in args.formats:
        if form not in style.FORMATS:
            raise UserError(f"format {form[:40]} is not one of {', '.join(style.FORMATS)}")
    if not args.files and not args.timeline:
        raise UserError("plot takes files: of results, of training (train --record), or --timeline FILE")
    with style.drawing():
        paths = plot(args.files, args.timeline or [], args.output, args.formats, stage.print_error)
    stage.write("\n".join(paths))
    return 0


def plot(files, timelines, folder, formats, print_error):
    """Draw all figures of some files into a folder; return their paths. Call it inside ``style.drawing``.

    files: rows of studies, which are drawn together, and records of training, likewise; timelines: one figure each;
    print_error(text): told what there is no figure of, and why. Raises UserError.
    """
    kinds = {path: _kind(path) for path in files}
    rows = [path for path, kind in kinds.items() if kind == "rows"]
    records = [path for path, kind in kinds.items() if kind == "record"]
    tracks = {path: timeline.read(path) for path in timelines}  # before anything is written
    learnt = {path: curves.read(path) for path in records}
    paths = _plot_rows(results.read(rows), folder, formats, print_error) if rows else []
    if learnt:
        figure = style.chart(curves.panels(learnt), "Learning")
        paths += style.save(figure, folder, "learning", formats)
    for path, name in zip(tracks, _timeline_names(list(tracks)), strict=True):
        paths += style.save(timeline.draw(tracks[path], os.path.basename(path)), folder, name, formats)
    return paths


def _kind(path):
    """Return what a file holds, by its first line that is not empty. Raises UserError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = next((line for line in file if line.strip()), "")
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or 'no text'}") from error
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        line = None
    if isinstance(line, dict) and "study" in line and "result" in line:
        return "rows"
    if curves.is_record(line):
        return "record"
    if '"traceEvents"' in text[:100]:
        raise UserError(f"{path[:200]} is a timeline: --timeline {path[:200]}")
    raise UserError(f"{path[:200]} holds neither results of a study nor a record of training")


def _timeline_names(paths):
    names = [f"timeline-{os.path.splitext(os.path.basename(path))[0]}" for path in paths]
    return [name if names.count(name) == 1 else f"{name}-{i}" for i, name in enumerate(names, 1)]


def _plot_rows(rows, folder, formats, print_error):
    runs, paths = series.runs_of(rows), []
    if not runs:
        raise UserError("no row of the files tells ranks and seconds of a run: there is nothing to plot")
    circumstances = _circumstances(rows)
    for name, (what, chosen, panels_of, within) in FIGURES.items():
        drawn = [(text, few, panels_of(few)) for text, few in series.parts(chosen(runs), style.MOST_LINES, within)]
        drawn = [each for each in drawn if each[2]]
        for i, (text, few, panels) in enumerate(drawn, 1):
            work, rest = series.common(few)
            heading = ": ".join(filter(None, (what, work or text)))
            figure = style.chart(panels, heading, "; ".join(filter(None, (_bars(panels), rest, circumstances))))
            paths += style.save(figure, folder, name if len(drawn) == 1 else f"{name}-{i}", formats)
        if not drawn and name != "weak":
            print_error(f"no figure of {what.lower()}: no runs of the files have what it takes")
    return paths


def _circumstances(rows):
    """Return what all rows tell alike of where they were measured, as a text."""
    told = []
    for name in _NAMED:
        values = {str(row["meta"].get(name) or "") for row in rows}
        told += values if len(values) == 1 else ()
    return "; ".join(filter(None, told))


def _bars(panels):
    several = any(point.low < point.high for panel in panels for line in panel.lines for point in line.points)
    return "medians, with the least and the most of the repeats" if several else ""
