"""A timeline that ``--trace`` wrote (see ``formats.timeline``), read again, and as a figure.

A track a rank with work, messages and idleness, its jobs, and marks of what was split off. However many slices there
are, a track has one column for every few pixels, and of its height they take what they took of that time. So what is
dark in the figure is to the whole as time at work is to all time.
"""

import json
from dataclasses import dataclass

import numpy as np

from ...core.errors import UserError
from . import style

KINDS = "work", "messages", "idle"
_MARK_NAMES = "split off a subtree", "narrowed"
_COLUMNS = 700
_MARKS = 140  # places of a track where a mark may stand
_WORK, _MESSAGES, _IDLE = style.COLOURS[0], style.COLOURS[1], "#E6E6E6"  # dark, middle, light in grey as well
_DONE, _STOPPED = "#9A9A9A", "#FFFFFF"
_TRACK, _JOBS = 0.62, 0.2  # heights; what is left of 1 stands between two ranks


def draw(tracks, heading):
    """Return a matplotlib Figure of Tracks; call it inside ``style.drawing``."""
    from matplotlib.figure import Figure

    end = max((track.slices[kind][:, 1].max(initial=0.0) for track in tracks for kind in KINDS), default=0.0) or 1e-6
    edges = np.linspace(0.0, end, _COLUMNS + 1)
    unit, scale = ("s", 1.0) if end >= 1 else ("ms", 1e3)
    found = [{kind: shares(track.slices[kind], edges) for kind in KINDS} for track in tracks]
    figure = Figure(figsize=(11.0, 2.3 + 0.24 * len(tracks) + 0.3 * (len(tracks) < 4)))
    above, below = figure.subplots(
        2, 1, sharex=True, height_ratios=[1.0, max(1.0, 0.26 * len(tracks))], gridspec_kw={"hspace": 0.02}
    )
    _draw_sum(above, found, edges * scale)
    for row, (track, each) in enumerate(zip(tracks, found, strict=True)):
        _draw_slices(below, row, each, edges * scale)
        _draw_jobs(below, row, track, end, scale)
        _draw_marks(below, row, track, end, scale)
    below.set(xlabel=f"{unit} from the start of the run", ylim=(len(tracks) - 0.1, -0.25), xlim=(0, end * scale))
    _name_tracks(below, tracks)
    handles = _handles(tracks)
    style.below(figure, handles, [handle.get_label() for handle in handles], len(handles), _note(tracks, end))
    figure.suptitle(heading, fontsize=11)
    return figure


def _draw_sum(axes, found, edges):
    """How many ranks were at work, and at messages, at a time."""
    work, messages = (sum(each[kind] for each in found) for kind in KINDS[:2])
    axes.stairs(work, edges, fill=True, color=_WORK, lw=0)
    axes.stairs(work + messages, edges, baseline=work, fill=True, color=_MESSAGES, lw=0)
    axes.set(ylabel="ranks", ylim=(0, len(found)), title="at work, at messages, and idle")
    axes.title.set_fontsize(9)


def _draw_slices(axes, row, each, edges):
    bottom = np.full(_COLUMNS, row + _TRACK)
    for kind, colour in zip(KINDS[:2], (_WORK, _MESSAGES), strict=True):
        top = bottom - _TRACK * each[kind]
        values, places, baseline = _merged(top, edges, bottom)
        axes.stairs(values, places, baseline=baseline, fill=True, color=colour, lw=0, rasterized=True)
        bottom = top
    axes.axhspan(row, row + _TRACK, color=_IDLE, zorder=0, lw=0)


def _merged(top, edges, bottom):
    """Return the same steps with neighbours that do not differ as one: a file of an hour's work stays small."""
    changes = (np.diff(top) != 0) | (np.diff(bottom) != 0)
    first = np.concatenate(([True], changes))
    return top[first], np.concatenate((edges[:-1][first], edges[-1:])), bottom[first]


def _draw_jobs(axes, row, track, end, scale):
    long = track.jobs[:, 1] - track.jobs[:, 0] >= end / _COLUMNS
    for stopped, colour in ((False, _DONE), (True, _STOPPED)):
        spans = track.jobs[long & (track.stopped == stopped)] * scale
        if len(spans):
            axes.broken_barh(
                np.column_stack((spans[:, 0], spans[:, 1] - spans[:, 0])).tolist(),
                (row + _TRACK + 0.03, _JOBS - 0.05),
                facecolor=colour,
                edgecolor="#222222",
                linewidth=0.35,
                rasterized=True,
            )


def _draw_marks(axes, row, track, end, scale):
    for times, marker, at in ((track.splits, "v", row - 0.06), (track.narrowed, "|", row + _TRACK + _JOBS / 2)):
        places = np.unique((times / end * _MARKS).astype(int)) + 0.5
        axes.plot(
            places / _MARKS * end * scale,
            np.full(len(places), at),
            linestyle="none",
            marker=marker,
            color="black",
            markersize=2.6,
            markeredgewidth=0.0 if marker == "v" else 0.6,
            zorder=4,
        )


def _name_tracks(axes, tracks):
    several = len({track.host for track in tracks}) > 1
    names = [f"{track.host} " * several + track.name for track in tracks]
    axes.set_yticks([row + _TRACK / 2 for row in range(len(tracks))], names, fontsize=7)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")


def _handles(tracks):
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Patch(color=_WORK, label="work"),
        Patch(color=_MESSAGES, label="messages"),
        Patch(color=_IDLE, label="idle"),
        Patch(fc=_DONE, ec="#222222", lw=0.4, label="job, done"),
        Patch(fc=_STOPPED, ec="#222222", lw=0.4, label="job, stopped"),
    ]
    marks = ("splits", "v", "split off a subtree"), ("narrowed", "|", "window narrowed")
    for name, marker, label in marks:
        if any(len(getattr(track, name)) for track in tracks):
            handles.append(Line2D([], [], linestyle="none", marker=marker, color="black", markersize=4, label=label))
    return handles


def _note(tracks, end):
    workers = [track for track in tracks if track.rank > 0]
    wall = sum(track.wall for track in workers) or 1.0
    spent = ", ".join(f"{kind} {sum(track.spent(kind) for track in workers) / wall:.1%}" for kind in KINDS)
    jobs, splits = sum(len(track.jobs) for track in tracks), sum(len(track.splits) for track in tracks)
    drawn = sum(int((track.jobs[:, 1] - track.jobs[:, 0] >= end / _COLUMNS).sum()) for track in tracks)
    short = f", of which {jobs - drawn:,} are too short to be drawn" if jobs > drawn else ""
    counted = f"{len(workers)} worker{'s' * (len(workers) != 1)}"
    return f"{counted}: {spent} of their time; {jobs:,} jobs told{short}; {splits:,} subtrees split off"


@dataclass
class Track:
    """What a rank did. Times are seconds from the start of the run, float64.

    slices: kind of ``KINDS`` → array (n, 2) of began and ended, by time; jobs: array (m, 2) of the same, and stopped:
    (m,) bool, those without an answer of their own; splits, narrowed: (k,), when a subtree was split off, a window
    narrowed.
    """

    rank: int
    name: str
    host: str
    slices: dict
    jobs: np.ndarray
    stopped: np.ndarray
    splits: np.ndarray
    narrowed: np.ndarray

    @property
    def wall(self):
        """Seconds between the beginning of its first slice and the end of its last."""
        times = np.concatenate(list(self.slices.values()))
        return float(times[:, 1].max() - times[:, 0].min()) if len(times) else 0.0

    def spent(self, kind):
        """Return the seconds of all slices of a kind."""
        began, ended = self.slices[kind].T
        return float((ended - began).sum())


def read(path):
    """Return the Tracks of a timeline by host and rank. Raises UserError for what is none."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise UserError(f"cannot read the timeline {path[:200]}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path[:200]} is no timeline: no JSON") from error
    try:
        tracks = _tracks(content["traceEvents"])
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(f"{path[:200]} is no timeline as --trace writes it") from error
    if not tracks:
        raise UserError(f"the timeline {path[:200]} has no rank")
    return tracks


def _tracks(events):
    hosts, names, found, open_jobs = {}, {}, {}, {}
    for event in events:
        phase = event["ph"]
        if phase == "M" and event["name"] == "process_name":
            hosts[event["pid"]] = str(event["args"]["name"])
        elif phase == "M":
            where = event["pid"], int(event["tid"])
            found.setdefault(where, _empty())
            if event["name"] == "thread_name":
                names[where] = str(event["args"]["name"])
        else:
            _take(event, phase, found.setdefault((event["pid"], int(event["tid"])), _empty()), open_jobs)
    tracks = []
    for (process, rank), kept in sorted(found.items()):
        slices = {kind: _rows(kept[kind], 2) / 1e6 for kind in KINDS}
        jobs = _rows(kept["jobs"], 3)
        splits, narrowed = (_rows(kept[name], 1)[:, 0] / 1e6 for name in _MARK_NAMES)
        name, host = names.get((process, rank), f"rank {rank}"), hosts.get(process, "?")
        tracks.append(Track(rank, name, host, slices, jobs[:, :2] / 1e6, jobs[:, 2] > 0, splits, narrowed))
    return tracks


def _empty():
    return {name: [] for name in (*KINDS, "jobs", *_MARK_NAMES)}


def _take(event, phase, kept, open_jobs):
    """Put an event where it belongs; of jobs, which have two, what began stays in ``open_jobs`` until it ends."""
    at, name = float(event["ts"]), event["name"]
    if phase == "X":
        kept[name].append((at, at + float(event["dur"])))
    elif phase == "b":
        open_jobs[event["tid"], event["id"], name] = at, event["args"]["outcome"] == "stopped"
    elif phase == "e":
        began, stopped = open_jobs.pop((event["tid"], event["id"], name))
        kept["jobs"].append((began, at, stopped))
    elif phase == "i":
        kept[name].append(at)


def _rows(events, width):
    """Return events as an array of rows by their first numbers; raises ValueError for what is no time."""
    rows = np.array(events, np.float64).reshape(-1, width)
    if not np.isfinite(rows).all():
        raise ValueError("a time that is none")
    return rows[np.argsort(rows[:, 0], kind="stable")]


def shares(spans, edges):
    """Return which part of each interval between two of the ``edges`` (n,) is in a span, (n - 1,), 0 to 1.

    spans: (m, 2) of began and ended, in order, none over another.
    """
    began, ended = spans.T
    spent = np.concatenate(([0.0], np.cumsum(ended - began)))
    times = np.maximum.accumulate(np.column_stack((began, ended)).ravel())  # they are rounded, each for itself
    until = np.interp(edges, times, np.column_stack((spent[:-1], spent[1:])).ravel()) if len(times) else 0 * edges
    return np.clip(np.diff(until) / np.diff(edges), 0.0, 1.0)
